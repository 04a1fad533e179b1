//! What a timeline leaves in doubt: witnesses that cannot both be right, and what no witness can tell any more.

use super::line::{Line, Phase};
use super::tell;
use super::timeline::Timeline;
use crate::classify::Finding;
use crate::model::{Job, JobId, Volume, Work};
use crate::sight::Sight;
use std::collections::BTreeMap;

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
    sight: &Sight<'_>,
    volume: &Volume,
    finding: Option<&Finding>,
    purged: bool,
    out: &mut Timeline,
) {
    let orphan = finding.is_some_and(|finding| finding.class.is_orphan());
    let records = sight.evidence.records.get(&volume.id);
    // A log may have told what the tables forgot.
    let known = finding
        .and_then(|f| f.cause.as_ref())
        .is_some_and(|cause| cause.job.is_some());
    if purged {
        let so = if orphan && !known {
            ": which job did it, and for which VM it was meant, can no longer be known from it"
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
            .push("event and usage_event were not read for this volume".to_owned()),
        Some(records) => {
            if purged && records.all.iter().any(|r| r.work == Work::Detach) {
                out.unknown.push("an event of a detach names no VM".to_owned());
            }
            out.unknown.extend(records.missing.iter().cloned());
        }
    }
    out.unknown.extend(
        sight
            .evidence
            .logs
            .iter()
            .flat_map(|logs| logs.missing.iter().cloned()),
    );
    let vms = |id| {
        volume.instance == Some(id) || finding.is_some_and(|f| f.holders.iter().any(|h| h.vm_id == Some(id)))
    };
    let cancelled = sight.evidence.jobs.iter().filter(|job| job.cancelled_blocking);
    let near = cancelled.filter(|job| job.volume == Some(volume.id) || job.vm.is_some_and(vms));
    // The work job and the API job that waited for it are one.
    let near: BTreeMap<JobId, &Job> = near.map(|job| (job.number(), job)).collect();
    out.unknown.extend(near.into_values().map(|job| {
        format!(
            "job-{} ({}) was cancelled as blocking others{}: its thread was not stopped, and whether it still acts cannot be seen",
            job.number(),
            job.command,
            job.completed.map_or_else(String::new, |at| format!(" at {at}"))
        )
    }));
}
