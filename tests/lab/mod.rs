//! The lab: a private MariaDB, libvirt hosts, QEMU guests and a Ceph of our own, and a CloudStack that is played.
//!
//! It exists so that the tests run against real parts. It must never touch anything that it did not start: every process is ended by a
//! pid file of its own lab, every namespace has the lab's id in its name, every file lies in the lab's directory.
#![allow(
    dead_code,
    reason = "each of the binaries that include the lab uses a part of it"
)]
#![allow(missing_docs, reason = "test code; each module says at its top what it is")]

pub mod ceph;
pub mod cmd;
pub mod domxml;
pub mod guest;
pub mod hosts;
pub mod late;
pub mod ledger;
pub mod maria;
pub mod occurrences;
pub mod payload;
pub mod real;
pub mod replay;
pub mod rows;
pub mod session;
pub mod shared;
pub mod staging;
pub mod testhost;
pub mod when;
pub mod world;

pub use maria::{Db, Shape};
#[allow(unused_imports, reason = "short names for tests")]
pub use rows::{Cloud, Row};
#[allow(unused_imports, reason = "short names for tests")]
pub use shared::{base, shared, turn};
