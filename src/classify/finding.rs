//! A finding: one mismatch, in the words of the `scan` document.
//!
//! Field names and their order are the document's (design, section 8): scripts rely on them.

use super::class::{Class, Severity};
use crate::model::{AccountId, HostId, JobId, PoolId, VmId, VolumeId};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// How sure the cause of an orphan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// No history left.
    Unproven,
    /// Times, or half of the history.
    Likely,
    /// The clearing job, its VM, and the attach that it destroyed are on record.
    Proven,
}

impl Confidence {
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unproven => "unproven",
            Self::Likely => "likely",
            Self::Proven => "proven",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Subject {
    Volume,
    Vm,
    Disk,
    Job,
}

/// A volume, as documents tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the columns of `volumes` and `storage_pool`")]
pub struct VolumeRef {
    pub id: VolumeId,
    pub uuid: Option<String>,
    pub name: Option<String>,
    pub path: Option<String>,
    pub pool: Option<String>,
    pub pool_id: Option<PoolId>,
    pub pool_uuid: Option<String>,
    pub pool_type: Option<String>,
    pub r#type: String,
    pub state: String,
    pub removed: Option<Timestamp>,
}

/// The VM in trouble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the columns of `vm_instance`")]
pub struct VmRef {
    pub id: VmId,
    pub uuid: Option<String>,
    pub instance: String,
    pub name: String,
    pub state: String,
    /// Name of the host that the row says.
    pub host: Option<String>,
    pub account: AccountId,
}

/// What the database says of the volume: a VM and a device id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The VM's instance name; the row's number where the VM's row is gone.
    pub vm: String,
    /// Its display name.
    pub vm_name: Option<String>,
    /// Its uuid.
    pub vm_uuid: Option<String>,
    /// Its state.
    pub vm_state: Option<String>,
    /// Name of the host that its row says.
    pub host: Option<String>,
    /// The slot.
    pub device_id: Option<u32>,
    /// The target that the slot becomes.
    pub target: Option<String>,
}

/// Whether a guest uses a disk. A scan asks neither monitor nor guest: there it is always unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InUse {
    Yes,
    No,
    Unknown,
}

/// A domain that has the volume's disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Name of the host.
    pub host: String,
    /// The host row's uuid.
    pub host_uuid: Option<String>,
    /// The domain's name.
    pub domain: String,
    /// The domain's uuid.
    pub domain_uuid: String,
    /// Display name of its VM; none for a domain that is no VM of CloudStack's.
    pub vm_name: Option<String>,
    /// `<target dev=…>`; none where a VM is the subject.
    pub target: Option<String>,
    /// The slot that the target stands for.
    pub device_id: Option<u32>,
    /// The top of its chain.
    pub source: Option<String>,
    /// `<serial>`.
    pub serial: Option<String>,
    /// Whether the domain's persistent definition has it, too; none if there is no definition.
    pub persistent: Option<bool>,
    /// Whether the guest uses it.
    pub in_use: InUse,
    /// The host's row, for those that plan.
    #[serde(skip)]
    pub host_id: HostId,
    /// The VM's row, for those that plan.
    #[serde(skip)]
    pub vm_id: Option<VmId>,
}

/// What holds a target that the database's next pick wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockedBy {
    /// A volume's disk.
    Volume,
    /// An unknown disk.
    Unknown,
    /// A CD-ROM: no mismatch, but the attach fails all the same.
    Cdrom,
}

/// A slot that the database believes free and the domain does not: the next attach collides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Instance name.
    pub vm: String,
    /// Display name.
    pub vm_name: String,
    /// The id that the database will give next.
    pub device_id: u32,
    /// The target that it becomes, and that is taken.
    pub target: String,
    /// By what.
    pub by: BlockedBy,
}

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Moment {
    /// UTC.
    pub time: Timestamp,
    /// The witness: `async_job`, `volumes`, ….
    pub source: String,
    /// The API job's number.
    pub job: Option<JobId>,
    /// Instance name.
    pub vm: Option<String>,
    /// In words.
    pub what: String,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The API job's number.
    pub job: Option<JobId>,
    /// The work job's number.
    pub work_job: Option<JobId>,
    /// A sentence.
    pub summary: String,
    /// What is on record, in order.
    pub timeline: Vec<Moment>,
    /// When the act that did it came to an end: it may have no job any more.
    #[serde(skip)]
    pub at: Option<Timestamp>,
}

