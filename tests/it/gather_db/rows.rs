//! Rows come out as they were put in, whatever the release and the type of the column.

use super::{everything, time};
use crate::lab::maria::Shape;
use crate::lab::rows::{BORN, Cloud, Row, uuid};
use crate::stage::{reader, schema};
use mysql::prelude::Queryable;
use volrecon::evidence::Scope;
use volrecon::model::{
    AccountId, Cluster, ClusterId, DomainId, Host, HostId, Pool, PoolId, PoolScope, PoolType, Vm, VmId,
    VmState, VmType, Volume, VolumeId, VolumeState, VolumeType, Zone, ZoneId,
};

/// Every column that is read, each with a value of its own.
pub fn full(shape: Shape) -> Cloud {
    let mut cloud = Cloud::new(&schema(shape), 1).unwrap();
    let host = Row::host(2, "kvm2")
        .set("status", "Down")
        .set("resource_state", "Maintenance");
    cloud
        .add(host.null("cluster_id").set("private_ip_address", "10.99.0.12"))
        .unwrap();
    cloud
        .add(Row::host(3, "gone").set("removed", "2026-06-02 00:00:00"))
        .unwrap();
    cloud
        .add(Row::host(4, "secondary").set("type", "SecondaryStorageVM"))
        .unwrap();
    cloud
        .add(Row::host(5, "esx").set("hypervisor_type", "VMware"))
        .unwrap();
    cloud.add(Row::cluster(2, "gone").set("removed", BORN)).unwrap();
    cloud.add(Row::zone(2, "gone").set("removed", BORN)).unwrap();
    cloud
        .add(Row::pool(1, "RBD", "cloudstack").set("host_address", "10.0.0.1,10.0.0.2"))
        .unwrap();
    let local = Row::pool(2, "Filesystem", "/var/lib/libvirt/images").set("scope", "HOST");
    cloud
        .add(
            local
                .set("cluster_id", 1)
                .set("managed", 1)
                .set("removed", "2026-06-03 00:00:00"),
        )
        .unwrap();
    for (pool, host) in [(1, 2), (1, 1), (2, 1)] {
        let row = Row::new("storage_pool_host_ref")
            .set("pool_id", pool)
            .set("host_id", host);
        cloud
            .add(row.set("created", BORN).set("local_path", "/mnt"))
            .unwrap();
    }
    let vm = Row::vm(41, "weiß\u{1F525}", 1)
        .set("state", "Migrating")
        .set("last_host_id", 2)
        .set("power_host", 2)
        .set("account_id", 7)
        .set("domain_id", 8)
        .set("update_time", "2026-09-08 14:00:01")
        .set("backup_offering_id", 5);
    cloud.add_vm(vm).unwrap();
    cloud.add(Row::vm_snapshot(1, 41, "Ready")).unwrap();
    let volume = Row::volume(1234, "pvc-é", 1)
        .attached(41, 2)
        .set("iscsi_name", "/iqn.2012-03.com.example:x/3")
        .set("last_pool_id", 2)
        .set("account_id", 7)
        .set("domain_id", 8)
        .set("size", 1_u64 << 42)
        .set("attached", "2026-09-08 14:40:19")
        .set("updated", "2026-09-08 14:40:20")
        .set("update_count", 12);
    let volume = if shape == Shape::V4_22 {
        volume.set("passphrase_id", 3).set("last_id", 1233)
    } else {
        volume
    };
    cloud.add(volume).unwrap();
    cloud
}

fn volume(shape: Shape) -> Volume {
    let new = shape == Shape::V4_22;
    Volume {
        id: VolumeId(1234),
        uuid: Some(uuid(0x0d15, 1234)),
        name: Some("pvc-é".to_owned()),
        path: Some(uuid(0x0d15, 1234)),
        iscsi_name: Some("/iqn.2012-03.com.example:x/3".to_owned()),
        pool: Some(PoolId(1)),
        last_pool: Some(PoolId(2)),
        instance: Some(VmId(41)),
        device_id: Some(2),
        kind: VolumeType::Data,
        state: VolumeState::Ready,
        account: AccountId(7),
        domain: DomainId(8),
        zone: ZoneId(1),
        size: 1 << 42,
        attached: Some(time("2026-09-08 14:40:19")),
        updated: Some(time("2026-09-08 14:40:20")),
        removed: None,
        update_count: 12,
        encrypted: new,
        last_id: new.then_some(VolumeId(1233)),
    }
}

fn vm() -> Vm {
    Vm {
        id: VmId(41),
        uuid: Some(uuid(0x1157, 41)),
        name: "weiß\u{1F525}".to_owned(),
        instance: "i-2-41-VM".to_owned(),
        state: VmState::Migrating,
        kind: VmType::User,
        host: Some(HostId(1)),
        last_host: Some(HostId(2)),
        power_host: Some(HostId(2)),
        account: AccountId(7),
        domain: DomainId(8),
        zone: ZoneId(1),
        hypervisor: "KVM".to_owned(),
        removed: None,
        update_time: Some(time("2026-09-08 14:00:01")),
        has_backup_offering: true,
        has_snapshot: true,
        data_disk_controller: Some("scsi".to_owned()),
        extra_disks: Vec::new(),
        extra_unreadable: false,
    }
}

