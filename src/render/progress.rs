//! Progress on stderr: only on a terminal, and only for what takes over a second.

use super::text::visible;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// How long a run stays silent.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line that tells how many hosts have answered. Erased when finished or dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    // Its end wakes the thread that would draw.
    _done: Option<Sender<()>>,
}

impl Progress {
    /// Begins; `enabled` says whether stderr is a terminal that may be drawn on.
    #[must_use]
    pub fn start(enabled: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if !enabled {
            return Self { bar, _done: None };
        }
        let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let (done, wait) = mpsc::channel::<()>();
        let drawn = bar.clone();
        let spawned = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || {
                let late = wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
                if late && !drawn.is_finished() {
                    drawn.set_draw_target(ProgressDrawTarget::stderr());
                    drawn.enable_steady_tick(Duration::from_millis(120));
                }
            });
        // Without a thread there is no progress to see, and nothing else is lost.
        let done = spawned.is_ok().then_some(done);
        Self { bar, _done: done }
    }

    /// Says what is being done: `reading the database`.
    pub fn phase(&self, what: &str) {
        self.bar.set_message(visible(what).into_owned());
    }

    /// A host answered, or was given up.
    pub fn host(&self, done: usize, total: usize, host: &str) {
        self.bar
            .set_message(format!("{done} of {total} hosts, last {}", visible(host)));
    }

    /// What erases the line, for whoever leaves from beside.
    pub fn eraser(&self) -> impl FnOnce() + Send + 'static {
        let bar = self.bar.clone();
        move || bar.finish_and_clear()
    }

    /// Erases the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