/// What may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "design, section 5")]
pub enum Remedy {
    Database,
    Detach,
    Restart,
}

impl Remedy {
    /// The name in documents and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Detach => "detach",
            Self::Restart => "restart",
        }
    }
}

/// What a remedy does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "design, section 5")]
pub enum Action {
    Adopt,
    Release,
    Reassign,
    Reslot,
    Detach,
    Restart,
}

impl Action {
    /// The name in documents and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adopt => "adopt",
            Self::Release => "release",
            Self::Reassign => "reassign",
            Self::Reslot => "reslot",
            Self::Detach => "detach",
            Self::Restart => "restart",
        }
    }
}

/// A remedy as a plan would offer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Which.
    pub remedy: Remedy,
    /// What it does here.
    pub action: Action,
    /// At most one of a finding's.
    pub recommended: bool,
    /// Why it cannot be had; none if it can.
    pub withheld: Option<String>,
    /// The guard behind `withheld`.
    pub code: Option<&'static str>,
}

/// One mismatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `vr-` and eight hex digits: the same trouble has the same name tomorrow.
    pub id: String,
    /// The first class that matched.
    pub class: Class,
    /// Lower matches.
    pub also: Vec<Class>,
    /// How bad it is.
    pub severity: Severity,
    /// None but for orphans.
    pub confidence: Option<Confidence>,
    /// What it is about.
    pub subject: Subject,
    /// The volume.
    pub volume: Option<VolumeRef>,
    /// Further volumes.
    pub others: Vec<VolumeRef>,
    /// The VM in trouble: the holder's, or the claim's where nothing holds.
    pub vm: Option<VmRef>,
    /// What the database says.
    pub claim: Option<Claim>,
    /// What libvirt shows.
    pub holders: Vec<Holder>,
    /// Attaches that collide because of it.
    pub blocks: Vec<Block>,
    /// None only when not sought.
    pub cause: Option<Cause>,
    /// What may be done.
    pub remedies: Vec<Offer>,
    /// What to do, in plain words.
    pub advice: String,
}

/// Something that is not judged: in flux, or cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NotJudged {
    /// The volume's uuid.
    pub volume: Option<String>,
    /// The VM's instance name.
    pub vm: Option<String>,
    /// In words.
    pub why: String,
    /// `volume-state`, `vm-state`, `job`, `moved`, `migrating`, `mirror`, `host-unseen`, ….
    pub code: &'static str,
    /// In flux for too long, or by a job that nobody works on: counts as not seen.
    pub stuck: bool,
}

/// Everything that was judged, and everything that could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Severity downwards, class, instance name, volume id.
    pub findings: Vec<Finding>,
    /// In flux: reported, never judged, never repaired.
    pub in_flux: Vec<NotJudged>,
    /// What would need an absence that cannot be proven.
    pub cannot_tell: Vec<NotJudged>,
    /// Slots that the next attach collides on, whatever holds them; a CD-ROM's stand only here.
    pub blocked: Vec<Block>,
    /// VMs that are split or drifted, in scope or not: nothing of theirs is repaired.
    pub troubled: BTreeSet<VmId>,
    /// Hosts out of scope that a suspect makes worth asking.
    pub wanted: BTreeSet<HostId>,
    /// Every volume judged, by id.
    pub marks: Vec<(VolumeId, Mark)>,
}

/// How one volume's case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Claim and holder agree.
    Healthy,
    /// No claim, and no holder seen.
    Detached,
    /// A claim that expects no disk: the VM is down, or the volume is not on primary storage yet.
    NotExpected,
    /// In flux.
    InFlux,
    /// An absence would be needed, and cannot be proven.
    CannotTell,
    /// Its VM's own finding speaks for it.
    Absorbed(Class),
    /// A finding of its own.
    Found(Class),
}

impl Mark {
    /// The word in `--all`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "ok",
            Self::Detached => "detached",
            Self::NotExpected => "not-expected",
            Self::InFlux => "in-flux",
            Self::CannotTell => "cannot-tell",
            Self::Absorbed(class) | Self::Found(class) => class.name(),
        }
    }
}
