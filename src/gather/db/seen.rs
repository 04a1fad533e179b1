//! Rows for what the hosts showed and the first read had not: removed volumes and VMs, and, in a scope, other VMs' rows.
//!
//! Names, serials and paths come from domain XML: they go into statements as parameters only.

use super::rows::{self, Rows, list};
use super::{DbError, Reader};
use crate::evidence::Scope;
use crate::model::{
    Device, Disk, Domain, PoolId, SourceKind, VmId, VolumeId, expected_keys, seen_keys, serial_of,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Suspects per statement.
const CHUNK: usize = 1000;

impl Reader {
    /// Adds the rows that the hosts' domains and disks lead to, removed ones included. A statement per thousand suspects.
    ///
    /// # Errors
    /// When a statement fails, or a row cannot be read.
    pub fn seen<'d>(
        &mut self,
        rows: &mut Rows,
        scope: &Scope,
        domains: impl Iterator<Item = &'d Domain>,
    ) -> Result<(), DbError> {
        let domains: Vec<&Domain> = domains.collect();
        self.begin()?;
        self.add_vms_of(rows, &domains)?;
        self.add_volumes_of(rows, &domains)?;
        self.complete(rows, scope)?;
        self.end()
    }

    fn add_vms_of(&mut self, rows: &mut Rows, domains: &[&Domain]) -> Result<(), DbError> {
        let names: HashSet<&str> = rows.vms.iter().map(|vm| vm.instance.as_str()).collect();
        let uuids: HashSet<String> = rows
            .vms
            .iter()
            .filter_map(crate::model::Vm::domain_uuid)
            .collect();
        let unknown = domains
            .iter()
            .filter(|d| !(names.contains(d.name.as_str()) && uuids.contains(&d.uuid)));
        let words: BTreeSet<(String, String)> = unknown.map(|d| (d.name.clone(), d.uuid.clone())).collect();
        let words: Vec<(String, String)> = words.into_iter().collect();
        let mut found = BTreeSet::new();
        for chunk in words.chunks(CHUNK) {
            let marks = marks(chunk.len());
            let sql = format!(
                "SELECT i.id FROM vm_instance i WHERE i.instance_name IN ({marks}) UNION SELECT i.id FROM vm_instance i WHERE i.uuid IN ({marks})"
            );
            let mut params: Vec<String> = chunk.iter().map(|(name, _)| name.clone()).collect();
            params.extend(chunk.iter().map(|(_, uuid)| uuid.clone()));
            found.extend(self.ask("vm_instance", &sql, params, |c| c.id(0, VmId))?);
        }
        self.add_vms(rows, found)
    }

    /// VMs by id, removed ones included.
    fn add_vms(&mut self, rows: &mut Rows, mut ids: BTreeSet<VmId>) -> Result<(), DbError> {
        let have: HashSet<VmId> = rows.vms.iter().map(|vm| vm.id).collect();
        ids.retain(|id| !have.contains(id));
        let ids: Vec<VmId> = ids.into_iter().collect();
        for chunk in ids.chunks(CHUNK) {
            let filter = format!("i.id IN ({})", list(chunk.iter().map(|id| id.0)));
            rows.vms.extend(self.vms(&filter)?);
        }
        rows.vms.sort_by_key(|vm| vm.id);
        Ok(())
    }

    fn add_volumes_of(&mut self, rows: &mut Rows, domains: &[&Domain]) -> Result<(), DbError> {
        let suspects = suspects(rows, domains);
        let have: HashSet<VolumeId> = rows.volumes.iter().map(|v| v.id).collect();
        let mut found: BTreeMap<VolumeId, crate::model::Volume> = BTreeMap::new();
        let uuids: Vec<String> = suspects.uuids.into_iter().collect();
        let paths: Vec<String> = suspects.paths.into_iter().collect();
        for chunk in uuids.chunks(CHUNK) {
            let filter = vec!["v.uuid LIKE ?"; chunk.len()].join(" OR ");
            let sql = self.schema.fit(include_str!("../sql/volumes.sql"), &filter);
            for volume in self.ask("volumes", &sql, chunk.to_vec(), rows::volume)? {
                found.insert(volume.id, volume);
            }
        }
        for chunk in paths.chunks(CHUNK) {
            let marks = marks(chunk.len());
            let sql = self.schema.fit(
                include_str!("../sql/volumes.sql"),
                &format!("v.path IN ({marks})"),
            );
            for volume in self.ask("volumes", &sql, chunk.to_vec(), rows::volume)? {
                found.insert(volume.id, volume);
            }
        }
        rows.volumes
            .extend(found.into_values().filter(|v| !have.contains(&v.id)));
        rows.volumes.sort_by_key(|v| v.id);
        Ok(())
    }

    /// In a scope: the VMs that the volumes claim, and all live volumes of every VM at hand, so that slots can be judged.
    pub(super) fn complete(&mut self, rows: &mut Rows, scope: &Scope) -> Result<(), DbError> {
        let claimed: BTreeSet<VmId> = rows.volumes.iter().filter_map(|v| v.instance).collect();
        self.add_vms(rows, claimed)?;
        if scope.is_everything() {
            return Ok(());
        }
        let have: HashSet<VolumeId> = rows.volumes.iter().map(|v| v.id).collect();
        let ids: Vec<VmId> = rows.vms.iter().map(|vm| vm.id).collect();
        for chunk in ids.chunks(CHUNK) {
            let vms = list(chunk.iter().map(|id| id.0));
            let more = self.volumes(&format!("v.removed IS NULL AND v.instance_id IN ({vms})"))?;
            rows.volumes
                .extend(more.into_iter().filter(|v| !have.contains(&v.id)));
        }
        rows.volumes.sort_by_key(|v| v.id);
        Ok(())
    }
}

