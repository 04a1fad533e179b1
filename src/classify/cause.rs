//! Who cleared an orphan's attachment: from job tables, events and logs, without guessing.
//!
//! An ordinary detach also completes after its attach: order alone proves nothing. What tells the three classes apart is
//! the VM that the clearing work job was meant for, against the VM that holds the disk. Where that VM is not on record,
//! when the detach was *asked for* tells it: CloudStack takes the VM from the row as it is then
//! (`VolumeApiServiceImpl.detachVolumeFromVM`), so that one asked for before the attach was another VM's.

use super::act::{Act, acts};
use super::class::Class;
use super::court::Court;
use super::finding::{Cause, Confidence, Moment};
use super::line::{Line, lines};
use super::tell;
use crate::model::{Job, JobKind, JobState, VmId, Volume, VolumeId, Work};
use crate::sight::Sight;
use std::collections::HashMap;

/// Attach and detach jobs by volume: built once.
pub struct History<'e> {
    jobs: HashMap<VolumeId, Vec<&'e Job>>,
}

impl<'e> History<'e> {
    /// Every attach and detach on record.
    #[must_use]
    pub fn new(sight: &Sight<'e>) -> Self {
        let mut jobs: HashMap<VolumeId, Vec<&Job>> = HashMap::new();
        let moves = |job: &&Job| matches!(job.work, Work::Attach | Work::Detach);
        for job in sight.evidence.jobs.iter().filter(moves) {
            if let Some(volume) = job.volume {
                jobs.entry(volume).or_default().push(job);
            }
        }
        for list in jobs.values_mut() {
            list.sort_by_key(|job| (job.completed, job.id));
        }
        Self { jobs }
    }

    /// A volume's jobs by completion, those without one first.
    #[must_use]
    pub fn of(&self, volume: VolumeId) -> &[&'e Job] {
        self.jobs.get(&volume).map_or(&[], Vec::as_slice)
    }

    /// The work jobs only: they name a VM.
    fn work(&self, volume: VolumeId) -> impl DoubleEndedIterator<Item = &'e Job> + '_ {
        self.of(volume)
            .iter()
            .copied()
            .filter(|job| job.kind == JobKind::Work)
    }

    /// Whether a detach of the volume from this VM is on record that came after its last attach there, whatever became
    /// of it: an older one explains nothing. The row's own `attached` outlives the attach's job.
    #[must_use]
    pub fn has_detach_since_attach(&self, volume: &Volume, vm: VmId) -> bool {
        let here = |job: &&Job| job.vm == Some(vm);
        let attached = |job: &&Job| job.work == Work::Attach && job.state == JobState::Succeeded;
        let by_job = self
            .work(volume.id)
            .filter(here)
            .rfind(attached)
            .and_then(|job| job.completed);
        let since = by_job.max(volume.attached.filter(|_| volume.instance == Some(vm)));
        let later = |job: &Job| since.is_none() || job.completed.is_none() || job.completed >= since;
        self.work(volume.id)
            .filter(here)
            .any(|job| job.work == Work::Detach && later(job))
    }
}

/// What is known of an orphan's making.
pub struct Orphan {
    /// One of the three.
    pub class: Class,
    /// How sure.
    pub confidence: Confidence,
    /// Who, and when.
    pub cause: Cause,
}

/// Tells the three orphan classes apart for a volume that no row claims and `holder` holds.
#[must_use]
pub fn orphan(sight: &Sight<'_>, history: &History<'_>, volume: &Volume, holder: VmId) -> Orphan {
    let told = lines(sight, history, volume);
    let acts = acts(&told.all);
    let court = Court {
        sight,
        volume,
        holder,
        name: tell::instance(sight, holder),
        uuid: sight.vm(holder).and_then(|vm| vm.uuid.as_deref()),
        acts: &acts,
        lines: &told,
    };
    let verdict = court.judge();
    Orphan {
        class: verdict.class,
        confidence: verdict.confidence,
        cause: Cause {
            job: verdict.act.and_then(|act| act.job.or(act.work_job)),
            work_job: verdict.act.and_then(|act| act.work_job),
            summary: verdict.summary,
            timeline: told.all.iter().map(moment).collect(),
            at: verdict.act.and_then(Act::at),
        },
    }
}

fn moment(line: &Line) -> Moment {
    Moment {
        time: line.time,
        source: line.source.to_owned(),
        job: line.job,
        vm: line.vm.clone(),
        what: line.what.clone(),
    }
}
