//! What a log says of a volume's attachment: typed, timed, and with nothing of the line's raw text but an error's words.

use super::{JobId, JobState, VmId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Whose log it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogWitness {
    /// A management server's: `management-server.log`.
    Management,
    /// The agent's on this host: `agent.log`.
    Agent(String),
}

/// A VM, as far as a line names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VmTold {
    /// `vm_instance.id`: queues and work jobs.
    pub id: Option<VmId>,
    /// `i-2-41-VM`: renderings, and commands to an agent.
    pub instance: Option<String>,
    /// The domain's uuid, which is the row's: agent lines, renderings.
    pub uuid: Option<String>,
}

impl VmTold {
    /// A VM of which the row's number is known.
    #[must_use]
    pub fn row(id: VmId) -> Self {
        Self {
            id: Some(id),
            ..Self::default()
        }
    }

    /// Takes from another telling what this one lacks, if the two can be the same VM.
    pub(crate) fn complete(&mut self, other: &Self) {
        fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            matches!((a, b), (Some(a), Some(b)) if a != b)
        }
        let clash = differ(self.id.as_ref(), other.id.as_ref())
            || differ(self.instance.as_ref(), other.instance.as_ref())
            || differ(self.uuid.as_ref(), other.uuid.as_ref());
        if !clash {
            self.id = self.id.or(other.id);
            self.instance = self.instance.take().or_else(|| other.instance.clone());
            self.uuid = self.uuid.take().or_else(|| other.uuid.clone());
        }
    }
}

/// What happened. The words in quotes are how the lines begin, from CloudStack 4.18 to 4.23.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogKind {
    /// "submit async job-N": the API took the request.
    Submitted {
        /// The command's class, last part: `DetachVolumeCmd`.
        command: String,
    },
    /// "Executing AsyncJob": a thread has it.
    Started {
        /// The command's class, last part.
        command: String,
    },
    /// "Trying to attach volume …, update async job-N": the job, its volume and its VM. A detach prints it, too.
    Bound,
    /// "Sync job-N execution on object VmWorkJobQueue.V": waits on this VM's queue.
    Queued {
        /// Whose queue.
        vm: VmId,
    },
    /// "Execute sync-queue item", "Schedule queued job-N": taken off the queue.
    Dequeued,
    /// "Run VM work job".
    WorkStarted {
        /// The class, last part: `VmWorkDetachVolume`.
        command: String,
        /// The VM that it is meant for.
        vm: VmId,
    },
    /// "Done with run of VM work job": whatever came of it.
    WorkDone {
        /// The class, last part.
        command: String,
        /// The VM that it was meant for.
        vm: VmId,
    },
    /// An attach or detach command on its way to the agent, or come there.
    Sent {
        /// `AttachCommand`, `DettachCommand`.
        command: String,
        /// Whether the command has a device id. A detach without one dies in `DiskTO.getDiskSeq()`.
        slot: Option<u32>,
    },
    /// "Attaching device": the agent asks libvirt.
    AttachAsked,
    /// "Detaching device": the agent asks libvirt.
    DetachAsked,
    /// "Volume: … successfully attached to VM: …".
    Attached,
    /// "The detach command was executed successfully": gone from the domain's XML.
    Detached,
    /// "Could not find disk … We will set it as detached in the database": the agent's success that clears a row.
    NotFoundSetDetached,
    /// "The hypervisor sent the detach command, but it is still possible to identify the device".
    StillThere,
    /// A null-pointer error in `DiskTO.getDiskSeq()`: a stale detach that harmed nothing.
    NullPointer,
    /// "Complete async job-N".
    Completed {
        /// How it ended.
        status: JobState,
    },
    /// "job-N is already completed": a thread that went on after its job had been cancelled.
    AlreadyCompleted,
    /// Cancelled, as "blocking others" or by a server's restart: its thread may still act.
    Cancelled,
    /// An attach or detach that failed, told before its job ends.
    Failed,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LogMoment {
    /// UTC, from the line's own local time.
    pub time: Timestamp,
    /// The clocks were put back or forward around this hour: it may be another instant.
    pub ambiguous: bool,
    /// The line is older than one before it in the same file.
    pub out_of_order: bool,
    /// Whose log.
    pub witness: LogWitness,
    /// The file.
    pub server: String,
    /// Its record in that file, from 1.
    pub record: u64,
    /// First 8 hex digits of the API job's uuid: the same in all logs.
    pub log_id: Option<String>,
    /// The API job.
    pub job: Option<JobId>,
    /// The work job.
    pub work_job: Option<JobId>,
    /// The VM.
    pub vm: Option<VmTold>,
    /// The volume's uuid if it is a wanted one; what the line says otherwise.
    pub volume: Option<String>,
    /// The target that libvirt says is taken.
    pub target: Option<String>,
    /// What happened.
    pub kind: LogKind,
    /// An error's words, cut and made harmless; empty where the kind says all.
    pub text: String,
}

/// What the logs that were given say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// By time.
    pub moments: Vec<LogMoment>,
    /// What could not be read, or is doubtful, in words.
    pub missing: Vec<String>,
}
