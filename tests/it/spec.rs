//! What a story's `world.toml` may say. Everything has a default; every VM that should run has a domain on its host with a
//! root disk and the disks of the volumes that the rows give it, unless told otherwise.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use super::world::at;
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::BTreeSet;

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
