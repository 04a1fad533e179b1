//! The `explain` document: one volume or finding, for people and for scripts.

use super::document::{StoryDocument, Tool};
use super::man::story_text;
use super::style::{Styled, label, severity_style};
use super::table::lines;
use super::text::{visible, width};
use super::{Format, Options, csv, json, places};
use crate::classify::{
    Block, Claim, Equivalent, Finding, Holder, Line, NotJudged, Offer, QueuedJob, Story, VolumeRef,
};
use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// `"document": "explain"`, version 1.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainDocument {
    /// `explain`.
    pub document: &'static str,
    /// 1.
    pub version: u32,
    /// volrecon and its version.
    pub tool: Tool,
    /// What was asked for, as typed.
    pub asked: String,
    /// `ok`, `detached`, `not-expected`, `in-flux`, `cannot-tell`, `not-judged`, or the class of the finding.
    pub verdict: String,
    /// The verdict in two sentences.
    pub summary: String,
    /// What each witness says now.
    pub witnesses: Vec<Witness>,
    /// The volume; none for a finding about a VM, or about a disk that no row knows.
    pub volume: Option<VolumeRef>,
    /// What its row claims.
    pub claim: Option<Claim>,
    /// The disks that are it.
    pub holders: Vec<Holder>,
    /// The finding, if there is one.
    pub finding: Option<Finding>,
    /// Ids of further findings of this volume.
    pub further: Vec<String>,
    /// Why it, or a VM of it, is not judged.
    pub not_judged: Vec<NotJudged>,
    /// Its attach and detach jobs that wait or run.
    pub pending: Vec<QueuedJob>,
    /// What is on record, in order.
    pub timeline: Vec<Line>,
    /// Where two witnesses cannot both be right.
    pub contradictions: Vec<String>,
    /// What can no longer be known, and why.
    pub unknown: Vec<String>,
    /// Attaches that fail because of it.
    pub blocks: Vec<Block>,
    /// What may be done, recommended first, withheld last.
    pub remedies: Vec<Offer>,
    /// What an operator would type, for reading.
    pub equivalent: Vec<Equivalent>,
    /// What to do, in plain words; none where nothing is wrong.
    pub advice: Option<String>,
}

/// A witness, and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// `database` or `libvirt`.
    pub witness: &'static str,
    /// When it was last asked.
    pub read_at: Timestamp,
    /// In words.
    pub says: String,
}

/// Writes an explanation. As csv it is its timeline.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_explain(
    doc: &ExplainDocument,
    format: Format,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Table => return table(doc, options, &mut out),
        Format::Json => json::pretty(doc, &mut out)?,
        Format::Jsonl => json::line(doc, &mut out)?,
        Format::Csv => csv::timeline(&doc.timeline, options.headers, &mut out)?,
    }
    out.flush()
}

/// Writes a class's story.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_story(story: &Story, format: Format, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let document = StoryDocument::new(story);
    match format {
        Format::Table => story_text(story, options, out)?,
        Format::Json => json::pretty(&document, out)?,
        Format::Jsonl => json::line(&document, out)?,
        Format::Csv => csv::story(&document, options.headers, out)?,
    }
    out.flush()
}

/// For people.
fn table(doc: &ExplainDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let options = &Options {
        width: options.width.max(60),
        ..*options
    };
    head(doc, options, &mut out)?;
    title("Now", options, &mut out)?;
    for witness in &doc.witnesses {
        let text = format!("{} (read at {:.0})", witness.says, witness.read_at);
        label(witness.witness, &text, options, &mut out)?;
    }
    timeline(doc, options, &mut out)?;
    list("Contradictions", &doc.contradictions, options, &mut out)?;
    list("Not known", &doc.unknown, options, &mut out)?;
    let waits: Vec<String> = doc.pending.iter().map(pending).collect();
    list("Still to come", &waits, options, &mut out)?;
    title("Verdict", options, &mut out)?;
    for line in lines(&doc.summary, 2, &measure(options)) {
        writeln!(out, "  {line}")?;
    }
    let blocks: Vec<String> = doc.blocks.iter().map(places::block).collect();
    list("Blocks", &blocks, options, &mut out)?;
    let offers: Vec<String> = doc.remedies.iter().map(offer).collect();
    list("Remedies", &offers, options, &mut out)?;
    if let Some(advice) = &doc.advice {
        title("Advice", options, &mut out)?;
        for line in lines(advice, 2, &measure(options)) {
            writeln!(out, "  {line}")?;
        }
    }
    equivalent(doc, options, &mut out)?;
    out.flush()
}

