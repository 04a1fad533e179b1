//! What is checked in and made from the command line: completions, manual pages, the reference of all help texts.

use super::golden;
use clap::Command;
use clap_complete::Shell;
use std::collections::BTreeSet;
use volrecon::classify::{Class, Story, stories};
use volrecon::cli;
use volrecon::render::{Options, classes_page, story_text};

fn completions() -> Vec<(String, String)> {
    let names = [
        (Shell::Bash, "volrecon.bash"),
        (Shell::Zsh, "_volrecon"),
        (Shell::Fish, "volrecon.fish"),
    ];
    let script = |shell| {
        let mut out = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "volrecon", &mut out);
        String::from_utf8(out).unwrap()
    };
    names
        .into_iter()
        .map(|(shell, name)| (name.to_owned(), script(shell)))
        .collect()
}

/// The command and those below it, by their full names: `volrecon-scan`.
fn commands() -> Vec<(String, Command)> {
    let mut top = cli::command().disable_help_subcommand(true);
    top.build();
    let mut all = vec![("volrecon".to_owned(), top.clone())];
    for below in top.get_subcommands() {
        let name = format!("volrecon-{}", below.get_name());
        let command = below.clone().disable_help_flag(true).name(name.clone());
        all.push((name, command));
    }
    all
}

fn pages() -> Vec<(String, String)> {
    commands()
        .into_iter()
        .map(|(name, command)| {
            let mut out = Vec::new();
            let page = clap_mangen::Man::new(command)
                .manual("volrecon")
                .source(concat!("volrecon ", env!("CARGO_PKG_VERSION")))
                .date("");
            page.render(&mut out).unwrap();
            (format!("{name}.1"), String::from_utf8(out).unwrap())
        })
        .collect()
}

fn reference() -> String {
    let mut text = String::new();
    let mut top = cli::command();
    top.build();
    let mut add = |name: &str, command: &mut Command| {
        text += &format!("$ {name} -h\n{}\n", command.render_help());
        text += &format!("$ {name} --help\n{}\n", command.render_long_help());
    };
    add("volrecon", &mut top.clone());
    for below in top.get_subcommands_mut() {
        let name = format!("volrecon {}", below.get_name());
        add(&name, below);
    }
    text.lines().map(|l| l.trim_end().to_owned() + "\n").collect()
}

#[test]
fn completions_are_current() {
    for (name, text) in completions() {
        golden::check(&format!("completions/{name}"), &text);
    }
    golden::no_orphans(
        "completions",
        &completions().into_iter().map(|(name, _)| name).collect(),
    );
}

#[test]
fn manual_pages_are_current() {
    for (name, text) in pages() {
        golden::check(&format!("man/{name}"), &text);
    }
    golden::check("man/volrecon-classes.7", &classes_page(&stories()));
    let mut names: BTreeSet<String> = pages().into_iter().map(|(name, _)| name).collect();
    names.insert("volrecon-classes.7".to_owned());
    golden::no_orphans("man", &names);
}

#[test]
fn the_reference_of_all_help_is_current() {
    golden::check("tests/cli-reference.txt", &reference());
}

#[test]
fn help_fits_its_width() {
    for line in reference().lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

fn story() -> Story {
    Story {
        class: Class::StragglerDetach,
        title: "a detach that came too late",
        sees: "The row says detached.\n\n.A line that begins with a dot, and 'quotes'.",
        why: "A job finished late: C:\\path → \"here\".",
        proof_of_opposite: "A detach of the holder's own VM.",
        what_to_do: "Run `volrecon explain --class straggler-detach`.",
    }
}

#[test]
fn the_page_of_classes_is_roff() {
    let page = classes_page(&[story()]);
    assert!(page.contains("\n.SH \"STRAGGLER\\-DETACH (high)\"\n"), "{page}");
    assert!(
        page.contains("\n.PP\n\\&.A line that begins with a dot, and \\*(Aqquotes\\*(Aq.\n"),
        "{page}"
    );
    assert!(page.contains("C:\\epath \\[u2192] \"here\""), "{page}");
    assert!(
        page.contains("\\fBvolrecon explain \\-\\-class straggler\\-detach\\fR"),
        "{page}"
    );
    assert!(page.lines().all(|l| !l.starts_with('\'')));
}

#[test]
fn a_story_on_a_terminal() {
    let mut out = Vec::new();
    story_text(&story(), &Options::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.starts_with("straggler-detach (high)\na detach that came too late\n\nWhat you see\n"),
        "{text}"
    );
    assert!(text.contains("  The row says detached.\n\n  .A line"), "{text}");
}
