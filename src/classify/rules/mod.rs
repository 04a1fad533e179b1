//! One file a class: its story, and the rule that tells it. Tried in the classes' order.

pub mod deleted_in_use;
pub mod double_open;
pub mod duplicate_slot;
pub mod foreign_holder;
pub mod identity_conflict;
pub mod incomplete_detach;
pub mod lost_attach;
pub mod missing_disk;
pub mod pending_straggler;
pub mod slot_mismatch;
pub mod split_vm;
pub mod straggler_detach;
pub mod unknown_disk;
pub mod vm_drift;
pub mod wrong_vm;

use super::class::Class;

/// A class in words: for `volrecon explain --class`, the man page, and whoever opens the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Story {
    /// The class.
    pub class: Class,
    /// A line.
    pub title: &'static str,
    /// What the operator sees.
    pub sees: &'static str,
    /// How it comes about.
    pub why: &'static str,
    /// What would prove the opposite.
    pub proof_of_opposite: &'static str,
    /// What to check and do.
    pub what_to_do: &'static str,
}

/// All stories, in the classes' order.
#[must_use]
pub fn stories() -> [Story; 15] {
    [
        identity_conflict::STORY,
        split_vm::STORY,
        deleted_in_use::STORY,
        double_open::STORY,
        vm_drift::STORY,
        foreign_holder::STORY,
        wrong_vm::STORY,
        incomplete_detach::STORY,
        straggler_detach::STORY,
        lost_attach::STORY,
        missing_disk::STORY,
        slot_mismatch::STORY,
        duplicate_slot::STORY,
        unknown_disk::STORY,
        pending_straggler::STORY,
    ]
}
