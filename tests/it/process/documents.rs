//! The documents of the contract: every key is there, of its type; enums are kebab-case, arrays are always there.

use super::keys::*;
use crate::lab::world::Hands;
use crate::stage::Stage;
use serde_json::Value;

#[track_caller]
fn check_finding(finding: &Value) {
    check(finding, FINDING);
    assert!(
        finding["id"]
            .as_str()
            .unwrap()
            .strip_prefix("vr-")
            .is_some_and(|hex| hex.len() == 8),
        "{finding}"
    );
    for class in finding["also"].as_array().unwrap() {
        assert!(fits(class, CLASSES), "{class}");
    }
    for (key, keys) in [("volume", VOLUME), ("vm", VM), ("claim", CLAIM), ("cause", CAUSE)] {
        if !finding[key].is_null() {
            check(&finding[key], keys);
        }
    }
    each(&finding["others"], VOLUME);
    each(&finding["holders"], HOLDER);
    each(&finding["blocks"], BLOCK);
    for remedy in finding["remedies"].as_array().unwrap() {
        check(remedy, REMEDY);
        assert_eq!(remedy["withheld"].is_null(), remedy["code"].is_null(), "{remedy}");
    }
    if let Some(timeline) = finding["cause"].get("timeline") {
        each(timeline, MOMENT);
    }
}

/// Findings of many classes, something in flux, something that cannot be told, a host that is not seen.
fn eventful() -> Stage {
    let mut stage = Stage::with_orphan();
    stage.guest(104, "worker4", 1);
    stage.guest(105, "worker5", 2);
    stage.guest(106, "worker6", 2);
    stage.guest(107, "worker7", 1);
    // Double open, missing or cannot be told, another slot, an unknown disk, a VM that should be down, flux, a duplicate.
    stage.plug(101_001, 102, "kvm2", 4);
    stage.paper.detach("kvm1", "i-2-104-VM", "vdb").unwrap();
    stage
        .cloud()
        .exec("UPDATE volumes SET device_id = 5 WHERE id = 105001", ())
        .unwrap();
    let mut unknown = stage.disk(900, 7);
    unknown.serial = None;
    unknown.source = crate::lab::domxml::Source::File("/srv/by-hand.img".to_owned());
    stage.paper.attach("kvm1", "i-2-101-VM", &unknown).unwrap();
    stage
        .cloud()
        .exec(
            "UPDATE vm_instance SET state = 'Stopped', host_id = NULL WHERE id = 106",
            (),
        )
        .unwrap();
    stage
        .cloud()
        .exec(
            "UPDATE volumes SET state = 'Snapshotting', updated = UTC_TIMESTAMP() WHERE id = 107001",
            (),
        )
        .unwrap();
    stage.reach("kvm3", "qemu+tcp://127.0.0.1:1/system");
    stage
}

#[test]
fn json_is_the_document_of_the_contract() {
    let stage = eventful();
    let document = stage.scan_json(&[]).left(1).json();
    check(&document, SCAN);
    check(&document["tool"], TOOL);
    assert_eq!(document["version"], 1);
    assert_eq!(each(&document["hosts"], HOST), 3);
    check(&document["summary"], SUMMARY);
    assert!(each(&document["not_ruled_out"], NOT_RULED_OUT) > 0);
    assert!(each(&document["in_flux"], NOT_JUDGED) > 0, "{document}");
    assert!(each(&document["cannot_tell"], NOT_JUDGED) > 0, "{document}");
    let findings = document["findings"].as_array().unwrap();
    findings.iter().for_each(check_finding);
    let mut kinds: Vec<&str> = findings.iter().map(|f| f["class"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 4, "{kinds:?}");
    let counts = &document["summary"];
    for (key, kind) in [("by_class", CLASSES), ("by_severity", SEVERITIES)] {
        let by = counts[key].as_object().unwrap();
        assert!(by.keys().all(|name| fits(&name.as_str().into(), kind)), "{by:?}");
        assert_eq!(
            by.values().map(|n| n.as_u64().unwrap()).sum::<u64>(),
            findings.len() as u64
        );
    }
}

#[test]
fn a_clean_scan_has_every_key_as_well() {
    let document = Stage::healthy().scan_json(&[]).left(0).json();
    check(&document, SCAN);
    check(&document["summary"], SUMMARY);
    for key in ["findings", "in_flux", "cannot_tell", "not_ruled_out", "scope"] {
        assert_eq!(document[key], serde_json::json!([]), "{key}");
    }
}

#[test]
fn jsonl_is_a_finding_a_line_and_a_summary() {
    let stage = eventful();
    let document = stage.scan_json(&[]).left(1).json();
    let text = stage.scan(&["-o", "jsonl"]).left(1).stdout;
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summary, findings) = lines.split_last().unwrap();
    assert_eq!(findings.len(), document["findings"].as_array().unwrap().len());
    for (line, finding) in findings.iter().zip(document["findings"].as_array().unwrap()) {
        check_finding(line);
        assert_eq!(
            (&line["document"], &line["id"]),
            (&"finding".into(), &finding["id"])
        );
    }
    assert_eq!(summary["document"], "summary");
    check(&summary["summary"], SUMMARY);
    check(&summary["tool"], TOOL);
    let none = Stage::healthy().scan(&["-o", "jsonl"]).left(0).stdout;
    assert_eq!(none.lines().count(), 1, "{none}");
}

#[test]
fn csv_has_the_columns_of_the_contract() {
    let columns = [
        "id",
        "class",
        "severity",
        "confidence",
        "volume_uuid",
        "volume_name",
        "claim_vm",
        "claim_device_id",
        "holders",
        "blocks",
        "advice",
    ];
    let stage = eventful();
    let document = stage.scan_json(&[]).left(1).json();
    let text = stage.scan(&["-o", "csv"]).left(1).stdout;
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>(), columns);
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(rows.len(), findings.len());
    for (row, finding) in rows.iter().zip(findings) {
        assert_eq!(
            (&row[0], &row[1], &row[2]),
            (
                text_of(&finding["id"]),
                text_of(&finding["class"]),
                text_of(&finding["severity"])
            )
        );
        assert_eq!(
            (&row[3], &row[4]),
            (
                text_of(&finding["confidence"]),
                text_of(&finding["volume"]["uuid"])
            )
        );
        let holders = finding["holders"].as_array().unwrap();
        assert_eq!(row[8].split_whitespace().count(), holders.len());
        for (cell, holder) in row[8].split_whitespace().zip(holders) {
            let place = [&holder["host"], &holder["domain"], &holder["target"]].map(text_of);
            assert!(
                cell == place.join("/") || (place[2].is_empty() && cell == place[..2].join("/")),
                "{cell} {holder}"
            );
        }
        assert!(!row[10].is_empty());
    }
    let bare = stage.scan(&["-o", "csv", "--no-headers"]).left(1).stdout;
    assert_eq!(Some(bare.as_str()), text.split_once('\n').map(|(_, rest)| rest));
    let none = Stage::healthy().scan(&["-o", "csv"]).left(0).stdout;
    assert_eq!(none.trim(), columns.join(","));
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn two_scans_of_the_same_state_say_the_same() {
    let stage = eventful();
    let still = |mut document: Value| {
        for key in ["started", "finished"] {
            document[key] = Value::Null;
        }
        for host in document["hosts"].as_array_mut().unwrap() {
            host["millis"] = Value::Null;
        }
        document
    };
    let first = still(stage.scan_json(&[]).left(1).json());
    for _ in 0..3 {
        assert_eq!(still(stage.scan_json(&[]).left(1).json()), first);
    }
}
