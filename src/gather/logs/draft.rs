//! What one line says, before it is known whether anybody wants it.

use super::line::Line;
use super::rendering;
use super::text::{collision, neutral};
use super::wanted::WantedVolume;
use crate::model::{JobId, LogKind, VmTold};
use serde_json::Value;

/// Whom a line is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Jobs {
    pub api: Option<JobId>,
    pub work: Option<JobId>,
    /// One of the two; the line does not say which.
    pub either: Option<JobId>,
}

/// One line's say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub kind: LogKind,
    pub jobs: Jobs,
    pub vm: Option<VmTold>,
    /// What it is about, not what it mentions.
    pub volume: WantedVolume,
    pub target: Option<String>,
    pub text: String,
    /// The job's own uuid, where the line tells it.
    pub job_uuid: Option<String>,
}

impl Draft {
    /// For the thread's own jobs.
    pub fn new(line: &Line<'_>, kind: LogKind) -> Self {
        Self {
            kind,
            jobs: Jobs {
                api: line.job,
                work: line.work,
                either: None,
            },
            vm: None,
            volume: WantedVolume::default(),
            target: None,
            text: String::new(),
            job_uuid: None,
        }
    }

    /// For the job of this number, which the message names.
    pub fn of(line: &Line<'_>, job: JobId, kind: LogKind) -> Self {
        let mut draft = Self::new(line, kind);
        draft.jobs = if line.work == Some(job) {
            draft.jobs
        } else if line.job == Some(job) {
            Jobs {
                work: None,
                ..draft.jobs
            }
        } else {
            Jobs {
                either: Some(job),
                ..Jobs::default()
            }
        };
        draft
    }

    /// With an error's words.
    pub fn said(mut self, words: &str) -> Self {
        self.target = collision(words);
        self.text = neutral(words);
        self
    }

    pub fn vm(mut self, vm: VmTold) -> Self {
        self.vm = (vm != VmTold::default()).then_some(vm);
        self
    }

    /// A disk's path or image.
    pub fn path(mut self, path: &str) -> Self {
        if !path.is_empty() && path.len() <= 4096 {
            self.volume.paths.push(neutral(path));
        }
        self
    }
}

/// An attach or detach command to an agent: how both sides log it.
pub(super) fn sent(line: &Line<'_>) -> Option<Draft> {
    let mut commands = rendering::commands(line.message).into_iter();
    let (command, value) =
        commands.find(|(name, _)| matches!(name.as_str(), "AttachCommand" | "DettachCommand"))?;
    let disk = value.get("disk").unwrap_or(&Value::Null);
    let slot = rendering::id(disk, "diskSeq").and_then(|slot| u32::try_from(slot).ok());
    let mut draft = Draft::new(line, LogKind::Sent { command, slot });
    if let Some(data) = disk.get("data").and_then(Value::as_object) {
        // {"org.apache.cloudstack.storage.to.VolumeObjectTO":{…}}
        draft.volume = data.values().next().map(rendering::volume).unwrap_or_default();
    }
    draft
        .volume
        .paths
        .extend(disk.get("path").and_then(Value::as_str).map(str::to_owned));
    let instance = value.get("vmName").and_then(Value::as_str).map(neutral);
    Some(draft.vm(VmTold {
        instance,
        ..VmTold::default()
    }))
}

/// Whether the null-pointer error of a detach without device id is what the lines below tell. From Java 17 the error's
/// words name `getDiskSeq`; before, only the frame tells where it was.
pub(super) fn null_pointer(rest: &str) -> bool {
    let mut after_error = false;
    for line in rest.lines() {
        let line = line.trim();
        let error = line.contains("java.lang.NullPointerException");
        let frame = line.starts_with("at ");
        if (error || frame) && line.contains("DiskTO.getDiskSeq") {
            return true;
        }
        if after_error && frame && line.contains("KVMStorageProcessor.dettachVolume(") {
            return true;
        }
        after_error = error;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_pointer_of_both_javas() {
        assert!(null_pointer(
            "java.lang.NullPointerException: Cannot invoke \"java.lang.Long.intValue()\" because the return value of \"com.cloud.agent.api.to.DiskTO.getDiskSeq()\" is null\n\tat x"
        ));
        assert!(null_pointer(
            "java.lang.NullPointerException\n\tat com.cloud.agent.api.to.DiskTO.getDiskSeq(DiskTO.java:97)"
        ));
        assert!(null_pointer(
            "java.lang.NullPointerException\n\tat com.cloud.hypervisor.kvm.storage.KVMStorageProcessor.dettachVolume(KVMStorageProcessor.java:1600)"
        ));
        assert!(!null_pointer(
            "java.lang.NullPointerException\n\tat x.y(Z.java:1)\n\tat com.cloud.hypervisor.kvm.storage.KVMStorageProcessor.dettachVolume(K.java:1)"
        ));
        assert!(!null_pointer("a volume called DiskTO.getDiskSeq"));
        assert!(!null_pointer(""));
    }
}
