//! Detached by the row, by a detach that was meant for another VM and came late (apache/cloudstack issue 14214).
//!
//! Which record outlives which: jobs live about a day, events for months, the row's own times for ever. An ordinary
//! detach also completes after its attach, so order proves nothing; the clearing work job's VM does.

use super::Story;
use crate::classify::case::{Answer, Case};
use crate::classify::class::Class;

/// The story.
pub const STORY: Story = Story {
    class: Class::StragglerDetach,
    title: "a late detach meant for another VM cleared this attachment",
    sees: "The row says detached; the guest still has the disk and writes to it. Every further attach to this VM is given the slot that the database believes free, and libvirt refuses it: XML error: target 'vdX' duplicated (API error 530). The clearing is logged at INFO as a successful detach.",
    why: "CloudStack queues work per VM, not per volume. A client that retries (the CSI external-attacher, about every 60 s) stacks detach jobs on the old VM's queue; the first one succeeds, the volume is attached to the new VM, and a straggler then clears the row by volume id alone (VolumeDaoImpl.detachVolume). Nothing compares VM or device id.",
    proof_of_opposite: "The clearing job having been meant for the holder's own VM (incomplete-detach); no clearing job after the attach in a history that reaches back that far (lost-attach).",
    what_to_do: "The guest is probably using the disk. Do not unplug it, do not attach the volume elsewhere. Let the row name the holder and its slot again (adopt): that pulls nothing from under the guest. Then an ordinary detach through CloudStack works.",
};

/// An orphan whose clearing job was another VM's.
#[must_use]
pub fn judge(case: &Case<'_, '_>) -> Answer {
    is(case, Class::StragglerDetach)
}

/// Whether a case is an orphan of one of the three classes.
pub(super) fn is(case: &Case<'_, '_>, class: Class) -> Answer {
    Answer::when(case.orphan().is_some_and(|orphan| orphan.class == class))
}
