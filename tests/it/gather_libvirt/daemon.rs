//! A libvirt daemon of the test's own, as a host of its own name: in mount and UTS namespaces, found by its socket, stopped
//! by its pid. Needs root and the package `libvirt-daemon`.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use virt::connect::Connect;
use virt::domain::Domain;

/// A running daemon. It ends with this value.
pub struct Daemon {
    dir: TempDir,
    child: Child,
}

impl Daemon {
    /// Starts one that calls itself `hostname`.
    pub fn start(hostname: &str) -> Self {
        virt::error::clear_error_callback();
        let dir = TempDir::new().unwrap();
        let at = dir.path().display();
        let uuid = "00000000-0000-4000-8000-000000000007";
        let script = format!(
            "set -e
             cd {at}
             mkdir -p etc lib run cache log /etc/libvirt /run/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt
             cp -a /etc/libvirt/. etc/
             printf '%s\\n' 'listen_tls = 0' 'auth_unix_ro = \"none\"' 'auth_unix_rw = \"none\"' \
                 'unix_sock_group = \"root\"' 'host_uuid = \"{uuid}\"' > etc/libvirtd.conf
             printf '%s\\n' 'security_driver = \"none\"' 'stdio_handler = \"file\"' > etc/qemu.conf
             hostname {hostname}
             mount --bind etc /etc/libvirt
             mount --bind lib /var/lib/libvirt
             mount --bind cache /var/cache/libvirt
             mount --bind log /var/log/libvirt
             mount --bind run /run/libvirt
             # No emulator in sight: asked for its capabilities, it would start each one that it finds.
             PATH=/usr/sbin exec /usr/sbin/libvirtd --config /etc/libvirt/libvirtd.conf --pid-file /run/libvirt/libvirtd.pid"
        );
        let child = Command::new("unshare")
            .args(["-m", "-u", "--propagation", "private", "bash", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(dir.path().join("stderr")).unwrap())
            .spawn()
            .expect("unshare starts");
        let mut daemon = Self { dir, child };
        let since = Instant::now();
        while Connect::open_read_only(Some(&daemon.uri("qemu", "system"))).is_err() {
            let ended = daemon.child.try_wait().unwrap();
            if ended.is_some() || since.elapsed() > Duration::from_secs(20) {
                let said = std::fs::read_to_string(daemon.dir.path().join("stderr")).unwrap_or_default();
                panic!("libvirtd does not come up (root and libvirt-daemon are needed): {ended:?} {said}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon
    }

    /// Its socket; read-only connections use it as well.
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("run/libvirt-sock")
    }

    /// A URI of one of its drivers.
    pub fn uri(&self, driver: &str, path: &str) -> String {
        uri(driver, path, &self.socket())
    }

    /// Stops it as SIGSTOP does; it keeps its sockets and answers nothing.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.signal("-CONT");
        self.signal("-TERM");
        let since = Instant::now();
        while self.child.try_wait().is_ok_and(|s| s.is_none()) {
            if since.elapsed() > Duration::from_secs(5) {
                self.signal("-KILL");
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A URI that leads to a socket.
pub fn uri(driver: &str, path: &str, socket: &std::path::Path) -> String {
    format!("{driver}+unix:///{path}?socket={}", socket.display())
}

/// Domains in the test driver's shared default node, which lasts as long as this client.
pub struct Crowd {
    connection: Connect,
}

impl Crowd {
    /// Creates transient domains `i-2-1001-VM`, …, running, of `disks` disks each. The node's own domain `test` goes.
    pub fn gather(daemon: &Daemon, domains: usize, disks: usize) -> Self {
        let connection = Connect::open(Some(&daemon.uri("test", "default"))).unwrap();
        connection
            .lookup_domain_by_name("test")
            .unwrap()
            .destroy()
            .unwrap();
        for n in 0..domains {
            connection.create_domain_xml(&domain_xml(n, disks), 0).unwrap();
        }
        Self { connection }
    }

    /// A domain, to do something to it.
    pub fn domain(&self, n: usize) -> Domain {
        self.connection.lookup_domain_by_name(&name(n)).unwrap()
    }

    /// Gives a domain a persistent definition.
    pub fn define(&self, xml: &str) {
        self.connection.define_domain_xml(xml).unwrap();
    }
}

/// The name of the nth domain; all names are equally long.
pub fn name(n: usize) -> String {
    format!("i-2-{}-VM", 1001 + n)
}

/// The uuid of the nth domain.
pub fn uuid(n: usize) -> String {
    format!("{n:08x}-0000-4000-8000-00000000aaaa")
}

/// The XML of the nth domain, its disks on NFS.
pub fn domain_xml(n: usize, disks: usize) -> String {
    let disk = |d: usize| {
        let letter = char::from(b'a' + u8::try_from(d).unwrap());
        format!(
            "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/>\
             <source file='/mnt/610e0939-6665-3d4c-9f10-000000000001/{n:08x}-0000-4000-8000-{d:012x}'/>\
             <target dev='vd{letter}' bus='virtio'/><serial>{n:08x}000040008{d:03x}</serial></disk>"
        )
    };
    let disks: String = (0..disks).map(disk).collect();
    format!(
        "<domain type='test'><name>{}</name><uuid>{}</uuid><memory>131072</memory><vcpu>1</vcpu>\
         <os><type>hvm</type></os><devices>{disks}</devices></domain>",
        name(n),
        uuid(n)
    )
}
