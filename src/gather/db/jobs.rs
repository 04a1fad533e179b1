//! Jobs: pending ones of all kinds, and the attach and detach jobs that are still on record.

use super::cells::Cells;
use super::{DbError, Reader};
use crate::gather::payload;
use crate::model::{Failure, Job, JobId, JobKind, JobState, Reconcile, VmId, VolumeId, Work};
use std::collections::BTreeSet;

/// Work on one volume, on its VM's queue. A name that is not here may do anything to the VM.
const OF_A_VOLUME: [&str; 7] = [
    "VmWorkMigrateVolume",
    "VmWorkResizeVolume",
    "VmWorkTakeVolumeSnapshot",
    "VmWorkExtractVolume",
    "VmWorkCheckAndRepairVolume",
    "VmWorkDeleteVolume",
    "VmWorkDestroyVolume",
];

/// `async_job.instance_type` (CloudStack's `ApiCommandResourceType`) of all that runs as a VM.
const OF_A_VM: [&str; 6] = [
    "VirtualMachine",
    "VmSnapshot",
    "SystemVm",
    "ConsoleProxy",
    "DomainRouter",
    "InternalLbVm",
];

impl Reader {
    pub(super) fn jobs(&mut self) -> Result<Vec<Job>, DbError> {
        let up: Option<BTreeSet<u64>> = if self.schema.has("mshost") {
            let ids = self.read("mshost", include_str!("../sql/mshosts.sql"), |c| c.number(0))?;
            Some(ids.into_iter().flatten().collect())
        } else {
            None
        };
        let found = self.read("async_job", include_str!("../sql/jobs.sql"), |c| {
            job(c, up.as_ref())
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    pub(super) fn reconcile(&mut self) -> Result<Vec<Reconcile>, DbError> {
        if !self.schema.has("reconcile_commands") {
            return Ok(Vec::new());
        }
        self.read("reconcile_commands", include_str!("../sql/reconcile.sql"), |c| {
            let kind = c.text(0).unwrap_or_default();
            let id = c.number(1)?;
            Ok(Reconcile {
                volume: id.filter(|_| kind.eq_ignore_ascii_case("Volume")).map(VolumeId),
                vm: id
                    .filter(|_| kind.eq_ignore_ascii_case("VirtualMachine"))
                    .map(VmId),
                command: c.text(2).unwrap_or_default(),
                created: c.time(3)?,
            })
        })
    }
}

/// A row of `jobs.sql`; none for what has nothing to do with disks.
fn job(c: &Cells<'_>, up: Option<&BTreeSet<u64>>) -> Result<Option<Job>, DbError> {
    let class = c.text(2).unwrap_or_default();
    let command = class.rsplit('.').next().unwrap_or_default().to_owned();
    let kind = if c.text(3).as_deref() == Some("VmWork") {
        JobKind::Work
    } else {
        JobKind::Api
    };
    let instance = |kind: usize, id: usize, word: &str| -> Result<Option<u64>, DbError> {
        let is = c.text(kind).is_some_and(|w| w.eq_ignore_ascii_case(word));
        Ok(c.number(id)?.filter(|_| is))
    };
    let about = c.text(5).unwrap_or_default();
    let is_about = |names: &[&str]| names.iter().any(|name| about.eq_ignore_ascii_case(name));
    let work = match kind {
        JobKind::Work => work_of(&command),
        JobKind::Api if command.contains("AttachVolume") => Work::Attach,
        JobKind::Api if command.contains("DetachVolume") => Work::Detach,
        JobKind::Api if is_about(&["Volume", "Snapshot"]) => Work::Volume,
        JobKind::Api if is_about(&OF_A_VM) => Work::Vm,
        // One of a volume that does not say of which.
        JobKind::Api if about.is_empty() && (command.contains("Volume") || command.contains("Snapshot")) => {
            Work::Volume
        }
        JobKind::Api => return Ok(None),
    };
    let payload = c.text(10).map(|text| payload::decode(&text)).unwrap_or_default();
    let volume = instance(5, 6, "Volume")?
        .or(instance(8, 9, "Volume")?)
        .or(payload.volume)
        .or(c.number(11)?);
    let own = c
        .number(6)?
        .filter(|_| is_about(&OF_A_VM) && !is_about(&["VmSnapshot"]));
    let vm = c.number(7)?.or(own).or(c.number(19)?).or(payload.vm);
    let state = match c.number(4)? {
        Some(0) => JobState::Pending,
        Some(1) => JobState::Succeeded,
        Some(2) => JobState::Failed,
        _ => JobState::Cancelled,
    };
    let pending = state == JobState::Pending;
    let server = c.number(17)?.or(c.number(18)?);
    let queued = c.number(15)?.is_some();
    Ok(Some(Job {
        id: c.id(0, JobId)?,
        api: c
            .text(1)
            .and_then(|text| text.trim().parse().ok())
            .filter(|id| *id > 0)
            .map(JobId),
        kind,
        work,
        command,
        vm: vm.map(VmId),
        volume: volume.map(VolumeId),
        state,
        created: c.time(12)?,
        completed: if pending { None } else { c.time(13)? },
        running: queued.then_some(c.number(16)?.is_some()),
        abandoned: pending && server.is_some_and(|id| up.is_some_and(|up| !up.contains(&id))),
        cancelled_blocking: c.flag(14),
        failure: c.text(20).and_then(|word| failure(&word)),
    }))
}

/// The words of `jobs.sql`: of a result, nothing but that gets here.
fn failure(word: &str) -> Option<Failure> {
    Some(match word {
        "no-device-id" => Failure::NoDeviceId,
        "unplug-pending" => Failure::UnplugPending,
        "still-plugged" => Failure::StillPlugged,
        "target-taken" => Failure::TargetTaken,
        "already-attached" => Failure::AlreadyAttached,
        "restart" => Failure::Restart,
        _ => return None,
    })
}

/// What a `VmWork…` command does; one that is not known may do anything to its VM.
fn work_of(command: &str) -> Work {
    match command {
        "VmWorkAttachVolume" => Work::Attach,
        "VmWorkDetachVolume" => Work::Detach,
        _ if OF_A_VOLUME.contains(&command) => Work::Volume,
        _ => Work::Vm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_by_the_command_and_the_unknown_is_the_vms() {
        for (command, work) in [
            ("VmWorkAttachVolume", Work::Attach),
            ("VmWorkDetachVolume", Work::Detach),
            ("VmWorkMigrateVolume", Work::Volume),
            ("VmWorkTakeVolumeSnapshot", Work::Volume),
            ("VmWorkMigrate", Work::Vm),
            ("VmWorkMigrateWithStorage", Work::Vm),
            ("VmWorkStorageMigration", Work::Vm),
            ("VmWorkReconfigure", Work::Vm),
            ("VmWorkCreateVMSnapshot", Work::Vm),
            ("VmWorkOfNextYear", Work::Vm),
        ] {
            assert_eq!(work_of(command), work, "{command}");
        }
    }
}
