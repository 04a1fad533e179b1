//! The proof of absence. "Nowhere" is a value that only this file can make, and only complete sight makes it.

use super::{Held, Identity, Sight, View};
use crate::model::{HostId, PoolType, Slot, SourceKind, Vm, Volume};
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
    /// No domain was seen to have it, and that proves nothing.
    Unknown(Vec<Obstacle>),
}

impl Sight<'_> {
    /// Where a volume is. Presence is never spoiled by gaps; absence is, by each of them.
    #[must_use]
    pub fn whereabouts(&self, volume: &Volume) -> Whereabouts {
        if !self.holders(volume.id).is_empty() {
            return Whereabouts::Seen;
        }
        let obstacles = self.obstacles(volume);
        if obstacles.is_empty() {
            Whereabouts::Nowhere(Absence(()))
        } else {
            Whereabouts::Unknown(obstacles)
        }
    }

    /// Everything that keeps complete sight of a volume from being complete; the first hindrance of each host.
    #[must_use]
    pub fn obstacles(&self, volume: &Volume) -> Vec<Obstacle> {
        let mut hosts = self.hosts_of(volume);
        let claim = volume.instance.and_then(|id| self.vm(id));
        hosts.extend(claim.and_then(|vm| vm.host));
        let mut out = Vec::new();
        for host in &hosts {
            out.extend(self.host_obstacle(*host));
        }
        out.extend(self.disk_obstacles(volume, claim, &hosts));
        out
    }

    /// Whether a host could hide a domain or a disk.
    #[must_use]
    pub fn host_obstacle(&self, host: HostId) -> Option<Obstacle> {
        let name = self.host_name(host);
        match self.view(host) {
            View::Seen => {
                let domain = self.evidence.looks.get(&host)?.unreadable.first()?;
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
                    crate::evidence::GapCode::EmptyHost => "empty-host",
                    crate::evidence::GapCode::HostUnseen => "host-unseen",
                    crate::evidence::GapCode::DomainUnreadable => "domain-unreadable",
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

    fn disk_obstacles(&self, volume: &Volume, claim: Option<&Vm>, hosts: &BTreeSet<HostId>) -> Vec<Obstacle> {
        let mut out = Vec::new();
        for held in self.unidentified() {
            let seat = &self.seats()[held.seat];
            let own = claim.is_some_and(|vm| seat.vm() == Some(vm.id));
            if (own || hosts.contains(&seat.host)) && self.could_be(*held, volume, own) {
                out.push(Obstacle {
                    code: "disk-unidentified",
                    why: format!(
                        "disk {} of {} on {} is not identified and could be it",
                        self.disk(*held).target,
                        seat.domain.name,
                        self.host_name(seat.host)
                    ),
                    ask: None,
                });
            }
        }
        out
    }

    /// In the claim's own VM any unidentified disk could be the volume; elsewhere one at the same slot, or of the kind
    /// that the volume's pool gives.
    fn could_be(&self, held: Held, volume: &Volume, own: bool) -> bool {
        let disk = self.disk(held);
        let named = match self.identity(held) {
            Identity::Conflict { serial, source } => *serial == volume.id || *source == volume.id,
            Identity::Ambiguous(ids) => ids.contains(&volume.id),
            Identity::Volume(_) | Identity::NoVolume | Identity::Unknown => false,
        };
        let slot = volume
            .device_id
            .is_some_and(|id| Slot::of_target(&disk.target) == Some(Slot(id)));
        let kind = match (self.kind_of(volume), disk.source.as_ref()) {
            (Some(kind), Some(source)) => kind == source.kind,
            _ => true,
        };
        own || named || slot || kind
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
