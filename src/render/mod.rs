//! Output: the only writer to stdout and stderr.
//!
//! *Comes in*: documents, which are values. *Goes out*: bytes for a terminal, a script or a spreadsheet. *Never*: judges,
//! reads a host or a database, or lets a tenant's text act on a terminal.

mod document;

pub use document::{HostSeen, NotRuledOut, Pair, ScanDocument, Summary, Tool};
