//! One lab for a whole test binary, and turns for the tests that use its hosts.
//!
//! Started when first asked for, gone when the process is. It must never be started by a test that can do with less.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use anyhow::{Result, anyhow};

use super::ceph::Ceph;
use super::hosts::Hosts;
use super::maria::Maria;
use super::session::Session;

/// The database.
#[derive(Debug)]
pub struct Base {
    pub session: &'static Session,
    pub maria: Maria,
}

/// Three hosts, and a Ceph.
#[derive(Debug)]
pub struct Lab {
    pub session: &'static Session,
    pub hosts: Hosts,
    pub ceph: Option<Ceph>,
}

impl Lab {
    pub fn start(session: &'static Session, with_ceph: bool) -> Result<Self> {
        let netns = Hosts::network(session, 3)?;
        let storage = {
            let netns = netns.clone();
            with_ceph.then(|| thread::spawn(move || Ceph::start(session, &netns)))
        };
        let hosts = Hosts::start(session, netns, 3)?;
        let ceph = storage
            .map(|t| t.join().map_err(|_| anyhow!("starting Ceph panicked"))?)
            .transpose()?;
        let lab = Self { session, hosts, ceph };
        lab.share_secret()?;
        Ok(lab)
    }
}

/// The database alone, shared by all tests of the binary; make a schema of your own on it.
pub fn base() -> Result<&'static Base> {
    static BASE: OnceLock<std::result::Result<Base, String>> = OnceLock::new();
    once(&BASE, || {
        let session = Session::current()?;
        Ok(Base {
            session,
            maria: Maria::start(session)?,
        })
    })
}

/// Hosts and Ceph, shared by all tests of the binary. Take a `turn` before you use them.
pub fn shared() -> Result<&'static Lab> {
    static LAB: OnceLock<std::result::Result<Lab, String>> = OnceLock::new();
    once(&LAB, || Lab::start(Session::current()?, true))
}

fn once<T>(
    cell: &'static OnceLock<std::result::Result<T, String>>,
    start: impl FnOnce() -> Result<T>,
) -> Result<&'static T> {
    let made = cell.get_or_init(|| start().map_err(|why| format!("{why:#}")));
    made.as_ref()
        .map_err(|why| anyhow!("the lab does not start: {why}"))
}

/// Real hosts are slow and few: one test at a time.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
