//! From a [`Spec`] to evidence.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use super::world::*;
use std::collections::BTreeMap;
use volrecon::evidence::{Database, Evidence, GapCode, Look, Moved, Scope, Status, Unreadable};
use volrecon::model::*;

/// A world that nothing was said about: hosts and pools, no VM.
pub fn bare(now: jiff::Timestamp) -> Evidence {
    let hosts: Vec<Host> = (1..=4).map(|id| host(id, if id == 4 { 2 } else { 1 })).collect();
    Evidence {
        started: now,
        finished: now,
        scope: Scope::default(),
        stuck_after: 3600,
        database: Database {
            server: "10.6.18-MariaDB".to_owned(),
            cloudstack: Some("4.22.1.0".to_owned()),
            read_at: now,
            read_again_at: Some(now),
        },
        zones: zones(),
        clusters: vec![cluster(1), cluster(2)],
        looks: hosts.iter().map(|h| (h.id, look(h))).collect(),
        hosts,
        pools: pools(),
        vms: Vec::new(),
        volumes: Vec::new(),
        jobs: Vec::new(),
        reconcile: Vec::new(),
        moved: Moved::default(),
        warnings: Vec::new(),
        earlier: None,
    }
}

/// Reads a story's `world.toml`.
pub fn load(text: &str) -> Evidence {
    build(&toml::from_str(text).expect("a world.toml that can be read"))
}

/// Builds a world.
pub fn build(spec: &Spec) -> Evidence {
    let mut world = bare(spec.now);
    world.stuck_after = spec.stuck_after;
    world.database.cloudstack = Some(spec.cloudstack.clone()).filter(|v| !v.is_empty());
    spec.pool.iter().for_each(|p| edit_pool(&mut world, p));
    for h in &spec.host {
        add_host(&mut world, h);
    }
    for vm in &spec.vm {
        add_vm(&mut world, vm);
    }
    for volume in &spec.volume {
        add_volume(&mut world, volume, spec);
    }
    for domain in &spec.domain {
        add_domain(&mut world, domain);
    }
    for disk in &spec.disk {
        add_disk(&mut world, disk);
    }
    world.jobs = spec.job.iter().flat_map(jobs).collect();
    world.reconcile = spec
        .reconcile
        .iter()
        .map(|r| Reconcile {
            volume: r.volume.map(VolumeId),
            vm: r.vm.map(VmId),
            command: r.command.clone(),
            created: r.created,
        })
        .collect();
    world.moved = Moved {
        volumes: spec.moved_volumes.iter().copied().map(VolumeId).collect(),
        vms: spec.moved_vms.iter().copied().map(VmId).collect(),
    };
    let hosts: Vec<HostId> = spec
        .scope_hosts
        .iter()
        .filter_map(|n| host_id(&world, n))
        .collect();
    world.scope.words = spec.scope_hosts.iter().map(|h| format!("host {h}")).collect();
    world.scope.hosts = hosts.into_iter().collect();
    world.scope.vms = spec.scope_vms.iter().copied().map(VmId).collect();
    world.scope.volumes = spec.scope_volumes.iter().copied().map(VolumeId).collect();
    for h in &spec.host {
        blind(&mut world, h);
    }
    world
}

/// A host's id by its name.
pub fn host_id(world: &Evidence, name: &str) -> Option<HostId> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let by_row = world.hosts.iter().find(|h| h.name == name).map(|h| h.id);
    by_row.or_else(|| digits.parse().ok().map(HostId))
}

fn edit_pool(world: &mut Evidence, spec: &PoolSpec) {
    let next = world.pools.len() as u64 + 1;
    let index = world.pools.iter().position(|p| p.name == spec.name);
    let index = index.unwrap_or_else(|| {
        let mut row = world.pools[0].clone();
        row.id = PoolId(spec.id.unwrap_or(next));
        row.uuid = format!("610e0939-6665-3d4c-9f21-{:012x}", row.id.0);
        row.name.clone_from(&spec.name);
        world.pools.push(row);
        world.pools.len() - 1
    });
    let row = &mut world.pools[index];
    if let Some(kind) = &spec.kind {
        row.kind = PoolType::from(kind.as_str());
    }
    if let Some(scope) = &spec.scope {
        row.scope = Some(PoolScope::from(scope.as_str())).filter(|_| !scope.is_empty());
    }
    row.path = spec.path.clone().or(row.path.take());
    row.address = spec.address.clone().or(row.address.take());
    row.uuid = spec.uuid.clone().unwrap_or_else(|| row.uuid.clone());
    row.cluster = spec.cluster.map(ClusterId).or(row.cluster);
    row.hypervisor = spec.hypervisor.clone().or(row.hypervisor.take());
    row.managed = spec.managed.unwrap_or(row.managed);
    if let Some(hosts) = &spec.hosts {
        row.hosts = hosts.iter().copied().map(HostId).collect();
    }
    if spec.gone {
        world.pools.remove(index);
    }
}

