//! One volume's history: what every table says of it, in one order, with who says so; and where they contradict.
//!
//! Nothing is smoothed: two tables that tell of one moment alike are one line with two sources, any other two are two.

use super::cause::History;
use super::{doubt, tell};
use crate::classify::Finding;
use crate::model::{Job, JobId, JobKind, JobState, Record, RecordSource, Records, Step, VmId, Volume, Work};
use crate::sight::Sight;
use jiff::Timestamp;
use serde::Serialize;

/// Attaches of other volumes that are told one by one.
const COLLISIONS: usize = 5;

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// UTC.
    pub time: Timestamp,
    /// The table that says so: `async_job`, `event`, `usage_event`, `volumes`.
    pub source: &'static str,
    /// Other tables that say the same.
    pub confirmed_by: Vec<&'static str>,
    /// The API job's number.
    pub job: Option<JobId>,
    /// Instance name of the VM that the work was meant for.
    pub vm: Option<String>,
    /// In words.
    pub what: String,
    /// What this moment did, where it is the one that matters.
    pub mark: Option<&'static str>,
    #[serde(skip)]
    pub(super) work: Option<Work>,
    #[serde(skip)]
    pub(super) phase: Phase,
    #[serde(skip)]
    pub(super) vm_id: Option<VmId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Asked,
    Succeeded,
    Failed,
    Row,
    Elsewhere,
    Now,
}

/// All that is on record of one volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// In order.
    pub lines: Vec<Line>,
    /// Where two witnesses cannot both be right, or one tells half.
    pub contradictions: Vec<String>,
    /// What can no longer be known, and why.
    pub unknown: Vec<String>,
}

/// Puts one volume's history together. Without records, `event` and `usage_event` were not read.
#[must_use]
pub fn timeline(
    sight: &Sight<'_>,
    volume: &Volume,
    finding: Option<&Finding>,
    records: Option<&Records>,
) -> Timeline {
    let history = History::new(sight);
    let mut out = Timeline::default();
    for job in told_by(history.of(volume.id)) {
        of_job(sight, job, &mut out.lines);
    }
    let purged = out.lines.is_empty();
    for record in records.iter().flat_map(|records| &records.all) {
        of_record(sight, record, records, &mut out);
    }
    of_row(volume, &mut out.lines);
    if let Some(finding) = finding {
        collisions(sight, volume, finding, &mut out.lines);
        mark(finding, &mut out.lines);
    }
    out.lines.sort_by_key(|line| (line.time, line.phase, line.job));
    harmless(&mut out.lines);
    doubt::contradict(sight, volume, finding, &mut out);
    doubt::unknown(finding, records, purged, &mut out);
    out
}

/// Work jobs name a VM; an API job is told only where its work job is gone, or not there yet.
fn told_by<'e>(jobs: &[&'e Job]) -> Vec<&'e Job> {
    let work = |api: &Job| {
        jobs.iter()
            .any(|job| job.kind == JobKind::Work && job.api == Some(api.id))
    };
    let told = jobs.iter().copied();
    told.filter(|job| job.kind == JobKind::Work || !work(job))
        .collect()
}

fn verb(work: Work) -> &'static str {
    if work == Work::Attach { "attach" } else { "detach" }
}

