//! What was typed, set and written, and what it means.
//!
//! A value comes from the first of: a variable `VOLRECON_SECTION_KEY`; the file of `--config`, else
//! `$XDG_CONFIG_HOME/volrecon/config.toml`, else `/etc/volrecon/config.toml`; and, for the database,
//! `/etc/cloudstack/management/db.properties`. *Goes out*: plain settings for `gather`. *Never*: prints a secret.

mod error;
mod file;
mod keys;
mod properties;
mod secret;
mod settings;
mod sources;
mod url;

pub use error::ConfigError;
pub use file::{
    CloudstackSection, DatabaseSection, DrainSection, JournalSection, LibvirtSection, ScanSection,
};
pub use settings::DEFAULT_LIBVIRT_URI;
pub use sources::{Config, Origin, Sources};
