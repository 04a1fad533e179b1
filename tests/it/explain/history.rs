//! Which history gives which verdict: occurrence 2 with more and more of its records gone, and with its logs.

use super::{document, in_order, marked, says, told};
use crate::golden::repo;
use crate::jobs::paper;
use crate::lab::Shape;
use crate::lab::base;
use crate::lab::occurrences::{Telling, VOLUME_2, second};
use crate::lab::rows::{Cloud, uuid};
use crate::lab::testhost;
use anyhow::{Result, ensure};
use serde_json::Value;

/// The kind of a VM's uuid in the lab.
const VM: u16 = 0x1157;

const NO_JOBS: &[&str] = &[
    "DELETE FROM sync_queue_item",
    "DELETE FROM async_job_join_map",
    "DELETE FROM vm_work_job",
    "DELETE FROM async_job",
];
const NO_EVENTS: &[&str] = &["DELETE FROM event"];
const NO_USAGE: &[&str] = &["DELETE FROM usage_event"];

/// What is known of `job`, and what comes of it.
struct Row {
    what: &'static str,
    gone: &'static [&'static [&'static str]],
    logs: &'static [&'static str],
    class: &'static str,
    confidence: &'static str,
    job: Option<u64>,
}

const MANAGEMENT: [&str; 2] = ["ms1.log", "ms2.log"];

const TABLE: [Row; 15] = [
    Row {
        what: "everything",
        gone: &[],
        logs: &[],
        class: "straggler-detach",
        confidence: "proven",
        job: Some(210_235),
    },
    Row {
        what: "jobs only",
        gone: &[NO_EVENTS, NO_USAGE],
        logs: &[],
        class: "straggler-detach",
        confidence: "proven",
        job: Some(210_235),
    },
    Row {
        // The attach's job aged out before the straggler's: its event still names the VM.
        what: "half of the jobs, events",
        gone: &[&[
            "DELETE FROM vm_work_job WHERE id = 210248",
            "DELETE FROM async_job WHERE id IN (210247, 210248)",
        ]],
        logs: &[],
        class: "straggler-detach",
        confidence: "proven",
        job: Some(210_235),
    },
    Row {
        what: "half of the jobs, no events",
        gone: &[
            NO_EVENTS,
            NO_USAGE,
            &[
                "DELETE FROM vm_work_job WHERE id <= 210224 OR id = 210248",
                "DELETE FROM async_job WHERE id <= 210224 OR id IN (210247, 210248)",
            ],
        ],
        logs: &[],
        class: "straggler-detach",
        confidence: "likely",
        job: Some(210_235),
    },
    Row {
        // The work job's VM is gone; the API job still says when the detach was asked for.
        what: "API jobs only",
        gone: &[
            NO_EVENTS,
            NO_USAGE,
            &[
                "DELETE FROM vm_work_job WHERE id = 210236",
                "DELETE FROM async_job WHERE id = 210236",
            ],
        ],
        logs: &[],
        class: "straggler-detach",
        confidence: "likely",
        job: Some(210_235),
    },
    Row {
        what: "events only",
        gone: &[NO_JOBS],
        logs: &[],
        class: "straggler-detach",
        confidence: "likely",
        job: None,
    },
    Row {
        // Without Scheduled nobody says when the detach was asked for: it may have been the holder's own.
        what: "events that say how it ended, not when it began",
        gone: &[
            NO_JOBS,
            &["DELETE FROM event WHERE type = 'VOLUME.DETACH' AND state <> 'Completed'"],
        ],
        logs: &[],
        class: "lost-attach",
        confidence: "unproven",
        job: None,
    },
    Row {
        // The detach was asked for, and nobody says how it ended.
        what: "events that say when it began, not how it ended",
        gone: &[
            NO_JOBS,
            NO_USAGE,
            &["DELETE FROM event WHERE type = 'VOLUME.DETACH' AND state = 'Completed'"],
        ],
        logs: &[],
        class: "lost-attach",
        confidence: "unproven",
        job: None,
    },
    Row {
        // As far as is known, an attach and no detach after it.
        what: "events of the attach alone",
        gone: &[
            NO_JOBS,
            NO_USAGE,
            &["DELETE FROM event WHERE type = 'VOLUME.DETACH'"],
        ],
        logs: &[],
        class: "lost-attach",
        confidence: "likely",
        job: None,
    },
    Row {
        // Order alone proves nothing.
        what: "usage only",
        gone: &[NO_JOBS, NO_EVENTS],
        logs: &[],
        class: "lost-attach",
        confidence: "unproven",
        job: None,
    },
    Row {
        what: "nothing",
        gone: &[NO_JOBS, NO_EVENTS, NO_USAGE],
        logs: &[],
        class: "lost-attach",
        confidence: "unproven",
        job: None,
    },
    Row {
        what: "management logs only",
        gone: &[NO_JOBS, NO_EVENTS, NO_USAGE],
        logs: &MANAGEMENT,
        class: "straggler-detach",
        confidence: "likely",
        job: Some(210_235),
    },
    Row {
        // The line proves it by itself; only the job's number is in the other logs.
        what: "the agent's log only",
        gone: &[NO_JOBS, NO_EVENTS, NO_USAGE],
        logs: &["agent-kvm1.log"],
        class: "straggler-detach",
        confidence: "proven",
        job: None,
    },
    Row {
        what: "all logs",
        gone: &[NO_JOBS, NO_EVENTS, NO_USAGE],
        logs: &["ms1.log", "ms2.log", "agent-kvm1.log"],
        class: "straggler-detach",
        confidence: "proven",
        job: Some(210_235),
    },
    Row {
        what: "all",
        gone: &[],
        logs: &["ms1.log", "ms2.log", "agent-kvm1.log"],
        class: "straggler-detach",
        confidence: "proven",
        job: Some(210_235),
    },
];

