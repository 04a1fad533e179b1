//! Guests that boot: Debian's cloud kernel, a busybox initramfs with QEMU's guest agent, and a shell on the serial line.
//!
//! Kernel and initramfs are made once per version and kept in `lab-cache` beside the build. A guest must never be given a disk that is
//! not the lab's own.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::cmd::{run, until};
use super::domxml::{Domain, escape};

const INIT: &str = include_str!("guest-init.sh");
const MODULES: [&str; 7] = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/block/virtio_blk",
    "drivers/char/virtio_console",
];

/// What every guest boots.
#[derive(Debug, Clone)]
pub struct Image {
    pub kernel: PathBuf,
    pub initrd: PathBuf,
}

/// How a guest is made.
#[derive(Debug, Clone, Default)]
pub struct Boot {
    /// Added to the kernel's command line: `acpi=off` never lets go of a disk.
    pub cmdline: String,
    /// Created and not run; boots nothing.
    pub paused: bool,
}

/// Where the lab keeps what is slow to make.
pub fn cache() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let profile = exe
        .ancestors()
        .find(|d| d.ends_with("debug") || d.ends_with("release"))
        .context("where the build lies")?;
    let dir = profile
        .parent()
        .context("where the build lies")?
        .join("lab-cache");
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

impl Image {
    pub fn get() -> Result<Self> {
        let kernel = kernel_package()?;
        let agent = run("dpkg-query", ["-W", "-f", "${Version}", "qemu-guest-agent"])?;
        let key: String = format!("{kernel}-{agent}")
            .replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "_");
        let dir = cache()?.join(key);
        if !dir.exists() {
            let work = tempfile::tempdir_in(cache()?)?;
            build(work.path(), &kernel).context("making the guests' kernel and initramfs")?;
            // Another process may have been quicker: then its image is as good.
            if let Err(why) = fs::rename(work.path().join("out"), &dir)
                && !dir.exists()
            {
                return Err(why).context("keeping the guests' image");
            }
        }
        Ok(Self {
            kernel: dir.join("vmlinuz"),
            initrd: dir.join("initrd.gz"),
        })
    }

    /// The XML of a real domain. Its serial line is a socket and a log in `con`.
    pub fn xml(&self, domain: &Domain, boot: &Boot, con: &Path) -> String {
        let (name, con) = (escape(&domain.name), con.display().to_string());
        format!(
            "<domain type='qemu'><name>{name}</name><uuid>{}</uuid><memory unit='MiB'>96</memory><vcpu>1</vcpu>\
             <os><type arch='x86_64' machine='pc'>hvm</type><kernel>{}</kernel><initrd>{}</initrd>\
             <cmdline>console=ttyS0 quiet panic=-1 {}</cmdline></os><features><acpi/></features>\
             <on_poweroff>destroy</on_poweroff><on_reboot>restart</on_reboot><on_crash>destroy</on_crash>\
             <devices><emulator>/usr/bin/qemu-system-x86_64</emulator>{}{}\
             <serial type='unix'><source mode='bind' path='{con}/{name}.sock'/><log file='{con}/{name}.log' append='off'/></serial>\
             <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel><memballoon model='none'/>\
             </devices></domain>",
            domain.uuid,
            self.kernel.display(),
            self.initrd.display(),
            escape(&boot.cmdline),
            domain.disks.concat(),
            domain.devices,
        )
    }
}

/// Waits until the guest's own system is up: before, it gives up no disk.
pub fn wait_up(con: &Path, name: &str) -> Result<()> {
    let log = con.join(format!("{name}.log"));
    until(&format!("guest {name}"), 60, || {
        Ok(fs::read(&log).is_ok_and(|b| String::from_utf8_lossy(&b).contains("GUEST-UP")))
    })
}

