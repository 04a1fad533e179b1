//! The end of the table: what could not be judged, in few lines, and the line of coverage.

use super::document::{HostSeen, ScanDocument, Summary};
use super::style::{Styled, severity_style};
use super::table::lines;
use super::{Options, places};
use crate::classify::{BlockedBy, NotJudged, Severity};
use anstyle::Style;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Names listed of one group; `-v` lists all.
const NAMES: usize = 3;
/// Groups listed of one code; `-v` lists all.
const GROUPS: usize = 4;

pub(super) fn write(doc: &ScanDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let stuck = doc.in_flux.iter().filter(|n| n.stuck);
    let fresh = doc.in_flux.iter().filter(|n| !n.stuck);
    let mut any = section("In flux, not judged:", &grouped(fresh, options), options, out)?;
    any |= section(
        "Stuck, counts as not seen:",
        &grouped(stuck, options),
        options,
        out,
    )?;
    any |= section(
        "Cannot tell:",
        &grouped(doc.cannot_tell.iter(), options),
        options,
        out,
    )?;
    any |= section("Not ruled out:", &not_ruled_out(doc, options), options, out)?;
    any |= section("Further attaches that fail:", &cdroms(doc), options, out)?;
    if any {
        writeln!(out)?;
    }
    summary(doc, options, out)
}

/// A heading and its items; nothing where there are none.
fn section(title: &str, items: &[String], options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    if items.is_empty() {
        return Ok(false);
    }
    writeln!(out, "{}", Styled(title, Style::new().bold(), options.color))?;
    for item in items {
        for (at, line) in lines(item, 4, options).iter().enumerate() {
            writeln!(out, "{}{line}", if at == 0 { "  - " } else { "    " })?;
        }
    }
    Ok(true)
}

/// Two hundred lines of one reason become one with a count.
fn grouped<'a>(all: impl Iterator<Item = &'a NotJudged>, options: &Options) -> Vec<String> {
    let mut codes: BTreeMap<&str, BTreeMap<&str, Vec<&NotJudged>>> = BTreeMap::new();
    for one in all {
        codes
            .entry(one.code)
            .or_default()
            .entry(&one.why)
            .or_default()
            .push(one);
    }
    let mut items = Vec::new();
    for (code, groups) in codes {
        let shown = if options.verbose > 0 || groups.len() <= GROUPS {
            groups.len()
        } else {
            GROUPS - 1
        };
        let mut largest: Vec<_> = groups.into_iter().collect();
        // Stable: reasons of one size stay in their order.
        largest.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        let rest: usize = largest.iter().skip(shown).map(|(_, members)| members.len()).sum();
        for (why, members) in largest.iter().take(shown) {
            items.push(format!("{}: {why} [{code}]", who(members, options)));
        }
        if rest > 0 {
            items.push(format!(
                "{rest} more [{code}], for {} other reasons (-v lists all)",
                largest.len() - shown
            ));
        }
    }
    items
}

/// Which volumes and VMs: by name while they are few.
fn who(members: &[&NotJudged], options: &Options) -> String {
    let names: Vec<&str> = members.iter().filter_map(|m| places::subject(m)).collect();
    if names.is_empty() {
        return count(members.len(), "case");
    }
    if names.len() <= NAMES || options.verbose > 0 {
        return names.join(", ");
    }
    let volumes = members.iter().filter(|m| m.volume.is_some()).count();
    match (volumes, members.len() - volumes) {
        (volumes, 0) => count(volumes, "volume"),
        (0, vms) => count(vms, "VM"),
        (volumes, vms) => format!("{}, {}", count(volumes, "volume"), count(vms, "VM")),
    }
}

