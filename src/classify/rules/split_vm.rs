//! One VM's domain is on two hosts, and no migration is under way.

use super::Story;
use crate::classify::class::Class;
use crate::model::Vm;
use crate::sight::Sight;

/// The story.
pub const STORY: Story = Story {
    class: Class::SplitVm,
    title: "one VM's domain is active on two hosts",
    sees: "The same domain uuid is active on two hosts, and no migration is under way. A paused one counts: it has its disks open. Every volume of the VM is open twice.",
    why: "A host was fenced in the database but not in fact, HA started the VM elsewhere, and the old host came back; or a migration broke half-way.",
    proof_of_opposite: "A migration: one of the two paused by it, or the row Migrating, or a migrate job pending.",
    what_to_do: "Find out which of the two is reachable by its clients. Do not shut the stale one down: it flushes. Suspend it, snapshot what matters, then destroy it on its host. All repairs of the VM's volumes are withheld.",
};

/// Presence is enough: flux other than a migration spoils nothing. A migration that is stuck explains a paused twin for
/// ever, but not two running ones: hosts are not read at the same moment, yet not an hour apart.
#[must_use]
pub fn is_split(sight: &Sight<'_>, vm: &Vm) -> bool {
    let seats = sight.seats_of(vm.id);
    seats.len() > 1 && (!sight.is_migrating(vm.id) || sight.is_split_for_long(vm.id))
}
