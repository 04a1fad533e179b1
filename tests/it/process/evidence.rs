//! `--save` and `--evidence`: the same findings again, offline, byte for byte.

use crate::stage::{Run, Stage, classes, command, run};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Judges a file with neither database nor hosts at hand.
fn offline(file: &Path, args: &[&str]) -> Run {
    let home = tempfile::TempDir::new().unwrap();
    let mut command = command(home.path());
    command.args(["scan", "--evidence"]).arg(file).args(args);
    run(command)
}

/// Two orphans on two hosts, a VM that is in flux, a host that is unseen.
fn eventful() -> Stage {
    let mut stage = Stage::with_orphan();
    stage.orphan(901, "pvc-other", 101, "kvm1", 2);
    stage.reach("kvm3", "qemu+tcp://127.0.0.1:1/system");
    stage
}

#[test]
fn the_same_findings_byte_for_byte_in_every_format() {
    let stage = eventful();
    for format in ["table", "json", "jsonl", "csv"] {
        for more in [
            &[][..],
            &["--all", "-v"],
            &["--host", "kvm2"],
            &["--settle", "50ms"],
        ] {
            let file = stage.path("seen.json");
            let save = ["--save", file.to_str().unwrap()];
            let live = stage.scan(&[&["-o", format], &save[..], more].concat()).left(1);
            let kept: Vec<&str> = more
                .iter()
                .copied()
                .filter(|a| a.starts_with("--all") || *a == "-v")
                .collect();
            let again = offline(&file, &[&["-o", format], &kept[..]].concat()).left(1);
            assert_eq!(
                (again.stdout, again.stderr),
                (live.stdout, live.stderr),
                "{format} {more:?}"
            );
        }
    }
}

