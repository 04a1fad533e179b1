//! Acts: one attach or detach each, put together from all lines that tell of it.

use super::line::{Line, Phase};
use crate::model::{JobId, VmId, Work};
use jiff::Timestamp;

/// One attach or detach, as far as any witness tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub work: Work,
    /// The API job.
    pub job: Option<JobId>,
    /// The work job.
    pub work_job: Option<JobId>,
    /// The VM that it was meant for.
    pub vm: Option<VmId>,
    /// The database's job tables say so, no log and no event.
    pub vm_by_row: bool,
    /// Its name, where the row is not at hand.
    pub vm_name: Option<String>,
    /// When it was asked for.
    pub asked: Option<Timestamp>,
    /// When it came to an end, and whether it succeeded.
    pub done: Option<(Timestamp, bool)>,
    /// Cancelled as "blocking others", or with its server: its thread may have acted all the same.
    pub cancelled: bool,
    /// An agent found no disk in the domain of this uuid, and called it detached.
    pub no_disk_in: Option<String>,
    /// It waits or runs now.
    pub pending: bool,
}

impl Act {
    /// It succeeded, on some witness's word.
    pub fn succeeded(&self) -> bool {
        self.done.is_some_and(|(_, good)| good)
    }

    /// When it came to an end.
    pub fn at(&self) -> Option<Timestamp> {
        self.done.map(|(time, _)| time)
    }

    /// A detach that may have cleared the row: it succeeded, or its thread went on after it was cancelled.
    pub fn may_have_cleared(&self) -> bool {
        self.work == Work::Detach && (self.succeeded() || self.cancelled && self.done.is_some())
    }

    /// It was cancelled, and nobody says that it succeeded: whether its thread cleared the row is not on record.
    pub fn may_only_have_cleared(&self) -> bool {
        self.may_have_cleared() && !self.succeeded()
    }

    /// A moment of which nobody says whose it was.
    pub fn is_nameless(&self) -> bool {
        let by_job = self.job.or(self.work_job).is_some();
        let by_vm = self.vm.is_some() || self.vm_name.is_some() || self.no_disk_in.is_some();
        !by_job && !by_vm && self.asked.is_none()
    }

    /// A moment without a name lies within this work: its worker counts usage before its job is ended, at times seconds before.
    fn spans(&self, moment: &Self) -> bool {
        let did = self.succeeded() || self.may_have_cleared();
        let (Some(asked), Some(end), Some(at)) = (self.asked, self.at(), moment.at()) else {
            return false;
        };
        self.work == moment.work && did && !self.is_nameless() && asked <= at && at <= end
    }

    /// Nobody says how it ended.
    pub fn is_open(&self) -> bool {
        self.done.is_none() && !self.pending
    }

    /// How people know it.
    pub fn name(&self) -> String {
        match self.job.or(self.work_job) {
            Some(job) => format!("job-{job}"),
            None if self.work == Work::Attach => "an attach whose job is no longer on record".to_owned(),
            None => "a detach whose job is no longer on record".to_owned(),
        }
    }

    fn is_told_by(&self, line: &Line, own: &[&Line]) -> bool {
        let same = |other: &&&Line| {
            let by_start = line.key.start.is_some() && line.key.start == other.key.start;
            let by_log_id = line.key.log_id.is_some() && line.key.log_id == other.key.log_id;
            match (line.job, other.job) {
                (Some(a), Some(b)) => a == b,
                _ => by_start || by_log_id,
            }
        };
        line.work == Some(self.work) && own.iter().any(|other| same(&other))
    }

    fn take(&mut self, line: &Line) {
        self.job = self.job.or(line.job);
        self.work_job = self.work_job.or(line.key.work_job);
        let by_row = line.source == "async_job" && line.vm_id.is_some();
        if by_row || !self.vm_by_row && self.vm.is_none() && self.vm_name.is_none() {
            self.vm = line.vm_id.or(self.vm);
            self.vm_name = line.vm.clone().or(self.vm_name.take());
        }
        self.vm_by_row |= by_row;
        self.cancelled |= line.cancelled;
        self.no_disk_in = self.no_disk_in.take().or_else(|| line.no_disk_in.clone());
        match line.phase {
            Phase::Asked => self.asked = self.asked.or(Some(line.time)),
            // Lines come in order: where two witnesses differ, the later end is the one that may have cleared.
            Phase::Succeeded => self.done = Some((line.time, true)),
            Phase::Failed => self.done = self.done.or(Some((line.time, false))),
            Phase::Now => self.pending = true,
            // The agent's word is a success to its management server, which clears the row at once.
            Phase::Told if line.no_disk_in.is_some() => self.done = self.done.or(Some((line.time, true))),
            Phase::Began | Phase::Told | Phase::Row | Phase::Elsewhere => {}
        }
    }
}

/// Usage was counted for it, in the second in which it ended.
fn is_counted(line: &Line) -> bool {
    line.source == "usage_event" || line.confirmed_by.contains(&"usage_event")
}

/// Puts lines together, by the end of each act; those that have not ended first.
pub(super) fn acts(lines: &[Line]) -> Vec<Act> {
    let mut out: Vec<(Act, Vec<&Line>)> = Vec::new();
    for line in lines
        .iter()
        .filter(|line| line.phase < Phase::Row || line.phase == Phase::Now)
    {
        let Some(work) = line.work else { continue };
        if let Some((act, own)) = out.iter_mut().find(|(act, own)| act.is_told_by(line, own)) {
            act.take(line);
            own.push(line);
            continue;
        }
        let mut act = Act {
            work,
            job: None,
            work_job: None,
            vm: None,
            vm_by_row: false,
            vm_name: None,
            asked: None,
            done: None,
            cancelled: false,
            no_disk_in: None,
            pending: false,
        };
        act.take(line);
        out.push((act, vec![line]));
    }
    let counted: Vec<bool> = out
        .iter()
        .map(|(_, own)| own.iter().any(|line| is_counted(line)))
        .collect();
    let mut acts: Vec<Act> = out.into_iter().map(|(act, _)| act).collect();
    let within = |act: &Act| {
        let mut others = acts.iter().zip(&counted).filter(|(_, counted)| !**counted);
        others.any(|(other, _)| other.spans(act))
    };
    let own: Vec<bool> = acts
        .iter()
        .map(|act| !(act.is_nameless() && within(act)))
        .collect();
    let mut own = own.into_iter();
    acts.retain(|_| own.next().unwrap_or(true));
    acts.sort_by_key(|act| (act.at(), act.job));
    acts
}
