//! Evidence: all that was seen in one run, and what could not be seen.
//!
//! *Comes in*: rows and looks, from `gather` or from a file. *Goes out*: one value; the same bytes for the same sight.
//! *Never*: a verdict, a secret, a clock of its own.

mod file;

pub use file::{EvidenceError, load, save};

use crate::model::{
    Cluster, Domain, Host, HostId, Job, Logs, Pool, Reconcile, Records, Vm, VmId, Volume, VolumeId, Zone,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the operator asked to look at. Empty: everything. Names are resolved to rows by `gather`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// `--host`: their VMs by the rows, and the domains seen on them.
    pub hosts: BTreeSet<HostId>,
    /// `--vm`.
    pub vms: BTreeSet<VmId>,
    /// `--volume`.
    pub volumes: BTreeSet<VolumeId>,
    /// `--cluster` and `--zone`, as the hosts that they hold.
    pub areas: BTreeSet<HostId>,
    /// As it was typed, for the document: `host kvm1`, ….
    pub words: Vec<String>,
}

impl Scope {
    /// Nothing was asked in particular: everything is in scope.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.hosts.is_empty()
            && self.vms.is_empty()
            && self.volumes.is_empty()
            && self.areas.is_empty()
            && self.words.is_empty()
    }
}

/// Which database was read, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// `version()` of the server.
    pub server: String,
    /// CloudStack's own version: the highest row of `version` with step `Complete`.
    pub cloudstack: Option<String>,
    /// First read of the rows, by the database's own clock.
    pub read_at: Timestamp,
    /// Second read, after the hosts.
    pub read_again_at: Option<Timestamp>,
}

/// Why something that should have been looked at could not be. The words of the documents' `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCode {
    /// A host was not read whole: refused, late, unknown, closed mid-way.
    HostUnseen,
    /// A host answered, but shows no domain where the rows promise some.
    EmptyHost,
    /// A domain's XML could not be read.
    DomainUnreadable,
}

/// What looking at one host gave. *Not looked* and *looked, nothing there* are different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Status {
    /// Read whole.
    Seen,
    /// Asked, and not read whole. What was read before still stands as *seen*.
    Unseen {
        /// Of which kind.
        code: GapCode,
        /// In words, for people.
        reason: String,
    },
    /// Not asked: out of scope, or told to skip it.
    NotAsked {
        /// In words, for people.
        reason: String,
        /// Told to skip (`[libvirt] skip`): a gap. Out of scope is none.
        gap: bool,
    },
}

/// A domain that is there and whose XML could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// Its name.
    pub name: String,
    /// Its uuid, where even that is known; lower case.
    pub uuid: Option<String>,
    /// What came back.
    pub reason: String,
}

/// One look at one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The libvirt URI, without a password.
    pub uri: String,
    /// Whether it was read whole.
    pub status: Status,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// Its active domains, by name.
    pub domains: Vec<Domain>,
    /// Domains that could not be read.
    pub unreadable: Vec<Unreadable>,
}

impl Look {
    /// Whether the host was read whole.
    #[must_use]
    pub fn is_seen(&self) -> bool {
        matches!(self.status, Status::Seen)
    }
}

/// Rows that differed between the two reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Volumes.
    pub volumes: BTreeSet<VolumeId>,
    /// VMs.
    pub vms: BTreeSet<VmId>,
}

/// All that was seen in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// When the run began.
    pub started: Timestamp,
    /// When the last thing was read: "now" for all that judge.
    pub finished: Timestamp,
    /// What was asked for.
    pub scope: Scope,
    /// `--stuck-after`, in seconds.
    pub stuck_after: u64,
    /// The database.
    pub database: Database,
    /// Rows of `data_center`, by id; likewise below.
    pub zones: Vec<Zone>,
    /// Rows of `cluster`.
    pub clusters: Vec<Cluster>,
    /// KVM hosts that are not removed, and removed ones on which VMs run by their rows.
    pub hosts: Vec<Host>,
    /// Rows of `storage_pool`.
    pub pools: Vec<Pool>,
    /// VMs that are not removed, and removed ones whose domain was seen.
    pub vms: Vec<Vm>,
    /// Volumes that are not removed, and removed ones whose disk was seen.
    pub volumes: Vec<Volume>,
    /// Pending jobs of all kinds; attach and detach jobs that are done, as far back as they are kept.
    pub jobs: Vec<Job>,
    /// Live rows of `reconcile_commands`.
    pub reconcile: Vec<Reconcile>,
    /// Rows of `event` and `usage_event`, by volume: of orphans, and of what was asked about. No entry: not read.
    #[serde(default)]
    pub records: BTreeMap<VolumeId, Records>,
    /// What logs say; none where none were given.
    #[serde(default)]
    pub logs: Option<Logs>,
    /// What differed between the two reads.
    pub moved: Moved,
    /// By host.
    pub looks: BTreeMap<HostId, Look>,
    /// Said once on stderr: an unknown database version, a column that is missing.
    pub warnings: Vec<String>,
    /// With `--settle`: the look before this one. A finding counts only if both show it.
    pub earlier: Option<Box<Evidence>>,
}
