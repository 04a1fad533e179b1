//! The VM itself is not where or what its row says.

use super::Story;
use crate::classify::case::Answer;
use crate::classify::class::Class;
use crate::model::{Vm, VmState};
use crate::sight::{Obstacle, Sight, View};

/// The story.
pub const STORY: Story = Story {
    class: Class::VmDrift,
    title: "a VM is not where, or what, its row says",
    sees: "The row says Stopped, Destroyed, Error or removed, and the domain runs; or Running on one host, and it runs on another; or Running, and its host, which was read, has no such domain.",
    why: "A stop or start whose answer was lost, a host that came back after HA, a guest that powered itself off, a domain started by hand.",
    proof_of_opposite: "A life-cycle job or a transitional state: then the VM is in flux. Its host not having been read: then it cannot be told.",
    what_to_do: "Mend the VM first: CloudStack's power-state sync usually does within minutes; else stop or start it through CloudStack. Its disks are judged once it has settled; until then repairs of its volumes are withheld.",
};

/// Whether a VM has drifted. Flux is the caller's.
#[must_use]
pub fn judge(sight: &Sight<'_>, vm: &Vm) -> Answer {
    let seats = sight.seats_of(vm.id);
    if vm.removed.is_some() || vm.state.is_down() {
        return Answer::when(!seats.is_empty());
    }
    if vm.state != VmState::Running {
        return Answer::No;
    }
    if let Some(seat) = seats.first() {
        let on = sight.seats()[*seat].host;
        return Answer::when(vm.host.is_some_and(|host| host != on));
    }
    match obstacle(sight, vm) {
        None => Answer::Yes,
        Some(obstacle) => Answer::CannotTell(obstacle),
    }
}

/// What keeps it from being shown that the VM has no domain where it should.
fn obstacle(sight: &Sight<'_>, vm: &Vm) -> Option<Obstacle> {
    if let Some((host, domain)) = sight.unreadable_of(vm).next() {
        return Some(Obstacle {
            code: "domain-unreadable",
            why: format!(
                "its domain on {} could not be read: {}",
                sight.host_name(host),
                domain.reason
            ),
            ask: None,
        });
    }
    match vm.host {
        Some(host) if matches!(sight.view(host), View::Seen) => None,
        Some(host) => sight.host_obstacle(host),
        None => sight.zone_obstacle(vm.zone),
    }
}