fn of_job(sight: &Sight<'_>, job: &Job, lines: &mut Vec<Line>) {
    let line = |time, phase, what| Line {
        time,
        source: "async_job",
        confirmed_by: Vec::new(),
        job: Some(job.number()),
        vm: job.vm.map(|id| tell::instance(sight, id)),
        what,
        mark: None,
        work: Some(job.work),
        phase,
        vm_id: job.vm,
    };
    let verb = verb(job.work);
    lines.extend(
        job.created
            .map(|time| line(time, Phase::Asked, format!("{verb} asked for"))),
    );
    let done = |phase, how: &str| {
        job.completed
            .map(|time| line(time, phase, format!("{verb} {how}")))
    };
    lines.extend(match job.state {
        JobState::Succeeded => done(Phase::Succeeded, "succeeded"),
        JobState::Failed if job.cancelled_blocking => done(
            Phase::Failed,
            "cancelled as blocking others; its thread may have gone on",
        ),
        JobState::Failed => done(Phase::Failed, "failed"),
        JobState::Cancelled => done(Phase::Failed, "cancelled"),
        JobState::Pending => {
            let how = if job.running == Some(false) {
                "still waits"
            } else {
                "still runs"
            };
            let now = sight
                .evidence
                .database
                .read_again_at
                .unwrap_or(sight.evidence.database.read_at);
            Some(line(now, Phase::Now, format!("{verb} {how}")))
        }
    });
}

/// Second precision, and the tables are not written in one transaction.
fn same_time(a: Timestamp, b: Timestamp) -> bool {
    (a.as_second() - b.as_second()).abs() <= 1
}

fn of_record(sight: &Sight<'_>, record: &Record, records: Option<&Records>, out: &mut Timeline) {
    let source = match record.source {
        RecordSource::Event => "event",
        RecordSource::Usage => "usage_event",
    };
    let phase = match record.step {
        Step::Scheduled | Step::Started => Phase::Asked,
        Step::Succeeded => Phase::Succeeded,
        Step::Failed => Phase::Failed,
    };
    let done = |phase| matches!(phase, Phase::Succeeded | Phase::Failed);
    // The job that began with the event, else whatever tells of the same work at the same time.
    let same = |line: &&mut Line| {
        line.work == Some(record.work)
            && match (record.job, line.job) {
                (Some(of), Some(job)) => {
                    of == job && (phase == line.phase || done(phase) == done(line.phase))
                }
                _ => phase == line.phase && same_time(record.time, line.time),
            }
    };
    let mut alike = out
        .lines
        .iter_mut()
        .filter(same)
        .filter(|line| line.phase < Phase::Row);
    let fresh = |line: &Line| line.source != source && !line.confirmed_by.contains(&source);
    let found = match record.source {
        RecordSource::Usage => alike.find(|line| fresh(line)),
        RecordSource::Event => alike.next(),
    };
    if let Some(line) = found {
        if line.phase == phase && (same_time(line.time, record.time) || phase == Phase::Asked) {
            if fresh(line) {
                line.confirmed_by.push(source);
            }
            return;
        }
        let number = line
            .job
            .map_or_else(|| "a job".to_owned(), |job| format!("job-{job}"));
        let how = |phase| {
            if phase == Phase::Succeeded {
                "succeeded"
            } else {
                "failed"
            }
        };
        out.contradictions.push(format!(
            "{number}: async_job says that the {} {} at {}, {source} says that it {} at {}",
            verb(record.work),
            how(line.phase),
            line.time,
            how(phase),
            record.time
        ));
    }
    let vm_id = vm_of(sight, record, records);
    let how = match phase {
        Phase::Asked => "asked for",
        Phase::Succeeded => "succeeded",
        _ => "failed",
    };
    out.lines.push(Line {
        time: record.time,
        source,
        confirmed_by: Vec::new(),
        job: record.job,
        vm: vm_id.map(|id| tell::instance(sight, id)),
        what: format!("{} {how}", verb(record.work)),
        mark: None,
        work: Some(record.work),
        phase,
        vm_id,
    });
}

/// The VM that an attach's own event names, for all events of that attach.
fn vm_of(sight: &Sight<'_>, record: &Record, records: Option<&Records>) -> Option<VmId> {
    let start = record.start?;
    let all = records.iter().flat_map(|records| &records.all);
    let uuid = all
        .filter(|r| r.start == Some(start))
        .find_map(|r| r.vm_uuid.as_deref())?;
    let vm = sight
        .vms()
        .find(|vm| vm.uuid.as_deref().is_some_and(|u| u.eq_ignore_ascii_case(uuid)))?;
    Some(vm.id)
}

