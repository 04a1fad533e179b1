//! Several KVM hosts on one machine: libvirtd daemons, each in namespaces of its own, each with its own name, uuid, address and guests.
//!
//! They are reached through plain sockets from anywhere, or over TCP from within the lab's network namespace. They must never see the
//! machine's own libvirt, nor be stopped by anything but their own pid.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use virt::connect::Connect;
use virt::domain::Domain as Live;

use super::ceph::Ceph;
use super::cmd::{run, until};
use super::guest::{Image, cache};
use super::session::{Session, signal};

/// One libvirt daemon.
#[derive(Debug)]
pub struct Host {
    pub name: String,
    pub ip: String,
    pub pid: u32,
    dir: PathBuf,
    netns: String,
}

/// All of them, and what their guests boot.
#[derive(Debug)]
pub struct Hosts {
    pub all: Vec<Host>,
    pub image: Image,
    /// Serial lines of the guests.
    pub con: PathBuf,
    /// A directory that every host sees: a pool of type SharedMountPoint.
    pub primary: PathBuf,
    /// The management side's namespace.
    pub netns: String,
}

impl Hosts {
    /// Makes the lab's network: `netns` with a bridge, and one namespace for each host.
    pub fn network(session: &Session, count: usize) -> Result<String> {
        let lab = format!("vl{}", session.id);
        let ip = |args: &[&str]| run("ip", args).map(drop);
        session.track_netns(&lab)?;
        ip(&["netns", "add", &lab])?;
        ip(&["-n", &lab, "link", "set", "lo", "up"])?;
        ip(&["-n", &lab, "link", "add", "br0", "type", "bridge"])?;
        ip(&["-n", &lab, "link", "set", "br0", "up"])?;
        ip(&["-n", &lab, "addr", "add", "10.99.0.1/24", "dev", "br0"])?;
        for n in 1..=count {
            let (netns, port, address) = (
                format!("{lab}h{n}"),
                format!("v{n}"),
                format!("10.99.0.{}/24", 10 + n),
            );
            session.track_netns(&netns)?;
            ip(&["netns", "add", &netns])?;
            ip(&["-n", &netns, "link", "set", "lo", "up"])?;
            ip(&[
                "-n", &lab, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", &netns,
            ])?;
            ip(&["-n", &lab, "link", "set", &port, "master", "br0", "up"])?;
            ip(&["-n", &netns, "addr", "add", &address, "dev", "eth0"])?;
            ip(&["-n", &netns, "link", "set", "eth0", "up"])?;
        }
        Ok(lab)
    }

    /// Starts the daemons in a network that is there.
    pub fn start(session: &Session, netns: String, count: usize) -> Result<Self> {
        virt::error::clear_error_callback();
        let image = Image::get()?;
        let caps = cache()?.join("caps");
        let first = Host::start(session, &netns, 1, &caps)?;
        // The first look at QEMU takes seconds: one host looks, the others and later labs are told.
        first.virsh(&["domcapabilities"])?;
        copy_all(&first.dir.join("cache/qemu/capabilities"), &caps)?;
        let mut all = vec![first];
        for n in 2..=count {
            all.push(Host::start(session, &netns, n, &caps)?);
        }
        Ok(Self {
            all,
            image,
            con: session.subdir("con")?,
            primary: session.subdir("primary")?,
            netns,
        })
    }

    pub fn get(&self, name: &str) -> Result<&Host> {
        self.all
            .iter()
            .find(|h| h.name == name)
            .with_context(|| format!("no host {name}"))
    }

    /// Names and read-only URIs, as a scan's configuration wants them.
    pub fn uris(&self) -> Vec<(String, String)> {
        self.all.iter().map(|h| (h.name.clone(), h.uri_ro())).collect()
    }

    /// Gives every host the secret of the Ceph pool, under the pool's uuid as CloudStack does.
    pub fn share_secret(&self, ceph: &Ceph, uuid: &str) -> Result<()> {
        let file = self.con.join("secret.xml");
        let text = format!(
            "<secret ephemeral='no' private='no'><uuid>{uuid}</uuid><usage type='ceph'><name>{uuid}</name></usage></secret>"
        );
        fs::write(&file, text)?;
        for host in &self.all {
            host.virsh(&["secret-define", &file.display().to_string()])?;
            host.virsh(&[
                "secret-set-value",
                uuid,
                "--file",
                &ceph.key_file().display().to_string(),
            ])?;
        }
        Ok(())
    }
}

