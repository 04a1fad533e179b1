//! A healthy cloud of two hundred VMs, with everything that looks odd and is not: nothing to find in it.

use super::build::build;
use super::cases::judge;
use super::fleet::{Wrong, fleet};
use super::spec::*;
use super::world::*;
use volrecon::evidence::Evidence;
use volrecon::model::*;

const POOLS: [&str; 15] = [
    "rbd",
    "nfs",
    "mount",
    "local1",
    "local2",
    "clvm",
    "powerflex",
    "storpool",
    "linstor",
    "fiber",
    "nvme",
    "iscsi",
    "gluster",
    "managednfs",
    "clvmng",
];

/// Two hundred VMs; every pool type; ISO, config drive, overlay during a snapshot, migration under way, encrypted
/// volumes, system VMs, a foreign domain.
fn cloud() -> Evidence {
    let mut spec = Spec::default();
    for id in 1..=200u64 {
        let pool = POOLS[usize::try_from(id).expect("small") % POOLS.len()];
        let host = if pool == "local2" {
            2
        } else if pool == "local1" {
            1
        } else {
            id % 3 + 1
        };
        let stopped = id % 17 == 0;
        let migrating = id % 40 == 7 && !pool.starts_with("local");
        let kind = match id {
            191 => "ConsoleProxy",
            192 => "SecondaryStorageVm",
            193 => "DomainRouter",
            _ => "User",
        };
        spec.vm.push(VmSpec {
            id,
            state: if stopped {
                "Stopped"
            } else if migrating {
                "Migrating"
            } else {
                "Running"
            }
            .to_owned(),
            host: format!("kvm{host}"),
            kind: kind.to_owned(),
            root_pool: pool.to_owned(),
            bus: if id % 5 == 0 { "scsi" } else { "virtio" }.to_owned(),
            ..VmSpec::default()
        });
        for (n, device) in [1, 2, 4]
            .into_iter()
            .enumerate()
            .take(usize::try_from(id % 4).expect("small"))
        {
            let number = id * 10 + n as u64;
            let snapshot = pool == "nfs" && n == 0;
            let overlay = format!(
                "/mnt/610e0939-6665-3d4c-9f21-000000000002/{}",
                volume_uuid(number + 50_000)
            );
            let below = format!(
                "/mnt/610e0939-6665-3d4c-9f21-000000000002/{}",
                volume_uuid(number)
            );
            spec.volume.push(VolumeSpec {
                id: number,
                vm: Some(id),
                device: Some(device),
                pool: pool.to_owned(),
                state: if snapshot { "Snapshotting" } else { "Ready" }.to_owned(),
                source: snapshot.then_some(overlay),
                backing: if snapshot { vec![below] } else { Vec::new() },
                encrypted: id % 9 == 0,
                ..VolumeSpec::default()
            });
        }
        if !stopped {
            let cd = |target: &str, source: Option<&str>| DiskSpec {
                vm: Some(id),
                target: target.to_owned(),
                source: source.map(str::to_owned),
                device: Some("cdrom".to_owned()),
                bus: Some("ide".to_owned()),
                readonly: true,
                ..DiskSpec::default()
            };
            spec.disk.push(cd("hdc", (id % 3 == 0).then_some("/mnt/a/b.iso")));
            spec.disk
                .push(cd("hdd", (id % 4 == 0).then_some("/mnt/a/configdrive.iso")));
        }
        if migrating {
            let to = format!("kvm{}", host % 3 + 1);
            let state = Some("incoming".to_owned());
            spec.domain.push(DomainSpec {
                host: to,
                like: Some(id),
                state,
                ..DomainSpec::default()
            });
        }
    }
    // Detached, uploaded, just removed, of another hypervisor.
    spec.volume.push(VolumeSpec {
        id: 9001,
        ..VolumeSpec::default()
    });
    spec.volume.push(VolumeSpec {
        id: 9002,
        state: "Uploaded".to_owned(),
        pool: String::new(),
        ..VolumeSpec::default()
    });
    spec.volume.push(VolumeSpec {
        id: 9003,
        removed: Some(spec.now),
        state: "Expunged".to_owned(),
        ..VolumeSpec::default()
    });
    spec.domain.push(DomainSpec {
        host: "kvm3".to_owned(),
        name: Some("appliance".to_owned()),
        ..DomainSpec::default()
    });
    build(&spec)
}

#[test]
fn a_healthy_cloud_of_every_kind_shows_nothing() {
    let world = cloud();
    assert_eq!(world.vms.len(), 200);
    let verdicts = judge(&world);
    for finding in &verdicts.findings {
        println!("{} {:?} {:?}", finding.class, finding.volume, finding.holders);
    }
    assert!(verdicts.findings.is_empty());
    assert!(verdicts.cannot_tell.is_empty(), "{:?}", verdicts.cannot_tell);
    // Migrations and snapshots are said to be under way, and nothing else is.
    assert!(
        verdicts
            .in_flux
            .iter()
            .all(|n| matches!(n.code, "vm-state" | "volume-state") && !n.stuck)
    );
    assert!(verdicts.in_flux.len() > 5);
    assert_eq!(verdicts.marks.len(), world.volumes.len());
}

#[test]
fn every_disk_of_a_pools_own_kind_is_known_by_its_source_alone() {
    let mut world = cloud();
    for disk in world
        .looks
        .values_mut()
        .flat_map(|l| &mut l.domains)
        .flat_map(|d| &mut d.disks)
    {
        disk.serial = None;
    }
    let verdicts = judge(&world);
    assert!(verdicts.findings.is_empty(), "{:?}", verdicts.findings.first());
    assert!(verdicts.cannot_tell.is_empty(), "{:?}", verdicts.cannot_tell);
}

#[test]
fn what_is_wrong_in_a_large_cloud_is_counted_to_the_last() {
    let wrong = Wrong {
        orphans: 20,
        missing: 20,
        jobs: true,
        ..Wrong::default()
    };
    let world = fleet(1000, 4, wrong);
    let data: Vec<&Volume> = world
        .volumes
        .iter()
        .filter(|v| v.kind == VolumeType::Data)
        .collect();
    let orphans = data.iter().filter(|v| v.instance.is_none()).count();
    let held: usize = world
        .looks
        .values()
        .flat_map(|l| &l.domains)
        .map(|d| d.disks.len())
        .sum();
    let missing = world.volumes.len() - held;
    let verdicts = judge(&world);
    let count = |name: &str| {
        verdicts
            .findings
            .iter()
            .filter(|f| f.class.name() == name)
            .count()
    };
    assert!(orphans > 50 && missing > 50, "{orphans} {missing}");
    assert_eq!(
        (count("straggler-detach"), count("missing-disk")),
        (orphans, missing)
    );
    assert_eq!(verdicts.findings.len(), orphans + missing);
}
