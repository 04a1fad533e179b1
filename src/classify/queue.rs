//! The queues of attach and detach work: what waits, what runs, and what a detach will do when it runs.
//!
//! A VM's jobs run one after another, but nothing orders the queues of two VMs: a detach that waits here may run after
//! an attach that was asked for later, there. It finds the row as it then is, and compares nothing.

use super::rules::pending_straggler::can_be_cleared;
use super::tell;
use crate::model::{Job, JobId, JobKind, Vm, VmId, VmState, Volume, VolumeId, Work};
use crate::sight::Sight;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// An attach or a detach that waits or runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueuedJob {
    /// The number people know: the API job's.
    pub job: JobId,
    /// The work job's; none while only the API job is there.
    pub work_job: Option<JobId>,
    /// `attach` or `detach`.
    pub work: Work,
    /// Whether it was taken from the queue.
    pub state: QueueState,
    /// Its management server is not up: nobody works on it.
    pub abandoned: bool,
    /// Instance name of the VM that it was meant for.
    pub vm: Option<String>,
    /// Its display name.
    pub vm_name: Option<String>,
    /// Its state.
    pub vm_state: Option<String>,
    /// The volume's uuid.
    pub volume_uuid: Option<String>,
    /// The volume's name.
    pub volume_name: Option<String>,
    /// Instance name of the VM that the volume's row names now.
    pub claim_vm: Option<String>,
    /// When it was asked for.
    pub created: Option<Timestamp>,
    /// How long ago that was, by the database's clock.
    pub age_seconds: Option<i64>,
    /// Its place among all jobs of its VM's queue, from 1.
    pub position: Option<usize>,
    /// Another job of the same work waits for the same volume.
    pub stacked: bool,
    /// A detach that will not find the attachment that it was asked to end.
    pub straggler: bool,
    /// What a straggler does when it runs, by row and VM as they are now.
    pub outlook: Option<String>,
    /// How to keep the newer attachment.
    pub protect: Option<String>,
    /// The VM's row, for those that group.
    #[serde(skip)]
    pub vm_id: Option<VmId>,
    /// The claim's, for those that narrow.
    #[serde(skip)]
    pub claim_id: Option<VmId>,
    /// The volume's row.
    #[serde(skip)]
    pub volume_id: Option<VolumeId>,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueState {
    /// On a queue, or on its way to one.
    Waiting,
    /// Taken from the queue.
    Running,
}

impl QueueState {
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
        }
    }
}

/// Every pending attach and detach: by VM, in queue order; those that are on no VM's queue last.
#[must_use]
pub fn queue(sight: &Sight<'_>, order: &BTreeMap<JobId, u64>, now: Timestamp) -> Vec<QueuedJob> {
    // What runs was taken off first; what has no item of its own comes by its number.
    let rank = |job: &Job| {
        let item = order.get(&job.id).copied();
        (job.running == Some(false), item.unwrap_or(u64::MAX), job.id)
    };
    let mut queues: BTreeMap<VmId, Vec<&Job>> = BTreeMap::new();
    let mut loose = Vec::new();
    let pending: Vec<&Job> = sight.pending().collect();
    for job in &pending {
        match (job.kind, job.vm) {
            (JobKind::Work, Some(vm)) => queues.entry(vm).or_default().push(job),
            (JobKind::Work, None) => loose.push(*job),
            // Told by its work job, once it has one.
            (JobKind::Api, _) if pending.iter().any(|work| work.api == Some(job.id)) => {}
            (JobKind::Api, _) => loose.push(*job),
        }
    }
    let mut out = Vec::new();
    for mut jobs in queues.into_values() {
        jobs.sort_by_key(|job| rank(job));
        for (at, job) in jobs.iter().enumerate() {
            out.extend(queued(sight, job, Some(at + 1), &jobs, now));
        }
    }
    for job in &loose {
        out.extend(queued(sight, job, None, &loose, now));
    }
    out
}

