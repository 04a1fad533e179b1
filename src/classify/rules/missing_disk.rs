//! The row says VM A, A's domain runs without the disk, and nobody else has it.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;
use crate::model::VmState;
use crate::sight::{Obstacle, Whereabouts};

/// The story.
pub const STORY: Story = Story {
    class: Class::MissingDisk,
    title: "the row says attached, and no guest has the disk",
    sees: "CloudStack and Kubernetes say that the volume is attached; the guest has no such disk. A pod hangs waiting for its device.",
    why: "A detach timed out, was reported as failed, and the guest let go afterwards; or somebody unplugged the disk by hand. A detach whose guest lets go late looks the same for some seconds: --settle looks twice.",
    proof_of_opposite: "Any domain that shows the disk, or any place that could not be looked at: a host unread, a disk not identified. 'Nowhere' needs complete sight.",
    what_to_do: "If a detach from this VM is on record, the row should be set free (release). Else look first: a stop and start through CloudStack plugs the disk in again.",
};

/// Absence, proven: in the claim's domain, and everywhere else that could have it.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    let Some(vm) = case.claim else {
        return Answer::No;
    };
    let expected = vm.state == VmState::Running
        && vm.removed.is_none()
        && !case.volume.is_deleted()
        && !case.volume.state.has_no_disk_yet()
        && case.held.is_empty()
        && !case.is_troubled(vm.id);
    if !expected {
        return Answer::No;
    }
    let sight = case.sight;
    if sight.is_mismatched(vm.id) {
        return Answer::CannotTell(Obstacle {
            code: "domain-uuid",
            why: format!(
                "a domain bears the name or the uuid of {}, but not both",
                vm.instance
            ),
            ask: None,
        });
    }
    match sight.whereabouts(case.volume) {
        Whereabouts::Seen => Answer::No,
        Whereabouts::Nowhere(_proof) if !sight.seats_of(vm.id).is_empty() => Answer::Yes,
        Whereabouts::Nowhere(_) => Answer::CannotTell(Obstacle {
            code: "host-unseen",
            why: format!("no domain of {} was seen", vm.instance),
            ask: None,
        }),
        Whereabouts::Unknown(obstacle) => Answer::CannotTell(obstacle),
    }
}
