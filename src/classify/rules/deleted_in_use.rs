//! A guest holds a volume that the database has deleted.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;

/// The story.
pub const STORY: Story = Story {
    class: Class::DeletedInUse,
    title: "a guest holds a volume that the database has deleted",
    sees: "Nothing, until the guest's data is gone: the row is removed, Destroy, Expunging or Expunged, and the live XML of a domain still has the disk.",
    why: "An attachment was cleared that was still plugged in. A detached volume can be deleted, and it was. On a file pool the file may already be unlinked while QEMU keeps it open; on RBD the image cannot be removed while it has a watcher, so the expunge fails and is tried again.",
    proof_of_opposite: "A live row on the same source: then the disk is that row's, and this class does not apply. A serial of a removed row yields to the live row of its source (VMs that were imported again).",
    what_to_do: "Do not stop, migrate or reboot the VM: what it holds open may be the last copy. While the state is Destroy: recoverVolume, then scan again. On a file pool, copy the data from the QEMU process's open descriptor (/proc/PID/fd). Repairs by volrecon are withheld.",
};

/// Presence is enough: gaps and flux spoil nothing.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    Answer::when(case.volume.is_deleted() && !case.held.is_empty())
}
