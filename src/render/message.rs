//! What is said on stderr: warnings, errors, hints. Printed once, at the door.

use super::style::Styled;
use super::text::visible;
use anstyle::{AnsiColor, Style};
use std::error::Error;
use std::io::{self, Write};

/// Writes `error: …` with the causes behind it, then a `hint: …` for each hint.
///
/// A cause that its parent already told is left out.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_error(error: &dyn Error, hints: &[String], color: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !told.is_empty() && !text.contains(&told) {
            text += ": ";
            text += &told;
        }
        cause = error.source();
    }
    line("error", AnsiColor::Red, &text, color, out)?;
    for hint in hints {
        line("hint", AnsiColor::Cyan, hint, color, out)?;
    }
    Ok(())
}

/// Writes `warning: …`.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_warning(text: &str, color: bool, out: &mut dyn Write) -> io::Result<()> {
    line("warning", AnsiColor::Yellow, text, color, out)
}

/// Lines of our own making (a TOML parser's picture of the place) stay lines; all else is made harmless.
fn line(word: &str, hue: AnsiColor, text: &str, color: bool, out: &mut dyn Write) -> io::Result<()> {
    let style = Style::new().bold().fg_color(Some(hue.into()));
    let word = format!("{word}:");
    writeln!(
        out,
        "{} {}",
        Styled(&word, style, color),
        visible(text.trim_end())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(error: &anyhow::Error, hints: &[&str], color: bool) -> String {
        let hints: Vec<String> = hints.iter().map(|h| (*h).to_owned()).collect();
        let mut out = Vec::new();
        write_error(error.as_ref(), &hints, color, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_chain_is_told_once() {
        let error = anyhow::anyhow!("connection refused")
            .context("cannot reach the database: connection refused")
            .context("cannot scan");
        assert_eq!(
            written(&error, &["is it up?"], false),
            "error: cannot scan: cannot reach the database: connection refused\nhint: is it up?\n"
        );
    }

    #[test]
    fn other_peoples_text_does_not_act() {
        let error = anyhow::anyhow!("no host \x1b[2Jkvm1\nwarning: all is well");
        assert_eq!(
            written(&error, &[], false),
            "error: no host \\x1b[2Jkvm1\\nwarning: all is well\n"
        );
    }

    #[test]
    fn colour_only_adds() {
        let error = anyhow::anyhow!("no");
        assert_eq!(
            written(&error, &[], true),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m no\n"
        );
    }
}
