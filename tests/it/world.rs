//! The parts of small worlds: hosts, pools, ids, and what libvirt shows of a volume. Tests and benches build on them.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use jiff::Timestamp;
use volrecon::evidence::{Look, Status, Unreadable};
use volrecon::model::*;

/// A time.
pub fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// The uuid that volume `id` has by default; its serial differs from any other's.
pub fn volume_uuid(id: u64) -> String {
    format!("{id:08x}-0a0b-4c0d-8e0f-{id:012x}")
}

/// The uuid that VM `id` has by default.
pub fn vm_uuid(id: u64) -> String {
    format!("{id:08x}-7777-4777-8777-{id:012x}")
}

/// The serial that CloudStack gives a volume's disk.
pub fn serial(uuid: &str) -> String {
    uuid.replace('-', "").chars().take(20).collect()
}

/// `vdc`, `sdc` … for the slots that stories use.
pub fn target(bus: Bus, slot: u32) -> String {
    let letter = char::from(b'a' + u8::try_from(slot).expect("a small slot"));
    let prefix = if matches!(bus, Bus::Scsi | Bus::Sata) {
        "sd"
    } else {
        "vd"
    };
    format!("{prefix}{letter}")
}

/// One zone.
pub fn zones() -> Vec<Zone> {
    vec![Zone {
        id: ZoneId(1),
        uuid: Some("00000001-2222-4222-8222-000000000001".to_owned()),
        name: "zone1".to_owned(),
    }]
}

/// A KVM cluster.
pub fn cluster(id: u64) -> Cluster {
    Cluster {
        id: ClusterId(id),
        uuid: None,
        name: format!("cluster{id}"),
        zone: ZoneId(1),
        hypervisor: Some("KVM".to_owned()),
    }
}

/// A host that is up.
pub fn host(id: u64, cluster: u64) -> Host {
    Host {
        id: HostId(id),
        uuid: Some(format!("{id:08x}-3333-4333-8333-{id:012x}")),
        name: format!("kvm{id}"),
        ip: format!("10.0.{}.{}", id / 250, id % 250 + 1),
        zone: ZoneId(1),
        cluster: Some(ClusterId(cluster)),
        status: "Up".to_owned(),
        resource_state: "Enabled".to_owned(),
        removed: None,
    }
}

/// A look that saw everything there was.
pub fn look(host: &Host) -> Look {
    Look {
        uri: format!("qemu+ssh://root@{}/system", host.ip),
        status: Status::Seen,
        millis: 12,
        domains: Vec::new(),
        unreadable: Vec::<Unreadable>::new(),
    }
}

/// Name, type, path, scope, cluster, managed.
type PoolRow = (
    &'static str,
    PoolType,
    &'static str,
    &'static str,
    Option<u64>,
    bool,
);

/// One pool of every type that KVM uses; `local1` and `local2` are of one host each.
pub fn pools() -> Vec<Pool> {
    use PoolType as T;
    let table: [PoolRow; 15] = [
        ("rbd", T::Rbd, "/cloudstack", "ZONE", None, false),
        (
            "nfs",
            T::NetworkFilesystem,
            "/export/primary",
            "CLUSTER",
            Some(1),
            false,
        ),
        (
            "mount",
            T::SharedMountPoint,
            "/mnt/shared",
            "CLUSTER",
            Some(1),
            false,
        ),
        (
            "local1",
            T::Filesystem,
            "/var/lib/libvirt/images",
            "HOST",
            Some(1),
            false,
        ),
        (
            "local2",
            T::Filesystem,
            "/var/lib/libvirt/images",
            "HOST",
            Some(1),
            false,
        ),
        ("clvm", T::Clvm, "/vg_cs", "CLUSTER", Some(1), false),
        ("powerflex", T::PowerFlex, "pf", "ZONE", None, true),
        ("storpool", T::StorPool, "sp", "ZONE", None, true),
        ("linstor", T::Linstor, "rg", "ZONE", None, true),
        ("fiber", T::FiberChannel, "flash", "ZONE", None, true),
        ("nvme", T::NvmeTcp, "nv", "ZONE", None, true),
        ("iscsi", T::Iscsi, "sf", "ZONE", None, true),
        ("gluster", T::Gluster, "/gv0", "ZONE", None, false),
        ("managednfs", T::ManagedNfs, "mn", "ZONE", None, true),
        ("clvmng", T::ClvmNg, "/vg_ng", "CLUSTER", Some(1), false),
    ];
    let row = |(id, (name, kind, path, scope, cluster, managed)): (u64, PoolRow)| Pool {
        id: PoolId(id),
        uuid: format!("610e0939-6665-3d4c-9f21-{id:012x}"),
        name: name.to_owned(),
        kind,
        address: Some("10.0.9.1".to_owned()),
        port: Some(if name == "iscsi" { 3260 } else { 0 }),
        path: Some(path.to_owned()),
        scope: Some(PoolScope::from(scope)),
        zone: Some(ZoneId(1)),
        cluster: cluster.map(ClusterId),
        hypervisor: None,
        managed,
        removed: None,
        hosts: match name {
            "local1" => vec![HostId(1)],
            "local2" => vec![HostId(2)],
            _ => Vec::new(),
        },
    };
    (1..).zip(table).map(row).collect()
}

