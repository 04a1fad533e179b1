//! `management-server.log`: which lines say something of an attach or detach. A shape is matched from the message's
//! beginning, for its own logger: what stands inside another line is that line's words.

use super::draft::{self, Draft, Jobs, null_pointer};
use super::line::{Line, number};
use super::rendering::{self, job_number, json, object};
use super::text::class;
use super::wanted::WantedVolume;
use crate::model::{JobId, JobState, LogKind, VmId, VmTold, VolumeId};
use serde_json::Value;

/// What the line says, if anything.
pub(super) fn read(line: &Line<'_>) -> Option<Draft> {
    match line.logger {
        "AsyncJobManagerImpl" | "SyncQueueManagerImpl" => jobs(line),
        "VmWorkJobDispatcher" => work(line),
        "VolumeApiServiceImpl" => volumes(line),
        "VmWorkJobHandlerProxy" => {
            let words = line.message.strip_prefix("Invocation exception, caused by: ")?;
            Some(Draft::new(line, LogKind::Failed).said(words))
        }
        "Request" => request(line),
        _ => null_pointer(line.rest).then(|| Draft::new(line, LogKind::NullPointer)),
    }
}

fn jobs(line: &Line<'_>) -> Option<Draft> {
    let message = line.message;
    if let Some(rest) = message.strip_prefix("submit async ") {
        let (id, rest) = job_number(rest)?;
        let told = rendering::job(rest.split_once("details: ")?.1.trim_start())?;
        return Some(about_job(line, Some(id), told, false));
    }
    if let Some(rest) = message.strip_prefix("Executing AsyncJob") {
        let told = rendering::job(&message[message.len() - rest.len() - "AsyncJob".len()..])?;
        return Some(about_job(line, None, told, true));
    }
    if let Some(rest) = message.strip_prefix("Sync ") {
        let (work, rest) = job_number(rest)?;
        let (vm, _) = number(rest.strip_prefix(" execution on object VmWorkJobQueue.")?)?;
        let vm = VmId(vm);
        let mut draft = Draft::new(line, LogKind::Queued { vm }).vm(VmTold::row(vm));
        draft.jobs.work = Some(work);
        return Some(draft);
    }
    if let Some(rest) = message.strip_prefix("Complete async ") {
        return complete(line, rest);
    }
    if let Some(rest) = message.strip_prefix("Update async-job attachment, ") {
        let (job, rest) = job_number(rest)?;
        let id = rest.strip_prefix(", instanceType: Volume, instanceId: ")?;
        let mut draft = Draft::of(line, job, LogKind::Bound);
        draft.volume.id = Some(VolumeId(number(id)?.0));
        return Some(draft);
    }
    if let Some(rest) = message.strip_prefix("Schedule queued ") {
        return Some(Draft::of(line, job_number(rest)?.0, LogKind::Dequeued));
    }
    if let Some(rest) = message.strip_prefix("Execute sync-queue item: ") {
        return Some(Draft::of(line, queue_item(rest)?, LogKind::Dequeued));
    }
    if let Some(rest) = message.strip_prefix("Remove ") {
        let (job, rest) = job_number(rest)?;
        let blocked =
            rest.starts_with(" from Queue-") && rest.contains("since it has been blocked for too long");
        return blocked.then(|| Draft::of(line, job, LogKind::Cancelled));
    }
    let (job, rest) = job_number(message)?;
    rest.starts_with(" is already completed")
        .then(|| Draft::of(line, job, LogKind::AlreadyCompleted))
}

/// "submit async job-N, details: …" or "Executing …".
fn about_job(line: &Line<'_>, id: Option<JobId>, told: rendering::JobTold, started: bool) -> Draft {
    let command = told.command;
    let kind = if started {
        LogKind::Started { command }
    } else {
        LogKind::Submitted { command }
    };
    let id = id.or(told.id);
    let mut draft = Draft::new(line, kind);
    draft.jobs = match id {
        Some(id) if told.work => Jobs {
            api: line.job.filter(|job| *job != id),
            work: Some(id),
            either: None,
        },
        Some(id) => Jobs {
            api: Some(id),
            ..Jobs::default()
        },
        None => draft.jobs,
    };
    draft.volume = told.volume;
    draft.vm = told.vm;
    // A work job has a uuid of its own, and its API job's log id.
    draft.job_uuid = told.uuid.filter(|_| !told.work);
    draft
}

