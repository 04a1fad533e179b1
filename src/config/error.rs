//! What can be wrong with a configuration.

use std::path::PathBuf;

/// Why there is no usable configuration.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConfigError {
    #[error("cannot read the configuration {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the configuration {} is no TOML: {place}{problem}", path.display())]
    Toml {
        path: PathBuf,
        place: String,
        problem: String,
    },
    #[error("a value in {} is of the wrong kind: {problem}", path.display())]
    Kind { path: PathBuf, problem: String },
    #[error("unknown key {key} in {}", path.display())]
    UnknownKey {
        key: String,
        path: PathBuf,
        near: Option<String>,
    },
    #[error("{key}: {problem}, in {origin}")]
    Value {
        key: String,
        problem: String,
        origin: String,
    },
    #[error("no database is configured")]
    NoDatabase,
    #[error("the password in {} is encrypted: ENC(...) cannot be read yet", path.display())]
    Encrypted { path: PathBuf },
    #[error("cannot read the password file {}", path.display())]
    PasswordFile { path: PathBuf, source: std::io::Error },
    #[error("cannot run the password command {command}")]
    PasswordCommand { command: String, source: std::io::Error },
    #[error("the password command {command} failed with {status}")]
    PasswordCommandFailed { command: String, status: String },
    #[error("the password of {what} is empty")]
    EmptyPassword { what: String },
}

impl ConfigError {
    /// What may help, for `hint:` lines.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::UnknownKey { near: Some(near), .. } => vec![format!("a similar key exists: {near}")],
            Self::NoDatabase => vec![
                "write [database] url = \"mysql://volrecon@HOST:3306/cloud\" to /etc/volrecon/config.toml, or set \
                 VOLRECON_DATABASE_URL"
                    .to_owned(),
            ],
            Self::Encrypted { .. } => vec![
                "give volrecon an account of its own, which may only read: [database] url and password_file in \
                 /etc/volrecon/config.toml"
                    .to_owned(),
            ],
            _ => Vec::new(),
        }
    }
}