fn not_ruled_out(doc: &ScanDocument, options: &Options) -> Vec<String> {
    let mut by_hosts: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for open in &doc.not_ruled_out {
        by_hosts.entry(&open.hosts).or_default().push(&open.what);
    }
    let mut items = Vec::new();
    for (hosts, whats) in by_hosts {
        let named = if options.verbose > 0 { hosts.len() } else { 8 };
        let mut on = hosts.iter().take(named).cloned().collect::<Vec<_>>().join(", ");
        if hosts.len() > named {
            on += &format!(" and {} more", hosts.len() - named);
        }
        let shown = if options.verbose > 0 { whats.len() } else { NAMES };
        items.extend(whats.iter().take(shown).map(|what| format!("{what}, on {on}")));
        if whats.len() > shown {
            items.push(format!(
                "{} more of these, on {on} (-v lists all)",
                whats.len() - shown
            ));
        }
    }
    items
}

/// Blocked slots that no finding tells.
fn cdroms(doc: &ScanDocument) -> Vec<String> {
    let told = |block| doc.findings.iter().any(|f| f.blocks.contains(block));
    doc.blocked
        .iter()
        .filter(|block| !told(block))
        .map(|block| {
            let by = match block.by {
                BlockedBy::Cdrom => "a CD-ROM",
                BlockedBy::Volume => "a volume's disk",
                BlockedBy::Unknown => "an unknown disk",
            };
            format!("{} by {by}", places::block(block))
        })
        .collect()
}

/// What was found, and in how much of the cloud it was looked for.
fn summary(doc: &ScanDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let Summary {
        by_class: _,
        by_severity,
        ignored,
        below_min_severity,
        volumes,
        disks,
        hosts_seen,
        hosts_unseen,
    } = &doc.summary;
    let found = match doc.findings.len() {
        0 => "no findings".to_owned(),
        n => {
            let parts: Vec<String> = Severity::ALL
                .iter()
                .rev()
                .filter_map(|s| by_severity.get(s.name()).filter(|n| **n > 0).map(|n| (s, n)))
                .map(|(s, n)| format!("{n} {}", s.name()))
                .collect();
            format!("{} ({})", count(n, "finding"), parts.join(", "))
        }
    };
    let text = format!(
        "{found}; {}, {}; {hosts_seen} of {} seen",
        count(*volumes, "volume"),
        count(*disks, "disk"),
        count(hosts_seen + hosts_unseen, "host"),
    );
    let worst = doc.findings.iter().map(|f| f.severity).max();
    let style = worst.map_or_else(Style::new, severity_style).bold();
    for line in lines(&text, 0, options) {
        writeln!(out, "{}", Styled(&line, style, options.color))?;
    }
    let mut more = unseen(&doc.hosts);
    if *ignored > 0 {
        more.push(format!(
            "hidden: {} that the configuration ignores",
            count(*ignored, "finding")
        ));
    }
    if *below_min_severity > 0 {
        more.push(format!(
            "hidden: {} below --min-severity",
            count(*below_min_severity, "finding")
        ));
    }
    let not_asked = doc.hosts.iter().filter(|h| h.status == "not-asked").count();
    if not_asked > 0 {
        more.push(format!("not asked: {}", count(not_asked, "host")));
    }
    if !doc.scope.is_empty() {
        more.push(format!("only: {}", doc.scope.join(", ")));
    }
    if !doc.complete {
        more.push("not all was seen: what is not listed here is not known to be well".to_owned());
    }
    let ScanDocument {
        started, finished, ..
    } = doc;
    more.push(format!("rows and hosts read from {started:.0} to {finished:.0}"));
    for text in more {
        for (at, line) in lines(&text, 2, options).iter().enumerate() {
            writeln!(out, "{}{line}", if at == 0 { "" } else { "  " })?;
        }
    }
    Ok(())
}

/// Which hosts were not seen, and why: those of one reason together.
fn unseen(hosts: &[HostSeen]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for host in hosts.iter().filter(|h| h.status == "unseen") {
        let reason = host.reason.as_deref().unwrap_or("no reason given");
        reasons.entry(reason).or_default().push(&host.name);
    }
    reasons
        .into_iter()
        .map(|(reason, names)| format!("not seen: {} ({reason})", names.join(", ")))
        .collect()
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
