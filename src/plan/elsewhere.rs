//! Where else a disk that no row knows is open. Without a row there is no volume that could be a `double-open`; two writers
//! destroy the image all the same.

use crate::classify::{Class, Finding};
use crate::model::{HostId, Pool, SourceKey, SourceKind, seen_keys};
use crate::sight::{Held, Identity, Sight};
use std::collections::HashMap;

/// Places told of one source; of more it is said that they are.
const TOLD: usize = 3;

/// Another place of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Other {
    /// `i-2-8-VM (vdb, on kvm2)`.
    pub place: String,
    /// One image for certain: not only the same path on another host.
    pub sure: bool,
}

/// Unknown disks by their source, and by their place.
pub(super) struct Elsewhere<'s, 'e> {
    sight: &'s Sight<'e>,
    by_source: HashMap<SourceKey, Vec<Held>>,
    by_place: HashMap<(HostId, &'e str, &'e str), Held>,
}

impl<'s, 'e> Elsewhere<'s, 'e> {
    pub fn new(sight: &'s Sight<'e>) -> Self {
        let mut by_source: HashMap<SourceKey, Vec<Held>> = HashMap::new();
        let mut by_place = HashMap::new();
        let unknown = |held: &&Held| {
            matches!(sight.identity(**held), Identity::Unknown) && !sight.seats()[held.seat].twin
        };
        for held in sight.unidentified().iter().filter(unknown) {
            let seat = &sight.seats()[held.seat];
            let disk = sight.disk(*held);
            by_place.insert(
                (seat.host, seat.domain.uuid.as_str(), disk.target.as_str()),
                *held,
            );
            // One that only reads destroys nothing.
            if !disk.readonly {
                for key in keys(sight, *held) {
                    by_source.entry(key).or_default().push(*held);
                }
            }
        }
        Self {
            sight,
            by_source,
            by_place,
        }
    }

    /// Other places where the finding's disk is open for writing, unless all are marked shareable; only sure ones, if there is any.
    pub fn of(&self, finding: &Finding) -> Vec<Other> {
        let Some(holder) = finding
            .holders
            .first()
            .filter(|_| finding.class == Class::UnknownDisk)
        else {
            return Vec::new();
        };
        let target = holder.target.as_deref().unwrap_or_default();
        let own = self
            .by_place
            .get(&(holder.host_id, holder.domain_uuid.as_str(), target));
        let Some(own) = own.filter(|held| !self.sight.disk(**held).readonly) else {
            return Vec::new();
        };
        let abroad = self.one_image_on_all_hosts(*own);
        let of_key = |key| self.by_source.get(&key).into_iter().flatten().copied();
        let mut others: Vec<(bool, Held)> = Vec::new();
        for other in keys(self.sight, *own).into_iter().flat_map(of_key) {
            if others.len() > TOLD {
                break;
            }
            let here = self.sight.seats()[other.seat].host == holder.host_id;
            let known = others.iter().any(|(_, known)| *known == other);
            if let Some(sure) = Some(true).filter(|_| here).or(abroad)
                && !known
                && !self.is_the_same(*own, other)
            {
                others.push((sure, other));
            }
        }
        if others.iter().any(|(sure, _)| *sure) {
            others.retain(|(sure, _)| *sure);
        }
        let shareable = |held: &Held| self.sight.disk(*held).shareable;
        if shareable(own) && others.iter().all(|(_, other)| shareable(other)) {
            return Vec::new();
        }
        others.sort_by_key(|(_, held)| *held);
        let told = |(sure, held): (bool, Held)| Other {
            place: self.place(held),
            sure,
        };
        others.into_iter().map(told).collect()
    }

    /// One disk, or the two halves of a migration.
    fn is_the_same(&self, own: Held, other: Held) -> bool {
        let [a, b] = [own, other].map(|held| &self.sight.seats()[held.seat]);
        let twins = a.host != b.host && a.domain.uuid == b.domain.uuid;
        own == other || (twins && a.vm().is_some_and(|vm| self.sight.is_migrating(vm)))
    }

    /// Whether a source means one image on all hosts: for certain, perhaps, or (none) not.
    fn one_image_on_all_hosts(&self, held: Held) -> Option<bool> {
        let source = self.sight.disk(held).source.as_ref()?;
        if matches!(source.kind, SourceKind::Rbd | SourceKind::Gluster) {
            return Some(true);
        }
        let below = |dir: &str| {
            let rest = source.name.strip_prefix(dir);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let by_number = ["/dev/disk/by-id/", "/dev/disk/by-path/ip-", "/dev/mapper/3"];
        if by_number.iter().any(|dir| source.name.starts_with(dir)) {
            return Some(true);
        }
        let mounted = |pool: &&Pool| {
            let path = pool.path.as_deref().unwrap_or_default().trim_matches('/');
            let dirs = [
                format!("/{path}"),
                format!("/dev/{path}"),
                format!("/mnt/{}", pool.uuid),
            ];
            !path.is_empty() && dirs.iter().any(|dir| below(dir))
        };
        match self.sight.evidence.pools.iter().find(mounted) {
            // The same path on two hosts is two files.
            Some(pool) if pool.is_local() => None,
            Some(_) => Some(true),
            None => Some(false),
        }
    }

    fn place(&self, held: Held) -> String {
        let seat = &self.sight.seats()[held.seat];
        let target = &self.sight.disk(held).target;
        format!(
            "{} ({target}, on {})",
            seat.domain.name,
            self.sight.host_name(seat.host)
        )
    }
}

/// The source's spellings; its own words where its kind has none.
fn keys(sight: &Sight<'_>, held: Held) -> Vec<SourceKey> {
    let Some(source) = &sight.disk(held).source else {
        return Vec::new();
    };
    match seen_keys(source) {
        none if none.is_empty() => vec![SourceKey(format!("other:{}", source.name))],
        keys => keys,
    }
}

/// `a, b and c`; of more than a few: `a, b, c and others`.
pub(super) fn listed(others: &[Other]) -> String {
    let names: Vec<&str> = others
        .iter()
        .take(TOLD)
        .map(|other| other.place.as_str())
        .collect();
    match names.split_last() {
        _ if others.len() > TOLD => format!("{} and others", names.join(", ")),
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
