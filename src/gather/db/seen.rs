//! Rows for what the hosts showed and the first read had not: removed volumes and VMs, and, in a scope, other VMs' rows.
//!
//! Names, serials and paths come from domain XML: they go into statements as parameters only.

use super::rows::{self, Rows, list};
use super::{DbError, Reader};
use crate::evidence::Scope;
use crate::model::{
    Device, Disk, Domain, PoolId, Source, SourceKind, VmId, VolumeId, expected_keys, seen_keys, serial_of,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Suspects per statement.
const CHUNK: usize = 1000;

impl Reader {
    /// Adds the rows that the hosts' domains and disks lead to, removed ones included. A statement per thousand suspects.
    ///
    /// They are read in the transaction that `rows` began, as of before the hosts: read after them, a detach that ended
    /// in between would look like an orphan.
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
        self.add_vms_of(rows, &domains)?;
        self.add_volumes_of(rows, &domains)?;
        self.complete(rows, scope)
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
        let iscsi_name = self.schema.fit("{{volumes.v.iscsi_name}}", "");
        let mut look_up =
            |reader: &mut Self, words: BTreeSet<String>, filter: &dyn Fn(usize) -> String, times| {
                let words: Vec<String> = words.into_iter().collect();
                for chunk in words.chunks(CHUNK) {
                    let sql = reader
                        .schema
                        .fit(include_str!("../sql/volumes.sql"), &filter(chunk.len()));
                    for volume in reader.ask("volumes", &sql, vec![chunk; times].concat(), rows::volume)? {
                        found.insert(volume.id, volume);
                    }
                }
                Ok::<(), DbError>(())
            };
        let any = |column: &str, count: usize| vec![format!("{column} LIKE ?"); count].join(" OR ");
        look_up(self, suspects.uuids, &|n| any("v.uuid", n), 1)?;
        look_up(self, suspects.patterns, &|n| any("v.path", n), 1)?;
        let named = |n| format!("v.path IN ({0}) OR {iscsi_name} IN ({0})", marks(n));
        look_up(self, suspects.paths, &named, 2)?;
        rows.volumes
            .extend(found.into_values().filter(|v| !have.contains(&v.id)));
        rows.volumes.sort_by_key(|v| v.id);
        Ok(())
    }

    /// The VMs that the volumes claim or their jobs name; in a scope, all live volumes of every VM at hand, so that slots
    /// can be judged.
    pub(super) fn complete(&mut self, rows: &mut Rows, scope: &Scope) -> Result<(), DbError> {
        let volumes: HashSet<VolumeId> = rows.volumes.iter().map(|v| v.id).collect();
        let named = rows
            .jobs
            .iter()
            .filter(|job| job.volume.is_some_and(|id| volumes.contains(&id)));
        let vms: BTreeSet<VmId> = rows
            .volumes
            .iter()
            .filter_map(|v| v.instance)
            .chain(named.filter_map(|job| job.vm))
            .collect();
        self.add_vms(rows, vms)?;
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
    /// What `volumes.path` or `iscsi_name` may hold.
    paths: BTreeSet<String>,
    /// `LIKE` patterns of paths that hold more than the source shows, made of checked hex digits.
    patterns: BTreeSet<String>,
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
        out.patterns
            .extend(disk.source.iter().chain(&disk.backing).filter_map(long_path));
    }
    out
}

/// `xxxxxxxx-xxxx-xxxx-xxxx%`: the uuids of a serial.
fn pattern(serial: u128) -> String {
    let hex = format!("{serial:020x}");
    format!("{}-{}-{}-{}%", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20])
}

/// What `volumes.path` may hold for a disk's source, and those below it.
pub(super) fn paths(disk: &Disk) -> Vec<String> {
    let mut out = Vec::new();
    for source in disk.source.iter().chain(&disk.backing) {
        let name = source.name.trim_end_matches('/');
        let last = name.rsplit('/').next().unwrap_or(name);
        out.push(last.to_owned());
        match source.kind {
            SourceKind::Block => {
                out.push(name.to_owned());
                // `/dev/disk/by-path/ip-ADDRESS:PORT-iscsi-IQN-lun-N` is `/IQN/N` in the row.
                let target = name
                    .split_once("-iscsi-")
                    .and_then(|(_, rest)| rest.rsplit_once("-lun-"));
                out.extend(target.map(|(iqn, lun)| format!("/{iqn}/{lun}")));
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

/// PowerFlex keeps `ID:name`, FiberChannel and NVMe/TCP `type=…; address=ID; …`: the source shows the id only.
fn long_path(source: &Source) -> Option<String> {
    let name = source.name.as_str();
    let (id, around) = if let Some(rest) = name.strip_prefix("/dev/disk/by-id/emc-vol-") {
        (rest.rsplit_once('-')?.1, ("", ":%"))
    } else if let Some(eui) = name.strip_prefix("/dev/disk/by-id/nvme-eui.") {
        (eui, ("%address=", "%"))
    } else {
        (name.strip_prefix("/dev/mapper/3")?, ("%address=", "%"))
    };
    let hex = !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| format!("{}{id}{}", around.0, around.1))
}
