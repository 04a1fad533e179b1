//! Who cleared an orphan's attachment: from the job tables, without guessing.
//!
//! An ordinary detach also completes after its attach: order alone proves nothing. What tells the three classes apart is
//! the VM that the clearing work job was meant for, against the VM that holds the disk.

use super::class::Class;
use super::finding::{Cause, Confidence, Moment};
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
    /// of it: an older one explains nothing.
    #[must_use]
    pub fn has_detach_since_attach(&self, volume: VolumeId, vm: VmId) -> bool {
        let here = |job: &&Job| job.vm == Some(vm);
        let attached = |job: &&Job| job.work == Work::Attach && job.state == JobState::Succeeded;
        let since = self
            .work(volume)
            .filter(here)
            .rfind(attached)
            .and_then(|job| job.completed);
        let later = |job: &Job| since.is_none() || job.completed.is_none() || job.completed >= since;
        self.work(volume)
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

/// May have cleared the row: it succeeded, or was cancelled while its thread went on.
fn may_have_cleared(job: &Job) -> bool {
    job.work == Work::Detach && (job.state == JobState::Succeeded || job.cancelled_blocking)
}

/// Tells the three orphan classes apart for a volume that no row claims and `holder` holds.
#[must_use]
pub fn orphan(sight: &Sight<'_>, history: &History<'_>, volume: &Volume, holder: VmId) -> Orphan {
    let done = |job: &&Job| job.work == Work::Attach && job.state == JobState::Succeeded;
    let attach = history
        .work(volume.id)
        .filter(done)
        .rfind(|job| job.vm == Some(holder));
    let (class, confidence, job, summary) = match attach {
        Some(attach) => after_attach(sight, history, volume, holder, attach),
        None => without_attach(sight, history, volume, holder),
    };
    let cause = Cause {
        job: job.map(Job::number),
        work_job: job.map(|job| job.id),
        summary,
        timeline: timeline(sight, history, volume),
    };
    Orphan {
        class,
        confidence,
        cause,
    }
}

type Told<'e> = (Class, Confidence, Option<&'e Job>, String);

/// The holder's attach is on record: what first cleared the row after it?
fn after_attach<'e>(
    sight: &Sight<'_>,
    history: &History<'e>,
    volume: &Volume,
    holder: VmId,
    attach: &Job,
) -> Told<'e> {
    let name = tell::instance(sight, holder);
    let at = attach.completed.map_or_else(String::new, |t| format!(" at {t}"));
    // An attach to another VM needs a row that is free: what cleared this one came before it, and is not on record.
    let elsewhere =
        |job: &Job| job.work == Work::Attach && job.state == JobState::Succeeded && job.vm != Some(holder);
    let after = |job: &&Job| {
        let turns = may_have_cleared(job) || elsewhere(job);
        turns && job.id != attach.id && job.completed.is_some() && job.completed >= attach.completed
    };
    let first = history.work(volume.id).find(after);
    let Some(clear) = first.filter(|job| job.work == Work::Detach) else {
        let summary = format!(
            "job-{} attached the volume to {name}{at}, and no detach is on record that could have cleared it: the attachment was lost, or never written",
            attach.number()
        );
        return (Class::LostAttach, Confidence::Likely, None, summary);
    };
    // Second precision: in the same second the order is not known.
    let ordered = clear.completed > attach.completed && clear.state == JobState::Succeeded;
    let sure = if ordered {
        Confidence::Proven
    } else {
        Confidence::Likely
    };
    let when = clear.completed.map_or_else(String::new, |t| t.to_string());
    let gap = match (attach.completed, clear.completed) {
        (Some(a), Some(c)) => span(c.as_second() - a.as_second()),
        _ => String::new(),
    };
    match clear.vm {
        Some(vm) if vm == holder => {
            let summary = format!(
                "job-{} detached the volume from {name} by the rows at {when}, {gap} after job-{} attached it there; libvirt never let go of the disk",
                clear.number(),
                attach.number()
            );
            (Class::IncompleteDetach, sure, Some(clear), summary)
        }
        Some(vm) => {
            let summary = format!(
                "job-{}, a detach meant for {}, completed at {when}, {gap} after job-{} had attached the volume to {name}, and cleared that newer attachment",
                clear.number(),
                tell::instance(sight, vm),
                attach.number()
            );
            (Class::StragglerDetach, sure, Some(clear), summary)
        }
        None => {
            let summary = format!(
                "job-{}, a detach of which the VM is not known, completed at {when}, {gap} after job-{} had attached the volume to {name}",
                clear.number(),
                attach.number()
            );
            (Class::StragglerDetach, Confidence::Likely, Some(clear), summary)
        }
    }
}

