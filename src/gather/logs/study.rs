//! From drafts to moments: who wants a line, what it teaches about other lines, and what other lines teach about it.

use super::clock::Clock;
use super::draft::{Draft, Jobs};
use super::line::{self, Civil, Line};
use super::record::Seen;
use super::wanted::{Filter, Wanted, WantedVolume};
use super::{agent, management};
use crate::model::{JobId, JobState, LogKind, LogMoment, LogWitness, VmTold};
use std::collections::BTreeMap;

/// More lines than this are counted, and not kept.
pub const MAX_MOMENTS: usize = 50_000;
/// More jobs than this are not learned.
const MAX_LEARNED: usize = 200_000;

/// What the lines tell of jobs, from whatever line it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    by_log: BTreeMap<u32, JobId>,
    api: BTreeMap<JobId, About>,
    work: BTreeMap<JobId, About>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct About {
    api: Option<JobId>,
    log_id: Option<u32>,
    vm: VmTold,
    volume: Option<String>,
}

/// One reading.
pub(super) struct Study<'w> {
    witness: &'w LogWitness,
    pub wanted: Wanted,
    pub facts: Facts,
    filter: Filter,
    /// Of the source that is being read.
    pub moments: Vec<LogMoment>,
    /// How many more are kept.
    pub room: usize,
    pub dropped: u64,
}

impl<'w> Study<'w> {
    pub fn new(witness: &'w LogWitness, wanted: &Wanted) -> Self {
        Self {
            witness,
            wanted: wanted.clone(),
            facts: Facts::default(),
            filter: Filter::new(wanted),
            moments: Vec::new(),
            room: MAX_MOMENTS,
            dropped: 0,
        }
    }

    /// A record of a source.
    #[inline]
    pub fn take(&mut self, record: &[u8], civil: Civil, clock: &mut Clock<'_>, seen: &mut Seen) {
        clock.saw(civil);
        if seen.first.is_none() {
            seen.first = clock.told().map(|told| told.time);
        }
        if self.filter.hit(record) {
            self.look(record, clock, seen);
        }
    }

    #[cold]
    fn look(&mut self, record: &[u8], clock: &Clock<'_>, seen: &mut Seen) {
        let text = String::from_utf8_lossy(record);
        let Some(line) = line::parse(&text) else { return };
        let draft = match self.witness {
            LogWitness::Management => management::read(&line),
            LogWitness::Agent(_) => agent::read(&line),
        };
        let context = Jobs {
            api: line.job,
            work: line.work,
            either: None,
        };
        let mine = self.wants(context);
        if mine {
            self.learn(context, line.log_id);
        }
        if let Some(draft) = draft {
            self.tell(draft, &line, clock, seen);
        }
    }

    fn tell(&mut self, mut draft: Draft, line: &Line<'_>, clock: &Clock<'_>, seen: &mut Seen) {
        if let Some(either) = draft.jobs.either.take() {
            if self.wanted.work_jobs.contains(&either) {
                draft.jobs.work = Some(either);
            } else {
                draft.jobs.api = Some(either);
            }
        }
        let subject = self.subject(&draft.volume);
        let in_thread =
            line.job.is_some() || line.work.is_some() || matches!(self.witness, LogWitness::Agent(_));
        let submitted = matches!(draft.kind, LogKind::Submitted { .. });
        let own = draft
            .job_uuid
            .as_deref()
            .and_then(|uuid| line::log_id(uuid.get(..8)?));
        let log_id = if submitted {
            own
        } else {
            line.log_id
                .filter(|id| in_thread || self.wanted.log_ids.contains(id))
                .or(own)
        };
        let by_log = log_id.is_some_and(|id| self.wanted.log_ids.contains(&id));
        let mine = subject.is_some() || by_log || self.wants(draft.jobs);
        let failed = matches!(
            draft.kind,
            LogKind::Failed
                | LogKind::Completed {
                    status: JobState::Failed
                }
        );
        // A collision names the disk that is in the way.
        let mentioned = failed && self.filter.by_name(draft.text.as_bytes());
        if !mine && !mentioned {
            return;
        }
        if mine {
            self.learn(draft.jobs, log_id);
            self.remember(&draft, subject.as_ref());
        }
        let Some(told) = clock.told() else {
            seen.undated += 1;
            return;
        };
        if self.moments.len() >= self.room {
            self.dropped += 1;
            return;
        }
        let said = || {
            draft
                .volume
                .uuid
                .clone()
                .or_else(|| draft.volume.paths.first().cloned())
        };
        self.moments.push(LogMoment {
            time: told.time,
            ambiguous: told.ambiguous,
            out_of_order: told.out_of_order,
            witness: self.witness.clone(),
            server: seen.name.clone(),
            record: seen.records,
            log_id: log_id.map(|id| format!("{id:08x}")),
            job: draft.jobs.api,
            work_job: draft.jobs.work,
            vm: draft.vm,
            volume: subject.or_else(said),
            target: draft.target,
            kind: draft.kind,
            text: draft.text,
        });
    }

