//! In flux: what CloudStack is at work on. Reported, never judged, never repaired.

use super::{Sight, Who};
use crate::model::{Job, JobId, JobState, Reconcile, RunState, Vm, VmId, Volume, VolumeId, Work};
use jiff::Timestamp;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Why a volume or a VM is in flux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flux {
    /// In words.
    pub why: String,
    /// `volume-state`, `vm-state`, `job`, `moved`, `migrating`, `mirror`.
    pub code: &'static str,
    /// For longer than `--stuck-after`, or by a job that nobody works on: counts as not seen.
    pub stuck: bool,
    /// A migration of the VM: its domain may be on two hosts.
    pub migration: bool,
}

impl Flux {
    fn new(why: String, code: &'static str, stuck: bool) -> Self {
        Self {
            why,
            code,
            stuck,
            migration: false,
        }
    }
}

impl<'e> Sight<'e> {
    /// Why a volume is in flux, if it is.
    #[must_use]
    pub fn volume_flux(&self, volume: VolumeId) -> Option<&Flux> {
        self.volume_flux.get(&volume)
    }

    /// Why a VM is in flux, if it is. Attach and detach jobs of single volumes are no flux of the VM.
    #[must_use]
    pub fn vm_flux(&self, vm: VmId) -> Option<&Flux> {
        self.vm_flux.get(&vm)
    }

    /// Whether a VM migrates: by its row, a job, or libvirt.
    #[must_use]
    pub fn is_migrating(&self, vm: VmId) -> bool {
        self.vm_flux(vm).is_some_and(|flux| flux.migration)
    }

    /// Whether a VM that migrates, and has for too long, runs on two hosts: no migration shows that.
    #[must_use]
    pub fn is_split_for_long(&self, vm: VmId) -> bool {
        let runs = |seat: &usize| self.seats()[*seat].domain.state == RunState::Running;
        let stuck = self.vm_flux(vm).is_some_and(|flux| flux.stuck);
        stuck && self.seats_of(vm).iter().filter(|seat| runs(seat)).count() > 1
    }

    /// Jobs, by id.
    #[must_use]
    pub fn jobs(&self) -> &[&'e Job] {
        &self.jobs
    }

    /// Pending jobs, by id.
    pub fn pending(&self) -> impl Iterator<Item = &'e Job> + '_ {
        let all = self.jobs.iter().copied();
        all.filter(|job| job.state == JobState::Pending)
    }

    /// Jobs that are pending, or were cancelled as "blocking others" so that their thread may still act, and that name
    /// a volume.
    #[must_use]
    pub fn acting_on_volume(&self, volume: VolumeId) -> &[&'e Job] {
        self.acting_on_volume.get(&volume).map_or(&[], Vec::as_slice)
    }

    /// Likewise those that name a VM.
    #[must_use]
    pub fn acting_on_vm(&self, vm: VmId) -> &[&'e Job] {
        self.acting_on_vm.get(&vm).map_or(&[], Vec::as_slice)
    }

