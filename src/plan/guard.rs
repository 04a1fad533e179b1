//! Guards: preconditions of a remedy that rows and XML can decide. Each names itself and says what it saw.

use crate::model::{
    Job, JobState, Pool, PoolType, Slot, Vm, VmId, VmState, VmType, Volume, VolumeState, VolumeType, Work,
};
use crate::sight::{Flux, Held, Identity, Sight};
use std::collections::BTreeSet;

/// A guard that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// Its name.
    pub code: &'static str,
    /// What it saw.
    pub why: String,
}

/// Everything that the guards of one remedy look at.
pub(super) struct Guards<'s, 'e> {
    pub sight: &'s Sight<'e>,
    pub troubled: &'s BTreeSet<VmId>,
    pub volume: &'e Volume,
    /// The VM whose row or domain is changed.
    pub vm: &'e Vm,
    /// The disk, where there is one.
    pub held: Option<Held>,
}

type Check = Option<Broken>;

fn broken(yes: bool, code: &'static str, why: impl FnOnce() -> String) -> Check {
    yes.then(|| Broken { code, why: why() })
}

impl Guards<'_, '_> {
    /// The first guard that every change of a row must pass and that does not hold.
    pub fn row(&self) -> Check {
        self.known_schema()
            .or_else(|| self.basics())
            .or_else(|| self.volume_ready())
            .or_else(|| self.no_backup_offering())
            .or_else(|| self.no_vm_snapshot())
    }

    /// What every remedy needs: the law that some things are never repaired, a VM that is settled, nobody at work, and
    /// complete sight.
    pub fn basics(&self) -> Check {
        self.data_volume()
            .or_else(|| self.same_owner())
            .or_else(|| self.vm())
            .or_else(|| self.no_jobs())
            .or_else(|| self.no_flux())
            .or_else(|| self.complete_sight())
            .or_else(|| self.whole_vm())
    }

    /// The VM that is changed, and the one that the row names.
    fn vms(&self) -> impl Iterator<Item = &Vm> {
        let claim = self.volume.instance.and_then(|id| self.sight.vm(id));
        std::iter::once(self.vm).chain(claim.filter(|vm| vm.id != self.vm.id))
    }

    /// CloudStack is at work neither on the volume nor on a VM that holds it or that its row names.
    fn no_flux(&self) -> Check {
        let holders = self.sight.holders(self.volume.id).into_iter();
        let holders = holders.filter_map(|held| self.sight.seats()[held.seat].vm());
        let mut vms = self.vms().map(|vm| vm.id).chain(holders);
        let of_volume = self.sight.volume_flux(self.volume.id);
        let flux = of_volume.or_else(|| vms.find_map(|id| self.sight.vm_flux(id)))?;
        let code = if flux.code == "job" { "no-jobs" } else { flux.code };
        broken(true, code, || flux.why.clone())
    }

    /// No second domain of the VM can be where nobody looked: a VM that is not shown to be whole is not settled.
    fn whole_vm(&self) -> Check {
        let first = self.vms().find_map(|vm| self.sight.vm_obstacle(vm))?;
        broken(true, "complete-sight", || first.why)
    }

    /// What a row may be given only if the guest writes to the copy that the row names.
    pub fn source_matches(&self) -> Check {
        let matches = self.held.is_some_and(|held| match self.sight.identity(held) {
            Identity::Volume(named) => named.source_matches,
            Identity::Conflict { .. } | Identity::Ambiguous(_) | Identity::NoVolume | Identity::Unknown => {
                false
            }
        });
        let pool = self.volume.pool.and_then(|id| self.sight.pool(id));
        let path = self.volume.path.as_deref().filter(|path| !path.is_empty());
        broken(!matches, "source-matches", || {
            match (self.volume.pool, pool, path) {
                (None, ..) => "the row names no source to compare: no pool is on record for it".to_owned(),
                (Some(id), None, _) => {
                    format!("the row names no source to compare: its pool {id} has no row")
                }
                (_, _, None) => "the row names no source to compare: it has no path".to_owned(),
                _ => "the guest writes to another source than the row names (another pool, or an overlay)"
                    .to_owned(),
            }
        })
    }

