//! Output: the only writer to stdout and stderr.
//!
//! *Comes in*: documents, which are values. *Goes out*: bytes for a terminal, a script or a spreadsheet. *Never*: judges,
//! reads a host or a database, or lets a tenant's text act on a terminal.

mod alike;
mod csv;
mod document;
mod explain;
mod jobs;
mod json;
pub mod man;
pub mod message;
mod notes;
mod places;
mod progress;
mod style;
mod table;
pub mod terminal;
pub mod text;
mod volumes;

pub use document::{HostSeen, NotRuledOut, Pair, ScanDocument, StoryDocument, Summary, Tool};
pub use explain::{ExplainDocument, Witness, write_explain, write_story};
pub use jobs::{JobsDocument, write_jobs};
pub use man::{classes_page, story_text};
pub use progress::Progress;
pub use terminal::{ColorChoice, Terminals};

use crate::exit::Exit;
use std::io::{self, BufWriter, Write};

/// `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// A JSON object a line: the findings, then a summary
    Jsonl,
    /// A finding a line, for spreadsheets
    Csv,
}

/// How to write: all that a writer would else have to ask the world for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns.
    pub width: usize,
    /// Colour may be used.
    pub color: bool,
    /// Header lines of table and csv.
    pub headers: bool,
    /// Only the findings' own lines.
    pub quiet: bool,
    /// `-v`, counted: above 0, timelines, sources, and lists in full.
    pub verbose: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: terminal::DEFAULT_WIDTH,
            color: false,
            headers: true,
            quiet: false,
            verbose: 0,
        }
    }
}

/// Writes a scan.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_scan(
    doc: &ScanDocument,
    format: Format,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Table => table::write(doc, options, &mut out)?,
        Format::Json => json::write(doc, &mut out)?,
        Format::Jsonl => json::write_lines(doc, &mut out)?,
        Format::Csv => csv::write(doc, options.headers, &mut out)?,
    }
    out.flush()
}

/// How a run ends whose output was written, or not: a reader that went away (`| head`) changes nothing.
///
/// # Errors
/// Every other failure to write: that is trouble.
pub fn after_writing(written: io::Result<()>, exit: Exit) -> io::Result<Exit> {
    match written {
        Ok(()) => Ok(exit),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit),
        Err(error) => Err(error),
    }
}