/// Running text in longer lines is hard to read.
fn measure(options: &Options) -> Options {
    Options {
        width: options.width.min(122),
        ..*options
    }
}

fn title(text: &str, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", Styled(text, Style::new().bold(), options.color))
}

fn list(name: &str, items: &[String], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    title(name, options, out)?;
    for item in items {
        for (at, line) in lines(item, 4, &measure(options)).iter().enumerate() {
            writeln!(out, "{}{line}", if at == 0 { "  - " } else { "    " })?;
        }
    }
    Ok(())
}

fn head(doc: &ExplainDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if let Some(volume) = &doc.volume {
        for line in lines(&format!("Volume {}", places::volume(volume)), 0, options) {
            writeln!(out, "{line}")?;
        }
    }
    let bold = Style::new().bold();
    let Some(finding) = &doc.finding else {
        return writeln!(out, "{}", Styled(&doc.verdict, bold, options.color));
    };
    let more = if doc.further.is_empty() {
        String::new()
    } else {
        format!(" (also {})", doc.further.join(", "))
    };
    writeln!(
        out,
        "{}  {}{more}",
        Styled(
            finding.severity.name(),
            severity_style(finding.severity),
            options.color
        ),
        Styled(
            &format!("{}  {}", finding.class.name(), finding.id),
            bold,
            options.color
        ),
    )
}

/// One letter for each witness, so that a line stays a line at 80 columns.
const WITNESSES: [(&str, char, &str); 6] = [
    ("async_job", 'j', "async_job"),
    ("event", 'e', "event"),
    ("usage_event", 'u', "usage_event"),
    ("volumes", 'v', "volumes"),
    ("management-log", 'm', "management log"),
    ("agent-log", 'a', "agent log"),
];

fn letter(source: &str) -> char {
    let known = WITNESSES.iter().find(|(name, ..)| *name == source);
    known.map_or('?', |(_, letter, _)| *letter)
}

/// What the letters mean, of those that stand below.
fn legend(doc: &ExplainDocument) -> String {
    let told = |name: &str| {
        let mut all = doc.timeline.iter();
        all.any(|line| line.source == name || line.confirmed_by.contains(&name))
    };
    let words: Vec<String> = WITNESSES
        .iter()
        .filter(|(name, ..)| told(name))
        .map(|(_, letter, words)| format!("{letter} {words}"))
        .collect();
    words.join(", ")
}

