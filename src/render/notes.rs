//! The end of the table: what could not be judged, in few lines, and the line of coverage.

use super::alike::{Group, count};
use super::document::{HostSeen, ScanDocument, Summary};
use super::style::{Styled, severity_style};
use super::table::lines;
use super::{Options, alike, places};
use crate::classify::{BlockedBy, NotJudged, Severity};
use anstyle::Style;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Sentences listed for one set of hosts; `-v` lists all.
const NAMES: usize = 3;
/// Groups listed of one code; `-v` lists all.
const GROUPS: usize = 4;

pub(super) fn write(doc: &ScanDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let known: HashMap<&str, &HostSeen> = doc.hosts.iter().map(|h| (h.name.as_str(), h)).collect();
    let stuck = doc.in_flux.iter().filter(|n| n.stuck);
    let fresh = doc.in_flux.iter().filter(|n| !n.stuck);
    let mut any = section(
        "In flux, not judged:",
        &grouped(fresh, &known, options),
        options,
        out,
    )?;
    any |= section(
        "Stuck, counts as not seen:",
        &grouped(stuck, &known, options),
        options,
        out,
    )?;
    any |= section(
        "Cannot tell:",
        &grouped(doc.cannot_tell.iter(), &known, options),
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
fn grouped<'a>(
    all: impl Iterator<Item = &'a NotJudged>,
    known: &HashMap<&str, &HostSeen>,
    options: &Options,
) -> Vec<String> {
    let mut items = Vec::new();
    for (code, groups) in Group::all(all, known, options) {
        let shown = if options.verbose > 0 || groups.len() <= GROUPS {
            groups.len()
        } else {
            GROUPS - 1
        };
        let told = groups.iter().take(shown);
        items.extend(told.map(|group| format!("{} [{code}]", group.text(known, options))));
        let rest: usize = groups.iter().skip(shown).map(Group::len).sum();
        if rest > 0 {
            items.push(format!(
                "{rest} more [{code}], for {} other reasons (-v lists all)",
                groups.len() - shown
            ));
        }
    }
    items
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
    let of = |status| doc.hosts.iter().filter(move |host| host.status == status);
    let mut more = alike::hosts("not seen", of("unseen"), options);
    more.extend(alike::hosts(
        "not asked",
        of("not-asked").filter(|h| h.gap),
        options,
    ));
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
    let not_asked = of("not-asked").filter(|host| !host.gap).count();
    if not_asked > 0 {
        more.push(format!("not asked: {}, out of scope", count(not_asked, "host")));
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
