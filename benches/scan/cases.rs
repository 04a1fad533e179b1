//! What is measured. Times are those of whole processes, from before the start to after the end, in rounds that take turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::cloud::{self, DISKS, Size};
use super::daemon::{Daemon, uri};
use super::figures::{mebibytes, ratio, show, spread};
use super::lab::maria::Maria;
use super::lab::session::Session;
use super::lab::{Db, Shape, testhost};
use super::process::{self, Run, median};
use super::relay;
use super::table::{Goal, Line};

/// Domains that the shell loop is measured on.
const SAMPLE: u64 = 200;
/// Mirrored turns of the two short ones in each round of the near case.
const TURNS: usize = 3;
/// Of the line's delay, each way.
const ONE_WAY: Duration = Duration::from_millis(5);

/// What all cases need.
pub struct Bench {
    pub session: &'static Session,
    pub maria: Maria,
    pub bare: PathBuf,
    /// Rounds of the near and the far case.
    pub rounds: (usize, usize),
}

impl Bench {
    pub(super) fn out(&self) -> PathBuf {
        self.session.path("out")
    }

    /// A cloud of this size in a schema of its own.
    pub(super) fn cloud(&self, name: &str, size: Size) -> Result<Db> {
        let db = self.maria.schema(name, Shape::V4_22)?;
        cloud::write(&db, size)?;
        Ok(db)
    }

    /// A configuration, written; `more` is put behind it.
    pub(super) fn config(
        &self,
        name: &str,
        db: &Db,
        uris: &[(String, String)],
        more: &str,
    ) -> Result<PathBuf> {
        let file = self.session.path(format!("{name}.toml"));
        testhost::config(&file, db, uris)?;
        let text = fs::read_to_string(&file)? + more;
        fs::write(&file, text)?;
        Ok(file)
    }

