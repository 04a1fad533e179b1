//! Which hosts were seen, and which of them a volume could be on.

use super::Sight;
use crate::evidence::{GapCode, Status};
use crate::model::{HostId, Pool, PoolScope, VmState, Volume};
use std::collections::{BTreeSet, HashSet};

/// What may be concluded from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View<'e> {
    /// Read whole: what it does not show is not there.
    Seen,
    /// Should have been read whole and was not: what it does show still stands.
    Unseen(GapCode, String),
    /// Not asked, on purpose; `gap` if it was told to be skipped.
    NotAsked {
        /// In words.
        reason: &'e str,
        /// Counts as not seen.
        gap: bool,
    },
}

impl<'e> Sight<'e> {
    /// What may be concluded from a host. An empty inventory where the rows promise VMs is no inventory.
    #[must_use]
    pub fn view(&self, host: HostId) -> View<'e> {
        let Some(look) = self.evidence.looks.get(&host) else {
            return if self.host(host).is_some() {
                View::NotAsked {
                    reason: "out of scope",
                    gap: false,
                }
            } else {
                View::Unseen(
                    GapCode::HostUnseen,
                    "the host's row is removed or unknown".to_owned(),
                )
            };
        };
        match &look.status {
            Status::Seen if look.domains.is_empty() && look.unreadable.is_empty() => {
                let promised = self.promised(host);
                if promised == 0 {
                    View::Seen
                } else {
                    View::Unseen(
                        GapCode::EmptyHost,
                        format!("it answered, but shows no domain where the rows promise {promised}"),
                    )
                }
            }
            Status::Seen => View::Seen,
            Status::Unseen { code, reason } => View::Unseen(*code, reason.clone()),
            Status::NotAsked { reason, gap } => View::NotAsked { reason, gap: *gap },
        }
    }

    /// Read whole, and no reason to doubt it.
    #[must_use]
    pub fn is_seen(&self, host: HostId) -> bool {
        matches!(self.view(host), View::Seen)
    }

    fn promised(&self, host: HostId) -> usize {
        self.vms()
            .filter(|vm| vm.removed.is_none() && vm.is_kvm())
            .filter(|vm| vm.state == VmState::Running && vm.host == Some(host))
            .count()
    }

    /// Every host that could hold a volume: in the scope of its pool, of its last pool, of every pool row on the same
    /// backend, plus any host that was seen holding it.
    #[must_use]
    pub fn hosts_of(&self, volume: &Volume) -> BTreeSet<HostId> {
        let mut hosts: BTreeSet<HostId> = self
            .holders(volume.id)
            .iter()
            .map(|held| self.seats()[held.seat].host)
            .collect();
        let own: Vec<&Pool> = [volume.pool, volume.last_pool]
            .into_iter()
            .flatten()
            .filter_map(|id| self.pool(id))
            .collect();
        if own.is_empty() || volume.pool.is_none() {
            hosts.extend(
                self.evidence
                    .hosts
                    .iter()
                    .filter(|h| h.zone == volume.zone)
                    .map(|h| h.id),
            );
        }
        let mut done = HashSet::new();
        for pool in &own {
            for other in self
                .evidence
                .pools
                .iter()
                .filter(|p| p.id == pool.id || pool.same_backend(p))
            {
                if done.insert(other.id) {
                    self.add_scope(other, volume, &mut hosts);
                }
            }
        }
        hosts
    }

    fn add_scope(&self, pool: &Pool, volume: &Volume, hosts: &mut BTreeSet<HostId>) {
        let all = &self.evidence.hosts;
        let scope = pool.scope.clone().unwrap_or(if pool.cluster.is_some() {
            PoolScope::Cluster
        } else {
            PoolScope::Zone
        });
        match scope {
            PoolScope::Host if !pool.hosts.is_empty() => hosts.extend(pool.hosts.iter().copied()),
            PoolScope::Cluster if pool.cluster.is_some() => {
                hosts.extend(all.iter().filter(|h| h.cluster == pool.cluster).map(|h| h.id));
            }
            _ => {
                let zone = pool.zone.unwrap_or(volume.zone);
                hosts.extend(all.iter().filter(|h| h.zone == zone).map(|h| h.id));
            }
        }
    }
}
