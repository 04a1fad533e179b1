//! The second read sees everything that moved in between, and takes the place of the first.

use super::everything;
use crate::lab::maria::Shape;
use crate::lab::rows::{Cloud, Row};
use crate::stage::{reader, schema};
use std::collections::BTreeSet;
use volrecon::evidence::{Moved, Scope};
use volrecon::gather::{Reader, Rows};
use volrecon::model::{VmId, VolumeId};

/// VMs 1 to 3 on kvm1, volumes 1 to 3 at their `vdb`, and one that is detached.
fn cloud() -> Cloud {
    let mut cloud = Cloud::new(&schema(Shape::V4_22), 2).unwrap();
    cloud.add(Row::pool(1, "RBD", "cloudstack")).unwrap();
    for id in 1..=3 {
        cloud.add_vm(Row::vm(id, &format!("vm{id}"), 1)).unwrap();
        cloud.add(Row::volume(id, "x", 1).attached(id, 1)).unwrap();
    }
    cloud.add(Row::volume(9, "spare", 1)).unwrap();
    cloud
}

fn moved(volumes: &[u64], vms: &[u64]) -> Moved {
    Moved {
        volumes: volumes.iter().map(|id| VolumeId(*id)).collect(),
        vms: vms.iter().map(|id| VmId(*id)).collect(),
    }
}

/// What the second read says after `sql`; the rows are the new ones.
fn after(cloud: &mut Cloud, scope: &Scope, sql: &[&str]) -> (Moved, Rows, Reader) {
    let mut reader = reader(&cloud.db);
    let mut rows = reader.rows(scope).unwrap();
    let first = rows.read_at;
    for sql in sql {
        cloud.exec(sql, ()).unwrap();
    }
    let again = reader.again(scope, &mut rows).unwrap();
    assert_eq!(rows.read_at, first, "the first read's time stays");
    assert!(again.read_at >= first);
    (again.moved, rows, reader)
}

#[test]
fn nothing_moved() {
    let mut cloud = cloud();
    let (none, rows, _) = after(&mut cloud, &Scope::default(), &[]);
    assert_eq!(none, Moved::default());
    assert_eq!((rows.volumes.len(), rows.vms.len()), (4, 3));
}

#[test]
fn every_column_of_a_volume_that_attach_detach_or_a_change_of_state_writes() {
    let mut cloud = cloud();
    for change in [
        "instance_id = 2",
        "instance_id = NULL",
        "device_id = 2",
        "attached = '2026-09-08 00:00:00'",
        "updated = '2026-09-08 00:00:00'",
        "state = 'Attaching'",
        "update_count = 1",
        "path = 'y'",
        "pool_id = 2",
        "uuid = NULL",
    ] {
        let sql = format!("UPDATE volumes SET {change} WHERE id = 1");
        let (seen, rows, _) = after(&mut cloud, &Scope::default(), &[&sql]);
        assert_eq!(seen, moved(&[1], &[]), "{change}");
        assert_eq!(
            rows.volumes,
            everything(&mut reader(&cloud.db)).volumes,
            "{change}"
        );
    }
}

#[test]
fn every_column_of_a_vm_that_moves_its_disks() {
    let mut cloud = cloud();
    for change in [
        "state = 'Stopping'",
        "host_id = 2",
        "host_id = NULL",
        "last_host_id = 2",
        "uuid = NULL",
        "instance_name = 'i-2-7-VM'",
    ] {
        let sql = format!("UPDATE vm_instance SET {change} WHERE id = 2");
        let (seen, ..) = after(&mut cloud, &Scope::default(), &[&sql]);
        assert_eq!(seen, moved(&[], &[2]), "{change}");
    }
}

