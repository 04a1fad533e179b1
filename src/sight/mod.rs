//! Sight: what the evidence shows, and what it can prove.
//!
//! *Comes in*: evidence. *Goes out*: which disk is which volume, which domain is which VM, what is in flux, and
//! three-valued answers to "where is it": seen, nowhere (with a proof), or not known (with the reason). *Never*: a
//! verdict, I/O, a clock. Hiding a host, a domain or a row may turn an answer into "not known", never into "nowhere".

mod absence;
mod flux;
mod hosts;
mod identify;
mod place;
mod reach;
mod slots;
mod table;

pub use absence::{Absence, Obstacle, Whereabouts};
pub use flux::Flux;
pub use hosts::View;
pub use identify::{Identity, Named};
pub use reach::Asked;
pub use slots::Taken;

use crate::evidence::{Evidence, Unreadable};
use crate::model::{
    Cluster, ClusterId, Device, Disk, Domain, Host, HostId, Job, Pool, PoolId, Slot, Vm, VmId, VmState,
    Volume, VolumeId,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use table::{Lists, NumberMap, Table};

/// Which VM a domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The VM's: its name, and its uuid where the row has one.
    Vm(VmId),
    /// The VM's name with another uuid, or its uuid under another name: that VM cannot be told.
    Mismatch(VmId),
    /// No VM of CloudStack's: a rescue guest, an import helper, `DUMMY-VM-*`.
    Foreign,
}

/// An active domain on a host.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'e> {
    /// The host.
    pub host: HostId,
    /// The domain.
    pub domain: &'e Domain,
    /// Whose it is.
    pub who: Who,
    /// The silent half of a migration: the same domain runs elsewhere, and this one is paused by the migration.
    pub twin: bool,
}

impl Seat<'_> {
    /// The VM that the domain is, if that is certain.
    #[must_use]
    pub fn vm(&self) -> Option<VmId> {
        match self.who {
            Who::Vm(id) => Some(id),
            Who::Mismatch(_) | Who::Foreign => None,
        }
    }

    /// A paused helper that CloudStack starts for an incremental snapshot of a stopped VM (4.21).
    #[must_use]
    pub fn is_snapshot_helper(&self) -> bool {
        self.domain.name.starts_with("DUMMY-VM-")
    }
}

/// One disk of one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Index into [`Sight::seats`].
    pub seat: usize,
    /// Index into the domain's disks.
    pub disk: usize,
}

/// Indexes over one evidence.
pub struct Sight<'e> {
    /// What they stand on.
    pub evidence: &'e Evidence,
    volumes: Table<'e, VolumeId, Volume>,
    vms: Table<'e, VmId, Vm>,
    pools: Table<'e, PoolId, Pool>,
    hosts: Table<'e, HostId, Host>,
    clusters: Table<'e, ClusterId, Cluster>,
    /// Running VMs by the host that their rows name.
    promised: NumberMap<HostId, usize>,
    /// Hosts that have no row, and on which rows of running VMs say that they are: gone or not, nobody knows.
    ghosts: BTreeSet<HostId>,
    volumes_of: NumberMap<VmId, Vec<VolumeId>>,
    seats: Vec<Seat<'e>>,
    seats_of: NumberMap<VmId, Vec<usize>>,
    mismatched: BTreeSet<VmId>,
    identities: Vec<Vec<Identity>>,
    /// By the position of a volume's row.
    holders: Lists<Held>,
    unidentified: Vec<Held>,
    unidentified_on: NumberMap<HostId, Vec<Held>>,
    unidentified_in: NumberMap<VmId, Vec<Held>>,
    /// Disks that one of two witnesses, or one of several rows, says are the volume.
    half_named: NumberMap<VolumeId, Vec<Held>>,
    volume_flux: NumberMap<VolumeId, Flux>,
    vm_flux: NumberMap<VmId, Flux>,
    /// By id, so that the order in which they were read changes nothing.
    jobs: Vec<&'e Job>,
    /// Jobs that are pending, or whose thread may still act, by what they name.
    acting_on_volume: NumberMap<VolumeId, Vec<&'e Job>>,
    acting_on_vm: NumberMap<VmId, Vec<&'e Job>>,
    unplaced: Option<&'e Job>,
    /// Domains that could not be read, with their hosts.
    unreadable: HashMap<&'e str, Vec<(HostId, &'e Unreadable)>>,
    reaches: RefCell<BTreeMap<reach::Key, Rc<reach::Reach>>>,
}

