//! What each class is, for people: the manual page `volrecon-classes(7)` and `volrecon explain --class`.

use super::Options;
use super::style::Styled;
use super::table::lines;
use crate::classify::Story;
use anstyle::Style;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A story's parts and their headings.
fn parts(story: &Story) -> [(&'static str, &'static str); 4] {
    let Story {
        class: _,
        title: _,
        sees,
        why,
        proof_of_opposite,
        what_to_do,
    } = story;
    [
        ("What you see", sees),
        ("Why", why),
        ("What would prove the opposite", proof_of_opposite),
        ("What to do", what_to_do),
    ]
}

/// One story on a terminal.
///
/// # Errors
/// When `out` cannot be written to.
pub fn story_text(story: &Story, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(
        out,
        "{} ({})",
        Styled(story.class.name(), bold, options.color),
        story.class.severity().name()
    )?;
    for line in lines(story.title, 0, options) {
        writeln!(out, "{line}")?;
    }
    for (title, text) in parts(story) {
        writeln!(out, "\n{}", Styled(title, bold, options.color))?;
        for (at, paragraph) in paragraphs(text).enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            for line in lines(&paragraph, 2, options) {
                writeln!(out, "  {line}")?;
            }
        }
    }
    Ok(())
}

/// The manual page of all classes, in roff.
#[must_use]
pub fn classes_page(stories: &[Story]) -> String {
    let mut page = String::new();
    let version = env!("CARGO_PKG_VERSION");
    page += ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
    let _ = writeln!(
        page,
        ".TH volrecon-classes 7 \"\" \"volrecon {version}\" \"volrecon\""
    );
    page += ".SH NAME\nvolrecon\\-classes \\- what volrecon finds, why it comes to be, and what to do\n";
    page += ".SH DESCRIPTION\n";
    text(
        &mut page,
        "A volume is a row of CloudStack's database; a disk is what a running libvirt domain has plugged in. \
         Each way in which the two can disagree is a class. The first class that matches a volume, in the order of this \
         page, is the class of its finding; further ones are listed under also.",
    );
    for story in stories {
        let _ = writeln!(
            page,
            ".SH \"{} ({})\"",
            quoted(&story.class.name().to_uppercase()),
            story.class.severity().name()
        );
        text(&mut page, story.title);
        for (title, told) in parts(story) {
            let _ = writeln!(page, ".SS \"{}\"", quoted(title));
            for (at, paragraph) in paragraphs(told).enumerate() {
                if at > 0 {
                    page += ".PP\n";
                }
                text(&mut page, &paragraph);
            }
        }
    }
    page += ".SH SEE ALSO\n.BR volrecon (1),\n.BR volrecon\\-scan (1),\n.BR volrecon\\-explain (1)\n";
    page
}

/// Paragraphs stand apart by an empty line; a single line break is a space.
fn paragraphs(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("\n\n")
        .map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|p| !p.is_empty())
}

/// A paragraph of running text, commands in backticks set bold.
fn text(page: &mut String, text: &str) {
    let mut line = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            line += "\\fB";
            line += &escaped(part);
            line += "\\fR";
        } else {
            line += &escaped(part);
        }
    }
    // A line that begins with a dot or an apostrophe would be a request.
    if line.starts_with(['.', '\'']) {
        line.insert_str(0, "\\&");
    }
    page.push_str(&line);
    page.push('\n');
}

fn quoted(text: &str) -> String {
    escaped(text).replace('"', "\\(dq")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out += "\\e",
            '-' => out += "\\-",
            '\'' => out += "\\*(Aq",
            '`' => out += "\\(ga",
            '^' => out += "\\(ha",
            '~' => out += "\\(ti",
            '\n' => out.push(' '),
            c if c.is_ascii() => out.push(c),
            c => {
                let _ = write!(out, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roff_is_escaped() {
        let mut page = String::new();
        text(&mut page, ".start of a line");
        text(&mut page, "'quoted' C:\\x `cmk detach volume id=…` → done");
        assert_eq!(
            page,
            "\\&.start of a line\n\
             \\*(Aqquoted\\*(Aq C:\\ex \\fBcmk detach volume id=\\[u2026]\\fR \\[u2192] done\n"
        );
    }

    #[test]
    fn paragraphs_stand_apart() {
        let all: Vec<String> = paragraphs("one\ntwo\n\n three \n\n").collect();
        assert_eq!(all, ["one two", "three"]);
    }
}
