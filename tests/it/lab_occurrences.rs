//! The four occurrences leave rows and live XML in the state that the report tells, on paper and on real hosts, and the
//! real binary gives exactly the one right finding. With a completion that compares, the newer attachment remains, and
//! there is nothing to find.

use anyhow::{Context, Result, ensure};

use crate::lab::maria::Db;
use crate::lab::occurrences::{Story, Telling, VOLUME_2, first, fourth, fourth_double, second, third};
use crate::lab::real::{Real, Storage};
use crate::lab::staging::instance;
use crate::lab::testhost::{self, Paper};
use crate::lab::world::{Hands, live_disks};
use crate::lab::{Shape, base, shared, turn};
use crate::scanning::{check, scan};
use serde_json::{Value, json};

type Tell = for<'h> fn(&Db, &'h dyn Hands, Telling) -> Result<Story<'h>>;

type Uris = Vec<(String, String)>;

/// Plays a story, holds it to what it says itself, and scans it. Gives the scan's document.
fn hold(schema: &str, hands: &dyn Hands, uris: &Uris, tell: Tell, how: Telling) -> Result<Value> {
    let db = base()?.maria.schema(schema, Shape::V4_22)?;
    let mut story = tell(&db, hands, how)?;
    let claim = story.claim()?;
    match story.expected.clone() {
        Some(expected) => {
            let claimed = if expected.class == "double-open" {
                (Some(409), Some(1))
            } else {
                (None, None)
            };
            ensure!(claim == claimed, "the row says {claim:?}");
            for holder in &expected.holders {
                let live = live_disks(&hands.xml(holder.host, &holder.instance)?)?;
                let held = live
                    .iter()
                    .find(|(t, _)| t == holder.target)
                    .with_context(|| format!("{holder:?} holds nothing"))?;
                let path: String = story
                    .play
                    .cloud
                    .one("SELECT path FROM volumes WHERE id = ?", (expected.volume,))?;
                ensure!(held.1.ends_with(&path), "{holder:?} holds {held:?}");
            }
            if expected.class != "double-open" {
                let next = story.play.next_device(story.vm)?;
                ensure!(
                    expected.blocks.as_ref().map(|b| b.1) == Some(next),
                    "the next attach gets {next}"
                );
            }
            let mark = format!(
                "target '{}' duplicated for disk sources",
                expected.holders[0].target
            );
            ensure!(
                story.refusals.iter().all(|why| why.contains(&mark)),
                "{:?}",
                story.refusals
            );
        }
        None => {
            ensure!(
                claim.0 == Some(story.vm) && claim.1.is_some(),
                "the newer attachment is gone: {claim:?}"
            );
            ensure!(story.refusals.is_empty(), "{:?}", story.refusals);
        }
    }
    let config = base()?.session.path(format!("{schema}.toml"));
    testhost::config(&config, &db, uris)?;
    let (document, exit) = scan(&config, &[]);
    match &story.expected {
        Some(expected) => {
            check(&document, expected);
            ensure!(exit == 1, "the scan left with {exit}");
        }
        None => {
            ensure!(document["findings"] == json!([]), "{document:#}");
            ensure!(exit == 0, "the scan left with {exit}: {document:#}");
        }
    }
    ensure!(document["complete"] == true, "{document:#}");
    Ok(document)
}

fn on_paper(name: &str, tell: Tell, how: Telling) -> Result<Value> {
    let paper = Paper::new(&base()?.session.path(name), &["kvm1", "kvm2", "kvm3"])?;
    let uris = paper.uris();
    hold(name, &paper, &uris, tell, how)
}

fn on_hosts(name: &str, storage: Storage, tell: Tell, how: Telling) -> Result<()> {
    let (_turn, lab) = (turn(), shared()?);
    hold(name, &Real::new(lab, storage), &lab.hosts.uris(), tell, how).map(drop)
}

