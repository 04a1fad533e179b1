//! `--settle`: only what still stands is a finding, and only suspects cost a second look.

use crate::lab::world::Hands;
use crate::stage::{Run, Stage, classes};
use mysql::prelude::Queryable;
use std::io::Read;
use std::time::{Duration, Instant};

/// Waits until a scan's connection has been idle for half a second: it is settling.
fn settling(stage: &Stage) {
    let mut conn = stage.db().root().unwrap();
    let sql = "SELECT command FROM information_schema.processlist WHERE db = DATABASE() AND user <> 'root'";
    let mut idle = 0;
    for _ in 0..600 {
        let command: Option<String> = conn.query_first(sql).unwrap();
        idle = if command.as_deref() == Some("Sleep") {
            idle + 1
        } else {
            0
        };
        if idle == 10 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the scan never settles");
}

/// Runs a scan that settles for 3 s, and does something once the first look is over.
fn meanwhile(stage: &Stage, act: impl FnOnce()) -> Run {
    let since = Instant::now();
    let mut child = stage.start(&["-o", "json", "--settle", "3s"]);
    settling(stage);
    assert!(child.try_wait().unwrap().is_none(), "it is still waiting");
    act();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let code = child.wait().unwrap().code().unwrap();
    Run {
        code,
        stdout,
        stderr,
        took: since.elapsed(),
    }
}

#[test]
fn what_heals_in_between_is_no_finding_and_what_stays_is() {
    let mut stage = Stage::with_orphan();
    stage.orphan(901, "pvc-stays", 101, "kvm1", 2);
    let paper = stage.paper;
    let run = meanwhile(&stage, || paper.detach("kvm2", "i-2-102-VM", "vdc").unwrap()).left(1);
    let document = run.json();
    assert_eq!(classes(&document).len(), 1, "{document}");
    assert_eq!(document["findings"][0]["volume"]["name"], "pvc-stays");
}

#[test]
fn what_comes_in_between_is_no_finding_yet() {
    let mut stage = Stage::with_orphan();
    crate::lab::staging::data(&mut stage.play, 901, "pvc-comes", None).unwrap();
    let disk = stage.disk(901, 2);
    let paper = stage.paper;
    let document = meanwhile(&stage, || paper.attach("kvm1", "i-2-101-VM", &disk).unwrap())
        .left(1)
        .json();
    let names: Vec<_> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["volume"]["name"])
        .collect();
    assert_eq!(names, ["pvc-orphan"], "{document}");
}

#[test]
fn a_row_that_heals_is_no_finding() {
    let stage = Stage::with_orphan();
    let mut root = stage.db().root().unwrap();
    let sql = "UPDATE volumes SET instance_id = 102, device_id = 2, attached = UTC_TIMESTAMP(), updated = UTC_TIMESTAMP() WHERE id = 900";
    let run = meanwhile(&stage, || {
        root.query_drop(sql).unwrap();
    })
    .left(0);
    assert!(classes(&run.json()).is_empty());
}

#[test]
fn without_suspects_nothing_is_waited_for() {
    let run = Stage::healthy().scan_json(&["--settle", "1h"]).left(0).quiet();
    assert!(run.took < Duration::from_secs(10));
}
