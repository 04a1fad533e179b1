//! The rows, in one transaction: whole tables, or what a scope leads to.

use super::cells::Cells;
use super::schema::Schema;
use super::{DbError, Reader};
use crate::evidence::Scope;
use crate::gather::domain_xml::disks_of_fragment;
use crate::model::{
    AccountId, Cluster, ClusterId, DomainId, ExtraDisk, Host, HostId, Job, Pool, PoolId, Reconcile, Vm, VmId,
    Volume, VolumeId, Zone, ZoneId,
};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one transaction read.
#[derive(Clone, Debug)]
pub struct Rows {
    /// `data_center`, by id; likewise below.
    pub zones: Vec<Zone>,
    /// `cluster`.
    pub clusters: Vec<Cluster>,
    /// `host`: KVM hypervisors that are not removed, and removed ones on which VMs run by their rows.
    pub hosts: Vec<Host>,
    /// `storage_pool`, removed ones too: an old disk may still stand on one.
    pub pools: Vec<Pool>,
    /// `vm_instance`.
    pub vms: Vec<Vm>,
    /// `volumes`.
    pub volumes: Vec<Volume>,
    /// `async_job`.
    pub jobs: Vec<Job>,
    /// `reconcile_commands`.
    pub reconcile: Vec<Reconcile>,
    /// When, by the database's clock.
    pub read_at: Timestamp,
}

/// A list of numbers for `IN (…)`; never empty, since SQL has no empty list.
pub(super) fn list(ids: impl Iterator<Item = u64>) -> String {
    let mut text = ids.map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        text.push('0');
    }
    text
}

/// VMs that a scope leads to, as a condition on `vm_instance i`.
fn vms_in(scope: &Scope, schema: &Schema) -> String {
    if scope.is_everything() {
        return "i.removed IS NULL".to_owned();
    }
    let hosts = list(scope.hosts.union(&scope.areas).map(|id| id.0));
    let vms = list(scope.vms.iter().map(|id| id.0));
    let reported = schema.fit("{{vm_instance.i.power_host}}", "");
    format!(
        "i.removed IS NULL AND (i.host_id IN ({hosts}) OR i.last_host_id IN ({hosts}) OR {reported} IN ({hosts}) OR i.id IN ({vms}))"
    )
}

/// Volumes that a scope leads to, as a condition on `volumes v`.
fn volumes_in(scope: &Scope, schema: &Schema) -> String {
    if scope.is_everything() {
        return "v.removed IS NULL".to_owned();
    }
    let volumes = list(scope.volumes.iter().map(|id| id.0));
    let vms = vms_in(scope, schema);
    format!(
        "v.id IN ({volumes}) OR (v.removed IS NULL AND v.instance_id IN (SELECT i.id FROM vm_instance i WHERE {vms}))"
    )
}

impl Reader {
    /// Reads the rows in one transaction, which stays open: rows that the hosts lead to are read as of the same moment,
    /// before the hosts (`seen`). The number of statements does not depend on the number of VMs.
    ///
    /// # Errors
    /// When a statement fails, or a row cannot be read.
    pub fn rows(&mut self, scope: &Scope) -> Result<Rows, DbError> {
        self.begin()?;
        self.rows_now(scope)
    }

    pub(super) fn rows_now(&mut self, scope: &Scope) -> Result<Rows, DbError> {
        let now = self.read("the time", "SELECT UTC_TIMESTAMP()", |c| c.time(0))?;
        let mut rows = Rows {
            zones: self.zones()?,
            clusters: self.clusters()?,
            hosts: self.hosts()?,
            pools: self.pools()?,
            vms: self.vms(&vms_in(scope, &self.schema))?,
            volumes: self.volumes(&volumes_in(scope, &self.schema))?,
            jobs: self.jobs()?,
            reconcile: self.reconcile()?,
            read_at: now.into_iter().flatten().next().unwrap_or_else(Timestamp::now),
        };
        // A volume in scope leads to its VM, and a VM to all its slots.
        self.complete(&mut rows, scope)?;
        Ok(rows)
    }

