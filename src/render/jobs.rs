//! The `jobs` document, in every format.

use super::csv::io_error;
use super::document::Tool;
use super::style::{Styled, label};
use super::table::lines;
use super::text::{cell, visible};
use super::{Format, Options, json, places};
use crate::classify::{Finding, QueuedJob};
use crate::model::Work;
use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// `"document": "jobs"`, version 1.
#[derive(Clone, Debug, Serialize)]
pub struct JobsDocument {
    /// `jobs`.
    pub document: &'static str,
    /// 1.
    pub version: u32,
    /// volrecon and its version.
    pub tool: Tool,
    /// When, by the database's clock.
    pub read_at: Timestamp,
    /// What was asked for, in words; empty: everything.
    pub scope: Vec<String>,
    /// By VM, in queue order.
    pub jobs: Vec<QueuedJob>,
    /// Findings as a scan's; no host was asked, so that they have no holders.
    pub stragglers: Vec<Finding>,
}

#[derive(Serialize)]
struct Line<'a, T> {
    document: &'static str,
    version: u32,
    #[serde(flatten)]
    value: &'a T,
}

#[derive(Serialize)]
struct Last<'a> {
    document: &'static str,
    version: u32,
    tool: &'a Tool,
    read_at: Timestamp,
    scope: &'a [String],
    jobs: usize,
    stragglers: usize,
}

/// Writes the queues.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_jobs(
    doc: &JobsDocument,
    format: Format,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Table => table(doc, options, &mut out)?,
        Format::Json => json::pretty(doc, &mut out)?,
        Format::Jsonl => write_lines(doc, &mut out)?,
        Format::Csv => csv(doc, options.headers, &mut out)?,
    }
    out.flush()
}

/// A job a line, a straggler to be a line; last, a line of counts.
fn write_lines(doc: &JobsDocument, out: &mut dyn Write) -> io::Result<()> {
    let version = doc.version;
    for value in &doc.jobs {
        let document = "job";
        json::line(
            &Line {
                document,
                version,
                value,
            },
            out,
        )?;
    }
    for value in &doc.stragglers {
        let document = "finding";
        json::line(
            &Line {
                document,
                version,
                value,
            },
            out,
        )?;
    }
    let last = Last {
        document: "summary",
        version,
        tool: &doc.tool,
        read_at: doc.read_at,
        scope: &doc.scope,
        jobs: doc.jobs.len(),
        stragglers: doc.stragglers.len(),
    };
    json::line(&last, out)
}

const COLUMNS: [&str; 12] = [
    "job",
    "work",
    "state",
    "vm",
    "vm_state",
    "volume_uuid",
    "volume_name",
    "claim_vm",
    "age_seconds",
    "position",
    "straggler",
    "outlook",
];

fn csv(doc: &JobsDocument, headers: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(out);
    if headers {
        csv.write_record(COLUMNS).map_err(io_error)?;
    }
    for job in &doc.jobs {
        let text = |text: &Option<String>| text.as_deref().map(cell).unwrap_or_default();
        let row: [String; COLUMNS.len()] = [
            format!("job-{}", job.job),
            verb(job.work).to_owned(),
            job.state.name().to_owned(),
            text(&job.vm),
            text(&job.vm_state),
            text(&job.volume_uuid),
            text(&job.volume_name),
            text(&job.claim_vm),
            job.age_seconds.map(|n| n.to_string()).unwrap_or_default(),
            job.position.map(|n| n.to_string()).unwrap_or_default(),
            job.straggler.to_string(),
            text(&job.outlook),
        ];
        csv.write_record(row).map_err(io_error)?;
    }
    csv.flush()
}

pub(super) const fn verb(work: Work) -> &'static str {
    match work {
        Work::Attach => "attach",
        Work::Detach => "detach",
        Work::Volume | Work::Vm => "other",
    }
}