impl<'e> Sight<'e> {
    /// Looks through evidence once.
    #[must_use]
    pub fn new(evidence: &'e Evidence) -> Self {
        let mut sight = Self {
            evidence,
            volumes: Table::new(&evidence.volumes, |v| v.id),
            vms: Table::new(&evidence.vms, |v| v.id),
            pools: Table::new(&evidence.pools, |p| p.id),
            hosts: Table::new(&evidence.hosts, |h| h.id),
            clusters: Table::new(&evidence.clusters, |c| c.id),
            promised: NumberMap::default(),
            ghosts: BTreeSet::new(),
            volumes_of: NumberMap::default(),
            seats: Vec::new(),
            seats_of: NumberMap::default(),
            mismatched: BTreeSet::new(),
            identities: Vec::new(),
            holders: Lists::new(0, Vec::new()),
            unidentified: Vec::new(),
            unidentified_on: NumberMap::default(),
            unidentified_in: NumberMap::default(),
            half_named: NumberMap::default(),
            volume_flux: NumberMap::default(),
            vm_flux: NumberMap::default(),
            jobs: evidence.jobs.iter().collect(),
            acting_on_volume: NumberMap::default(),
            acting_on_vm: NumberMap::default(),
            unplaced: None,
            unreadable: HashMap::new(),
            reaches: RefCell::default(),
        };
        sight.volumes_of.reserve(sight.vms.len());
        sight.seats_of.reserve(sight.vms.len());
        for volume in sight.volumes.iter().filter(|v| v.removed.is_none()) {
            if let Some(vm) = volume.instance {
                sight.volumes_of.entry(vm).or_default().push(volume.id);
            }
        }
        let runs = |vm: &&Vm| vm.removed.is_none() && vm.is_kvm() && vm.state == VmState::Running;
        for host in sight.vms.iter().filter(runs).filter_map(|vm| vm.host) {
            *sight.promised.entry(host).or_default() += 1;
        }
        let gone = sight.promised.keys().filter(|id| sight.hosts.get(**id).is_none());
        sight.ghosts = gone.copied().collect();
        for (host, look) in &evidence.looks {
            for domain in &look.unreadable {
                let names = std::iter::once(domain.name.as_str()).chain(domain.uuid.as_deref());
                names.for_each(|name| sight.unreadable.entry(name).or_default().push((*host, domain)));
            }
        }
        sight.index_jobs();
        sight.place_domains();
        sight.identify_disks();
        sight.find_flux();
        sight
    }

    /// All volumes, by id.
    pub fn volumes(&self) -> impl Iterator<Item = &'e Volume> + '_ {
        self.volumes.iter()
    }

    /// All VMs, by id.
    pub fn vms(&self) -> impl Iterator<Item = &'e Vm> + '_ {
        self.vms.iter()
    }

