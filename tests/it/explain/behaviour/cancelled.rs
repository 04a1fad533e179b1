//! Row h: a job that was cancelled as blocking others, and whose thread acts later.

use super::{A, Scene, at, end_of, offers, scene};
use crate::explain::{document, marked, says};
use crate::jobs::{done, paper};
use crate::lab::late::BLOCKING;
use crate::lab::staging::data;
use crate::lab::testhost::Paper;
use anyhow::{Context, Result, ensure};

#[test]
fn h_cancelled_as_blocking_others_its_thread_may_act_and_repairs_wait_for_it() -> Result<()> {
    let paper = paper("behh")?;
    let mut scene = scene("behh", &paper)?;
    // An orphan of the same VM, of which nothing else is wrong.
    let spare = 20_190;
    data(&mut scene.play, spare, "pvc-spare", None)?;
    let lost = scene
        .play
        .ask_attach(&at("11:00:00"), (401, 402), spare, A, None)?;
    scene.play.begin(&at("11:00:01"), &lost)?;
    scene.play.end_attach_unheard(&at("11:01:00"), &lost)?;
    let orphan = scene.found("lost-attach")?;
    ensure!(offers(&orphan)[0].2.is_empty(), "it can be adopted: {orphan:#}");

    let stuck = scene.detach("12:00:00", 501)?;
    scene.play.begin(&at("12:00:01"), &stuck)?;
    ensure!(
        scene.play.cancel(&at("12:30:00"), &stuck).is_err(),
        "cancelled too soon"
    );
    scene.play.cancel(&at("13:01:10"), &stuck)?;
    let result: String = scene
        .play
        .cloud
        .one("SELECT job_result FROM async_job WHERE id = 502", ())?;
    ensure!(result == BLOCKING, "{result}");

    // Nothing that is new is found, but every repair of the orphan waits, and names the job that it waits for.
    let orphan = scene.found("lost-attach")?;
    for (action, recommended, code, why) in offers(&orphan) {
        ensure!(code == "no-jobs" && !recommended, "{action}: {orphan:#}");
        ensure!(
            why.contains("job-501") && why.contains("was cancelled as blocking others and may still act"),
            "{why}"
        );
    }
    ensure!(offers(&orphan).len() == 3, "{orphan:#}");
    let doc = scene.explained()?;
    ensure!(doc["verdict"] == "ok" && marked(&doc).is_empty(), "{doc:#}");
    let line = end_of(&doc, 501)?;
    ensure!(
        line["what"] == "detach cancelled as blocking others; its thread may have gone on",
        "{line}"
    );
    let spare = document(&scene.config, &["pvc-spare"])?;
    for doc in [&doc, &spare] {
        says(doc, "unknown", "its thread was not stopped")?;
        let unknown = doc["unknown"].as_array().context("unknown")?;
        let named = unknown.iter().filter(|one| one.to_string().contains("job-501"));
        ensure!(named.count() == 1, "one job is one line: {unknown:#?}");
    }
    Ok(())
}

/// A detach of A's that was cancelled, another one that succeeded, and the volume at B since 13:05:09; then the thread acts.
fn after_the_thread_acted<'h>(name: &str, hands: &'h Paper) -> Result<Scene<'h>> {
    let mut scene = scene(name, hands)?;
    let stuck = scene.detach("12:00:00", 501)?;
    scene.play.begin(&at("12:00:01"), &stuck)?;
    scene.play.cancel(&at("13:01:10"), &stuck)?;
    let again = scene.detach("13:02:00", 511)?;
    done(&scene.run("13:02:01", "13:02:09", &again)?)?;
    scene.attach("13:05:00", 521)?;
    scene.nothing_found()?;
    done(&scene.play.thread_goes_on(&at("13:20:00"), &stuck)?)?;
    ensure!(scene.claim()?.is_none(), "the row was not cleared");
    Ok(scene)
}

#[test]
fn h_once_its_thread_acted_the_finding_follows_and_says_that_it_may_have_cleared_it() -> Result<()> {
    for (name, gone, when) in [
        ("behh2", None, "13:20:00"),
        // No usage is counted: the row's own time is what is left.
        ("behh3", Some("DELETE FROM usage_event"), "13:20:00"),
    ] {
        let paper = paper(name)?;
        let mut scene = after_the_thread_acted(name, &paper)?;
        if let Some(sql) = gone {
            scene.play.cloud.exec(sql, ())?;
        }
        let finding = scene.found("straggler-detach")?;
        ensure!(
            finding["confidence"] == "likely" && finding["cause"]["job"] == 501,
            "{name}: {finding:#}"
        );
        let doc = scene.explained()?;
        ensure!(
            marked(&doc) == [(501, "may have cleared it".to_owned())],
            "{name}: {doc:#}"
        );
        for words in [
            "job-501",
            "meant for i-2-201-VM",
            "cancelled as blocking others",
            "may have cleared",
            &format!("2026-09-08T{when}Z"),
        ] {
            says(&doc, "summary", words)?;
        }
        says(&doc, "unknown", "its thread was not stopped")?;
        for (action, _, code, why) in offers(&finding) {
            ensure!(code == "no-jobs" && why.contains("job-501"), "{action}: {why}");
        }
    }
    Ok(())
}
