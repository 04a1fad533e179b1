//! Findings made by hand, one of a kind.

use super::time;
use volrecon::classify::{
    Action, Block, BlockedBy, Cause, Claim, Class, Confidence, Finding, Holder, InUse, Moment, Offer, Remedy,
    Subject, VmRef, VolumeRef,
};
use volrecon::model::{AccountId, HostId, JobId, PoolId, VmId, VolumeId};

pub(super) fn volume(id: u64, uuid: &str, name: &str) -> VolumeRef {
    VolumeRef {
        id: VolumeId(id),
        uuid: Some(uuid.to_owned()),
        name: Some(name.to_owned()),
        path: Some(uuid.to_owned()),
        pool: Some("ceph-nvme".to_owned()),
        pool_id: Some(PoolId(3)),
        pool_uuid: Some("0b4d1f60-91d5-3c7e-b8a1-2f6f1a1c7d10".to_owned()),
        pool_type: Some("RBD".to_owned()),
        r#type: "DATADISK".to_owned(),
        state: "Ready".to_owned(),
        removed: None,
    }
}

pub(super) fn vm(id: u64, instance: &str, name: &str, host: &str) -> VmRef {
    VmRef {
        id: VmId(id),
        uuid: Some(format!("7d6c5b4a-1111-4222-8333-{id:0>12}")),
        instance: instance.to_owned(),
        name: name.to_owned(),
        state: "Running".to_owned(),
        host: Some(host.to_owned()),
        account: AccountId(2),
    }
}

pub(super) fn holder(
    host: &str,
    vm: &VmRef,
    target: Option<&str>,
    device_id: Option<u32>,
    source: &str,
) -> Holder {
    Holder {
        host: host.to_owned(),
        host_uuid: Some("5c1d7f0e-0000-4000-8000-000000000004".to_owned()),
        domain: vm.instance.clone(),
        domain_uuid: vm.uuid.clone().unwrap(),
        vm_name: Some(vm.name.clone()),
        target: target.map(str::to_owned),
        device_id,
        source: Some(format!("cloudstack/{source}")),
        serial: Some(source.replace('-', "").chars().take(20).collect()),
        persistent: None,
        in_use: InUse::Unknown,
        host_id: HostId(7),
        vm_id: Some(vm.id),
    }
}

