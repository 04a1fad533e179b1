//! Other people's text, made harmless: names of VMs, volumes and hosts are whatever a tenant typed.
//!
//! What could move a cursor, change a colour, turn the reading direction or hide itself is shown instead of obeyed.
//! JSON keeps the value and escapes it (`json.rs`); a spreadsheet gets [`cell`].

use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Marks on one letter that real writing needs; more of them climb into the neighbouring lines.
const MARKS: usize = 3;

/// The text with everything that acts or hides replaced by a visible escape: `\n`, `\x1b`, `<U+202E>`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut marks = 0;
    for c in text.chars() {
        let mark = !c.is_ascii() && c.width() == Some(0);
        marks = if mark { marks + 1 } else { 0 };
        if acts(c) || marks > MARKS || (mark && out.is_empty()) {
            escape(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// As [`visible`], for bytes that may be no UTF-8: what is invalid shows as `\xff`.
#[must_use]
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Whether a character would act on a terminal, or hide, rather than show.
#[must_use]
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, Hangul and Khmer fillers, Mongolian separator.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
            // Zero width, directions; line and paragraph separators; overrides; invisible operators, isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Variation selectors, byte order mark, annotations, objects.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffc}'
            // Musical and shorthand controls, tags.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            // Private use: a font may draw anything there.
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
        || (u32::from(c) & 0xfffe) == 0xfffe
}

fn escape(c: char, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
        c => write!(out, "<U+{:04X}>", u32::from(c)),
    };
}

/// A cell of a spreadsheet: line breaks replaced, and nothing that would be taken for a formula.
#[must_use]
pub fn cell(text: &str) -> String {
    let formula = text
        .trim_start_matches(' ')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let mut flat = String::with_capacity(text.len() + 1);
    if formula {
        flat.push('\'');
    }
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => flat.push(' '),
            c => flat.push(c),
        }
    }
    visible(&flat).into_owned()
}

/// Columns that a text takes on a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// Breaks a text into lines of at most `width` columns, at spaces. What stands in backticks is a command: it is kept on
/// one line where it fits. Only a word that is wider than a whole line is broken inside.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text, width) {
        let fits = line.width() + usize::from(!line.is_empty()) + word.width() <= width;
        if !fits && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        if word.width() > width {
            let mut pieces = broken(word, width);
            line = pieces.pop().unwrap_or_default();
            lines.append(&mut pieces);
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Words at spaces, but a command in backticks as one word if a line can hold it.
fn words(text: &str, width: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(' ');
    while !rest.is_empty() {
        let mut end = rest.find(' ').unwrap_or(rest.len());
        if let Some(open) = rest[..end].find('`') {
            let closed = rest[open + 1..].find('`').map(|at| open + 1 + at + 1);
            if let Some(closed) = closed {
                let whole = rest[closed..].find(' ').map_or(rest.len(), |at| closed + at);
                if rest[..whole].width() <= width {
                    end = whole.max(end);
                }
            }
        }
        words.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(' ');
    }
    words
}

fn broken(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in word.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_stays() {
        for text in ["", "worker7", "pvc-1234 (über) 日本語", "a\\b", "e\u{301}"] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn what_acts_is_shown() {
        let table = [
            ("\x1b[31mred", "\\x1b[31mred"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}2J", "<U+009B>2J"),
            ("abc\u{202e}def", "abc<U+202E>def"),
            ("a\u{2066}b\u{2069}", "a<U+2066>b<U+2069>"),
            ("a\u{200b}b\u{feff}", "a<U+200B>b<U+FEFF>"),
            ("a\u{e0041}", "a<U+E0041>"),
            ("\u{7f}", "\\x7f"),
            ("\u{301}x", "<U+0301>x"),
            ("a\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}<U+0301>"),
        ];
        for (from, to) in table {
            assert_eq!(visible(from), to);
        }
    }

    #[test]
    fn invalid_bytes_are_shown() {
        assert_eq!(visible_bytes(b"a\xff\x1bb\xc3"), "a\\xff\\x1bb\\xc3");
    }

    #[test]
    fn no_cell_is_a_formula() {
        let table = [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            ("\r=1", "' =1"),
            (" =1", "' =1"),
            ("a=1", "a=1"),
            ("two\r\nlines", "two  lines"),
        ];
        for (from, to) in table {
            assert_eq!(cell(from), to);
        }
    }

    #[test]
    fn wraps_by_columns_and_keeps_commands() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("日本 語日本", 4), ["日本", "語日", "本"]);
        assert_eq!(
            wrap("run `cmk detach volume` now", 20),
            ["run", "`cmk detach volume`", "now"]
        );
        assert_eq!(wrap("an `unclosed tick", 80), ["an `unclosed tick"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert!(wrap("", 10).is_empty());
    }
}