fn add_host(world: &mut Evidence, spec: &HostSpec) {
    let known = world.hosts.iter().position(|h| h.name == spec.name);
    let index = known.unwrap_or_else(|| {
        let id = spec.id.or_else(|| host_id(world, &spec.name).map(|id| id.0));
        let mut row = host(id.expect("a host's number"), spec.cluster.unwrap_or(1));
        row.name.clone_from(&spec.name);
        world.looks.insert(row.id, look(&row));
        world.hosts.push(row);
        world.hosts.len() - 1
    });
    if let Some(status) = &spec.status {
        world.hosts[index].status.clone_from(status);
    }
}

/// What could not be seen, after everything was put in its place.
fn blind(world: &mut Evidence, spec: &HostSpec) {
    let id = host_id(world, &spec.name).expect("a host");
    let look = world.looks.get_mut(&id).expect("a look");
    if spec.empty {
        look.domains.clear();
    }
    for name in &spec.unreadable {
        look.domains.retain(|d| d.name != *name);
        look.unreadable.push(Unreadable {
            name: name.clone(),
            uuid: None,
            reason: "XML error".to_owned(),
        });
    }
    hide(world, id, spec.look.as_deref().unwrap_or("seen"));
}

/// Takes the sight of a host away, in one of the ways in which that happens.
pub fn hide(world: &mut Evidence, id: HostId, how: &str) {
    let look: &mut Look = world.looks.get_mut(&id).expect("a look");
    match how {
        "seen" => return,
        "partly" => {
            let (code, reason) = (GapCode::HostUnseen, "connection closed".to_owned());
            look.status = Status::Unseen { code, reason };
            return;
        }
        "unseen" => {
            let (code, reason) = (GapCode::HostUnseen, "no answer within 30 s".to_owned());
            look.status = Status::Unseen { code, reason };
        }
        "skipped" | "not-asked" => {
            let (reason, gap) = (format!("it is {how}"), how == "skipped");
            look.status = Status::NotAsked { reason, gap };
        }
        "no-look" => {
            world.looks.remove(&id);
            return;
        }
        "removed" => {
            world.looks.remove(&id);
            world.hosts.retain(|h| h.id != id);
            return;
        }
        other => panic!("look = {other:?} is not known"),
    }
    look.domains.clear();
    look.unreadable.clear();
}

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

fn add_vm(world: &mut Evidence, spec: &VmSpec) {
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

fn add_volume(world: &mut Evidence, spec: &VolumeSpec, whole: &Spec) {
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

fn add_domain(world: &mut Evidence, spec: &DomainSpec) {
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

fn add_disk(world: &mut Evidence, spec: &DiskSpec) {
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

fn jobs(spec: &JobSpec) -> Vec<Job> {
    let work = match spec.work.as_str() {
        "attach" => Work::Attach,
        "detach" => Work::Detach,
        "volume" => Work::Volume,
        "vm" => Work::Vm,
        other => panic!("work = {other:?} is not known"),
    };
    let word = match work {
        Work::Attach => "AttachVolume",
        Work::Detach => "DetachVolume",
        Work::Volume => "ResizeVolume",
        Work::Vm => "Stop",
    };
    let word = spec.command.clone().unwrap_or_else(|| word.to_owned());
    let state = match spec.state.as_str() {
        "pending" => JobState::Pending,
        "succeeded" => JobState::Succeeded,
        "failed" => JobState::Failed,
        "cancelled" => JobState::Cancelled,
        other => panic!("state = {other:?} is not known"),
    };
    let api = Job {
        id: JobId(spec.id),
        api: None,
        kind: JobKind::Api,
        work,
        command: format!("{word}Cmd"),
        vm: None,
        volume: spec.volume.map(VolumeId),
        state,
        created: spec.created,
        completed: spec.completed,
        running: None,
        abandoned: spec.abandoned,
        cancelled_blocking: spec.cancelled_blocking,
    };
    let own = Job {
        id: JobId(spec.id + 1),
        api: Some(JobId(spec.id)),
        kind: JobKind::Work,
        command: format!("VmWork{word}"),
        vm: spec.vm.map(VmId),
        running: spec.running.or((state == JobState::Pending).then_some(true)),
        ..api.clone()
    };
    if spec.api_only { vec![api] } else { vec![api, own] }
}

/// Every domain, with its host.
pub fn domains(world: &Evidence) -> BTreeMap<(HostId, &str), &Domain> {
    let all = world.looks.iter();
    all.flat_map(|(host, look)| look.domains.iter().map(|d| ((*host, d.name.as_str()), d)))
        .collect()
}
