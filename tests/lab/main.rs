//! The lab by hand: `demo`, `up`, `down`. It must never leave anything running but what `up` was asked for.
#![expect(clippy::print_stdout, reason = "an example speaks to its user")]

#[path = "mod.rs"]
mod lab;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use lab::occurrences::{self, Telling};
use lab::real::{Real, Storage};
use lab::shared::Lab;
use lab::testhost::{self, Paper};
use lab::when::Shift;
use lab::{Shape, session};

const USAGE: &str = "lab demo [--volrecon PATH] | up [--no-ceph] | down";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("demo") => demo(&binary(&args)),
        Some("up") => up(!args.iter().any(|a| a == "--no-ceph")),
        Some("down") => down(),
        _ => Err(anyhow::anyhow!("usage: {USAGE}")),
    };
    session::close();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("lab: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn binary(args: &[String]) -> PathBuf {
    let given = args
        .iter()
        .position(|a| a == "--volrecon")
        .and_then(|at| args.get(at + 1));
    given.map_or_else(|| PathBuf::from("target/debug/volrecon"), PathBuf::from)
}

/// The state of occurrence 2, and two scans of it.
fn demo(volrecon: &Path) -> Result<()> {
    ensure!(
        volrecon.exists(),
        "{} is not there: cargo build",
        volrecon.display()
    );
    say("Starting a small cloud of its own: a private MariaDB and three hosts on libvirt's test driver.");
    let session = session::Session::current()?;
    let maria = lab::maria::Maria::start(session)?;
    let db = maria.schema("cloud", Shape::V4_22)?;
    let paper = Paper::new(&session.path("hosts"), &["kvm1", "kvm2", "kvm3"])?;
    say(
        "Playing what happened on 2026-09-08, as apache/cloudstack #14214 tells it, moved to the last half hour:",
    );
    // The job tables hold a day: the last step is told as three minutes ago.
    let shift = Shift::to_now("2026-09-08 14:46:07", 180)?;
    let mut story = occurrences::second(
        &db,
        &paper,
        Telling {
            shift,
            ..Telling::AS_SHIPPED
        },
    )?;
    tell(&mut story)?;
    let config = session.path("volrecon.toml");
    testhost::config(&config, &db, &paper.uris())?;
    let config = config.display().to_string();
    scan(volrecon, &["scan", "--config", &config])?;
    scan(volrecon, &["scan", "--host", "kvm2", "--config", &config])?;
    say(
        "The disk is in worker7 still, and the database gives its slot away again and again: that is the finding.",
    );
    say("Nothing is left running. Next:");
    println!("  volrecon explain --class straggler-detach   what that class means, and what to do");
    println!(
        "  make lab                                    the same with real libvirt, QEMU guests and Ceph, kept up to try things on"
    );
    println!(
        "  make test                                   everything that is tested, the four occurrences among it"
    );
    println!(
        "  README.md                                   point it at a cloud of yours: reading cannot change anything"
    );
    Ok(())
}

fn tell(story: &mut occurrences::Story<'_>) -> Result<()> {
    let sql = "SELECT j.id, DATE_FORMAT(j.created, '%H:%i:%s'), DATE_FORMAT(j.last_updated, '%H:%i:%s'), \
               IF(j.job_cmd LIKE '%Detach%', 'detach from', 'attach to'), m.name, v.name, IF(j.job_status = 1, 'succeeded', 'FAILED 530') \
               FROM async_job j JOIN async_job_join_map p ON p.job_id = j.id JOIN vm_work_job w ON w.id = p.join_job_id \
               JOIN vm_instance m ON m.id = w.vm_instance_id JOIN volumes v ON v.id = j.instance_id ORDER BY j.created, j.id";
    let jobs: Vec<(u64, String, String, String, String, String, String)> = story.play.cloud.all(sql, ())?;
    println!();
    for (id, asked, ended, verb, vm, volume, end) in jobs {
        let mark = if id == 210_235 {
            "  <- late, and it cleared worker7's row"
        } else {
            ""
        };
        println!("  {asked} -> {ended}  job-{id}  {verb} {vm}: {volume}  {end}{mark}");
    }
    Ok(())
}

fn scan(volrecon: &Path, args: &[&str]) -> Result<()> {
    println!("\n$ volrecon {}\n", args.join(" "));
    let status = Command::new(volrecon)
        .args(args)
        .status()
        .with_context(|| format!("running {}", volrecon.display()))?;
    match status.code() {
        Some(1) => Ok(()),
        other => bail!("the scan should have left with 1 (findings), and left with {other:?}"),
    }
}

fn say(text: &str) {
    println!("\n{text}");
}

/// A lab that stays: real hosts, Ceph, a database in the state of occurrence 2.
fn up(ceph: bool) -> Result<()> {
    let dir = session::Session::kept_dir();
    ensure!(
        !dir.exists(),
        "a lab is up in {} already: make lab-down",
        dir.display()
    );
    let made = (|| -> Result<()> {
        let session = session::Session::keep()?;
        let maria = lab::maria::Maria::start(session)?;
        let lab = Lab::start(session, ceph)?;
        let db = maria.schema("cloud", Shape::V4_22)?;
        let shift = Shift::to_now("2026-09-08 14:46:07", 180)?;
        // Never dropped: its guests stay.
        let real = ManuallyDrop::new(Real::new(
            &lab,
            if ceph {
                Storage::Rbd
            } else {
                Storage::SharedMountPoint
            },
        ));
        let story = occurrences::second(
            &db,
            &*real,
            Telling {
                shift,
                ..Telling::AS_SHIPPED
            },
        )?;
        let config = session.path("volrecon.toml");
        testhost::config(&config, &db, &lab.hosts.uris())?;
        say("The lab is up, in the state of occurrence 2 of apache/cloudstack #14214:");
        for refused in story.refusals.iter().take(1) {
            println!("  worker7 (i-2-207-VM on kvm2): {refused}");
        }
        println!("\nexport VOLRECON_LAB={}", session.dir.display());
        println!("export VOLRECON_CONFIG={}", config.display());
        println!(
            "export MYSQL={}   # mariadb -u root -S $MYSQL cloud",
            maria.socket.display()
        );
        for host in &lab.hosts.all {
            println!(
                "export {}='{}'   # or ip netns exec {} virsh -c {}",
                host.name.to_uppercase(),
                host.uri(),
                lab.hosts.netns,
                host.uri_tcp()
            );
        }
        if let Some(ceph) = &lab.ceph {
            println!(
                "export CEPH_CONF={}   # ip netns exec {} rbd ls cloudstack",
                ceph.conf().display(),
                lab.hosts.netns
            );
        }
        println!("\nvolrecon scan --config $VOLRECON_CONFIG\nmake lab-down");
        Ok(())
    })();
    if made.is_err() && dir.exists() {
        drop(session::down(&dir));
    }
    made
}

fn down() -> Result<()> {
    let dir = session::Session::kept_dir();
    if !dir.exists() {
        println!("no lab is up");
        return Ok(());
    }
    session::down(&dir)
}
