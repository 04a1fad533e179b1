//! Two rows of one VM on one slot, or a claim without a slot.

use super::Story;
use crate::classify::class::Class;
use crate::classify::finding::{Finding, Subject};
use crate::classify::tell;
use crate::model::{Vm, Volume};
use crate::sight::Sight;
use std::collections::BTreeMap;

/// The story.
pub const STORY: Story = Story {
    class: Class::DuplicateSlot,
    title: "two rows of one VM have the same device id, or a claim has none",
    sees: "Two volumes of one VM say the same device id: only one of them can be plugged in at the next start. Or a row names a VM and no device id: every attach to that VM then dies with a null pointer (getDeviceId).",
    why: "The table has no unique index on instance_id and device_id. Two attaches at once, or a row mended by hand.",
    proof_of_opposite: "One of the rows being a migration's leftover or on its way out: those are not counted.",
    what_to_do: "See which volume the guest has at that slot. Detach the other one through CloudStack and attach it again. Never renumbered unasked; repairs by volrecon are withheld.",
};

/// One finding a VM and slot: the volume with the lowest id, and the others.
#[must_use]
pub fn findings(sight: &Sight<'_>, vm: &Vm) -> Vec<Finding> {
    let all = sight.volumes_of(vm.id).iter().filter_map(|id| sight.volume(*id));
    let mut ids: Vec<Option<u32>> = all.map(|v| v.device_id).collect();
    ids.sort_unstable();
    if ids.first() != Some(&None) && ids.is_sorted_by(|a, b| a < b) {
        return Vec::new();
    }
    let mut slots: BTreeMap<Option<u32>, Vec<&Volume>> = BTreeMap::new();
    let rows = sight.volumes_of(vm.id).iter().filter_map(|id| sight.volume(*id));
    for volume in rows.filter(|v| counts(sight, v)) {
        slots.entry(volume.device_id).or_default().push(volume);
    }
    let wrong = slots
        .into_iter()
        .filter(|(slot, rows)| slot.is_none() || rows.len() > 1);
    wrong
        .filter_map(|(_, rows)| {
            let (first, others) = rows.split_first()?;
            let mut finding = tell::finding(Class::DuplicateSlot, Subject::Volume);
            finding.volume = Some(tell::volume_ref(sight, first));
            finding.others = others.iter().map(|v| tell::volume_ref(sight, v)).collect();
            finding.vm = Some(tell::vm_ref(sight, vm));
            finding.claim = tell::claim(sight, first);
            let held = rows.iter().flat_map(|v| sight.holders(v.id));
            finding.holders = held.map(|h| tell::holder(sight, h)).collect();
            Some(finding)
        })
        .collect()
}

/// Rows that a migration left behind or is making, and rows on their way out, share a slot rightly.
fn counts(sight: &Sight<'_>, volume: &Volume) -> bool {
    volume.uuid.is_some()
        && !volume.is_deleted()
        && volume
            .last_id
            .is_none_or(|id| sight.volume(id).is_none_or(Volume::is_deleted))
        && sight.volume_flux(volume.id).is_none()
}
