//! What a stale detach does, row by row: by the volume's row when its worker runs, by its VM's state, and by what the guest does.
//! Each is played on real rows and shown by the real binary. The harmless ones are told as harmless, and found by nobody.

use super::{document, marked, says};
use crate::jobs::{VOLUME, done, paper};
use crate::lab::occurrences::{Telling, VOLUME_2};
use crate::lab::replay::{End, Job, Play};
use crate::lab::staging::{data, guest, plug, stage};
use crate::lab::testhost::{self, NOT_IN_TIME, Paper};
use crate::lab::world::Hands;
use crate::lab::{Shape, base};
use crate::scanning::scan;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::PathBuf;

mod cancelled;
mod doubts;
mod moved;
mod pending;

/// The old VM, and the one that the volume goes to.
const A: u64 = 201;
const B: u64 = 207;

/// Two VMs on two hosts; the volume is A's, at device id 2.
pub(super) struct Scene<'h> {
    pub play: Play<'h>,
    pub config: PathBuf,
}

pub(super) fn scene<'h>(name: &str, hands: &'h Paper) -> Result<Scene<'h>> {
    let db = base()?.maria.schema(name, Shape::V4_22)?;
    let uris = hands.uris();
    let hands: &dyn Hands = hands;
    let mut play = stage(&db, hands, Telling::AS_SHIPPED)?;
    guest(&mut play, A, "worker1", 1, &[(20_101, 1)])?;
    guest(&mut play, B, "worker7", 2, &[(20_701, 1)])?;
    data(&mut play, VOLUME, "pvc-e949a8c4", Some(VOLUME_2))?;
    plug(&mut play, VOLUME, A, 2, "kvm1")?;
    let config = base()?.session.path(format!("{name}.toml"));
    testhost::config(&config, &db, &uris)?;
    Ok(Scene { play, config })
}

/// A time of the one day on which all this happens.
pub(super) fn at(time: &str) -> String {
    format!("2026-09-08 {time}")
}

impl Scene<'_> {
    pub fn detach(&mut self, time: &str, id: u64) -> Result<Job> {
        self.play.ask_detach(&at(time), (id, id + 1), VOLUME)
    }

    pub fn run(&mut self, begin: &str, end: &str, job: &Job) -> Result<End> {
        self.play.run(&at(begin), &at(end), job)
    }

    /// Attaches the volume to B, in nine seconds.
    pub fn attach(&mut self, time: &str, id: u64) -> Result<()> {
        let job = self.play.ask_attach(&at(time), (id, id + 1), VOLUME, B, None)?;
        let end = crate::lab::when::plus(&at(time), 9)?;
        done(&self.play.run(&at(time), &end, &job)?)
    }

    pub fn claim(&mut self) -> Result<Option<u64>> {
        self.play
            .cloud
            .one("SELECT instance_id FROM volumes WHERE id = ?", (VOLUME,))
    }

    /// Nothing is found, all was seen, and nothing is held back as unclear.
    pub fn nothing_found(&self) -> Result<()> {
        let (doc, exit) = scan(&self.config, &[]);
        for key in ["findings", "in_flux", "cannot_tell"] {
            ensure!(doc[key] == json!([]), "{key}: {doc:#}");
        }
        ensure!(exit == 0 && doc["complete"] == true, "{exit}: {doc:#}");
        Ok(())
    }

    /// The one finding, of this class, with exit code 1.
    pub fn found(&self, class: &str) -> Result<Value> {
        let (doc, exit) = scan(&self.config, &[]);
        let all = doc["findings"].as_array().context("findings")?;
        ensure!(exit == 1 && all.len() == 1, "{exit}: {all:#?}");
        ensure!(all[0]["class"] == class, "{:#}", all[0]);
        Ok(all[0].clone())
    }

    pub fn explained(&self) -> Result<Value> {
        document(&self.config, &[VOLUME_2])
    }

    /// The volume is healthy, no line is marked, no witnesses disagree.
    pub fn healthy(&self) -> Result<Value> {
        self.nothing_found()?;
        let doc = self.explained()?;
        ensure!(doc["verdict"] == "ok" && doc["finding"].is_null(), "{doc:#}");
        ensure!(marked(&doc).is_empty(), "{doc:#}");
        for key in ["contradictions", "remedies", "pending"] {
            ensure!(doc[key] == json!([]), "{key}: {doc:#}");
        }
        Ok(doc)
    }
}

/// The line that tells how a job ended.
pub(super) fn end_of(doc: &Value, job: u64) -> Result<Value> {
    let lines = doc["timeline"].as_array().context("lines")?;
    let line = lines.iter().rfind(|line| line["job"] == job);
    Ok(line.with_context(|| format!("job-{job}: {doc:#}"))?.clone())
}

