//! Jobs: rows of `cloud.async_job`, `vm_work_job` and `reconcile_commands`, reduced to what they say of disks.
//!
//! A job's payload and result never get here: they carry API keys and stack traces.

use super::{JobId, VmId, VolumeId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Who runs it: the API thread that a client waits for, or the worker on a VM's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// `job_dispatcher = 'ApiAsyncJobDispatcher'`.
    Api,
    /// `job_type = 'VmWork'`: has a row in `vm_work_job`.
    Work,
}

/// `async_job.job_status` (CloudStack's `JobInfo.Status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// 0: waiting or running.
    Pending,
    /// 1.
    Succeeded,
    /// 2.
    Failed,
    /// 3.
    Cancelled,
}

/// What a job does, as far as disks are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// `VmWorkAttachVolume`, `AttachVolumeCmd`.
    Attach,
    /// `VmWorkDetachVolume`, `DetachVolumeCmd`.
    Detach,
    /// Any other work on one volume: resize, snapshot, migrate, extract ….
    Volume,
    /// Start, stop, reboot, migrate, reconfigure, VM snapshot …: all disks of the VM may change.
    Vm,
}

/// Why an attach or detach failed, where its result says so in words that volrecon knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// A null pointer in `DiskTO.getDiskSeq()`: a stale detach of a volume whose row was free. It did nothing.
    NoDeviceId,
    /// "Could not detach volume after sending the command and waiting": the guest may let go later.
    StillPlugged,
    /// "already in the process of unplug".
    UnplugPending,
    /// "target 'vdX' duplicated": a disk that the database does not know of has the slot.
    TargetTaken,
    /// "already attached to a VM".
    AlreadyAttached,
    /// "management server restart or shutdown": what its thread had done stays done.
    Restart,
}

/// One job. Times are UTC with whole seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// `async_job.id`.
    pub id: JobId,
    /// `related`: the API job that a work job serves.
    pub api: Option<JobId>,
    /// Who runs it.
    pub kind: JobKind,
    /// What it does.
    pub work: Work,
    /// The class behind `job_cmd`, last part: `VmWorkDetachVolume`.
    pub command: String,
    /// `vm_work_job.vm_instance_id`: the VM that it was meant for.
    pub vm: Option<VmId>,
    /// The volume: the API job's instance, or the payload's.
    pub volume: Option<VolumeId>,
    /// `job_status`.
    pub state: JobState,
    /// `created`.
    pub created: Option<Timestamp>,
    /// `last_updated` of a job that is no longer pending.
    pub completed: Option<Timestamp>,
    /// On a VM's queue and picked up (`sync_queue_item.queue_proc_number` is set); absent if on no queue.
    pub running: Option<bool>,
    /// The management server that has it is not `Up`, or is gone: nobody works on it.
    pub abandoned: bool,
    /// Cancelled as "blocking others": its thread may still act.
    pub cancelled_blocking: bool,
    /// Why it failed.
    #[serde(default)]
    pub failure: Option<Failure>,
}

impl Job {
    /// The number people know it by: the API job's, where there is one.
    #[must_use]
    pub fn number(&self) -> JobId {
        self.api.unwrap_or(self.id)
    }
}

/// A live row of `reconcile_commands` (4.21): a migration or copy that survives its management server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconcile {
    /// `resource_type` is `Volume`, and this is `resource_id`.
    pub volume: Option<VolumeId>,
    /// `resource_type` is `VirtualMachine`, and this is `resource_id`.
    pub vm: Option<VmId>,
    /// `command_name`.
    pub command: String,
    /// `created`.
    pub created: Option<Timestamp>,
}
