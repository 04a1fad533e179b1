//! One volume is open in two domains, or twice in one.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;

/// The story.
pub const STORY: Story = Story {
    class: Class::DoubleOpen,
    title: "one volume is open in two guests, or twice in one",
    sees: "No error anywhere. Two domains have the same image open read-write, on one host or on two. Ceph's exclusive lock does not stop it: it moves to whoever wrote last.",
    why: "The row said detached while a guest still held the disk, and the volume was offered to a second VM. Or two attaches ran at once on two management servers, or HA started a VM again while the old host came back.",
    proof_of_opposite: "A live migration (the same domain uuid, one of them paused by the migration) is no double open, nor are disks that are all marked shareable.",
    what_to_do: "Do not shut either guest down: it flushes stale pages over the live copy. Snapshot the image first. Suspend the guest that you judge stale, decide which copy lives, then stop the stale one by force. volrecon offers to unplug only from the holder that the row does not name, and only if that guest is shown not to use it. A change of the database cures nothing here.",
};

/// Two domains, or one domain twice; migration twins are left out by sight. A disk that stands on the volume's source and
/// bears another's serial has it open, too.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    let disks = || case.held.iter().chain(&case.conflicting);
    let shared = disks().all(|held| case.sight.disk(*held).shareable);
    Answer::when(disks().count() > 1 && !shared)
}
