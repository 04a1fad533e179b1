//! The row says VM A; the one holder is B.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::finding::Class;
use crate::sight::{Identity, Obstacle, View};

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
    let obstacles = absent_from(case);
    if obstacles.is_empty() {
        Answer::Yes
    } else {
        Answer::CannotTell(obstacles)
    }
}

/// What keeps the volume's absence from the claim's running VM from being proven.
fn absent_from(case: &Case<'_, '_>) -> Vec<Obstacle> {
    let (sight, Some(vm)) = (case.sight, case.claim) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let seats = sight.seats_of(vm.id);
    if sight.is_mismatched(vm.id) {
        out.push(Obstacle {
            code: "domain-uuid",
            why: format!(
                "a domain bears the name or the uuid of {}, but not both",
                vm.instance
            ),
            ask: None,
        });
    }
    if seats.is_empty() {
        // No domain of A was seen: only sight of everything shows that there is none.
        out.extend(sight.obstacles(case.volume));
    }
    if let Some(host) = vm.host
        && !matches!(sight.view(host), View::Seen)
    {
        out.extend(sight.host_obstacle(host));
    }
    for held in sight.unidentified() {
        let disk = sight.disk(*held);
        let told = match sight.identity(*held) {
            Identity::Volume(_) | Identity::NoVolume => true,
            Identity::Conflict { .. } | Identity::Ambiguous(_) | Identity::Unknown => false,
        };
        if seats.contains(&held.seat) && !told {
            out.push(Obstacle {
                code: "disk-unidentified",
                why: format!("disk {} of {} is not identified", disk.target, vm.instance),
                ask: None,
            });
        }
    }
    out
}
