//! SCOPE: names as typed become rows, or an error that helps; what is read is what is needed.

use super::everything;
use crate::lab::maria::Shape;
use crate::lab::rows::{BORN, Cloud, Row, uuid};
use crate::stage::{reader, schema};
use std::collections::BTreeSet;
use volrecon::evidence::Scope;
use volrecon::gather::{Rows, ScopeError, ScopeWords};
use volrecon::model::{HostId, VmId, VolumeId};

/// Twelve VMs, four a host, each with ROOT, a data volume and a spare that is detached; VM 1 and 2 have one name.
fn cloud() -> Cloud {
    let mut cloud = Cloud::new(&schema(Shape::V4_22), 3).unwrap();
    cloud.add(Row::cluster(2, "cluster2")).unwrap();
    cloud.add(Row::cluster(3, "gone").set("removed", BORN)).unwrap();
    cloud.add(Row::zone(2, "zone2")).unwrap();
    cloud
        .exec(
            "UPDATE host SET cluster_id = 2, data_center_id = 2 WHERE id = 3",
            (),
        )
        .unwrap();
    cloud.add(Row::pool(1, "RBD", "cloudstack")).unwrap();
    for id in 1..=12 {
        let name = if id <= 2 {
            "twin".to_owned()
        } else {
            format!("worker{id}")
        };
        cloud.add_vm(Row::vm(id, &name, 1 + (id - 1) / 4)).unwrap();
        cloud
            .add(Row::volume(id * 10, &format!("ROOT-{id}"), 1).attached(id, 0))
            .unwrap();
        cloud
            .add(Row::volume(id * 10 + 1, &format!("data-{id}"), 1).attached(id, 1))
            .unwrap();
        cloud
            .add(Row::volume(id * 10 + 2, &format!("spare-{id}"), 1))
            .unwrap();
    }
    cloud
}

fn words(kind: &str, word: &str) -> ScopeWords {
    let list = vec![word.to_owned()];
    let none = ScopeWords::default();
    match kind {
        "host" => ScopeWords { hosts: list, ..none },
        "VM" => ScopeWords { vms: list, ..none },
        "volume" => ScopeWords {
            volumes: list,
            ..none
        },
        "cluster" => ScopeWords {
            clusters: list,
            ..none
        },
        _ => ScopeWords { zones: list, ..none },
    }
}

const KINDS: [&str; 5] = ["host", "VM", "volume", "cluster", "zone"];

#[test]
fn each_kind_goes_by_each_of_its_names() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    let vms = |id: u64| Scope {
        vms: BTreeSet::from([VmId(id)]),
        ..Scope::default()
    };
    let hosts = |id: u64| Scope {
        hosts: BTreeSet::from([HostId(id)]),
        ..Scope::default()
    };
    let volumes = |id: u64| Scope {
        volumes: BTreeSet::from([VolumeId(id)]),
        ..Scope::default()
    };
    let areas = |ids: &[u64]| Scope {
        areas: ids.iter().map(|id| HostId(*id)).collect(),
        ..Scope::default()
    };
    for (kind, word, scope) in [
        ("host", "kvm2".to_owned(), hosts(2)),
        ("host", "KVM2".to_owned(), hosts(2)),
        ("host", "10.99.0.12".to_owned(), hosts(2)),
        ("host", uuid(0x50, 2), hosts(2)),
        ("VM", "worker5".to_owned(), vms(5)),
        ("VM", "i-2-1-VM".to_owned(), vms(1)),
        ("VM", uuid(0x1157, 2), vms(2)),
        ("volume", "data-5".to_owned(), volumes(51)),
        ("volume", uuid(0x0d15, 52), volumes(52)),
        ("cluster", "cluster2".to_owned(), areas(&[3])),
        ("cluster", uuid(0xc1, 1), areas(&[1, 2])),
        ("zone", "zone1".to_owned(), areas(&[1, 2])),
        ("zone", uuid(0xdc, 2), areas(&[3])),
    ] {
        let got = reader.resolve(&words(kind, &word)).unwrap();
        let typed = format!("{} {word}", kind.to_lowercase());
        assert_eq!(
            got,
            Scope {
                words: vec![typed],
                ..scope
            },
            "{kind} {word}"
        );
    }
}

#[test]
fn a_removed_volume_goes_by_its_uuid_only() {
    let mut cloud = cloud();
    cloud.update("volumes", 52, "removed", BORN).unwrap();
    let mut reader = reader(&cloud.db);
    assert!(reader.resolve(&words("volume", &uuid(0x0d15, 52))).is_ok());
    assert!(matches!(
        reader.resolve(&words("volume", "spare-5")),
        Err(ScopeError::Unknown { .. })
    ));
    assert!(matches!(
        reader.resolve(&words("cluster", "gone")),
        Err(ScopeError::Unknown { .. })
    ));
}

#[test]
fn an_unknown_name_is_told_with_the_nearest() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    for (kind, word, near) in [
        ("host", "kmv2", "kvm2"),
        ("VM", "woker5", "worker5"),
        ("volume", "dta-5", "data-5"),
        ("cluster", "cluster9", "cluster1"),
        ("zone", "zne1", "zone1"),
    ] {
        let error = reader.resolve(&words(kind, word)).unwrap_err();
        assert_eq!(error.to_string(), format!("no {kind} is called {word:?}"));
        let hint = error.hint().unwrap();
        assert!(hint.starts_with("did you mean ") && hint.contains(near), "{hint}");
        assert!(hint.matches(',').count() < 5, "{hint}");
        let error = reader.resolve(&words(kind, "qqqq")).unwrap_err();
        assert_eq!(error.hint(), None, "{error}");
    }
}