    /// The wanted volume that a draft is about.
    fn subject(&self, told: &WantedVolume) -> Option<String> {
        let by_name = |name: &String| self.wanted.volume(name);
        let found = told
            .uuid
            .as_ref()
            .and_then(by_name)
            .or_else(|| told.paths.iter().find_map(by_name))
            .or_else(|| self.wanted.row(told.id.filter(|_| told.uuid.is_none())?))
            .or_else(|| self.wanted.named(told.name.as_ref()?));
        found.and_then(WantedVolume::called)
    }

    fn wants(&self, jobs: Jobs) -> bool {
        jobs.api.is_some_and(|job| self.wanted.jobs.contains(&job))
            || jobs.work.is_some_and(|job| self.wanted.work_jobs.contains(&job))
    }

    /// The other names of a job that is wanted.
    fn learn(&mut self, jobs: Jobs, log_id: Option<u32>) {
        if self.wanted.size() >= MAX_LEARNED {
            return;
        }
        self.wanted.jobs.extend(jobs.api);
        self.wanted.work_jobs.extend(jobs.work);
        self.wanted.log_ids.extend(log_id);
        self.filter.learn(jobs.api.into_iter().chain(jobs.work), log_id);
        if let (Some(api), Some(log_id)) = (jobs.api, log_id) {
            self.facts.by_log.insert(log_id, api);
            self.facts.api.entry(api).or_default().log_id = Some(log_id);
        }
        if let (Some(api), Some(work)) = (jobs.api, jobs.work) {
            self.facts.work.entry(work).or_default().api = Some(api);
        }
    }

    fn remember(&mut self, draft: &Draft, subject: Option<&String>) {
        let about = match (draft.jobs.work, draft.jobs.api) {
            (Some(work), _) => self.facts.work.entry(work).or_default(),
            (None, Some(api)) => self.facts.api.entry(api).or_default(),
            (None, None) => return,
        };
        if let Some(vm) = &draft.vm {
            about.vm.complete(vm);
        }
        about.volume = about.volume.take().or_else(|| subject.cloned());
    }
}

impl Facts {
    /// Takes another reading's.
    pub(super) fn join(&mut self, other: Self) {
        self.by_log.extend(other.by_log);
        for (mine, theirs) in [(&mut self.api, other.api), (&mut self.work, other.work)] {
            for (job, about) in theirs {
                let known = mine.entry(job).or_default();
                known.api = known.api.or(about.api);
                known.log_id = known.log_id.or(about.log_id);
                known.vm.complete(&about.vm);
                known.volume = known.volume.take().or(about.volume);
            }
        }
    }

    /// What a moment's own line left out. A line's own words are never replaced.
    pub(super) fn fill(&self, moment: &mut LogMoment) {
        if let Some(about) = moment.work_job.and_then(|work| self.work.get(&work)) {
            moment.job = moment.job.or(about.api);
            moment.volume = moment.volume.take().or_else(|| about.volume.clone());
            fill_vm(&mut moment.vm, &about.vm);
        }
        let log_id = moment.log_id.as_deref().and_then(line::log_id);
        moment.job = moment.job.or_else(|| self.by_log.get(&log_id?).copied());
        let Some(about) = moment.job.and_then(|job| self.api.get(&job)) else {
            return;
        };
        if moment.log_id.is_none() {
            moment.log_id = about.log_id.map(|id| format!("{id:08x}"));
        }
        moment.volume = moment.volume.take().or_else(|| about.volume.clone());
        // An agent's line speaks of its own domain, and a work job of its queue's VM.
        if moment.witness == LogWitness::Management && moment.work_job.is_none() {
            fill_vm(&mut moment.vm, &about.vm);
        }
    }
}

fn fill_vm(vm: &mut Option<VmTold>, known: &VmTold) {
    let mut told = vm.take().unwrap_or_default();
    told.complete(known);
    *vm = (told != VmTold::default()).then_some(told);
}
