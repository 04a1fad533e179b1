//! `volrecon explain`: what is asked for and is not there, offline, hostile names, keys and screens.

use super::{Tell, document, marked, refused, says, text, told};
use crate::golden;
use crate::jobs::VOLUME;
use crate::lab::occurrences::{Telling, VOLUME_2, VOLUME_4, fourth, second};
use crate::lab::rows::Cloud;
use crate::lab::{Shape, base};
use crate::scanning::volrecon;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::Command;

#[test]
fn offline_the_same_is_told() -> Result<()> {
    let told = told("eoff", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let seen = base()?.session.path("eoff.json").display().to_string();
    let out = volrecon(&told.config, &["scan", "--save", &seen]);
    ensure!(out.status.code() == Some(1), "{out:?}");
    let nowhere = base()?.session.path("eoff-none.toml");
    std::fs::write(&nowhere, "")?;
    let doc = document(&nowhere, &["--evidence", &seen, VOLUME_2])?;
    ensure!(marked(&doc) == [(210_235, "cleared it".to_owned())], "{doc:#}");
    // A scan reads the events of orphans, so that the file has them.
    let live = document(&told.config, &[VOLUME_2])?;
    ensure!(
        doc["timeline"] == live["timeline"] && doc["summary"] == live["summary"],
        "{doc:#}\n{live:#}"
    );
    let id = doc["finding"]["id"].as_str().context("an id")?;
    let by_id = document(&nowhere, &["--evidence", &seen, id])?;
    ensure!(by_id["summary"] == doc["summary"], "{by_id:#}");
    let healthy = document(&nowhere, &["--evidence", &seen, "ROOT-208"])?;
    ensure!(healthy["verdict"] == "ok", "{healthy:#}");
    says(&healthy, "unknown", "event and usage_event were not read")?;
    let why = refused(&nowhere, &["--evidence", &seen, "ROOT-28"])?;
    ensure!(
        why.contains("no volume is called") && why.contains("did you mean") && why.contains("ROOT-208"),
        "{why}"
    );
    Ok(())
}

#[test]
fn every_format_tells_a_volume_and_a_class() -> Result<()> {
    let told = told("eformats", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let csv = text(&told.config, &["-o", "csv", VOLUME_2])?;
    ensure!(
        csv.starts_with("time,job,vm,what,mark,source,confirmed_by\n"),
        "{csv}"
    );
    let cleared = "2026-09-08T14:42:40Z,210235,i-2-201-VM,detach succeeded,cleared it,async_job,event usage_event volumes\n";
    ensure!(csv.contains(cleared), "{csv}");
    let line = text(&told.config, &["-o", "jsonl", VOLUME_2])?;
    ensure!(
        line.lines().count() == 1 && line.contains("\"document\":\"explain\""),
        "{line}"
    );
    let class = ["--class", "wrong-vm"];
    let json: Value = serde_json::from_str(&text(&told.config, &[&["-o", "json"], &class[..]].concat())?)?;
    ensure!(
        json["document"] == "class" && json["severity"] == "critical",
        "{json:#}"
    );
    let line: Value = serde_json::from_str(&text(&told.config, &[&["-o", "jsonl"], &class[..]].concat())?)?;
    ensure!(line == json, "{line:#}");
    let csv = text(&told.config, &[&["-o", "csv"], &class[..]].concat())?;
    ensure!(
        csv.lines()
            .nth(1)
            .is_some_and(|row| row.starts_with("wrong-vm,critical,")),
        "{csv}"
    );
    Ok(())
}

#[test]
fn what_is_not_there_is_trouble_with_a_near_miss() -> Result<()> {
    let told = told("enone", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let why = refused(&told.config, &["pvc-e949a8c5"])?;
    ensure!(why.contains("did you mean pvc-e949a8c4"), "{why}");
    let doc = document(&told.config, &[VOLUME_2])?;
    let id = doc["finding"]["id"].as_str().context("an id")?;
    let near = format!("{}{}", &id[..10], if id.ends_with('0') { '1' } else { '0' });
    let why = refused(&told.config, &[&near])?;
    ensure!(why.contains(&format!("did you mean {id}?")), "{why}");
    let why = refused(&told.config, &["vr-ffffffff"])?;
    ensure!(
        why.contains("may have been repaired") && why.contains(id),
        "{why}"
    );
    for args in [&["explain"][..], &["explain", "x", "--class", "wrong-vm"]] {
        ensure!(volrecon(&told.config, args).status.code() == Some(2), "{args:?}");
    }
    Ok(())
}

#[test]
fn names_of_tenants_neither_act_nor_get_into_a_command() -> Result<()> {
    let told = told("ehost", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let mut cloud = Cloud::empty(&told.db)?;
    let name = "x'; DROP TABLE volumes; -- $(reboot)\n\u{1b}[2J\u{202e}  14:00:00  job-1  forged";
    cloud.exec("UPDATE volumes SET name = ? WHERE id = ?", (name, VOLUME))?;
    cloud.exec("UPDATE vm_instance SET name = ? WHERE id = 207", (name,))?;
    let shown = text(&told.config, &[VOLUME_2])?;
    ensure!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown}"
    );
    let (_, timeline) = shown
        .split_once(
            "
Timeline",
        )
        .context("a timeline")?;
    let (timeline, _) = timeline
        .split_once(
            "
Verdict",
        )
        .context("a verdict")?;
    ensure!(
        !timeline.contains("forged") && !shown.contains("14:00:00  job-1"),
        "{shown}"
    );
    let doc = document(&told.config, &[VOLUME_2])?;
    for one in doc["equivalent"].as_array().context("equivalents")? {
        let text = one["text"].as_str().unwrap_or_default();
        ensure!(!text.contains("DROP") && !text.contains("reboot"), "{text}");
    }
    ensure!(document(&told.config, &[name])?["volume"]["uuid"] == VOLUME_2);
    // A path that cannot be quoted keeps the whole statement from being written.
    cloud.exec(
        "UPDATE volumes SET path = CONCAT(path, '\\\\') WHERE id = ?",
        (VOLUME,),
    )?;
    let doc = document(&told.config, &[VOLUME_2])?;
    let all = doc["equivalent"].as_array().context("equivalents")?;
    ensure!(
        all.iter()
            .all(|e| e["action"] != "adopt" || e["tool"] != "sql" || e["text"].is_null()),
        "{all:#?}"
    );
    Ok(())
}

#[test]
fn the_document_has_the_keys_that_scripts_rely_on() -> Result<()> {
    let told = told("ekeys", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let doc = document(&told.config, &[VOLUME_2])?;
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut top = keys(&doc);
    top.sort();
    ensure!(
        top == [
            "advice",
            "asked",
            "blocks",
            "claim",
            "contradictions",
            "document",
            "equivalent",
            "finding",
            "further",
            "holders",
            "not_judged",
            "pending",
            "remedies",
            "summary",
            "timeline",
            "tool",
            "unknown",
            "verdict",
            "version",
            "volume",
            "witnesses",
        ],
        "{top:?}"
    );
    let mut line = keys(&doc["timeline"][0]);
    line.sort();
    ensure!(
        line == ["confirmed_by", "job", "mark", "source", "time", "vm", "what"],
        "{line:?}"
    );
    Ok(())
}

/// Times of this run and the lab's directory are replaced.
fn still(text: &str) -> Result<String> {
    let dir = base()?.session.dir.display().to_string();
    let text = text.replace(&dir, "/LAB");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("T") {
        let start = at.saturating_sub(10);
        let whole = rest.get(start..at + 10);
        let time = whole.and_then(|word| word.parse::<jiff::Timestamp>().ok());
        let now = time.is_some_and(|t| (jiff::Timestamp::now().as_second() - t.as_second()).abs() < 3600);
        if now {
            out += &rest[..start];
            out += "2026-01-01T00:00:00Z";
            rest = &rest[at + 10..];
        } else {
            out += &rest[..=at];
            rest = &rest[at + 1..];
        }
    }
    Ok(out + rest)
}

#[test]
fn the_table_reads_at_80_columns_and_at_200() -> Result<()> {
    let logs = ["ms1.log", "ms2.log", "agent-kvm1.log"];
    let stories: [(&str, Tell, &str, Telling, &[&str]); 4] = [
        ("explain-2", second, VOLUME_2, Telling::AS_SHIPPED, &[]),
        ("explain-4", fourth, VOLUME_4, Telling::AS_SHIPPED, &[]),
        ("explain-healthy", second, VOLUME_2, Telling::COMPARED, &[]),
        ("explain-logs", second, VOLUME_2, Telling::AS_SHIPPED, &logs),
    ];
    for (name, tell, volume, how, logs) in stories {
        let told = told(&name.replace('-', ""), Shape::V4_22, tell, how)?;
        let logs = super::history::logs(logs, name)?;
        for width in ["80", "200"] {
            let out = Command::new(env!("CARGO_BIN_EXE_volrecon"))
                .args(["explain", volume, "--config"])
                .arg(&told.config)
                .args(&logs)
                .env("COLUMNS", width)
                .output()?;
            let text = String::from_utf8(out.stdout)?;
            // What is to be copied is not wrapped; all else fits.
            let (told, _) = text.split_once("\nBy hand\n").context("a part to copy")?;
            ensure!(
                told.lines()
                    .all(|line| line.chars().count() <= width.parse().unwrap()),
                "{text}"
            );
            golden::check(&format!("tests/golden-lab/{name}-{width}.txt"), &still(&text)?);
        }
    }
    Ok(())
}
