//! The hands of the played CloudStack: what an agent does on a host.
//!
//! `Hands` has two bodies: `testhost::Paper` writes files for libvirt's test driver, `hosts::Real` drives real domains. Both refuse a
//! second disk of one target in libvirt's own words. Neither may compare anything that libvirt does not compare.

use anyhow::{Context, Result};

use super::domxml::{Disk, Domain, Pool};

/// What an agent can be asked for.
pub trait Hands {
    /// Makes the bytes of a volume, where there are bytes.
    fn provision(&self, pool: &Pool, path: &str, format: &str) -> Result<()>;
    /// Starts a domain.
    fn boot(&self, host: &str, domain: &Domain) -> Result<()>;
    /// Hot-plugs a disk.
    fn attach(&self, host: &str, domain: &str, disk: &Disk) -> Result<()>;
    /// Unplugs the disk that is given as its live XML, and waits until it is gone.
    fn detach(&self, host: &str, domain: &str, target: &str) -> Result<()>;
    /// Ends a domain.
    fn shut(&self, host: &str, domain: &str) -> Result<()>;
    /// The live XML.
    fn xml(&self, host: &str, domain: &str) -> Result<String>;
    /// Where the pool of the played cloud lies: its type, path and `user_info`.
    fn pool(&self) -> (String, String, Option<String>);
}

/// The disks of a live XML, as target and source.
pub fn live_disks(xml: &str) -> Result<Vec<(String, String)>> {
    let doc = roxmltree::Document::parse(xml).context("live XML")?;
    let mut out = Vec::new();
    for disk in doc
        .descendants()
        .filter(|n| n.has_tag_name("disk") && n.attribute("device") == Some("disk"))
    {
        let child = |name: &str| disk.children().find(|n| n.has_tag_name(name));
        let source = child("source")
            .and_then(|s| ["file", "dev", "name"].iter().find_map(|a| s.attribute(*a)))
            .unwrap_or_default();
        let target = child("target")
            .and_then(|t| t.attribute("dev"))
            .unwrap_or_default();
        out.push((target.to_owned(), source.to_owned()));
    }
    Ok(out)
}

/// The live XML of the one disk at a target, as libvirt shows it.
pub fn live_disk_xml(xml: &str, target: &str) -> Result<String> {
    let doc = roxmltree::Document::parse(xml).context("live XML")?;
    doc.descendants()
        .filter(|n| n.has_tag_name("disk"))
        .find(|d| {
            d.children()
                .any(|n| n.has_tag_name("target") && n.attribute("dev") == Some(target))
        })
        .map(|d| xml[d.range()].to_owned())
        .with_context(|| format!("no disk {target} in the live XML"))
}
