//! Runs one program with its arguments, never through a shell, and never waits for ever.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What a program printed; an error that tells what it complained of, if it failed.
pub fn run<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> Result<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    let out = command
        .output()
        .with_context(|| format!("running {program} (make deps)"))?;
    if !out.status.success() {
        bail!(
            "{command:?}: {}{}",
            String::from_utf8_lossy(&out.stderr),
            String::from_utf8_lossy(&out.stdout)
        );
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Asks again until the answer is yes.
pub fn until(what: &str, seconds: u64, mut yes: impl FnMut() -> Result<bool>) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        let last = yes();
        if matches!(last, Ok(true)) {
            return Ok(());
        }
        if Instant::now() > end {
            last.with_context(|| format!("waiting {seconds} s for {what}"))?;
            bail!("{what}: not within {seconds} s");
        }
        std::thread::sleep(Duration::from_millis(40));
    }
}
