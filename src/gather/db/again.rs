//! The second read: the same rows in a new transaction. What differs moved during the look.

use super::rows::{Rows, list};
use super::{DbError, Reader};
use crate::evidence::{Moved, Scope};
use crate::model::{JobState, Vm, VmId, Volume, VolumeId};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the second read found.
#[derive(Clone, Debug)]
pub struct Again {
    /// What differs.
    pub moved: Moved,
    /// When, by the database's clock.
    pub read_at: Timestamp,
}

impl Reader {
    /// Reads the rows again and puts them in place of the first ones. Jobs that were pending and are so no longer make
    /// their volume or VM one that moved.
    ///
    /// # Errors
    /// When a statement fails, or a row cannot be read.
    pub fn again(&mut self, scope: &Scope, rows: &mut Rows) -> Result<Again, DbError> {
        self.begin()?;
        let mut now = self.rows_now(scope)?;
        let have: BTreeSet<VolumeId> = now.volumes.iter().map(|v| v.id).collect();
        let gone: Vec<VolumeId> = rows
            .volumes
            .iter()
            .map(|v| v.id)
            .filter(|id| !have.contains(id))
            .collect();
        for chunk in gone.chunks(1000) {
            let filter = format!("v.id IN ({})", list(chunk.iter().map(|id| id.0)));
            now.volumes.extend(self.volumes(&filter)?);
        }
        let have: BTreeSet<VmId> = now.vms.iter().map(|vm| vm.id).collect();
        let gone: Vec<VmId> = rows
            .vms
            .iter()
            .map(|vm| vm.id)
            .filter(|id| !have.contains(id))
            .collect();
        for chunk in gone.chunks(1000) {
            let filter = format!("i.id IN ({})", list(chunk.iter().map(|id| id.0)));
            now.vms.extend(self.vms(&filter)?);
        }
        self.end()?;
        now.volumes.sort_by_key(|v| v.id);
        now.vms.sort_by_key(|vm| vm.id);
        let mut moved = Moved {
            volumes: differing(&rows.volumes, &now.volumes, |v| v.id, Volume::same_row),
            vms: differing(&rows.vms, &now.vms, |vm| vm.id, same_vm),
        };
        let states: HashMap<_, JobState> = now.jobs.iter().map(|job| (job.id, job.state)).collect();
        for job in rows.jobs.iter().filter(|job| job.state == JobState::Pending) {
            if states.get(&job.id) != Some(&JobState::Pending) {
                moved.volumes.extend(job.volume);
                moved.vms.extend(job.vm.filter(|_| job.volume.is_none()));
            }
        }
        let read_at = now.read_at;
        now.read_at = rows.read_at;
        *rows = now;
        Ok(Again { moved, read_at })
    }
}

fn same_vm(a: &Vm, b: &Vm) -> bool {
    (&a.uuid, &a.instance, &a.state, a.host, a.last_host, a.removed)
        == (&b.uuid, &b.instance, &b.state, b.host, b.last_host, b.removed)
}

/// Rows that differ, came, or went.
fn differing<T, K: Ord + Copy>(
    before: &[T],
    after: &[T],
    id: fn(&T) -> K,
    same: fn(&T, &T) -> bool,
) -> BTreeSet<K> {
    let mut old: BTreeMap<K, &T> = before.iter().map(|row| (id(row), row)).collect();
    let mut out: BTreeSet<K> = after
        .iter()
        .filter(|row| old.remove(&id(row)).is_none_or(|old| !same(old, row)))
        .map(id)
        .collect();
    out.extend(old.into_keys());
    out
}
