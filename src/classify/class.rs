//! The classes, in their order, and how bad each is.

use serde::Serialize;
use std::fmt;

/// The class of a finding, in the order in which classes are tried: the first match is the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each has a rule file that tells its story")]
pub enum Class {
    IdentityConflict,
    SplitVm,
    DeletedInUse,
    DoubleOpen,
    VmDrift,
    ForeignHolder,
    WrongVm,
    IncompleteDetach,
    StragglerDetach,
    LostAttach,
    MissingDisk,
    SlotMismatch,
    DuplicateSlot,
    UnknownDisk,
    PendingStraggler,
}

impl Class {
    /// All, in order.
    pub const ALL: [Self; 15] = [
        Self::IdentityConflict,
        Self::SplitVm,
        Self::DeletedInUse,
        Self::DoubleOpen,
        Self::VmDrift,
        Self::ForeignHolder,
        Self::WrongVm,
        Self::IncompleteDetach,
        Self::StragglerDetach,
        Self::LostAttach,
        Self::MissingDisk,
        Self::SlotMismatch,
        Self::DuplicateSlot,
        Self::UnknownDisk,
        Self::PendingStraggler,
    ];

    /// The name in documents and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdentityConflict => "identity-conflict",
            Self::SplitVm => "split-vm",
            Self::DeletedInUse => "deleted-in-use",
            Self::DoubleOpen => "double-open",
            Self::VmDrift => "vm-drift",
            Self::ForeignHolder => "foreign-holder",
            Self::WrongVm => "wrong-vm",
            Self::IncompleteDetach => "incomplete-detach",
            Self::StragglerDetach => "straggler-detach",
            Self::LostAttach => "lost-attach",
            Self::MissingDisk => "missing-disk",
            Self::SlotMismatch => "slot-mismatch",
            Self::DuplicateSlot => "duplicate-slot",
            Self::UnknownDisk => "unknown-disk",
            Self::PendingStraggler => "pending-straggler",
        }
    }

    /// Its severity; `foreign-holder` rises to critical where the row claims a VM.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::SplitVm | Self::DeletedInUse | Self::DoubleOpen | Self::WrongVm => Severity::Critical,
            Self::IdentityConflict
            | Self::VmDrift
            | Self::ForeignHolder
            | Self::IncompleteDetach
            | Self::StragglerDetach
            | Self::LostAttach => Severity::High,
            Self::MissingDisk | Self::SlotMismatch | Self::DuplicateSlot | Self::PendingStraggler => {
                Severity::Medium
            }
            Self::UnknownDisk => Severity::Low,
        }
    }

    /// One of the three classes of a disk that is plugged in and that no row claims.
    #[must_use]
    pub const fn is_orphan(self) -> bool {
        matches!(
            self,
            Self::IncompleteDetach | Self::StragglerDetach | Self::LostAttach
        )
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Class {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

/// low < medium < high < critical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// All, upwards.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The name in documents and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}
