//! Detached by the row, by a detach that was meant for just this VM: the unplug never happened.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;

/// The story.
pub const STORY: Story = Story {
    class: Class::IncompleteDetach,
    title: "the row was cleared by the holder's own detach, and the unplug never happened",
    sees: "The row says detached, and the VM that it was detached from still has the disk. The next attach to this VM collides on the same target.",
    why: "The guest ignored the unplug (still booting, no ACPI hot-plug), or the agent's answer was taken for a success. Old releases cleared the row without looking at the domain again.",
    proof_of_opposite: "The clearing job having been meant for another VM: then it is a straggler-detach. The guest letting go late: then the next scan shows nothing.",
    what_to_do: "Somebody wanted this detach. If the guest is shown not to use the disk, unplug it. Else let the row name this VM again, and detach it through CloudStack once the guest has let go.",
};

/// An orphan whose clearing job was the holder's own.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    super::straggler_detach::is(case, Class::IncompleteDetach)
}
