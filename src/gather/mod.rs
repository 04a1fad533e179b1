//! Gathering: read-only looks at the witnesses.
//!
//! *Comes in*: settings, a scope, and rows of hosts to ask. *Goes out*: rows, and a [`Look`](crate::evidence::Look) per
//! host, the failed ones too. *Never*: a verdict, a change, a word on the terminal, or an error that hides what was seen.

mod db;
pub mod domain_xml;
pub mod fanout;
mod libvirt;
pub mod logs;
mod names;
pub mod payload;
mod uri;

pub use db::{
    Again, DatabaseSettings, DbError, Queues, Reader, Rows, ScopeError, ScopeWords, Secret, Tls,
    maybe_orphans,
};
pub use fanout::{LibvirtSettings, Progress, Step, look};
pub use names::strangers;