fn of_row(volume: &Volume, lines: &mut Vec<Line>) {
    let times = [
        (volume.attached, Some(Work::Attach), "the row's time of attach"),
        (volume.updated, None, "the row last changed"),
    ];
    for (time, work, what) in times {
        let Some(time) = time else { continue };
        let told = lines.iter_mut().find(|line| {
            let fits = work.is_none_or(|work| line.work == Some(work) && line.vm_id == volume.instance);
            line.phase == Phase::Succeeded && fits && same_time(line.time, time)
        });
        if let Some(line) = told {
            if !line.confirmed_by.contains(&"volumes") {
                line.confirmed_by.push("volumes");
            }
            continue;
        }
        lines.push(Line {
            time,
            source: "volumes",
            confirmed_by: Vec::new(),
            job: None,
            vm: None,
            what: what.to_owned(),
            mark: None,
            work: None,
            phase: Phase::Row,
            vm_id: None,
        });
    }
}

/// Attaches of other volumes to a VM whose next slot this disk takes, and that failed since.
fn collisions(sight: &Sight<'_>, volume: &Volume, finding: &Finding, lines: &mut Vec<Line>) {
    let Some(holder) = finding.holders.first().and_then(|h| h.vm_id) else {
        return;
    };
    if finding.blocks.is_empty() {
        return;
    }
    let last = lines
        .iter()
        .filter(|line| line.phase == Phase::Succeeded)
        .map(|line| line.time)
        .max();
    let since = |job: &&Job| {
        job.kind == JobKind::Work
            && job.work == Work::Attach
            && job.state == JobState::Failed
            && job.vm == Some(holder)
            && job.volume != Some(volume.id)
            && job
                .completed
                .is_some_and(|time| last.is_none_or(|last| time >= last))
    };
    let mut failed: Vec<&Job> = sight.evidence.jobs.iter().filter(since).collect();
    failed.sort_by_key(|job| (job.completed, job.id));
    let more = failed.len().saturating_sub(COLLISIONS);
    for (at, job) in failed.iter().enumerate() {
        let rest = at + 1 == failed.len() && more > 0;
        if at >= COLLISIONS && !rest {
            continue;
        }
        let what = if rest {
            format!("{more} more attaches of other volumes failed; this is the last")
        } else {
            "attach of another volume failed".to_owned()
        };
        lines.extend(job.completed.map(|time| Line {
            time,
            source: "async_job",
            confirmed_by: Vec::new(),
            job: Some(job.number()),
            vm: Some(tell::instance(sight, holder)),
            what,
            mark: None,
            work: None,
            phase: Phase::Elsewhere,
            vm_id: Some(holder),
        }));
    }
}

/// The one line that did the damage.
fn mark(finding: &Finding, lines: &mut [Line]) {
    let Some(job) = finding.cause.as_ref().and_then(|cause| cause.job) else {
        return;
    };
    let done =
        |line: &&mut Line| line.job == Some(job) && matches!(line.phase, Phase::Succeeded | Phase::Failed);
    if let Some(line) = lines.iter_mut().find(done) {
        line.mark = Some(match line.work {
            Some(Work::Attach) => "was never written",
            _ if line.phase == Phase::Failed => "may have cleared it",
            _ => "cleared it",
        });
    }
}

/// A detach that failed while the row named no VM changed nothing: as a rule it died of a null pointer in getDiskSeq().
fn harmless(lines: &mut [Line]) {
    let mut free = false;
    for line in lines {
        match (line.work, line.phase) {
            (Some(work), Phase::Succeeded) => free = work == Work::Detach,
            (Some(Work::Detach), Phase::Failed) if free && line.mark.is_none() => {
                line.what += " (the row was free)";
            }
            _ => {}
        }
    }
}
