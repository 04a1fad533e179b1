//! One volume's history for `explain`: its lines, what they did, and what they leave in doubt.

use super::history::History;
use super::line::{Line, Phase, lines};
use super::{doubt, tell};
use crate::classify::Finding;
use crate::model::{Job, JobKind, JobState, Volume, Work};
use crate::sight::Sight;

/// Attaches of other volumes that are told one by one.
const COLLISIONS: usize = 5;

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

/// Puts one volume's history together.
#[must_use]
pub fn timeline(sight: &Sight<'_>, volume: &Volume, finding: Option<&Finding>) -> Timeline {
    let history = History::new(sight);
    let told = lines(sight, &history, volume);
    let mut out = Timeline {
        lines: told.all,
        contradictions: told.contradictions,
        unknown: Vec::new(),
    };
    if let Some(finding) = finding {
        collisions(sight, volume, finding, &mut out.lines);
        mark(finding, &mut out.lines);
    }
    out.lines.sort_by_key(|line| (line.time, line.phase, line.job));
    harmless(&mut out.lines);
    doubt::contradict(sight, volume, finding, &mut out);
    doubt::unknown(sight, volume, finding, told.purged, &mut out);
    out
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
            job: Some(job.number()),
            vm: Some(tell::instance(sight, holder)),
            vm_id: Some(holder),
            ..Line::new(time, "async_job", Phase::Elsewhere, what)
        }));
    }
}

/// The one line that did the damage.
fn mark(finding: &Finding, lines: &mut [Line]) {
    let Some(cause) = &finding.cause else { return };
    let ends = |line: &Line| line.phase.is_done() || line.no_disk_in.is_some();
    let told = |line: &Line| match (cause.job, cause.at) {
        (Some(job), _) => line.job == Some(job),
        (None, at) => at.is_some() && Some(line.time) == at,
    };
    let best = lines.iter().position(|line| line.phase.is_done() && told(line));
    let any = || lines.iter().position(|line| ends(line) && told(line));
    if let Some(at) = best.or_else(any) {
        let line = &mut lines[at];
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
            (Some(Work::Detach), Phase::Failed)
                if free && line.mark.is_none() && line.what.ends_with("failed") =>
            {
                line.what += " (the row was free)";
            }
            _ => {}
        }
    }
}