#[test]
fn each_occurrence_as_shipped_on_paper() -> Result<()> {
    let all: [(&str, Tell); 5] = [
        ("p1", first),
        ("p2", second),
        ("p3", third),
        ("p4", fourth),
        ("p4d", fourth_double),
    ];
    all.iter().try_for_each(|(name, tell)| {
        on_paper(name, *tell, Telling::AS_SHIPPED)
            .map(drop)
            .with_context(|| (*name).to_owned())
    })
}

#[test]
fn a_completion_that_compares_leaves_nothing_to_find_on_paper() -> Result<()> {
    let all: [(&str, Tell); 3] = [("c1", first), ("c2", second), ("c3", third)];
    all.iter().try_for_each(|(name, tell)| {
        on_paper(name, *tell, Telling::COMPARED)
            .map(drop)
            .with_context(|| (*name).to_owned())
    })
}

#[test]
fn occurrence_1_on_real_hosts_with_files() -> Result<()> {
    on_hosts("r1", Storage::SharedMountPoint, first, Telling::AS_SHIPPED)
}

#[test]
fn occurrence_2_on_real_hosts_with_rbd() -> Result<()> {
    on_hosts("r2", Storage::Rbd, second, Telling::AS_SHIPPED)
}

#[test]
fn occurrence_2_compared_on_real_hosts_with_rbd() -> Result<()> {
    on_hosts("r2c", Storage::Rbd, second, Telling::COMPARED)
}

#[test]
fn occurrence_3_on_real_hosts_with_files() -> Result<()> {
    on_hosts("r3", Storage::SharedMountPoint, third, Telling::AS_SHIPPED)
}

#[test]
fn occurrence_4_ends_with_one_rbd_image_open_in_two_real_guests() -> Result<()> {
    let (_turn, lab) = (turn(), shared()?);
    let real = Real::new(lab, Storage::Rbd);
    hold(
        "r4d",
        &real,
        &lab.hosts.uris(),
        fourth_double,
        Telling::AS_SHIPPED,
    )?;
    let mut watchers = lab.ceph()?.watchers(crate::lab::occurrences::VOLUME_4)?;
    watchers.sort();
    ensure!(watchers == ["10.99.0.12", "10.99.0.13"], "{watchers:?}");
    Ok(())
}

#[test]
fn occurrence_2_has_the_reports_jobs_times_and_texts_in_its_rows() -> Result<()> {
    let paper = Paper::new(&base()?.session.path("rows2"), &["kvm1", "kvm2", "kvm3"])?;
    let db = base()?.maria.schema("rows2", Shape::V4_22)?;
    let mut story = second(&db, &paper, Telling::AS_SHIPPED)?;
    let cloud = &mut story.play.cloud;
    let sql = "SELECT a.job_status, DATE_FORMAT(a.last_updated, '%Y-%m-%d %H:%i:%s'), w.vm_instance_id, b.related, a.instance_id, \
               a.removed IS NOT NULL FROM async_job a JOIN async_job b ON b.related = CAST(a.id AS CHAR) JOIN vm_work_job w ON w.id = b.id \
               WHERE a.id = ?";
    let rows: [(u64, u64, &str, u64); 3] = [
        (210_187, 1, "2026-09-08 14:38:51", 201),
        (210_247, 1, "2026-09-08 14:40:19", 207),
        (210_235, 1, "2026-09-08 14:42:40", 201),
    ];
    for (id, status, at, vm) in rows {
        let row: (u64, String, u64, String, u64, u64) = cloud.one(sql, (id,))?;
        ensure!(
            row == (status, at.to_owned(), vm, id.to_string(), 20_102, 1),
            "job-{id}: {row:?}"
        );
    }
    let failed: Vec<u64> = cloud.all(
        "SELECT id FROM async_job WHERE job_status = 2 AND related = '' ORDER BY id",
        (),
    )?;
    ensure!(
        failed == [210_205, 210_223, 210_253, 210_259, 210_265, 210_268, 210_277],
        "{failed:?}"
    );
    let event =
        "SELECT COUNT(*) FROM event WHERE type = 'VOLUME.DETACH' AND state = 'Completed' AND level = 'INFO'";
    ensure!(cloud.one::<u64>(event, ())? == 2, "two good detaches on record");
    ensure!(
        cloud.one::<u64>("SELECT COUNT(*) FROM sync_queue_item", ())? == 0,
        "the queues are empty"
    );
    ensure!(
        cloud.one::<u64>(
            "SELECT COUNT(*) FROM volumes WHERE uuid = ? AND attached IS NULL",
            (VOLUME_2,)
        )? == 1,
        "cleared"
    );
    ensure!(
        story.live("kvm2", 207)?.len() == 3,
        "{} still has three disks",
        instance(207)
    );
    Ok(())
}

