//! What proves a straggler by itself: an agent that found no disk, called it detached, and named the domain.

use super::Log;
use super::moment::{Kind, LogMoment, Witness};
use crate::model::JobId;
use jiff::Timestamp;

/// "Could not find disk … We will set it as detached in the database", of a wanted volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// When the agent said so, by its host's clock.
    pub time: Timestamp,
    /// Whether that time may be another instant.
    pub doubtful: bool,
    /// The agent's host.
    pub host: String,
    /// The log.
    pub server: String,
    /// Joins it to the API job.
    pub log_id: Option<String>,
    /// The API job, where a management log or the database told its log id.
    pub job: Option<JobId>,
    /// The volume's uuid, or its path where no uuid is known.
    pub volume: String,
    /// The domain that was to lose the disk, and did not have it.
    pub domain: String,
}

impl Fingerprint {
    /// Whether it proves that the row of `holder`'s attachment was cleared by a detach meant for another domain. Of the
    /// holder's own domain it proves nothing: an unplug that came late looks the same.
    #[must_use]
    pub fn is_of_another_than(&self, holder: &str) -> bool {
        !self.domain.eq_ignore_ascii_case(holder)
    }
}

/// All of a log's, in its order.
#[must_use]
pub fn fingerprints(log: &Log) -> Vec<Fingerprint> {
    log.moments.iter().filter_map(of).collect()
}

fn of(moment: &LogMoment) -> Option<Fingerprint> {
    let (Kind::NotFoundSetDetached, Witness::Agent(host)) = (&moment.kind, &moment.witness) else {
        return None;
    };
    Some(Fingerprint {
        time: moment.time,
        doubtful: moment.ambiguous || moment.out_of_order,
        host: host.clone(),
        server: moment.server.clone(),
        log_id: moment.log_id.clone(),
        job: moment.job,
        volume: moment.volume.clone()?,
        domain: moment.vm.as_ref()?.uuid.clone()?,
    })
}