    pub(super) fn zones(&mut self) -> Result<Vec<Zone>, DbError> {
        self.read("data_center", include_str!("../sql/zones.sql"), |c| {
            Ok(Zone {
                id: c.id(0, ZoneId)?,
                uuid: c.text(1),
                name: c.text(2).unwrap_or_default(),
            })
        })
    }

    pub(super) fn clusters(&mut self) -> Result<Vec<Cluster>, DbError> {
        self.read("cluster", include_str!("../sql/clusters.sql"), |c| {
            Ok(Cluster {
                id: c.id(0, ClusterId)?,
                uuid: c.text(1),
                name: c.text(2).unwrap_or_default(),
                zone: c.id(3, ZoneId)?,
                hypervisor: c.text(4),
            })
        })
    }

    pub(super) fn hosts(&mut self) -> Result<Vec<Host>, DbError> {
        self.read("host", include_str!("../sql/hosts.sql"), |c| {
            Ok(Host {
                id: c.id(0, HostId)?,
                uuid: c.text(1),
                name: c.must_text(2)?,
                ip: c.text(3).unwrap_or_default().trim().to_owned(),
                zone: c.id(4, ZoneId)?,
                cluster: c.maybe(5, ClusterId)?,
                status: c.text(6).unwrap_or_default(),
                resource_state: c.text(7).unwrap_or_default(),
                removed: c.time(8)?,
            })
        })
    }

    pub(super) fn pools(&mut self) -> Result<Vec<Pool>, DbError> {
        let sql = self.schema.fit(include_str!("../sql/pools.sql"), "");
        let mut pools = self.read("storage_pool", &sql, |c| {
            Ok(Pool {
                id: c.id(0, PoolId)?,
                uuid: c.text(1).unwrap_or_default(),
                name: c.text(2).unwrap_or_default(),
                kind: c.text(3).unwrap_or_default().as_str().into(),
                address: c.text(4),
                port: c.number(5)?.and_then(|n| i64::try_from(n).ok()),
                path: c.text(6),
                scope: c.text(7).map(|word| word.as_str().into()),
                zone: c.maybe(8, ZoneId)?,
                cluster: c.maybe(9, ClusterId)?,
                hypervisor: c.text(10),
                managed: c.flag(11),
                removed: c.time(12)?,
                hosts: Vec::new(),
            })
        })?;
        let pairs = self.read(
            "storage_pool_host_ref",
            include_str!("../sql/pool_hosts.sql"),
            |c| Ok((c.id(0, PoolId)?, c.id(1, HostId)?)),
        )?;
        let mut hosts: HashMap<PoolId, Vec<HostId>> = HashMap::new();
        for (pool, host) in pairs {
            hosts.entry(pool).or_default().push(host);
        }
        for pool in &mut pools {
            pool.hosts = hosts.remove(&pool.id).unwrap_or_default();
        }
        Ok(pools)
    }

    pub(super) fn vms(&mut self, filter: &str) -> Result<Vec<Vm>, DbError> {
        let sql = self.schema.fit(include_str!("../sql/vms.sql"), filter);
        let mut vms = self.read("vm_instance", &sql, vm)?;
        self.add_details(&mut vms, filter)?;
        Ok(vms)
    }