    /// The live slot can be written into the row: known, never 3, and no other row of the VM has it.
    pub fn slot_free(&self) -> Check {
        let target = self
            .held
            .map(|held| self.sight.disk(held).target.as_str())
            .unwrap_or_default();
        // The hypervisor's limit of data volumes is 64 at the most, and two more ids are given out than that.
        let given = |slot: &Slot| *slot != Slot::CDROM && slot.0 <= 65;
        let Some(slot) = Slot::of_target(target).filter(given) else {
            return broken(true, "slot-free", || {
                format!("target {target} is no slot that CloudStack gives out")
            });
        };
        let rows = self
            .sight
            .volumes_of(self.vm.id)
            .iter()
            .filter_map(|id| self.sight.volume(*id));
        let taken = rows
            .filter(|v| v.id != self.volume.id)
            .any(|v| v.device_id == Some(slot.0));
        broken(taken, "slot-free", || {
            format!("another row of {} has device id {slot}", self.vm.instance)
        })
    }

    /// Exactly one holder.
    pub fn single_holder(&self) -> Check {
        let count = self.sight.holders(self.volume.id).len();
        broken(count != 1, "single-holder", || {
            format!("{count} disks of it were seen")
        })
    }

    /// No host that could hold the volume is unread, and no disk that could be it is unidentified.
    fn complete_sight(&self) -> Check {
        let first = self.sight.obstacle(self.volume)?;
        broken(true, "complete-sight", || first.why)
    }

    /// No block job on the disk.
    pub fn no_block_job(&self) -> Check {
        let mirrored = self.held.is_some_and(|held| self.sight.disk(held).mirror);
        broken(mirrored, "no-block-job", || {
            "a block job runs on the disk".to_owned()
        })
    }

    /// Neither ROOT nor slot 0, by the row and by the domain.
    fn data_volume(&self) -> Check {
        let live = self
            .held
            .and_then(|held| Slot::of_target(&self.sight.disk(held).target));
        let root =
            self.volume.kind != VolumeType::Data || self.volume.device_id == Some(0) || live == Some(Slot(0));
        broken(root, "data-volume", || {
            "ROOT and slot 0 are never repaired".to_owned()
        })
    }

    /// Only volumes on storage where unplugging is all there is to a detach.
    pub fn plain_storage(&self) -> Check {
        let encrypted =
            self.volume.encrypted || self.held.is_some_and(|held| self.sight.disk(held).encrypted);
        let plain = |pool: &Pool| {
            matches!(
                pool.kind,
                PoolType::Rbd
                    | PoolType::NetworkFilesystem
                    | PoolType::SharedMountPoint
                    | PoolType::Filesystem
            )
        };
        let leaves = "a raw detach would leave mappings or secrets behind";
        let why = match (
            self.volume.pool,
            self.volume.pool.and_then(|id| self.sight.pool(id)),
        ) {
            _ if encrypted => format!("it is encrypted: {leaves}"),
            (None, _) => {
                "no pool is on record for it: what a raw detach would leave behind is not known".to_owned()
            }
            (Some(id), None) => {
                format!("its pool {id} has no row: what a raw detach would leave behind is not known")
            }
            (_, Some(pool)) if pool.managed => format!("its pool {} is managed: {leaves}", pool.name),
            (_, Some(pool)) if !plain(pool) => {
                format!("its pool {} is of type {}: {leaves}", pool.name, pool.kind)
            }
            _ => return None,
        };
        broken(true, "plain-storage", || why)
    }

    /// The VM itself: a user's, running, settled; and the row's VM no system VM, and settled.
    fn vm(&self) -> Check {
        let system = self.vms().find(|vm| vm.kind != VmType::User || !vm.is_kvm());
        let runs = self.vm.removed.is_none() && self.vm.state == VmState::Running;
        let unsettled = |vm: &&Vm| self.troubled.contains(&vm.id) || self.sight.is_mismatched(vm.id);
        let unsettled = self.vms().find(unsettled);
        system
            .and_then(|vm| broken(true, "user-vm", || format!("{} is a system VM", vm.instance)))
            .or_else(|| {
                broken(!runs, "vm-running", || {
                    format!("{} is {}", self.vm.instance, self.vm.state)
                })
            })
            .or_else(|| {
                let vm = unsettled?;
                broken(true, "vm-settled", || {
                    format!("{} is split, drifted or cannot be told", vm.instance)
                })
            })
    }

    /// `Ready`, and live.
    pub fn volume_ready(&self) -> Check {
        let ready = self.volume.state == VolumeState::Ready && self.volume.removed.is_none();
        broken(!ready, "volume-ready", || match self.volume.state.as_str() {
            "" => "its row has no state".to_owned(),
            state => format!("its state is {state}"),
        })
    }

    /// Volume and VMs belong to one account, in one zone.
    fn same_owner(&self) -> Check {
        let volume = self.volume;
        let owner = (volume.account, volume.domain, volume.zone);
        let other = self.vms().find(|vm| owner != (vm.account, vm.domain, vm.zone))?;
        broken(true, "same-owner", || {
            format!("the volume and {} have different owners or zones", other.instance)
        })
    }

