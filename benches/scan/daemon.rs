//! A libvirt daemon of the bench's own, and one client that keeps domains up in its shared test driver.
//!
//! `test:///default` is shared by all clients and lives as long as one is connected; a `test:///FILE` would be parsed anew for every
//! connection, and that would flatter us.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use virt::connect::Connect;

use super::lab::session::{Session, signal};

/// Up as long as this value.
pub struct Daemon {
    socket: PathBuf,
    child: Child,
    /// The client that keeps the domains up.
    client: Option<Connect>,
}

impl Daemon {
    /// Starts one with these domains, running and transient as CloudStack's are.
    pub fn start(session: &Session, name: &str, domains: &[String]) -> Result<Self> {
        let dir = session.subdir(name)?;
        let at = dir.display();
        let script = format!(
            "set -e
             cd {at}
             mkdir -p etc lib run cache log /etc/libvirt /run/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt
             cp -a /etc/libvirt/. etc/
             printf '%s\\n' 'listen_tls = 0' 'auth_unix_ro = \"none\"' 'auth_unix_rw = \"none\"' 'unix_sock_group = \"root\"' \
                 > etc/libvirtd.conf
             mount --bind etc /etc/libvirt
             mount --bind lib /var/lib/libvirt
             mount --bind cache /var/cache/libvirt
             mount --bind log /var/log/libvirt
             mount --bind run /run/libvirt
             # No emulator in sight: asked for its capabilities, it would start each one that it finds.
             PATH=/usr/sbin exec /usr/sbin/libvirtd --config /etc/libvirt/libvirtd.conf --pid-file /run/libvirt/libvirtd.pid"
        );
        let child = Command::new("unshare")
            .args(["-m", "--propagation", "private", "bash", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(dir.join("stderr"))?)
            .spawn()
            .context("starting unshare")?;
        session.track_pid(name, child.id())?;
        let socket = dir.join("run/libvirt-sock");
        let mut daemon = Self {
            socket,
            child,
            client: None,
        };
        let until = Instant::now() + Duration::from_secs(20);
        let client = loop {
            match Connect::open(Some(&daemon.uri())) {
                Ok(client) => break client,
                Err(why) => {
                    if daemon.child.try_wait()?.is_some() || Instant::now() > until {
                        let said = std::fs::read_to_string(dir.join("stderr")).unwrap_or_default();
                        bail!("libvirtd does not come up (root and libvirt-daemon are needed): {why} {said}");
                    }
                }
            }
            thread::sleep(Duration::from_millis(20));
        };
        client.lookup_domain_by_name("test")?.destroy()?;
        for xml in domains {
            client.create_domain_xml(xml, 0)?;
        }
        daemon.client = Some(client);
        Ok(daemon)
    }

    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    pub fn uri(&self) -> String {
        uri("default", &self.socket)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.client.take());
        // The session's reaper ends whatever does not follow this.
        drop(signal(self.child.id(), libc::SIGTERM));
        let until = Instant::now() + Duration::from_secs(5);
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The test driver behind a socket.
pub fn uri(path: &str, socket: &std::path::Path) -> String {
    format!("test+unix:///{path}?socket={}", socket.display())
}