fn failed(end: &End, words: &str) -> Result<()> {
    ensure!(
        matches!(end, End::Failed(why) if why.contains(words)),
        "it should fail with {words:?}: {end:?}"
    );
    Ok(())
}

/// Remedy, action, whether it is offered and recommended, and why not.
pub(super) fn offers(finding: &Value) -> Vec<(String, bool, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = finding["remedies"].as_array().cloned().unwrap_or_default();
    let one = |r: &Value| {
        (
            text(&r["action"]),
            r["recommended"] == true,
            text(&r["code"]),
            text(&r["withheld"]),
        )
    };
    all.iter().map(one).collect()
}

#[test]
fn a_free_row_and_a_running_vm_the_job_died_in_get_disk_seq_and_that_is_harmless() -> Result<()> {
    let paper = paper("beha")?;
    let mut scene = scene("beha", &paper)?;
    let (first, stale) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    done(&scene.run("14:00:01", "14:02:00", &first)?)?;
    failed(&scene.run("14:02:01", "14:02:03", &stale)?, "getDiskSeq()")?;
    // While the volume is attached to nothing, and after it went on to B.
    scene.nothing_found()?;
    let doc = scene.explained()?;
    ensure!(doc["verdict"] == "detached" && marked(&doc).is_empty(), "{doc:#}");
    scene.attach("14:03:00", 521)?;
    let doc = scene.healthy()?;
    let line = end_of(&doc, 511)?;
    ensure!(line["what"] == "detach died in getDiskSeq(): harmless", "{line}");
    ensure!(
        line["vm"] == "i-2-201-VM" && line["source"] == "async_job",
        "{line}"
    );
    ensure!(line["confirmed_by"] == json!(["event"]), "{line}");
    says(&doc, "summary", "is healthy")
}

#[test]
fn b_a_row_of_another_vm_and_a_running_vm_the_straggler_clears_it_proven() -> Result<()> {
    let paper = paper("behb")?;
    let mut scene = scene("behb", &paper)?;
    let (first, late) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    done(&scene.run("14:00:01", "14:02:00", &first)?)?;
    scene.attach("14:03:00", 521)?;
    done(&scene.run("14:03:10", "14:05:00", &late)?)?;
    straggler(&mut scene)
}

#[test]
fn c_a_row_of_another_vm_and_a_stopped_vm_no_agent_is_asked_and_it_is_cleared_proven() -> Result<()> {
    let paper = paper("behc")?;
    let mut scene = scene("behc", &paper)?;
    let (first, late) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    done(&scene.run("14:00:01", "14:02:00", &first)?)?;
    scene.attach("14:03:00", 521)?;
    scene.play.stop(A)?;
    done(&scene.run("14:03:10", "14:05:00", &late)?)?;
    straggler(&mut scene)
}

fn straggler(scene: &mut Scene<'_>) -> Result<()> {
    ensure!(scene.claim()?.is_none(), "the row was not cleared");
    let finding = scene.found("straggler-detach")?;
    ensure!(finding["confidence"] == "proven", "{finding:#}");
    ensure!(finding["cause"]["job"] == 511 && finding["cause"]["work_job"] == 512);
    ensure!(
        finding["holders"][0]["domain"] == "i-2-207-VM",
        "the disk stays in B"
    );
    let doc = scene.explained()?;
    ensure!(marked(&doc) == [(511, "cleared it".to_owned())], "{doc:#}");
    let line = end_of(&doc, 511)?;
    ensure!(
        line["what"] == "detach succeeded" && line["vm"] == "i-2-201-VM",
        "{line}"
    );
    ensure!(
        line["confirmed_by"] == json!(["event", "usage_event", "volumes"]),
        "{line}"
    );
    let told: Vec<_> = offers(&doc)
        .into_iter()
        .map(|(action, first, code, _)| (action, first, code))
        .collect();
    let told: Vec<_> = told
        .iter()
        .map(|(a, f, c)| (a.as_str(), *f, c.as_str()))
        .collect();
    ensure!(
        told == [
            ("adopt", true, ""),
            ("restart", false, ""),
            ("detach", false, "not-mounted")
        ],
        "{told:?}"
    );
    Ok(())
}