    /// A volume's row.
    #[must_use]
    pub fn volume(&self, id: VolumeId) -> Option<&'e Volume> {
        self.volumes.get(id)
    }

    /// A VM's row.
    #[must_use]
    pub fn vm(&self, id: VmId) -> Option<&'e Vm> {
        self.vms.get(id)
    }

    /// A pool's row.
    #[must_use]
    pub fn pool(&self, id: PoolId) -> Option<&'e Pool> {
        self.pools.get(id)
    }

    /// A host's row; none if it is unknown, or removed and of no running VM.
    #[must_use]
    pub fn host(&self, id: HostId) -> Option<&'e Host> {
        self.hosts.get(id)
    }

    /// A host's name, or its number where it has no row.
    #[must_use]
    pub fn host_name(&self, id: HostId) -> String {
        self.host(id)
            .map_or_else(|| format!("host {id}"), |h| h.name.clone())
    }

    /// Live rows that claim a VM, by id.
    #[must_use]
    pub fn volumes_of(&self, vm: VmId) -> &[VolumeId] {
        self.volumes_of.get(&vm).map_or(&[], Vec::as_slice)
    }

    /// All active domains that were read, by host and name.
    #[must_use]
    pub fn seats(&self) -> &[Seat<'e>] {
        &self.seats
    }

    /// The domains of a VM, silent twins of a migration left out.
    #[must_use]
    pub fn seats_of(&self, vm: VmId) -> Vec<usize> {
        let all = self.seats_of.get(&vm).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|s| !self.seats[*s].twin).collect()
    }

    /// Whether a domain bears the VM's name with another uuid, or its uuid under another name.
    #[must_use]
    pub fn is_mismatched(&self, vm: VmId) -> bool {
        self.mismatched.contains(&vm)
    }

    /// A disk that was found by [`Held`].
    #[must_use]
    pub fn disk(&self, held: Held) -> &'e Disk {
        &self.seats[held.seat].domain.disks[held.disk]
    }

    /// Which volume a disk is.
    #[must_use]
    pub fn identity(&self, held: Held) -> &Identity {
        &self.identities[held.seat][held.disk]
    }

    /// Every disk of every seat.
    pub fn disks(&self) -> impl Iterator<Item = Held> + '_ {
        self.identities
            .iter()
            .enumerate()
            .flat_map(|(seat, disks)| (0..disks.len()).map(move |disk| Held { seat, disk }))
    }

    /// The disks that are this volume's, silent twins of a migration left out. While a VM migrates, its domain on two
    /// hosts counts once; a snapshot's helper does not count while the snapshot is taken.
    #[must_use]
    pub fn holders(&self, volume: VolumeId) -> Vec<Held> {
        let all = self.all_holders(volume);
        if all.is_empty() {
            return Vec::new();
        }
        let snapshotting = self
            .volume(volume)
            .is_some_and(|v| v.state == crate::model::VolumeState::Snapshotting);
        let mut out: Vec<Held> = Vec::with_capacity(all.len());
        for held in all {
            let seat = &self.seats[held.seat];
            if seat.twin || (snapshotting && seat.is_snapshot_helper()) {
                continue;
            }
            let migrating = seat
                .vm()
                .is_some_and(|vm| self.is_migrating(vm) && !self.is_split_for_long(vm));
            let again = out
                .iter()
                .any(|h| h.seat != held.seat && self.seats[h.seat].domain.uuid == seat.domain.uuid);
            if !(migrating && again) {
                out.push(*held);
            }
        }
        out
    }

    /// All disks of a volume, silent twins and helpers among them.
    pub(super) fn all_holders(&self, volume: VolumeId) -> &[Held] {
        let row = self.volumes.position(volume);
        row.map_or(&[], |row| self.holders.of(row))
    }

    /// Whether row and disk agree, and nothing could make it otherwise: the one disk of a live volume, in the one domain
    /// of the running VM that the row names, at the row's slot, with nobody at work. A shortcut for what is most.
    #[must_use]
    pub fn is_plainly_healthy(&self, volume: &Volume) -> bool {
        let (Some(vm), [held]) = (
            volume.instance.and_then(|id| self.vm(id)),
            self.all_holders(volume.id),
        ) else {
            return false;
        };
        let seat = &self.seats[held.seat];
        seat.vm() == Some(vm.id)
            && !seat.twin
            && vm.removed.is_none()
            && vm.state == VmState::Running
            && !volume.is_deleted()
            && volume.device_id == Slot::of_target(&self.disk(*held).target).map(|slot| slot.0)
            && !self.half_named.contains_key(&volume.id)
            && self.volume_flux(volume.id).is_none()
            && self.vm_flux(vm.id).is_none()
    }

    /// Disks with a source that are no volume volrecon knows, and not surely something else; `lun` devices among them.
    #[must_use]
    pub fn unidentified(&self) -> &[Held] {
        &self.unidentified
    }

    /// Those of a VM's domains.
    #[must_use]
    pub fn unidentified_in(&self, vm: VmId) -> &[Held] {
        self.unidentified_in.get(&vm).map_or(&[], Vec::as_slice)
    }

    /// Disks that stand on a volume's source and may be another's: by their serial, or by another row of that source.
    pub fn conflicting(&self, volume: VolumeId) -> impl Iterator<Item = Held> + '_ {
        let all = self.half_named.get(&volume).map_or(&[][..], Vec::as_slice);
        let stands = move |held: &Held| match self.identity(*held) {
            Identity::Conflict { source, .. } => *source == volume,
            Identity::Ambiguous(ids) => ids.contains(&volume),
            Identity::Volume(_) | Identity::NoVolume | Identity::Unknown => false,
        };
        all.iter()
            .copied()
            .filter(stands)
            .filter(|held| !self.seats[held.seat].twin)
    }

    /// Domains of a VM that are there and could not be read, and the hosts.
    pub fn unreadable_of(&self, vm: &Vm) -> impl Iterator<Item = (HostId, &'e Unreadable)> + '_ {
        let uuid = vm.domain_uuid();
        let by_name = self.unreadable.get(vm.instance.as_str()).into_iter().flatten();
        let by_uuid = uuid
            .and_then(|uuid| self.unreadable.get(uuid.as_str()))
            .into_iter()
            .flatten();
        by_name.chain(by_uuid).copied()
    }

    /// Whether volrecon judges a volume: those of other hypervisors never.
    #[must_use]
    pub fn is_judged(&self, volume: &Volume) -> bool {
        if let Some(vm) = volume.instance.and_then(|id| self.vm(id)) {
            return vm.is_kvm();
        }
        let Some(pool) = volume.pool.and_then(|id| self.pool(id)) else {
            return true;
        };
        let kvm = |h: &str| h.eq_ignore_ascii_case("KVM") || h.eq_ignore_ascii_case("Any");
        let cluster = pool.cluster.and_then(|id| self.clusters.get(id));
        let by_cluster = cluster.and_then(|c| c.hypervisor.as_deref()).is_none_or(kvm);
        by_cluster && pool.hypervisor.as_deref().is_none_or(kvm) && !pool.kind.is_foreign()
    }

    /// Whether a disk can be a volume at all.
    fn can_be_volume(disk: &Disk) -> bool {
        disk.device == Device::Disk && disk.source.is_some()
    }
}
