//! VMs, volumes, domains and disks of a [`Spec`], put into evidence: rows, and what libvirt shows of them.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use super::build::host_id;
use super::spec::*;
use super::world::*;
use volrecon::evidence::Evidence;
use volrecon::model::*;

fn run_state(text: Option<&str>) -> RunState {
    match text {
        None | Some("running") => RunState::Running,
        Some("paused") => RunState::Paused,
        Some("incoming") => RunState::Incoming,
        Some(other) => panic!("domain state {other:?} is not known"),
    }
}

fn domain(name: &str, uuid: &str, state: RunState) -> Domain {
    Domain {
        name: name.to_owned(),
        uuid: uuid.to_owned(),
        state,
        persistent: false,
        persistent_differs: false,
        disks: Vec::new(),
    }
}

fn seat<'w>(world: &'w mut Evidence, host: &str, domain: Domain) -> &'w mut Domain {
    let id = host_id(world, host).expect("a host");
    let look = world.looks.get_mut(&id).expect("a look");
    look.domains.push(domain);
    look.domains.last_mut().expect("just pushed")
}

pub fn add_vm(world: &mut Evidence, spec: &VmSpec) {
    let uuid = spec.uuid.clone().unwrap_or_else(|| vm_uuid(spec.id));
    let prefix = match spec.kind.as_str() {
        "DomainRouter" => "r",
        "ConsoleProxy" => "v",
        "SecondaryStorageVm" => "s",
        _ => "i-2",
    };
    let instance = spec
        .instance
        .clone()
        .unwrap_or_else(|| format!("{prefix}-{}-VM", spec.id));
    let down = matches!(
        spec.state.as_str(),
        "Stopped" | "Destroyed" | "Error" | "Expunging" | "Shutdown"
    );
    let host = Some(spec.host.as_str()).filter(|h| !h.is_empty() && !down);
    let vm = Vm {
        id: VmId(spec.id),
        uuid: Some(uuid.clone()).filter(|u| !u.is_empty()),
        name: spec.name.clone().unwrap_or_else(|| format!("vm{}", spec.id)),
        instance: instance.clone(),
        state: VmState::from(spec.state.as_str()),
        kind: VmType::from(spec.kind.as_str()),
        host: host.and_then(|h| host_id(world, h)),
        last_host: spec.last_host.as_deref().and_then(|h| host_id(world, h)),
        power_host: host.and_then(|h| host_id(world, h)),
        account: AccountId(spec.account),
        domain: DomainId(1),
        zone: ZoneId(1),
        hypervisor: spec.hypervisor.clone(),
        removed: spec.removed,
        update_time: spec.update_time,
        has_backup_offering: spec.backup_offering,
        has_snapshot: spec.snapshot,
        data_disk_controller: spec.data_disk_controller.clone(),
        extra_disks: spec
            .extra_sources
            .iter()
            .map(|s| ExtraDisk {
                source: Some(s.clone()),
                target: None,
            })
            .collect(),
        extra_unreadable: spec.extra_unreadable,
    };
    world.vms.push(vm);
    let runs = host.is_some() && spec.hypervisor == "KVM" && spec.removed.is_none();
    let on = spec
        .on
        .as_deref()
        .or(host.filter(|_| runs))
        .filter(|h| *h != "none");
    if let Some(on) = on {
        let name = spec.domain_name.as_deref().unwrap_or(&instance);
        let uuid = spec.domain_uuid.clone().unwrap_or(uuid);
        let state = run_state(spec.domain_state.as_deref());
        seat(world, on, domain(name, &uuid, state));
    }
    if spec.root {
        let root = VolumeSpec {
            id: 100_000 + spec.id,
            name: Some(format!("ROOT-{}", spec.id)),
            pool: spec.root_pool.clone(),
            vm: Some(spec.id),
            device: Some(0),
            kind: "ROOT".to_owned(),
            account: spec.account,
            target: Some(target(Bus::from(spec.bus.as_str()), 0)),
            ..VolumeSpec::default()
        };
        add_volume(
            world,
            &root,
            &Spec {
                vm: vec![spec.clone()],
                ..Spec::default()
            },
        );
    }
}