fn timeline(doc: &ExplainDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if doc.timeline.is_empty() {
        title("Timeline, in UTC", options, out)?;
        return writeln!(out, "  nothing on record");
    }
    let whole = format!("Timeline, in UTC (by: {})", legend(doc));
    if width(&whole) <= options.width {
        title(&whole, options, out)?;
    } else {
        title("Timeline, in UTC", options, out)?;
        for line in lines(&format!("by: {}", legend(doc)), 2, options) {
            writeln!(out, "  {line}")?;
        }
    }
    let jobs: Vec<String> = doc
        .timeline
        .iter()
        .map(|line| {
            line.job
                .map_or_else(|| "-".to_owned(), |job| format!("job-{job}"))
        })
        .collect();
    let vms: Vec<_> = doc
        .timeline
        .iter()
        .map(|line| visible(line.vm.as_deref().unwrap_or("-")))
        .collect();
    let (job_width, vm_width) = (
        jobs.iter().map(String::len).max().unwrap_or(0).max(3),
        vms.iter().map(|vm| width(vm)).max().unwrap_or(0).clamp(2, 20),
    );
    let by_width = doc
        .timeline
        .iter()
        .map(|line| 1 + line.confirmed_by.len())
        .max()
        .unwrap_or(0)
        .max(4);
    if options.headers {
        let header = format!(
            "  {:<8}  {:<job_width$}  {:<vm_width$}  {:<by_width$}  WHAT",
            "TIME", "JOB", "VM", "BY"
        );
        writeln!(out, "{}", Styled(&header, Style::new().bold(), options.color))?;
    }
    let indent = (2 + 8 + 2 + job_width + 2 + vm_width + 2 + by_width + 2).min(options.width - 16);
    let mut day = String::new();
    for ((line, job), vm) in doc.timeline.iter().zip(&jobs).zip(&vms) {
        let today = line.time.strftime("%Y-%m-%d").to_string();
        if today != day {
            writeln!(out, "  {today}")?;
            day = today;
        }
        let by: String = std::iter::once(&line.source)
            .chain(&line.confirmed_by)
            .map(|s| letter(s))
            .collect();
        let pad = " ".repeat(vm_width.saturating_sub(width(vm)));
        write!(
            out,
            "  {}  {job:<job_width$}  {vm}{pad}  {by:<by_width$}  ",
            line.time.strftime("%H:%M:%S")
        )?;
        let mark = line.mark.map(|mark| format!("<== {mark}"));
        let text = match &mark {
            Some(mark) => format!("{} {mark}", line.what),
            None => line.what.clone(),
        };
        let style = if mark.is_some() {
            Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
        } else {
            Style::new()
        };
        for (at, text) in lines(&text, indent, options).iter().enumerate() {
            if at > 0 {
                write!(out, "{:indent$}", "")?;
            }
            writeln!(out, "{}", Styled(text, style, options.color && mark.is_some()))?;
        }
    }
    Ok(())
}

fn pending(job: &QueuedJob) -> String {
    let vm = job.vm.as_deref().unwrap_or("a VM that is not known");
    let mut text = format!(
        "job-{}, {} for {vm}, {}",
        job.job,
        match super::jobs::verb(job.work) {
            "attach" => "an attach",
            _ => "a detach",
        },
        job.state.name()
    );
    if let Some(outlook) = &job.outlook {
        text += &format!(": {outlook}");
    }
    if let Some(protect) = &job.protect {
        text += &format!(". To keep the newer attachment: {protect}");
    }
    text
}

fn offer(offer: &Offer) -> String {
    let name = offer.remedy.name();
    let mut text = name.to_owned();
    if offer.action.name() != name {
        text += &format!(" ({})", offer.action.name());
    }
    if offer.recommended {
        text += ", recommended";
    }
    if let Some(why) = &offer.withheld {
        let code = offer.code.map(|code| format!(" [{code}]")).unwrap_or_default();
        text += &format!(" withheld: {why}{code}");
    }
    text
}

/// Lines to copy are never wrapped: a blank in a name would become a line's end.
fn equivalent(doc: &ExplainDocument, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if doc.equivalent.is_empty() {
        return Ok(());
    }
    title("By hand", options, out)?;
    for one in &doc.equivalent {
        let note = one
            .note
            .as_deref()
            .map_or_else(String::new, |note| format!(": {note}"));
        for line in lines(
            &format!("{} ({}){note}", one.action, one.tool),
            2,
            &measure(options),
        ) {
            writeln!(out, "  {line}")?;
        }
        for line in one.text.iter().flat_map(|text| text.lines()) {
            writeln!(out, "    {}", visible(line))?;
        }
    }
    Ok(())
}