#[test]
fn an_ambiguous_name_lists_the_candidates() {
    let mut cloud = cloud();
    cloud
        .add(Row::host(4, "kvm2").set("private_ip_address", "10.99.0.99"))
        .unwrap();
    cloud
        .exec("UPDATE volumes SET name = 'data' WHERE id IN (11, 21)", ())
        .unwrap();
    cloud
        .exec("UPDATE volumes SET path = 'p1' WHERE id IN (31, 41)", ())
        .unwrap();
    cloud.add(Row::cluster(4, "cluster2")).unwrap();
    cloud.add(Row::zone(4, "zone2")).unwrap();
    let mut reader = reader(&cloud.db);
    for (kind, word, uuids) in [
        ("host", "kvm2", [uuid(0x50, 2), uuid(0x50, 4)]),
        ("VM", "twin", [uuid(0x1157, 1), uuid(0x1157, 2)]),
        ("volume", "data", [uuid(0x0d15, 11), uuid(0x0d15, 21)]),
        ("volume", "p1", [uuid(0x0d15, 31), uuid(0x0d15, 41)]),
        ("cluster", "cluster2", [uuid(0xc1, 2), uuid(0xc1, 4)]),
        ("zone", "zone2", [uuid(0xdc, 2), uuid(0xdc, 4)]),
    ] {
        let error = reader.resolve(&words(kind, word)).unwrap_err();
        assert_eq!(error.to_string(), format!("2 {kind}s are called {word:?}"));
        let hint = error.hint().unwrap();
        assert!(uuids.iter().all(|uuid| hint.contains(uuid)), "{hint}");
    }
}

#[test]
fn names_are_data_whatever_is_in_them() {
    let mut cloud = cloud();
    let names = [
        "o'brien",
        "say \"hi\"",
        "`x`",
        "100%",
        "a_b",
        "back\\slash",
        "x'; DROP TABLE volumes; -- ",
        "日本語",
        "\u{1F525}",
        "nul\0byte",
        "%",
        "_",
        "' OR '1'='1",
        "{{where}}",
        "line\nbreak",
    ];
    for (at, name) in names.iter().enumerate() {
        let id = 500 + u64::try_from(at).unwrap();
        cloud.add(Row::vm(id, name, 1)).unwrap();
        cloud.add(Row::volume(id, name, 1)).unwrap();
    }
    let mut reader = reader(&cloud.db);
    for (at, name) in names.iter().enumerate() {
        let id = 500 + u64::try_from(at).unwrap();
        let scope = reader.resolve(&words("VM", name)).unwrap();
        assert_eq!(scope.vms, BTreeSet::from([VmId(id)]), "{name:?}");
        let scope = reader.resolve(&words("volume", name)).unwrap();
        assert_eq!(scope.volumes, BTreeSet::from([VolumeId(id)]), "{name:?}");
        for kind in KINDS {
            let word = format!("{name} none");
            let error = reader.resolve(&words(kind, &word)).unwrap_err();
            assert!(
                matches!(error, ScopeError::Unknown { .. }),
                "{kind} {word:?}: {error}"
            );
        }
        for kind in ["host", "cluster", "zone"] {
            let error = reader.resolve(&words(kind, name)).unwrap_err();
            assert!(
                matches!(error, ScopeError::Unknown { .. }),
                "{kind} {name:?}: {error}"
            );
        }
    }
    assert_eq!(everything(&mut reader).vms.len(), 12 + names.len());
}

fn ids(rows: &Rows) -> (Vec<u64>, Vec<u64>) {
    (
        rows.vms.iter().map(|vm| vm.id.0).collect(),
        rows.volumes.iter().map(|v| v.id.0).collect(),
    )
}

#[test]
fn a_scope_reads_what_it_leads_to_with_all_slots_of_its_vms() {
    let mut cloud = cloud();
    // It was on kvm1 last: a domain of its may be there still.
    cloud
        .exec(
            "UPDATE vm_instance SET state = 'Stopped', host_id = NULL, last_host_id = 1 WHERE id = 12",
            (),
        )
        .unwrap();
    cloud
        .exec("UPDATE vm_instance SET removed = ? WHERE id = 4", (BORN,))
        .unwrap();
    let mut reader = reader(&cloud.db);
    let mut read = |kind: &str, word: &str| {
        let scope = reader.resolve(&words(kind, word)).unwrap();
        ids(&reader.rows(&scope).unwrap())
    };
    assert_eq!(
        read("host", "kvm1"),
        (vec![1, 2, 3, 12], vec![10, 11, 20, 21, 30, 31, 120, 121])
    );
    assert_eq!(read("VM", "worker5"), (vec![5], vec![50, 51]));
    assert_eq!(read("volume", "data-5"), (vec![5], vec![50, 51]));
    assert_eq!(read("volume", "spare-5"), (vec![], vec![52]));
    // 12 is stopped, and a host of cluster2 was the last to report it.
    assert_eq!(read("cluster", "cluster2").0, [9, 10, 11, 12]);
    assert_eq!(read("zone", "zone1").0, [1, 2, 3, 5, 6, 7, 8, 12]);
    // The zone's first: nothing but a wrong scope would leave out its hosts.
    let rows = everything(&mut reader);
    assert_eq!(
        (rows.hosts.len(), rows.vms.len(), rows.volumes.len()),
        (3, 12, 36)
    );
}

#[test]
fn an_area_without_hosts_reads_nothing_and_is_no_scan_of_everything() {
    let mut cloud = cloud();
    cloud.add(Row::cluster(7, "empty")).unwrap();
    let mut reader = reader(&cloud.db);
    let scope = reader.resolve(&words("cluster", "empty")).unwrap();
    assert!(!scope.is_everything());
    assert_eq!(ids(&reader.rows(&scope).unwrap()), (vec![], vec![]));
}
