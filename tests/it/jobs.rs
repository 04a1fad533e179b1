//! `volrecon jobs`: the queues of the lab, the straggler to be among them, in every format.

use super::golden;
use super::lab::maria::Db;
use super::lab::occurrences::{Telling, VOLUME_2};
use super::lab::replay::{End, Job, Play};
use super::lab::staging::{data, guest, plug, stage};
use super::lab::testhost::{self, Paper};
use super::lab::world::Hands;
use super::lab::{Shape, base};
use super::scanning::{scan, volrecon};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A stage before anything is broken: the volume was moved from worker1 to worker7, and two more detaches wait on worker1's
/// queue.
pub struct Waiting<'h> {
    pub play: Play<'h>,
    pub late: Vec<Job>,
    pub config: PathBuf,
}

pub const VOLUME: u64 = 20_102;

pub fn paper(name: &str) -> Result<Paper> {
    Paper::new(&base()?.session.path(name), &["kvm1", "kvm2", "kvm3"])
}

pub fn waiting<'h>(name: &str, db: &Db, hands: &'h Paper) -> Result<Waiting<'h>> {
    let uris = hands.uris();
    let hands: &dyn Hands = hands;
    let mut play = stage(db, hands, Telling::AS_SHIPPED)?;
    guest(&mut play, 201, "worker1", 1, &[(20_101, 1)])?;
    guest(&mut play, 207, "worker7", 2, &[(20_701, 1)])?;
    data(&mut play, VOLUME, "pvc-e949a8c4", Some(VOLUME_2))?;
    plug(&mut play, VOLUME, 201, 2, "kvm1")?;
    let first = play.ask_detach("2026-09-08 14:34:56", (210_187, 210_188), VOLUME)?;
    let second = play.ask_detach("2026-09-08 14:35:56", (210_205, 210_206), VOLUME)?;
    let third = play.ask_detach("2026-09-08 14:36:57", (210_223, 210_224), VOLUME)?;
    done(&play.run("2026-09-08 14:34:57", "2026-09-08 14:38:51", &first)?)?;
    let moved = play.ask_attach("2026-09-08 14:40:10", (210_247, 210_248), VOLUME, 207, None)?;
    done(&play.run("2026-09-08 14:40:10", "2026-09-08 14:40:19", &moved)?)?;
    let config = base()?.session.path(format!("{name}.toml"));
    testhost::config(&config, db, &uris)?;
    Ok(Waiting {
        play,
        late: vec![second, third],
        config,
    })
}

pub fn done(end: &End) -> Result<()> {
    ensure!(*end == End::Succeeded, "{end:?}");
    Ok(())
}

fn jobs(config: &Path, args: &[&str]) -> Result<(String, i32)> {
    let out = volrecon(config, &[&["jobs"], args].concat());
    let stderr = String::from_utf8_lossy(&out.stderr);
    ensure!(stderr.is_empty(), "stderr: {stderr}");
    Ok((
        String::from_utf8(out.stdout)?,
        out.status.code().context("a code")?,
    ))
}

fn document(config: &Path, args: &[&str]) -> Result<(Value, i32)> {
    let (text, exit) = jobs(config, &[&["-o", "json"], args].concat())?;
    Ok((serde_json::from_str(&text)?, exit))
}

/// What depends on the clock is replaced; a trailing blank is a bug of its own.
fn still(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        assert_eq!(line, line.trim_end(), "a blank at the end of a line");
        if line.starts_with("rows read at") {
            out += "rows read at NOW; no host was asked\n";
        } else if line.get(5..9) == Some("job-") {
            // The age is what lies between the state and the volume.
            let age = line.get(34..42).expect("an age").trim_end();
            out += &line.replacen(&format!("{age:<8}"), "AGE     ", 1);
            out += "\n";
        } else {
            out += line;
            out += "\n";
        }
    }
    out
}