/// The `path` (and `iscsi_name`) that a volume has by default on a pool.
pub fn default_path(kind: &PoolType, id: u64, uuid: &str) -> (String, Option<String>) {
    match kind {
        PoolType::PowerFlex => (format!("bd2af3e1{id:08x}:vol-{id}"), None),
        PoolType::StorPool => (format!("/dev/storpool-byid/v.{id:x}"), None),
        PoolType::FiberChannel => (
            format!("type=FIBERWWN; address=6000D31000{id:06X}; connid.kvm1=3; "),
            None,
        ),
        PoolType::NvmeTcp => (
            format!("type=NVMETCP; address=ABCD{id:06X}; connid.kvm1=1; "),
            None,
        ),
        PoolType::Iscsi => {
            let name = format!("/iqn.2010-01.com.solidfire:abc.vol.{id}/0");
            (name.clone(), Some(name))
        }
        _ => (uuid.to_owned(), None),
    }
}

/// What libvirt shows for a volume on a pool, as the hypervisor's agent writes it.
pub fn live_source(pool: &Pool, path: &str, uuid: &str) -> Source {
    let base = pool.path.as_deref().unwrap_or_default();
    let bare = base.trim_start_matches('/');
    let part = |name: &str| {
        let (_, rest) = path.split_once(&format!("{name}=")).unwrap_or_default();
        rest.split(';').next().unwrap_or_default().to_owned()
    };
    let (kind, name) = match pool.kind {
        PoolType::Rbd => (SourceKind::Rbd, format!("{bare}/{path}")),
        PoolType::Gluster => (SourceKind::Gluster, format!("{bare}/{path}")),
        PoolType::NetworkFilesystem => (SourceKind::File, format!("/mnt/{}/{path}", pool.uuid)),
        PoolType::ManagedNfs => (SourceKind::File, format!("/mnt{uuid}/{path}")),
        PoolType::SharedMountPoint | PoolType::Filesystem => (SourceKind::File, format!("{base}/{path}")),
        PoolType::Clvm | PoolType::ClvmNg => (SourceKind::Block, format!("/dev/{bare}/{path}")),
        PoolType::PowerFlex => {
            let id = path.split(':').next().unwrap_or_default();
            (
                SourceKind::Block,
                format!("/dev/disk/by-id/emc-vol-218ce1797566a00f-{id}"),
            )
        }
        PoolType::StorPool => (SourceKind::Block, path.to_owned()),
        PoolType::Linstor => (SourceKind::Block, format!("/dev/drbd/by-res/cs-{path}/0")),
        PoolType::FiberChannel => (SourceKind::Block, format!("/dev/mapper/3{}", part("address"))),
        PoolType::NvmeTcp => {
            let eui = part("address").to_lowercase();
            (SourceKind::Block, format!("/dev/disk/by-id/nvme-eui.{eui}"))
        }
        PoolType::Iscsi => {
            let (iqn, lun) = path.trim_start_matches('/').split_once('/').unwrap_or_default();
            let address = pool.address.as_deref().unwrap_or_default();
            (
                SourceKind::Block,
                format!("/dev/disk/by-path/ip-{address}:3260-iscsi-{iqn}-lun-{lun}"),
            )
        }
        _ => (SourceKind::Other, path.to_owned()),
    };
    Source { kind, name }
}

/// A plain data disk.
pub fn disk(source: Source, target: &str, serial: Option<&str>) -> Disk {
    Disk {
        device: Device::Disk,
        source: Some(source),
        backing: Vec::new(),
        target: target.to_owned(),
        bus: bus_of(target),
        serial: serial.map(str::to_owned),
        shareable: false,
        readonly: false,
        mirror: false,
        encrypted: false,
        persistent: None,
    }
}

fn bus_of(target: &str) -> Bus {
    match target.get(..2) {
        Some("sd") => Bus::Scsi,
        Some("hd") => Bus::Ide,
        _ => Bus::Virtio,
    }
}

/// A source as a story writes it: a path of a file, a device below `/dev`, else `pool/image` of RBD.
pub fn source(text: &str) -> Source {
    let kind = match text {
        t if t.starts_with("/dev/") => SourceKind::Block,
        t if t.starts_with('/') => SourceKind::File,
        _ => SourceKind::Rbd,
    };
    Source {
        kind,
        name: text.to_owned(),
    }
}
