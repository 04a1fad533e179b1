//! The look: rows, hosts, rows again; further hosts where a suspect needs them; all of it twice with `--settle`.

use crate::classify::classify;
use crate::evidence::{Database, Evidence, Look, Scope};
use crate::gather::{self, LibvirtSettings, Reader, Rows};
use crate::model::{Host, HostId};
use crate::sight::Sight;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What a look is told.
pub struct Orders<'a> {
    /// How hosts are reached.
    pub libvirt: &'a LibvirtSettings,
    /// What to look at.
    pub scope: Scope,
    /// `--stuck-after`.
    pub stuck_after: Duration,
    /// End of `--timeout`.
    pub until: Option<Instant>,
    /// Told of every host that is done, or given up.
    pub progress: &'a mut dyn FnMut(gather::Progress),
}

/// Why nothing could be looked at.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LookError {
    #[error(transparent)]
    Database(#[from] gather::DbError),
    #[error("the database has no KVM host: this is no cloud to compare, or the account cannot see it")]
    NoHosts,
    #[error("the database has no volume: this is no cloud to compare, or the account cannot see it")]
    NoVolumes,
}

/// Looks once: an empty inventory is an error, never "all is orphaned".
///
/// # Errors
/// When the database cannot be read, or is empty. Hosts that cannot be read are gaps in the evidence, not errors.
pub fn look(reader: &mut Reader, orders: &mut Orders<'_>) -> Result<Evidence, LookError> {
    let started = Timestamp::now();
    let mut rows = reader.rows(&orders.scope)?;
    if rows.hosts.is_empty() {
        return Err(LookError::NoHosts);
    }
    if rows.volumes.is_empty() && orders.scope.is_everything() {
        return Err(LookError::NoVolumes);
    }
    let mut looks = BTreeMap::new();
    let mut ask = first_hosts(reader, orders, &rows, started);
    // A suspect may lead to hosts, and those to further suspects; every round asks at least one more host.
    while !ask.is_empty() {
        let hosts: Vec<&Host> = rows.hosts.iter().filter(|host| ask.contains(&host.id)).collect();
        looks.extend(gather::look(
            &hosts,
            orders.libvirt,
            orders.until,
            orders.progress,
        ));
        reader.seen(
            &mut rows,
            &orders.scope,
            looks.values().flat_map(|look: &Look| &look.domains),
        )?;
        if orders.scope.is_everything() {
            break;
        }
        let evidence = assemble(reader, &orders.scope, orders.stuck_after, rows, looks, started);
        ask = classify(&Sight::new(&evidence)).wanted;
        (rows, looks) = take_apart(evidence);
        ask.retain(|id| !looks.contains_key(id));
    }
    let again = reader.again(&orders.scope, &mut rows)?;
    let mut evidence = assemble(reader, &orders.scope, orders.stuck_after, rows, looks, started);
    evidence.moved = again.moved;
    evidence.database.read_again_at = Some(again.read_at);
    evidence.finished = Timestamp::now();
    let mut domains = evidence.looks.values().flat_map(|look| &look.domains);
    let orphans = gather::maybe_orphans(&evidence.volumes, &mut domains);
    evidence.records = reader.records(&orphans)?;
    Ok(evidence)
}

/// The hosts that a scope names, or that its rows lead to; all, if there is no scope.
fn first_hosts(reader: &Reader, orders: &Orders<'_>, rows: &Rows, started: Timestamp) -> BTreeSet<HostId> {
    let scope = &orders.scope;
    if scope.is_everything() {
        return rows.hosts.iter().map(|host| host.id).collect();
    }
    let mut ask: BTreeSet<HostId> = scope.hosts.union(&scope.areas).copied().collect();
    let claims = rows
        .volumes
        .iter()
        .filter(|v| scope.volumes.contains(&v.id))
        .filter_map(|v| v.instance);
    let vms: BTreeSet<_> = scope.vms.iter().copied().chain(claims).collect();
    for vm in rows.vms.iter().filter(|vm| vms.contains(&vm.id)) {
        ask.extend([vm.host, vm.last_host, vm.power_host].into_iter().flatten());
    }
    // A volume may be anywhere that its pool reaches.
    let looks = BTreeMap::new();
    let evidence = assemble(reader, scope, orders.stuck_after, rows.clone(), looks, started);
    let sight = Sight::new(&evidence);
    for volume in sight.volumes().filter(|v| scope.volumes.contains(&v.id)) {
        ask.extend(sight.hosts_of(volume));
    }
    ask.retain(|id| sight.host(*id).is_some());
    ask
}

/// Rows and looks, as one value.
pub(super) fn assemble(
    reader: &Reader,
    scope: &Scope,
    stuck_after: Duration,
    rows: Rows,
    looks: BTreeMap<HostId, Look>,
    started: Timestamp,
) -> Evidence {
    Evidence {
        started,
        finished: Timestamp::now(),
        scope: scope.clone(),
        stuck_after: stuck_after.as_secs(),
        database: Database {
            server: reader.server().to_owned(),
            cloudstack: reader.cloudstack().map(str::to_owned),
            read_at: rows.read_at,
            read_again_at: None,
        },
        zones: rows.zones,
        clusters: rows.clusters,
        hosts: rows.hosts,
        pools: rows.pools,
        vms: rows.vms,
        volumes: rows.volumes,
        jobs: rows.jobs,
        reconcile: rows.reconcile,
        records: BTreeMap::new(),
        logs: None,
        moved: crate::evidence::Moved::default(),
        looks,
        warnings: reader.warnings().to_vec(),
        earlier: None,
    }
}

fn take_apart(evidence: Evidence) -> (Rows, BTreeMap<HostId, Look>) {
    let rows = Rows {
        zones: evidence.zones,
        clusters: evidence.clusters,
        hosts: evidence.hosts,
        pools: evidence.pools,
        vms: evidence.vms,
        volumes: evidence.volumes,
        jobs: evidence.jobs,
        reconcile: evidence.reconcile,
        read_at: evidence.database.read_at,
    };
    (rows, evidence.looks)
}