impl Host {
    fn start(session: &Session, lab: &str, n: usize, caps: &Path) -> Result<Self> {
        let dir = session.subdir(format!("h/{n}"))?;
        for part in ["etc", "lib", "run", "cache/qemu/capabilities", "log"] {
            fs::create_dir_all(dir.join(part))?;
        }
        for system in [
            "/run/libvirt",
            "/var/lib/libvirt",
            "/var/cache/libvirt",
            "/var/log/libvirt",
        ] {
            fs::create_dir_all(system)?;
        }
        run(
            "cp",
            ["-a", "/etc/libvirt/.", &dir.join("etc").display().to_string()],
        )?;
        if caps.exists() {
            copy_all(caps, &dir.join("cache/qemu/capabilities"))?;
        }
        let ip = format!("10.99.0.{}", 10 + n);
        fs::write(dir.join("etc/libvirtd.conf"), daemon_conf(&ip, n))?;
        fs::write(dir.join("etc/qemu.conf"), QEMU_CONF)?;
        fs::write(dir.join("boot.sh"), BOOT)?;
        let log = fs::File::create(dir.join("log/libvirtd.out"))?;
        let netns = format!("{lab}h{n}");
        let child = Command::new("ip")
            .args([
                "netns",
                "exec",
                &netns,
                "unshare",
                "-m",
                "-u",
                "--propagation",
                "private",
                "bash",
            ])
            .arg(dir.join("boot.sh"))
            .arg(format!("kvm{n}"))
            .arg(&dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting libvirtd")?;
        session.track_pid(&format!("libvirtd{n}"), child.id())?;
        let host = Self {
            name: format!("kvm{n}"),
            ip,
            pid: child.id(),
            dir,
            netns,
        };
        until(&host.name, 30, || {
            Ok(host.dir.join("run/libvirt-sock").exists() && host.virsh(&["hostname"]).is_ok())
        })?;
        Ok(host)
    }

    /// From anywhere on this machine; may change things.
    pub fn uri(&self) -> String {
        format!(
            "qemu+unix:///system?socket={}",
            self.dir.join("run/libvirt-sock").display()
        )
    }

    /// The same, read-only on the server's side.
    pub fn uri_ro(&self) -> String {
        format!(
            "qemu+unix:///system?socket={}",
            self.dir.join("run/libvirt-sock-ro").display()
        )
    }

    /// From within the lab's network namespace.
    pub fn uri_tcp(&self) -> String {
        format!("qemu+tcp://{}/system", self.ip)
    }

    pub fn virsh(&self, args: &[&str]) -> Result<String> {
        run("virsh", ["-q", "-c", &self.uri()].iter().chain(args))
    }

    pub fn connect(&self) -> Result<Connect> {
        Connect::open(Some(&self.uri())).with_context(|| format!("connecting to {}", self.name))
    }

    fn with<T>(
        &self,
        domain: &str,
        act: impl FnOnce(&Live) -> std::result::Result<T, virt::error::Error>,
    ) -> Result<T> {
        let conn = self.connect()?;
        let live = conn.lookup_domain_by_name(domain)?;
        Ok(act(&live)?)
    }

    /// Starts a transient domain.
    pub fn create(&self, xml: &str, paused: bool) -> Result<()> {
        let flags = if paused {
            virt::sys::VIR_DOMAIN_START_PAUSED
        } else {
            0
        };
        self.connect()?
            .create_domain_xml(xml, flags)
            .with_context(|| format!("starting a guest on {}", self.name))?;
        Ok(())
    }

    pub fn destroy(&self, domain: &str) -> Result<()> {
        self.with(domain, Live::destroy)
    }

    pub fn xml(&self, domain: &str) -> Result<String> {
        self.with(domain, |d| d.xml_desc(0))
    }

    /// Hot-plugs; the error is libvirt's.
    pub fn attach(&self, domain: &str, disk: &str) -> Result<()> {
        self.with(domain, |d| {
            d.attach_device_flags(disk, virt::sys::VIR_DOMAIN_AFFECT_LIVE)
        })
        .map(drop)
    }

    /// Asks for an unplug; whether the disk goes is the guest's affair.
    pub fn ask_detach(&self, domain: &str, disk: &str) -> Result<()> {
        self.with(domain, |d| {
            d.detach_device_flags(disk, virt::sys::VIR_DOMAIN_AFFECT_LIVE)
        })
        .map(drop)
    }

    /// Stops the daemon where it stands: connections block.
    pub fn freeze(&self) -> Result<Frozen<'_>> {
        signal(self.pid, libc::SIGSTOP)?;
        Ok(Frozen(self))
    }

    /// The pid of a guest's QEMU.
    pub fn qemu_pid(&self, domain: &str) -> Result<u32> {
        Ok(
            fs::read_to_string(self.dir.join(format!("run/qemu/{domain}.pid")))?
                .trim()
                .parse()?,
        )
    }
}

/// A daemon that is stopped, until this is dropped.
#[derive(Debug)]
pub struct Frozen<'h>(&'h Host);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        drop(signal(self.0.pid, libc::SIGCONT));
    }
}

/// Run as `boot.sh NAME DIR` within the host's namespaces.
const BOOT: &str = r#"set -e
hostname "$1"
mount --bind "$2/etc" /etc/libvirt
mount --bind "$2/lib" /var/lib/libvirt
mount --bind "$2/cache" /var/cache/libvirt
mount --bind "$2/log" /var/log/libvirt
mount --bind "$2/run" /run/libvirt
exec libvirtd --listen --config /etc/libvirt/libvirtd.conf --pid-file /run/libvirt/libvirtd.pid
"#;

const QEMU_CONF: &str = r#"user = "root"
group = "root"
security_driver = "none"
dynamic_ownership = 0
remember_owner = 0
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
"#;

fn daemon_conf(ip: &str, n: usize) -> String {
    format!(
        "listen_tls = 0\nlisten_tcp = 1\nlisten_addr = \"{ip}\"\nauth_tcp = \"none\"\nauth_unix_ro = \"none\"\nauth_unix_rw = \"none\"\n\
         unix_sock_group = \"root\"\nhost_uuid = \"00000000-0000-4000-8000-{n:012}\"\n"
    )
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
