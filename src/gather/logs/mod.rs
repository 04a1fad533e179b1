//! The logs of management servers and KVM agents: who attached and detached what, and when, without the database.
//!
//! *Comes in*: logs, plain or gzip, in any order, from files or pipes, and what is [`Wanted`] of them. *Goes out*: typed
//! [`LogMoment`]s in UTC, and what could not be read. *Never*: a line's raw text, in which tenants write and API keys
//! stand; a guess from where a word stands in a line; more memory for a longer log.
//!
//! A log is read record by record: a line with a prefix, and the lines without one that follow it. A quick look passes
//! over records that name no wanted volume, job or log id. The others are taken apart, and teach: a job of a wanted
//! volume is wanted from then on. Files from which something was learned are read again, until nothing new is learned.

mod agent;
mod clock;
mod draft;
mod line;
mod management;
mod record;
mod rendering;
mod source;
mod study;
mod text;
mod wanted;

pub use record::{MAX_ENDLESS, MAX_RECORD, Seen};
pub use source::Source;
pub use study::{Facts, MAX_MOMENTS};
pub use text::MAX_TEXT;
pub use wanted::{Wanted, WantedVolume};

use crate::model::{LogMoment, LogWitness};
use clock::Clock;
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::io;
use study::Study;

/// A log teaches of a job, whose lines teach of its work job; more rounds than this are not worth their time.
const MAX_ROUNDS: usize = 4;

/// A log could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LogError {
    #[error("cannot open the log {name}")]
    Open { name: String, source: io::Error },
    #[error("cannot read the log {name}")]
    Read { name: String, source: io::Error },
    #[error("the log {name} is packed in a way that volrecon does not read")]
    Packed { name: String, with: &'static str },
}

impl LogError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { source, .. } if source.kind() == io::ErrorKind::IsADirectory => {
                Some("name the files in it, management-server.log* or agent.log*".to_owned())
            }
            Self::Open { .. } => Some("look at its name and its permissions".to_owned()),
            Self::Read { .. } => None,
            Self::Packed { with, .. } => {
                Some(format!("unpack it with `{with}`, and hand it on as - or a pipe"))
            }
        }
    }
}

/// What was found in logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// By time.
    pub moments: Vec<LogMoment>,
    /// Every source, as far as it could be read.
    pub seen: Vec<Seen>,
    /// What was wanted, with all that was learned: to read the next logs with.
    pub wanted: Wanted,
    /// Moments beyond [`MAX_MOMENTS`], not kept.
    pub dropped: u64,
    facts: Facts,
}

impl Log {
    /// Takes in another's: by their log ids, each tells the other's jobs and volumes.
    pub fn join(&mut self, other: Self) {
        self.moments.extend(other.moments);
        self.seen.extend(other.seen);
        self.wanted.jobs.extend(other.wanted.jobs);
        self.wanted.work_jobs.extend(other.wanted.work_jobs);
        self.wanted.log_ids.extend(other.wanted.log_ids);
        for volume in other.wanted.volumes {
            if !self.wanted.volumes.contains(&volume) {
                self.wanted.volumes.push(volume);
            }
        }
        self.dropped += other.dropped;
        self.facts.join(other.facts);
        self.settle();
    }

    fn settle(&mut self) {
        for moment in &mut self.moments {
            self.facts.fill(moment);
        }
        self.moments.sort();
    }
}

/// Reads logs of management servers.
///
/// # Errors
/// When one cannot be opened or read; one that is damaged is read as far as it goes, and [`Seen::broken`] says so.
pub fn read_management(sources: &[Source], wanted: &Wanted, zone: &TimeZone) -> Result<Log, LogError> {
    read(&LogWitness::Management, sources, wanted, zone)
}

/// Reads logs of the agent on one host. What a management log taught ([`Log::wanted`]) finds more here.
///
/// # Errors
/// As [`read_management`].
pub fn read_agent(host: &str, sources: &[Source], wanted: &Wanted, zone: &TimeZone) -> Result<Log, LogError> {
    read(&LogWitness::Agent(host.to_owned()), sources, wanted, zone)
}

fn read(witness: &LogWitness, sources: &[Source], wanted: &Wanted, zone: &TimeZone) -> Result<Log, LogError> {
    let sources = in_order(sources)?;
    let mut study = Study::new(witness, wanted);
    let mut done: Vec<Option<Done>> = Vec::new();
    done.resize_with(sources.len(), || None);
    for _ in 0..MAX_ROUNDS {
        let before = study.wanted.size();
        for (at, source) in sources.iter().enumerate() {
            if done[at].is_some() && !source.again() {
                continue;
            }
            done[at] = None;
            let kept: usize = done.iter().flatten().map(|d| d.moments.len()).sum();
            study.room = MAX_MOMENTS.saturating_sub(kept);
            done[at] = Some(through(source, &mut study, zone)?);
        }
        if study.wanted.size() == before {
            break;
        }
    }
    let mut log = Log {
        wanted: study.wanted,
        facts: study.facts,
        ..Log::default()
    };
    for done in done.into_iter().flatten() {
        log.seen.push(done.seen);
        log.moments.extend(done.moments);
        log.dropped += done.dropped;
    }
    log.settle();
    Ok(log)
}

/// A source that was read through.
struct Done {
    seen: Seen,
    moments: Vec<LogMoment>,
    dropped: u64,
}

fn through(source: &Source, study: &mut Study<'_>, zone: &TimeZone) -> Result<Done, LogError> {
    let mut seen = Seen {
        name: source.name().to_owned(),
        once: !source.again(),
        ..Seen::default()
    };
    let mut clock = Clock::new(zone);
    source.each(&mut seen, &mut |record, civil, seen| {
        study.take(record, civil, &mut clock, seen);
    })?;
    seen.jumps = clock.jumps;
    seen.last = clock.told().map(|told| told.time);
    Ok(Done {
        seen,
        moments: std::mem::take(&mut study.moments),
        dropped: std::mem::take(&mut study.dropped),
    })
}

/// By their first record, oldest first, so that one reading learns as much as it can; pipes last. A file that is named
/// twice is read once.
fn in_order(sources: &[Source]) -> Result<Vec<&Source>, LogError> {
    let mut known = BTreeSet::new();
    let mut files = Vec::new();
    let mut pipes = Vec::new();
    for source in sources {
        match source.regular() {
            Some(file) if known.insert(file) => files.push((source.begins()?, source)),
            Some(_) => {}
            None => pipes.push(source),
        }
    }
    files.sort_by_key(|(begins, _)| *begins);
    Ok(files.into_iter().map(|(_, source)| source).chain(pipes).collect())
}
