//! What logs say of one volume, as lines.

use super::line::{Key, Line, Lines, Phase, add, verb, vm_by_uuid};
use super::tell;
use crate::model::{JobId, JobState, LogKind, LogMoment, LogWitness, Records, VmId, VmTold, Volume, Work};
use crate::sight::Sight;
use std::collections::{BTreeMap, BTreeSet};

/// Adds them. What the database knows of a job goes before what a log says of it.
pub(super) fn add_all(sight: &Sight<'_>, volume: &Volume, records: Option<&Records>, out: &mut Lines) {
    let Some(logs) = &sight.evidence.logs else { return };
    let by_log_id = |moment: &LogMoment| {
        let log_id = moment.log_id.as_deref()?;
        records?.log_ids.get(log_id).copied()
    };
    let job_of = |moment: &LogMoment| moment.job.or_else(|| by_log_id(moment));
    let mine = |moment: &&LogMoment| {
        let said = moment.volume.as_deref();
        said.is_some_and(|said| volume.uuid.as_deref().or(volume.path.as_deref()) == Some(said))
    };
    let jobs: BTreeSet<JobId> = logs.moments.iter().filter(mine).filter_map(job_of).collect();
    let ours = |moment: &&LogMoment| {
        mine(moment) || (moment.volume.is_none() && job_of(moment).is_some_and(|job| jobs.contains(&job)))
    };
    let moments: Vec<&LogMoment> = logs.moments.iter().filter(ours).collect();
    let mut works: BTreeMap<JobId, Work> = out
        .all
        .iter()
        .filter_map(|line| Some((line.job?, line.work?)))
        .collect();
    for moment in &moments {
        if let (Some(job), Some(work)) = (job_of(moment), work_of(&moment.kind)) {
            works.entry(job).or_insert(work);
        }
    }
    for moment in moments {
        let job = job_of(moment);
        let work = work_of(&moment.kind).or_else(|| works.get(&job?).copied());
        let Some((phase, what)) = told(moment, work) else {
            continue;
        };
        let (vm_id, vm) = vm_of(sight, moment.vm.as_ref());
        let source = match moment.witness {
            LogWitness::Management => "management-log",
            LogWitness::Agent(_) => "agent-log",
        };
        let line = Line {
            job,
            vm,
            work,
            vm_id,
            key: Key {
                work_job: moment.work_job,
                start: None,
                log_id: moment.log_id.clone(),
            },
            cancelled: matches!(moment.kind, LogKind::Cancelled | LogKind::AlreadyCompleted),
            no_disk_in: match (&moment.kind, &moment.witness) {
                (LogKind::NotFoundSetDetached, LogWitness::Agent(_)) => {
                    moment.vm.as_ref().and_then(|vm| vm.uuid.clone())
                }
                _ => None,
            },
            ..Line::new(moment.time, source, phase, what)
        };
        // Several servers, and a job and its work job, tell of one thing: its submission here, its beginning there.
        let again = |known: &Line| {
            let told = known.source == source || known.confirmed_by.contains(&source);
            let same = known.phase == phase && (phase != Phase::Told || known.what == line.what);
            told && known.job == job && known.work == work && same
        };
        if !(job.is_some() && out.all.iter().any(again)) {
            add(line, out);
        }
    }
}

fn work_of(kind: &LogKind) -> Option<Work> {
    let of = |command: &str| {
        if command.contains("AttachVolume") || command == "AttachCommand" {
            Some(Work::Attach)
        } else if command.contains("DetachVolume") || command.contains("ttachCommand") {
            Some(Work::Detach)
        } else {
            None
        }
    };
    match kind {
        LogKind::Submitted { command }
        | LogKind::Started { command }
        | LogKind::WorkStarted { command, .. }
        | LogKind::WorkDone { command, .. }
        | LogKind::Sent { command, .. } => of(command),
        LogKind::AttachAsked | LogKind::Attached => Some(Work::Attach),
        LogKind::DetachAsked
        | LogKind::Detached
        | LogKind::NotFoundSetDetached
        | LogKind::StillThere
        | LogKind::NullPointer => Some(Work::Detach),
        _ => None,
    }
}

/// A moment's phase and words; none for what tells nothing by itself.
fn told(moment: &LogMoment, work: Option<Work>) -> Option<(Phase, String)> {
    let verb = work.map_or("work", verb);
    let agent = match &moment.witness {
        LogWitness::Agent(host) => format!("{host}: "),
        LogWitness::Management => String::new(),
    };
    Some(match &moment.kind {
        LogKind::Submitted { .. } => (Phase::Asked, format!("{verb} asked for")),
        LogKind::WorkStarted { .. } => (Phase::Began, format!("{verb} begins")),
        LogKind::AttachAsked => (Phase::Told, format!("{agent}libvirt asked to plug it in")),
        LogKind::DetachAsked => (Phase::Told, format!("{agent}libvirt asked to unplug it")),
        LogKind::Attached => (Phase::Told, format!("{agent}plugged in")),
        LogKind::Detached => (Phase::Told, format!("{agent}unplugged")),
        LogKind::NotFoundSetDetached => (Phase::Told, format!("{agent}no such disk, called detached")),
        LogKind::StillThere => (Phase::Told, format!("{agent}the guest has not let go yet")),
        LogKind::NullPointer => (Phase::Told, format!("{agent}died in getDiskSeq(): harmless")),
        LogKind::Completed {
            status: JobState::Succeeded,
        } => (Phase::Succeeded, format!("{verb} succeeded")),
        LogKind::Completed {
            status: JobState::Pending,
        } => return None,
        LogKind::Completed {
            status: JobState::Cancelled,
        }
        | LogKind::Cancelled => (
            Phase::Failed,
            format!("{verb} cancelled; its thread may have gone on"),
        ),
        LogKind::Completed {
            status: JobState::Failed,
        }
        | LogKind::Failed => (Phase::Failed, format!("{verb} failed")),
        LogKind::AlreadyCompleted => (
            Phase::Told,
            "its thread came to an end, after it had been cancelled".to_owned(),
        ),
        LogKind::Started { .. }
        | LogKind::Bound
        | LogKind::Queued { .. }
        | LogKind::Dequeued
        | LogKind::WorkDone { .. }
        | LogKind::Sent { .. } => return None,
    })
}

/// The row, where a log's words lead to one; its name at least.
fn vm_of(sight: &Sight<'_>, told: Option<&VmTold>) -> (Option<VmId>, Option<String>) {
    let Some(told) = told else { return (None, None) };
    let by_instance = || {
        let name = told.instance.as_deref()?;
        Some(sight.vms().find(|vm| vm.instance == name)?.id)
    };
    let id = told
        .id
        .or_else(|| vm_by_uuid(sight, told.uuid.as_deref()?))
        .or_else(by_instance);
    let name = id
        .map(|id| tell::instance(sight, id))
        .or_else(|| told.instance.clone())
        .or_else(|| told.uuid.clone());
    (id, name)
}
