//! Colour, quiet, closed outputs, and tenants' text that must not act.

use crate::lab::world::Hands;
use crate::stage::{Stage, run};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn colour_goes_by_flag_and_environment() {
    let stage = Stage::with_orphan();
    for (args, env, colour) in [
        (&[][..], &[][..], false),
        (&["--color", "always"], &[], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (
            &["--color", "always"],
            &[("NO_COLOR", "1"), ("TERM", "dumb")],
            true,
        ),
        (&["--color", "always", "-o", "json"], &[], false),
        (&["--color", "always", "-o", "csv"], &[], false),
        (&["--color", "always", "-o", "jsonl"], &[], false),
    ] {
        let mut command = stage.command(args);
        command.envs(env.iter().copied());
        let run = run(command).left(1).quiet();
        assert_eq!(
            run.stdout.contains('\u{1b}'),
            colour,
            "{args:?} {env:?} {}",
            run.stdout
        );
    }
}

/// Runs on a terminal of its own, by `script(1)`.
fn on_a_terminal(stage: &Stage, args: &str, env: &[(&str, &str)]) -> String {
    let line = format!(
        "{} scan --config {} {args}",
        env!("CARGO_BIN_EXE_volrecon"),
        stage.config().display()
    );
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    command
        .env("HOME", stage.path(""))
        .env("TERM", "xterm")
        .envs(env.iter().copied())
        .stdin(Stdio::null());
    let out = command.output().unwrap();
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn a_terminal_gets_colour_unless_told_otherwise() {
    let stage = Stage::with_orphan();
    assert!(on_a_terminal(&stage, "", &[]).contains("\u{1b}["));
    for (args, env) in [
        ("", &[("NO_COLOR", "1")][..]),
        ("", &[("TERM", "dumb")]),
        ("--color never", &[]),
    ] {
        let text = on_a_terminal(&stage, args, env);
        assert!(text.contains("pvc-orphan"), "{text}");
        assert!(
            !text.contains("\u{1b}[1m") && !text.contains("\u{1b}[3"),
            "{args} {env:?}: {text:?}"
        );
    }
}

#[test]
fn quiet_is_the_findings_lines_and_no_warnings() {
    let mut stage = Stage::with_orphan();
    stage
        .cloud()
        .exec(
            "UPDATE version SET version = '4.99.0' WHERE version = '4.22.1.0'",
            (),
        )
        .unwrap();
    let loud = stage.scan(&[]).left(1);
    assert!(
        loud.stderr
            .starts_with("warning: CloudStack 4.99.0 is not a release"),
        "{}",
        loud.stderr
    );
    assert_eq!(loud.stderr.lines().count(), 1);
    let quiet = stage.scan(&["-q"]).left(1).quiet();
    assert!(quiet.stdout.lines().count() < loud.stdout.lines().count());
    assert!(quiet.stdout.contains("vr-"), "{}", quiet.stdout);
    let none = Stage::healthy().scan(&["-q"]).left(0).quiet();
    assert_eq!(none.stdout, "");
    // Trouble is told all the same.
    assert!(!stage.scan(&["-q", "--host", "nobody"]).left(2).stderr.is_empty());
}

#[test]
fn a_reader_that_goes_away_changes_nothing_and_a_full_disk_is_trouble() {
    let stage = Stage::with_orphan();
    for format in ["table", "json", "jsonl", "csv"] {
        let args = ["-o", format, "--all"];
        let mut child = stage
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!(
            (out.status.code(), out.stderr.len()),
            (Some(1), 0),
            "{format}: {out:?}"
        );

        // Closed before the first byte.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = stage.command(&args).stdout(writer).output().unwrap();
        assert_eq!(
            (out.status.code(), out.stderr.len()),
            (Some(1), 0),
            "{format}: {out:?}"
        );

        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = stage.command(&args).stdout(full).output().unwrap();
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{format}");
        assert!(
            stderr.contains("error: cannot write the results to stdout"),
            "{stderr}"
        );
    }
    for args in [
        &["explain", "--class", "double-open"][..],
        &["completions", "bash"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_volrecon"))
            .args(args)
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
    }
    // A stderr that is full or closed cannot be told, and the code still tells.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let out = stage
        .command(&["--host", "nobody"])
        .stderr(full)
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
}

const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;owned\u{7}clear",
    "abc\u{202e}gpj.exe",
    "two\r\nlines\nid,class,severity",
    "=cmd|'/C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "-2",
    "\u{9b}31mc1",
    "zero\u{200b}width\u{feff}",
    "tab\tand \"quotes\", 'too' `x`",
    "</disk><disk type='file'>",
    "\u{e0041}tag\u{e007f}",
];

/// Bytes that would act on a terminal.
fn acts(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    })
}

#[test]
fn tenants_text_never_acts_in_any_format() {
    let mut stage = Stage::empty();
    stage.guest(101, "plain", 1);
    for (at, text) in HOSTILE.iter().enumerate() {
        let id = 900 + u64::try_from(at).unwrap();
        let slot = 4 + u64::try_from(at).unwrap();
        stage.orphan(id, "x", 101, "kvm1", slot);
        stage
            .cloud()
            .exec("UPDATE volumes SET name = ? WHERE id = ?", (text, id))
            .unwrap();
    }
    let sql = "UPDATE vm_instance SET name = ? WHERE id = 101";
    stage.cloud().exec(sql, (HOSTILE[..4].concat(),)).unwrap();
    // A domain that is nobody's, of a name that acts, with a disk on a path that acts; XML cannot hold ESC, but the rest.
    let mut stranger =
        crate::lab::domxml::Domain::new("evil\u{202e}\u{9b}2J=1+1", "eeeeeeee-0000-4000-8000-000000000000");
    let mut disk = stage.disk(900, 0);
    disk.serial = None;
    disk.source = crate::lab::domxml::Source::File("/mnt/=cmd\u{202e}\u{200b}/x\u{9b}31m".to_owned());
    stranger = stranger.disk(&disk);
    stage.paper.boot("kvm2", &stranger).unwrap();
    for args in [
        &["-o", "table"][..],
        &["-o", "table", "-v", "--all"],
        &["-o", "json", "--all"],
        &["-o", "jsonl", "--all"],
        &["-o", "csv"],
    ] {
        let run = stage.scan(args).left(1).quiet();
        assert_eq!(acts(&run.stdout), None, "{args:?}: {:?}", run.stdout);
        assert!(run.stdout.contains("owned"), "{args:?}");
    }
    let document = stage.scan_json(&[]).left(1).json();
    let names: Vec<&str> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["volume"]["name"].as_str())
        .collect();
    for text in HOSTILE {
        assert!(
            names.contains(text),
            "JSON keeps the value: {text:?} in {names:?}"
        );
    }
    let text = stage.scan(&["-o", "csv"]).left(1).stdout;
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), document["findings"].as_array().unwrap().len());
    assert_eq!(text.lines().count(), rows.len() + 1, "one line a finding");
    for cell in rows.iter().flat_map(csv::StringRecord::iter) {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
    }
}
