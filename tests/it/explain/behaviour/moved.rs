//! Row i: a volume that was migrated alive between a detach's asking and its running.

use super::{A, at, failed, scene};
use crate::explain::document;
use crate::jobs::{VOLUME, done, paper};
use crate::lab::base;
use crate::lab::occurrences::VOLUME_2;
use crate::scanning::{scan, volrecon};
use anyhow::{Result, ensure};
use serde_json::{Value, json};

#[test]
fn i_a_volume_that_moved_alive_the_job_meets_the_old_row_and_the_disk_stays() -> Result<()> {
    for (name, scavenged) in [("behi1", false), ("behi2", true)] {
        let paper = paper(name)?;
        let mut scene = scene(name, &paper)?;
        let late = scene.detach("14:00:00", 501)?;
        scene.play.move_live(&at("14:05:00"), VOLUME, 20_199)?;
        // It waits for a row that nobody can be given any more: no straggler to be, for neither row.
        let (doc, _) = scan(&scene.config, &[]);
        ensure!(doc["findings"] == json!([]), "{doc:#}");
        let out = volrecon(&scene.config, &["jobs", "-o", "json"]);
        let queue: Value = serde_json::from_slice(&out.stdout)?;
        ensure!(
            out.status.code() == Some(0) && queue["jobs"][0]["straggler"] == false,
            "{queue:#}"
        );
        if scavenged {
            scene.play.scavenge(&at("14:06:00"), VOLUME)?;
            failed(&scene.run("14:07:00", "14:07:01", &late)?, "NullPointerException")?;
        } else {
            done(&scene.run("14:07:00", "14:07:01", &late)?)?;
        }
        let claim: (Option<u64>, Option<u64>) = scene
            .play
            .cloud
            .one("SELECT instance_id, device_id FROM volumes WHERE id = 20199", ())?;
        ensure!(claim == (Some(A), Some(2)), "the live row was touched: {claim:?}");
        let doc = scene.healthy()?;
        ensure!(doc["volume"]["id"] == 20_199, "{doc:#}");
        ensure!(
            doc["holders"][0]["domain"] == "i-2-201-VM",
            "the disk stays: {doc:#}"
        );
        // What is left of the old row has that uuid as its path: the uuid is the live row's all the same, offline, too.
        let file = base()?.session.path(format!("{name}.json")).display().to_string();
        let out = volrecon(&scene.config, &["scan", "--save", &file]);
        ensure!(out.status.code() == Some(0), "{out:?}");
        let offline = document(&scene.config, &["--evidence", &file, VOLUME_2])?;
        ensure!(offline["volume"]["id"] == 20_199, "{offline:#}");
    }
    Ok(())
}
