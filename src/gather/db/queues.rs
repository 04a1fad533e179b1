//! What waits and what runs: jobs, the order of the queues, and the rows that the jobs lead to. No host is asked.

use super::rows::{Rows, list};
use super::{DbError, Reader};
use crate::model::{Job, JobId, JobState, VmId, VolumeId, Work};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What one transaction read of the queues.
#[derive(Clone, Debug)]
pub struct Queues {
    /// Pending jobs, and the rows of the volumes and VMs that they name, removed ones included.
    pub rows: Rows,
    /// `sync_queue_item.id` by `async_job.id`: the lower is taken first.
    pub order: BTreeMap<JobId, u64>,
}

impl Reader {
    /// Reads pending jobs and what they lead to, in one transaction. The number of statements does not depend on how many
    /// jobs there are, but for one more per thousand volumes.
    ///
    /// # Errors
    /// When a statement fails, or a row cannot be read.
    pub fn queues(&mut self) -> Result<Queues, DbError> {
        self.begin()?;
        let now = self.read("the time", "SELECT UTC_TIMESTAMP()", |c| c.time(0))?;
        let jobs = self.jobs()?;
        let moves =
            |job: &Job| matches!(job.work, Work::Attach | Work::Detach) && job.state == JobState::Pending;
        let named: BTreeSet<VolumeId> = jobs
            .iter()
            .filter(|job| moves(job))
            .filter_map(|job| job.volume)
            .collect();
        let mut volumes = Vec::new();
        for chunk in named.into_iter().collect::<Vec<_>>().chunks(1000) {
            volumes.extend(self.volumes(&format!("v.id IN ({})", list(chunk.iter().map(|id| id.0))))?);
        }
        let claims = volumes.iter().filter_map(|v: &crate::model::Volume| v.instance);
        let meant = jobs.iter().filter(|job| moves(job)).filter_map(|job| job.vm);
        let of_jobs: BTreeSet<VmId> = claims.chain(meant).collect();
        let mut vms = Vec::new();
        for chunk in of_jobs.into_iter().collect::<Vec<_>>().chunks(1000) {
            vms.extend(self.vms(&format!("i.id IN ({})", list(chunk.iter().map(|id| id.0))))?);
        }
        let order = self.read("sync_queue_item", include_str!("../sql/queue.sql"), |c| {
            Ok((c.id(0, JobId)?, c.id(1, |id| id)?))
        })?;
        let rows = Rows {
            zones: self.zones()?,
            clusters: self.clusters()?,
            hosts: self.hosts()?,
            pools: self.pools()?,
            vms,
            volumes,
            jobs,
            reconcile: Vec::new(),
            read_at: now.into_iter().flatten().next().unwrap_or_else(Timestamp::now),
        };
        self.end()?;
        Ok(Queues {
            rows,
            order: order.into_iter().collect(),
        })
    }
}
