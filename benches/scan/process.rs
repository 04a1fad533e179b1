//! Whole processes: how long they take, how much memory they have at their peak, and whether the machine was quiet.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    pub time: Duration,
    /// Peak resident memory, in KiB.
    pub peak: u64,
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Runs a program to its end. Its output goes to a file: reading along would cost the program time on a machine of two cores.
pub fn run(command: &mut Command, out: &Path) -> Result<Run> {
    let name = command.get_program().to_string_lossy().into_owned();
    let errors = out.with_extension("stderr");
    command
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(out)?)
        .stderr(std::fs::File::create(&errors)?);
    let since = Instant::now();
    let child = command.spawn().with_context(|| format!("starting {name}"))?;
    let (status, peak) = wait(child.id())?;
    let time = since.elapsed();
    if !libc::WIFEXITED(status) {
        bail!("{name} was killed: {}", std::fs::read_to_string(&errors)?);
    }
    let code = libc::WEXITSTATUS(status);
    let stdout = std::fs::read(out)?;
    let stderr = String::from_utf8_lossy(&std::fs::read(&errors)?).into_owned();
    Ok(Run {
        time,
        peak,
        code,
        stdout,
        stderr,
    })
}

/// `wait4`: the end of a child, and its peak. What a child was before its `exec` counts, too: this process stays small.
fn wait(pid: u32) -> Result<(i32, u64)> {
    let pid = i32::try_from(pid).context("a pid")?;
    let mut status = 0;
    #[expect(
        unsafe_code,
        reason = "wait4(2) fills in two values that are ours and outlive the call; all zeros is a valid rusage"
    )]
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid, &raw mut status, 0, &raw mut usage), usage)
    };
    if ended != pid {
        return Err(std::io::Error::last_os_error()).context("wait4");
    }
    Ok((status, u64::try_from(usage.ru_maxrss)?))
}

/// This process's own peak, in KiB: no child's can be told below it.
pub fn own_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The middle one.
pub fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    let half = sorted.len() / 2;
    match (sorted.get(half), sorted.len() % 2) {
        (None, _) => Duration::ZERO,
        (Some(middle), 1) => *middle,
        (Some(upper), _) => (sorted[half - 1] + *upper) / 2,
    }
}

/// Waits, up to 10 s, until others leave the machine alone, and says whether they do: at least 85 % idle for a fifth of a second.
pub fn quiet() -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        if idle(Duration::from_millis(200)).is_none_or(|share| share >= 0.85) {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
    }
}

fn idle(over: Duration) -> Option<f64> {
    let (idle_before, all_before) = ticks()?;
    thread::sleep(over);
    let (idle_after, all_after) = ticks()?;
    let all = all_after.checked_sub(all_before).filter(|all| *all > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "some tens of ticks")]
    Some(idle_after.saturating_sub(idle_before) as f64 / all as f64)
}

/// Idle and all ticks of all processors.
fn ticks() -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().next()?;
    let numbers: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|n| n.parse().ok())
        .collect();
    Some((numbers.get(3)? + numbers.get(4)?, numbers.iter().take(8).sum()))
}

/// The load averages, as the kernel writes them.
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Asks for the highest priority, for this process and all that it starts: builds beside it disturb less. Only root gets it.
pub fn come_first() -> bool {
    #[expect(
        unsafe_code,
        reason = "setpriority(2) takes three numbers and touches no memory of ours"
    )]
    let rc = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -19) };
    rc == 0
}
