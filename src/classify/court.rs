//! The judge of one orphan: which act on record cleared the row, and for which VM it was meant.

use super::act::Act;
use super::class::Class;
use super::finding::Confidence;
use super::line::{Lines, Phase};
use super::tell;
use crate::model::{VmId, Volume, Work};
use crate::sight::Sight;
use jiff::Timestamp;

/// What comes of it.
pub(super) struct Verdict<'a> {
    pub class: Class,
    pub confidence: Confidence,
    pub act: Option<&'a Act>,
    pub summary: String,
}

/// One orphan before its judge.
pub(super) struct Court<'a> {
    pub sight: &'a Sight<'a>,
    pub volume: &'a Volume,
    pub holder: VmId,
    pub name: String,
    pub uuid: Option<&'a str>,
    /// By their end.
    pub acts: &'a [Act],
    pub lines: &'a Lines,
}

/// Whose detach it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The holder's own VM's.
    Own,
    /// Another VM's.
    Other,
    /// Nobody says.
    Unknown,
}

impl<'a> Court<'a> {
    pub fn judge(&self) -> Verdict<'a> {
        let attaches = || {
            self.acts
                .iter()
                .filter(|act| act.work == Work::Attach && act.succeeded())
        };
        let here = attaches().rfind(|act| act.vm == Some(self.holder));
        // An attach of which the VM is not known may be the holder's; one after which nothing was attached elsewhere is.
        let unnamed = || {
            attaches()
                .next_back()
                .filter(|act| act.vm.is_none() && act.vm_name.is_none())
        };
        match here.or_else(unnamed) {
            Some(attach) => self.after(attach),
            None => self.without(),
        }
    }

    /// Whether a detach was meant for the holder. An agent's word goes first: it names the domain that it looked at.
    pub(super) fn whose(&self, clear: &Act, attached: Option<Timestamp>) -> Whose {
        if let (Some(domain), Some(uuid)) = (&clear.no_disk_in, self.uuid) {
            return if domain.eq_ignore_ascii_case(uuid) {
                Whose::Own
            } else {
                Whose::Other
            };
        }
        match (clear.vm, clear.asked, attached) {
            (Some(vm), ..) if vm == self.holder => Whose::Own,
            (Some(_), ..) => Whose::Other,
            (None, ..) if clear.vm_name.is_some() => Whose::Other,
            (None, Some(asked), Some(attached)) if asked.as_second() < attached.as_second() => Whose::Other,
            (None, Some(asked), Some(attached)) if asked.as_second() > attached.as_second() => Whose::Own,
            (None, ..) => Whose::Unknown,
        }
    }

    /// "Could not find disk … set it as detached", of another domain than the holder's: a straggler by itself.
    fn is_shown_by_agent(&self, clear: &Act) -> bool {
        let other = |domain: &String| self.uuid.is_some_and(|uuid| !domain.eq_ignore_ascii_case(uuid));
        clear.no_disk_in.as_ref().is_some_and(other)
    }

    /// For whom, as far as it is known: ` meant for i-2-101-VM,`.
    pub(super) fn meant(&self, clear: &Act) -> String {
        let vm = clear
            .vm
            .map(|vm| tell::instance(self.sight, vm))
            .or_else(|| clear.vm_name.clone());
        vm.map_or_else(
            || ", a detach of which the VM is not on record,".to_owned(),
            |vm| format!(", a detach meant for {vm},"),
        )
    }

    /// The holder's attach is on record: what first cleared the row after it?
    fn after(&self, attach: &'a Act) -> Verdict<'a> {
        let name = &self.name;
        let at = attach.at();
        let sure_attach = attach.vm == Some(self.holder);
        // An attach to another VM needs a row that is free: what cleared this one came before it, and is not on record.
        let elsewhere = |act: &Act| act.work == Work::Attach && act.succeeded();
        let turns = |act: &&Act| {
            (act.work == Work::Detach && act.succeeded() || elsewhere(act))
                && !std::ptr::eq(*act, attach)
                && act.at().map(Timestamp::as_second) >= at.map(Timestamp::as_second)
        };
        let attached = format!(
            "{} attached the volume{}{}",
            attach.name(),
            if sure_attach {
                format!(" to {name}")
            } else {
                String::new()
            },
            at.map_or_else(String::new, |at| format!(" at {}", second(at)))
        );
        let first = self.acts.iter().find(turns);
        if let Some(verdict) = self.by_late_thread(first, attach) {
            return verdict;
        }
        let Some(clear) = first.filter(|act| act.work == Work::Detach) else {
            return self.nothing_after(attach, &attached);
        };
        let ordered = clear.at().map(Timestamp::as_second) > at.map(Timestamp::as_second);
        let by_row = sure_attach && clear.vm_by_row && ordered;
        let confidence = if by_row || self.is_shown_by_agent(clear) {
            Confidence::Proven
        } else {
            Confidence::Likely
        };
        let when = clear.at().map_or_else(String::new, second);
        let gap = match (at, clear.at()) {
            (Some(a), Some(c)) => span(c.as_second() - a.as_second()),
            _ => String::new(),
        };
        let by_agent = if self.is_shown_by_agent(clear) {
            "; the agent found no disk there, and called it detached"
        } else {
            ""
        };
        let job = clear.name();
        let (class, confidence, summary) = match self.whose(clear, at) {
            Whose::Own => (
                Class::IncompleteDetach,
                confidence,
                format!(
                    "{job} detached the volume from {name} by the rows at {when}, {gap} after {} attached it there; libvirt never let go of the disk",
                    attach.name()
                ),
            ),
            Whose::Other if clear.vm.is_none() && clear.vm_name.is_none() => (
                Class::StragglerDetach,
                confidence,
                format!(
                    "{job} was asked for before the volume was attached to {name}, so that it was meant for another VM; it completed at {when}, {gap} after {} had attached it, and cleared that newer attachment",
                    attach.name()
                ),
            ),
            Whose::Other => (
                Class::StragglerDetach,
                confidence,
                format!(
                    "{job}{} completed at {when}, {gap} after {} had attached the volume to {name}, and cleared that newer attachment{by_agent}",
                    self.meant(clear),
                    attach.name()
                ),
            ),
            Whose::Unknown => (
                Class::LostAttach,
                Confidence::Unproven,
                format!(
                    "{job} cleared the row at {when}, {gap} after {attached}; for which VM it was meant, and when it was asked for, is no longer on record"
                ),
            ),
        };
        Verdict {
            class,
            confidence,
            act: Some(clear),
            summary,
        }
    }

    /// The attach is on record, and nothing after it.
    fn nothing_after(&self, attach: &Act, attached: &str) -> Verdict<'a> {
        // What is asked for and has no end may have cleared the row, and a log may not be whole.
        let open = self
            .acts
            .iter()
            .find(|act| act.work == Work::Detach && (act.is_open() || act.pending));
        let by_table = self.lines.all.iter().any(|line| {
            line.work == Some(Work::Attach)
                && line.phase == Phase::Succeeded
                && line.source != "management-log"
                && attach.at() == Some(line.time)
        });
        let confidence = if by_table && open.is_none() {
            Confidence::Likely
        } else {
            Confidence::Unproven
        };
        let but = open.map_or_else(String::new, |open| {
            format!(" (how {} ended is not on record)", open.name())
        });
        Verdict {
            class: Class::LostAttach,
            confidence,
            act: None,
            summary: format!(
                "{attached}, and no detach is on record that could have cleared it{but}: the attachment was lost, or never written"
            ),
        }
    }

    /// The holder's attach is not on record: it failed, or it is older than the history.
    fn without(&self) -> Verdict<'a> {
        let name = &self.name;
        // Whatever first cleared the row, gave it away, or tried to plug the disk in here decides.
        let decides = |act: &&Act| {
            let tried = act.work == Work::Attach && act.vm == Some(self.holder) && !act.pending;
            act.may_have_cleared() || tried || (act.work == Work::Attach && act.succeeded())
        };
        let verdict = |class, confidence, act, summary| Verdict {
            class,
            confidence,
            act: Some(act),
            summary,
        };
        // One that succeeded goes before one that may have acted.
        let sure = |act: &&Act| decides(act) && !act.may_only_have_cleared();
        match self
            .acts
            .iter()
            .find(sure)
            .or_else(|| self.acts.iter().find(decides))
        {
            Some(clear) if clear.may_only_have_cleared() => self.late(clear, None, None),
            Some(clear) if clear.work == Work::Detach => {
                let when = clear.at().map_or_else(String::new, second);
                let job = clear.name();
                match self.whose(clear, None) {
                    Whose::Own => verdict(
                        Class::IncompleteDetach,
                        Confidence::Likely,
                        clear,
                        format!(
                            "{job} detached the volume from {name} by the rows at {when}; libvirt never let go of the disk"
                        ),
                    ),
                    Whose::Other => verdict(
                        Class::StragglerDetach,
                        if self.is_shown_by_agent(clear) {
                            Confidence::Proven
                        } else {
                            Confidence::Likely
                        },
                        clear,
                        format!(
                            "{job}{} cleared the row at {when}; the attach to {name} is older than what is on record",
                            self.meant(clear)
                        ),
                    ),
                    Whose::Unknown => verdict(
                        Class::LostAttach,
                        Confidence::Unproven,
                        clear,
                        format!(
                            "{job} cleared the row at {when}; for which VM it was meant is no longer on record, nor is the attach to {name}"
                        ),
                    ),
                }
            }
            Some(attach) if attach.vm == Some(self.holder) => verdict(
                Class::LostAttach,
                Confidence::Likely,
                attach,
                format!(
                    "{} tried to attach the volume to {name} and did not succeed by the rows, but the disk is plugged in",
                    attach.name()
                ),
            ),
            _ => Verdict {
                class: Class::LostAttach,
                confidence: Confidence::Unproven,
                act: None,
                summary: self.nothing_left(),
            },
        }
    }

    fn nothing_left(&self) -> String {
        let jobs = self.sight.evidence.jobs.iter();
        let oldest = jobs.filter_map(|job| job.created).min();
        let kept = oldest.map_or_else(
            || "jobs are kept for about a day".to_owned(),
            |oldest| format!("jobs are on record since {oldest}"),
        );
        let since = self
            .volume
            .updated
            .map_or_else(String::new, |at| format!("; the row last changed at {at}"));
        format!(
            "no job is left that attached the volume to {} or cleared it ({kept}){since}",
            self.name
        )
    }
}

/// Without the fractions that logs have.
pub(super) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Seconds in words: `2 min 21 s`.
pub(super) fn span(seconds: i64) -> String {
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (h, m) {
        (0, 0) => format!("{s} s"),
        (0, _) => format!("{m} min {s} s"),
        _ => format!("{h} h {m} min"),
    }
}
