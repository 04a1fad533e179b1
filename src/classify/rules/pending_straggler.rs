//! A detach is waiting or running for a VM that does not own the volume.

use super::Story;
use crate::classify::class::Class;
use crate::classify::finding::{Cause, Finding, Moment, Subject};
use crate::classify::tell;
use crate::model::{Job, JobKind, Volume, VolumeId, Work};
use crate::sight::Sight;
use std::collections::BTreeMap;

/// The story.
pub const STORY: Story = Story {
    class: Class::PendingStraggler,
    title: "a detach is queued or running for a VM that does not own the volume",
    sees: "Nothing yet. A detach job of the volume waits on the queue of a VM that the row does not name, or several detach jobs of one volume are stacked. When it runs, it clears whatever attachment the row has then.",
    why: "A client retries its detach, CloudStack does not join equal jobs, and the VM is fixed when the job is submitted, not when it runs.",
    proof_of_opposite: "The job ending without success, as it does with a null pointer in DiskTO.getDiskSeq() if the row is already detached and the VM runs.",
    what_to_do: "Nothing repairs it from outside. Wait for the job before attaching the volume anywhere; scan again after it. If the volume is attached elsewhere when it runs, expect a straggler-detach. The volume is offered no repair until the job has run.",
};

/// Whether there is, or can be, an attachment that a detach could clear. A row that is deleted and names no VM is given none: a detach that
/// was asked for before a live migration has such a row, since the volume went on under another id.
#[must_use]
pub fn can_be_cleared(sight: &Sight<'_>, volume: &Volume) -> bool {
    sight.is_judged(volume) && !(volume.is_deleted() && volume.instance.is_none())
}

/// One finding a volume.
#[must_use]
pub fn findings(sight: &Sight<'_>) -> Vec<Finding> {
    let mut detaches: BTreeMap<VolumeId, Vec<&Job>> = BTreeMap::new();
    let waits = |job: &&Job| job.kind == JobKind::Work && job.work == Work::Detach;
    for job in sight.pending().filter(waits) {
        if let Some(volume) = job.volume {
            detaches.entry(volume).or_default().push(job);
        }
    }
    let mut out = Vec::new();
    for (id, jobs) in detaches {
        let Some(volume) = sight.volume(id).filter(|v| can_be_cleared(sight, v)) else {
            continue;
        };
        let stray = |job: &&&Job| job.vm.is_some() && job.vm != volume.instance;
        let Some(named) = jobs.iter().find(stray).or_else(|| jobs.get(1)) else {
            continue;
        };
        let mut finding = tell::finding(Class::PendingStraggler, Subject::Job);
        finding.volume = Some(tell::volume_ref(sight, volume));
        finding.vm = volume
            .instance
            .and_then(|id| sight.vm(id))
            .map(|vm| tell::vm_ref(sight, vm));
        finding.claim = tell::claim(sight, volume);
        finding.holders = sight
            .holders(id)
            .into_iter()
            .map(|held| tell::holder(sight, held))
            .collect();
        finding.cause = Some(cause(sight, named, &jobs));
        out.push(finding);
    }
    out
}

fn cause(sight: &Sight<'_>, named: &Job, jobs: &[&Job]) -> Cause {
    let vm = |job: &Job| job.vm.map(|id| tell::instance(sight, id));
    let whose = vm(named).unwrap_or_else(|| "a VM that is not known".to_owned());
    let at = if named.running == Some(false) {
        "waits on the queue of"
    } else {
        "runs for"
    };
    let stacked = if jobs.len() > 1 {
        format!(", one of {} for this volume", jobs.len())
    } else {
        String::new()
    };
    let moment = |job: &&Job| {
        job.created.map(|time| Moment {
            time,
            source: "async_job".to_owned(),
            job: Some(job.number()),
            vm: vm(job),
            what: "detach asked for, still pending".to_owned(),
        })
    };
    let mut timeline: Vec<Moment> = jobs.iter().filter_map(moment).collect();
    timeline.sort();
    Cause {
        job: Some(named.number()),
        work_job: Some(named.id),
        summary: format!("job-{}, a detach, {at} {whose}{stacked}", named.number()),
        timeline,
        at: None,
    }
}