/// The holder's attach is not on record: it failed, or it is older than the history.
fn without_attach<'e>(sight: &Sight<'_>, history: &History<'e>, volume: &Volume, holder: VmId) -> Told<'e> {
    let name = tell::instance(sight, holder);
    // Whatever first cleared the row, gave it away, or tried to plug the disk in here decides.
    let decides = |job: &&Job| {
        let tried = job.work == Work::Attach && job.vm == Some(holder);
        may_have_cleared(job) || tried || (job.work == Work::Attach && job.state == JobState::Succeeded)
    };
    match history.work(volume.id).find(decides) {
        Some(clear) if clear.work == Work::Detach => {
            let when = clear.completed.map_or_else(String::new, |t| t.to_string());
            if clear.vm == Some(holder) {
                let summary = format!(
                    "job-{} detached the volume from {name} by the rows at {when}; libvirt never let go of the disk",
                    clear.number()
                );
                return (Class::IncompleteDetach, Confidence::Likely, Some(clear), summary);
            }
            let whose = clear
                .vm
                .map_or_else(|| "another VM".to_owned(), |vm| tell::instance(sight, vm));
            let summary = format!(
                "job-{}, a detach meant for {whose}, cleared the row at {when}; the attach to {name} is older than the job history",
                clear.number()
            );
            (Class::StragglerDetach, Confidence::Likely, Some(clear), summary)
        }
        Some(attach) if attach.vm == Some(holder) => {
            let summary = format!(
                "job-{} tried to attach the volume to {name} and did not succeed by the rows, but the disk is plugged in",
                attach.number()
            );
            (Class::LostAttach, Confidence::Likely, Some(attach), summary)
        }
        _ => {
            let since = volume
                .updated
                .map_or_else(String::new, |t| format!("; the row last changed at {t}"));
            let summary = format!(
                "no job is left that attached the volume to {name} or cleared it (jobs are kept for about a day){since}"
            );
            (Class::LostAttach, Confidence::Unproven, None, summary)
        }
    }
}

fn timeline(sight: &Sight<'_>, history: &History<'_>, volume: &Volume) -> Vec<Moment> {
    let mut out = Vec::new();
    let work: Vec<&Job> = history.work(volume.id).collect();
    let api_only = history
        .of(volume.id)
        .iter()
        .copied()
        .filter(|job| job.kind == JobKind::Api && !work.iter().any(|w| w.api == Some(job.id)));
    for job in work.iter().copied().chain(api_only) {
        let verb = if job.work == Work::Attach {
            "attach"
        } else {
            "detach"
        };
        let mut push = |time, what| {
            let vm = job.vm.map(|id| tell::instance(sight, id));
            out.push(Moment {
                time,
                source: "async_job".to_owned(),
                job: Some(job.number()),
                vm,
                what,
            });
        };
        if let Some(time) = job.created {
            push(time, format!("{verb} asked for"));
        }
        if let Some(time) = job.completed {
            let how = match job.state {
                JobState::Succeeded => "succeeded",
                JobState::Failed if job.cancelled_blocking => {
                    "cancelled as blocking others; its thread may have gone on"
                }
                JobState::Failed => "failed",
                JobState::Cancelled => "cancelled",
                JobState::Pending => "still pending",
            };
            push(time, format!("{verb} {how}"));
        }
    }
    let row = |time, what: &str| Moment {
        time,
        source: "volumes".to_owned(),
        job: None,
        vm: None,
        what: what.to_owned(),
    };
    out.extend(volume.attached.map(|time| row(time, "the row's time of attach")));
    out.extend(volume.updated.map(|time| row(time, "the row last changed")));
    out.sort();
    out
}

/// Seconds in words: `2 min 21 s`.
fn span(seconds: i64) -> String {
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (h, m) {
        (0, 0) => format!("{s} s"),
        (0, _) => format!("{m} min {s} s"),
        _ => format!("{h} h {m} min"),
    }
}