/// None for other work.
fn queued(
    sight: &Sight<'_>,
    job: &Job,
    position: Option<usize>,
    queue: &[&Job],
    now: Timestamp,
) -> Option<QueuedJob> {
    if !matches!(job.work, Work::Attach | Work::Detach) {
        return None;
    }
    let volume = job.volume.and_then(|id| sight.volume(id));
    let vm = job.vm.and_then(|id| sight.vm(id));
    let same = |other: &Job| other.work == job.work && other.volume.is_some() && other.volume == job.volume;
    let stacked = queue.iter().any(|other| other.id != job.id && same(other));
    let before = queue.iter().take_while(|other| other.id != job.id);
    let outlook = (job.work == Work::Detach && job.kind == JobKind::Work)
        .then(|| outlook(sight, job, vm, volume, before.copied().find(|other| same(other))))
        .flatten();
    let number = job.number();
    let (what, protect) = outlook.map_or((None, None), |o| {
        (Some(o), Some(protect(sight, number, job, volume)))
    });
    Some(QueuedJob {
        job: number,
        work_job: (job.kind == JobKind::Work).then_some(job.id),
        work: job.work,
        state: if job.kind == JobKind::Work && job.running != Some(false) {
            QueueState::Running
        } else {
            QueueState::Waiting
        },
        abandoned: job.abandoned,
        vm: job.vm.map(|id| tell::instance(sight, id)),
        vm_name: vm.map(|vm| vm.name.clone()),
        vm_state: vm.map(tell::state_of),
        volume_uuid: volume.and_then(|v| v.uuid.clone()),
        volume_name: volume.and_then(|v| v.name.clone()),
        claim_vm: volume
            .and_then(|v| v.instance)
            .map(|id| tell::instance(sight, id)),
        created: job.created,
        age_seconds: job.created.map(|t| now.as_second() - t.as_second()),
        position,
        stacked,
        straggler: what.is_some(),
        outlook: what,
        protect,
        vm_id: job.vm,
        claim_id: volume.and_then(|v| v.instance),
        volume_id: job.volume,
    })
}

/// What happens when a detach runs that is no ordinary one; none for one that will find its attachment.
fn outlook(
    sight: &Sight<'_>,
    job: &Job,
    vm: Option<&Vm>,
    volume: Option<&Volume>,
    before: Option<&Job>,
) -> Option<String> {
    let (meant, volume) = (job.vm?, volume.filter(|v| can_be_cleared(sight, v))?);
    let name = tell::instance(sight, meant);
    // The worker asks the hypervisor only for a VM that is Running.
    let runs = vm.is_some_and(|vm| vm.removed.is_none() && vm.state == VmState::Running);
    let state = vm.map_or_else(|| "not on record".to_owned(), tell::state_of);
    let dies = format!(
        "while {name} is Running and the row names no VM, it fails with a null pointer in DiskTO.getDiskSeq() (530) and changes nothing"
    );
    Some(match volume.instance {
        Some(owner) if owner == meant => {
            let first = before?;
            format!(
                "job-{} detaches the volume first; if the row names another VM by the time this one runs, it clears that attachment; {dies}",
                first.number()
            )
        }
        Some(owner) => {
            let owner = tell::instance(sight, owner);
            let how = if runs {
                format!("the agent finds no such disk in {name}, takes that for success")
            } else {
                format!("{name} is {state}, so no agent is asked")
            };
            format!("{how}, and the row is cleared: the disk stays in {owner}, and no row tells of it")
        }
        None if runs => format!("{dies}; if the row names another VM by then, it clears that attachment"),
        None => format!(
            "{name} is {state}, so no agent is asked: it succeeds and changes nothing but usage, which gets a second VOLUME.DETACH; if the row names another VM by then, it clears that attachment"
        ),
    })
}

/// Nothing cancels a job from outside; what can be done is to have no attachment that it could clear, or to give it back.
fn protect(sight: &Sight<'_>, number: JobId, job: &Job, volume: Option<&Volume>) -> String {
    let wait = if job.abandoned {
        format!(
            "nobody works on job-{number}, since its management server is not up: when that server starts, the job is ended as failed"
        )
    } else {
        format!("nothing cancels job-{number} from outside: wait until it has run")
    };
    match volume
        .and_then(|v| v.instance)
        .filter(|owner| Some(*owner) != job.vm)
    {
        Some(owner) => {
            let slot = volume
                .and_then(|v| v.device_id)
                .map_or_else(String::new, |id| format!(" and device id {id}"));
            let owner = tell::instance(sight, owner);
            format!(
                "{wait}. Note {owner}{slot}: after it, `volrecon scan` shows whether the row was cleared, and adopt lets it name {owner} again. If the guest can spare the disk, detach it from {owner} through CloudStack before the job runs, and attach it again after"
            )
        }
        None => format!("{wait}, and attach the volume nowhere before"),
    }
}
