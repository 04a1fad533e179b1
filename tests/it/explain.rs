//! `volrecon explain`: on the lab's stories, live and offline, in every format.

use super::jobs::{VOLUME, paper, waiting};
use super::lab::maria::Db;
use super::lab::occurrences::{Story, Telling, VOLUME_2, VOLUME_4, first, fourth, second, third};
use super::lab::rows::uuid;
use super::lab::testhost::{self, Paper};
use super::lab::world::Hands;
use super::lab::{Shape, base};
use super::scanning::volrecon;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

mod behaviour;
mod history;
mod output;

type Tell = for<'h> fn(&Db, &'h dyn Hands, Telling) -> Result<Story<'h>>;

/// A story that was told, and a configuration to look at it with.
struct Told {
    paper: Paper,
    db: Db,
    config: PathBuf,
}

fn told(name: &str, shape: Shape, tell: Tell, how: Telling) -> Result<Told> {
    let paper = paper(name)?;
    let db = base()?.maria.schema(name, shape)?;
    tell(&db, &paper, how)?;
    let config = base()?.session.path(format!("{name}.toml"));
    testhost::config(&config, &db, &paper.uris())?;
    Ok(Told { paper, db, config })
}

fn text(config: &Path, args: &[&str]) -> Result<String> {
    let out = volrecon(config, &[&["explain"], args].concat());
    let stderr = String::from_utf8_lossy(&out.stderr);
    ensure!(stderr.is_empty(), "stderr: {stderr}");
    ensure!(out.status.code() == Some(0), "{:?}", out.status);
    Ok(String::from_utf8(out.stdout)?)
}

fn document(config: &Path, args: &[&str]) -> Result<Value> {
    Ok(serde_json::from_str(&text(
        config,
        &[&["-o", "json"], args].concat(),
    )?)?)
}

fn refused(config: &Path, args: &[&str]) -> Result<String> {
    let out = volrecon(config, &[&["explain"], args].concat());
    ensure!(out.status.code() == Some(2) && out.stdout.is_empty(), "{out:?}");
    Ok(String::from_utf8(out.stderr)?)
}