#[test]
fn the_file_is_its_owners_alone_also_where_one_was() {
    let stage = Stage::healthy();
    let file = stage.path("seen.json");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    stage.scan(&["--save", file.to_str().unwrap()]).left(0);
    assert_eq!(mode(), 0o600);
    std::fs::write(&file, "longer than nothing".repeat(10_000)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    stage.scan(&["--save", file.to_str().unwrap()]).left(0);
    assert_eq!(mode(), 0o600);
    offline(&file, &[]).left(0).quiet();
}

#[test]
fn a_file_that_cannot_be_written_is_trouble() {
    let stage = Stage::healthy();
    for place in ["/nowhere/seen.json", "/dev/full"] {
        let run = stage.scan(&["--save", place]).left(2);
        assert!(
            run.stderr.contains("cannot write evidence to") && run.stderr.contains(place),
            "{}",
            run.stderr
        );
        assert!(
            run.stdout.is_empty(),
            "no result is told whose evidence is not kept: {}",
            run.stdout
        );
    }
}

#[test]
fn what_is_no_evidence_is_refused() {
    let stage = Stage::with_orphan();
    let file = stage.path("seen.json");
    let scanned = stage.scan_json(&["--save", file.to_str().unwrap()]).left(1);
    let whole = std::fs::read_to_string(&file).unwrap();
    let bad = stage.path("bad.json");
    let told = |text: &[u8]| {
        std::fs::write(&bad, text).unwrap();
        let run = offline(&bad, &[]).left(2);
        assert!(
            run.stdout.is_empty() && run.stderr.contains("bad.json"),
            "{run:?}"
        );
        run.stderr
    };
    let newer = told(whole.replacen("\"version\":1", "\"version\":2", 1).as_bytes());
    assert!(
        newer.contains("is evidence of version 2, and this volrecon reads up to version 1"),
        "{newer}"
    );
    // A newer major may have any shape.
    let newer = told(b"{\"document\":\"evidence\",\"version\":7,\"seen\":[]}");
    assert!(newer.contains("version 7"), "{newer}");
    let other = told(scanned.stdout.as_bytes());
    assert!(
        other.contains("is a document of kind \"scan\", not evidence"),
        "{other}"
    );
    for cut in [0, 1, 20, 60, whole.len() / 2, whole.len() - 3] {
        let error = told(&whole.as_bytes()[..cut]);
        assert!(
            error.contains("is no evidence document of volrecon"),
            "{cut}: {error}"
        );
    }
    for text in [
        &b"hello"[..],
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe\x00",
        b"{\"document\":\"evidence\",\"version\":-1}",
        b"{\"document\":1}",
    ] {
        let error = told(text);
        assert!(error.contains("evidence"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let more = told((whole + "{}").as_bytes());
    assert!(more.contains("is no evidence document"), "{more}");
    let gone = offline(Path::new("/nowhere.json"), &[]).left(2);
    assert!(
        gone.stderr.contains("cannot read evidence from /nowhere.json"),
        "{}",
        gone.stderr
    );
    offline(Path::new("/"), &[]).left(2);
}

#[test]
fn fields_of_a_newer_minor_are_passed_over() {
    let stage = Stage::with_orphan();
    let file = stage.path("seen.json");
    stage.scan(&["--save", file.to_str().unwrap()]).left(1);
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replacen("\"version\":1,", "\"version\":1,\"of_tomorrow\":{\"a\":[1]},", 1);
    let text = text.replace("\"update_count\":", "\"colour\":\"red\",\"update_count\":");
    std::fs::write(&file, text).unwrap();
    offline(&file, &[]).left(1).quiet();
}

#[test]
fn a_scope_narrows_saved_evidence() {
    let stage = eventful();
    let file = stage.path("seen.json");
    stage.scan(&["--save", file.to_str().unwrap()]).left(1);
    let volumes = |args: &[&str], code: i32| -> Vec<String> {
        let document = offline(&file, &[&["-o", "json"], args].concat())
            .left(code)
            .json();
        let findings = document["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|f| f["volume"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(volumes(&[], 1), ["pvc-other", "pvc-orphan"]);
    assert_eq!(volumes(&["--host", "kvm2"], 1), ["pvc-orphan"]);
    assert_eq!(volumes(&["--host", "10.99.0.11"], 1), ["pvc-other"]);
    assert_eq!(volumes(&["--vm", "WORKER2"], 1), ["pvc-orphan"]);
    assert_eq!(volumes(&["--volume", "pvc-other"], 1), ["pvc-other"]);
    assert_eq!(volumes(&["--vm", "worker1", "--vm", "i-2-102-VM"], 1).len(), 2);
    assert_eq!(volumes(&["--cluster", "cluster1"], 1).len(), 2);
    assert_eq!(volumes(&["--zone", "zone1"], 1).len(), 2);
    let document = offline(&file, &["-o", "json", "--vm", "worker2"]).left(1).json();
    assert_eq!(document["scope"], serde_json::json!(["vm worker2"]));
    let run = offline(&file, &["--vm", "wroker2"]).left(2);
    assert!(
        run.stderr.contains("no VM is called") && run.stderr.contains("did you mean worker"),
        "{}",
        run.stderr
    );
}

#[test]
fn evidence_of_a_scope_takes_no_other() {
    let stage = eventful();
    let file = stage.path("seen.json");
    stage
        .scan(&["--host", "kvm2", "--save", file.to_str().unwrap()])
        .left(1);
    let run = offline(&file, &["--host", "kvm1"]).left(2);
    assert!(
        run.stderr.contains("the evidence is of a scan of host kvm2 only"),
        "{}",
        run.stderr
    );
    offline(&file, &[]).left(1);
}

#[test]
fn the_patience_that_is_typed_counts() {
    let mut stage = Stage::with_orphan();
    let sql = "UPDATE volumes SET state = 'Attaching', updated = UTC_TIMESTAMP() - INTERVAL 10 MINUTE WHERE id = 900";
    stage.cloud().exec(sql, ()).unwrap();
    let file = stage.path("seen.json");
    stage.scan(&["--save", file.to_str().unwrap()]).left(0);
    offline(&file, &[]).left(0);
    offline(&file, &["--stuck-after", "5m"]).left(3);
    stage
        .scan(&["--stuck-after", "5m", "--save", file.to_str().unwrap()])
        .left(3);
    offline(&file, &[]).left(3);
    offline(&file, &["--stuck-after", "1h"]).left(0);
}

#[test]
fn min_severity_and_ignore_hold_for_saved_evidence_as_well() {
    let stage = eventful();
    let file = stage.path("seen.json");
    stage.scan(&["--save", file.to_str().unwrap()]).left(1);
    let document = offline(&file, &["-o", "json", "--min-severity", "critical"])
        .left(3)
        .json();
    assert!(classes(&document).is_empty());
}
