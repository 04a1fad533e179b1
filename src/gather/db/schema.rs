//! What this release of CloudStack calls things: columns and tables that differ between 4.15 and 4.23.

use super::error::{self, DbError};
use super::settings::DatabaseSettings;
use std::collections::BTreeSet;

/// Columns that a scan cannot do without; the others are read as NULL where they are missing.
const NEEDED: [(&str, &[&str]); 12] = [
    (
        "volumes",
        &[
            "id",
            "uuid",
            "name",
            "path",
            "pool_id",
            "last_pool_id",
            "instance_id",
            "device_id",
            "volume_type",
            "state",
            "account_id",
            "domain_id",
            "data_center_id",
            "size",
            "attached",
            "updated",
            "removed",
            "update_count",
        ],
    ),
    (
        "vm_instance",
        &[
            "id",
            "uuid",
            "name",
            "instance_name",
            "state",
            "type",
            "host_id",
            "last_host_id",
            "account_id",
            "domain_id",
            "data_center_id",
            "hypervisor_type",
            "removed",
            "update_time",
        ],
    ),
    (
        "host",
        &[
            "id",
            "uuid",
            "name",
            "type",
            "hypervisor_type",
            "private_ip_address",
            "data_center_id",
            "cluster_id",
            "status",
            "resource_state",
            "removed",
        ],
    ),
    (
        "cluster",
        &[
            "id",
            "uuid",
            "name",
            "data_center_id",
            "hypervisor_type",
            "removed",
        ],
    ),
    ("data_center", &["id", "uuid", "name", "removed"]),
    (
        "storage_pool",
        &[
            "id",
            "uuid",
            "name",
            "pool_type",
            "host_address",
            "port",
            "path",
            "data_center_id",
            "cluster_id",
            "removed",
        ],
    ),
    ("storage_pool_host_ref", &["pool_id", "host_id"]),
    (
        "async_job",
        &[
            "id",
            "related",
            "job_cmd",
            "job_type",
            "job_status",
            "instance_type",
            "instance_id",
            "job_cmd_info",
            "created",
            "last_updated",
            "job_result",
            "job_executing_msid",
            "job_init_msid",
        ],
    ),
    ("vm_work_job", &["id", "vm_instance_id"]),
    (
        "sync_queue_item",
        &["id", "content_type", "content_id", "queue_proc_number"],
    ),
    ("snapshots", &["id", "volume_id"]),
    ("vm_snapshots", &["vm_id", "removed"]),
];

/// The columns that are there.
#[derive(Debug)]
pub(super) struct Schema {
    columns: BTreeSet<(String, String)>,
}

impl Schema {
    pub fn new(columns: impl Iterator<Item = (String, String)>) -> Self {
        Self {
            columns: columns
                .map(|(t, c)| (t.to_ascii_lowercase(), c.to_ascii_lowercase()))
                .collect(),
        }
    }

    /// Whether a table is there, and may be read.
    pub fn has(&self, table: &str) -> bool {
        self.columns.iter().any(|(name, _)| name == table)
    }

    /// Whether a column is there, and may be read.
    pub fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns.contains(&(table.to_owned(), column.to_owned()))
    }

    /// The first table or column that is needed and missing. `information_schema` shows only what the account may read,
    /// so that a missing privilege looks the same.
    pub fn check(&self, settings: &DatabaseSettings) -> Result<(), DbError> {
        // Another schema altogether looks like a missing privilege on each of its tables.
        let other = !NEEDED.iter().any(|(table, _)| self.has(table));
        for (table, columns) in NEEDED {
            let user = settings.user.clone();
            if !self.has(table) {
                let hint = if other {
                    error::which_schema(settings)
                } else {
                    error::grant(settings)
                };
                return Err(DbError::Missing {
                    schema: settings.schema.clone(),
                    table,
                    user,
                    hint,
                });
            }
            let there = |column: &&str| self.columns.contains(&(table.to_owned(), (*column).to_owned()));
            if let Some(column) = columns.iter().find(|column| !there(column)) {
                let hint = error::grant(settings);
                return Err(DbError::Column {
                    table,
                    column,
                    user,
                    hint,
                });
            }
        }
        Ok(())
    }

    /// Fills in `{{table.alias.column}}`: the column where this release has it, else NULL; and `{{details}}`, which 4.21
    /// renamed.
    pub fn fit(&self, sql: &str, filter: &str) -> String {
        let mut out = String::with_capacity(sql.len() + filter.len());
        let mut rest = sql;
        while let Some((before, after)) = rest.split_once("{{") {
            let (token, tail) = after.split_once("}}").unwrap_or((after, ""));
            out += before;
            let parts: Vec<&str> = token.split('.').collect();
            match parts.as_slice() {
                ["where"] => out += filter,
                ["details"] if self.has("vm_instance_details") => out += "vm_instance_details",
                ["details"] => out += "user_vm_details",
                [table, alias, column] => {
                    if self
                        .columns
                        .contains(&((*table).to_owned(), (*column).to_owned()))
                    {
                        out += &format!("{alias}.{column}");
                    } else {
                        out += "NULL";
                    }
                }
                _ => out += "NULL",
            }
            rest = tail;
        }
        out + rest
    }
}
