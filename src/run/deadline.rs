//! `--timeout`: a hard end of all looking.
//!
//! Hosts that are late are gaps, but a database that stops answering holds whoever asked it, and that call cannot be taken
//! back. So somebody stands beside, and leaves the process when the time is up. Half a look proves nothing: nothing of it
//! is told. What was read before is written out in peace, however slowly the reader of the output takes it.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::render::{Terminals, message};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What the rows may take once more when the hosts were given up at the end of the time.
const GRACE: Duration = Duration::from_millis(1500);

/// Something that looks, with the time in which it must be done: dropped, the time no longer counts.
pub(super) struct Timed<T> {
    what: T,
    _watch: Option<Watch>,
}

impl<T> Timed<T> {
    pub fn new(what: T, watch: Option<Watch>) -> Self {
        Self { what, _watch: watch }
    }
}

impl<T> Deref for Timed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

impl<T> DerefMut for Timed<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.what
    }
}

/// What is being done; none when it is over.
type Phase = Arc<Mutex<Option<&'static str>>>;

/// Leaves the process at the end of the time, unless it is dropped before.
pub(super) struct Watch {
    phase: Phase,
}

#[derive(Debug, thiserror::Error)]
#[error("the time for the whole run was up (--timeout {limit:?}) while {phase}")]
struct TimeUp {
    limit: Duration,
    phase: &'static str,
}

impl Watch {
    /// None without `--timeout`. `erase` takes the line of progress away.
    pub fn start(
        cli: &Cli,
        terminals: &Terminals,
        phase: &'static str,
        erase: impl FnOnce() + Send + 'static,
    ) -> Option<Self> {
        let limit = cli.global.timeout?;
        let end = Instant::now().checked_add(limit)?.checked_add(GRACE)?;
        let phase: Phase = Arc::new(Mutex::new(Some(phase)));
        let (watched, color) = (Arc::clone(&phase), terminals.stderr_color);
        let beside = move || {
            thread::sleep(end.saturating_duration_since(Instant::now()));
            // Held until the process is gone: nobody goes on as if it were not.
            let held = open(&watched);
            if let Some(phase) = *held {
                erase();
                leave(&TimeUp { limit, phase }, color);
            }
        };
        // Without a thread only the statements' own limits are left.
        let spawned = thread::Builder::new().name("deadline".to_owned()).spawn(beside);
        spawned.is_ok().then_some(Self { phase })
    }

    /// Says what is being done: `reading the database`.
    pub fn phase(&self, phase: &'static str) {
        *open(&self.phase) = Some(phase);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *open(&self.phase) = None;
    }
}

fn open(phase: &Phase) -> MutexGuard<'_, Option<&'static str>> {
    phase.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave(error: &TimeUp, color: bool) -> ! {
    let hint = "give it longer, or see what the database's server is doing: SHOW FULL PROCESSLIST";
    // A stderr that is gone leaves nothing to say it with: the exit code still tells.
    let _ = message::write_error(error, &[hint.to_owned()], color, &mut std::io::stderr());
    std::process::exit(i32::from(Exit::Trouble.code()));
}
