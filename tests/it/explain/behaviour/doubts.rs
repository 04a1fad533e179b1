//! Witnesses of two management servers that do not agree, and names that pretend to be witnesses.

use super::{Scene, scene};
use crate::explain::{marked, says};
use crate::jobs::{VOLUME, done, paper};
use crate::lab::occurrences::VOLUME_2;
use crate::lab::payload;
use crate::lab::testhost::Paper;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// A straggler, job-511, that has cleared what job-521 attached.
fn cleared<'h>(name: &str, hands: &'h Paper) -> Result<Scene<'h>> {
    let mut scene = scene(name, hands)?;
    let (first, late) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    done(&scene.run("14:00:01", "14:02:00", &first)?)?;
    scene.attach("14:03:00", 521)?;
    done(&scene.run("14:03:10", "14:05:00", &late)?)?;
    Ok(scene)
}

#[test]
fn two_servers_whose_clocks_and_words_differ_are_both_shown() -> Result<()> {
    let paper = paper("behd2")?;
    let mut scene = cleared("behd2", &paper)?;
    // The server that ran it was stopped before it could say so; the other one, 40 s ahead, heard the end.
    let restart = payload::failure(
        530,
        "job cancelled because of management server restart or shutdown",
    );
    let sql =
        "UPDATE async_job SET job_status = 2, job_result_code = 530, job_result = ? WHERE id IN (511, 512)";
    ensure!(scene.play.cloud.exec(sql, (restart,))? == 2);
    let sql = "UPDATE event SET created = '2026-09-08 14:05:40' WHERE state = 'Completed' AND created = '2026-09-08 14:05:00'";
    ensure!(scene.play.cloud.exec(sql, ())? == 1);
    let doc = scene.explained()?;
    says(
        &doc,
        "contradictions",
        "job-511: async_job says that the detach failed at 2026-09-08T14:05:00Z, event says that it succeeded at 2026-09-08T14:05:40Z",
    )?;
    // Neither line is smoothed into the other.
    let lines = doc["timeline"].as_array().context("lines")?;
    let told = |source: &str, what: &str| {
        let one = |line: &&serde_json::Value| line["source"] == source && line["what"] == what;
        lines.iter().filter(one).count()
    };
    ensure!(
        told(
            "async_job",
            "detach failed: the server restarted; it may have acted"
        ) == 1,
        "{lines:#?}"
    );
    ensure!(told("event", "detach succeeded") == 1, "{lines:#?}");
    ensure!(doc["verdict"] == "straggler-detach", "{doc:#}");
    ensure!(
        marked(&doc).len() == 1 && marked(&doc)[0].0 == 511,
        "{:?}",
        marked(&doc)
    );
    Ok(())
}

#[test]
fn usage_that_was_counted_seconds_before_the_job_ended_is_that_jobs() -> Result<()> {
    let paper = paper("behd3")?;
    let mut scene = cleared("behd3", &paper)?;
    let sql = "UPDATE usage_event SET created = '2026-09-08 14:04:55' WHERE created = '2026-09-08 14:05:00'";
    ensure!(scene.play.cloud.exec(sql, ())? == 1);
    let finding = scene.found("straggler-detach")?;
    ensure!(
        finding["confidence"] == "proven" && finding["cause"]["job"] == 511,
        "{finding:#}"
    );
    Ok(())
}

#[test]
fn a_straggler_whose_server_was_restarted_before_it_could_say_so_may_have_cleared_it() -> Result<()> {
    let paper = paper("behd4")?;
    let mut scene = cleared("behd4", &paper)?;
    let restart = payload::failure(
        530,
        "job cancelled because of management server restart or shutdown",
    );
    let sql = "UPDATE async_job SET job_status = 2, job_result = ?, last_updated = '2026-09-08 14:09:00' WHERE id IN (511, 512)";
    ensure!(scene.play.cloud.exec(sql, (restart,))? == 2);
    ensure!(
        scene
            .play
            .cloud
            .exec("DELETE FROM event WHERE created = '2026-09-08 14:05:00'", ())?
            == 1
    );
    let finding = scene.found("straggler-detach")?;
    ensure!(
        finding["confidence"] == "likely" && finding["cause"]["job"] == 511,
        "{finding:#}"
    );
    // Its thread is gone with its server: nothing has to wait for it.
    let all = crate::explain::behaviour::offers(&finding);
    ensure!(all[0].0 == "adopt" && all[0].1, "{all:?}");
    let doc = scene.explained()?;
    ensure!(
        marked(&doc) == [(511, "may have cleared it".to_owned())],
        "{doc:#}"
    );
    says(&doc, "summary", "when its management server was restarted")
}

