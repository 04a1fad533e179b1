//! Evidence in the words of a finding: references, claims, holders, names.

use super::class::Class;
use super::finding::{Block, BlockedBy, Claim, Finding, Holder, InUse, Subject, VmRef, VolumeRef};
use crate::model::{Bus, Slot, Vm, VmId, Volume};
use crate::sight::{Held, Sight, Taken};
use sha2::{Digest, Sha256};

pub(super) fn volume_ref(sight: &Sight<'_>, volume: &Volume) -> VolumeRef {
    let pool = volume.pool.and_then(|id| sight.pool(id));
    VolumeRef {
        id: volume.id,
        uuid: volume.uuid.clone(),
        name: volume.name.clone(),
        path: volume.path.clone(),
        pool: pool.map(|p| p.name.clone()),
        pool_id: volume.pool,
        pool_uuid: pool.map(|p| p.uuid.clone()),
        pool_type: pool.map(|p| p.kind.to_string()),
        r#type: volume.kind.to_string(),
        state: volume.state.to_string(),
        removed: volume.removed,
    }
}

pub(super) fn vm_ref(sight: &Sight<'_>, vm: &Vm) -> VmRef {
    VmRef {
        id: vm.id,
        uuid: vm.uuid.clone(),
        instance: vm.instance.clone(),
        name: vm.name.clone(),
        state: state_of(vm),
        host: vm.host.map(|id| sight.host_name(id)),
        account: vm.account,
    }
}

pub(super) fn state_of(vm: &Vm) -> String {
    if vm.removed.is_some() {
        format!("{}, removed", vm.state)
    } else {
        vm.state.to_string()
    }
}

pub(super) fn claim(sight: &Sight<'_>, volume: &Volume) -> Option<Claim> {
    let id = volume.instance?;
    let vm = sight.vm(id);
    Some(Claim {
        vm: instance(sight, id),
        vm_name: vm.map(|vm| vm.name.clone()),
        vm_uuid: vm.and_then(|vm| vm.uuid.clone()),
        vm_state: vm.map(state_of),
        host: vm.and_then(|vm| vm.host).map(|id| sight.host_name(id)),
        device_id: volume.device_id,
        target: volume
            .device_id
            .map(|id| Slot(id).target(claimed_bus(sight, id, vm))),
    })
}

/// The bus that the claim's slot is spelt with: the live root's, for slot 0 and SCSI; virtio where nothing is known.
fn claimed_bus(sight: &Sight<'_>, device_id: u32, vm: Option<&Vm>) -> Bus {
    let seat = vm.and_then(|vm| sight.seats_of(vm.id).first().copied());
    let first = seat.and_then(|s| {
        sight.seats()[s]
            .domain
            .disks
            .iter()
            .find(|d| d.device == crate::model::Device::Disk)
    });
    match first.map(|d| d.bus) {
        Some(Bus::Scsi) => Bus::Scsi,
        Some(bus @ (Bus::Sata | Bus::Ide)) if device_id == 0 => bus,
        _ => Bus::Virtio,
    }
}

/// The VM's instance name, or its number where the row is not at hand.
pub(super) fn instance(sight: &Sight<'_>, id: VmId) -> String {
    sight
        .vm(id)
        .map_or_else(|| format!("VM {id}"), |vm| vm.instance.clone())
}

pub(super) fn holder(sight: &Sight<'_>, held: Held) -> Holder {
    let disk = sight.disk(held);
    Holder {
        target: Some(disk.target.clone()).filter(|t| !t.is_empty()),
        device_id: Slot::of_target(&disk.target).map(|slot| slot.0),
        source: disk.source.as_ref().map(|s| s.name.clone()),
        serial: disk.serial.clone(),
        persistent: disk.persistent,
        ..seat(sight, held.seat)
    }
}

/// A holder where a VM is the subject: host and domain only.
pub(super) fn seat(sight: &Sight<'_>, index: usize) -> Holder {
    let seat = &sight.seats()[index];
    let vm = seat.vm().and_then(|id| sight.vm(id));
    Holder {
        host: sight.host_name(seat.host),
        host_uuid: sight.host(seat.host).and_then(|h| h.uuid.clone()),
        domain: seat.domain.name.clone(),
        domain_uuid: seat.domain.uuid.clone(),
        vm_name: vm.map(|vm| vm.name.clone()),
        target: None,
        device_id: None,
        source: None,
        serial: None,
        persistent: None,
        in_use: InUse::Unknown,
        host_id: seat.host,
        vm_id: seat.vm(),
    }
}

pub(super) fn block(sight: &Sight<'_>, vm: &Vm, taken: &Taken) -> Block {
    Block {
        vm: vm.instance.clone(),
        vm_name: vm.name.clone(),
        device_id: taken.slot.0,
        target: taken.target.clone(),
        by: match taken {
            Taken { cdrom: true, .. } => BlockedBy::Cdrom,
            Taken { volume: Some(id), .. } if sight.volume(*id).is_some() => BlockedBy::Volume,
            Taken { .. } => BlockedBy::Unknown,
        },
    }
}

/// A finding with nothing filled in but what every finding has.
pub(super) fn finding(class: Class, subject: Subject) -> Finding {
    Finding {
        id: String::new(),
        class,
        also: Vec::new(),
        severity: class.severity(),
        confidence: None,
        subject,
        volume: None,
        others: Vec::new(),
        vm: None,
        claim: None,
        holders: Vec::new(),
        blocks: Vec::new(),
        cause: None,
        remedies: Vec::new(),
        advice: String::new(),
    }
}

/// The lasting name of a finding (design, section 6).
pub(super) fn id_of(finding: &Finding) -> String {
    let mut holders: Vec<&str> = finding.holders.iter().map(|h| h.domain_uuid.as_str()).collect();
    holders.sort_unstable();
    holders.dedup();
    let holders = holders.join(",");
    let volume = finding
        .volume
        .as_ref()
        .and_then(|v| v.uuid.as_deref())
        .unwrap_or("");
    let class = finding.class.name();
    let vm = |vm: &Option<VmRef>| vm.as_ref().and_then(|vm| vm.uuid.clone()).unwrap_or_default();
    let text = match finding.subject {
        Subject::Vm => format!("{class}|{}", vm(&finding.vm)),
        Subject::Disk => {
            let source = finding
                .holders
                .first()
                .and_then(|h| h.source.as_deref())
                .unwrap_or("");
            format!("{class}|{holders}|{source}")
        }
        Subject::Volume | Subject::Job if finding.class.is_orphan() => format!("orphan|{volume}|{holders}"),
        Subject::Volume | Subject::Job => {
            let claim = finding
                .claim
                .as_ref()
                .and_then(|c| c.vm_uuid.as_deref())
                .unwrap_or("");
            format!("{class}|{volume}|{claim}|{holders}")
        }
    };
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(4)
        .fold("vr-".to_owned(), |out, byte| format!("{out}{byte:02x}"))
}
