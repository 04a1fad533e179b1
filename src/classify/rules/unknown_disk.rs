//! A CloudStack VM has a disk that no row knows.

use super::Story;
use crate::classify::class::Class;
use crate::classify::finding::{Finding, Subject};
use crate::classify::tell;
use crate::model::{Device, VmType};
use crate::sight::{Identity, Sight};

/// The story.
pub const STORY: Story = Story {
    class: Class::UnknownDisk,
    title: "a CloudStack VM has a disk that no row knows",
    sees: "A disk in the domain that is no ISO, config drive, system disk, extraconfig disk or overlay of a known volume.",
    why: "Somebody plugged it in by hand, or its row was deleted from the database. It may hold a slot that the next attach wants.",
    proof_of_opposite: "A row, removed or not, with its serial or its source.",
    what_to_do: "Ask whoever owns the VM. It is lost at the next stop and start through CloudStack, since the domain is built from the rows. If another guest has the same source open, the advice names it: two writers destroy the image, and no volume is there to be called double-open. Repairs by volrecon are withheld.",
};

/// One finding a disk.
#[must_use]
pub fn findings(sight: &Sight<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for held in sight.unidentified() {
        let seat = &sight.seats()[held.seat];
        let Some(vm) = seat.vm().and_then(|id| sight.vm(id)) else {
            continue;
        };
        let disk = sight.disk(*held);
        let unknown = matches!(sight.identity(*held), Identity::Unknown) && disk.device == Device::Disk;
        let expected = vm.kind != VmType::User || vm.extra_unreadable || seat.twin;
        if unknown && !expected {
            let mut finding = tell::finding(Class::UnknownDisk, Subject::Disk);
            finding.vm = Some(tell::vm_ref(sight, vm));
            finding.holders = vec![tell::holder(sight, *held)];
            out.push(finding);
        }
    }
    out
}
