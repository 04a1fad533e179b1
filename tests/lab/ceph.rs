//! A private Ceph: one monitor and one memory-backed OSD in the lab's network namespace, with cephx.
//!
//! It must never be asked without a time limit (a client waits 300 s for a monitor that is not there), and never lie outside of the
//! lab's directory.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::cmd::{run, until};
use super::session::Session;

/// The pool, and the user that hosts open it with.
pub const POOL: &str = "cloudstack";

#[derive(Debug)]
pub struct Ceph {
    dir: PathBuf,
    netns: String,
}

impl Ceph {
    pub fn start(session: &Session, netns: &str) -> Result<Self> {
        let dir = session.subdir("ceph")?;
        for part in ["mon", "osd/0", "run", "log"] {
            fs::create_dir_all(dir.join(part))?;
        }
        let ceph = Self {
            dir,
            netns: netns.to_owned(),
        };
        ceph.configure()?;
        ceph.monitor(session)?;
        ceph.osd(session)?;
        ceph.ask(&["osd", "pool", "create", POOL, "8"])?;
        ceph.ask(&["osd", "pool", "application", "enable", POOL, "rbd"])?;
        ceph.ask(&[
            "auth",
            "get-or-create",
            "client.cloudstack",
            "mon",
            "profile rbd",
            "osd",
            &format!("profile rbd pool={POOL}"),
        ])?;
        fs::write(
            ceph.key_file(),
            ceph.ask(&["auth", "get-key", "client.cloudstack"])?.trim(),
        )?;
        until("the Ceph pool", 30, || Ok(ceph.rbd(&["ls", POOL]).is_ok()))?;
        Ok(ceph)
    }

    pub fn key_file(&self) -> PathBuf {
        self.dir.join("cloudstack.key")
    }

    pub fn conf(&self) -> PathBuf {
        self.dir.join("ceph.conf")
    }

    /// Makes an empty image, in the place of one of that name.
    pub fn create(&self, image: &str) -> Result<()> {
        let spec = format!("{POOL}/{image}");
        drop(self.rbd(&["rm", "--no-progress", &spec]));
        self.rbd(&["create", "--size", "16M", &spec]).map(drop)
    }

    /// The addresses that have an image open.
    pub fn watchers(&self, image: &str) -> Result<Vec<String>> {
        let text = self.rbd(&["status", "--format", "json", &format!("{POOL}/{image}")])?;
        let value: serde_json::Value = serde_json::from_str(&text)?;
        let list = value["watchers"].as_array().context("watchers")?;
        Ok(list
            .iter()
            .filter_map(|w| w["address"].as_str())
            .map(|a| a.split(':').next().unwrap_or(a).to_owned())
            .collect())
    }

    pub fn rbd(&self, args: &[&str]) -> Result<String> {
        self.inside(
            "timeout",
            &["10", "rbd", "-c", &self.conf().display().to_string()],
            args,
        )
    }

    pub fn ask(&self, args: &[&str]) -> Result<String> {
        self.inside(
            "ceph",
            &[
                "--connect-timeout",
                "15",
                "-c",
                &self.conf().display().to_string(),
            ],
            args,
        )
    }

    fn inside(&self, program: &str, first: &[&str], then: &[&str]) -> Result<String> {
        run(
            "ip",
            ["netns", "exec", &self.netns, program]
                .iter()
                .chain(first)
                .chain(then),
        )
    }

    fn configure(&self) -> Result<()> {
        let d = self.dir.display();
        let text = format!(
            "[global]\nfsid = {FSID}\nmon host = {MON}\npublic network = 10.99.0.0/24\n\
             auth cluster required = cephx\nauth service required = cephx\nauth client required = cephx\n\
             osd pool default size = 1\nosd pool default min size = 1\nosd crush chooseleaf type = 0\nmon allow pool size one = true\n\
             mon warn on pool no redundancy = false\nmon_data_avail_warn = 1\nmon_data_avail_crit = 1\nrun dir = {d}/run\n\
             log file = {d}/log/$name.log\nadmin socket = {d}/run/$name.$pid.asok\npid file = {d}/run/$name.pid\nkeyring = {d}/keyring\n\
             erasure code dir = /usr/lib/x86_64-linux-gnu/ceph/erasure-code\nms bind ipv6 = false\n\
             [mon]\nmon data = {d}/mon/$id\nmon initial members = a\n\
             [osd]\nosd data = {d}/osd/$id\nosd objectstore = memstore\nmemstore device bytes = 1073741824\nosd op num shards = 1\n\
             osd class load list = *\nosd class default list = *\n"
        );
        fs::write(self.conf(), text).context("writing ceph.conf")
    }

    fn monitor(&self, session: &Session) -> Result<()> {
        let (ring, map) = (
            self.dir.join("keyring").display().to_string(),
            self.dir.join("monmap").display().to_string(),
        );
        run(
            "ceph-authtool",
            ["-C", &ring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *"],
        )?;
        let admin = [
            "--gen-key",
            "-n",
            "client.admin",
            "--cap",
            "mon",
            "allow *",
            "--cap",
            "osd",
            "allow *",
            "--cap",
            "mgr",
            "allow *",
        ];
        run("ceph-authtool", [ring.as_str()].iter().chain(&admin))?;
        run(
            "monmaptool",
            ["--create", "--clobber", "--fsid", FSID, "--addv", "a", MON, &map],
        )?;
        let conf = self.conf().display().to_string();
        self.inside(
            "ceph-mon",
            &[
                "-c",
                &conf,
                "--mkfs",
                "-i",
                "a",
                "--monmap",
                &map,
                "--keyring",
                &ring,
            ],
            &[],
        )?;
        self.daemon(session, "ceph-mon", "a", &[])
    }

    fn osd(&self, session: &Session) -> Result<()> {
        let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid")?;
        let ring = self.dir.join("osd/0/keyring").display().to_string();
        self.ask(&["osd", "new", uuid.trim()])?;
        self.ask(&[
            "auth",
            "get-or-create",
            "osd.0",
            "mon",
            "allow profile osd",
            "osd",
            "allow *",
            "mgr",
            "allow profile osd",
            "-o",
            &ring,
        ])?;
        let conf = self.conf().display().to_string();
        self.inside(
            "ceph-osd",
            &[
                "-c",
                &conf,
                "-i",
                "0",
                "--mkfs",
                "--osd-uuid",
                uuid.trim(),
                "--keyring",
                &ring,
            ],
            &[],
        )?;
        self.daemon(session, "ceph-osd", "0", &["--keyring", &ring])
    }

    fn daemon(&self, session: &Session, program: &str, id: &str, more: &[&str]) -> Result<()> {
        let log = fs::File::create(self.dir.join(format!("log/{program}.out")))?;
        let child = Command::new("ip")
            .args(["netns", "exec", &self.netns, program, "-f", "-i", id, "-c"])
            .arg(self.conf())
            .args(more)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        session.track_pid(program, child.id())
    }
}

const FSID: &str = "11111111-2222-3333-4444-555555555555";
const MON: &str = "[v2:10.99.0.1:3300,v1:10.99.0.1:6789]";
