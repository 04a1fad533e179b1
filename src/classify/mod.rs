//! Verdicts: evidence in, findings out. Pure: no I/O, no clock, the same bytes for the same evidence.
//!
//! *Comes in*: a [`crate::sight::Sight`] over the evidence. *Goes out*: findings in their order, and what could not be
//! judged. *Never*: reads anything, asks the time, or knows how a finding is shown or repaired.

mod account;
mod act;
mod beside;
mod case;
mod cause;
mod class;
mod court;
mod doubt;
mod equivalent;
mod finding;
mod history;
mod judge;
mod late;
mod line;
mod logged;
mod queue;
mod rules;
mod scope;
mod tell;
mod timeline;

pub use account::{Account, account, id_without_hosts};
pub use case::{Answer, Case};
pub use class::{Class, Severity};
pub use equivalent::{Equivalent, equivalents};
pub use finding::{
    Action, Block, BlockedBy, Cause, Claim, Confidence, Finding, Holder, InUse, Mark, Moment, NotJudged,
    Offer, Remedy, Subject, Verdicts, VmRef, VolumeRef,
};
pub use history::History;
pub use judge::classify;
pub use line::Line;
pub use queue::{QueueState, QueuedJob, queue};
pub use rules::{Story, stories};
pub use timeline::{Timeline, timeline};