    /// The details and snapshots of VMs that were just read by `filter`.
    pub(super) fn add_details(&mut self, vms: &mut [Vm], filter: &str) -> Result<(), DbError> {
        if vms.is_empty() {
            return Ok(());
        }
        let mut details: BTreeMap<VmId, Vec<(String, String)>> = BTreeMap::new();
        if self.schema.has("vm_instance_details") || self.schema.has("user_vm_details") {
            let within = format!("d.vm_id IN (SELECT i.id FROM vm_instance i WHERE {filter})");
            let sql = self.schema.fit(include_str!("../sql/vm_details.sql"), &within);
            let found = self.read("the VMs' details", &sql, |c| {
                Ok((
                    c.id(0, VmId)?,
                    c.text(1).unwrap_or_default(),
                    c.text(2).unwrap_or_default(),
                ))
            })?;
            for (vm, name, value) in found {
                details.entry(vm).or_default().push((name, value));
            }
        }
        let snapshots: BTreeSet<VmId> = self
            .read("vm_snapshots", include_str!("../sql/vm_snapshots.sql"), |c| {
                c.id(0, VmId)
            })?
            .into_iter()
            .collect();
        for vm in vms {
            vm.has_snapshot = snapshots.contains(&vm.id);
            for (name, value) in details.remove(&vm.id).unwrap_or_default() {
                if name == "dataDiskController" {
                    vm.data_disk_controller = Some(value);
                } else {
                    add_extra(vm, &value);
                }
            }
        }
        Ok(())
    }

    pub(super) fn volumes(&mut self, filter: &str) -> Result<Vec<Volume>, DbError> {
        let sql = self.schema.fit(include_str!("../sql/volumes.sql"), filter);
        self.read("volumes", &sql, volume)
    }
}

pub(super) fn vm(c: &Cells<'_>) -> Result<Vm, DbError> {
    Ok(Vm {
        id: c.id(0, VmId)?,
        uuid: c.text(1),
        name: c.text(2).unwrap_or_default(),
        instance: c.must_text(3)?,
        state: c.must_text(4)?.as_str().into(),
        kind: c.must_text(5)?.as_str().into(),
        host: c.maybe(6, HostId)?,
        last_host: c.maybe(7, HostId)?,
        power_host: c.maybe(8, HostId)?,
        account: c.id(9, AccountId)?,
        domain: c.id(10, DomainId)?,
        zone: c.id(11, ZoneId)?,
        hypervisor: c.text(12).unwrap_or_default(),
        removed: c.time(13)?,
        update_time: c.time(14)?,
        has_backup_offering: c.number(15)?.is_some(),
        has_snapshot: false,
        data_disk_controller: None,
        extra_disks: Vec::new(),
        extra_unreadable: false,
    })
}

pub(super) fn volume(c: &Cells<'_>) -> Result<Volume, DbError> {
    let slot = c.number(8)?;
    Ok(Volume {
        id: c.id(0, VolumeId)?,
        uuid: c.text(1),
        name: c.text(2),
        path: c.text(3),
        iscsi_name: c.text(4),
        pool: c.maybe(5, PoolId)?,
        last_pool: c.maybe(6, PoolId)?,
        instance: c.maybe(7, VmId)?,
        device_id: slot.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        kind: c.text(9).unwrap_or_default().as_str().into(),
        state: c.text(10).unwrap_or_default().as_str().into(),
        account: c.id(11, AccountId)?,
        domain: c.id(12, DomainId)?,
        zone: c.id(13, ZoneId)?,
        size: c.number(14)?.unwrap_or(0),
        attached: c.time(15)?,
        updated: c.time(16)?,
        removed: c.time(17)?,
        update_count: c.number(18)?.unwrap_or(0),
        encrypted: c.number(19)?.is_some(),
        last_id: c.maybe(20, VolumeId)?,
    })
}

/// An `extraconfig-N` detail: XML that CloudStack merges into the domain, stored plain or URL-encoded.
fn add_extra(vm: &mut Vm, value: &str) {
    let plain = if value.contains('<') {
        value.to_owned()
    } else {
        url_decoded(value)
    };
    if !plain.contains('<') {
        return;
    }
    match disks_of_fragment(&plain) {
        Ok(disks) => vm.extra_disks.extend(disks.into_iter().map(|disk| ExtraDisk {
            source: disk.source.map(|source| source.name),
            target: Some(disk.target).filter(|t| !t.is_empty()),
        })),
        Err(_) => vm.extra_unreadable = true,
    }
}

fn url_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[at], hex.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
