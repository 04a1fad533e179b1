//! Threads that went on after their jobs had been cancelled: what they do is written down by nobody, but for usage.
//!
//! A job is cancelled before the volume can be moved away, since it keeps its VM's queue busy until then: as a rule its end stands *before*
//! the attach that its thread clears.

use super::act::Act;
use super::class::Class;
use super::court::{Court, Verdict, Whose, second, span};
use super::finding::Confidence;
use crate::model::{Failure, Job, Work};
use jiff::Timestamp;

impl<'a> Court<'a> {
    /// A cancelled detach, where nothing that is on record by itself cleared the row after the attach: `first` is what first did.
    pub(super) fn by_late_thread(&self, first: Option<&'a Act>, attach: &Act) -> Option<Verdict<'a>> {
        let when = match first {
            // The row's own time, if nothing moved it since.
            None => self.volume.updated.filter(|time| Some(*time) > attach.at()),
            Some(act) if act.work == Work::Detach && act.is_nameless() => act.at(),
            Some(_) => return None,
        };
        // What died with its server did nothing after.
        let may = |act: &&Act| act.may_only_have_cleared() && (!self.died(act) || act.at() >= attach.at());
        let late = self.acts.iter().rfind(may)?;
        Some(self.late(late, when, Some(attach)))
    }

    fn job_of(&self, act: &Act, is: impl Fn(&Job) -> bool) -> bool {
        let jobs = self.sight.evidence.jobs.iter();
        let own = jobs.filter(|job| act.job.is_some() && Some(job.number()) == act.job);
        own.into_iter().any(is)
    }

    /// Its thread ended with its management server.
    fn died(&self, act: &Act) -> bool {
        self.job_of(act, |job| job.failure == Some(Failure::Restart))
    }

    /// The verdict on a cancelled detach.
    pub(super) fn late(&self, late: &'a Act, when: Option<Timestamp>, attach: Option<&Act>) -> Verdict<'a> {
        let attached = attach.and_then(Act::at);
        let (class, sure) = match self.whose(late, attached) {
            Whose::Own => (Class::IncompleteDetach, Confidence::Likely),
            Whose::Other if self.found_no_disk_since(late, attached) => {
                (Class::StragglerDetach, Confidence::Proven)
            }
            Whose::Other => (Class::StragglerDetach, Confidence::Likely),
            Whose::Unknown => (Class::LostAttach, Confidence::Unproven),
        };
        let at = late
            .at()
            .map_or_else(String::new, |at| format!(" at {}", second(at)));
        let ended = if self.died(late) {
            format!("failed{at}, when its management server was restarted, which takes nothing back")
        } else if self.job_of(late, |job| job.cancelled_blocking) {
            format!("was cancelled as blocking others{at}, but its thread was not stopped")
        } else {
            format!("was cancelled{at}, but its thread was not stopped")
        };
        let cleared = when.map_or_else(String::new, |at| format!(" at {}", second(at)));
        let after = attach.map_or_else(String::new, |attach| {
            let gap = match (attached, when) {
                (Some(a), Some(c)) => format!("{} ", span(c.as_second() - a.as_second())),
                _ => String::new(),
            };
            let at = attached.map_or_else(String::new, |at| format!(" at {}", second(at)));
            format!(
                ", {gap}after {} had attached the volume to {}{at}",
                attach.name(),
                self.name
            )
        });
        Verdict {
            class,
            confidence: sure,
            act: Some(late),
            summary: format!(
                "{}{} {ended}: it may have cleared the row{cleared}{after}",
                late.name(),
                self.meant(late)
            ),
        }
    }

    /// The agent's word, given after the attach, that this detach's VM had no such disk: the thread did go on, and cleared the row.
    fn found_no_disk_since(&self, late: &Act, attached: Option<Timestamp>) -> bool {
        let other = |domain: &String| self.uuid.is_some_and(|uuid| !domain.eq_ignore_ascii_case(uuid));
        self.lines.all.iter().any(|line| {
            line.work == Some(Work::Detach)
                && line.job.is_some()
                && line.job == late.job
                && line.no_disk_in.as_ref().is_some_and(other)
                && attached.is_some_and(|attached| line.time >= attached)
        })
    }
}
