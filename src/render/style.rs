//! Colour and labels of the table.

use super::Options;
use super::table::{INDENT, lines};
use crate::classify::Severity;
use anstyle::{AnsiColor, Style};
use std::fmt;
use std::io::{self, Write};

/// Running text in longer lines is hard to read, however wide the terminal is.
const MEASURE: usize = 120;

/// A text, and its style where colour is wanted.
pub(super) struct Styled<'a>(pub &'a str, pub Style, pub bool);

impl fmt::Display for Styled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text, style, color) = self;
        if *color {
            write!(f, "{style}{text}{style:#}")
        } else {
            f.write_str(text)
        }
    }
}

/// How bad it is, for those who see colour; the word stands beside it.
pub(super) fn severity_style(severity: Severity) -> Style {
    let style = Style::new();
    match severity {
        Severity::Critical => style.bold().fg_color(Some(AnsiColor::Red.into())),
        Severity::High => style.fg_color(Some(AnsiColor::Red.into())),
        Severity::Medium => style.fg_color(Some(AnsiColor::Yellow.into())),
        Severity::Low => style.fg_color(Some(AnsiColor::Cyan.into())),
    }
}

/// `  volume    text`, wrapped beside the label.
pub(super) fn label(name: &str, text: &str, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let name = format!("  {name:<10}");
    let options = &Options {
        width: options.width.min(INDENT + MEASURE),
        ..*options
    };
    for (at, line) in lines(text, INDENT, options).iter().enumerate() {
        if at == 0 {
            let name = Styled(&name, Style::new().dimmed(), options.color);
            writeln!(out, "{name}{line}")?;
        } else {
            writeln!(out, "{:INDENT$}{line}", "")?;
        }
    }
    Ok(())
}