    fn no_backup_offering(&self) -> Check {
        let vm = self.vms().find(|vm| vm.has_backup_offering)?;
        broken(true, "no-backup-offering", || {
            format!("{} has a backup offering, which lists its volumes", vm.instance)
        })
    }

    fn no_vm_snapshot(&self) -> Check {
        let vm = self.vms().find(|vm| vm.has_snapshot)?;
        broken(true, "no-vm-snapshot", || {
            format!("{} has VM snapshots", vm.instance)
        })
    }

    /// Nothing pending that names the volume, or does something to one of its VMs as a whole; nothing cancelled as
    /// "blocking others" for any of them, whose thread may still act.
    fn no_jobs(&self) -> Check {
        let whole = |job: &&&Job| job.cancelled_blocking || job.work == Work::Vm || job.volume.is_none();
        let of_vms = || {
            self.vms()
                .find_map(|vm| self.sight.acting_on_vm(vm.id).iter().find(whole))
        };
        let named = self
            .sight
            .acting_on_volume(self.volume.id)
            .first()
            .or_else(of_vms)
            .copied();
        self.acting(named.or_else(|| self.sight.unplaced())?)
    }

    /// For a detach also: no attach or detach runs on the holder.
    pub fn queue_at_rest(&self) -> Check {
        let runs = |job: &&&Job| job.state == JobState::Pending && job.running != Some(false);
        let job = self.sight.acting_on_vm(self.vm.id).iter().find(runs)?;
        self.acting(job)
    }

    fn acting(&self, job: &Job) -> Check {
        broken(true, "no-jobs", || {
            let how = if job.cancelled_blocking {
                "was cancelled as blocking others and may still act"
            } else {
                "is pending"
            };
            format!("job-{} ({}) {how}", job.number(), job.command)
        })
    }

    /// A CloudStack release whose way of writing volrecon was taught: 4.15 to 4.23.
    fn known_schema(&self) -> Check {
        let version = self
            .sight
            .evidence
            .database
            .cloudstack
            .as_deref()
            .unwrap_or("unknown");
        let mut parts = version.split('.').map(str::parse::<u32>);
        let known = matches!((parts.next(), parts.next()), (Some(Ok(4)), Some(Ok(15..=23))));
        broken(!known, "known-schema", || {
            format!("CloudStack {version} is not a release that volrecon knows")
        })
    }

    /// No volume that the rows give this VM has another holder, and that can be shown.
    pub fn claims_free(&self) -> Check {
        if let Some(flux) = self.flux_beside() {
            return broken(true, "no-jobs", || flux.why.clone());
        }
        for id in self.sight.volumes_of(self.vm.id) {
            let Some(volume) = self.sight.volume(*id) else {
                continue;
            };
            let name = volume.uuid.as_deref().unwrap_or("without uuid");
            let foreign = |held: &Held| self.sight.seats()[held.seat].vm() != Some(self.vm.id);
            if self.sight.holders(*id).iter().any(foreign) {
                return broken(true, "claims-free", || {
                    format!("volume {name} has another holder")
                });
            }
            if let Some(first) = self.sight.obstacle(volume) {
                return broken(true, "claims-free", || {
                    format!("volume {name} could have another holder: {}", first.why)
                });
            }
        }
        None
    }

    /// Flux of any volume that the rows give this VM or that its domain holds, or of a VM that they lead to: what is in
    /// flux is not judged, and may be what forbids a restart.
    fn flux_beside(&self) -> Option<&Flux> {
        let seats = self.sight.seats_of(self.vm.id).into_iter();
        let disks = seats.flat_map(|seat| {
            let count = self.sight.seats()[seat].domain.disks.len();
            (0..count).map(move |disk| Held { seat, disk })
        });
        let held = disks.filter_map(|held| match self.sight.identity(held) {
            Identity::Volume(named) => Some(named.volume),
            Identity::Conflict { .. } | Identity::Ambiguous(_) | Identity::NoVolume | Identity::Unknown => {
                None
            }
        });
        let rows = self.sight.volumes_of(self.vm.id).iter().copied();
        let mut volumes = rows.chain(held);
        volumes.find_map(|id| {
            let claim = self.sight.volume(id).and_then(|v| v.instance);
            let holders = self.sight.holders(id);
            let holders = holders.iter().filter_map(|h| self.sight.seats()[h.seat].vm());
            let mut vms = claim.into_iter().chain(holders);
            self.sight
                .volume_flux(id)
                .or_else(|| vms.find_map(|vm| self.sight.vm_flux(vm)))
        })
    }
}