#[test]
fn rows_are_what_was_inserted() {
    let mut cloud = full(Shape::V4_22);
    cloud
        .add(Row::detail(
            "vm_instance_details",
            41,
            "dataDiskController",
            "scsi",
        ))
        .unwrap();
    let mut reader = reader(&cloud.db);
    assert_eq!(reader.cloudstack(), Some("4.22.1.0"));
    assert!(reader.server().contains("MariaDB"), "{}", reader.server());
    assert!(reader.warnings().is_empty());
    let rows = everything(&mut reader);
    assert_eq!(
        rows.zones,
        [Zone {
            id: ZoneId(1),
            uuid: Some(uuid(0xdc, 1)),
            name: "zone1".to_owned()
        }]
    );
    assert_eq!(
        rows.clusters,
        [Cluster {
            id: ClusterId(1),
            uuid: Some(uuid(0xc1, 1)),
            name: "cluster1".to_owned(),
            zone: ZoneId(1),
            hypervisor: Some("KVM".to_owned()),
        }]
    );
    let host = |id: u64, cluster: Option<u64>, status: &str, resource: &str| Host {
        id: HostId(id),
        uuid: Some(uuid(0x50, id)),
        name: format!("kvm{id}"),
        ip: format!("10.99.0.1{id}"),
        zone: ZoneId(1),
        cluster: cluster.map(ClusterId),
        status: status.to_owned(),
        resource_state: resource.to_owned(),
        removed: None,
    };
    assert_eq!(
        rows.hosts,
        [
            host(1, Some(1), "Up", "Enabled"),
            host(2, None, "Down", "Maintenance")
        ]
    );
    let rbd = Pool {
        id: PoolId(1),
        uuid: uuid(0x9001, 1),
        name: "primary1".to_owned(),
        kind: PoolType::Rbd,
        address: Some("10.0.0.1,10.0.0.2".to_owned()),
        port: Some(6789),
        path: Some("cloudstack".to_owned()),
        scope: Some(PoolScope::Zone),
        zone: Some(ZoneId(1)),
        cluster: None,
        hypervisor: Some("KVM".to_owned()),
        managed: false,
        removed: None,
        hosts: vec![HostId(1), HostId(2)],
    };
    let local = Pool {
        id: PoolId(2),
        uuid: uuid(0x9001, 2),
        name: "primary2".to_owned(),
        kind: PoolType::Filesystem,
        address: Some("localhost".to_owned()),
        port: Some(0),
        path: Some("/var/lib/libvirt/images".to_owned()),
        scope: Some(PoolScope::Host),
        cluster: Some(ClusterId(1)),
        managed: true,
        removed: Some(time("2026-06-03 00:00:00")),
        hosts: vec![HostId(1)],
        ..rbd.clone()
    };
    assert_eq!(rows.pools, [rbd, local]);
    assert_eq!(rows.vms, [vm()]);
    assert_eq!(rows.volumes, [volume(Shape::V4_22)]);
    assert!(rows.jobs.is_empty() && rows.reconcile.is_empty());
    let age = jiff::Timestamp::now().duration_since(rows.read_at);
    assert!(age.as_secs().abs() < 60, "{}", rows.read_at);
}

#[test]
fn the_tables_of_4_15_are_read_as_well() {
    let mut cloud = full(Shape::V4_15);
    cloud
        .add(Row::detail("user_vm_details", 41, "dataDiskController", "scsi"))
        .unwrap();
    let mut reader = reader(&cloud.db);
    assert_eq!(reader.cloudstack(), Some("4.15.2.0"));
    assert!(reader.warnings().is_empty());
    let rows = everything(&mut reader);
    assert_eq!(rows.volumes, [volume(Shape::V4_15)]);
    assert_eq!(rows.vms, [vm()]);
    assert!(rows.reconcile.is_empty());
}

#[test]
fn an_unknown_release_warns_and_is_read() {
    let mut cloud = full(Shape::V4_22);
    for (version, step, known) in [
        ("4.24.0.0", "Complete", false),
        ("4.24.0.1", "Cleanup", false),
        ("5.1", "Complete", false),
        ("4.20.3.0", "Complete", true),
    ] {
        let sql = "INSERT INTO version (version, updated, step) VALUES (?, '2026-06-01', ?)";
        cloud.exec(sql, (version, step)).unwrap();
        let mut reader = reader(&cloud.db);
        let expected = if step == "Complete" { version } else { "4.24.0.0" };
        assert_eq!(reader.cloudstack(), Some(expected));
        assert_eq!(reader.warnings().is_empty(), known, "{version}");
        assert_eq!(everything(&mut reader).volumes.len(), 1);
    }
}

#[test]
fn queries_do_not_grow_with_the_cloud() {
    let count = |vms: u64| {
        let mut cloud = Cloud::new(&schema(Shape::V4_22), 3).unwrap();
        cloud.add(Row::pool(1, "RBD", "x")).unwrap();
        cloud.conn.query_drop("START TRANSACTION").unwrap();
        for id in 1..=vms {
            cloud.add(Row::vm(id, &format!("vm{id}"), 1)).unwrap();
            cloud
                .add(Row::volume(id, &format!("v{id}"), 1).attached(id, 0))
                .unwrap();
        }
        cloud.conn.query_drop("COMMIT").unwrap();
        let mut reader = reader(&cloud.db);
        let mut rows = everything(&mut reader);
        assert_eq!(rows.vms.len(), usize::try_from(vms).unwrap());
        reader
            .seen(&mut rows, &Scope::default(), std::iter::empty())
            .unwrap();
        reader.again(&Scope::default(), &mut rows).unwrap();
        reader.queries()
    };
    let few = count(10);
    assert_eq!(few, count(300));
    assert!(few < 50, "{few}");
}
