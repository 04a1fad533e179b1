//! What the hosts show leads to rows that the first read had not: removed ones, and, in a scope, other VMs'.

use super::everything;
use crate::lab::maria::Shape;
use crate::lab::rows::{BORN, Cloud, Row, uuid};
use crate::stage::{reader, schema};
use std::collections::BTreeSet;
use volrecon::evidence::Scope;
use volrecon::gather::{Reader, Rows};
use volrecon::model::{Bus, Device, Disk, Domain, RunState, Source, SourceKind, VmId};

fn disk(kind: SourceKind, name: &str, serial: Option<&str>) -> Disk {
    Disk {
        device: Device::Disk,
        source: Some(Source {
            kind,
            name: name.to_owned(),
        }),
        backing: Vec::new(),
        target: "vdb".to_owned(),
        bus: Bus::Virtio,
        serial: serial.map(str::to_owned),
        shareable: false,
        readonly: false,
        mirror: false,
        encrypted: false,
        persistent: None,
    }
}

fn domain(name: &str, uuid: &str, disks: Vec<Disk>) -> Domain {
    Domain {
        name: name.to_owned(),
        uuid: uuid.to_owned(),
        state: RunState::Running,
        persistent: false,
        persistent_differs: false,
        disks,
    }
}

/// One VM with one volume; volumes 10 to 29 and VMs 10 to 19 are removed.
fn cloud() -> Cloud {
    let mut cloud = Cloud::new(&schema(Shape::V4_22), 1).unwrap();
    cloud.add(Row::pool(1, "RBD", "cloudstack")).unwrap();
    cloud.add_vm(Row::vm(1, "vm1", 1)).unwrap();
    cloud.add(Row::volume(1, "v1", 1).attached(1, 0)).unwrap();
    for id in 10..30 {
        let path = format!("image-{id}");
        cloud
            .add(Row::volume(id, "old", 1).set("path", path).set("removed", BORN))
            .unwrap();
    }
    for id in 10..20 {
        cloud.add(Row::vm(id, "old", 1).set("removed", BORN)).unwrap();
    }
    cloud
}

fn serial(id: u64) -> String {
    uuid(0x0d15, id).replace('-', "")[..20].to_owned()
}

fn seen(reader: &mut Reader, domains: &[Domain]) -> Rows {
    let mut rows = everything(reader);
    reader.seen(&mut rows, &Scope::default(), domains.iter()).unwrap();
    rows
}

fn volumes(rows: &Rows) -> Vec<u64> {
    rows.volumes.iter().map(|v| v.id.0).collect()
}

#[test]
fn removed_volumes_are_found_by_serial_and_by_every_shape_of_path() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    for (disk, found) in [
        (disk(SourceKind::Rbd, "elsewhere/other", Some(&serial(10))), 10),
        (
            disk(
                SourceKind::Rbd,
                "elsewhere/other",
                Some(&serial(10).to_uppercase()),
            ),
            10,
        ),
        (disk(SourceKind::Rbd, "cloudstack/image-11", None), 11),
        (disk(SourceKind::File, "/mnt/pool/image-12", None), 12),
        (disk(SourceKind::Block, "/dev/vg/image-13", None), 13),
        (disk(SourceKind::Block, "/dev/mapper/vg-image--14", None), 14),
        (
            disk(SourceKind::Block, "/dev/drbd/by-res/cs-image-15/0", None),
            15,
        ),
        (disk(SourceKind::Gluster, "volume/image-16", None), 16),
    ] {
        let rows = seen(
            &mut reader,
            &[domain("i-2-1-VM", &uuid(0x1157, 1), vec![disk.clone()])],
        );
        assert_eq!(volumes(&rows), [1, found], "{disk:?}");
        assert!(rows.volumes[1].removed.is_some());
    }
    let below = Disk {
        backing: vec![Source {
            kind: SourceKind::File,
            name: "/mnt/pool/image-17".to_owned(),
        }],
        ..disk(SourceKind::File, "/mnt/pool/overlay", None)
    };
    let rows = seen(&mut reader, &[domain("i-2-1-VM", &uuid(0x1157, 1), vec![below])]);
    assert_eq!(volumes(&rows), [1, 17]);
}

#[test]
fn what_is_known_or_no_volume_is_not_looked_up() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    let source = format!("cloudstack/{}", uuid(0x0d15, 1));
    let known = disk(SourceKind::Rbd, &source, Some(&serial(1)));
    let iso = Disk {
        device: Device::Cdrom,
        ..disk(SourceKind::File, "/mnt/sec/image-18", None)
    };
    let domain = domain("i-2-1-VM", &uuid(0x1157, 1), vec![known, iso]);
    let mut rows = everything(&mut reader);
    let before = reader.queries();
    reader
        .seen(&mut rows, &Scope::default(), [domain].iter())
        .unwrap();
    assert_eq!(reader.queries() - before, 0);
    assert_eq!(volumes(&rows), [1]);
}

