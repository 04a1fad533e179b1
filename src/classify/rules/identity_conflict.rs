//! A disk's serial names one volume, its source another.

use super::Story;
use crate::classify::class::Class;
use crate::classify::finding::{Finding, Subject};
use crate::classify::tell;
use crate::sight::{Identity, Sight};

/// The story.
pub const STORY: Story = Story {
    class: Class::IdentityConflict,
    title: "a disk's serial names one volume, its source another",
    sees: "The guest mounts the disk by its serial and believes that it is one volume; its bytes are another's.",
    why: "A restore or a copy put one volume's path into another's row, or the domain was edited by hand. The two witnesses disagree about what the disk is, so nothing that volrecon says of either volume may rest on it.",
    proof_of_opposite: "The serial belonging to a removed row, or to one left over from a migration: it yields to the live row of the source, and there is no conflict. Serials that no row has are ignored.",
    what_to_do: "Compare the data of both volumes with what the guest sees. Nothing is repaired here, and both volumes are left alone until hands have decided.",
};

/// One finding a disk.
#[must_use]
pub fn findings(sight: &Sight<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for held in sight.unidentified() {
        let Identity::Conflict { serial, source } = sight.identity(*held) else {
            continue;
        };
        let rows = (sight.volume(*source), sight.volume(*serial));
        let seat = &sight.seats()[held.seat];
        if let (Some(source), Some(serial), false) = (rows.0, rows.1, seat.twin) {
            let mut finding = tell::finding(Class::IdentityConflict, Subject::Disk);
            if source.is_deleted() {
                finding.also.push(Class::DeletedInUse);
            }
            if sight.holders(source.id).len() + sight.conflicting(source.id).count() > 1 {
                finding.also.push(Class::DoubleOpen);
            }
            finding.volume = Some(tell::volume_ref(sight, source));
            finding.others = vec![tell::volume_ref(sight, serial)];
            finding.vm = seat
                .vm()
                .and_then(|id| sight.vm(id))
                .map(|vm| tell::vm_ref(sight, vm));
            finding.claim = tell::claim(sight, source);
            finding.holders = vec![tell::holder(sight, *held)];
            out.push(finding);
        }
    }
    out
}