    pub(super) fn scan(&self, config: &Path, more: &[&str]) -> Result<Run> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volrecon"));
        command
            .args(["scan", "-o", "json", "--config"])
            .arg(config)
            .args(more);
        process::run(&mut command, &self.out())
    }

    /// The reader in C, and that it read as many domains.
    fn bare(&self, uri: &str, domains: u64) -> Result<Run> {
        let run = process::run(Command::new(&self.bare).arg(uri), &self.out())?;
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        ensure!(
            run.code == 0 && said.starts_with(&format!("{domains} domains")),
            "the bare reader: {said:?}"
        );
        Ok(run)
    }

    /// 1,000 domains behind a socket on this machine.
    pub fn near(&self, notes: &mut Vec<String>) -> Result<Vec<Line>> {
        let size = Size {
            hosts: 1,
            domains: 1000,
        };
        let db = self.cloud("bench_near", size)?;
        let xml = cloud::domains(size, 1);
        let daemon = Daemon::start(self.session, "near", &xml)?;
        let config = self.config("near", &db, &[("kvm1".to_owned(), daemon.uri())], "")?;
        let defaults = self.session.path("my.cnf");
        let (user, password) = (&db.reader, super::lab::maria::PASSWORD);
        fs::write(
            &defaults,
            format!(
                "[client]\nuser={user}\npassword={password}\nhost=127.0.0.1\nport={}\n",
                db.port
            ),
        )?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/loop.sh");
        let shell = |domains: u64| {
            let mut command = Command::new("bash");
            command
                .arg(&script)
                .arg(daemon.uri())
                .arg(&defaults)
                .arg(&db.name)
                .arg(domains.to_string());
            process::run(&mut command, &self.out())
        };
        // Warm-ups, which also show that all three see the same cloud.
        healthy(&self.scan(&config, &[])?, size)?;
        let bytes = bytes_of(&self.bare(&daemon.uri(), size.vms())?)?;
        let seen = shell(SAMPLE / 10)?;
        let listed = String::from_utf8_lossy(&seen.stdout).matches(" network ").count() as u64;
        ensure!(
            seen.code == 0 && listed == SAMPLE / 10 * DISKS,
            "the shell loop left with {} and saw {listed} disks: {}",
            seen.code,
            seen.stderr
        );

        let (mut ours, mut bare, mut by_hand) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cold, mut cold_bare) = (Vec::new(), Vec::new());
        let mut busy = 0;
        for _ in 0..self.rounds.0 {
            busy += usize::from(!process::quiet());
            // The first process after a pause is slower: each is told on its own, and does not count below.
            cold_bare.push(self.bare(&daemon.uri(), size.vms())?.time);
            process::quiet();
            cold.push(self.scan(&config, &[])?.time);
            for mine in [true, false, false, true].repeat(TURNS) {
                if mine {
                    ours.push(self.scan(&config, &[])?.time);
                } else {
                    bare.push(self.bare(&daemon.uri(), size.vms())?.time);
                }
            }
            by_hand.push(shell(SAMPLE)?.time);
        }
        let scaled = median(&by_hand) * u32::try_from(size.vms() / SAMPLE)?;
        notes.push(format!(
            "Domains of 4 RBD disks with {} bytes of XML each. The shell loop (`benches/loop.sh`) ran on {SAMPLE} of the {} domains and took {}; \
             its time is scaled by {}.",
            bytes / size.vms(),
            size.vms(),
            show(median(&by_hand)),
            size.vms() / SAMPLE
        ));
        notes.push(format!(
            "1,000 domains: a round is a pause, one run of the bare reader, a pause, one of volrecon (the line \u{201c}after a pause\u{201d}), then \
             {} of each in mirrored turns without pauses (the line with the goal), then the shell loop.",
            2 * TURNS
        ));
        notes.push(spread("1,000 domains, local socket", &ours, &bare));
        let what = "1,000 domains × 4 disks, local socket";
        let runs = (self.rounds.0, busy);
        Ok(vec![
            Line {
                what: what.to_owned(),
                ours: show(median(&ours)),
                against: format!("shell loop {}", show(scaled)),
                figure: ratio(scaled, median(&ours)),
                unit: "times as fast",
                goal: Goal::AtLeast(60.0),
                runs,
            },
            versus_bare(what, &ours, &bare, 1.15, runs),
            Line {
                goal: Goal::None,
                ..versus_bare("the same, each once after a pause", &cold, &cold_bare, 1.15, runs)
            },
        ])
    }

    /// 300 domains behind a line of 10 ms.
    pub fn far(&self, notes: &mut Vec<String>) -> Result<Vec<Line>> {
        let size = Size {
            hosts: 1,
            domains: 300,
        };
        let db = self.cloud("bench_far", size)?;
        let daemon = Daemon::start(self.session, "far", &cloud::domains(size, 1))?;
        let slow = self.session.path("slow.sock");
        relay::unix(&slow, daemon.socket(), ONE_WAY)?;
        let slow = uri("default", &slow);
        let hosts = [("kvm1".to_owned(), slow.clone())];
        let config = self.config("far", &db, &hosts, "")?;
        let far_db = Db {
            port: relay::tcp(db.port, ONE_WAY)?,
            ..db
        };
        let both = self.config("farther", &far_db, &hosts, "")?;
        healthy(&self.scan(&config, &[])?, size)?;
        self.bare(&slow, size.vms())?;

        let (mut ours, mut bare, mut with_db) = (Vec::new(), Vec::new(), Vec::new());
        let mut busy = 0;
        for _ in 0..self.rounds.1 {
            busy += usize::from(!process::quiet());
            ours.push(self.scan(&config, &[])?.time);
            bare.push(self.bare(&slow, size.vms())?.time);
            with_db.push(self.scan(&both, &[])?.time);
        }
        notes.push(spread("300 domains, 10 ms", &ours, &bare));
        let runs = (ours.len(), busy);
        Ok(vec![
            versus_bare("300 domains, libvirt 10 ms away", &ours, &bare, 0.4, runs),
            Line {
                goal: Goal::None,
                ..versus_bare(
                    "the same, the database 10 ms away, too",
                    &with_db,
                    &bare,
                    0.4,
                    runs,
                )
            },
        ])
    }

    /// 100,000 disks: memory at the peak.
    pub fn large(&self, notes: &mut Vec<String>) -> Result<Vec<Line>> {
        let size = Size {
            hosts: 25,
            domains: 1000,
        };
        let db = self.cloud("bench_large", size)?;
        let files = self.files("large", size)?;
        let daemon = Daemon::start(self.session, "large-daemon", &[])?;
        let served = files.iter().map(|(name, file)| {
            (
                name.clone(),
                uri(file.trim_start_matches("test:///"), daemon.socket()),
            )
        });
        let served: Vec<(String, String)> = served.collect();
        // Reading a file of 1,000 domains is slow work of libvirt's, in whichever process its driver runs.
        let patience = "\n[libvirt]\nhost_timeout = \"10m\"\n";
        let config = self.config("large", &db, &served, patience)?;
        let alone = self.config("alone", &db, &files, &format!("{patience}parallel = 1\n"))?;
        let seen = self.session.path("large.json");
        let seen = seen.to_str().context("the lab's directory")?;
        let live = self.scan(&config, &["--save", seen])?;
        healthy(&live, size)?;
        let offline = self.scan(&config, &["--evidence", seen])?;
        healthy(&offline, size)?;
        let within = self.scan(&alone, &[])?;
        healthy(&within, size)?;
        notes.push(format!(
            "100,000 disks live: 25 files of libvirt's test driver, 1,000 domains each, served by a daemon, as hosts are. Opened as `test:///FILE` \
             they live in volrecon's own process, a whole hypervisor with its domains: that line is told for completeness, with one host at a \
             time. The evidence file has {} MiB. The bench itself had {} MiB at its peak, below which no child's can be told.",
            fs::metadata(seen)?.len() >> 20,
            process::own_peak() >> 10,
        ));
        let line = |what: &str, run: &Run, goal| Line {
            what: format!("100,000 disks, {what}: peak memory"),
            ours: show(run.time),
            against: String::new(),
            figure: mebibytes(run.peak),
            unit: "MiB",
            goal,
            runs: (1, 0),
        };
        Ok(vec![
            line("--evidence FILE", &offline, Goal::Under(200.0)),
            line("25 hosts, with --save", &live, Goal::Under(200.0)),
            line("hypervisors in its own process", &within, Goal::None),
        ])
    }

    /// 100 hosts of which 3 hang.
    pub fn hanging(&self) -> Result<Vec<Line>> {
        let size = Size {
            hosts: 100,
            domains: 10,
        };
        let db = self.cloud("bench_hang", size)?;
        let mut uris = self.files("hang", size)?;
        // Not the last ones: those that come after them must not wait for them.
        for (at, (_, hung)) in uris.iter_mut().enumerate().skip(10).step_by(30).take(3) {
            let socket = self.session.path(format!("mute{at}.sock"));
            relay::mute(&socket)?;
            *hung = uri("default", &socket);
        }
        let deadline = Duration::from_secs(3);
        let config = self.config("hang", &db, &uris, "\n[libvirt]\nhost_timeout = \"3s\"\n")?;
        let run = self.scan(&config, &[])?;
        let document: serde_json::Value =
            serde_json::from_slice(&run.stdout).context("the scan's document")?;
        ensure!(
            run.time >= deadline,
            "nothing hung: done after {}",
            show(run.time)
        );
        let summary = (
            &document["summary"]["hosts_seen"],
            &document["summary"]["hosts_unseen"],
        );
        ensure!(
            summary.0 == 97 && summary.1 == 3,
            "97 hosts seen and 3 not, it should be: {summary:?}"
        );
        Ok(vec![Line {
            what: "100 hosts of which 3 hang: whole scan".to_owned(),
            ours: show(run.time),
            against: format!("host_timeout {}", show(deadline)),
            figure: run.time.as_secs_f64(),
            unit: "s",
            goal: Goal::Under((deadline + Duration::from_secs(2)).as_secs_f64()),
            runs: (1, 0),
        }])
    }

    /// The near, the far and the large cloud kept up, to profile a scan by hand; until standard input ends.
    pub fn hold(&self) -> Result<()> {
        let mut said = Vec::new();
        let mut up = Vec::new();
        for (name, domains, delay) in [("near", 1000, None), ("far", 300, Some(ONE_WAY))] {
            let size = Size { hosts: 1, domains };
            let db = self.cloud(&format!("bench_{name}"), size)?;
            let daemon = Daemon::start(self.session, name, &cloud::domains(size, 1))?;
            let mut at = daemon.uri();
            if let Some(delay) = delay {
                let slow = self.session.path("slow.sock");
                relay::unix(&slow, daemon.socket(), delay)?;
                at = uri("default", &slow);
            }
            let config = self.config(name, &db, &[("kvm1".to_owned(), at.clone())], "")?;
            said.push(format!("volrecon scan --config {}   # {at}", config.display()));
            up.push(daemon);
        }
        let size = Size {
            hosts: 25,
            domains: 1000,
        };
        let db = self.cloud("bench_large", size)?;
        let config = self.config("large", &db, &self.files("large", size)?, "")?;
        said.push(format!("volrecon scan --config {}", config.display()));
        println!("{}", said.join("\n"));
        std::io::stdin().read_line(&mut String::new())?;
        drop(up);
        Ok(())
    }

    /// Hosts as files of the test driver.
    pub(super) fn files(&self, name: &str, size: Size) -> Result<Vec<(String, String)>> {
        let dir = self.session.subdir(name)?;
        (1..=size.hosts)
            .map(|host| {
                let file = dir.join(format!("kvm{host}.xml"));
                testhost::node(&file, &cloud::domains(size, host))?;
                Ok((format!("kvm{host}"), format!("test://{}", file.display())))
            })
            .collect()
    }
}

/// A scan that saw all of it and found nothing.
fn healthy(run: &Run, size: Size) -> Result<()> {
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).context("the scan's document")?;
    let summary = &document["summary"];
    if run.code != 0 || summary["disks"] != size.disks() || summary["volumes"] != size.disks() {
        bail!(
            "a healthy cloud of {} disks, and the scan left with {}: {summary}",
            size.disks(),
            run.code
        );
    }
    Ok(())
}

fn versus_bare(what: &str, ours: &[Duration], bare: &[Duration], most: f64, runs: (usize, usize)) -> Line {
    Line {
        what: what.to_owned(),
        ours: show(median(ours)),
        against: format!("bare reader in C {}", show(median(bare))),
        figure: ratio(median(ours), median(bare)),
        unit: "of its time",
        goal: Goal::AtMost(most),
        runs,
    }
}

fn bytes_of(run: &Run) -> Result<u64> {
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    said.split_whitespace()
        .nth(2)
        .and_then(|n| n.parse().ok())
        .with_context(|| format!("the bare reader said {said:?}"))
}