pub(super) fn offer(
    remedy: Remedy,
    action: Action,
    recommended: bool,
    withheld: Option<(&str, &'static str)>,
) -> Offer {
    Offer {
        remedy,
        action,
        recommended,
        withheld: withheld.map(|(why, _)| why.to_owned()),
        code: withheld.map(|(_, code)| code),
    }
}

pub(super) fn moment(at: &str, job: u64, vm: &str, what: &str) -> Moment {
    Moment {
        time: time(at),
        source: "async_job".to_owned(),
        job: Some(JobId(job)),
        vm: Some(vm.to_owned()),
        what: what.to_owned(),
    }
}

/// The finding of the incident's second occurrence.
pub(super) fn straggler_finding() -> Finding {
    let uuid = "e949a8c4-52a3-4c1b-9d7e-6f0c2b1a8d35";
    let worker7 = vm(47, "i-2-47-VM", "worker7", "kvm7");
    Finding {
        id: "vr-5f1c09ab".to_owned(),
        class: Class::StragglerDetach,
        also: Vec::new(),
        severity: Class::StragglerDetach.severity(),
        confidence: Some(Confidence::Proven),
        subject: Subject::Volume,
        volume: Some(volume(9041, uuid, "pvc-3f0d2c8e-7f1e-4b58-a6a5-0d8d0a9f5b11")),
        others: Vec::new(),
        holders: vec![holder("kvm7", &worker7, Some("vdc"), Some(2), uuid)],
        vm: Some(worker7),
        claim: None,
        blocks: vec![Block {
            vm: "i-2-47-VM".to_owned(),
            vm_name: "worker7".to_owned(),
            device_id: 2,
            target: "vdc".to_owned(),
            by: BlockedBy::Volume,
        }],
        cause: Some(Cause {
            job: Some(JobId(210_235)),
            work_job: Some(JobId(210_236)),
            summary: "job-210235, a detach meant for worker1 (i-2-41-VM), completed at 14:42:40 and cleared the attachment \
                      that job-210247 had made to worker7 (i-2-47-VM) at 14:40:19"
                .to_owned(),
            at: None,
            timeline: vec![
                moment("2026-09-08T14:37:57Z", 210_235, "i-2-41-VM", "detach asked for"),
                moment("2026-09-08T14:40:19Z", 210_247, "i-2-47-VM", "attach succeeded, device id 2"),
                moment("2026-09-08T14:42:40Z", 210_235, "i-2-41-VM", "detach succeeded"),
            ],
        }),
        remedies: vec![
            offer(Remedy::Database, Action::Adopt, true, None),
            offer(
                Remedy::Detach,
                Action::Detach,
                false,
                Some(("the guest may be using the disk; a scan does not ask it", "not-mounted")),
            ),
            offer(Remedy::Restart, Action::Restart, false, None),
        ],
        advice: "The disk is live in the guest and may be mounted: do not unplug it by hand. Adopt it, so that the row says \
                 what is true and the slot is known to be taken. Then, if Kubernetes holds no VolumeAttachment for it, \
                 detach it through CloudStack once the guest has let go: `cmk detach volume \
                 id=e949a8c4-52a3-4c1b-9d7e-6f0c2b1a8d35`."
            .to_owned(),
    }
}

pub(super) fn claim(of: &VmRef, device_id: u32, target: &str) -> Claim {
    Claim {
        vm: of.instance.clone(),
        vm_name: Some(of.name.clone()),
        vm_uuid: of.uuid.clone(),
        vm_state: Some(of.state.clone()),
        host: of.host.clone(),
        device_id: Some(device_id),
        target: Some(target.to_owned()),
    }
}

pub(super) fn double_open() -> Finding {
    let uuid = "1a6a7be4-90c2-4e0e-8a54-3d7a5e0f7c21";
    let worker4 = vm(44, "i-2-44-VM", "worker4", "kvm3");
    let worker9 = vm(49, "i-2-49-VM", "worker9", "kvm1");
    Finding {
        id: "vr-90aa12fe".to_owned(),
        class: Class::DoubleOpen,
        also: vec![Class::WrongVm],
        severity: Class::DoubleOpen.severity(),
        confidence: None,
        volume: Some(volume(8812, uuid, "data-postgres-0")),
        claim: Some(claim(&worker9, 1, "vdb")),
        holders: vec![
            holder("kvm3", &worker4, Some("vde"), Some(4), uuid),
            holder("kvm1", &worker9, Some("vdb"), Some(1), uuid),
        ],
        vm: Some(worker4),
        blocks: Vec::new(),
        cause: None,
        remedies: Vec::new(),
        advice: "Two guests have the volume open. Do not shut either down: what a guest has not yet written would go over \
                 the live copy. Snapshot the image, suspend the guest whose copy is stale, decide, then stop it by force."
            .to_owned(),
        ..straggler_finding()
    }
}

pub(super) fn vm_drift() -> Finding {
    let moved = vm(51, "i-3-51-VM", "build-runner-with-a-rather-long-name", "kvm2");
    let mut at = holder(
        "kvm3.rack-12.dc-frankfurt.example.net",
        &moved,
        None,
        None,
        "none",
    );
    at.source = None;
    at.serial = None;
    Finding {
        id: "vr-77c0ffee".to_owned(),
        class: Class::VmDrift,
        severity: Class::VmDrift.severity(),
        confidence: None,
        subject: Subject::Vm,
        volume: None,
        vm: Some(moved),
        holders: vec![at],
        blocks: Vec::new(),
        cause: None,
        remedies: Vec::new(),
        advice: "The row says one host, the domain runs on another. Let CloudStack's power report settle it."
            .to_owned(),
        ..straggler_finding()
    }
}

pub(super) fn unknown_disk() -> Finding {
    let owner = vm(52, "i-3-52-VM", "db1", "kvm2");
    let mut at = holder("kvm2", &owner, Some("vdf"), Some(5), "scratch");
    at.source = Some("/srv/images/scratch-for-the-migration-of-last-summer/volume-0001.qcow2".to_owned());
    at.serial = None;
    at.persistent = Some(true);
    Finding {
        id: "vr-00000abc".to_owned(),
        class: Class::UnknownDisk,
        severity: Class::UnknownDisk.severity(),
        confidence: None,
        subject: Subject::Disk,
        volume: None,
        vm: Some(owner),
        holders: vec![at],
        blocks: Vec::new(),
        cause: None,
        remedies: Vec::new(),
        advice: "No row knows this disk. Ask who plugged it in.".to_owned(),
        ..straggler_finding()
    }
}

pub(super) fn missing_disk() -> Finding {
    let owner = vm(53, "i-3-53-VM", "mail", "kvm1");
    Finding {
        id: "vr-0badcafe".to_owned(),
        class: Class::MissingDisk,
        severity: Class::MissingDisk.severity(),
        confidence: None,
        volume: Some(volume(77, "0d9c1b2a-4c3d-4e5f-8a6b-7c8d9e0f1a2b", "spool")),
        claim: Some(claim(&owner, 3, "vdd")),
        vm: Some(owner),
        holders: Vec::new(),
        blocks: Vec::new(),
        cause: None,
        remedies: vec![offer(
            Remedy::Database,
            Action::Release,
            false,
            Some(("no detach of this volume is on record", "complete-sight")),
        )],
        advice: "The guest does not have the disk that the row gives it.".to_owned(),
        ..straggler_finding()
    }
}
