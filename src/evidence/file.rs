//! The evidence file: `"document": "evidence"`.

use super::Evidence;
use serde::{Deserialize, Serialize};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The major version of the evidence document that this volrecon writes and reads.
pub const VERSION: u32 = 1;

/// Why an evidence file could not be written or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvidenceError {
    #[error("cannot write evidence to {}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot read evidence from {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is no evidence document of volrecon", path.display())]
    Shape {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{} is a document of kind {found:?}, not evidence", path.display())]
    Kind { path: PathBuf, found: String },
    #[error("{} is evidence of version {found}, and this volrecon reads up to version {VERSION}: use the volrecon that wrote it, or a newer one", path.display())]
    Newer { path: PathBuf, found: u32 },
}

#[derive(Serialize)]
struct Written<'a> {
    document: &'static str,
    version: u32,
    tool: Tool,
    evidence: &'a Evidence,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Deserialize)]
struct Head {
    document: String,
    version: u32,
}

#[derive(Deserialize)]
struct Read {
    evidence: Evidence,
}

/// Writes evidence to a file that only its owner may read: names and paths are the customers'.
///
/// # Errors
/// When the file cannot be created or written.
pub fn save(evidence: &Evidence, path: &Path) -> Result<(), EvidenceError> {
    use std::fs::Permissions;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let failed = |source| EvidenceError::Write {
        path: path.to_owned(),
        source,
    };
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    // The mode above is for a new file; one that was there may be open to others.
    let known = file.metadata().map_err(failed)?;
    if known.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))
            .map_err(failed)?;
    }
    let mut out = BufWriter::new(file);
    let document = Written {
        document: "evidence",
        version: VERSION,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        evidence,
    };
    serde_json::to_writer(&mut out, &document).map_err(|e| failed(e.into()))?;
    out.write_all(b"\n").map_err(failed)?;
    out.flush().map_err(failed)
}

/// Reads what [`save`] wrote.
///
/// # Errors
/// When the file cannot be read, is no evidence, or is of a newer major version.
pub fn load(path: &Path) -> Result<Evidence, EvidenceError> {
    let text = read(path)?;
    let shape = |source| EvidenceError::Shape {
        path: path.to_owned(),
        source,
    };
    let head: Head = serde_json::from_str(&text).map_err(shape)?;
    if head.document != "evidence" {
        return Err(EvidenceError::Kind {
            path: path.to_owned(),
            found: head.document,
        });
    }
    if head.version > VERSION {
        return Err(EvidenceError::Newer {
            path: path.to_owned(),
            found: head.version,
        });
    }
    let read: Read = serde_json::from_str(&text).map_err(shape)?;
    Ok(read.evidence)
}

fn read(path: &Path) -> Result<String, EvidenceError> {
    use std::io::Read;
    let failed = |source| EvidenceError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    BufReader::new(std::fs::File::open(path).map_err(failed)?)
        .read_to_string(&mut text)
        .map_err(failed)?;
    Ok(text)
}
