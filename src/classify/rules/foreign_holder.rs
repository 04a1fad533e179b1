//! A known, live volume is held by a domain that is no VM of CloudStack's.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;
use crate::sight::Who;

/// The story.
pub const STORY: Story = Story {
    class: Class::ForeignHolder,
    title: "a live volume is held by a domain that is no VM of CloudStack's",
    sees: "A domain that CloudStack has no row for, a rescue guest, an import helper or a snapshot's DUMMY-VM, has the disk of a live volume.",
    why: "Somebody started a guest by hand to mend a volume, or a conversion or snapshot helper was left behind. If the row claims a VM, the next start of that VM opens the volume twice: then this is critical.",
    proof_of_opposite: "While the volume's state is Snapshotting, a DUMMY-VM-* holder is CloudStack's own and expected.",
    what_to_do: "Find out whose domain it is before anything else. If it is a leftover, end it by its owner's means. Do not start or attach the volume meanwhile. Repairs by volrecon are withheld.",
};

/// One holder, and it is no live VM's. A domain of a removed row is nobody's, either.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    let foreign = match case.who() {
        Some(Who::Foreign) => true,
        Some(Who::Vm(id)) => case.sight.vm(id).is_none_or(|vm| vm.removed.is_some()),
        Some(Who::Mismatch(_)) | None => false,
    };
    Answer::when(foreign && !case.volume.is_deleted())
}
