//! Domains and disks, as a host's live XML shows them.

use super::slot::Bus;
use serde::{Deserialize, Serialize};

/// Whether a domain's guest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// `VIR_DOMAIN_RUNNING`, and all that is not told apart below.
    Running,
    /// Paused for another reason than a migration: it still has its disks open.
    Paused,
    /// Paused by an incoming migration (`VIR_DOMAIN_PAUSED_MIGRATION` or `_STARTING_UP`): the twin of a running domain.
    Incoming,
}

/// `<disk device=…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// `disk`, also when the attribute is missing: the only one that can be a volume.
    Disk,
    /// `cdrom`: ISO, config drive, system VM's boot medium.
    Cdrom,
    /// `floppy`.
    Floppy,
    /// `lun`: a passed-through SCSI device.
    Lun,
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// `<source file=…>`.
    File,
    /// `<source dev=…>`.
    Block,
    /// `<source protocol='rbd' name=…>`.
    Rbd,
    /// `<source protocol='gluster' name=…>`.
    Gluster,
    /// Anything else: another network protocol, a pool's volume, vhost-user, NVMe.
    Other,
}

/// What a disk stands on. Hosts of network sources are left out: one image has many monitors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Source {
    /// Its kind.
    pub kind: SourceKind,
    /// Path, device, or `pool/image`.
    pub name: String,
}

/// One `<disk>` of a live domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// `device`.
    pub device: Device,
    /// The top of its chain; none for an empty drive.
    pub source: Option<Source>,
    /// Sources below the top, from `<backingStore>`, top first.
    pub backing: Vec<Source>,
    /// `<target dev=…>`; empty where the XML has none.
    pub target: String,
    /// `<target bus=…>`.
    pub bus: Bus,
    /// `<serial>`.
    pub serial: Option<String>,
    /// `<shareable/>`.
    pub shareable: bool,
    /// `<readonly/>`.
    pub readonly: bool,
    /// `<mirror>`: a block job is at work on it.
    pub mirror: bool,
    /// `<encryption>`.
    pub encrypted: bool,
    /// Whether the persistent definition has the same target on the same source; none if there is no definition.
    pub persistent: Option<bool>,
}

/// An active domain on one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name: `vm_instance.instance_name` if it is CloudStack's.
    pub name: String,
    /// Its uuid, lower case.
    pub uuid: String,
    /// Whether it runs.
    pub state: RunState,
    /// It has a persistent definition; CloudStack's own domains are transient.
    pub persistent: bool,
    /// The persistent definition's disks differ from the live ones; false if there is none.
    pub persistent_differs: bool,
    /// Its disks, in the XML's order.
    pub disks: Vec<Disk>,
}
