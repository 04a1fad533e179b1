//! Passwords: held, handed on, never printed.

use super::ConfigError;
use crate::gather::Secret;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a file holds, without the line break at its end.
pub(super) fn from_file(path: &Path) -> Result<Secret, ConfigError> {
    let mut text = std::fs::read_to_string(path).map_err(|source| ConfigError::PasswordFile {
        path: path.to_owned(),
        source,
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    not_empty(text, || path.display().to_string())
}

/// The first line that a command writes. It is run as it stands, without a shell.
pub(super) fn from_command(argv: &[String]) -> Result<Secret, ConfigError> {
    // Its arguments may be secrets, too: only its name is told.
    let name = argv.first().cloned().unwrap_or_default();
    let output = Command::new(&name)
        .args(argv.get(1..).unwrap_or_default())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| ConfigError::PasswordCommand {
            command: name.clone(),
            source,
        })?;
    if !output.status.success() {
        return Err(ConfigError::PasswordCommandFailed {
            command: name,
            status: output.status.to_string(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    not_empty(text.lines().next().unwrap_or_default().to_owned(), || name)
}

fn not_empty(text: String, what: impl FnOnce() -> String) -> Result<Secret, ConfigError> {
    if text.is_empty() {
        return Err(ConfigError::EmptyPassword { what: what() });
    }
    Ok(Secret::new(text))
}

/// Whether others than the owner may read a file.
pub(super) fn is_open_to_others(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o077 != 0)
}
