//! Rows of a cloud: each with sane defaults, each column settable, written with parameters.
//!
//! It must never check anything: rows that contradict each other are what the tests are about. Playing by CloudStack's rules is
//! `replay`'s part.

use anyhow::{Context, Result};
use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Params, Value};

use super::maria::Db;

/// One row to be: a table and its columns.
#[derive(Debug, Clone)]
pub struct Row {
    table: &'static str,
    fields: Vec<(String, Value)>,
}

const ADMIN: u64 = 2;
pub const BORN: &str = "2026-06-01 08:00:00";

impl Row {
    pub fn new(table: &'static str) -> Self {
        Self {
            table,
            fields: Vec::new(),
        }
    }

    /// Sets a column, again if it was set.
    #[must_use]
    pub fn set(mut self, column: &str, value: impl Into<Value>) -> Self {
        self.fields.retain(|(name, _)| name != column);
        self.fields.push((column.to_owned(), value.into()));
        self
    }

    /// Sets a column to NULL.
    #[must_use]
    pub fn null(self, column: &str) -> Self {
        self.set(column, Value::NULL)
    }

    /// Leaves a column to the table's default (or out, where the release has none).
    #[must_use]
    pub fn without(mut self, column: &str) -> Self {
        self.fields.retain(|(name, _)| name != column);
        self
    }

    pub fn zone(id: u64, name: &str) -> Self {
        Self::new("data_center")
            .set("id", id)
            .set("name", name)
            .uuid(0xdc, id)
    }

    pub fn pod(id: u64, name: &str) -> Self {
        Self::new("host_pod_ref")
            .set("id", id)
            .set("name", name)
            .set("data_center_id", 1)
            .uuid(0xbd, id)
    }

    pub fn cluster(id: u64, name: &str) -> Self {
        Self::new("cluster")
            .set("id", id)
            .set("name", name)
            .set("pod_id", 1)
            .set("data_center_id", 1)
            .set("hypervisor_type", "KVM")
            .uuid(0xc1, id)
    }

    /// A KVM host that is Up; its address is the lab's for that number.
    pub fn host(id: u64, name: &str) -> Self {
        Self::new("host")
            .set("id", id)
            .set("name", name)
            .set("status", "Up")
            .set("type", "Routing")
            .set("private_ip_address", format!("10.99.0.{}", 10 + id))
            .set("storage_ip_address", format!("10.99.0.{}", 10 + id))
            .set("cluster_id", 1)
            .set("data_center_id", 1)
            .set("pod_id", 1)
            .set("hypervisor_type", "KVM")
            .set("guid", format!("guid-{id}-LibvirtComputingResource"))
            .set("mgmt_server_id", MSID)
            .set("created", BORN)
            .uuid(0x50, id)
    }

    /// A pool of any type, zone-wide; `path` and `host_address` as CloudStack keeps them for that type.
    pub fn pool(id: u64, kind: &str, path: &str) -> Self {
        let (host, port) = match kind {
            "RBD" => ("10.99.0.1", 6789),
            "NetworkFilesystem" => ("10.99.0.2", 2049),
            "Gluster" => ("10.99.0.2", 24007),
            "Iscsi" => ("10.99.0.5", 3260),
            _ => ("localhost", 0),
        };
        Self::new("storage_pool")
            .set("id", id)
            .set("name", format!("primary{id}"))
            .set("pool_type", kind)
            .set("port", port)
            .set("data_center_id", 1)
            .set("host_address", host)
            .set("path", path)
            .set("created", BORN)
            .set("status", "Up")
            .set("storage_provider_name", "DefaultPrimary")
            .set("scope", "ZONE")
            .set("hypervisor", "KVM")
            .set(
                "managed",
                u8::from(matches!(
                    kind,
                    "Iscsi" | "FiberChannel" | "PowerFlex" | "StorPool" | "Linstor"
                )),
            )
            .uuid(0x9001, id)
    }