/// `SyncQueueItemVO {id:1, queueId: 2, contentType: AsyncJob, contentId: 118, …}`, or JSON.
fn queue_item(rendering: &str) -> Option<JobId> {
    if let Some((value, _)) = object(rendering) {
        return rendering::id(&value, "contentId").map(JobId);
    }
    let (_, fields) = rendering.strip_prefix("SyncQueueItem")?.split_once('{')?;
    let id = fields
        .split([',', '}'])
        .find_map(|f| f.trim().strip_prefix("contentId:"))?;
    Some(JobId(id.trim().parse().ok()?))
}

/// "Complete async job-N, jobStatus: FAILED, resultCode: 530, result: …".
fn complete(line: &Line<'_>, rest: &str) -> Option<Draft> {
    let (job, rest) = job_number(rest)?;
    let (status, rest) = rest.strip_prefix(", jobStatus: ")?.split_once(',')?;
    let status = match status {
        "SUCCEEDED" => JobState::Succeeded,
        "FAILED" => JobState::Failed,
        "CANCELLED" => JobState::Cancelled,
        "IN_PROGRESS" => JobState::Pending,
        _ => return None,
    };
    let result = rest.split_once("result: ").map_or("", |(_, result)| result);
    let blocking = "Job is cancelled as it has been blocking others";
    let restart = "job cancelled because of management server";
    let words = error_words(result);
    let cancelled =
        status == JobState::Cancelled || [blocking, restart].iter().any(|by| words.starts_with(by));
    let kind = if cancelled {
        LogKind::Cancelled
    } else {
        LogKind::Completed { status }
    };
    let draft = Draft::of(line, job, kind);
    Some(match status {
        JobState::Failed | JobState::Cancelled => draft.said(&words),
        JobState::Pending | JobState::Succeeded => draft,
    })
}

/// An API job's result is `class/name/{json}`, a work job's is a serialised exception or plain words.
fn error_words(result: &str) -> String {
    if result.starts_with("rO0AB") || result == "null" {
        return String::new();
    }
    let errortext = result
        .splitn(3, '/')
        .nth(2)
        .and_then(json)
        .and_then(|(value, _)| {
            let text = value.get("errortext").and_then(Value::as_str);
            text.map(str::to_owned)
        });
    errortext.unwrap_or_else(|| result.to_owned())
}

/// "Run VM work job: com.cloud.vm.VmWorkDetachVolume for VM 41, job origin: 210235".
fn work(line: &Line<'_>) -> Option<Draft> {
    let done = line.message.strip_prefix("Done with run of VM work job: ");
    if let Some(rest) = done.or_else(|| line.message.strip_prefix("Run VM work job: ")) {
        let (name, rest) = rest.split_once(" for VM ")?;
        let command = class(name)?.to_owned();
        let (vm, rest) = match object(rest) {
            Some((value, rest)) => (rendering::vm(&value), rest),
            None => {
                let (id, rest) = number(rest)?;
                (VmTold::row(VmId(id)), rest)
            }
        };
        let id = vm.id?;
        let kind = match done {
            Some(_) => LogKind::WorkDone { command, vm: id },
            None => LogKind::WorkStarted { command, vm: id },
        };
        let mut draft = Draft::new(line, kind).vm(vm);
        let origin = rest.strip_prefix(", job origin: ").and_then(number);
        draft.jobs.api = origin.map(|(id, _)| JobId(id)).or(draft.jobs.api);
        return Some(draft);
    }
    line.message.starts_with("Unable to complete ").then(|| {
        let words = line.rest.lines().next().unwrap_or_default();
        Draft::new(line, LogKind::Failed).said(words)
    })
}