/// A heading for each VM's queue, a line for each job, and under a straggler to be what it will do.
fn table(doc: &JobsDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let options = &Options {
        width: options.width.max(52),
        ..*options
    };
    let bold = Style::new().bold();
    if options.headers && !options.quiet && !doc.jobs.is_empty() {
        let header = format!(
            "{:>3}  {:<12}{:<8}{:<9}{:<8}VOLUME",
            "#", "JOB", "WORK", "STATE", "AGE"
        );
        writeln!(out, "{}", Styled(&header, bold, options.color))?;
    }
    let mut queue = None;
    for job in &doc.jobs {
        let here = (job.vm.as_deref(), job.position.is_some());
        if !options.quiet && queue != Some(here) {
            queue = Some(here);
            let title = heading(job);
            for line in lines(&title, 0, options) {
                writeln!(out, "{}", Styled(&line, bold, options.color))?;
            }
        }
        one(job, options, out)?;
    }
    if options.quiet {
        return Ok(());
    }
    if !doc.jobs.is_empty() {
        writeln!(out)?;
    }
    summary(doc, options, out)
}

fn heading(job: &QueuedJob) -> String {
    let Some(vm) = job.vm.as_deref() else {
        return "On no VM's queue".to_owned();
    };
    let state = job.vm_state.as_deref().unwrap_or("not on record");
    format!("Queue of {}, {state}", places::vm(vm, job.vm_name.as_deref()))
}

fn one(job: &QueuedJob, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let place = job.position.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let start = format!(
        "{place:>3}  {:<12}{:<8}{:<9}{:<8}",
        format!("job-{}", job.job),
        verb(job.work),
        job.state.name(),
        job.age_seconds.map_or_else(|| "-".to_owned(), age),
    );
    let volume = job
        .volume_uuid
        .as_deref()
        .or(job.volume_name.as_deref())
        .unwrap_or("not known");
    let volume = visible(volume);
    if options.quiet || start.len() + super::text::width(&volume) <= options.width {
        writeln!(out, "{start}{volume}")?;
    } else {
        writeln!(out, "{}", start.trim_end())?;
        label("volume", &volume, options, out)?;
    }
    if options.quiet {
        return Ok(());
    }
    if let (Some(name), Some(_)) = (&job.volume_name, &job.volume_uuid) {
        label("volume", name, options, out)?;
    }
    let claim = job.claim_vm.as_deref();
    if job.straggler {
        let text = "<== a straggler to be";
        let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        writeln!(out, "  {}", Styled(text, style, options.color))?;
        let row = claim.map_or_else(
            || "attached to no VM".to_owned(),
            |vm| format!("attached to {vm}"),
        );
        label("database", &row, options, out)?;
    }
    if let Some(what) = &job.outlook {
        label("will do", what, options, out)?;
    }
    if let Some(protect) = &job.protect {
        label("advice", protect, options, out)?;
    }
    if job.abandoned && !job.straggler {
        label(
            "note",
            "its management server is not up: nobody works on it",
            options,
            out,
        )?;
    }
    if job.stacked {
        label("note", "one of several that ask for the same", options, out)?;
    }
    Ok(())
}

fn summary(doc: &JobsDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let stragglers = doc.jobs.iter().filter(|job| job.straggler).count();
    let running = doc
        .jobs
        .iter()
        .filter(|job| job.state == crate::classify::QueueState::Running)
        .count();
    let found = match stragglers {
        0 => "no straggler to be".to_owned(),
        n => format!(
            "{n} of them {} ({})",
            if n == 1 {
                "a straggler to be"
            } else {
                "stragglers to be"
            },
            doc.stragglers
                .iter()
                .map(|f| f.id.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let text = match doc.jobs.len() {
        0 => "no attach or detach waits or runs".to_owned(),
        n => format!(
            "{} wait or run ({running} running); {found}",
            count(n, "attach or detach job")
        ),
    };
    for line in lines(&text, 0, options) {
        writeln!(out, "{}", Styled(&line, Style::new().bold(), options.color))?;
    }
    if !doc.scope.is_empty() {
        for line in lines(&format!("only: {}", doc.scope.join(", ")), 0, options) {
            writeln!(out, "{line}")?;
        }
    }
    writeln!(out, "rows read at {:.0}; no host was asked", doc.read_at)
}

/// `2m21s`: short, so that a line holds a uuid beside it.
fn age(seconds: i64) -> String {
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (h, m) {
        (0, 0) => format!("{s}s"),
        (0, _) => format!("{m}m{s}s"),
        (h, _) if h >= 48 => format!("{}d{}h", h / 24, h % 24),
        _ => format!("{h}h{m}m"),
    }
}
