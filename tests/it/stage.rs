//! A cloud of a test's own: a schema on the lab's MariaDB, three hosts on libvirt's test driver, and volrecon run on them.

use crate::lab::domxml::{Disk, Source};
use crate::lab::maria::{Db, PASSWORD, Shape};
use crate::lab::occurrences::Telling;
use crate::lab::replay::Play;
use crate::lab::rows::{Cloud, Row, uuid};
use crate::lab::staging;
use crate::lab::testhost::{self, Paper};
use crate::lab::{self, world::Hands};
use mysql::prelude::Queryable;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use volrecon::gather::{DatabaseSettings, Reader, Secret, Tls};

/// A schema that no other test has.
pub fn schema(shape: Shape) -> Db {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
    lab::base().unwrap().maria.schema(&name, shape).unwrap()
}

/// How the reading account reaches a schema.
pub fn settings(db: &Db) -> DatabaseSettings {
    DatabaseSettings {
        host: "127.0.0.1".to_owned(),
        port: db.port,
        socket: None,
        user: db.reader.clone(),
        password: Some(Secret::new(PASSWORD)),
        schema: db.name.clone(),
        tls: Tls::Off,
        ca: None,
        connect_timeout: Duration::from_secs(10),
    }
}

/// A reader of a schema.
pub fn reader(db: &Db) -> Reader {
    Reader::open(&settings(db)).unwrap()
}

/// What a run of volrecon left.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Run {
    /// The document on stdout.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn left(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Asserts that nothing was said on stderr.
    #[track_caller]
    pub fn quiet(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }
}

/// Classes of the findings of a document, in order.
pub fn classes(document: &serde_json::Value) -> Vec<&str> {
    let findings = document["findings"].as_array().unwrap();
    findings.iter().map(|f| f["class"].as_str().unwrap()).collect()
}

/// A command that runs volrecon and sees nothing of this process's environment.
pub fn command(home: &Path) -> Command {
    // As a terminal starts it: tests that run in the background inherit a SIGINT that is ignored.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_volrecon")])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .stdin(Stdio::null());
    command
}