    /// A running user VM of the admin account.
    pub fn vm(id: u64, name: &str, host: u64) -> Self {
        Self::new("vm_instance")
            .set("id", id)
            .set("name", name)
            .set("instance_name", format!("i-2-{id}-VM"))
            .set("state", "Running")
            .set("data_center_id", 1)
            .set("pod_id", 1)
            .set("host_id", host)
            .set("last_host_id", host)
            .set("power_host", host)
            .set("power_state", "PowerOn")
            .set("type", "User")
            .set("vm_type", "User")
            .set("account_id", ADMIN)
            .set("domain_id", 1)
            .set("hypervisor_type", "KVM")
            .set("created", BORN)
            .uuid(0x1157, id)
    }

    /// The row of `user_vm` that goes with a VM.
    pub fn user_vm(id: u64, name: &str) -> Self {
        Self::new("user_vm").set("id", id).set("display_name", name)
    }

    /// A data volume that is Ready and attached to nothing. Its path is its uuid.
    pub fn volume(id: u64, name: &str, pool: u64) -> Self {
        let row = Self::new("volumes")
            .set("id", id)
            .set("account_id", ADMIN)
            .set("domain_id", 1)
            .set("pool_id", pool)
            .set("name", name)
            .set("size", 16_u64 << 20)
            .set("pod_id", 1)
            .set("data_center_id", 1)
            .set("volume_type", "DATADISK")
            .set("disk_offering_id", 1)
            .set("created", BORN)
            .set("updated", BORN)
            .set("state", "Ready")
            .set("format", "QCOW2")
            .uuid(0x0d15, id);
        let path = uuid(0x0d15, id);
        row.set("path", path)
    }

    /// Says that the row's volume is attached.
    #[must_use]
    pub fn attached(self, vm: u64, device: u64) -> Self {
        let row = self
            .set("instance_id", vm)
            .set("device_id", device)
            .set("attached", BORN);
        if device == 0 {
            row.set("volume_type", "ROOT")
        } else {
            row
        }
    }

    /// A job of the API, at work.
    pub fn job(id: u64, command: &str, created: &str) -> Self {
        Self::new("async_job")
            .set("id", id)
            .set("user_id", ADMIN)
            .set("account_id", ADMIN)
            .set("job_cmd", command)
            .set("job_init_msid", MSID)
            .set("created", created)
            .set("last_updated", created)
            .set("related", "")
            .set("job_dispatcher", "ApiAsyncJobDispatcher")
            .uuid(0x0b, id)
    }

    pub fn event(kind: &str, state: &str, description: &str, created: &str) -> Self {
        Self::new("event")
            .set("type", kind)
            .set("state", state)
            .set("description", description)
            .set("user_id", ADMIN)
            .set("account_id", ADMIN)
            .set("domain_id", 1)
            .set("created", created)
            .set("level", "INFO")
    }

    pub fn snapshot(id: u64, volume: u64, status: &str) -> Self {
        Self::new("snapshots")
            .set("id", id)
            .set("data_center_id", 1)
            .set("account_id", ADMIN)
            .set("domain_id", 1)
            .set("volume_id", volume)
            .set("disk_offering_id", 1)
            .set("status", status)
            .set("name", format!("snap{id}"))
            .set("created", BORN)
            .uuid(0x57a9, id)
    }

    pub fn vm_snapshot(id: u64, vm: u64, state: &str) -> Self {
        Self::new("vm_snapshots")
            .set("id", id)
            .set("name", format!("i-2-{vm}-VM_VS_{id}"))
            .set("vm_id", vm)
            .set("account_id", ADMIN)
            .set("domain_id", 1)
            .set("vm_snapshot_type", "Disk")
            .set("state", state)
            .set("created", BORN)
            .uuid(0x57b9, id)
    }

    /// A row of `volume_details`, `vm_instance_details`, `host_details` or `storage_pool_details`.
    pub fn detail(table: &'static str, owner: u64, name: &str, value: &str) -> Self {
        let column = match table {
            "volume_details" => "volume_id",
            "host_details" => "host_id",
            "storage_pool_details" => "pool_id",
            _ => "vm_id",
        };
        Self::new(table)
            .set(column, owner)
            .set("name", name)
            .set("value", value)
    }

