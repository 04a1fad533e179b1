//! Attach and detach jobs of every volume, as far as they are still on record.

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