/// The arguments that name the fixtures' logs, with the lab's VMs in them.
pub(super) fn logs(names: &[&str], at: &str) -> Result<Vec<String>> {
    let mut out = Vec::new();
    if !names.is_empty() {
        out.extend(["--log-zone".to_owned(), "Europe/Berlin".to_owned()]);
    }
    for name in names {
        let mut text = std::fs::read_to_string(repo("tests/logs/4.22").join(name))?;
        for (id, known) in [(201, "0201"), (207, "0207")] {
            text = text.replace(&format!("0b6ad3f1-2f0c-4c51-8a54-1f5d7f3a{known}"), &uuid(VM, id));
        }
        let path = base()?.session.path(format!("{at}-{name}"));
        std::fs::write(&path, text)?;
        let path = path.display().to_string();
        if name.starts_with("agent") {
            out.extend(["--agent-log".to_owned(), format!("kvm1={path}")]);
        } else {
            out.extend(["--management-log".to_owned(), path]);
        }
    }
    Ok(out)
}

fn remedies(doc: &Value) -> Vec<(String, String, bool, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = doc["remedies"].as_array().cloned().unwrap_or_default();
    let one = |r: &Value| {
        (
            text(&r["remedy"]),
            text(&r["action"]),
            r["recommended"] == true,
            r["code"].clone(),
        )
    };
    all.iter().map(one).collect()
}

#[test]
fn what_is_left_of_the_history_decides_class_and_confidence_and_no_repair() -> Result<()> {
    let mut first: Option<(Vec<_>, Value)> = None;
    for (at, row) in TABLE.iter().enumerate() {
        let name = format!("hist{at}");
        let told = told(&name, Shape::V4_22, second, Telling::AS_SHIPPED)?;
        let mut cloud = Cloud::empty(&told.db)?;
        for sql in row.gone.iter().flat_map(|gone| gone.iter()) {
            cloud.exec(sql, ())?;
        }
        let logs = logs(row.logs, &name)?;
        let mut args = vec![VOLUME_2];
        args.extend(logs.iter().map(String::as_str));
        let doc = document(&told.config, &args)?;
        let finding = &doc["finding"];
        let found = (
            finding["class"].as_str().unwrap_or_default(),
            finding["confidence"].as_str().unwrap_or_default(),
            finding["cause"]["job"].as_u64(),
        );
        ensure!(
            found == (row.class, row.confidence, row.job),
            "{}: {found:?}\n{doc:#}",
            row.what
        );
        let straggler = row.class == "straggler-detach";
        ensure!(
            marked(&doc).iter().any(|(_, mark)| mark == "cleared it") >= straggler,
            "{}: {doc:#}",
            row.what
        );
        let now = (remedies(&doc), finding["id"].clone());
        let first = first.get_or_insert_with(|| now.clone());
        ensure!(
            now == *first,
            "{}: what may be done depends on a record\n{now:?}",
            row.what
        );
    }
    Ok(())
}

#[test]
fn the_logs_tell_the_seven_moments_and_confirm_the_tables() -> Result<()> {
    let told = told("hlogs", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let logs = logs(&["ms1.log", "ms2.log", "agent-kvm1.log"], "hlogs")?;
    let mut args = vec![VOLUME_2];
    args.extend(logs.iter().map(String::as_str));
    let doc = document(&told.config, &args)?;
    in_order(
        &doc,
        &[
            ("14:34:56", 210_187, "detach asked for"),
            ("14:35:56", 210_205, "detach asked for"),
            ("14:36:57", 210_223, "detach asked for"),
            ("14:37:57", 210_235, "detach asked for"),
            ("14:38:51", 210_187, "detach succeeded"),
            ("14:40:19", 210_247, "attach succeeded"),
            ("14:42:39", 210_235, "kvm1: no such disk, called detached"),
            ("14:42:40", 210_235, "detach succeeded"),
        ],
    )?;
    let lines = doc["timeline"].as_array().cloned().unwrap_or_default();
    let confirmed = lines
        .iter()
        .filter(|line| line["confirmed_by"].to_string().contains("management-log"));
    ensure!(confirmed.count() >= 9, "{doc:#}");
    ensure!(
        doc["contradictions"].as_array().is_some_and(Vec::is_empty),
        "{doc:#}"
    );
    // In the wrong zone the same logs contradict the tables, and that is said.
    let utc: Vec<&str> = args
        .iter()
        .map(|arg| if *arg == "Europe/Berlin" { "UTC" } else { arg })
        .collect();
    let doc = document(&told.config, &utc)?;
    says(&doc, "unknown", "is --log-zone right?")?;
    says(&doc, "contradictions", "management-log")?;
    Ok(())
}

#[test]
fn the_rows_time_of_change_alone_names_nobody() -> Result<()> {
    let paper = paper("hrow")?;
    let db = base()?.maria.schema("hrow", Shape::V4_22)?;
    let story = second(&db, &paper, Telling::AS_SHIPPED)?;
    let mut cloud = Cloud::empty(&db)?;
    for sql in [NO_JOBS, NO_EVENTS, NO_USAGE].concat() {
        cloud.exec(sql, ())?;
    }
    drop(story);
    let config = base()?.session.path("hrow.toml");
    testhost::config(&config, &db, &paper.uris())?;
    let doc = document(&config, &[VOLUME_2])?;
    ensure!(
        doc["finding"]["cause"]["job"].is_null() && marked(&doc).is_empty(),
        "{doc:#}"
    );
    says(&doc, "summary", "the row last changed at 2026-09-08T14:42:40Z")?;
    says(&doc, "unknown", "can no longer be known")?;
    Ok(())
}