    fn uuid(self, kind: u16, id: u64) -> Self {
        self.set("uuid", uuid(kind, id))
    }
}

/// The one management server.
pub const MSID: u64 = 90_520_731_423_744;

/// A uuid that differs within its first 20 hex digits, as a serial must.
pub fn uuid(kind: u16, id: u64) -> String {
    format!(
        "{:08x}-{kind:04x}-4000-8{:03x}-{id:012x}",
        id & 0xffff_ffff,
        (id >> 32) & 0xfff
    )
}

/// A cloud's database, being written.
pub struct Cloud {
    pub db: Db,
    pub conn: Conn,
}

impl Cloud {
    /// A cloud with nothing in it.
    pub fn empty(db: &Db) -> Result<Self> {
        Ok(Self {
            db: db.clone(),
            conn: db.root()?,
        })
    }

    /// A cloud with one zone, pod, cluster and management server, and hosts `kvm1` to `kvmN`.
    pub fn new(db: &Db, hosts: u64) -> Result<Self> {
        let mut cloud = Self::empty(db)?;
        cloud.add(Row::zone(1, "zone1"))?;
        cloud.add(Row::pod(1, "pod1"))?;
        cloud.add(Row::cluster(1, "cluster1"))?;
        cloud.add(
            Row::new("mshost")
                .set("msid", MSID)
                .set("name", "ms1")
                .set("state", "Up")
                .set("service_ip", "10.99.0.3")
                .set("service_port", 9090)
                .set("last_update", super::when::now()?)
                .uuid(0x35, 1),
        )?;
        for id in 1..=hosts {
            cloud.add(Row::host(id, &format!("kvm{id}")))?;
        }
        Ok(cloud)
    }

    /// Writes a row and gives its id.
    pub fn add(&mut self, row: Row) -> Result<u64> {
        let (names, values): (Vec<String>, Vec<Value>) = row.fields.into_iter().unzip();
        let columns = names
            .iter()
            .map(|n| format!("`{n}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let marks = vec!["?"; names.len()].join(", ");
        let given = names.iter().position(|n| n == "id").map(|at| values[at].clone());
        let sql = format!("INSERT INTO `{}` ({columns}) VALUES ({marks})", row.table);
        self.conn
            .exec_drop(&sql, Params::Positional(values))
            .with_context(|| sql.clone())?;
        match given {
            Some(value) => Ok(mysql::from_value_opt(value)?),
            None => Ok(self.conn.last_insert_id()),
        }
    }

    /// Writes a VM and its `user_vm` row.
    pub fn add_vm(&mut self, row: Row) -> Result<u64> {
        let id = self.add(row)?;
        let name: String = self.one("SELECT name FROM vm_instance WHERE id = ?", (id,))?;
        self.add(Row::user_vm(id, &name))
    }

    /// Changes one column of one row.
    pub fn update(&mut self, table: &str, id: u64, column: &str, value: impl Into<Value>) -> Result<()> {
        let sql = format!("UPDATE `{table}` SET `{column}` = ? WHERE id = ?");
        self.exec(&sql, (value.into(), id)).map(drop)
    }

    /// Runs a statement and gives the number of rows that it changed.
    pub fn exec(&mut self, sql: &str, params: impl Into<Params>) -> Result<u64> {
        self.conn.exec_drop(sql, params).with_context(|| sql.to_owned())?;
        Ok(self.conn.affected_rows())
    }

    /// The first row of a query, which must be there.
    pub fn one<T: FromRow>(&mut self, sql: &str, params: impl Into<Params>) -> Result<T> {
        self.maybe(sql, params)?.with_context(|| format!("no row: {sql}"))
    }

    pub fn maybe<T: FromRow>(&mut self, sql: &str, params: impl Into<Params>) -> Result<Option<T>> {
        self.conn.exec_first(sql, params).with_context(|| sql.to_owned())
    }

    pub fn all<T: FromRow>(&mut self, sql: &str, params: impl Into<Params>) -> Result<Vec<T>> {
        self.conn.exec(sql, params).with_context(|| sql.to_owned())
    }
}
