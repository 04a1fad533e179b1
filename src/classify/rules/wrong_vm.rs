//! The row says VM A; the one holder is B.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;
use crate::model::HostId;
use crate::sight::{Obstacle, View};

/// The story.
pub const STORY: Story = Story {
    class: Class::WrongVm,
    title: "the database gives the volume to one VM, and another VM holds its disk",
    sees: "VM A is said to have the volume; A's guest has no such disk, and B's guest does. Starting or repairing A as if the row were right opens the volume twice.",
    why: "A stale detach from B set the row free while B kept the disk, and the volume was given to A; or the attach to A failed half-way. One holder only: had A opened it too, this would be a double open.",
    proof_of_opposite: "A's domain showing the disk after all. That is why, while A runs, its absence there has to be proven: every disk of A identified, its host read whole.",
    what_to_do: "Find out which guest's data is live. Do not start A, do not attach. If B's guest is shown not to use the disk, unplug it from B; if B uses it, the row should be given to B.",
};

/// One holder that is not the claim's VM; where A runs, its absence there is proven.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    let (Some(claim), Some(holder)) = (case.volume.instance, case.holder_vm()) else {
        return Answer::No;
    };
    if claim == holder {
        return Answer::No;
    }
    if !case.claim_runs() {
        return Answer::Yes;
    }
    obstacle(case).map_or(Answer::Yes, Answer::CannotTell)
}

/// What keeps the volume's absence from the claim's running VM from being proven.
fn obstacle(case: &Case<'_, '_>) -> Option<Obstacle> {
    let (sight, vm) = (case.sight, case.claim?);
    let seats = sight.seats_of(vm.id);
    if sight.is_mismatched(vm.id) {
        let why = format!(
            "a domain bears the name or the uuid of {}, but not both",
            vm.instance
        );
        let code = "domain-uuid";
        return Some(Obstacle { code, why, ask: None });
    }
    // No domain of A was seen: only sight of everything shows that there is none.
    let anywhere = seats.is_empty().then(|| sight.obstacle(case.volume)).flatten();
    let own_host = || {
        let unseen = |host: &HostId| !matches!(sight.view(*host), View::Seen);
        vm.host.filter(unseen).and_then(|host| sight.host_obstacle(host))
    };
    let open_disk = || {
        let held = sight
            .unidentified_in(vm.id)
            .iter()
            .find(|h| seats.contains(&h.seat))?;
        Some(Obstacle {
            code: "disk-unidentified",
            why: format!(
                "disk {} of {} is not identified",
                sight.disk(*held).target,
                vm.instance
            ),
            ask: None,
        })
    };
    anywhere.or_else(own_host).or_else(open_disk)
}
