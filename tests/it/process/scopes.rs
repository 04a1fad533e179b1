//! A scope asks what it needs, follows suspects, and says what it leaves open.

use crate::lab::rows::Row;
use crate::lab::world::Hands;
use crate::stage::{Stage, classes, volume_uuid};
use serde_json::{Value, json};

fn asked(document: &Value) -> Vec<&str> {
    let hosts = document["hosts"].as_array().unwrap().iter();
    hosts
        .filter(|h| h["status"] != "not-asked")
        .map(|h| h["name"].as_str().unwrap())
        .collect()
}

/// Hosts that what is not ruled out could be on.
fn open(document: &Value) -> Vec<&str> {
    let entries = document["not_ruled_out"].as_array().unwrap();
    let mut hosts: Vec<&str> = entries
        .iter()
        .flat_map(|e| e["hosts"].as_array().unwrap())
        .map(|h| h.as_str().unwrap())
        .collect();
    hosts.sort_unstable();
    hosts
}

#[test]
fn a_healthy_host_is_asked_alone_and_what_that_leaves_open_is_said() {
    let stage = Stage::healthy();
    let document = stage.scan_json(&["--host", "kvm1"]).left(0).quiet().json();
    assert_eq!(asked(&document), ["kvm1"]);
    assert_eq!(
        (&document["complete"], &document["scope"]),
        (&true.into(), &json!(["host kvm1"]))
    );
    assert_eq!(open(&document), ["kvm2", "kvm3"]);
    assert_eq!(
        (
            &document["summary"]["volumes"],
            &document["summary"]["hosts_unseen"]
        ),
        (&2.into(), &0.into())
    );
    let everything = stage.scan_json(&[]).left(0).json();
    assert_eq!((open(&everything), &everything["scope"]), (vec![], &json!([])));
}

#[test]
fn suspects_are_followed_to_other_hosts() {
    let mut stage = Stage::healthy();
    // Claimed by worker1 on kvm1, held by worker2 on kvm2.
    stage.paper.detach("kvm1", "i-2-101-VM", "vdb").unwrap();
    stage.plug(101_001, 102, "kvm2", 2);
    for args in [
        &["--host", "kvm1"][..],
        &["--host", "kvm2"],
        &["--vm", "worker1"],
        &["--volume", "pvc-101001"],
        &[],
    ] {
        let document = stage.scan_json(args).left(1).json();
        assert_eq!(classes(&document), ["wrong-vm"], "{args:?} {document}");
        let finding = &document["findings"][0];
        assert_eq!(
            (&finding["claim"]["vm"], &finding["holders"][0]["domain"]),
            (&"i-2-101-VM".into(), &"i-2-102-VM".into())
        );
        assert_eq!(
            finding["id"],
            stage.scan_json(&[]).json()["findings"][0]["id"],
            "the same trouble has the same name"
        );
    }
    let document = stage.scan_json(&["--host", "kvm3"]).left(0).json();
    assert_eq!(
        (asked(&document), open(&document)),
        (vec!["kvm3"], vec!["kvm1", "kvm2"])
    );
}

#[test]
fn a_second_holder_elsewhere_is_found_from_either_end() {
    let mut stage = Stage::healthy();
    stage.plug(101_001, 103, "kvm3", 2);
    for args in [
        &["--host", "kvm3"][..],
        &["--vm", "worker3"],
        &["--volume", "pvc-101001"],
        &[],
    ] {
        let document = stage.scan_json(args).left(1).json();
        assert_eq!(classes(&document), ["double-open"], "{args:?}");
        assert_eq!(document["findings"][0]["holders"].as_array().unwrap().len(), 2);
    }
    // From its owner's host nothing is suspect: what was not asked is said to be open.
    let document = stage.scan_json(&["--host", "kvm1"]).left(0).json();
    assert!(open(&document).contains(&"kvm3"), "{document}");
}

#[test]
fn every_word_of_every_kind() {
    let mut stage = Stage::with_orphan();
    stage.cloud().add(Row::cluster(2, "cluster2")).unwrap();
    stage
        .cloud()
        .exec("UPDATE host SET cluster_id = 2 WHERE id = 2", ())
        .unwrap();
    let uuid = volume_uuid(900);
    for args in [
        &["--host", "kvm2"][..],
        &["--host", "10.99.0.12"],
        &["--vm", "worker2"],
        &["--vm", "i-2-102-VM"],
        &["--volume", "pvc-orphan"],
        &["--volume", &uuid],
        &["--cluster", "cluster2"],
        &["--zone", "zone1"],
        &["--vm", "worker1", "--volume", "pvc-orphan"],
        &["--host", "kvm1", "--host", "kvm2"],
    ] {
        let document = stage.scan_json(args).left(1).json();
        assert_eq!(classes(&document).len(), 1, "{args:?}");
        assert_eq!(document["scope"].as_array().unwrap().len(), args.len() / 2);
    }
    for args in [
        &["--host", "kvm1"][..],
        &["--vm", "worker1"],
        &["--volume", "pvc-101001"],
        &["--cluster", "cluster1"],
    ] {
        let document = stage.scan_json(args).left(0).json();
        assert!(classes(&document).is_empty(), "{args:?}");
    }
}

#[test]
fn an_unknown_or_ambiguous_word_is_trouble_before_any_host_is_asked() {
    let mut stage = Stage::with_orphan();
    stage.guest(104, "worker1", 1);
    let run = stage.scan(&["--vm", "worker1"]).left(2);
    assert!(
        run.stderr.contains("2 VMs are called \"worker1\""),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("hint: give the uuid of one: ") && run.stderr.contains("i-2-104-VM"),
        "{}",
        run.stderr
    );
    let run = stage.scan(&["--host", "kvm22"]).left(2);
    assert!(
        run.stderr.contains("no host is called \"kvm22\"") && run.stderr.contains("did you mean kvm2"),
        "{}",
        run.stderr
    );
    let hostile = stage.scan(&["--vm", "x\u{1b}[2J' OR 1=1\u{202e}"]).left(2);
    assert!(
        !hostile.stderr.contains(['\u{1b}', '\u{202e}']),
        "{}",
        hostile.stderr
    );
}

#[test]
fn all_lists_every_volume_beside_its_disk() {
    let stage = Stage::with_orphan();
    let document = stage.scan_json(&["--all"]).left(1).json();
    let volumes = document["volumes"].as_array().unwrap();
    assert_eq!(volumes.len(), 7);
    let verdicts: Vec<&str> = volumes.iter().map(|v| v["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts.iter().filter(|v| **v == "ok").count(), 6, "{verdicts:?}");
    let orphan = volumes.iter().find(|v| v["name"] == "pvc-orphan").unwrap();
    assert_eq!(
        (&orphan["holders"], &orphan["claim_vm"]),
        (&json!(["kvm2/i-2-102-VM/vdc"]), &Value::Null)
    );
    assert_eq!(orphan["finding"], document["findings"][0]["id"]);
    let healthy = volumes.iter().find(|v| v["name"] == "pvc-101001").unwrap();
    assert_eq!(
        (&healthy["claim_vm"], &healthy["claim_device_id"]),
        (&"i-2-101-VM".into(), &1.into())
    );
    assert_eq!(healthy["holders"], json!(["kvm1/i-2-101-VM/vdb"]));
    let text = stage.scan(&["--all"]).left(1).stdout;
    assert!(text.contains("pvc-101001") && text.contains("ROOT-103"), "{text}");
    assert!(stage.scan_json(&[]).json().get("volumes").is_none());
}
