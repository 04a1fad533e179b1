//! Small worlds, told shortly: rows and domains that agree, and what is broken in them. Tests and benches build on it.
//!
//! A [`Spec`] is what a story's `world.toml` says. Everything has a default; every VM that should run has a domain on its
//! host with a root disk and the disks of the volumes that the rows give it, unless told otherwise.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use jiff::Timestamp;
use serde::Deserialize;
use std::collections::BTreeSet;
use volrecon::evidence::{Look, Status, Unreadable};
use volrecon::model::*;

/// A world as a story tells it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// End of the look.
    pub now: Timestamp,
    /// CloudStack's version.
    pub cloudstack: String,
    /// `--stuck-after`, seconds.
    pub stuck_after: u64,
    pub host: Vec<HostSpec>,
    pub pool: Vec<PoolSpec>,
    pub vm: Vec<VmSpec>,
    pub volume: Vec<VolumeSpec>,
    /// Disks beyond those that the rows call for.
    pub disk: Vec<DiskSpec>,
    /// Domains beyond those that the rows call for.
    pub domain: Vec<DomainSpec>,
    pub job: Vec<JobSpec>,
    pub reconcile: Vec<ReconcileSpec>,
    pub moved_volumes: BTreeSet<u64>,
    pub moved_vms: BTreeSet<u64>,
    /// Scope: names of hosts, ids of VMs and volumes.
    pub scope_hosts: Vec<String>,
    pub scope_vms: Vec<u64>,
    pub scope_volumes: Vec<u64>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            now: at("2026-09-08T15:00:00Z"),
            cloudstack: "4.22.1.0".to_owned(),
            stuck_after: 3600,
            host: Vec::new(),
            pool: Vec::new(),
            vm: Vec::new(),
            volume: Vec::new(),
            disk: Vec::new(),
            domain: Vec::new(),
            job: Vec::new(),
            reconcile: Vec::new(),
            moved_volumes: BTreeSet::new(),
            moved_vms: BTreeSet::new(),
            scope_hosts: Vec::new(),
            scope_vms: Vec::new(),
            scope_volumes: Vec::new(),
        }
    }
}

/// A host: `kvm1` to `kvm3` of cluster 1 and `kvm4` of cluster 2 are there already and may be changed by name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSpec {
    pub name: String,
    pub id: Option<u64>,
    pub cluster: Option<u64>,
    /// `host.status`.
    pub status: Option<String>,
    /// `seen`, `unseen`, `skipped` (a gap), `not-asked`, `no-look`, `removed` (no row, no look).
    pub look: Option<String>,
    /// The host shows no domain at all.
    pub empty: bool,
    /// Names of domains that are there and cannot be read.
    pub unreadable: Vec<String>,
}

/// A pool: one of each type is there already (see [`pools`]) and may be changed by name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolSpec {
    pub name: String,
    pub id: Option<u64>,
    pub kind: Option<String>,
    pub path: Option<String>,
    pub address: Option<String>,
    pub uuid: Option<String>,
    pub scope: Option<String>,
    pub cluster: Option<u64>,
    pub hypervisor: Option<String>,
    pub managed: Option<bool>,
    pub hosts: Option<Vec<u64>>,
    /// Leave the row out.
    pub gone: bool,
}

/// A VM. Running on `kvm1` with a ROOT volume of id 100000 + its own, unless told otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VmSpec {
    pub id: u64,
    pub name: Option<String>,
    pub uuid: Option<String>,
    pub instance: Option<String>,
    pub state: String,
    /// `vm_instance.host_id` by name; empty: NULL.
    pub host: String,
    /// Where its domain is, if not there; `none`: it has none.
    pub on: Option<String>,
    pub last_host: Option<String>,
    pub domain_state: Option<String>,
    pub domain_uuid: Option<String>,
    pub domain_name: Option<String>,
    pub kind: String,
    pub account: u64,
    pub hypervisor: String,
    pub removed: Option<Timestamp>,
    pub update_time: Option<Timestamp>,
    pub backup_offering: bool,
    pub snapshot: bool,
    pub data_disk_controller: Option<String>,
    pub extra_sources: Vec<String>,
    pub extra_unreadable: bool,
    /// Whether it has a ROOT volume, and on which pool.
    pub root: bool,
    pub root_pool: String,
    pub bus: String,
}

