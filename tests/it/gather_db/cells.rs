//! Odd cells: NULL wherever it may be, zero dates, other types, other time zones, encoded details.

use super::rows::full;
use super::{everything, time};
use crate::lab::maria::Shape;
use crate::lab::rows::{Cloud, Row};
use crate::stage::{reader, schema};
use mysql::prelude::Queryable;
use volrecon::evidence::Scope;
use volrecon::model::{ExtraDisk, VolumeState};

#[test]
fn every_column_that_may_be_null_is_none() {
    let mut cloud = Cloud::new(&schema(Shape::V4_22), 1).unwrap();
    let vm = Row::vm(1, "x", 1)
        .null("uuid")
        .null("host_id")
        .null("last_host_id");
    let vm = vm.null("power_host").null("hypervisor_type").null("pod_id");
    cloud.add(vm).unwrap();
    let mut volume = Row::volume(1, "x", 1);
    for column in [
        "pool_id",
        "last_pool_id",
        "instance_id",
        "device_id",
        "name",
        "uuid",
        "path",
        "iscsi_name",
        "attached",
        "updated",
        "removed",
        "state",
        "passphrase_id",
        "last_id",
    ] {
        volume = volume.null(column);
    }
    cloud.add(volume).unwrap();
    let mut pool = Row::pool(1, "RBD", "x");
    for column in ["name", "uuid", "scope", "hypervisor", "cluster_id", "removed"] {
        pool = pool.null(column);
    }
    cloud.add(pool).unwrap();
    cloud
        .exec("UPDATE data_center SET name = NULL, uuid = NULL", ())
        .unwrap();
    cloud
        .exec(
            "UPDATE cluster SET name = NULL, uuid = NULL, hypervisor_type = NULL",
            (),
        )
        .unwrap();
    cloud
        .exec("UPDATE host SET uuid = NULL, cluster_id = NULL", ())
        .unwrap();
    let rows = everything(&mut reader(&cloud.db));
    let (volume, vm, pool) = (&rows.volumes[0], &rows.vms[0], &rows.pools[0]);
    assert_eq!(
        (&volume.uuid, &volume.name, &volume.path, volume.pool),
        (&None, &None, &None, None)
    );
    assert_eq!(
        (volume.instance, volume.device_id, volume.attached, volume.updated),
        (None, None, None, None)
    );
    assert_eq!(volume.state, VolumeState::Other(String::new()));
    assert!(!volume.encrypted && volume.last_id.is_none() && volume.last_pool.is_none());
    assert_eq!(
        (&vm.uuid, vm.host, vm.last_host, vm.power_host),
        (&None, None, None, None)
    );
    assert!(!vm.is_kvm() && !vm.has_backup_offering && !vm.has_snapshot);
    assert_eq!((pool.uuid.as_str(), pool.scope.clone()), ("", None));
    assert_eq!((&rows.hosts[0].uuid, rows.hosts[0].cluster), (&None, None));
    assert_eq!(rows.zones[0].name, "");
}

#[test]
fn zero_dates_are_none_and_types_may_differ() {
    let mut cloud = full(Shape::V4_22);
    cloud.conn.query_drop("SET SESSION sql_mode = ''").unwrap();
    cloud
        .exec(
            "UPDATE volumes SET attached = '0000-00-00 00:00:00', updated = '2026-09-08 14:40:20'",
            (),
        )
        .unwrap();
    cloud
        .exec(
            "ALTER TABLE storage_pool MODIFY managed BIT(1) NOT NULL DEFAULT b'0'",
            (),
        )
        .unwrap();
    cloud
        .exec(
            "ALTER TABLE volumes MODIFY device_id INT, MODIFY size VARCHAR(32)",
            (),
        )
        .unwrap();
    let rows = everything(&mut reader(&cloud.db));
    assert_eq!(rows.volumes[0].attached, None);
    assert_eq!(
        (rows.volumes[0].device_id, rows.volumes[0].size),
        (Some(2), 1 << 42)
    );
    let managed: Vec<bool> = rows.pools.iter().map(|p| p.managed).collect();
    assert_eq!(managed, [false, true]);
    cloud
        .exec("UPDATE volumes SET updated = '2026-00-08 14:40:20'", ())
        .unwrap();
    let error = reader(&cloud.db).rows(&Scope::default()).unwrap_err();
    assert!(error.to_string().contains("a row of volumes"), "{error}");
    assert!(error.to_string().contains("1234"), "{error}");
}

#[test]
fn times_do_not_depend_on_the_servers_zone() {
    let cloud = full(Shape::V4_22);
    let root = crate::stage::settings(&cloud.db);
    let mut conn = crate::lab::base().unwrap().maria.root("").unwrap();
    conn.query_drop("SET GLOBAL time_zone = '-05:00'").unwrap();
    let read = volrecon::gather::Reader::open(&root).map(|mut reader| everything(&mut reader));
    conn.query_drop("SET GLOBAL time_zone = '+00:00'").unwrap();
    let rows = read.unwrap();
    assert_eq!(rows.volumes[0].attached, Some(time("2026-09-08 14:40:19")));
    let age = jiff::Timestamp::now().duration_since(rows.read_at);
    assert!(age.as_secs().abs() < 60, "{}", rows.read_at);
}

#[test]
fn extraconfig_is_read_plain_and_url_encoded() {
    let disk = "<devices><disk type='file' device='disk'><source file='/srv/my disk.img'/><target dev='vdx' bus='virtio'/></disk></devices>";
    let encoded: String = disk
        .bytes()
        .map(|b| match b {
            b' ' => "+".to_owned(),
            b if b.is_ascii_alphanumeric() => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect();
    let mut cloud = Cloud::new(&schema(Shape::V4_22), 1).unwrap();
    let table = "vm_instance_details";
    for (id, value) in [
        (1, disk),
        (2, encoded.as_str()),
        (3, "<disk><broken"),
        (4, "hugepages"),
        (5, "%3Cbroken%3E%3"),
        (6, "100%"),
    ] {
        cloud.add(Row::vm(id, &format!("vm{id}"), 1)).unwrap();
        cloud.add(Row::detail(table, id, "extraconfig-1", value)).unwrap();
    }
    cloud
        .add(Row::detail(table, 1, "extraconfig-2", "<memoryBacking/>"))
        .unwrap();
    cloud.add(Row::detail(table, 1, "Message.x", disk)).unwrap();
    let rows = everything(&mut reader(&cloud.db));
    let told: Vec<_> = rows
        .vms
        .iter()
        .map(|vm| (vm.extra_disks.len(), vm.extra_unreadable))
        .collect();
    assert_eq!(
        told,
        [
            (1, false),
            (1, false),
            (0, true),
            (0, false),
            (0, true),
            (0, false)
        ]
    );
    let extra = ExtraDisk {
        source: Some("/srv/my disk.img".to_owned()),
        target: Some("vdx".to_owned()),
    };
    assert_eq!(rows.vms[0].extra_disks, std::slice::from_ref(&extra));
    assert_eq!(rows.vms[1].extra_disks, [extra]);
}