#[test]
fn a_straggler_to_be_is_told_before_it_runs_and_the_finding_follows() -> Result<()> {
    let paper = paper("jobs")?;
    let db = base()?.maria.schema("jobs", Shape::V4_22)?;
    let mut story = waiting("jobs", &db, &paper)?;

    let (told, exit) = document(&story.config, &[])?;
    ensure!(exit == 1, "{exit}: {told:#}");
    ensure!(told["document"] == "jobs" && told["version"] == 1, "{told:#}");
    let listed = told["jobs"].as_array().context("jobs")?;
    ensure!(listed.len() == 2, "{listed:#?}");
    for (at, (job, number)) in listed.iter().zip([210_205, 210_223]).enumerate() {
        ensure!(job["job"] == number && job["work_job"] == number + 1, "{job:#}");
        ensure!(job["position"] == at + 1 && job["state"] == "waiting", "{job:#}");
        ensure!(job["straggler"] == true && job["stacked"] == true, "{job:#}");
        ensure!(
            job["vm"] == "i-2-201-VM" && job["claim_vm"] == "i-2-207-VM",
            "{job:#}"
        );
        ensure!(
            job["volume_uuid"] == VOLUME_2 && job["work"] == "detach",
            "{job:#}"
        );
        ensure!(job["age_seconds"].as_i64().is_some_and(|age| age > 0), "{job:#}");
    }
    let outlook = listed[0]["outlook"].as_str().context("an outlook")?;
    ensure!(
        outlook.contains("the row is cleared: the disk stays in i-2-207-VM"),
        "{outlook}"
    );
    let stragglers = told["stragglers"].as_array().context("stragglers")?;
    ensure!(
        stragglers.len() == 1 && stragglers[0]["class"] == "pending-straggler",
        "{stragglers:#?}"
    );

    let (before, exit) = scan(&story.config, &[]);
    ensure!(
        exit == 1 && before["findings"][0]["class"] == "pending-straggler",
        "{before:#}"
    );

    // The VM that it was meant for is stopped: no agent is asked.
    let late = story.late.clone();
    story.play.begin("2026-09-08 14:40:21", &late[0])?;
    let (told, _) = document(&story.config, &[])?;
    ensure!(told["jobs"][0]["state"] == "running", "{told:#}");
    done(&story.play.end("2026-09-08 14:42:40", &late[0])?)?;
    // Now the row names no VM: the next one dies, or is harmless.
    let (told, exit) = document(&story.config, &[])?;
    ensure!(exit == 1 && told["jobs"][0]["claim_vm"].is_null(), "{told:#}");
    let outlook = told["jobs"][0]["outlook"].as_str().context("an outlook")?;
    ensure!(outlook.contains("getDiskSeq()"), "{outlook}");

    let end = story
        .play
        .run("2026-09-08 14:42:41", "2026-09-08 14:42:50", &late[1])?;
    ensure!(matches!(end, End::Failed(_)), "{end:?}");
    let (told, exit) = document(&story.config, &[])?;
    ensure!(exit == 0 && told["jobs"] == serde_json::json!([]), "{told:#}");
    let (after, exit) = scan(&story.config, &[]);
    ensure!(
        exit == 1 && after["findings"][0]["class"] == "straggler-detach",
        "{after:#}"
    );
    ensure!(after["findings"][0]["cause"]["job"] == 210_205, "{after:#}");
    Ok(())
}

#[test]
fn the_table_reads_at_80_columns_and_at_200() -> Result<()> {
    let paper = paper("jobst")?;
    let db = base()?.maria.schema("jobst", Shape::V4_22)?;
    let story = waiting("jobst", &db, &paper)?;
    for width in ["80", "200"] {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_volrecon"))
            .args(["jobs", "--config"])
            .arg(&story.config)
            .env("COLUMNS", width)
            .output()?;
        let text = String::from_utf8(out.stdout)?;
        ensure!(
            text.lines()
                .all(|line| line.chars().count() <= width.parse().unwrap()),
            "{text}"
        );
        golden::check(&format!("tests/golden-lab/jobs-{width}.txt"), &still(&text));
    }
    Ok(())
}

