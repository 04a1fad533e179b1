//! The right VM holds the disk, at a slot that somebody else wants.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;
use crate::model::Slot;

/// The story.
pub const STORY: Story = Story {
    class: Class::SlotMismatch,
    title: "the right guest has the disk, at another slot than the row says, and that slot is wanted",
    sees: "The volume is attached where the row says, but at another letter; the next attach, or another volume of the VM, wants that letter and collides.",
    why: "A row was mended by hand with a wrong device id, or the disk was plugged in under another target. Only the letter counts, not the bus: vdc and sdc are both slot 2.",
    proof_of_opposite: "Nobody wanting the slot: then the difference is harmless, is cured by the next stop and start, and is no finding.",
    what_to_do: "Give the row the slot that the guest has, where that unblocks attaches; or stop and start the VM through CloudStack, which plugs everything in by the rows.",
};

/// Held by the claim's VM at a slot that another row or the next pick wants.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    let (Some(held), Some(vm), Some(claimed)) = (case.one(), case.claim, case.volume.device_id) else {
        return Answer::No;
    };
    if case.holder_vm() != Some(vm.id) || case.is_troubled(vm.id) {
        return Answer::No;
    }
    let Some(live) = Slot::of_target(&case.sight.disk(held).target) else {
        return Answer::No;
    };
    if live == Slot(claimed) {
        return Answer::No;
    }
    let rows = case
        .sight
        .volumes_of(vm.id)
        .iter()
        .filter_map(|id| case.sight.volume(*id));
    let by_row = rows
        .filter(|v| v.id != case.volume.id)
        .any(|v| v.device_id == Some(live.0));
    let by_pick = case
        .sight
        .taken_slots(vm, held.seat)
        .iter()
        .any(|taken| taken.held == held);
    Answer::when(by_row || by_pick)
}
