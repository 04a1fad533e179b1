//! Verdicts: evidence in, findings out. Pure: no I/O, no clock, the same bytes for the same evidence.
//!
//! *Comes in*: a [`crate::sight::Sight`] over the evidence. *Goes out*: findings in their order, and what could not be
//! judged. *Never*: reads anything, asks the time, or knows how a finding is shown or repaired.

mod case;
mod cause;
mod class;
mod finding;
mod judge;
mod queue;
mod rules;
mod scope;
mod tell;

pub use case::{Answer, Case};
pub use cause::History;
pub use class::{Class, Severity};
pub use finding::{
    Action, Block, BlockedBy, Cause, Claim, Confidence, Finding, Holder, InUse, Mark, Moment, NotJudged,
    Offer, Remedy, Subject, Verdicts, VmRef, VolumeRef,
};
pub use judge::classify;
pub use queue::{QueueState, QueuedJob, queue};
pub use rules::{Story, stories};
