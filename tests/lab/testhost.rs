//! Hosts on libvirt's test driver: one `test:///FILE.xml` each, with any number of domains.
//!
//! The driver reads a file anew for each connection and hot-plugs nothing: a changed guest is a changed file. It must never be taken for
//! proof that a repair works.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::domxml::{Disk, Domain, Pool};
use super::world::Hands;

/// Several test-driver hosts in one directory.
#[derive(Debug)]
pub struct Paper {
    dir: PathBuf,
    hosts: RefCell<BTreeMap<String, Vec<Domain>>>,
    pool: (String, String, Option<String>),
    /// Guests that do not let go of a disk, and whether they were asked to.
    deaf: RefCell<BTreeMap<(String, String), bool>>,
}

/// What an agent says when a guest has not let go of a disk in `wait.detach.device`.
pub const NOT_IN_TIME: &str = "Could not detach volume after sending the command and waiting for [10000] milliseconds. Probably the VM does \
                               not support the sent detach command or the device is busy at the moment. Try again in a couple of minutes.";

impl Paper {
    /// Hosts without guests.
    pub fn new(dir: &Path, hosts: &[&str]) -> Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
        let hosts = hosts
            .iter()
            .map(|name| ((*name).to_owned(), Vec::new()))
            .collect();
        let paper = Self {
            dir: dir.to_owned(),
            hosts: RefCell::new(hosts),
            pool: (
                "RBD".into(),
                "cloudstack".into(),
                Some("cloudstack:secret".into()),
            ),
            deaf: RefCell::default(),
        };
        let names: Vec<String> = paper.hosts.borrow().keys().cloned().collect();
        names.iter().try_for_each(|name| paper.save(name))?;
        Ok(paper)
    }

    pub fn uri(&self, host: &str) -> String {
        format!("test://{}", self.file(host).display())
    }

    pub fn uris(&self) -> Vec<(String, String)> {
        self.hosts
            .borrow()
            .keys()
            .map(|host| (host.clone(), self.uri(host)))
            .collect()
    }

    /// From now on this guest does not answer when it is asked to let go of that disk.
    pub fn deafen(&self, domain: &str, target: &str) {
        let key = (domain.to_owned(), target.to_owned());
        self.deaf.borrow_mut().insert(key, false);
    }

    /// It lets go after all, long after it was asked.
    pub fn let_go(&self, host: &str, domain: &str, target: &str) -> Result<()> {
        let asked = self
            .deaf
            .borrow_mut()
            .remove(&(domain.to_owned(), target.to_owned()));
        if asked != Some(true) {
            bail!("nobody asked {domain} to let go of {target}");
        }
        self.detach(host, domain, target)
    }

    fn file(&self, host: &str) -> PathBuf {
        self.dir.join(format!("{host}.xml"))
    }

    fn change(&self, host: &str, how: impl FnOnce(&mut Vec<Domain>) -> Result<()>) -> Result<()> {
        how(self
            .hosts
            .borrow_mut()
            .get_mut(host)
            .with_context(|| format!("no host {host}"))?)?;
        self.save(host)
    }

    fn save(&self, host: &str) -> Result<()> {
        let hosts = self.hosts.borrow();
        let guests: Vec<String> = hosts
            .get(host)
            .into_iter()
            .flatten()
            .map(Domain::test_xml)
            .collect();
        node(&self.file(host), &guests)
    }
}

impl Hands for Paper {
    fn provision(&self, _pool: &Pool, _path: &str, _format: &str) -> Result<()> {
        Ok(())
    }

    fn boot(&self, host: &str, domain: &Domain) -> Result<()> {
        self.change(host, |guests| {
            guests.push(domain.clone());
            Ok(())
        })
    }

    fn attach(&self, host: &str, domain: &str, disk: &Disk) -> Result<()> {
        self.change(host, |guests| {
            let guest = find(guests, domain)?;
            for (target, source) in super::world::live_disks(&guest.test_xml())? {
                if target == disk.target {
                    // libvirt drops the pool of an RBD name here.
                    let short = |s: &str| match disk.source {
                        super::domxml::Source::Network { .. } => s.rsplit('/').next().unwrap_or(s).to_owned(),
                        _ => s.to_owned(),
                    };
                    let (held, new) = (short(&source), short(disk.source.path()));
                    bail!("XML error: target '{target}' duplicated for disk sources '{held}' and '{new}'");
                }
            }
            guest.disks.push(disk.xml());
            Ok(())
        })
    }

    fn detach(&self, host: &str, domain: &str, target: &str) -> Result<()> {
        if let Some(asked) = self
            .deaf
            .borrow_mut()
            .get_mut(&(domain.to_owned(), target.to_owned()))
        {
            if std::mem::replace(asked, true) {
                let at = target.bytes().next_back().map_or(0, |letter| letter - b'a');
                bail!(
                    "org.libvirt.LibvirtException: internal error: unable to execute QEMU command 'device_del': Device virtio-disk{at} is already in the process of unplug"
                );
            }
            bail!("{NOT_IN_TIME}");
        }
        self.change(host, |guests| {
            let guest = find(guests, domain)?;
            let mark = format!("<target dev='{target}'");
            let before = guest.disks.len();
            guest.disks.retain(|d| !d.contains(&mark));
            if guest.disks.len() == before {
                bail!("device not found: disk {target} not found");
            }
            Ok(())
        })
    }

    fn shut(&self, host: &str, domain: &str) -> Result<()> {
        self.change(host, |guests| {
            guests.retain(|g| g.name != domain);
            Ok(())
        })
    }

    fn xml(&self, host: &str, domain: &str) -> Result<String> {
        Ok(find(
            self.hosts
                .borrow_mut()
                .get_mut(host)
                .with_context(|| format!("no host {host}"))?,
            domain,
        )?
        .test_xml())
    }

    fn pool(&self) -> (String, String, Option<String>) {
        self.pool.clone()
    }
}

fn find<'a>(guests: &'a mut [Domain], name: &str) -> Result<&'a mut Domain> {
    guests
        .iter_mut()
        .find(|g| g.name == name)
        .with_context(|| format!("Domain not found: no domain with matching name '{name}'"))
}

/// Writes a test driver's file from whole `<domain type='test'>` elements.
pub fn node(file: &Path, domains: &[String]) -> Result<()> {
    fs::write(file, format!("<node>{}</node>\n", domains.concat()))
        .with_context(|| format!("writing {}", file.display()))
}

/// Writes a scan's configuration: the database with its reader, and the URI of each host.
pub fn config(file: &Path, db: &super::Db, hosts: &[(String, String)]) -> Result<()> {
    let quote = |s: &str| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""));
    let lines: String = hosts
        .iter()
        .map(|(name, uri)| format!("{} = {}\n", quote(name), quote(uri)))
        .collect();
    let text = format!(
        "[database]\nurl = {}\npassword_file = {}\ntls = \"off\"\n\n[libvirt.hosts]\n{lines}",
        quote(&db.url()),
        quote(&db.password_file.display().to_string()),
    );
    fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}
