//! Detached by the row, and no detach to blame: the attach was never written, or no history is left.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;

/// The story.
pub const STORY: Story = Story {
    class: Class::LostAttach,
    title: "the guest has the disk, the row does not, and no detach explains it",
    sees: "The row says detached, a guest has the disk. Either an attach is on record with no detach after it, or nothing is on record any more. The slot is given out again and again, and every attach to the VM fails.",
    why: "The agent plugged the disk in and the answer was lost: the management server died, or the command timed out. Or it was a straggler's doing, and the jobs that would show it have aged out (about a day). The cure is the same.",
    proof_of_opposite: "A detach on record after the attach: then one of the other two classes.",
    what_to_do: "As for a straggler-detach: the guest is probably using the disk. Let the row name the holder and its slot (adopt). Do not attach the volume elsewhere meanwhile: the row allows it, and that is a double open.",
};

/// Any other orphan.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    super::straggler_detach::is(case, Class::LostAttach)
}
