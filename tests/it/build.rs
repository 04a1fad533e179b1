//! From a [`Spec`] to evidence.

#![allow(dead_code, reason = "a bench and the tests each use a part")]

use super::plug::{add_disk, add_domain, add_vm, add_volume};
use super::spec::*;
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
        records: std::collections::BTreeMap::new(),
        logs: None,
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
        // As gathering leaves a host whose row is removed, and on which VMs run by their rows.
        "removed" => {
            let since = "2026-09-08T12:00:00Z".parse().expect("a time");
            let row = world.hosts.iter_mut().find(|h| h.id == id).expect("a host");
            (row.removed, row.cluster) = (Some(since), None);
            let reason = format!("its row is removed since {since}, and rows of running VMs still name it");
            look.status = Status::NotAsked { reason, gap: true };
        }
        "no-row" => {
            world.looks.remove(&id);
            world.hosts.retain(|h| h.id != id);
            return;
        }
        other => panic!("look = {other:?} is not known"),
    }
    look.domains.clear();
    look.unreadable.clear();
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
        failure: None,
    };
    let more = api.clone();
    let own = Job {
        id: JobId(spec.id + 1),
        api: Some(JobId(spec.id)),
        kind: JobKind::Work,
        command: format!("VmWork{word}"),
        vm: spec.vm.map(VmId),
        running: spec.running.or((state == JobState::Pending).then_some(true)),
        ..more
    };
    if spec.api_only { vec![api] } else { vec![own, api] }
}

/// Every domain, with its host.
pub fn domains(world: &Evidence) -> BTreeMap<(HostId, &str), &Domain> {
    let all = world.looks.iter();
    all.flat_map(|(host, look)| look.domains.iter().map(|d| ((*host, d.name.as_str()), d)))
        .collect()
}