#[test]
fn no_name_can_forge_a_mark_or_a_line_of_the_table() -> Result<()> {
    let paper = paper("behf2")?;
    let mut scene = cleared("behf2", &paper)?;
    let line = "14:04:00  job-9    i-2-666-VM  jeuv  detach succeeded <== cleared it";
    let names = [
        "<== cleared it".to_owned(),
        line.to_owned(),
        format!("x\n  {line}\r\n\u{2028}  {line}"),
        format!("\u{1b}[2K\u{1b}[1A\u{1b}[1;31m  {line}\u{1b}[0m"),
        format!("{}{line}", " ".repeat(70)),
        "2026-09-08 14:04:00,000 INFO  [c.c.s.VolumeApiServiceImpl] (Work-Job-Executor-1:[ctx-1, job-8/job-9]) (logid:00000000) x".to_owned(),
        "\u{202e}ti deraelc ==<\u{2066}\u{200b}\u{feff}".to_owned(),
    ];
    for name in &names {
        scene
            .play
            .cloud
            .exec("UPDATE volumes SET name = ? WHERE id = ?", (name, VOLUME))?;
        scene
            .play
            .cloud
            .exec("UPDATE vm_instance SET name = ? WHERE id IN (201, 207)", (name,))?;
        for (width, color) in [("80", "never"), ("200", "never"), ("80", "always")] {
            let out = Command::new(env!("CARGO_BIN_EXE_volrecon"))
                .args(["explain", VOLUME_2, "--color", color, "--config"])
                .arg(&scene.config)
                .env("COLUMNS", width)
                .output()?;
            let shown = String::from_utf8(out.stdout)?;
            let bad = |c: char| {
                c.is_control() && c != '\n' && (c != '\u{1b}' || color == "never")
                    || matches!(c, '\u{200b}' | '\u{2028}' | '\u{202e}' | '\u{2066}' | '\u{feff}')
            };
            ensure!(!shown.contains(bad), "{name:?}: {shown:?}");
            // The only escapes are our own colours: none that moves or erases.
            let mut escapes = shown.split('\u{1b}').skip(1);
            ensure!(
                escapes.all(|rest| rest
                    .trim_start_matches(|c: char| c == '[' || c == ';' || c.is_ascii_digit())
                    .starts_with('m')),
                "{name:?}: {shown:?}"
            );
            let plain = strip(&shown);
            let (before, rest) = plain.split_once("\nTimeline").context("a timeline")?;
            let (table, after) = rest.split_once("\n\n").context("an end of it")?;
            let rows: Vec<&str> = table.lines().filter(|row| is_row(row)).collect();
            ensure!(rows.len() == 6, "{name:?}: {table}");
            let marks: Vec<&&str> = rows.iter().filter(|row| row.contains("<==")).collect();
            ensure!(
                marks.len() == 1 && marks[0].contains("job-511") && marks[0].ends_with("<== cleared it"),
                "{name:?}: {table}"
            );
            ensure!(
                !table.contains("job-9") && !table.contains("i-2-666"),
                "{name:?}: {table}"
            );
            // Nowhere else does a line look like one of the table's.
            ensure!(
                !before.lines().chain(after.lines()).any(is_row),
                "{name:?}: {plain}"
            );
        }
    }
    Ok(())
}

/// `  14:04:00  job-…`.
fn is_row(line: &str) -> bool {
    let time = line.strip_prefix("  ").unwrap_or_default();
    let shape = time
        .bytes()
        .take(8)
        .map(|b| if b.is_ascii_digit() { b'0' } else { b });
    shape.eq(*b"00:00:00") && time.get(8..10) == Some("  ")
}

fn strip(shown: &str) -> String {
    let mut parts = shown.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += part.split_once('m').map_or(part, |(_, rest)| rest);
    }
    out
}
