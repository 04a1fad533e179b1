//! How the database is reached.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Text that is never shown: `Debug` prints stars, and nothing serialises it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes it in.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Gives it to whoever must have it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `[database] tls`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Never.
    Off,
    /// Where the server has it; its certificate is not checked. Not tried on a socket or loopback.
    #[default]
    Prefer,
    /// Always, and its certificate must be right.
    Verify,
}

/// `[database]`, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// A socket instead of host and port.
    pub socket: Option<PathBuf>,
    /// Account.
    pub user: String,
    /// Its password.
    pub password: Option<Secret>,
    /// Schema, usually `cloud`.
    pub schema: String,
    /// TLS.
    pub tls: Tls,
    /// A CA's certificate, PEM.
    pub ca: Option<PathBuf>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
}
