//! One lab's directory and what was started in it.
//!
//! A session ends with its process, however that ends: a reaper of its own waits on a pipe that closes with the process, and then takes
//! away what the pid files name. A kept session (`lab up`) has no reaper and stays until `lab down`.
//! It must never end a process by name, nor one that is not in a pid file of its own directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use anyhow::{Context, Result, bail};

const REAP: &str = include_str!("reap.sh");
const PREFIX: &str = "volrecon-lab-";

/// A lab's directory, and the id that names its namespaces.
#[derive(Debug)]
pub struct Session {
    pub dir: PathBuf,
    pub id: String,
}

static CURRENT: OnceLock<Session> = OnceLock::new();
static OPENING: Mutex<()> = Mutex::new(());
static REAPER: Mutex<Option<Child>> = Mutex::new(None);

impl Session {
    /// This process's session, opened on first use and gone when the process is.
    pub fn current() -> Result<&'static Self> {
        let _one = OPENING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(open) = CURRENT.get() {
            return Ok(open);
        }
        clear_stale();
        let session = Self::create(
            &format!("{:x}", std::process::id()),
            &std::process::id().to_string(),
        )?;
        let reaper = Command::new("bash")
            .arg(session.dir.join("reap.sh"))
            .arg(&session.dir)
            .arg("wait")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .context("starting the lab's reaper")?;
        *REAPER.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(reaper);
        at_exit();
        Ok(CURRENT.get_or_init(|| session))
    }

    /// A session that outlives this process.
    pub fn keep() -> Result<&'static Self> {
        let _one = OPENING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if CURRENT.get().is_some() {
            bail!("this process has a lab already");
        }
        let session = Self::create("up", "kept")?;
        Ok(CURRENT.get_or_init(|| session))
    }

    /// Where a kept session lies.
    pub fn kept_dir() -> PathBuf {
        std::env::temp_dir().join(format!("{PREFIX}up"))
    }

    fn create(id: &str, owner: &str) -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("{PREFIX}{id}"));
        fs::create_dir(&dir).with_context(|| format!("making {} (is another lab up?)", dir.display()))?;
        for part in ["pids", "netns"] {
            fs::create_dir(dir.join(part))?;
        }
        fs::write(dir.join("reap.sh"), REAP)?;
        let owner = owner.parse::<u32>().map_or_else(
            |_| owner.to_owned(),
            |pid| format!("{pid} {}", started(pid).unwrap_or_default()),
        );
        fs::write(dir.join("owner"), owner)?;
        Ok(Self {
            dir,
            id: id.to_owned(),
        })
    }

    pub fn path(&self, part: impl AsRef<Path>) -> PathBuf {
        self.dir.join(part)
    }

    /// Makes a directory of the lab.
    pub fn subdir(&self, part: impl AsRef<Path>) -> Result<PathBuf> {
        let path = self.path(part);
        fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(path)
    }

    /// Puts a process on the list of what is to be ended with the lab.
    pub fn track_pid(&self, name: &str, pid: u32) -> Result<()> {
        let start = started(pid).with_context(|| format!("{name} ended at once"))?;
        fs::write(self.path("pids").join(name), format!("{pid} {start}\n")).context("writing a pid file")
    }

    /// Puts a network namespace on that list.
    pub fn track_netns(&self, name: &str) -> Result<()> {
        fs::write(self.path("netns").join(name), "").context("noting a namespace")
    }
}

/// Takes a kept lab away.
pub fn down(dir: &Path) -> Result<()> {
    let status = Command::new("bash")
        .arg(dir.join("reap.sh"))
        .arg(dir)
        .status()
        .context("running the reaper")?;
    if !status.success() || dir.exists() {
        bail!("{} could not be taken away whole", dir.display());
    }
    Ok(())
}

/// Ends this process's session now, and waits for it.
pub fn close() {
    let reaper = REAPER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .take();
    if let Some(mut reaper) = reaper {
        drop(reaper.stdin.take());
        drop(reaper.wait());
    }
}

/// When a process was started, in clock ticks since boot: with its pid it names a process for good.
pub fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?
        .1
        .split_whitespace()
        .nth(19)
        .map(str::to_owned)
}

/// Sends a signal to one process.
pub fn signal(pid: u32, number: i32) -> Result<()> {
    let pid = i32::try_from(pid).context("a pid")?;
    #[expect(
        unsafe_code,
        reason = "kill(2) takes two numbers and touches no memory of ours"
    )]
    let rc = unsafe { libc::kill(pid, number) };
    if rc != 0 {
        Err(std::io::Error::last_os_error()).context(format!("signal {number} to {pid}"))
    } else {
        Ok(())
    }
}

fn at_exit() {
    extern "C" fn leave() {
        close();
    }
    #[expect(
        unsafe_code,
        reason = "atexit(3) only stores the address of a function that lives as long as the process"
    )]
    unsafe {
        libc::atexit(leave);
    }
}

/// Takes away what labs left whose owner is gone. The reaper does that itself: this is for a reaper that was killed, too.
fn clear_stale() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    for dir in entries
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().starts_with(PREFIX))
        .map(|e| e.path())
    {
        let Ok(owner) = fs::read_to_string(dir.join("owner")) else {
            continue;
        };
        let Some((pid, start)) = owner.split_once(' ') else {
            continue;
        };
        let alive = pid
            .parse()
            .ok()
            .and_then(started)
            .is_some_and(|s| s == start.trim());
        if !alive {
            drop(down(&dir));
        }
    }
}
