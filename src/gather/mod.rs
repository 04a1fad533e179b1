//! Gathering: read-only looks at the witnesses.
//!
//! *Comes in*: rows of hosts, and how to reach them. *Goes out*: [`Look`](crate::evidence::Look)s, one per host, the
//! failed ones too. *Never*: a verdict, a change, a word on the terminal, or an error that hides what was seen.

pub mod domain_xml;
pub mod fanout;
mod libvirt;
mod uri;
