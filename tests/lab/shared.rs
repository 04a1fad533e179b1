//! One lab for a whole test binary, and turns for the tests that use its hosts.
//!
//! Started when first asked for, gone when the process is. It must never be started by a test that can do with less.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Result, anyhow};

use super::maria::Maria;
use super::session::Session;

/// What is up.
#[derive(Debug)]
pub struct Base {
    pub session: &'static Session,
    pub maria: Maria,
}

/// The database alone, shared by all tests of the binary; make a schema of your own on it.
pub fn base() -> Result<&'static Base> {
    static BASE: OnceLock<std::result::Result<Base, String>> = OnceLock::new();
    let made = BASE.get_or_init(|| {
        let start = || -> Result<Base> {
            let session = Session::current()?;
            Ok(Base { session, maria: Maria::start(session)? })
        };
        start().map_err(|why| format!("{why:#}"))
    });
    made.as_ref().map_err(|why| anyhow!("{why}"))
}

/// Real hosts are slow and few: one test at a time.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
