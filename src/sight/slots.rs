//! Slots: what the database will pick next, and what stands there already.

use super::{Held, Identity, Seat, Sight};
use crate::model::{Bus, Device, Disk, Slot, Vm, VolumeId};

/// A pick of the database's that the live XML has already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The id that the database believes free.
    pub slot: Slot,
    /// The target that a hot-attach would make of it.
    pub target: String,
    /// The disk that has it.
    pub held: Held,
    /// The volume that the disk is; none for an unknown disk or a CD-ROM.
    pub volume: Option<VolumeId>,
    /// It is a CD-ROM, a floppy or another thing that is no disk.
    pub cdrom: bool,
}

impl Sight<'_> {
    /// Device ids that the rows of a VM use, whatever the rows' state: what `VolumeApiServiceImpl.getDeviceId` counts.
    #[must_use]
    pub fn used_slots(&self, vm: &Vm) -> Vec<Slot> {
        let rows = self.volumes_of(vm.id).iter().filter_map(|id| self.volume(*id));
        rows.filter_map(|volume| volume.device_id.map(Slot)).collect()
    }

    /// The database's next picks for as long as they collide: the lowest free id from 1, never 3, as the target that a
    /// hot-attach would choose. Empty if the next attach finds its target free.
    #[must_use]
    pub fn taken_slots(&self, vm: &Vm, seat: usize) -> Vec<Taken> {
        let used = self.used_slots(vm);
        let place = &self.seats()[seat];
        let free = (1..=255)
            .map(Slot)
            .filter(|s| *s != Slot::CDROM && !used.contains(s));
        let mut out = Vec::new();
        for slot in free {
            let targets = hot_targets(vm, place, slot);
            let Some(disk) = place
                .domain
                .disks
                .iter()
                .position(|d| targets.contains(&d.target))
            else {
                break;
            };
            let held = Held { seat, disk };
            let volume = match self.identity(held) {
                Identity::Volume(named) => Some(named.volume),
                Identity::Conflict { source, .. } => Some(*source),
                Identity::Ambiguous(_) | Identity::NoVolume | Identity::Unknown => None,
            };
            let target = self.disk(held).target.clone();
            let cdrom = self.disk(held).device != Device::Disk;
            out.push(Taken {
                slot,
                target,
                held,
                volume,
                cdrom,
            });
        }
        out
    }
}

/// The target that `KVMStorageProcessor.getAttachDiskBusType` leads to: the detail's controller, else SCSI if the first
/// disk is, else virtio. Which letter `virtio-blk` gets is not confirmed: both are tolerated.
fn hot_targets(vm: &Vm, seat: &Seat<'_>, slot: Slot) -> Vec<String> {
    let first = seat
        .domain
        .disks
        .iter()
        .find(|d: &&Disk| d.device == Device::Disk)
        .map(|d| d.bus);
    match vm
        .data_disk_controller
        .as_deref()
        .map(str::to_ascii_lowercase)
        .as_deref()
    {
        Some("scsi") => vec![slot.target(Bus::Scsi)],
        Some("sata") => vec![slot.target(Bus::Sata)],
        Some("ide") => vec![slot.target(Bus::Ide)],
        Some("virtio-blk") => vec![slot.target(Bus::Virtio), slot.target(Bus::Ide)],
        Some("virtio") => vec![slot.target(Bus::Virtio)],
        _ if first == Some(Bus::Scsi) => vec![slot.target(Bus::Scsi)],
        _ => vec![slot.target(Bus::Virtio)],
    }
}