    /// The first pending job that names neither volume nor VM: it may be about any.
    #[must_use]
    pub fn unplaced(&self) -> Option<&'e Job> {
        self.unplaced
    }

    pub(super) fn index_jobs(&mut self) {
        self.jobs.sort_by_key(|job| job.id);
        let nowhere = |job: &&Job| job.volume.is_none() && job.vm.is_none();
        let unplaced = self.pending().find(nowhere);
        self.unplaced = unplaced;
        let acts = |job: &&&Job| job.state == JobState::Pending || job.cancelled_blocking;
        for job in self.jobs.iter().filter(acts) {
            if let Some(volume) = job.volume {
                self.acting_on_volume.entry(volume).or_default().push(job);
            }
            if let Some(vm) = job.vm {
                self.acting_on_vm.entry(vm).or_default().push(job);
            }
        }
    }

    pub(super) fn find_flux(&mut self) {
        let mut volumes: Vec<(VolumeId, Flux)> = Vec::new();
        let mut vms: Vec<(VmId, Flux)> = Vec::new();
        for volume in self.volumes.iter() {
            volumes.extend(self.state_of_volume(volume).map(|flux| (volume.id, flux)));
        }
        for vm in self.vms.iter() {
            vms.extend(self.state_of_vm(vm).map(|flux| (vm.id, flux)));
        }
        // An API job is on no queue: where it is, its work job says.
        let work = self.pending().filter_map(|job| Some((job.api?, job.running)));
        let queued: HashMap<JobId, Option<bool>> = work.collect();
        for job in self.pending() {
            let stuck = job.abandoned || self.is_old(job.created);
            let running = queued.get(&job.id).copied().unwrap_or(job.running);
            let why = job_text(job, running);
            match (job.work, job.volume, job.vm) {
                (Work::Vm, _, Some(vm)) => {
                    let migration = job.command.contains("Migrat");
                    vms.push((
                        vm,
                        Flux {
                            migration,
                            ..Flux::new(why, "job", stuck)
                        },
                    ));
                }
                (Work::Vm, _, None) => {}
                (_, Some(volume), _) => volumes.push((volume, Flux::new(why, "job", stuck))),
                // Which volume it works on is not known: it may be any of the VM's.
                (_, None, Some(vm)) => vms.push((vm, Flux::new(why, "job", stuck))),
                (_, None, None) => {}
            }
        }
        let mut rows: Vec<&Reconcile> = self.evidence.reconcile.iter().collect();
        rows.sort_by_key(|row| (row.volume, row.vm, &row.command, row.created));
        for row in rows {
            let stuck = self.is_old(row.created);
            let flux = |migration| Flux {
                migration,
                ..Flux::new(format!("{} is being reconciled", row.command), "job", stuck)
            };
            volumes.extend(row.volume.map(|id| (id, flux(false))));
            vms.extend(row.vm.map(|id| (id, flux(row.command.contains("Migrat")))));
        }
        for seat in &self.seats {
            if let (Who::Vm(vm), RunState::Incoming) = (seat.who, seat.domain.state) {
                let mut why = format!(
                    "libvirt on {} shows a migration under way",
                    self.host_name(seat.host)
                );
                let since = self.vm_at_rest(vm);
                if let Some(since) = since {
                    why += &format!(", and no row or job tells of one since {since}");
                }
                vms.push((
                    vm,
                    Flux {
                        migration: true,
                        ..Flux::new(why, "migrating", since.is_some())
                    },
                ));
            }
        }
        for (volume, row) in self.volumes.iter().zip(0..) {
            if self.holders.of(row).iter().any(|held| self.disk(*held).mirror) {
                let mut why = "a block job mirrors its disk".to_owned();
                let since = self.volume_at_rest(volume);
                if let Some(since) = since {
                    why += &format!(", and no row or job tells of one since {since}");
                }
                volumes.push((volume.id, Flux::new(why, "mirror", since.is_some())));
            }
        }
        for id in &self.evidence.moved.volumes {
            volumes.push((
                *id,
                Flux::new("its row moved during the look".to_owned(), "moved", false),
            ));
        }
        for id in &self.evidence.moved.vms {
            // Its host may be what moved: a migration that began and ended within the look.
            let why = "its row moved during the look".to_owned();
            let flux = Flux::new(why, "moved", false);
            vms.push((
                *id,
                Flux {
                    migration: true,
                    ..flux
                },
            ));
        }
        for (id, flux) in volumes {
            merge(self.volume_flux.entry(id), &flux);
        }
        for (id, flux) in vms {
            merge(self.vm_flux.entry(id), &flux);
        }
    }

    fn state_of_volume(&self, volume: &Volume) -> Option<Flux> {
        let live = volume.removed.is_none() && volume.state.is_transitional();
        live.then(|| {
            let why = format!("its state is {}", volume.state);
            Flux::new(why, "volume-state", self.is_old(volume.updated))
        })
    }

    fn state_of_vm(&self, vm: &Vm) -> Option<Flux> {
        let live = vm.removed.is_none() && vm.state.is_transitional();
        live.then(|| {
            let why = format!("VM {} is {}", vm.instance, vm.state);
            let migration = vm.state == crate::model::VmState::Migrating;
            Flux {
                migration,
                ..Flux::new(why, "vm-state", self.is_old(vm.update_time))
            }
        })
    }

    /// Since when a VM is at rest by rows and jobs, if that is for longer than `--stuck-after`: libvirt does not tell since
    /// when a domain is paused.
    fn vm_at_rest(&self, id: VmId) -> Option<Timestamp> {
        let vm = self.vm(id)?;
        let moves = vm.state.is_transitional() || self.evidence.moved.vms.contains(&id);
        let job = |job: &Job| job.vm == Some(id) && job.work == Work::Vm;
        let reconciled = |row: &Reconcile| row.vm == Some(id);
        self.at_rest(vm.update_time.filter(|_| !moves)?, job, reconciled)
    }

    /// Likewise of a volume, whose block job has no time either.
    fn volume_at_rest(&self, volume: &Volume) -> Option<Timestamp> {
        let moves = volume.state.is_transitional() || self.evidence.moved.volumes.contains(&volume.id);
        let of_vm = |vm: Option<VmId>| vm.is_some() && vm == volume.instance;
        let job = |job: &Job| job.volume == Some(volume.id) || (job.volume.is_none() && of_vm(job.vm));
        let reconciled = |row: &Reconcile| row.volume == Some(volume.id) || of_vm(row.vm);
        self.at_rest(volume.updated.filter(|_| !moves)?, job, reconciled)
    }

    /// No pending job or command of these that is younger than `--stuck-after`, nor the row.
    fn at_rest(
        &self,
        since: Timestamp,
        job: impl Fn(&Job) -> bool,
        reconciled: impl Fn(&Reconcile) -> bool,
    ) -> Option<Timestamp> {
        let young = |time| !self.is_old(time);
        let at_work = young(Some(since))
            || self.pending().any(|j| job(j) && young(j.created))
            || self
                .evidence
                .reconcile
                .iter()
                .any(|r| reconciled(r) && young(r.created));
        (!at_work).then_some(since)
    }

    /// Older than `--stuck-after` at the end of the look. What has no time is not called old.
    fn is_old(&self, since: Option<Timestamp>) -> bool {
        since.is_some_and(|since| {
            let age = self
                .evidence
                .finished
                .as_second()
                .saturating_sub(since.as_second());
            u64::try_from(age).is_ok_and(|age| age > self.evidence.stuck_after)
        })
    }
}

/// The first reason stays, since they come in a fixed order; being stuck or migrating adds up.
fn merge<K>(entry: Entry<'_, K, Flux>, flux: &Flux) {
    let old = entry.or_insert_with(|| flux.clone());
    if flux.stuck && !old.stuck {
        old.stuck = true;
        old.why.clone_from(&flux.why);
    }
    old.migration |= flux.migration;
}

fn job_text(job: &Job, running: Option<bool>) -> String {
    let at = if running == Some(false) { "waits" } else { "runs" };
    let lost = if job.abandoned {
        ", and its management server is gone"
    } else {
        ""
    };
    format!("job-{} ({}) {at}{lost}", job.number(), job.command)
}