#[test]
fn d_a_free_row_and_a_stopped_vm_it_succeeds_in_silence_and_usage_counts_it_twice() -> Result<()> {
    let paper = paper("behd")?;
    let mut scene = scene("behd", &paper)?;
    let (first, stale) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    done(&scene.run("14:00:01", "14:02:00", &first)?)?;
    scene.play.stop(A)?;
    done(&scene.run("14:02:01", "14:02:03", &stale)?)?;
    let usage: u64 = scene.play.cloud.one(
        "SELECT COUNT(*) FROM usage_event WHERE type = 'VOLUME.DETACH' AND resource_id = ?",
        (VOLUME,),
    )?;
    ensure!(usage == 2, "{usage}");
    scene.nothing_found()?;
    let doc = scene.explained()?;
    ensure!(
        doc["verdict"] == "detached" && marked(&doc).is_empty() && doc["contradictions"] == json!([]),
        "{doc:#}"
    );
    // Both moments stand there, each with its own usage.
    for job in [501, 511] {
        let line = end_of(&doc, job)?;
        ensure!(line["what"] == "detach succeeded", "{line}");
        let by = line["confirmed_by"].as_array().context("witnesses")?;
        ensure!(by.contains(&json!("usage_event")), "{line}");
    }
    scene.attach("14:03:00", 521)?;
    scene.healthy().map(drop)
}

#[test]
fn e_a_guest_that_ignores_the_unplug_nothing_until_it_lets_go_late_and_then_a_missing_disk() -> Result<()> {
    let paper = paper("behe")?;
    paper.deafen("i-2-201-VM", "vdc");
    let mut scene = scene("behe", &paper)?;
    let job = scene.detach("14:00:00", 501)?;
    failed(&scene.run("14:00:01", "14:00:12", &job)?, NOT_IN_TIME)?;
    ensure!(scene.claim()? == Some(A), "the row was touched");
    // Row and guest still agree.
    let doc = scene.healthy()?;
    let line = end_of(&doc, 501)?;
    ensure!(
        line["what"] == "detach failed: the guest did not let go in time, and still may",
        "{line}"
    );

    paper.let_go("kvm1", "i-2-201-VM", "vdc")?;
    let finding = scene.found("missing-disk")?;
    ensure!(
        finding["claim"]["vm"] == "i-2-201-VM" && finding["holders"] == json!([]),
        "{finding:#}"
    );
    let doc = scene.explained()?;
    ensure!(doc["verdict"] == "missing-disk", "{doc:#}");
    for told in [&finding, &doc] {
        let all = offers(told);
        let (action, recommended, code, _) = all.first().context("an offer")?;
        ensure!(action == "release" && *recommended && code.is_empty(), "{all:?}");
    }
    says(&doc, "advice", "A detach from i-2-201-VM is on record")?;
    // Without that detach nobody says that it was wanted.
    scene.play.forget_jobs()?;
    let finding = scene.found("missing-disk")?;
    ensure!(
        offers(&finding).iter().all(|(action, ..)| action == "restart"),
        "{finding:#}"
    );
    Ok(())
}

#[test]
fn f_retried_after_the_late_unplug_the_row_is_right_and_nothing_is_found() -> Result<()> {
    let paper = paper("behf")?;
    paper.deafen("i-2-201-VM", "vdc");
    let mut scene = scene("behf", &paper)?;
    let (first, again) = (scene.detach("14:00:00", 501)?, scene.detach("14:01:00", 511)?);
    failed(&scene.run("14:00:01", "14:00:12", &first)?, NOT_IN_TIME)?;
    paper.let_go("kvm1", "i-2-201-VM", "vdc")?;
    done(&scene.run("14:01:01", "14:01:02", &again)?)?;
    ensure!(scene.claim()?.is_none(), "the row still names A");
    scene.nothing_found()?;
    let doc = scene.explained()?;
    ensure!(
        doc["verdict"] == "detached" && marked(&doc).is_empty() && doc["contradictions"] == json!([]),
        "{doc:#}"
    );
    let told = end_of(&doc, 501)?;
    ensure!(
        told["what"]
            .as_str()
            .is_some_and(|w| w.contains("did not let go in time")),
        "{told}"
    );
    ensure!(end_of(&doc, 511)?["what"] == "detach succeeded", "{doc:#}");
    Ok(())
}

#[test]
fn g_retried_while_the_unplug_is_under_way_it_is_told_as_just_that() -> Result<()> {
    let paper = paper("behg")?;
    paper.deafen("i-2-201-VM", "vdc");
    let mut scene = scene("behg", &paper)?;
    let (first, again) = (scene.detach("14:00:00", 501)?, scene.detach("14:00:05", 511)?);
    failed(&scene.run("14:00:01", "14:00:12", &first)?, NOT_IN_TIME)?;
    failed(
        &scene.run("14:00:13", "14:00:14", &again)?,
        "Device virtio-disk2 is already in the process of unplug",
    )?;
    ensure!(scene.claim()? == Some(A), "the row was touched");
    let doc = scene.healthy()?;
    let line = end_of(&doc, 511)?;
    ensure!(
        line["what"] == "detach failed: an unplug was already under way",
        "{line}"
    );
    Ok(())
}
