//! What `gather` needs, in plain values.

use super::file::{DatabaseSection, LibvirtSection};
use super::url::{self, DatabaseUrl};
use super::{Config, ConfigError, Origin, properties, secret};
use crate::gather::{DatabaseSettings, LibvirtSettings, Secret, Tls};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// How a host is reached where nothing else is told.
pub const DEFAULT_LIBVIRT_URI: &str = "qemu+ssh://root@{ip}/system";

/// Hosts asked at a time.
const DEFAULT_PARALLEL: usize = 32;
/// How long one host may take.
const DEFAULT_HOST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for the database's server.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Config {
    /// The reading account. Reads the password: only for commands that need it.
    ///
    /// # Errors
    /// When no database is configured, a value is wrong, or the password cannot be had.
    pub fn database(&mut self) -> Result<DatabaseSettings, ConfigError> {
        let section = self.database_section().clone();
        self.open_database("database", &section)
    }

    fn open_database(
        &mut self,
        table: &str,
        section: &DatabaseSection,
    ) -> Result<DatabaseSettings, ConfigError> {
        let (mut found, own_tls) = self.address(table, section)?;
        let tls = match section.tls.as_deref() {
            None => own_tls.unwrap_or_default(),
            Some("off") => Tls::Off,
            Some("prefer") => Tls::Prefer,
            Some("verify") => Tls::Verify,
            Some(_) => return Err(self.wrong(table, "tls", "this must be off, prefer or verify")),
        };
        let password = self.password(table, section, found.password.take())?;
        let connect_timeout = self.duration(table, "connect_timeout", section.connect_timeout.as_deref())?;
        Ok(DatabaseSettings {
            host: found.host.unwrap_or_else(|| "127.0.0.1".to_owned()),
            port: found.port.unwrap_or(3306),
            socket: found.socket,
            user: found.user.unwrap_or_else(|| "volrecon".to_owned()),
            password,
            schema: found.schema.unwrap_or_else(|| "cloud".to_owned()),
            tls,
            ca: section.ca.clone(),
            connect_timeout: connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT),
        })
    }

    /// The URL, else the properties file that is named, else CloudStack's own where it is there.
    fn address(
        &mut self,
        table: &str,
        section: &DatabaseSection,
    ) -> Result<(DatabaseUrl, Option<Tls>), ConfigError> {
        if let Some(text) = &section.url {
            let url = url::parse(text).map_err(|problem| self.wrong(table, "url", &problem))?;
            let holds = url.password.is_some();
            if let Some(Origin::File(path)) = self.origin(table, "url").filter(|_| holds).cloned() {
                self.warn_if_open(&path);
            }
            return Ok((url, None));
        }
        let path = match &section.properties {
            Some(path) => path.clone(),
            None if self.properties().exists() => self.properties().to_owned(),
            None => return Err(ConfigError::NoDatabase),
        };
        let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Read {
            path: path.clone(),
            source,
        })?;
        let given = section.password_file.is_some() || section.password_command.is_some();
        properties::parse(&text, &path, !given)
    }

    fn password(
        &mut self,
        table: &str,
        section: &DatabaseSection,
        inline: Option<Secret>,
    ) -> Result<Option<Secret>, ConfigError> {
        match (&section.password_file, &section.password_command, inline) {
            (Some(_), Some(_), _) => {
                Err(self.wrong(table, "password_command", "password_file is given as well"))
            }
            (Some(_), _, Some(_)) => {
                Err(self.wrong(table, "password_file", "the URL holds a password as well"))
            }
            (_, Some(_), Some(_)) => {
                Err(self.wrong(table, "password_command", "the URL holds a password as well"))
            }
            (Some(path), None, None) => {
                self.warn_if_open(path);
                secret::from_file(path).map(Some)
            }
            (None, Some(argv), None) if argv.is_empty() => {
                Err(self.wrong(table, "password_command", "the list is empty"))
            }
            (None, Some(argv), None) => secret::from_command(argv).map(Some),
            (None, None, inline) => Ok(inline),
        }
    }

    fn warn_if_open(&mut self, path: &Path) {
        if secret::is_open_to_others(path) {
            let path = path.display();
            self.warnings.push(format!(
                "{path} holds a password and others than its owner may use it: chmod 600 {path}"
            ));
        }
    }

    /// How to reach the hosts.
    ///
    /// # Errors
    /// When a value is wrong.
    pub fn libvirt(&self) -> Result<LibvirtSettings, ConfigError> {
        let LibvirtSection {
            uri,
            write_uri: _,
            parallel,
            host_timeout,
            skip,
            hosts,
        } = self.libvirt_section();
        if *parallel == Some(0) {
            return Err(self.wrong("libvirt", "parallel", "this must be 1 or more"));
        }
        let uri = uri.clone().unwrap_or_else(|| DEFAULT_LIBVIRT_URI.to_owned());
        if let Some(name) = unknown_placeholder(&uri) {
            let problem =
                format!("there is no {{{name}}}: {{ip}}, {{name}} and {{uuid}} of the host's row are");
            return Err(self.wrong("libvirt", "uri", &problem));
        }
        Ok(LibvirtSettings {
            uri,
            hosts: hosts.clone(),
            skip: skip.clone(),
            parallel: parallel.unwrap_or(DEFAULT_PARALLEL),
            host_timeout: self
                .duration("libvirt", "host_timeout", host_timeout.as_deref())?
                .unwrap_or(DEFAULT_HOST_TIMEOUT),
        })
    }

    /// Ids of findings that are known, in lower case.
    ///
    /// # Errors
    /// When one is no finding's id: it would hide nothing, and nobody would notice.
    pub fn ignored(&self) -> Result<BTreeSet<String>, ConfigError> {
        let id = |word: &String| {
            let id = word.to_ascii_lowercase();
            let hex = id.strip_prefix("vr-").unwrap_or_default();
            if hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Ok(id);
            }
            let problem = format!("{word:?} is no finding's id, which is vr- and 8 hex digits");
            Err(self.wrong("scan", "ignore", &problem))
        };
        self.scan().ignore.iter().map(id).collect()
    }

    fn duration(&self, table: &str, key: &str, text: Option<&str>) -> Result<Option<Duration>, ConfigError> {
        let Some(text) = text else { return Ok(None) };
        match crate::cli::duration(text) {
            Ok(Duration::ZERO) => Err(self.wrong(table, key, "this must be longer than nothing")),
            Ok(duration) => Ok(Some(duration)),
            Err(problem) => Err(self.wrong(table, key, &problem)),
        }
    }

    fn wrong(&self, table: &str, key: &str, problem: &str) -> ConfigError {
        ConfigError::Value {
            key: format!("{table}.{key}"),
            problem: problem.to_owned(),
            origin: self
                .origin(table, key)
                .map_or_else(|| "the defaults".to_owned(), ToString::to_string),
        }
    }
}

/// A `{…}` of the template that stands for nothing.
fn unknown_placeholder(uri: &str) -> Option<&str> {
    let mut rest = uri;
    while let Some((_, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        if !matches!(name, "ip" | "name" | "uuid") {
            return Some(name);
        }
        rest = after;
    }
    None
}