/// Runs a command in a guest, through its serial line; what it printed and its exit code.
pub fn exec(con: &Path, name: &str, command: &str, seconds: u64) -> Result<(String, i32)> {
    static ONE: Mutex<u32> = Mutex::new(0);
    let mut serial = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *serial += 1;
    let mark = format!("DONE{}x{}", std::process::id(), *serial);
    let mut line =
        UnixStream::connect(con.join(format!("{name}.sock"))).context("the guest's serial line")?;
    line.set_read_timeout(Some(Duration::from_millis(200)))?;
    // The echo of the command must not look like its end.
    let (head, tail) = mark.split_at(1);
    line.write_all(format!("{command}; echo {head}\"\"{tail}=$?\n").as_bytes())?;
    let (mut seen, mut buffer, end) = (
        String::new(),
        [0_u8; 4096],
        Instant::now() + Duration::from_secs(seconds),
    );
    while Instant::now() < end {
        match line.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => seen.push_str(&String::from_utf8_lossy(&buffer[..n])),
            Err(e)
                if matches!(
                    e.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(e) => return Err(e).context("the guest's serial line"),
        }
        let text = seen.replace('\r', "");
        if let Some((out, rest)) = text.split_once(&format!("{mark}="))
            && let Some((code, _)) = rest.split_once('\n')
        {
            let kept = out
                .lines()
                .filter(|l| !l.contains(&format!("echo {head}\"\"{tail}")) && !l.starts_with("RC="));
            return Ok((kept.collect::<Vec<_>>().join("\n"), code.trim().parse()?));
        }
    }
    bail!("guest {name}: no end of {command:?} within {seconds} s; saw {seen:?}")
}

fn kernel_package() -> Result<String> {
    let find = || -> Result<String> {
        let text = run("apt-cache", ["depends", "linux-image-cloud-amd64"])?;
        let package = text.lines().find_map(|l| l.trim().strip_prefix("Depends: "));
        package
            .map(str::to_owned)
            .context("no cloud kernel in apt's lists")
    };
    find().or_else(|_| {
        run("apt-get", ["update", "-qq"])?;
        find()
    })
}

fn build(work: &Path, kernel: &str) -> Result<()> {
    let (tree, root, out) = (work.join("x"), work.join("root"), work.join("out"));
    let got = Command::new("apt-get")
        .args(["download", "-qq", kernel])
        .current_dir(work)
        .stdin(Stdio::null())
        .output()?;
    if !got.status.success() {
        bail!(
            "apt-get download {kernel}: {}",
            String::from_utf8_lossy(&got.stderr)
        );
    }
    let deb = first(work, ".deb")?;
    run("dpkg-deb", [Path::new("-x"), &deb, &tree])?;
    for dir in [
        "bin", "sbin", "dev", "proc", "sys", "mnt", "tmp", "run", "var/run", "var/log", "m",
    ] {
        fs::create_dir_all(root.join(dir))?;
    }
    fs::create_dir(&out)?;
    fs::copy(first(&tree.join("boot"), "vmlinuz")?, out.join("vmlinuz"))?;
    let modules = first(&tree.join("lib/modules"), "")?.join("kernel");
    for module in MODULES {
        let name = module.rsplit('/').next().unwrap_or(module);
        fs::copy(
            modules.join(format!("{module}.ko")),
            root.join(format!("m/{name}.ko")),
        )?;
    }
    fs::copy("/bin/busybox", root.join("bin/busybox"))?;
    std::os::unix::fs::symlink("busybox", root.join("bin/sh"))?;
    fs::copy("/usr/sbin/qemu-ga", root.join("sbin/qemu-ga"))?;
    for word in run("ldd", ["/usr/sbin/qemu-ga"])?
        .split_whitespace()
        .filter(|w| w.starts_with('/'))
    {
        let to = root.join(word.trim_start_matches('/'));
        fs::create_dir_all(to.parent().context("a library's directory")?)?;
        fs::copy(word, to)?;
    }
    fs::write(root.join("init"), INIT)?;
    run("chmod", [Path::new("0755"), &root.join("init")])?;
    pack(&root, &out.join("initrd.gz"))
}

fn pack(root: &Path, to: &Path) -> Result<()> {
    let mut list = Command::new("find")
        .arg(".")
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()?;
    let names = list.stdout.take().context("find")?;
    let mut cpio = Command::new("cpio")
        .args(["-o", "-H", "newc", "--quiet"])
        .current_dir(root)
        .stdin(names)
        .stdout(Stdio::piped())
        .spawn()?;
    let archive = cpio.stdout.take().context("cpio")?;
    let gzip = Command::new("gzip")
        .arg("-1")
        .stdin(archive)
        .stdout(fs::File::create(to)?)
        .status()?;
    if !list.wait()?.success() || !cpio.wait()?.success() || !gzip.success() {
        bail!("packing the initramfs failed");
    }
    Ok(())
}

fn first(dir: &Path, mark: &str) -> Result<PathBuf> {
    let found = fs::read_dir(dir)?
        .flatten()
        .map(|e| e.path())
        .find(|p| p.to_string_lossy().contains(mark) && p != Path::new("x"));
    found.with_context(|| format!("nothing in {} is {mark:?}", dir.display()))
}
