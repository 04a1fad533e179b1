//! What is on record of one volume, line by line: every witness's words, in one order, with who says so.
//!
//! Nothing is smoothed: two witnesses that tell of one moment alike are one line with two sources, any other two are two.

use super::history::History;
use super::{logged, tell};
use crate::model::{
    Failure, Job, JobId, JobKind, JobState, Record, RecordSource, Records, Step, VmId, Volume, Work,
};
use crate::sight::Sight;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// UTC.
    pub time: Timestamp,
    /// Who says so: `async_job`, `event`, `usage_event`, `volumes`, `management-log`, `agent-log`.
    pub source: &'static str,
    /// Others that say the same.
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
    #[serde(skip)]
    pub(super) key: Key,
    /// Cancelled while its thread may have gone on.
    #[serde(skip)]
    pub(super) cancelled: bool,
    /// The uuid of the domain in which the agent found no disk.
    #[serde(skip)]
    pub(super) no_disk_in: Option<String>,
}

/// By what, beside the API job's number, lines of one work are known as such.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    pub work_job: Option<JobId>,
    /// The event that began it.
    pub start: Option<u64>,
    /// What logs call the API job.
    pub log_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Asked,
    Began,
    /// On the way: no outcome.
    Told,
    Succeeded,
    Failed,
    Row,
    Elsewhere,
    Now,
}

impl Phase {
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// All lines of one volume, and where they contradict.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    pub all: Vec<Line>,
    pub contradictions: Vec<String>,
    /// The job tables have nothing.
    pub purged: bool,
}

impl Line {
    pub(super) fn new(time: Timestamp, source: &'static str, phase: Phase, what: String) -> Self {
        Self {
            time,
            source,
            confirmed_by: Vec::new(),
            job: None,
            vm: None,
            what,
            mark: None,
            work: None,
            phase,
            vm_id: None,
            key: Key::default(),
            cancelled: false,
            no_disk_in: None,
        }
    }

    /// Whether this witness has not spoken here yet.
    fn is_news(&self, source: &str) -> bool {
        self.source != source && !self.confirmed_by.contains(&source)
    }
}

/// Gathers every witness's lines of a volume.
pub(super) fn lines(sight: &Sight<'_>, history: &History<'_>, volume: &Volume) -> Lines {
    let mut out = Lines::default();
    for job in told_by(history.of(volume.id)) {
        of_job(sight, job, &mut out.all);
    }
    out.purged = out.all.is_empty();
    let records = sight.evidence.records.get(&volume.id);
    logged::add_all(sight, volume, records, &mut out);
    if let Some(records) = records {
        of_records(sight, records, &mut out);
    }
    of_row(volume, &mut out.all);
    out.all.sort_by_key(|line| (line.time, line.phase, line.job));
    name_vms(&mut out.all);
    out
}

/// A line that names no VM is of the VM that others of its job name.
fn name_vms(lines: &mut [Line]) {
    let mut known: BTreeMap<JobId, (Option<VmId>, String)> = BTreeMap::new();
    for line in lines.iter() {
        if let (Some(job), Some(vm)) = (line.job, &line.vm) {
            known.entry(job).or_insert_with(|| (line.vm_id, vm.clone()));
        }
    }
    for line in lines.iter_mut().filter(|line| line.vm.is_none()) {
        if let Some((id, vm)) = line.job.and_then(|job| known.get(&job)) {
            (line.vm_id, line.vm) = (*id, Some(vm.clone()));
        }
    }
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

pub(super) fn verb(work: Work) -> &'static str {
    if work == Work::Attach { "attach" } else { "detach" }
}

