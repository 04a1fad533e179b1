//! The configuration file, as written.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub database: DatabaseSection,
    pub libvirt: LibvirtSection,
    pub scan: ScanSection,
    pub cloudstack: CloudstackSection,
    pub drain: Vec<DrainSection>,
    pub journal: JournalSection,
}

/// `[database]`, and `[database.write]` below it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseSection {
    /// `mysql://user@host:port/schema`.
    pub url: Option<String>,
    /// A `db.properties` to take host, account and password from.
    pub properties: Option<PathBuf>,
    /// A file that holds the password and nothing else.
    pub password_file: Option<PathBuf>,
    /// A command whose first line is the password.
    pub password_command: Option<Vec<String>>,
    /// `off`, `prefer`, `verify`.
    pub tls: Option<String>,
    /// A CA's certificate, PEM.
    pub ca: Option<PathBuf>,
    /// How long to wait for the server.
    pub connect_timeout: Option<String>,
    /// Galera: all writers use one node.
    pub single_writer: bool,
    /// The account that may repair.
    pub write: Option<Box<DatabaseSection>>,
}

impl std::fmt::Debug for DatabaseSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may hold a password, and a command's arguments may be secrets.
        f.debug_struct("DatabaseSection")
            .field("url", &self.url.as_ref().map(|_| "***"))
            .field("properties", &self.properties)
            .field("password_file", &self.password_file)
            .field("tls", &self.tls)
            .field("single_writer", &self.single_writer)
            .field("write", &self.write)
            .finish_non_exhaustive()
    }
}

/// `[libvirt]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LibvirtSection {
    /// With `{ip}`, `{name}`, `{uuid}` of the host's row.
    pub uri: Option<String>,
    /// Likewise, for repairs.
    pub write_uri: Option<String>,
    /// Hosts asked at a time.
    pub parallel: Option<usize>,
    /// How long one host may take.
    pub host_timeout: Option<String>,
    /// Hosts not to ask.
    pub skip: Vec<String>,
    /// By host name: wins over the template.
    pub hosts: BTreeMap<String, String>,
}

/// `[scan]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScanSection {
    /// Ids of findings that are known: hidden, and counted.
    pub ignore: Vec<String>,
}

/// `[cloudstack]`: for `restart`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CloudstackSection {
    /// The API's address.
    pub url: Option<String>,
    /// Whose key.
    pub api_key: Option<String>,
    /// A file that holds the secret key.
    pub secret_key_file: Option<PathBuf>,
    /// A profile of `~/.cmk/config`.
    pub profile: Option<String>,
}

impl std::fmt::Debug for CloudstackSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CloudstackSection")
            .field("url", &self.url)
            .field("api_key", &self.api_key.as_ref().map(|_| "***"))
            .field("secret_key_file", &self.secret_key_file)
            .field("profile", &self.profile)
            .finish()
    }
}

/// `[[drain]]`: which VMs, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DrainSection {
    /// VMs of this account.
    pub account: Option<String>,
    /// These VMs.
    pub vm_uuid: Vec<String>,
    /// A command whose output must hold the VM's uuid.
    pub check: Vec<String>,
    /// Empties the VM.
    pub command: Vec<String>,
    /// Takes it back into service.
    pub undrain: Vec<String>,
    /// How long that may take.
    pub timeout: Option<String>,
}

/// `[journal]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JournalSection {
    /// Where it is.
    pub path: Option<PathBuf>,
}
