//! `--timeout` ends the run, also where the database stops answering after the hosts were read.

use crate::stage::{Run, Stage, classes, command, run};
use mysql::prelude::Queryable;
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Locks a table for good, as soon as nobody's transaction has read it.
fn lock(stage: &Stage, table: &'static str) -> JoinHandle<mysql::Conn> {
    let mut root = stage.db().root().unwrap();
    std::thread::spawn(move || {
        root.query_drop(format!("LOCK TABLES `{table}` WRITE")).unwrap();
        root
    })
}

/// A host that never answers.
fn silent_host(stage: &mut Stage) -> TcpListener {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("qemu+tcp://127.0.0.1:{}/system", tcp.local_addr().unwrap().port());
    stage.add_host(4, &uri);
    tcp
}

/// Another command than `scan`.
fn other(stage: &Stage, args: &[&str]) -> Run {
    let mut command = command(&stage.path(""));
    command.args(args).arg("--config").arg(stage.config());
    run(command)
}

#[track_caller]
fn ended(run: &Run, limit: u64) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.took < Duration::from_secs(limit + 2), "{run:?}");
}

#[test]
fn the_second_read_that_never_ends() {
    let mut stage = Stage::with_orphan();
    let tcp = silent_host(&mut stage);
    // The limit of a single statement alone would let the second read go on for 4 s from the third on.
    stage.configure("[libvirt]\nhost_timeout = \"3s\"");
    let since = Instant::now();
    let child = stage.start(&["-o", "json", "--timeout", "4s"]);
    let _host = tcp.accept().unwrap();
    // Granted when the first read's transaction ends, before the second begins.
    let _locked = lock(&stage, "volumes");
    let out = child.wait_with_output().unwrap();
    let run = Run {
        code: out.status.code().unwrap(),
        stdout: String::from_utf8(out.stdout).unwrap(),
        stderr: String::from_utf8(out.stderr).unwrap(),
        took: since.elapsed(),
    };
    ended(&run, 4);
    let told =
        "error: the time for the whole run was up (--timeout 4s) while reading the database again\nhint: ";
    assert!(run.stderr.starts_with(told), "{}", run.stderr);
}

#[test]
fn a_history_that_cannot_be_had_in_time_is_said_and_holds_nobody() {
    let stage = Stage::with_orphan();
    let _locked = lock(&stage, "event").join().unwrap();
    for args in [
        &["scan", "-o", "json"][..],
        &["explain", "pvc-orphan", "-o", "json"],
    ] {
        let run = other(&stage, &[args, &["--timeout", "2s"]].concat());
        assert!(run.took < Duration::from_secs(4), "{run:?}");
        assert!(run.stdout.contains("lost-attach"), "{run:?}");
        if args[0] == "explain" {
            assert!(
                run.stdout.contains("the table event could not be read: "),
                "{run:?}"
            );
        }
    }
}

#[test]
fn the_queues() {
    let stage = Stage::with_orphan();
    let _locked = lock(&stage, "sync_queue_item").join().unwrap();
    let run = other(&stage, &["jobs", "--timeout", "1s"]);
    ended(&run, 1);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
}

#[test]
fn a_reader_of_the_output_may_take_its_time() {
    let mut stage = Stage::with_orphan();
    // More than a pipe holds, of a scan that is done long before the second is over.
    for id in 901..1500 {
        crate::lab::staging::data(&mut stage.play, id, &format!("pvc-{id}"), None).unwrap();
    }
    let child = stage.start(&["-o", "json", "--all", "--timeout", "1s"]);
    std::thread::sleep(Duration::from_secs(4));
    let out = child.wait_with_output().unwrap();
    assert_eq!(
        out.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert!(out.stdout.len() > 1 << 16, "{} bytes", out.stdout.len());
    let document: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(classes(&document).len(), 1);
}
