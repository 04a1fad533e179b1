//! The one table: ratios with their goals, and where they come from.

use std::fmt::Write;

use super::process;

/// How far beyond its goal a time may be before that counts: what two runs of the same thing differ by on a machine with neighbours.
pub const MARGIN: f64 = 0.10;

/// What a figure has to be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// Without a margin: memory and deadlines do not depend on the neighbours.
    Under(f64),
    /// No goal: told for the reader.
    None,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    pub what: String,
    pub ours: String,
    pub against: String,
    pub figure: f64,
    pub unit: &'static str,
    pub goal: Goal,
    /// How many runs, and how many of them began although the machine was busy.
    pub runs: (usize, usize),
}

impl Line {
    pub fn missed(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.figure < least * (1.0 - MARGIN),
            Goal::AtMost(most) => self.figure > most * (1.0 + MARGIN),
            Goal::Under(limit) => self.figure >= limit,
            Goal::None => false,
        }
    }

    fn met(&self) -> &'static str {
        let outside = match self.goal {
            Goal::AtLeast(least) => self.figure < least,
            Goal::AtMost(most) => self.figure > most,
            Goal::Under(_) => self.missed(),
            Goal::None => return "",
        };
        match (self.missed(), outside) {
            (true, _) => "**MISSED**",
            (false, true) => "within noise",
            (false, false) => "met",
        }
    }

    fn cells(&self) -> [String; 6] {
        let digits = if self.figure < 10.0 { 2 } else { 0 };
        let number = |n: f64| format!("{n} {}", self.unit).trim_end().to_owned();
        let goal = match self.goal {
            Goal::AtLeast(least) => format!("≥ {}", number(least)),
            Goal::AtMost(most) => format!("≤ {}", number(most)),
            Goal::Under(limit) => format!("< {}", number(limit)),
            Goal::None => String::new(),
        };
        let figure = format!("{:.digits$} {}", self.figure, self.unit)
            .trim_end()
            .to_owned();
        let met = match self.runs {
            (_, 0) => self.met().to_owned(),
            (runs, busy) => format!("{} ({busy} of {runs} rounds on a busy machine)", self.met())
                .trim_start()
                .to_owned(),
        };
        [
            self.what.clone(),
            self.ours.clone(),
            self.against.clone(),
            figure,
            goal,
            met,
        ]
    }
}

/// The whole text, in Markdown.
pub fn text(lines: &[Line], notes: &[String], load_before: &str) -> String {
    let mut out = String::from("# How fast volrecon is\n\nWritten by `make bench`; not to be edited.\n\n");
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let facts = [
        (
            "Date",
            jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
        ),
        (
            "Machine",
            format!(
                "{}, {cores} cores, Linux {}",
                model.trim_start_matches(['\t', ' ', ':']),
                kernel()
            ),
        ),
        (
            "Command",
            format!("cargo bench --bench scan -- {}", arguments.join(" "))
                .trim_end_matches([' ', '-'])
                .to_owned(),
        ),
        (
            "Load",
            format!(
                "{load_before} before, {} after (the bench's own is in it)",
                process::load()
            ),
        ),
    ];
    for (name, fact) in facts {
        writeln!(out, "- {name}: {fact}").unwrap_or_default();
    }
    out.push('\n');
    let head = ["What", "volrecon", "against", "figure", "goal", ""].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head)
        .chain(lines.iter().map(Line::cells))
        .collect();
    let widths: Vec<usize> = (0..6)
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    for (at, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            write!(out, "| {cell:width$} ").unwrap_or_default();
        }
        out.push_str("|\n");
        if at == 0 {
            let rule: String = widths
                .iter()
                .map(|width| format!("|{}", "-".repeat(width + 2)))
                .collect();
            writeln!(out, "{rule}|").unwrap_or_default();
        }
    }
    out.push('\n');
    for note in notes {
        writeln!(out, "- {note}").unwrap_or_default();
    }
    out
}

fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .unwrap_or_default()
        .trim()
        .to_owned()
}
