//! How far one has to look for a volume: which hosts could have it, and what of them was not seen.
//!
//! Volumes of the same pools share one reach, so that a hundred thousand suspects cost no more than a few.

use super::{Held, Obstacle, Sight};
use crate::model::{ClusterId, HostId, Pool, PoolId, PoolScope, Slot, SourceKind, Vm, VmId, Volume, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What decides how far to look: pool, last pool, zone.
pub(super) type Key = (Option<PoolId>, Option<PoolId>, ZoneId);

/// The hosts that could have a volume, and what hinders the sight of them.
#[derive(Debug, Default)]
pub(super) struct Reach {
    pub hosts: BTreeSet<HostId>,
    /// The first hindrance of the first host that has one.
    pub hindered: Option<Obstacle>,
    /// Hosts that were not asked and would help.
    pub ask: Vec<HostId>,
    /// Unidentified disks on these hosts: the first of every kind of source, and of every slot.
    pub kinds: BTreeMap<SourceKind, Held>,
    pub slots: BTreeMap<Slot, Held>,
}

/// Hosts out of scope that suspects make worth asking. Suspects of the same pools want the same hosts.
#[derive(Debug, Default)]
pub struct Asked {
    /// The hosts.
    pub hosts: BTreeSet<HostId>,
    done: BTreeSet<Key>,
    vms: BTreeSet<VmId>,
}

impl Sight<'_> {
    /// Adds the hosts that would complete the sight of a volume.
    pub fn ask_for(&self, volume: &Volume, asked: &mut Asked) {
        self.ask_in((volume.pool, volume.last_pool, volume.zone), asked);
        let claim = volume.instance.and_then(|id| self.vm(id));
        let more = self.further_hosts(volume, claim);
        asked
            .hosts
            .extend(more.iter().filter_map(|host| self.host_obstacle(*host)?.ask));
    }

    /// Adds the hosts that would rule out a second domain of a VM.
    pub fn ask_for_vm(&self, vm: &Vm, asked: &mut Asked) {
        if !asked.vms.insert(vm.id) {
            return;
        }
        let (hosts, keys) = self.places_of_vm(vm);
        asked
            .hosts
            .extend(hosts.iter().filter_map(|host| self.host_obstacle(*host)?.ask));
        keys.into_iter().for_each(|key| self.ask_in(key, asked));
    }

    /// Adds the hosts of a zone.
    pub fn ask_in_zone(&self, zone: ZoneId, asked: &mut Asked) {
        self.ask_in((None, None, zone), asked);
    }

    fn ask_in(&self, key: Key, asked: &mut Asked) {
        if asked.done.insert(key) {
            asked.hosts.extend(self.reach_of(key).ask.iter().copied());
        }
    }

    pub(super) fn reach(&self, volume: &Volume) -> Rc<Reach> {
        self.reach_of((volume.pool, volume.last_pool, volume.zone))
    }

    /// Every host of a zone.
    pub(super) fn zone_reach(&self, zone: ZoneId) -> Rc<Reach> {
        self.reach_of((None, None, zone))
    }

    pub(super) fn reach_of(&self, key: Key) -> Rc<Reach> {
        if let Some(known) = self.reaches.borrow().get(&key) {
            return Rc::clone(known);
        }
        let reach = Rc::new(self.survey(key));
        self.reaches.borrow_mut().insert(key, Rc::clone(&reach));
        reach
    }

    fn survey(&self, key: Key) -> Reach {
        let hosts = self.hosts_in(key);
        let mut reach = Reach::default();
        for host in &hosts {
            if let Some(obstacle) = self.host_obstacle(*host) {
                reach.ask.extend(obstacle.ask);
                reach.hindered.get_or_insert(obstacle);
            }
            for held in self.unidentified_on.get(host).into_iter().flatten() {
                let disk = self.disk(*held);
                if let Some(source) = &disk.source {
                    reach.kinds.entry(source.kind).or_insert(*held);
                }
                if let Some(slot) = Slot::of_target(&disk.target) {
                    reach.slots.entry(slot).or_insert(*held);
                }
            }
        }
        reach.hosts = hosts;
        reach
    }

    /// In the scope of the pool, of the last pool, and of every pool row on the same backend. A pool whose row is not
    /// at hand could be anywhere in the zone.
    fn hosts_in(&self, (pool, last, zone): Key) -> BTreeSet<HostId> {
        let mut hosts = BTreeSet::new();
        let own: Vec<Option<&Pool>> = [pool, last]
            .into_iter()
            .flatten()
            .map(|id| self.pool(id))
            .collect();
        if pool.is_none() || own.contains(&None) {
            self.add_zone(Some(zone), &mut hosts);
        }
        let mut done: BTreeSet<PoolId> = BTreeSet::new();
        for pool in own.into_iter().flatten() {
            let same = |other: &&Pool| other.id == pool.id || pool.same_backend(other);
            for other in self.evidence.pools.iter().filter(same) {
                if done.insert(other.id) {
                    self.add_scope(other, zone, &mut hosts);
                }
            }
        }
        hosts
    }

    fn add_scope(&self, pool: &Pool, zone: ZoneId, hosts: &mut BTreeSet<HostId>) {
        let zone = pool.zone.unwrap_or(zone);
        let unsaid = || match pool.cluster {
            Some(_) => PoolScope::Cluster,
            None => PoolScope::Zone,
        };
        match (pool.scope.clone().unwrap_or_else(unsaid), pool.cluster) {
            (PoolScope::Host, _) if !pool.hosts.is_empty() => hosts.extend(pool.hosts.iter().copied()),
            (PoolScope::Cluster, Some(cluster)) => self.add_cluster(cluster, zone, hosts),
            (PoolScope::Host | PoolScope::Cluster | PoolScope::Zone, _) => self.add_zone(Some(zone), hosts),
            // A region, or a word that is not known: anywhere.
            (PoolScope::Region | PoolScope::Other(_), _) => self.add_zone(None, hosts),
        }
    }

    /// The hosts of a cluster; a host of no known cluster could be its.
    fn add_cluster(&self, cluster: ClusterId, zone: ZoneId, hosts: &mut BTreeSet<HostId>) {
        hosts.extend(&self.ghosts);
        let of = self.hosts.iter().filter(|h| match h.cluster {
            Some(own) => own == cluster,
            None => h.zone == zone,
        });
        hosts.extend(of.map(|h| h.id));
    }

    fn add_zone(&self, zone: Option<ZoneId>, hosts: &mut BTreeSet<HostId>) {
        hosts.extend(&self.ghosts);
        let of = self
            .hosts
            .iter()
            .filter(|h| zone.is_none_or(|zone| h.zone == zone));
        hosts.extend(of.map(|h| h.id));
    }

    /// Hosts on which a VM's domain could be: its own by the row, and those that its volumes could be on.
    pub(super) fn places_of_vm(&self, vm: &Vm) -> (BTreeSet<HostId>, BTreeSet<Key>) {
        let own = [vm.host, vm.last_host, vm.power_host];
        let hosts = own
            .into_iter()
            .flatten()
            .filter(|id| self.host(*id).is_some())
            .collect();
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for volume in self.volumes_of(vm.id).iter().filter_map(|id| self.volume(*id)) {
            keys.insert((volume.pool, volume.last_pool, volume.zone));
        }
        if keys.is_empty() {
            keys.insert((None, None, vm.zone));
        }
        (hosts, keys)
    }
}
