//! A healthy cloud of any size: hosts, VMs of four RBD disks each, and the rows that match them to the byte.

use anyhow::{Context, Result};
use mysql::prelude::Queryable;

use super::lab::domxml::{Disk, Domain, Pool, Source};
use super::lab::rows::{BORN, uuid};
use super::lab::{Cloud, Db, Row};

/// Disks of each domain.
pub const DISKS: u64 = 4;
/// Of the uuids of volumes and VMs, as the lab's rows have them.
const VOLUME: u16 = 0x0d15;
const VM: u16 = 0x1157;

/// How large.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub hosts: u64,
    /// On each host.
    pub domains: u64,
}

impl Size {
    pub fn vms(self) -> u64 {
        self.hosts * self.domains
    }

    pub fn disks(self) -> u64 {
        self.vms() * DISKS
    }
}

/// Writes the rows. The server makes them: 100,000 volumes one by one would take longer than all that is measured.
pub fn write(db: &Db, size: Size) -> Result<()> {
    let mut cloud = Cloud::new(db, size.hosts)?;
    cloud.add(Row::pool(1, "RBD", "cloudstack"))?;
    let vms = format!(
        "INSERT INTO vm_instance (id, name, uuid, instance_name, state, data_center_id, pod_id, host_id, last_host_id, power_host, \
                                  power_state, type, vm_type, account_id, domain_id, hypervisor_type, created) \
         SELECT seq, CONCAT('vm', seq), {uuid}, CONCAT('i-2-', seq, '-VM'), 'Running', 1, 1, {host}, {host}, {host}, \
                'PowerOn', 'User', 'User', 2, 1, 'KVM', '{BORN}' FROM seq_1_to_{count}",
        uuid = uuid_sql(VM),
        host = format_args!("1 + FLOOR((seq - 1) / {})", size.domains),
        count = size.vms(),
    );
    let users = format!(
        "INSERT INTO user_vm (id, display_name) SELECT seq, CONCAT('vm', seq) FROM seq_1_to_{}",
        size.vms()
    );
    let volumes = format!(
        "INSERT INTO volumes (id, account_id, domain_id, pool_id, name, size, pod_id, data_center_id, volume_type, disk_offering_id, \
                              created, updated, attached, state, format, uuid, path, instance_id, device_id) \
         SELECT seq, 2, 1, 1, CONCAT('disk', seq), 16777216, 1, 1, IF((seq - 1) MOD {DISKS} = 0, 'ROOT', 'DATADISK'), 1, \
                '{BORN}', '{BORN}', '{BORN}', 'Ready', 'RAW', {uuid}, {uuid}, 1 + FLOOR((seq - 1) / {DISKS}), (seq - 1) MOD {DISKS} \
           FROM seq_1_to_{count}",
        uuid = uuid_sql(VOLUME),
        count = size.disks(),
    );
    for sql in [vms, users, volumes] {
        cloud.conn.query_drop(&sql).with_context(|| sql.clone())?;
    }
    // As on a server that has been up for a while.
    cloud
        .conn
        .query_drop("ANALYZE TABLE vm_instance, volumes")
        .context("ANALYZE TABLE")
}

/// [`uuid`] of `seq`, as SQL.
fn uuid_sql(kind: u16) -> String {
    format!("CONCAT(LPAD(LOWER(HEX(seq)), 8, '0'), '-{kind:04x}-4000-8000-', LPAD(LOWER(HEX(seq)), 12, '0'))")
}

/// The XML of a host's domains; `host` counts from 1.
pub fn domains(size: Size, host: u64) -> Vec<String> {
    let first = (host - 1) * size.domains + 1;
    (first..first + size.domains).map(domain).collect()
}

fn domain(vm: u64) -> String {
    let pool = Pool {
        uuid: uuid(0x9001, 1),
        kind: "RBD".to_owned(),
        path: "cloudstack".to_owned(),
        host_address: "10.99.0.1".to_owned(),
        port: 6789,
        user_info: Some("cloudstack:secret".to_owned()),
    };
    let disks = (0..DISKS).map(|device| {
        let volume = uuid(VOLUME, (vm - 1) * DISKS + device + 1);
        Disk::new(Source::of(&pool, &volume, None), "raw", device, &volume)
    });
    let bare = Domain::new(&format!("i-2-{vm}-VM"), &uuid(VM, vm));
    disks.fold(bare, |domain, disk| domain.disk(&disk)).test_xml()
}