fn of_job(sight: &Sight<'_>, job: &Job, lines: &mut Vec<Line>) {
    let line = |time, phase, what| Line {
        job: Some(job.number()),
        vm: job.vm.map(|id| tell::instance(sight, id)),
        work: Some(job.work),
        vm_id: job.vm,
        key: Key {
            work_job: (job.kind == JobKind::Work).then_some(job.id),
            ..Key::default()
        },
        cancelled: job.cancelled_blocking || job.failure == Some(Failure::Restart),
        ..Line::new(time, "async_job", phase, what)
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
        JobState::Failed => match job.failure {
            Some(failure) => done(Phase::Failed, failed(failure)),
            None => done(Phase::Failed, "failed"),
        },
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

/// How a job failed, in a few words.
const fn failed(failure: Failure) -> &'static str {
    match failure {
        Failure::NoDeviceId => "died in getDiskSeq(): harmless",
        Failure::StillPlugged => "failed: the guest did not let go in time, and still may",
        Failure::UnplugPending => "failed: an unplug was already under way",
        Failure::TargetTaken => "failed: the target is taken",
        Failure::AlreadyAttached => "failed: the row names a VM already",
        Failure::Restart => "failed: the server restarted; it may have acted",
    }
}

/// Second precision, and the tables are not written in one transaction.
fn same_time(a: Timestamp, b: Timestamp) -> bool {
    (a.as_second() - b.as_second()).abs() <= 1
}

/// Adds a line, or a witness to the one that says the same; says where two witnesses cannot both be right.
pub(super) fn add(fresh: Line, out: &mut Lines) {
    let by_job = |line: &Line| fresh.job.is_some() && fresh.job == line.job;
    let kind = |line: &Line| {
        line.work == fresh.work
            && (line.phase == fresh.phase || line.phase.is_done() && fresh.phase.is_done())
    };
    let open = |line: &Line| line.phase < Phase::Row && line.phase != Phase::Told;
    let jobs_apart = |line: &Line| line.job.is_some() && fresh.job.is_some();
    let by_time =
        |line: &Line| !jobs_apart(line) && line.phase == fresh.phase && same_time(line.time, fresh.time);
    let found = |is: &dyn Fn(&Line) -> bool| {
        out.all
            .iter()
            .position(|line| open(line) && kind(line) && line.is_news(fresh.source) && is(line))
    };
    let Some(at) = found(&by_job).or_else(|| found(&by_time)) else {
        out.all.push(fresh);
        return;
    };
    let line = &mut out.all[at];
    if line.phase == fresh.phase && (fresh.phase == Phase::Asked || same_time(line.time, fresh.time)) {
        line.confirmed_by.push(fresh.source);
        line.job = line.job.or(fresh.job);
        line.key.start = line.key.start.or(fresh.key.start);
        line.key.work_job = line.key.work_job.or(fresh.key.work_job);
        line.key.log_id = line.key.log_id.take().or(fresh.key.log_id);
        if line.vm_id.is_none() && line.vm.is_none() {
            line.vm_id = fresh.vm_id;
            line.vm = fresh.vm;
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
    if fresh.phase.is_done() {
        let text = format!(
            "{number}: {} says that the {} {} at {}, {} says that it {} at {}",
            line.source,
            fresh.work.map_or("work", verb),
            how(line.phase),
            line.time,
            fresh.source,
            how(fresh.phase),
            fresh.time
        );
        out.contradictions.push(text);
    }
    out.all.push(fresh);
}

fn of_records(sight: &Sight<'_>, records: &Records, out: &mut Lines) {
    let jobs = jobs_of_starts(records, &out.all);
    for record in &records.all {
        let (source, phase) = told(record);
        let vm_id = vm_of(sight, record, records);
        let how = match phase {
            Phase::Asked => "asked for",
            Phase::Began => "begins",
            Phase::Succeeded => "succeeded",
            _ => "failed",
        };
        let line = Line {
            job: record.job.or_else(|| jobs.get(&record.start?).copied()),
            vm: vm_id.map(|id| tell::instance(sight, id)),
            work: Some(record.work),
            vm_id,
            key: Key {
                start: record.start,
                ..Key::default()
            },
            ..Line::new(record.time, source, phase, format!("{} {how}", verb(record.work)))
        };
        // An API thread takes its work at once: a line of its own would say nothing.
        let began = phase == Phase::Began
            && records
                .all
                .iter()
                .any(|r| r.start == record.start && r.step == Step::Scheduled);
        if !began {
            add(line, out);
        }
    }
}

fn told(record: &Record) -> (&'static str, Phase) {
    let source = match record.source {
        RecordSource::Event => "event",
        RecordSource::Usage => "usage_event",
    };
    let phase = match record.step {
        Step::Scheduled => Phase::Asked,
        Step::Started => Phase::Began,
        Step::Succeeded => Phase::Succeeded,
        Step::Failed => Phase::Failed,
    };
    (source, phase)
}

/// The jobs behind events whose own job is no longer on record: another witness tells of one work at the same time.
fn jobs_of_starts(records: &Records, lines: &[Line]) -> BTreeMap<u64, JobId> {
    let mut out = BTreeMap::new();
    for record in records.all.iter().filter(|r| r.job.is_none()) {
        let Some(start) = record.start else { continue };
        let (_, phase) = told(record);
        let alike = |line: &&Line| {
            line.work == Some(record.work) && line.phase == phase && same_time(line.time, record.time)
        };
        let mut found: Vec<JobId> = lines.iter().filter(alike).filter_map(|line| line.job).collect();
        found.dedup();
        if let [job] = found.as_slice() {
            out.entry(start).or_insert(*job);
        }
    }
    out
}

/// The VM that an attach's own event names, for all events of that attach.
fn vm_of(sight: &Sight<'_>, record: &Record, records: &Records) -> Option<VmId> {
    let start = record.start?;
    let uuid = records
        .all
        .iter()
        .filter(|r| r.start == Some(start))
        .find_map(|r| r.vm_uuid.as_deref())?;
    vm_by_uuid(sight, uuid)
}

pub(super) fn vm_by_uuid(sight: &Sight<'_>, uuid: &str) -> Option<VmId> {
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
            if line.is_news("volumes") {
                line.confirmed_by.push("volumes");
            }
            continue;
        }
        lines.push(Line::new(time, "volumes", Phase::Row, what.to_owned()));
    }
}