fn volumes(line: &Line<'_>) -> Option<Draft> {
    let message = line.message;
    if let Some(rest) = message.strip_prefix("Trying to attach volume ") {
        return bound(line, rest);
    }
    if let Some(rest) = message.strip_prefix("Volume: ") {
        return outcome(line, rest);
    }
    let failed = ["Failed to attach volume", "Failed to detach volume"];
    failed
        .iter()
        .any(|words| message.starts_with(words))
        .then(|| Draft::new(line, LogKind::Failed).said(message))
}

/// "[Volume {…}] to VM instance [VM instance {…}], update async job-N [AsyncJob {…}] progress status"; older with less in
/// it. Before 4.18 it had only names: then the thread says which job, and the job says which volume.
fn bound(line: &Line<'_>, rest: &str) -> Option<Draft> {
    let mut draft = Draft::new(line, LogKind::Bound);
    let Some((volume, rest)) = object(rest.strip_prefix('[').unwrap_or(rest)) else {
        return Some(draft);
    };
    draft.volume = rendering::volume(&volume);
    let Some(rest) = out_of_brackets(rest).strip_prefix(" to VM instance ") else {
        return Some(draft);
    };
    let Some((vm, rest)) = object(rest.strip_prefix('[').unwrap_or(rest)) else {
        return Some(draft);
    };
    draft = draft.vm(rendering::vm(&vm));
    let rest = out_of_brackets(rest)
        .strip_prefix(", update async job-")
        .unwrap_or_default();
    if let Some((job, _)) = number(rest.strip_prefix('[').unwrap_or(rest)) {
        draft.jobs = Draft::of(line, JobId(job), LogKind::Bound).jobs;
    }
    Some(draft)
}

fn out_of_brackets(rest: &str) -> &str {
    rest.strip_prefix(']').unwrap_or(rest)
}

/// "Volume: … successfully attached to VM: …", or "failed to attach to VM: …".
fn outcome(line: &Line<'_>, rest: &str) -> Option<Draft> {
    let (volume, rest) = match object(rest) {
        Some((value, rest)) => (rendering::volume(&value), rest),
        // Names: a tenant's words. But a VM's has no blanks, so the last words before it are CloudStack's.
        None => {
            let (before, vm) = rest.rsplit_once(" to VM: ")?;
            let ours = [" successfully attached", " failed to attach"]
                .iter()
                .find(|words| before.ends_with(**words))?;
            let name = before.len() - ours.len();
            let volume = WantedVolume {
                name: Some(rest[..name].to_owned()),
                ..WantedVolume::default()
            };
            (!vm.contains(' ')).then(|| (volume, &rest[name..]))?
        }
    };
    let (kind, rest) = match rest.strip_prefix(" successfully attached to VM: ") {
        Some(rest) => (LogKind::Attached, rest),
        None => (LogKind::Failed, rest.strip_prefix(" failed to attach to VM: ")?),
    };
    let vm = object(rest).map(|(vm, _)| rendering::vm(&vm)).unwrap_or_default();
    let mut draft = Draft::new(line, kind).vm(vm);
    draft.volume = volume;
    Some(draft)
}

/// Commands on their way, and answers.
fn request(line: &Line<'_>) -> Option<Draft> {
    if null_pointer(line.rest) {
        return Some(Draft::new(line, LogKind::NullPointer));
    }
    let (seq, rest) = line.message.split_once(": ")?;
    if !seq.starts_with("Seq ") {
        return None;
    }
    if rest.starts_with("Sending ") {
        return draft::sent(line);
    }
    let answers = rendering::commands(rest);
    let details = |(_, answer): &(String, Value)| Some(null_pointer(answer.get("details")?.as_str()?));
    answers
        .iter()
        .any(|answer| details(answer) == Some(true))
        .then(|| Draft::new(line, LogKind::NullPointer))
}