/// Time of day, job, what and mark of every line.
fn moments(document: &Value) -> Vec<(String, u64, String, String)> {
    let lines = document["timeline"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |line: &Value| {
        let time = text(&line["time"]);
        let job = line["job"].as_u64().unwrap_or_default();
        (
            time[11..19].to_owned(),
            job,
            text(&line["what"]),
            text(&line["mark"]),
        )
    };
    lines.iter().map(line).collect()
}

/// The told moments stand in the timeline, in this order.
fn in_order(document: &Value, wanted: &[(&str, u64, &str)]) -> Result<()> {
    let all = moments(document);
    let mut rest = all.iter();
    for (time, job, what) in wanted {
        let found = rest.any(|(t, j, w, _)| t == time && j == job && w == what);
        ensure!(
            found,
            "{time} job-{job} {what} is not there, or not in its place: {all:#?}"
        );
    }
    Ok(())
}

fn marked(document: &Value) -> Vec<(u64, String)> {
    let all = moments(document).into_iter();
    all.filter(|(.., mark)| !mark.is_empty())
        .map(|(_, job, _, mark)| (job, mark))
        .collect()
}

fn says(document: &Value, key: &str, word: &str) -> Result<()> {
    let found = match &document[key] {
        Value::String(text) => text.contains(word),
        Value::Array(all) => all.iter().any(|one| one.to_string().contains(word)),
        _ => false,
    };
    ensure!(found, "{key} does not say {word:?}: {:#}", document[key]);
    Ok(())
}

#[test]
fn occurrence_2_is_told_moment_by_moment_and_names_both_jobs() -> Result<()> {
    let told = told("e2", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let doc = document(&told.config, &[VOLUME_2])?;
    ensure!(doc["document"] == "explain" && doc["version"] == 1, "{doc:#}");
    in_order(
        &doc,
        &[
            ("14:34:56", 210_187, "detach asked for"),
            ("14:35:56", 210_205, "detach asked for"),
            ("14:36:57", 210_223, "detach asked for"),
            ("14:37:57", 210_235, "detach asked for"),
            ("14:38:51", 210_187, "detach succeeded"),
            ("14:40:10", 210_247, "attach asked for"),
            ("14:40:19", 210_247, "attach succeeded"),
            ("14:42:40", 210_235, "detach succeeded"),
            ("14:43:05", 210_253, "attach of another volume failed"),
        ],
    )?;
    ensure!(
        marked(&doc) == [(210_235, "cleared it".to_owned())],
        "{:?}",
        marked(&doc)
    );
    for word in [
        VOLUME_2,
        "job-210235",
        "job-210247",
        "i-2-207-VM",
        "proven",
        "straggler-detach",
    ] {
        says(&doc, "summary", word)?;
    }
    // Every job's moment is told by the events, too, and its end by usage where it succeeded.
    let lines = doc["timeline"].as_array().context("lines")?;
    let cleared = lines
        .iter()
        .find(|line| line["mark"] == "cleared it")
        .context("a mark")?;
    ensure!(cleared["source"] == "async_job", "{cleared}");
    ensure!(
        cleared["confirmed_by"] == json!(["event", "usage_event", "volumes"]),
        "{cleared}"
    );
    ensure!(lines.iter().all(|line| line["source"] != "event"), "{lines:#?}");
    ensure!(
        doc["contradictions"] == json!([]) && doc["unknown"] == json!([]),
        "{doc:#}"
    );
    ensure!(doc["remedies"][0]["action"] == "adopt" && doc["remedies"][0]["recommended"] == true);
    ensure!(doc["blocks"][0]["device_id"] == 2 && doc["finding"]["class"] == "straggler-detach");
    let offers = doc["remedies"].as_array().context("remedies")?;
    let last = offers.last().context("an offer")?;
    ensure!(
        last["withheld"].is_string() && last["code"] == "not-mounted",
        "{offers:?}"
    );

    // By its id the same is told; only the hosts that are asked differ.
    let id = doc["finding"]["id"].as_str().context("an id")?.to_owned();
    let by_id = document(&told.config, &[&id.to_uppercase()])?;
    ensure!(
        by_id["timeline"] == doc["timeline"] && by_id["summary"] == doc["summary"],
        "{by_id:#}"
    );
    let by_path = document(&told.config, &["pvc-e949a8c4"])?;
    ensure!(by_path["finding"]["id"] == id.as_str());

    let one = text(&told.config, &["-o", "jsonl", VOLUME_2])?;
    ensure!(
        one.lines().count() == 1 && serde_json::from_str::<Value>(&one)?["verdict"] == "straggler-detach"
    );
    Ok(())
}

#[test]
fn what_would_be_typed_holds_the_whole_fingerprint() -> Result<()> {
    let told = told("e2sql", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let doc = document(&told.config, &[VOLUME_2])?;
    let all = doc["equivalent"].as_array().context("equivalents")?;
    let one = |action: &str, tool: &str| -> Result<String> {
        let found = all.iter().find(|e| e["action"] == action && e["tool"] == tool);
        Ok(found
            .and_then(|e| e["text"].as_str())
            .context(format!("{action} {tool}: {all:#?}"))?
            .to_owned())
    };
    let virsh = one("detach", "virsh")?;
    ensure!(virsh.ends_with("detach-disk i-2-207-VM vdc --live"), "{virsh}");
    ensure!(one("adopt", "cmk")? == format!("cmk detach volume id={VOLUME_2}"));
    ensure!(one("look", "virsh")?.starts_with("virsh -r -c test:///"));
    let sql = one("adopt", "sql")?;
    for column in [
        "id",
        "uuid",
        "instance_id",
        "device_id",
        "pool_id",
        "path",
        "state",
        "update_count",
        "updated",
        "attached",
        "removed",
    ] {
        let (_, conditions) = sql.split_once("WHERE").context("a WHERE")?;
        ensure!(
            conditions.contains(&format!("{column} <=> ")) || conditions.contains(&format!(" {column} = ")),
            "{sql}"
        );
    }
    // It is SQL, and it changes exactly this row while nobody moved it.
    let mut cloud = super::lab::rows::Cloud::empty(&told.db)?;
    ensure!(
        cloud.exec(
            "UPDATE volumes SET updated = '2026-09-08 15:00:00' WHERE id = ?",
            (VOLUME,)
        )? == 1
    );
    ensure!(
        cloud.exec(&sql, ())? == 0,
        "somebody moved, and it changed the row"
    );
    ensure!(
        cloud.exec(
            "UPDATE volumes SET updated = '2026-09-08 14:42:40' WHERE id = ?",
            (VOLUME,)
        )? == 1
    );
    ensure!(cloud.exec(&sql, ())? == 1, "{sql}");
    let doc = document(&told.config, &[VOLUME_2])?;
    ensure!(doc["verdict"] == "ok", "{doc:#}");
    Ok(())
}

#[test]
fn occurrences_1_and_3_mark_the_job_that_did_it() -> Result<()> {
    let all: [(&str, Tell, u64, u64); 2] = [("e1", first, 10_301, 148_750), ("e3", third, 30_501, 185_059)];
    for (name, tell, volume, job) in all {
        let told = told(name, Shape::V4_22, tell, Telling::AS_SHIPPED)?;
        let doc = document(&told.config, &[&uuid(0x0d15, volume)])?;
        ensure!(
            marked(&doc) == [(job, "cleared it".to_owned())],
            "{name}: {:#?}",
            moments(&doc)
        );
        says(&doc, "summary", &format!("job-{job}"))?;
    }
    Ok(())
}

#[test]
fn occurrence_4_says_what_can_no_longer_be_known_and_why() -> Result<()> {
    let told = told("e4", Shape::V4_22, fourth, Telling::AS_SHIPPED)?;
    let doc = document(&told.config, &[VOLUME_4])?;
    ensure!(
        doc["verdict"] == "lost-attach" && marked(&doc) == [(0, "was never written".to_owned())],
        "{doc:#}"
    );
    // An attach that failed by its event, and whose disk is there: the job that would say more has aged out.
    says(&doc, "summary", "lost-attach, likely")?;
    says(&doc, "unknown", "jobs are kept for about a day")?;
    says(&doc, "unknown", "can no longer be known")?;
    // The events are left: they know of an attach that failed, and libvirt has the disk.
    says(&doc, "contradictions", "yet libvirt shows the disk there")?;
    in_order(
        &doc,
        &[
            ("03:20:11", 0, "attach asked for"),
            ("03:21:40", 0, "attach failed"),
        ],
    )?;
    ensure!(
        doc["timeline"][0]["vm"] == "i-2-404-VM" && doc["timeline"][0]["source"] == "event",
        "{doc:#}"
    );
    Ok(())
}

#[test]
fn with_the_jobs_purged_the_events_still_tell_in_both_shapes_of_their_table() -> Result<()> {
    for (name, shape) in [("e2new", Shape::V4_22), ("e2old", Shape::V4_15)] {
        let told = told(name, shape, second, Telling::AS_SHIPPED)?;
        let mut cloud = super::lab::rows::Cloud::empty(&told.db)?;
        for table in [
            "sync_queue_item",
            "async_job_join_map",
            "vm_work_job",
            "async_job",
        ] {
            cloud.exec(&format!("DELETE FROM {table}"), ())?;
        }
        let doc = document(&told.config, &[VOLUME_2])?;
        in_order(
            &doc,
            &[
                ("14:38:51", 0, "detach succeeded"),
                ("14:40:19", 0, "attach succeeded"),
                ("14:42:40", 0, "detach succeeded"),
            ],
        )?;
        // Asked for before the attach, so that it was another VM's.
        ensure!(
            marked(&doc) == [(0, "cleared it".to_owned())],
            "{:#?}",
            moments(&doc)
        );
        says(&doc, "summary", "straggler-detach, likely")?;
        says(&doc, "unknown", "can no longer be known")?;
        says(&doc, "unknown", "names no VM")?;
        drop(told.paper);
    }
    Ok(())
}

#[test]
fn events_that_contradict_a_job_are_shown_beside_it() -> Result<()> {
    let told = told("e2c", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let mut cloud = super::lab::rows::Cloud::empty(&told.db)?;
    let sql = "UPDATE event SET level = 'ERROR' WHERE state = 'Completed' AND created = '2026-09-08 14:42:40' AND resource_id = ?";
    ensure!(cloud.exec(sql, (VOLUME,))? == 1);
    let doc = document(&told.config, &[VOLUME_2])?;
    says(
        &doc,
        "contradictions",
        "job-210235: async_job says that the detach succeeded",
    )?;
    Ok(())
}

#[test]
fn a_healthy_volume_is_said_to_be_healthy_and_shows_its_history() -> Result<()> {
    let told = told("eok", Shape::V4_22, second, Telling::COMPARED)?;
    let doc = document(&told.config, &[VOLUME_2])?;
    ensure!(
        doc["verdict"] == "ok" && doc["finding"].is_null() && doc["advice"].is_null(),
        "{doc:#}"
    );
    says(&doc, "summary", "is healthy")?;
    ensure!(
        doc["remedies"] == json!([]) && doc["blocks"] == json!([]),
        "{doc:#}"
    );
    in_order(
        &doc,
        &[
            ("14:40:19", 210_247, "attach succeeded"),
            ("14:42:40", 210_235, "detach succeeded"),
        ],
    )?;
    let root = document(&told.config, &["ROOT-208"])?;
    ensure!(root["verdict"] == "ok", "{root:#}");
    says(&root, "unknown", "no attach or detach of this volume")?;
    Ok(())
}

#[test]
fn a_straggler_to_be_is_told_by_the_volume_and_by_the_id_of_either_command() -> Result<()> {
    let paper = paper("epend")?;
    let db = base()?.maria.schema("epend", Shape::V4_22)?;
    let story = waiting("epend", &db, &paper)?;
    let doc = document(&story.config, &[VOLUME_2])?;
    ensure!(doc["verdict"] == "pending-straggler", "{doc:#}");
    ensure!(doc["pending"].as_array().map(Vec::len) == Some(2), "{doc:#}");
    says(&doc, "pending", "the row is cleared")?;
    let out = volrecon(&story.config, &["jobs", "-o", "json"]);
    let jobs: Value = serde_json::from_slice(&out.stdout)?;
    let blind = jobs["stragglers"][0]["id"].as_str().context("an id")?;
    let by_id = document(&story.config, &[blind])?;
    ensure!(by_id["volume"]["uuid"] == VOLUME_2, "{by_id:#}");
    Ok(())
}

#[test]
fn in_flux_says_so_and_why() -> Result<()> {
    let told = told("eflux", Shape::V4_22, second, Telling::AS_SHIPPED)?;
    let mut cloud = super::lab::rows::Cloud::empty(&told.db)?;
    let sql = "UPDATE volumes SET state = 'Snapshotting', updated = UTC_TIMESTAMP() WHERE id = ?";
    cloud.exec(sql, (VOLUME,))?;
    let doc = document(&told.config, &[VOLUME_2])?;
    ensure!(
        doc["verdict"] == "in-flux" && doc["not_judged"][0]["code"] == "volume-state",
        "{doc:#}"
    );
    says(&doc, "summary", "is in flux, and not judged")?;
    ensure!(doc["remedies"] == json!([]), "{doc:#}");
    Ok(())
}
