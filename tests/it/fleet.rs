//! Clouds of any size, for benches and for tests of scale.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use super::build::bare;
use super::world::*;
use volrecon::evidence::Evidence;
use volrecon::model::*;

/// What is wrong with a cloud.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wrong {
    /// Of a thousand data volumes, so many are orphans: plugged in, and the row says nothing.
    pub orphans: u64,
    /// Of a thousand data volumes, so many are attached by the row and plugged in nowhere.
    pub missing: u64,
    /// Of a thousand data volumes, so many have a disk that nobody knows.
    pub unknown: u64,
    /// The first host was not seen.
    pub blind: bool,
    /// Every orphan has the jobs that made it.
    pub jobs: bool,
}

/// `vms` running VMs of `disks` disks each (the first is ROOT) on RBD, 250 to a host.
pub fn fleet(vms: u64, disks: u64, wrong: Wrong) -> Evidence {
    let mut world = bare(at("2026-09-08T15:00:00Z"));
    let count = vms.div_ceil(250).max(4);
    world.hosts = (1..=count).map(|id| host(id, 1)).collect();
    world.looks = world.hosts.iter().map(|h| (h.id, look(h))).collect();
    let pool = world.pools[0].clone();
    let mut data = 0u64;
    let hit = |n: u64, per_mille: u64| n * 389 % 1000 < per_mille;
    for id in 1..=vms {
        let on = HostId((id - 1) / 250 + 1);
        let instance = format!("i-2-{id}-VM");
        world.vms.push(Vm {
            id: VmId(id),
            uuid: Some(vm_uuid(id)),
            name: format!("worker{id}"),
            instance: instance.clone(),
            state: VmState::Running,
            kind: VmType::User,
            host: Some(on),
            last_host: Some(on),
            power_host: Some(on),
            account: AccountId(2),
            domain: DomainId(1),
            zone: ZoneId(1),
            hypervisor: "KVM".to_owned(),
            removed: None,
            update_time: None,
            has_backup_offering: false,
            has_snapshot: false,
            data_disk_controller: None,
            extra_disks: Vec::new(),
            extra_unreadable: false,
        });
        let mut plugged = Vec::new();
        for slot in 0..disks {
            let number = (id - 1) * disks + slot + 1;
            let device = u32::try_from(if slot >= 3 { slot + 1 } else { slot }).unwrap_or_default();
            let (mut orphan, mut missing, mut unknown) = (false, false, false);
            if slot > 0 {
                data += 1;
                orphan = hit(data, wrong.orphans);
                missing = !orphan && hit(data + 500, wrong.missing);
                unknown = !orphan && !missing && hit(data + 700, wrong.unknown);
            }
            let uuid = volume_uuid(number);
            let source = live_source(&pool, &uuid, &uuid);
            let target = target(Bus::Virtio, device);
            if !missing {
                plugged.push(disk(source, &target, Some(&serial(&uuid))));
            }
            if unknown {
                let target = Slot(device + 10).target(Bus::Virtio);
                plugged.push(disk(super::world::source("elsewhere/scratch"), &target, None));
            }
            if orphan && wrong.jobs {
                world.jobs.extend(jobs(number, id));
            }
            world.volumes.push(Volume {
                id: VolumeId(number),
                uuid: Some(uuid.clone()),
                name: Some(format!("pvc-{number}")),
                path: Some(uuid),
                iscsi_name: None,
                pool: Some(pool.id),
                last_pool: None,
                instance: (!orphan).then_some(VmId(id)),
                device_id: (!orphan).then_some(device),
                kind: if slot == 0 {
                    VolumeType::Root
                } else {
                    VolumeType::Data
                },
                state: VolumeState::Ready,
                account: AccountId(2),
                domain: DomainId(1),
                zone: ZoneId(1),
                size: 8 << 30,
                attached: None,
                updated: None,
                removed: None,
                update_count: 2,
                encrypted: false,
                last_id: None,
            });
        }
        if let Some(look) = world.looks.get_mut(&on) {
            look.domains.push(Domain {
                name: instance,
                uuid: vm_uuid(id),
                state: RunState::Running,
                persistent: false,
                persistent_differs: false,
                disks: plugged,
            });
        }
    }
    if wrong.blind {
        super::build::hide(&mut world, HostId(1), "unseen");
    }
    world
}

/// An attach to `vm`, and the straggler that cleared it.
fn jobs(volume: u64, vm: u64) -> [Job; 2] {
    let job = |id, work, vm, time: &str| Job {
        id: JobId(id),
        api: Some(JobId(id - 1)),
        kind: JobKind::Work,
        work,
        command: "VmWork".to_owned(),
        vm: Some(VmId(vm)),
        volume: Some(VolumeId(volume)),
        state: JobState::Succeeded,
        created: None,
        completed: Some(at(time)),
        running: None,
        abandoned: false,
        cancelled_blocking: false,
        failure: None,
    };
    [
        job(volume * 4 + 1, Work::Attach, vm, "2026-09-08T14:40:19Z"),
        job(volume * 4 + 3, Work::Detach, vm + 1, "2026-09-08T14:42:40Z"),
    ]
}