/// `?, ?, …`
pub(super) fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

#[derive(Default)]
struct Suspects {
    /// `LIKE` patterns of uuids, made of checked hex digits.
    uuids: BTreeSet<String>,
    /// What `volumes.path` may hold.
    paths: BTreeSet<String>,
}

/// Disks whose serial and source do not both lead to one loaded row.
fn suspects(rows: &Rows, domains: &[&Domain]) -> Suspects {
    let pools: HashMap<PoolId, &crate::model::Pool> = rows.pools.iter().map(|p| (p.id, p)).collect();
    let serials: HashMap<u128, &crate::model::Volume> = rows
        .volumes
        .iter()
        .filter_map(|v| Some((serial_of(v.uuid.as_deref()?)?, v)))
        .collect();
    let mut out = Suspects::default();
    for disk in domains
        .iter()
        .flat_map(|d| &d.disks)
        .filter(|d| d.device == Device::Disk)
    {
        let serial = disk.serial.as_deref().and_then(serial_of);
        let row = serial.and_then(|serial| serials.get(&serial));
        let known = row.is_some_and(|volume| {
            let pool = volume.pool.and_then(|id| pools.get(&id));
            let expected = pool.map_or_else(Vec::new, |pool| expected_keys(volume, pool));
            let seen = disk.source.as_ref().map_or_else(Vec::new, seen_keys);
            !volume.is_deleted() && expected.iter().any(|key| seen.contains(key))
        });
        if known {
            continue;
        }
        if let (Some(serial), None) = (serial, row) {
            out.uuids.insert(pattern(serial));
        }
        out.paths.extend(paths(disk));
    }
    out
}

/// `xxxxxxxx-xxxx-xxxx-xxxx%`: the uuids of a serial.
fn pattern(serial: u128) -> String {
    let hex = format!("{serial:020x}");
    format!("{}-{}-{}-{}%", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20])
}

/// What `volumes.path` may hold for a disk's source, and those below it.
fn paths(disk: &Disk) -> Vec<String> {
    let mut out = Vec::new();
    for source in disk.source.iter().chain(&disk.backing) {
        let name = source.name.trim_end_matches('/');
        let last = name.rsplit('/').next().unwrap_or(name);
        out.push(last.to_owned());
        match source.kind {
            SourceKind::Block => {
                out.push(name.to_owned());
                // DRBD names the volume in the directory, the device mapper behind the volume group.
                out.extend(
                    name.strip_prefix("/dev/drbd/by-res/cs-")
                        .and_then(|r| r.split('/').next())
                        .map(str::to_owned),
                );
                if let Some(mapped) = name.strip_prefix("/dev/mapper/") {
                    out.extend(mapped.split_once('-').map(|(_, lv)| lv.replace("--", "-")));
                }
            }
            SourceKind::Rbd | SourceKind::Gluster => {
                out.extend(name.split_once('/').map(|(_, image)| image.to_owned()));
            }
            SourceKind::File | SourceKind::Other => {}
        }
    }
    out.retain(|path| !path.is_empty() && path.len() <= 255);
    out
}
