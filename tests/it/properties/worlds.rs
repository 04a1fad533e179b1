//! Random worlds: VMs, volumes, disks that agree or not, twins of a migration, a rescue guest.

use crate::build::build;
use crate::spec::*;
use crate::world::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use volrecon::evidence::Evidence;
use volrecon::model::Bus;

/// One VM as a random world has it.
fn vm() -> impl Strategy<Value = VmSpec> {
    let state = prop_oneof![
        12 => Just("Running"),
        1 => Just("Stopped"),
        1 => Just("Migrating"),
        1 => Just("Expunging"),
        1 => Just("Unknown"),
    ];
    let kind = prop_oneof![9 => Just("User"), 1 => Just("ConsoleProxy")];
    (state, 1u64..=3, kind, 0u8..24).prop_map(|(state, host, kind, odd)| VmSpec {
        state: state.to_owned(),
        host: format!("kvm{host}"),
        kind: kind.to_owned(),
        account: if odd == 0 { 3 } else { 2 },
        on: match odd {
            1 => Some("kvm2".to_owned()),
            2 => Some("none".to_owned()),
            _ => None,
        },
        snapshot: odd == 3,
        domain_uuid: (odd == 4).then(|| volume_uuid(77)),
        ..VmSpec::default()
    })
}

/// One volume: claimed or not, plugged in where the row says, elsewhere, twice, or nowhere.
fn volume(vms: u64) -> impl Strategy<Value = (VolumeSpec, Vec<DiskSpec>, Option<[JobSpec; 2]>)> {
    let state = prop_oneof![14 => Just("Ready"), 1 => Just("Snapshotting"), 1 => Just("Destroy"), 1 => Just("Allocated")];
    let pool = prop_oneof![6 => Just("rbd"), 2 => Just("nfs"), 1 => Just("mount"), 1 => Just("clvm")];
    let claim = proptest::option::weighted(0.6, 1..=vms);
    let held = proptest::collection::vec((1..=vms, 1u32..6, 0u8..12), 0..3);
    (state, pool, claim, 1u32..6, any::<bool>(), held, 0u8..8).prop_map(
        move |(state, pool, claim, device, plugged, held, odd)| {
            let row = VolumeSpec {
                state: state.to_owned(),
                pool: pool.to_owned(),
                vm: claim,
                device: claim.map(|_| if device == 3 { 6 } else { device }),
                kind: if odd == 0 { "ROOT" } else { "DATADISK" }.to_owned(),
                plugged: plugged || odd > 4,
                ..VolumeSpec::default()
            };
            let disks = held
                .into_iter()
                .filter(|(.., odd)| *odd < 5)
                .map(|(vm, slot, odd)| DiskSpec {
                    vm: Some(vm),
                    target: target(Bus::Virtio, slot),
                    source: (odd == 0).then(|| "other/image".to_owned()),
                    mirror: odd == 1,
                    ..DiskSpec::default()
                });
            let job = |id, work: &str, vm, time| JobSpec {
                id,
                work: work.to_owned(),
                vm: Some(vm),
                state: "succeeded".to_owned(),
                completed: Some(at(time)),
                ..JobSpec::default()
            };
            let jobs = (odd % 2 == 1).then(|| {
                [
                    job(0, "attach", device.into(), "2026-09-08T10:00:00Z"),
                    job(0, "detach", claim.unwrap_or(1), "2026-09-08T11:00:00Z"),
                ]
            });
            (row, disks.collect(), jobs)
        },
    )
}

prop_compose! {
    pub fn world()(vms in proptest::collection::vec(vm(), 2..5))
        (volumes in proptest::collection::vec(volume(vms.len() as u64), 1..8),
         twin in proptest::option::weighted(0.15, (1..=vms.len() as u64, 1u64..=3, any::<bool>())),
         rescue in proptest::option::weighted(0.15, 1..=volumes_max()),
         vms in Just(vms)) -> Evidence
    {
        let mut spec = Spec::default();
        for (id, vm) in (1..).zip(vms) {
            spec.vm.push(VmSpec { id, ..vm });
        }
        for (id, (row, disks, jobs)) in (1u64..).zip(volumes) {
            spec.volume.push(VolumeSpec { id, ..row });
            for disk in disks {
                // Only a domain that is there can have it.
                let there = spec.vm.iter().any(|v| Some(v.id) == disk.vm && v.on.is_none() && v.domain_uuid.is_none()
                    && matches!(v.state.as_str(), "Running" | "Migrating" | "Unknown"));
                if there {
                    spec.disk.push(DiskSpec { volume: Some(id), ..disk });
                }
            }
            for (n, job) in (0..).zip(jobs.into_iter().flatten()) {
                spec.job.push(JobSpec { id: id * 100 + n * 10, volume: Some(id), ..job });
            }
        }
        if let Some((like, host, incoming)) = twin {
            let state = if incoming { "incoming" } else { "running" };
            let vm = &spec.vm[usize::try_from(like).expect("small") - 1];
            if vm.host != format!("kvm{host}") && vm.on.is_none() {
                spec.domain.push(DomainSpec { host: format!("kvm{host}"), like: Some(like), state: Some(state.to_owned()), ..DomainSpec::default() });
            }
        }
        if let Some(volume) = rescue.filter(|id| *id <= spec.volume.len() as u64) {
            spec.domain.push(DomainSpec { host: "kvm3".to_owned(), name: Some("rescue".to_owned()), ..DomainSpec::default() });
            spec.disk.push(DiskSpec { domain: Some("rescue".to_owned()), volume: Some(volume), target: "vdz".to_owned(), ..DiskSpec::default() });
        }
        possible(build(&spec))
    }
}

/// No libvirt domain has two disks on one target.
fn possible(mut world: Evidence) -> Evidence {
    for domain in world.looks.values_mut().flat_map(|look| &mut look.domains) {
        let mut targets = BTreeSet::new();
        domain.disks.retain(|disk| targets.insert(disk.target.clone()));
    }
    world
}

const fn volumes_max() -> u64 {
    8
}
