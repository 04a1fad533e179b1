//! A straggler that still waits: warned of before anything is broken, and no repair of its volume until it has run.

use super::{A, at, offers, scene};
use crate::explain::{marked, says};
use crate::jobs::{VOLUME, done, paper};
use crate::lab::replay::End;
use crate::lab::staging::{disk, format_of, instance};
use crate::lab::world::Hands;
use crate::scanning::{scan, volrecon};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

fn queue(config: &Path) -> Result<(Value, Option<i32>)> {
    let out = volrecon(config, &["jobs", "-o", "json"]);
    Ok((serde_json::from_slice(&out.stdout)?, out.status.code()))
}

fn of_class(doc: &Value, class: &str) -> Result<Value> {
    let all = doc["findings"].as_array().context("findings")?;
    let found = all.iter().find(|f| f["class"] == class);
    Ok(found.with_context(|| format!("{class}: {all:#?}"))?.clone())
}

/// Every repair that this has is withheld for that job, by its number.
fn held_back(told: &Value, job: u64) -> Result<()> {
    let all = offers(told);
    ensure!(!all.is_empty(), "{told:#}");
    for (action, recommended, code, why) in all {
        ensure!(
            !recommended && code == "no-jobs" && why.contains(&format!("job-{job}")),
            "{action} [{code}]: {why}"
        );
    }
    Ok(())
}

#[test]
fn a_queued_straggler_is_warned_of_and_holds_back_every_repair_until_it_has_run() -> Result<()> {
    let paper = paper("behp")?;
    let mut scene = scene("behp", &paper)?;
    let (first, late, last) = (
        scene.detach("14:00:00", 501)?,
        scene.detach("14:01:00", 511)?,
        scene.detach("14:02:00", 531)?,
    );
    done(&scene.run("14:00:01", "14:02:30", &first)?)?;
    scene.attach("14:03:00", 521)?;

    // Row and guest agree: nothing is broken, and all three warn, naming the job that will run first.
    let (doc, exit) = scan(&scene.config, &[]);
    let (jobs, jobs_exit) = queue(&scene.config)?;
    ensure!(exit == 1 && jobs_exit == Some(1), "{exit} {jobs_exit:?}");
    ensure!(doc["findings"].as_array().map(Vec::len) == Some(1), "{doc:#}");
    let explained = scene.explained()?;
    ensure!(explained["verdict"] == "pending-straggler", "{explained:#}");
    for told in [
        &of_class(&doc, "pending-straggler")?,
        &jobs["stragglers"][0],
        &explained["finding"],
    ] {
        ensure!(
            told["class"] == "pending-straggler" && told["cause"]["job"] == 511,
            "{told:#}"
        );
        ensure!(told["remedies"] == json!([]), "{told:#}");
        ensure!(told["claim"]["vm"] == "i-2-207-VM", "{told:#}");
        says(told, "advice", "Wait for job-511")?;
    }
    for told in [&jobs["jobs"][0], &explained["pending"][0]] {
        ensure!(told["job"] == 511 && told["state"] == "waiting", "{told:#}");
        says(
            told,
            "outlook",
            "the row is cleared: the disk stays in i-2-207-VM",
        )?;
        says(
            told,
            "protect",
            "nothing cancels job-511 from outside: wait until it has run",
        )?;
    }
    ensure!(
        explained["remedies"] == json!([]) && marked(&explained).is_empty(),
        "{explained:#}"
    );
    // It waits, and nobody says that it runs.
    let flux = doc["in_flux"][0]["why"].as_str().context("why")?;
    ensure!(flux == "job-511 (DetachVolumeCmd) waits", "{flux}");

    // What is found of the volume meanwhile has repairs, and each waits for that job.
    let format = format_of(&scene.play);
    let disk = disk(&mut scene.play, VOLUME, 2, format)?;
    paper.attach("kvm1", &instance(A), &disk)?;
    let (doc, _) = scan(&scene.config, &[]);
    held_back(&of_class(&doc, "double-open")?, 511)?;
    held_back(&scene.explained()?, 511)?;
    paper.detach("kvm1", &instance(A), "vdc")?;

    // It runs and does what was said. The next one still waits: an orphan, and not a repair on offer.
    scene.play.begin(&at("14:05:00"), &late)?;
    let (doc, _) = scan(&scene.config, &[]);
    let flux = doc["in_flux"][0]["why"].as_str().context("why")?;
    ensure!(flux == "job-511 (DetachVolumeCmd) runs", "{flux}");
    done(&scene.play.end(&at("14:05:02"), &late)?)?;
    ensure!(scene.claim()?.is_none(), "the row was not cleared");
    let (doc, exit) = scan(&scene.config, &[]);
    let told = of_class(&doc, "pending-straggler")?;
    ensure!(
        exit == 1 && told["cause"]["job"] == 531 && told["remedies"] == json!([]),
        "{told:#}"
    );
    says(&told, "advice", "Wait for job-531")?;
    ensure!(
        doc["in_flux"][0]["why"] == "job-531 (DetachVolumeCmd) waits",
        "{doc:#}"
    );

    // The row is free now, so that it dies; and the finding follows, with its repair.
    let end = scene.run("14:05:03", "14:05:05", &last)?;
    ensure!(matches!(end, End::Failed(_)), "{end:?}");
    let finding = scene.found("straggler-detach")?;
    ensure!(
        finding["cause"]["job"] == 511 && finding["confidence"] == "proven",
        "{finding:#}"
    );
    let all = offers(&finding);
    let (action, recommended, code, _) = all.first().context("an offer")?;
    ensure!(action == "adopt" && *recommended && code.is_empty(), "{all:?}");
    let (jobs, exit) = queue(&scene.config)?;
    ensure!(exit == Some(0) && jobs["stragglers"] == json!([]), "{jobs:#}");
    Ok(())
}