impl Default for VmSpec {
    fn default() -> Self {
        Self {
            id: 0,
            name: None,
            uuid: None,
            instance: None,
            state: "Running".to_owned(),
            host: "kvm1".to_owned(),
            on: None,
            last_host: None,
            domain_state: None,
            domain_uuid: None,
            domain_name: None,
            kind: "User".to_owned(),
            account: 2,
            hypervisor: "KVM".to_owned(),
            removed: None,
            update_time: None,
            backup_offering: false,
            snapshot: false,
            data_disk_controller: None,
            extra_sources: Vec::new(),
            extra_unreadable: false,
            root: true,
            root_pool: "rbd".to_owned(),
            bus: "virtio".to_owned(),
        }
    }
}

/// A volume. With a `vm` and `device`, its disk is plugged in there, unless `plugged` is false.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VolumeSpec {
    pub id: u64,
    pub name: Option<String>,
    /// Empty: NULL.
    pub uuid: Option<String>,
    pub path: Option<String>,
    pub iscsi_name: Option<String>,
    /// Name of its pool; empty: NULL.
    pub pool: String,
    pub last_pool: Option<String>,
    pub vm: Option<u64>,
    pub device: Option<u32>,
    pub kind: String,
    pub state: String,
    pub account: u64,
    pub attached: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub removed: Option<Timestamp>,
    pub encrypted: bool,
    pub last_id: Option<u64>,
    pub plugged: bool,
    /// Live target and source, where they differ from the row's.
    pub target: Option<String>,
    pub source: Option<String>,
    pub backing: Vec<String>,
    pub serial: Option<String>,
    pub mirror: bool,
    pub shareable: bool,
}

impl Default for VolumeSpec {
    fn default() -> Self {
        Self {
            id: 0,
            name: None,
            uuid: None,
            path: None,
            iscsi_name: None,
            pool: "rbd".to_owned(),
            last_pool: None,
            vm: None,
            device: None,
            kind: "DATADISK".to_owned(),
            state: "Ready".to_owned(),
            account: 2,
            attached: None,
            updated: None,
            removed: None,
            encrypted: false,
            last_id: None,
            plugged: true,
            target: None,
            source: None,
            backing: Vec::new(),
            serial: None,
            mirror: false,
            shareable: false,
        }
    }
}

/// A disk beyond the rows' own: a volume's, or one that is none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskSpec {
    /// Whose domain: a VM's id, or a domain's name.
    pub vm: Option<u64>,
    pub domain: Option<String>,
    /// The volume whose serial and source it has.
    pub volume: Option<u64>,
    pub target: String,
    pub source: Option<String>,
    /// `file`, `block`, `rbd`, `gluster`, `other`; guessed from the source if left out.
    pub source_kind: Option<String>,
    /// Empty: none.
    pub serial: Option<String>,
    pub backing: Vec<String>,
    pub device: Option<String>,
    pub bus: Option<String>,
    pub shareable: bool,
    pub readonly: bool,
    pub mirror: bool,
}

/// A domain beyond the rows' own; `like` takes a VM's name, uuid and disks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DomainSpec {
    pub host: String,
    pub like: Option<u64>,
    pub name: Option<String>,
    pub uuid: Option<String>,
    pub state: Option<String>,
}

/// A job: work of a VM's queue, unless `api_only`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobSpec {
    /// The API job's number; the work job's is that and one.
    pub id: u64,
    pub api_only: bool,
    /// `attach`, `detach`, `volume`, `vm`.
    pub work: String,
    pub command: Option<String>,
    pub vm: Option<u64>,
    pub volume: Option<u64>,
    /// `pending`, `succeeded`, `failed`, `cancelled`.
    pub state: String,
    pub created: Option<Timestamp>,
    pub completed: Option<Timestamp>,
    pub running: Option<bool>,
    pub abandoned: bool,
    pub cancelled_blocking: bool,
}

/// A row of `reconcile_commands`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReconcileSpec {
    pub volume: Option<u64>,
    pub vm: Option<u64>,
    pub command: String,
    pub created: Option<Timestamp>,
}

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

/// One pool of every type that KVM uses; `local1` and `local2` are of one host each.
pub fn pools() -> Vec<Pool> {
    use PoolType as T;
    let table: [(&str, T, &str, &str, Option<u64>, bool); 15] = [
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
    let row = |(id, (name, kind, path, scope, cluster, managed)): (
        u64,
        (&str, T, &str, &str, Option<u64>, bool),
    )| {
        Pool {
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
        }
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