#[test]
fn scopes_choose_by_either_vm_by_the_volume_and_by_the_host() -> Result<()> {
    let paper = paper("jobss")?;
    let db = base()?.maria.schema("jobss", Shape::V4_22)?;
    let story = waiting("jobss", &db, &paper)?;
    let all: [(&[&str], usize); 6] = [
        (&["--vm", "worker1"], 2),
        (&["--vm", "i-2-207-VM"], 2),
        (&["--volume", VOLUME_2], 2),
        (&["--host", "kvm1"], 2),
        (&["--host", "kvm3"], 0),
        (&["--volume", "ROOT-201"], 0),
    ];
    for (args, count) in all {
        let (told, exit) = document(&story.config, args)?;
        ensure!(
            told["jobs"].as_array().map(Vec::len) == Some(count),
            "{args:?}: {told:#}"
        );
        ensure!(exit == i32::from(count > 0), "{args:?}: {exit}");
        ensure!(told["scope"].as_array().map(Vec::len) == Some(1), "{told:#}");
    }
    let out = volrecon(&story.config, &["jobs", "--vm", "worker77"]);
    ensure!(out.status.code() == Some(2), "{out:?}");
    ensure!(
        String::from_utf8_lossy(&out.stderr).contains("did you mean worker7"),
        "{out:?}"
    );
    Ok(())
}

#[test]
fn lines_and_cells() -> Result<()> {
    let paper = paper("jobsl")?;
    let db = base()?.maria.schema("jobsl", Shape::V4_22)?;
    let mut story = waiting("jobsl", &db, &paper)?;
    story.play.cloud.exec(
        "UPDATE volumes SET name = ? WHERE id = ?",
        ("=cmd|' /C calc'!A0\u{1b}[31m\nforged", VOLUME),
    )?;
    let (text, _) = jobs(&story.config, &["-o", "jsonl"])?;
    let kinds: Vec<String> = text
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["document"].as_str().unwrap().to_owned()
        })
        .collect();
    ensure!(kinds == ["job", "job", "finding", "summary"], "{kinds:?}");
    let (text, _) = jobs(&story.config, &["-o", "csv"])?;
    ensure!(
        text.lines().count() == 3 && text.contains(",\"'=cmd|") | text.contains(",'=cmd|"),
        "{text}"
    );
    let (text, _) = jobs(&story.config, &[])?;
    ensure!(
        !text.contains('\u{1b}') && text.contains("\\x1b[31m\\nforged"),
        "{text}"
    );
    Ok(())
}

#[test]
fn stacked_detaches_of_the_owner_are_stragglers_to_be_but_for_the_first() -> Result<()> {
    let paper = paper("jobsk")?;
    let db = base()?.maria.schema("jobsk", Shape::V4_15)?;
    let mut play = stage(&db, &paper, Telling::AS_SHIPPED)?;
    guest(&mut play, 201, "worker1", 1, &[(VOLUME, 1)])?;
    let config = base()?.session.path("jobsk.toml");
    testhost::config(&config, &db, &paper.uris())?;
    play.ask_detach("2026-09-08 14:34:56", (210_187, 210_188), VOLUME)?;
    let (told, exit) = document(&config, &[])?;
    ensure!(exit == 0 && told["jobs"][0]["straggler"] == false, "{told:#}");
    play.ask_detach("2026-09-08 14:35:56", (210_205, 210_206), VOLUME)?;
    let (told, exit) = document(&config, &[])?;
    ensure!(exit == 1, "{told:#}");
    let marks: Vec<_> = (0..2).map(|at| told["jobs"][at]["straggler"] == true).collect();
    ensure!(marks == [false, true], "{told:#}");
    Ok(())
}
