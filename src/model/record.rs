//! A record: a row of `cloud.event` or `cloud.usage_event`, reduced to what it says of one volume.
//!
//! Events outlive jobs by months, and name no VM but in an attach's own words; usage tells of successes only.

use super::{JobId, Work};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a record was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordSource {
    /// `event`.
    Event,
    /// `usage_event`, written by the worker on success.
    Usage,
}

/// How far the work had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// `Scheduled`: asked for.
    Scheduled,
    /// `Started`: an API thread took it.
    Started,
    /// `Completed` with level INFO, or a row of `usage_event`.
    Succeeded,
    /// `Completed` with another level.
    Failed,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where it was read.
    pub source: RecordSource,
    /// `id` there.
    pub id: u64,
    /// `created`, whole seconds.
    pub time: Timestamp,
    /// Attach or detach.
    pub work: Work,
    /// How far it had come.
    pub step: Step,
    /// The event that this one belongs to: `start_id`, or its own id.
    pub start: Option<u64>,
    /// The API job whose parameters name that event.
    pub job: Option<JobId>,
    /// The VM's uuid, where the description of an attach names it.
    pub vm_uuid: Option<String>,
}

/// The records of one volume, and which tables they could be read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// By time and id.
    pub all: Vec<Record>,
    /// What could not be read, or was cut, in words.
    pub missing: Vec<String>,
    /// First 8 hex digits of the uuids of the API jobs that are still on record: what logs call them.
    pub log_ids: BTreeMap<String, JobId>,
}
