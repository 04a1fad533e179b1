//! The played agent on real hosts: real domains, real hot-plug, real images on RBD or in a shared directory.
//!
//! What it started it ends when it is dropped. It must never hide what libvirt answers.

use std::cell::RefCell;

use anyhow::{Result, bail};

use super::cmd::{run, until};
use super::domxml::{Disk, Domain, Pool};
use super::guest::{Boot, exec, wait_up};
use super::shared::Lab;
use super::staging::POOL;
use super::world::{Hands, live_disk_xml, live_disks};

/// Where the volumes' bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Rbd,
    /// qcow2 files in a directory that all hosts see; QEMU locks them.
    SharedMountPoint,
}

pub struct Real<'l> {
    pub lab: &'l Lab,
    storage: Storage,
    boot: Boot,
    made: RefCell<Vec<(String, String)>>,
}

impl<'l> Real<'l> {
    pub fn new(lab: &'l Lab, storage: Storage) -> Self {
        Self {
            lab,
            storage,
            boot: Boot::default(),
            made: RefCell::new(Vec::new()),
        }
    }

    /// How guests that are booted from now on are made.
    #[must_use]
    pub fn booting(mut self, boot: Boot) -> Self {
        self.boot = boot;
        self
    }

    /// Runs a command in a guest.
    pub fn exec(&self, domain: &str, command: &str) -> Result<(String, i32)> {
        wait_up(&self.lab.hosts.con, domain)?;
        exec(&self.lab.hosts.con, domain, command, 20)
    }
}

impl Hands for Real<'_> {
    fn provision(&self, pool: &Pool, path: &str, format: &str) -> Result<()> {
        match self.storage {
            Storage::Rbd => self.lab.ceph()?.create(path),
            Storage::SharedMountPoint => {
                let file = format!("{}/{path}", pool.path);
                run(
                    "qemu-img",
                    ["create", "-q", "-f", &format.to_lowercase(), &file, "16M"],
                )
                .map(drop)
            }
        }
    }

    fn boot(&self, host: &str, domain: &Domain) -> Result<()> {
        let hosts = &self.lab.hosts;
        drop(std::fs::remove_file(
            hosts.con.join(format!("{}.log", domain.name)),
        ));
        let xml = hosts.image.xml(domain, &self.boot, &hosts.con);
        hosts.get(host)?.create(&xml, self.boot.paused)?;
        self.made
            .borrow_mut()
            .push((host.to_owned(), domain.name.clone()));
        Ok(())
    }

    fn attach(&self, host: &str, domain: &str, disk: &Disk) -> Result<()> {
        self.lab.hosts.get(host)?.attach(domain, &disk.xml())
    }

    fn detach(&self, host: &str, domain: &str, target: &str) -> Result<()> {
        let host = self.lab.hosts.get(host)?;
        wait_up(&self.lab.hosts.con, domain)?;
        host.ask_detach(domain, &live_disk_xml(&host.xml(domain)?, target)?)?;
        // As the agent does: ask once, then look for ten seconds.
        until(&format!("{domain} to give up {target}"), 10, || {
            Ok(live_disks(&host.xml(domain)?)?.iter().all(|(t, _)| t != target))
        })
    }

    fn shut(&self, host: &str, domain: &str) -> Result<()> {
        self.lab.hosts.get(host)?.destroy(domain)?;
        self.made.borrow_mut().retain(|(h, d)| h != host || d != domain);
        Ok(())
    }

    fn xml(&self, host: &str, domain: &str) -> Result<String> {
        self.lab.hosts.get(host)?.xml(domain)
    }

    fn pool(&self) -> (String, String, Option<String>) {
        match self.storage {
            Storage::Rbd => (
                "RBD".into(),
                super::ceph::POOL.into(),
                Some("cloudstack:kept-by-libvirt".into()),
            ),
            Storage::SharedMountPoint => (
                "SharedMountPoint".into(),
                self.lab.hosts.primary.display().to_string(),
                None,
            ),
        }
    }
}

impl Drop for Real<'_> {
    fn drop(&mut self) {
        for (host, domain) in self.made.borrow().iter() {
            if let Ok(host) = self.lab.hosts.get(host) {
                drop(host.destroy(domain));
            }
        }
    }
}

impl Lab {
    /// The Ceph of this lab, its secret given to every host.
    pub fn ceph(&self) -> Result<&super::ceph::Ceph> {
        match &self.ceph {
            Some(ceph) => Ok(ceph),
            None => bail!("this lab has no Ceph"),
        }
    }

    pub(super) fn share_secret(&self) -> Result<()> {
        self.ceph
            .as_ref()
            .map_or(Ok(()), |ceph| self.hosts.share_secret(ceph, POOL))
    }
}