pub fn add_volume(world: &mut Evidence, spec: &VolumeSpec, whole: &Spec) {
    let uuid = spec.uuid.clone().unwrap_or_else(|| volume_uuid(spec.id));
    let pool = world.pools.iter().find(|p| p.name == spec.pool).cloned();
    let kind = pool.as_ref().map_or(PoolType::Rbd, |p| p.kind.clone());
    let (path, iscsi) = default_path(&kind, spec.id, &uuid);
    let path = spec.path.clone().unwrap_or(path);
    let last_pool = spec.last_pool.as_ref().map(|name| {
        let known = world.pools.iter().find(|p| p.name == *name);
        known.map_or(PoolId(999), |p| p.id)
    });
    let gone = Some(PoolId(999)).filter(|_| !spec.pool.is_empty());
    world.volumes.push(Volume {
        id: VolumeId(spec.id),
        uuid: Some(uuid.clone()).filter(|u| !u.is_empty()),
        name: Some(spec.name.clone().unwrap_or_else(|| format!("pvc-{}", spec.id))),
        path: Some(path.clone()).filter(|p| !p.is_empty()),
        iscsi_name: spec.iscsi_name.clone().or(iscsi),
        pool: pool.as_ref().map(|p| p.id).or(gone),
        last_pool,
        instance: spec.vm.map(VmId),
        device_id: spec.device,
        kind: VolumeType::from(spec.kind.as_str()),
        state: VolumeState::from(spec.state.as_str()),
        account: AccountId(spec.account),
        domain: DomainId(1),
        zone: ZoneId(1),
        size: 8 << 30,
        attached: spec.attached,
        updated: spec.updated,
        removed: spec.removed,
        update_count: 2,
        encrypted: spec.encrypted,
        last_id: spec.last_id.map(VolumeId),
    });
    let (Some(vm), Some(device), true) = (spec.vm, spec.device, spec.plugged) else {
        return;
    };
    let Some(row) = world.vms.iter().find(|v| v.id == VmId(vm)).cloned() else {
        return;
    };
    let told = whole.vm.iter().find(|v| v.id == vm);
    let scsi = told.is_some_and(|v| v.bus == "scsi");
    let at = spec.target.clone();
    let at = at.unwrap_or_else(|| target(if scsi { Bus::Scsi } else { Bus::Virtio }, device));
    let from = match (&spec.source, &pool) {
        (Some(text), _) => source(text),
        (None, Some(pool)) => live_source(pool, &path, &uuid),
        (None, None) => return,
    };
    let number = spec.serial.clone().unwrap_or_else(|| serial(&uuid));
    let mut plugged = disk(from, &at, Some(number.as_str()).filter(|s| !s.is_empty()));
    plugged.backing = spec.backing.iter().map(|s| source(s)).collect();
    plugged.mirror = spec.mirror;
    plugged.shareable = spec.shareable;
    plugged.encrypted = spec.encrypted;
    let name = told.and_then(|v| v.domain_name.clone()).unwrap_or(row.instance);
    for look in world.looks.values_mut() {
        for domain in look.domains.iter_mut().filter(|d| d.name == name) {
            domain.disks.push(plugged.clone());
        }
    }
}

pub fn add_domain(world: &mut Evidence, spec: &DomainSpec) {
    let like = spec
        .like
        .and_then(|id| world.vms.iter().find(|v| v.id == VmId(id)));
    let name = like.map(|v| v.instance.clone());
    let name = spec.name.clone().or(name).expect("a domain's name");
    let uuid = like.and_then(|v| v.uuid.clone());
    let uuid = spec
        .uuid
        .clone()
        .or(uuid)
        .unwrap_or_else(|| format!("{:08x}-9999-4999-8999-000000000000", name.len()));
    let original = like.map(|v| v.instance.clone());
    let mut all = world.looks.values().flat_map(|l| &l.domains);
    let disks = original.and_then(|name| all.find(|d| d.name == name).map(|d| d.disks.clone()));
    let mut copy = domain(&name, &uuid, run_state(spec.state.as_deref()));
    copy.disks = disks.unwrap_or_default();
    seat(world, &spec.host, copy);
}

pub fn add_disk(world: &mut Evidence, spec: &DiskSpec) {
    let row = spec
        .volume
        .and_then(|id| world.volumes.iter().find(|v| v.id == VolumeId(id)));
    let pool = row.and_then(|v| world.pools.iter().find(|p| Some(p.id) == v.pool));
    let uuid = row.and_then(|v| v.uuid.clone());
    let own = row.zip(pool).map(|(v, p)| {
        live_source(
            p,
            v.path.as_deref().unwrap_or_default(),
            v.uuid.as_deref().unwrap_or_default(),
        )
    });
    let number = spec.serial.clone().or_else(|| uuid.map(|u| serial(&u)));
    let mut plugged = disk(
        source(""),
        &spec.target,
        number.as_deref().filter(|s| !s.is_empty()),
    );
    plugged.source = spec.source.as_deref().map(source).or(own);
    if let (Some(kind), Some(source)) = (&spec.source_kind, &mut plugged.source) {
        source.kind = serde_json::from_value(kind.as_str().into()).expect("a kind of source");
    }
    if let Some(device) = &spec.device {
        plugged.device = serde_json::from_value(device.as_str().into()).expect("a device");
    }
    if let Some(bus) = &spec.bus {
        plugged.bus = Bus::from(bus.as_str());
    }
    plugged.backing = spec.backing.iter().map(|s| source(s)).collect();
    (plugged.shareable, plugged.readonly, plugged.mirror) = (spec.shareable, spec.readonly, spec.mirror);
    let instance = spec.vm.and_then(|id| world.vms.iter().find(|v| v.id == VmId(id)));
    let name = spec
        .domain
        .clone()
        .or(instance.map(|v| v.instance.clone()))
        .expect("whose disk");
    let mut found = false;
    for domain in world
        .looks
        .values_mut()
        .flat_map(|l| &mut l.domains)
        .filter(|d| d.name == name)
    {
        domain.disks.push(plugged.clone());
        found = true;
    }
    assert!(found, "no domain {name} for a disk");
}
