//! `-o csv`: a finding, or a moment, a line, for spreadsheets. No cell is a formula, no cell has a line break.

use super::document::{ScanDocument, StoryDocument};
use super::places::place;
use super::text::cell;
use crate::classify::{Finding, Line};
use std::io::{self, Write};

const COLUMNS: [&str; 11] = [
    "id",
    "class",
    "severity",
    "confidence",
    "volume_uuid",
    "volume_name",
    "claim_vm",
    "claim_device_id",
    "holders",
    "blocks",
    "advice",
];

pub(super) fn write(doc: &ScanDocument, headers: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(out);
    if headers {
        csv.write_record(COLUMNS).map_err(io_error)?;
    }
    for finding in &doc.findings {
        csv.write_record(row(finding)).map_err(io_error)?;
    }
    csv.flush()
}

fn row(finding: &Finding) -> [String; COLUMNS.len()] {
    let Finding {
        id,
        class,
        also: _,
        severity,
        confidence,
        subject: _,
        volume,
        others: _,
        vm: _,
        claim,
        holders,
        blocks,
        cause: _,
        remedies: _,
        advice,
    } = finding;
    let text = |text: Option<&String>| text.map(|t| cell(t)).unwrap_or_default();
    let volume = volume.as_ref();
    let claim = claim.as_ref();
    let holders: Vec<String> = holders.iter().map(|h| cell(&place(h))).collect();
    let blocks: Vec<String> = blocks
        .iter()
        .map(|b| cell(&format!("{}/{}/{}", b.vm, b.device_id, b.target)))
        .collect();
    [
        cell(id),
        class.name().to_owned(),
        severity.name().to_owned(),
        confidence.map(|c| c.name().to_owned()).unwrap_or_default(),
        text(volume.and_then(|v| v.uuid.as_ref())),
        text(volume.and_then(|v| v.name.as_ref())),
        text(claim.map(|c| &c.vm)),
        claim
            .and_then(|c| c.device_id)
            .map(|id| id.to_string())
            .unwrap_or_default(),
        holders.join(" "),
        blocks.join(" "),
        cell(advice),
    ]
}

/// The lines of a timeline.
const MOMENTS: [&str; 7] = ["time", "job", "vm", "what", "mark", "source", "confirmed_by"];

/// `explain -o csv`: a moment a line.
pub(super) fn timeline(lines: &[Line], headers: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(out);
    if headers {
        csv.write_record(MOMENTS).map_err(io_error)?;
    }
    for line in lines {
        let row: [String; MOMENTS.len()] = [
            line.time.to_string(),
            line.job.map(|job| job.to_string()).unwrap_or_default(),
            line.vm.as_deref().map(cell).unwrap_or_default(),
            cell(&line.what),
            line.mark.unwrap_or_default().to_owned(),
            line.source.to_owned(),
            line.confirmed_by.join(" "),
        ];
        csv.write_record(row).map_err(io_error)?;
    }
    csv.flush()
}

/// `explain --class -o csv`.
pub(super) fn story(story: &StoryDocument, headers: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(out);
    if headers {
        let columns = [
            "class",
            "severity",
            "title",
            "sees",
            "why",
            "proof_of_opposite",
            "what_to_do",
        ];
        csv.write_record(columns).map_err(io_error)?;
    }
    let StoryDocument {
        class,
        severity,
        title,
        sees,
        why,
        proof_of_opposite,
        what_to_do,
        ..
    } = story;
    let row = [
        class.name(),
        severity.name(),
        title,
        sees,
        why,
        proof_of_opposite,
        what_to_do,
    ];
    csv.write_record(row.map(cell)).map_err(io_error)?;
    csv.flush()
}

pub(super) fn io_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("csv: {kind:?}")),
    }
}
