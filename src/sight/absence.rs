//! The proof of absence. "Nowhere" is a value that only this file can make, and only complete sight makes it.

use super::{Held, Identity, Sight, View};
use crate::evidence::GapCode;
use crate::model::{HostId, PoolType, Slot, SourceKind, Vm, Volume, ZoneId};
use std::collections::BTreeSet;

/// Proof that no domain on any host that could hold a volume has its disk.
#[derive(Debug, PartialEq, Eq)]
pub struct Absence(());

/// What stands between "not seen" and "not there".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obstacle {
    /// `host-unseen`, `empty-host`, `domain-unreadable`, `disk-unidentified`.
    pub code: &'static str,
    /// In words.
    pub why: String,
    /// The host to ask, if asking one more would help.
    pub ask: Option<HostId>,
}

/// Where a volume is.
#[derive(Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// A domain has it.
    Seen,
    /// No domain has it, and all that could was looked at.
    Nowhere(Absence),
    /// No domain was seen to have it, and that proves nothing: the first reason.
    Unknown(Obstacle),
}

impl Sight<'_> {
    /// Where a volume is. Presence is never spoiled by gaps; absence is, by each of them.
    #[must_use]
    pub fn whereabouts(&self, volume: &Volume) -> Whereabouts {
        if !self.all_holders(volume.id).is_empty() {
            return Whereabouts::Seen;
        }
        match self.obstacle(volume) {
            None => Whereabouts::Nowhere(Absence(())),
            Some(obstacle) => Whereabouts::Unknown(obstacle),
        }
    }

    /// The first thing that keeps the sight of a volume from being complete: a host that could have it and was not
    /// seen whole, or a disk that is not identified and could be it.
    #[must_use]
    pub fn obstacle(&self, volume: &Volume) -> Option<Obstacle> {
        let reach = self.reach(volume);
        let claim = volume.instance.and_then(|id| self.vm(id));
        let more = self.further_hosts(volume, claim);
        let by_host = || more.iter().find_map(|host| self.host_obstacle(*host));
        // The host that the row leads to is the one that people look at first.
        let own = claim
            .and_then(|vm| vm.host)
            .and_then(|host| self.host_obstacle(host));
        own.or_else(|| reach.hindered.clone())
            .or_else(by_host)
            .or_else(|| {
                self.disk_in_the_way(volume, claim, &more)
                    .map(|held| self.unidentified_disk(held))
            })
    }

    /// The first thing that keeps the sight of a zone from being complete.
    #[must_use]
    pub fn zone_obstacle(&self, zone: ZoneId) -> Option<Obstacle> {
        self.zone_reach(zone).hindered.clone()
    }

    /// What keeps a second domain of a VM from being ruled out.
    #[must_use]
    pub fn vm_obstacle(&self, vm: &Vm) -> Option<Obstacle> {
        let (hosts, keys) = self.places_of_vm(vm);
        let by_host = || hosts.iter().find_map(|host| self.host_obstacle(*host));
        let by_pool = keys
            .into_iter()
            .find_map(|key| self.reach_of(key).hindered.clone());
        by_pool.or_else(by_host)
    }

    /// Whether a host could hide a domain or a disk.
    #[must_use]
    pub fn host_obstacle(&self, host: HostId) -> Option<Obstacle> {
        let name = self.host_name(host);
        match self.view(host) {
            View::Seen => {
                let unreadable = &self.evidence.looks.get(&host)?.unreadable;
                let domain = unreadable.iter().min_by_key(|d| (&d.name, &d.uuid))?;
                Some(Obstacle {
                    code: "domain-unreadable",
                    why: format!(
                        "domain {} on {name} could not be read: {}",
                        domain.name, domain.reason
                    ),
                    ask: None,
                })
            }
            View::Unseen(code, reason) => Some(Obstacle {
                code: match code {
                    GapCode::EmptyHost => "empty-host",
                    GapCode::HostUnseen => "host-unseen",
                    GapCode::DomainUnreadable => "domain-unreadable",
                },
                why: format!("{name} was not read: {reason}"),
                ask: None,
            }),
            View::NotAsked { reason, gap } => Some(Obstacle {
                code: "host-unseen",
                why: format!("{name} was not asked: {reason}"),
                ask: (!gap).then_some(host),
            }),
        }
    }

    /// Hosts beyond the reach of a volume's pools on which it was seen, or on which its claim's VM should be.
    pub(super) fn further_hosts(&self, volume: &Volume, claim: Option<&Vm>) -> BTreeSet<HostId> {
        let reach = self.reach(volume);
        let held = self
            .all_holders(volume.id)
            .iter()
            .map(|held| self.seats()[held.seat].host);
        held.chain(claim.and_then(|vm| vm.host))
            .filter(|host| !reach.hosts.contains(host))
            .collect()
    }

    /// In the claim's own VM any unidentified disk could be the volume; elsewhere one that one of its witnesses names,
    /// one at the same slot, or one of the kind that the volume's pool gives.
    fn disk_in_the_way(&self, volume: &Volume, claim: Option<&Vm>, more: &BTreeSet<HostId>) -> Option<Held> {
        if let Some(held) = self.half_named.get(&volume.id).and_then(|all| all.first()) {
            return Some(*held);
        }
        if let Some(held) = claim.and_then(|vm| self.unidentified_in(vm.id).first()) {
            return Some(*held);
        }
        let slot = volume.device_id.map(Slot);
        let kind = self.kind_of(volume);
        let reach = self.reach(volume);
        let of_slot = slot.and_then(|slot| reach.slots.get(&slot));
        let of_kind = match kind {
            Some(kind) => reach.kinds.get(&kind),
            None => reach.kinds.values().next(),
        };
        let further = || {
            let mut held = more
                .iter()
                .filter_map(|host| self.unidentified_on.get(host))
                .flatten();
            held.find(|held| {
                let disk = self.disk(**held);
                let same = disk
                    .source
                    .as_ref()
                    .is_none_or(|s| kind.is_none_or(|kind| kind == s.kind));
                same || (slot.is_some() && Slot::of_target(&disk.target) == slot)
            })
        };
        of_slot.or(of_kind).or_else(further).copied()
    }

    /// A disk that is not identified, as what stands in the way.
    #[must_use]
    pub fn unidentified_disk(&self, held: Held) -> Obstacle {
        let seat = &self.seats()[held.seat];
        let how = match self.identity(held) {
            Identity::Conflict { .. } => "is named differently by its serial and its source",
            Identity::Ambiguous(_) => "stands on a source that several rows have",
            Identity::Volume(_) | Identity::NoVolume | Identity::Unknown => "is not identified",
        };
        Obstacle {
            code: "disk-unidentified",
            why: format!(
                "disk {} of {} on {} {how} and could be it",
                self.disk(held).target,
                seat.domain.name,
                self.host_name(seat.host)
            ),
            ask: None,
        }
    }

    fn kind_of(&self, volume: &Volume) -> Option<SourceKind> {
        match self.pool(volume.pool?)?.kind {
            PoolType::Rbd => Some(SourceKind::Rbd),
            PoolType::Gluster => Some(SourceKind::Gluster),
            PoolType::NetworkFilesystem
            | PoolType::SharedMountPoint
            | PoolType::Filesystem
            | PoolType::ManagedNfs => Some(SourceKind::File),
            PoolType::Clvm
            | PoolType::ClvmNg
            | PoolType::PowerFlex
            | PoolType::StorPool
            | PoolType::Linstor
            | PoolType::FiberChannel
            | PoolType::NvmeTcp
            | PoolType::Iscsi => Some(SourceKind::Block),
            _ => None,
        }
    }
}
