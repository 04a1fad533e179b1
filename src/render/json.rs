//! `-o json` and `-o jsonl`: the document as it is. Values stay what they are; characters that would act on a terminal are
//! written as JSON escapes.

use super::document::{ScanDocument, Summary};
use super::text::acts;
use crate::classify::{Block, Finding, NotJudged};
use crate::render::{HostSeen, NotRuledOut, Pair, Tool};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};

/// One object, indented by two spaces, with a newline at its end.
pub(super) fn write(doc: &ScanDocument, out: &mut dyn Write) -> io::Result<()> {
    serialize(doc, Escaping(PrettyFormatter::new()), out)
}

/// A finding a line; last, a line of everything else.
pub(super) fn write_lines(doc: &ScanDocument, out: &mut dyn Write) -> io::Result<()> {
    let ScanDocument {
        document: _,
        version,
        tool,
        started,
        finished,
        complete,
        scope,
        not_ruled_out,
        hosts,
        findings,
        in_flux,
        cannot_tell,
        blocked,
        volumes,
        summary,
    } = doc;
    for finding in findings {
        let line = FindingLine {
            document: "finding",
            version: *version,
            finding,
        };
        serialize(&line, Escaping(CompactFormatter), out)?;
    }
    let last = SummaryLine {
        document: "summary",
        version: *version,
        tool,
        started: *started,
        finished: *finished,
        complete: *complete,
        scope,
        not_ruled_out,
        hosts,
        in_flux,
        cannot_tell,
        blocked,
        volumes: volumes.as_deref(),
        summary,
    };
    serialize(&last, Escaping(CompactFormatter), out)
}

/// Any document, indented.
pub(super) fn pretty<T: Serialize>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    serialize(value, Escaping(PrettyFormatter::new()), out)
}

/// Any document, on one line.
pub(super) fn line<T: Serialize>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    serialize(value, Escaping(CompactFormatter), out)
}

#[derive(Serialize)]
struct FindingLine<'a> {
    document: &'static str,
    version: u32,
    #[serde(flatten)]
    finding: &'a Finding,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    document: &'static str,
    version: u32,
    tool: &'a Tool,
    started: Timestamp,
    finished: Timestamp,
    complete: bool,
    scope: &'a [String],
    not_ruled_out: &'a [NotRuledOut],
    hosts: &'a [HostSeen],
    in_flux: &'a [NotJudged],
    cannot_tell: &'a [NotJudged],
    blocked: &'a [Block],
    #[serde(skip_serializing_if = "Option::is_none")]
    volumes: Option<&'a [Pair]>,
    summary: &'a Summary,
}

fn serialize<T: Serialize, F: Formatter>(value: &T, formatter: F, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, formatter);
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// A formatter that escapes what [`acts`]: the parsed value is the same, and `cat` is safe.
struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| acts(*c)) {
            self.0.write_string_fragment(writer, &fragment[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        self.0.write_string_fragment(writer, &fragment[plain..])
    }

    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_array(w)
    }
    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array(w)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(w, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array_value(w)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object(w)
    }
    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object(w)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(w, first)
    }
    fn end_object_key<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object_key(w)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object_value(w)
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object_value(w)
    }
}
