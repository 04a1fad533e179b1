//! What a timeline leaves in doubt: witnesses that cannot both be right, and what no witness can tell any more.

use super::tell;
use super::timeline::{Line, Phase, Timeline};
use crate::classify::Finding;
use crate::model::{Records, Volume, Work};
use crate::sight::Sight;

/// The row, and libvirt, against what was last done.
pub(super) fn contradict(sight: &Sight<'_>, volume: &Volume, finding: Option<&Finding>, out: &mut Timeline) {
    let last = out.lines.iter().rfind(|line| line.phase == Phase::Succeeded);
    if let Some(last) = last {
        let who = last
            .job
            .map_or_else(|| last.source.to_owned(), |job| format!("job-{job}"));
        let claim = volume.instance.map(|id| tell::instance(sight, id));
        let at = last.time;
        let meant = last.vm.clone().map_or_else(String::new, |vm| format!(" to {vm}"));
        match (last.work, volume.instance) {
            (Some(Work::Attach), None) => out.contradictions.push(format!(
                "{who} attached the volume{meant} at {at}, and nothing on record took it away since; yet the row names no VM"
            )),
            (Some(Work::Attach), Some(id)) if last.vm_id.is_some_and(|vm| vm != id) => {
                out.contradictions.push(format!(
                    "{who} attached the volume{meant} at {at}, and is the last on record; yet the row names {}",
                    claim.unwrap_or_default()
                ));
            }
            (Some(Work::Detach), Some(_)) => {
                let meant = last.vm.as_ref().map_or_else(String::new, |vm| format!(", meant for {vm},"));
                out.contradictions.push(format!(
                    "a detach{meant} succeeded at {at} ({who}) and is the last on record; yet the row names {}",
                    claim.unwrap_or_default()
                ));
            }
            _ => {}
        }
    }
    let holders = finding.iter().flat_map(|finding| &finding.holders);
    for holder in holders.filter(|holder| holder.target.is_some()) {
        let there = |line: &&Line| {
            line.work == Some(Work::Attach) && line.vm_id.is_some() && line.vm_id == holder.vm_id
        };
        let attach = out
            .lines
            .iter()
            .filter(there)
            .rfind(|line| matches!(line.phase, Phase::Succeeded | Phase::Failed));
        if let Some(line) = attach.filter(|line| line.phase == Phase::Failed) {
            let text = format!(
                "{} says that the attach to {} failed at {}; yet libvirt shows the disk there",
                line.source, holder.domain, line.time
            );
            out.contradictions.push(text);
        }
    }
}

/// What can no longer be known, and why.
pub(super) fn unknown(
    finding: Option<&Finding>,
    records: Option<&Records>,
    purged: bool,
    out: &mut Timeline,
) {
    let orphan = finding.is_some_and(|finding| finding.class.is_orphan());
    if purged {
        let so = if orphan {
            ": which job did it, and for which VM it was meant, can no longer be known"
        } else {
            ""
        };
        out.unknown.push(format!(
            "async_job has no attach or detach of this volume (jobs are kept for about a day){so}"
        ));
    }
    match records {
        None => out
            .unknown
            .push("event and usage_event were not read: a file of evidence has none of them".to_owned()),
        Some(records) => {
            if purged && records.all.iter().any(|r| r.work == Work::Detach) {
                out.unknown.push("an event of a detach names no VM".to_owned());
            }
            out.unknown.extend(records.missing.iter().cloned());
        }
    }
}
