//! `-o table`: for people. Severity first, one line a finding; under it what the witnesses say, what it blocks, what may
//! be done; then what could not be judged; last a line of coverage.
//!
//! Every line is built of harmless text (`text.rs`) before it is coloured, and colour carries nothing alone.

use super::document::ScanDocument;
use super::style::{Styled, label, severity_style};
use super::text::{visible, width, wrap};
use super::{Options, notes, places, volumes};
use crate::classify::{Class, Finding, Offer, Subject};
use anstyle::Style;
use std::io::{self, Write};

/// Where the text beside a label begins.
pub(super) const INDENT: usize = 12;
/// Where the place of a finding begins: severity, class and id stand before it.
const PLACE: usize = 42;
/// No line is made for fewer columns: an id must fit beside its label.
const NARROWEST: usize = INDENT + 40;

/// The whole table.
pub(super) fn write(doc: &ScanDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let options = &Options {
        width: options.width.max(NARROWEST),
        ..*options
    };
    if options.headers && !options.quiet && !doc.findings.is_empty() {
        let header = format!("{:<8}  {:<17}  {:<11}  WHERE", "SEVERITY", "CLASS", "FINDING");
        writeln!(out, "{}", Styled(&header, Style::new().bold(), options.color))?;
    }
    for finding in &doc.findings {
        head(finding, options, out)?;
        if !options.quiet {
            body(finding, options, out)?;
            writeln!(out)?;
        }
    }
    if options.quiet {
        return Ok(());
    }
    if let Some(pairs) = &doc.volumes {
        volumes::write(pairs, options, out)?;
    }
    notes::write(doc, options, out)
}

/// The one line: severity, class, id, where.
fn head(finding: &Finding, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let severity = format!("{:<8}", finding.severity.name());
    let start = format!("{:<17}  {:<11}", finding.class.name(), visible(&finding.id));
    write!(
        out,
        "{}  {}",
        Styled(&severity, severity_style(finding.severity), options.color),
        Styled(&start, Style::new().bold(), options.color)
    )?;
    let places = visible_places(finding);
    if options.quiet {
        // A script's lines: one a finding, however long.
        return writeln!(out, "  {}", places.join("  "));
    }
    let mut used = PLACE - 2;
    for place in places {
        if used + 2 + width(&place) <= options.width {
            write!(out, "  {place}")?;
            used += 2 + width(&place);
            continue;
        }
        // On lines of their own, further left where they would not fit else.
        let indent = PLACE.min(options.width.saturating_sub(width(&place)).max(4));
        for line in wrap(&place, options.width.saturating_sub(indent)) {
            write!(out, "\n{:indent$}{line}", "")?;
            used = indent + width(&line);
        }
    }
    writeln!(out)
}

/// Each holder's place; where nothing holds, the place that the row says.
fn visible_places(finding: &Finding) -> Vec<String> {
    let mut places: Vec<String> = finding
        .holders
        .iter()
        .map(|h| visible(&places::place(h)).into_owned())
        .collect();
    if places.is_empty() {
        let vm = finding.claim.as_ref().map(|c| (c.host.as_deref(), c.vm.as_str()));
        let vm = vm.or_else(|| {
            finding
                .vm
                .as_ref()
                .map(|v| (v.host.as_deref(), v.instance.as_str()))
        });
        places.push(match vm {
            Some((Some(host), vm)) => format!("{}/{} by the row", visible(host), visible(vm)),
            Some((None, vm)) => format!("{} by the row", visible(vm)),
            None => "-".to_owned(),
        });
    }
    places
}

fn body(finding: &Finding, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let Finding {
        id: _,
        class: _,
        also,
        severity: _,
        confidence,
        subject: _,
        volume,
        others,
        vm: _,
        claim: _,
        holders: _,
        blocks,
        cause,
        remedies,
        advice,
    } = finding;
    let mut line = |name: &str, text: &str| label(name, text, options, out);
    if let Some(volume) = volume {
        line("volume", &places::volume(volume))?;
    }
    for other in others {
        line("volume", &places::volume(other))?;
    }
    line("database", &by_the_rows(finding))?;
    for text in by_libvirt(finding, options) {
        line("libvirt", &text)?;
    }
    if !also.is_empty() {
        let names: Vec<&str> = also.iter().map(|c| c.name()).collect();
        line("also", &names.join(", "))?;
    }
    match (cause, confidence) {
        (Some(cause), Some(confidence)) => {
            line("cause", &format!("{}: {}", confidence.name(), cause.summary))?;
        }
        (Some(cause), None) => line("cause", &cause.summary)?,
        (None, Some(confidence)) => line("cause", confidence.name())?,
        (None, None) => {}
    }
    if options.verbose > 0 {
        for moment in cause.iter().flat_map(|c| &c.timeline) {
            let job = moment.job.map(|j| format!(" job-{j}")).unwrap_or_default();
            let vm = moment.vm.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
            line(
                "",
                &format!("{} {}{job}{vm}: {}", moment.time, moment.source, moment.what),
            )?;
        }
    }
    for block in blocks {
        line("blocks", &places::block(block))?;
    }
    if !remedies.is_empty() {
        line("remedies", &offers(remedies))?;
    }
    line("advice", advice)
}

fn by_the_rows(finding: &Finding) -> String {
    if let Some(claim) = &finding.claim {
        return places::claim(claim);
    }
    match (finding.subject, &finding.vm) {
        (Subject::Vm, Some(vm)) => places::vm_row(vm),
        (Subject::Disk, _) if finding.volume.is_none() => "no row of this disk".to_owned(),
        _ => "attached to no VM".to_owned(),
    }
}

fn by_libvirt(finding: &Finding, options: &Options) -> Vec<String> {
    if finding.holders.is_empty() {
        let nothing = match finding.class {
            Class::MissingDisk => "no disk of this volume in any domain of the hosts that could have it",
            Class::VmDrift => "no domain of this VM on the hosts that were read",
            _ => return Vec::new(),
        };
        return vec![nothing.to_owned()];
    }
    // A disk that no row knows has no other name than its source.
    let source = options.verbose > 0 || finding.volume.is_none();
    finding
        .holders
        .iter()
        .map(|h| places::holder(h, source && h.target.is_some()))
        .collect()
}

/// What may be done, recommended first; then what is withheld, and why.
fn offers(remedies: &[Offer]) -> String {
    let mut had = Vec::new();
    let mut withheld = Vec::new();
    for offer in remedies {
        let Offer {
            remedy,
            action,
            recommended,
            withheld: why,
            code,
        } = offer;
        let mut text = remedy.name().to_owned();
        if action.name() != remedy.name() {
            text += &format!(" ({})", action.name());
        }
        match (why, recommended) {
            (Some(why), _) => {
                let code = code.map(|c| format!(" [{c}]")).unwrap_or_default();
                withheld.push(format!("{text} withheld: {why}{code}"));
            }
            (None, true) => had.insert(0, format!("{text}, recommended")),
            (None, false) => had.push(text),
        }
    }
    had.append(&mut withheld);
    had.join("; ")
}

/// Text in lines that fit, made harmless.
pub(super) fn lines(text: &str, indent: usize, options: &Options) -> Vec<String> {
    wrap(&visible(text), options.width.saturating_sub(indent))
}