#[test]
fn occurrence_2_plays_on_the_older_tables_too() -> Result<()> {
    let paper = Paper::new(&base()?.session.path("old2"), &["kvm1", "kvm2", "kvm3"])?;
    let db = base()?.maria.schema("old2", Shape::V4_15)?;
    ensure!(
        second(&db, &paper, Telling::AS_SHIPPED)?.expected.is_some(),
        "it is told"
    );
    Ok(())
}

#[test]
fn occurrence_2_names_both_jobs_and_offers_to_adopt() -> Result<()> {
    let document = on_paper("says2", second, Telling::AS_SHIPPED)?;
    let finding = &document["findings"][0];
    let summary = finding["cause"]["summary"].as_str().context("a summary")?;
    for word in ["job-210235", "job-210247", "2 min 21 s"] {
        ensure!(summary.contains(word), "{summary}");
    }
    let first = &finding["remedies"][0];
    ensure!(
        first["action"] == "adopt" && first["recommended"] == true,
        "{first}"
    );
    Ok(())
}

#[test]
fn occurrence_4_has_only_events_left_and_names_no_job() -> Result<()> {
    let document = on_paper("says4", fourth, Telling::AS_SHIPPED)?;
    let finding = &document["findings"][0];
    ensure!(
        finding["confidence"] == "likely" && finding["cause"]["job"].is_null(),
        "{finding:#}"
    );
    Ok(())
}

#[test]
fn a_double_open_is_never_cured_by_a_row() -> Result<()> {
    let document = on_paper("says4d", fourth_double, Telling::AS_SHIPPED)?;
    let finding = &document["findings"][0];
    ensure!(finding["severity"] == "critical", "{finding:#}");
    let offers = finding["remedies"].as_array().context("remedies")?;
    ensure!(offers.iter().all(|o| o["remedy"] != "database"), "{offers:?}");
    Ok(())
}

#[test]
fn one_host_leads_to_the_others_only_where_a_suspect_needs_it() -> Result<()> {
    let paper = Paper::new(&base()?.session.path("host2"), &["kvm1", "kvm2", "kvm3"])?;
    let db = base()?.maria.schema("host2", Shape::V4_22)?;
    let story = second(&db, &paper, Telling::AS_SHIPPED)?;
    let config = base()?.session.path("host2.toml");
    testhost::config(&config, &db, &paper.uris())?;
    let (document, exit) = scan(&config, &["--host", "kvm2"]);
    check(&document, story.expected.as_ref().context("something to find")?);
    ensure!(exit == 1);
    let (document, exit) = scan(&config, &["--host", "kvm1"]);
    ensure!(
        document["findings"] == json!([]) && exit == 0,
        "worker1 is well: {document:#}"
    );
    let hosts = document["hosts"].as_array().context("hosts")?;
    let statuses: Vec<_> = hosts
        .iter()
        .map(|h| h["status"].as_str().unwrap_or_default())
        .collect();
    ensure!(statuses == ["seen", "not-asked", "not-asked"], "{statuses:?}");
    ensure!(
        document["not_ruled_out"][0]["hosts"] == json!(["kvm2", "kvm3"]),
        "{document:#}"
    );
    Ok(())
}