#[test]
fn rows_that_appear_are_removed_or_vanish() {
    let mut cloud = cloud();
    let (seen, rows, _) = after(
        &mut cloud,
        &Scope::default(),
        &[
            "UPDATE volumes SET removed = UTC_TIMESTAMP() WHERE id = 1",
            "DELETE FROM volumes WHERE id = 2",
            "INSERT INTO volumes (id, account_id, domain_id, size, data_center_id, volume_type, disk_offering_id, state) \
             VALUES (50, 2, 1, 1, 1, 'DATADISK', 1, 'Ready')",
            "UPDATE vm_instance SET removed = UTC_TIMESTAMP() WHERE id = 1",
            "DELETE FROM vm_instance WHERE id = 2",
            "INSERT INTO vm_instance (id, name, instance_name, state, data_center_id, created, type, vm_type, account_id, domain_id) \
             VALUES (50, 'x', 'i-2-50-VM', 'Running', 1, UTC_TIMESTAMP(), 'User', 'User', 2, 1)",
        ],
    );
    assert_eq!(seen, moved(&[1, 2, 50], &[1, 2, 50]));
    let ids: Vec<u64> = rows.volumes.iter().map(|v| v.id.0).collect();
    assert_eq!(ids, [1, 3, 9, 50], "the removed one is told with its new row");
    assert!(rows.volumes[0].removed.is_some());
}

#[test]
fn a_job_that_ended_or_vanished_moves_its_volume_or_vm() {
    let mut cloud = cloud();
    for (id, command, volume, vm) in [
        (100, "com.cloud.vm.VmWorkDetachVolume", Some(1), 1),
        (101, "com.cloud.vm.VmWorkAttachVolume", Some(9), 2),
        (102, "com.cloud.vm.VmWorkStop", None, 3),
        (103, "com.cloud.vm.VmWorkDetachVolume", Some(2), 2),
    ] {
        let row = Row::job(id, command, "2026-09-08 14:00:00").set("job_type", "VmWork");
        let row = match volume {
            Some(volume) => row.set("instance_type", "Volume").set("instance_id", volume),
            None => row,
        };
        cloud.add(row).unwrap();
        let work = Row::new("vm_work_job")
            .set("id", id)
            .set("step", "Starting")
            .set("vm_type", "Instance");
        cloud.add(work.set("vm_instance_id", vm)).unwrap();
    }
    let (seen, ..) = after(
        &mut cloud,
        &Scope::default(),
        &[
            "UPDATE async_job SET job_status = 1 WHERE id IN (100, 102)",
            "DELETE FROM async_job WHERE id = 101",
        ],
    );
    assert_eq!(seen, moved(&[1, 9], &[3]));
}

#[test]
fn in_a_scope_what_leaves_it_is_looked_up_and_what_enters_it_is_told() {
    let mut cloud = cloud();
    let scope = Scope {
        vms: BTreeSet::from([VmId(1)]),
        words: vec!["vm vm1".to_owned()],
        ..Scope::default()
    };
    let (seen, rows, _) = after(
        &mut cloud,
        &scope,
        &[
            "UPDATE volumes SET instance_id = 2, device_id = 2 WHERE id = 1",
            "UPDATE volumes SET instance_id = 1, device_id = 1 WHERE id = 9",
        ],
    );
    assert_eq!(seen, moved(&[1, 9], &[]));
    let claims: Vec<_> = rows
        .volumes
        .iter()
        .filter(|v| v.id.0 != 2)
        .map(|v| (v.id.0, v.instance))
        .collect();
    assert_eq!(claims, [(1, Some(VmId(2))), (9, Some(VmId(1)))]);
}

#[test]
fn one_read_sees_one_moment() {
    let mut cloud = cloud();
    let mut reader = reader(&cloud.db);
    let mut rows = everything(&mut reader);
    // Rows that hosts led to stay known in the second read.
    cloud
        .exec("UPDATE volumes SET removed = UTC_TIMESTAMP() WHERE id = 9", ())
        .unwrap();
    let first = reader.again(&Scope::default(), &mut rows).unwrap();
    assert_eq!(first.moved, moved(&[9], &[]));
    let second = reader.again(&Scope::default(), &mut rows).unwrap();
    assert_eq!(second.moved, Moved::default());
    assert_eq!(rows.volumes.len(), 4);
}