#[test]
fn removed_vms_are_found_by_name_and_by_uuid() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    let rows = seen(
        &mut reader,
        &[
            domain("i-2-10-VM", "ffffffff-0000-4000-8000-000000000000", Vec::new()),
            domain("someone", &uuid(0x1157, 11), Vec::new()),
            domain("stranger", "eeeeeeee-0000-4000-8000-000000000000", Vec::new()),
        ],
    );
    assert_eq!(rows.vms.iter().map(|vm| vm.id.0).collect::<Vec<_>>(), [1, 10, 11]);
}

#[test]
fn names_from_xml_are_data() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    for text in [
        "x' OR '1'='1",
        "%",
        "_mage-10",
        "\u{1F525}",
        "日本",
        "\\",
        "\"",
        "`",
        "?",
        "{{where}}",
    ] {
        let disks = vec![
            disk(SourceKind::File, text, Some(text)),
            disk(SourceKind::Rbd, text, None),
        ];
        let rows = seen(&mut reader, &[domain(text, text, disks)]);
        assert_eq!((volumes(&rows), rows.vms.len()), (vec![1], 1), "{text:?}");
    }
}

#[test]
fn a_statement_per_thousand_suspects() {
    let cloud = cloud();
    let mut reader = reader(&cloud.db);
    let mut rows = everything(&mut reader);
    let mut count = |disks: usize| {
        let disks = (0..disks)
            .map(|n| disk(SourceKind::Rbd, &format!("p/unknown-{n}"), None))
            .collect();
        let domain = domain("i-2-1-VM", &uuid(0x1157, 1), disks);
        let before = reader.queries();
        reader
            .seen(&mut rows, &Scope::default(), [domain].iter())
            .unwrap();
        reader.queries() - before
    };
    assert_eq!(count(300), count(2));
    assert_eq!(count(1400), count(2) + 1);
}

#[test]
fn in_a_scope_a_disk_leads_to_its_row_that_to_its_vm_and_that_to_all_its_slots() {
    let mut cloud = cloud();
    cloud.add(Row::host(2, "kvm2")).unwrap();
    cloud.add_vm(Row::vm(2, "vm2", 2)).unwrap();
    for (id, slot) in [(2, 0), (3, 1), (4, 2)] {
        cloud.add(Row::volume(id, "x", 1).attached(2, slot)).unwrap();
    }
    let mut reader = reader(&cloud.db);
    let scope = Scope {
        vms: BTreeSet::from([VmId(1)]),
        words: vec!["vm vm1".to_owned()],
        ..Scope::default()
    };
    let mut rows = reader.rows(&scope).unwrap();
    assert_eq!((volumes(&rows), rows.vms.len()), (vec![1], 1));
    let stolen = disk(
        SourceKind::Rbd,
        &format!("cloudstack/{}", uuid(0x0d15, 3)),
        Some(&serial(3)),
    );
    let domain = domain("i-2-1-VM", &uuid(0x1157, 1), vec![stolen]);
    reader.seen(&mut rows, &scope, [domain].iter()).unwrap();
    assert_eq!(volumes(&rows), [1, 2, 3, 4]);
    assert_eq!(rows.vms.iter().map(|vm| vm.id.0).collect::<Vec<_>>(), [1, 2]);
}

/// A detach that ends between the look at the host and the row that its disk leads to is no orphan: the row is read as of
/// before the host, and the second read shows that it moved.
#[test]
fn in_a_scope_a_row_is_read_as_of_before_the_hosts() {
    let mut cloud = cloud();
    cloud
        .exec(
            "UPDATE volumes SET instance_id = 1, device_id = 5 WHERE id = 17",
            (),
        )
        .unwrap();
    let mut reader = reader(&cloud.db);
    let scope = Scope {
        hosts: [volrecon::model::HostId(2)].into(),
        words: vec!["host kvm2".to_owned()],
        ..Scope::default()
    };
    let mut rows = reader.rows(&scope).unwrap();
    assert!(rows.volumes.iter().all(|v| v.id.0 != 17), "out of scope at first");
    // The host has shown its disk; now the detach completes.
    cloud
        .exec(
            "UPDATE volumes SET instance_id = NULL, device_id = NULL, updated = UTC_TIMESTAMP() WHERE id = 17",
            (),
        )
        .unwrap();
    let held = disk(SourceKind::Rbd, "cloudstack/image-17", None);
    let domain = domain("i-2-1-VM", &uuid(0x1157, 1), vec![held]);
    reader.seen(&mut rows, &scope, [domain].iter()).unwrap();
    let claim = |rows: &Rows| {
        rows.volumes
            .iter()
            .find(|v| v.id.0 == 17)
            .map(|v| v.instance.map(|vm| vm.0))
    };
    assert_eq!(claim(&rows), Some(Some(1)), "as it was before the host was asked");
    let again = reader.again(&scope, &mut rows).unwrap();
    assert_eq!(claim(&rows), Some(None));
    assert!(again.moved.volumes.iter().any(|id| id.0 == 17));
}