/// Runs to the end.
pub fn run(mut command: Command) -> Run {
    let since = Instant::now();
    let out = command.output().unwrap();
    Run {
        code: out.status.code().unwrap_or(-1),
        stdout: String::from_utf8(out.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(out.stderr).expect("stderr is UTF-8"),
        took: since.elapsed(),
    }
}

/// A cloud, and its hosts.
pub struct Stage {
    pub play: Play<'static>,
    pub paper: &'static Paper,
    dir: tempfile::TempDir,
    uris: Vec<(String, String)>,
    more: String,
    database: Option<String>,
}

impl Stage {
    /// One pool and three hosts `kvm1` to `kvm3`, without guests.
    pub fn empty() -> Self {
        let dir = tempfile::TempDir::new().unwrap();
        let hosts = Paper::new(&dir.path().join("hosts"), &["kvm1", "kvm2", "kvm3"]).unwrap();
        let paper: &'static Paper = Box::leak(Box::new(hosts));
        let play = staging::stage(&schema(Shape::V4_22), paper, Telling::AS_SHIPPED).unwrap();
        let uris = paper.uris();
        Self {
            play,
            paper,
            dir,
            uris,
            more: String::new(),
            database: None,
        }
    }

    /// Three healthy VMs, one a host, each with ROOT and one data volume: 101 on kvm1, 102 on kvm2, 103 on kvm3.
    pub fn healthy() -> Self {
        let mut stage = Self::empty();
        for n in 1..=3 {
            stage.guest(100 + n, &format!("worker{n}"), n);
        }
        stage
    }

    /// The same, and a disk `pvc-orphan` at `vdc` of worker2 that the rows call detached, since two days.
    pub fn with_orphan() -> Self {
        let mut stage = Self::healthy();
        stage.orphan(900, "pvc-orphan", 102, "kvm2", 2);
        stage
    }

    /// A healthy VM with ROOT (its id times 1000) and a data volume (the next number) at `vdb`.
    pub fn guest(&mut self, id: u64, name: &str, host: u64) {
        staging::guest(&mut self.play, id, name, host, &[(id * 1000 + 1, 1)]).unwrap();
    }

    /// A volume that no row claims and a guest holds.
    pub fn orphan(&mut self, id: u64, name: &str, vm: u64, host: &str, slot: u64) {
        staging::data(&mut self.play, id, name, None).unwrap();
        self.plug(id, vm, host, slot);
    }

    /// Plugs a volume's disk in, and tells no row.
    pub fn plug(&mut self, volume: u64, vm: u64, host: &str, slot: u64) {
        let disk = self.disk(volume, slot);
        self.paper.attach(host, &staging::instance(vm), &disk).unwrap();
    }

    /// A volume's disk as CloudStack would plug it in.
    pub fn disk(&mut self, volume: u64, slot: u64) -> Disk {
        let sql = "SELECT uuid, path FROM volumes WHERE id = ?";
        let (uuid, path): (String, String) = self.cloud().one(sql, (volume,)).unwrap();
        let pool = self.play.pool(1).unwrap();
        Disk::new(Source::of(&pool, &path, None), "RAW", slot, &uuid)
    }

    pub fn cloud(&mut self) -> &mut Cloud {
        &mut self.play.cloud
    }

    /// Takes a table away.
    pub fn cloud_drop(&self, table: &str) {
        let sql = format!("DROP TABLE `{table}`");
        self.db().root().unwrap().query_drop(sql).unwrap();
    }

    pub fn db(&self) -> &Db {
        &self.play.cloud.db
    }

    /// Another URI for a host.
    pub fn reach(&mut self, host: &str, uri: &str) {
        for (_, known) in self.uris.iter_mut().filter(|(name, _)| name == host) {
            uri.clone_into(known);
        }
    }

    /// A fourth host and more, by URI.
    pub fn add_host(&mut self, id: u64, uri: &str) {
        let name = format!("kvm{id}");
        self.cloud().add(Row::host(id, &name)).unwrap();
        self.uris.push((name, uri.to_owned()));
    }

    /// A name in `[libvirt.hosts]` that no row has.
    pub fn names(&mut self, name: &str, uri: &str) {
        self.uris.push((name.to_owned(), uri.to_owned()));
    }

    /// Further lines of the configuration.
    pub fn configure(&mut self, lines: &str) {
        self.more += lines;
        self.more.push('\n');
    }

    /// Another account: its URL, without a password.
    pub fn set_database(&mut self, url: &str) {
        self.database = Some(url.to_owned());
    }

    pub fn path(&self, part: &str) -> PathBuf {
        self.dir.path().join(part)
    }

    /// Writes the configuration.
    pub fn config(&self) -> PathBuf {
        let file = self.path("config.toml");
        testhost::config(&file, self.db(), &self.uris).unwrap();
        let mut text = std::fs::read_to_string(&file).unwrap();
        if let Some(url) = &self.database {
            let ours = format!("url = {:?}", self.db().url());
            let secret = format!("password_file = {:?}", self.db().password_file);
            text = text
                .replace(&ours, &format!("url = {url:?}"))
                .replace(&secret, "");
        }
        std::fs::write(&file, text + "\n" + &self.more).unwrap();
        file
    }

    /// `volrecon scan --config … ARGS`, not yet run.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.dir.path());
        command
            .current_dir(self.dir.path())
            .args(["scan", "--config"])
            .arg(self.config())
            .args(args);
        command
    }

    /// Runs `volrecon scan`.
    pub fn scan(&self, args: &[&str]) -> Run {
        run(self.command(args))
    }

    /// Runs `volrecon scan -o json`.
    pub fn scan_json(&self, args: &[&str]) -> Run {
        self.scan(&[&["-o", "json"], args].concat())
    }

    /// Starts `volrecon scan` with pipes.
    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// The uuid of a volume of [`Row::volume`].
pub fn volume_uuid(id: u64) -> String {
    uuid(0x0d15, id)
}
