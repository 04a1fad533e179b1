//! The four occurrences of the report, played on libvirt's test driver, scanned with the real binary: exactly the one
//! right finding, with its holder, its job and its blocks. With the completion that the report asks for, nothing.
//!
//! The same stories on real libvirt and booted guests are in `lab_real.rs`.

use super::lab::occurrences::{self, Expected, Story, Telling};
use super::lab::testhost::{self, Paper};
use super::lab::world::Hands;
use super::lab::{Db, Shape, base};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

type Tell = for<'h> fn(&Db, &'h dyn Hands, Telling) -> anyhow::Result<Story<'h>>;

const HOSTS: [&str; 3] = ["kvm1", "kvm2", "kvm3"];

/// Runs `volrecon` with a configuration.
pub fn volrecon(config: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_volrecon"))
        .args(args)
        .arg("--config")
        .arg(config)
        .output()
        .expect("the binary runs")
}

/// The scan's document and exit code. Nothing may be said on stderr.
pub fn scan(config: &Path, args: &[&str]) -> (Value, i32) {
    let out = volrecon(config, &[&["scan", "-o", "json"], args].concat());
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.is_empty(), "stderr: {stderr}");
    let document = serde_json::from_slice(&out.stdout).expect("a JSON document");
    (document, out.status.code().expect("an exit code"))
}

/// A story on paper, and the configuration that leads to it.
fn paper(name: &str) -> (Db, Paper, PathBuf) {
    let base = base().expect("the lab's database");
    let db = base
        .maria
        .schema(&format!("occ_{name}"), Shape::V4_22)
        .expect("a schema");
    let dir = base.session.path(format!("occ-{name}"));
    let paper = Paper::new(&dir, &HOSTS).expect("hosts");
    let config = dir.join("volrecon.toml");
    testhost::config(&config, &db, &paper.uris()).expect("a configuration");
    (db, paper, config)
}

/// What must be found, word for word.
pub fn check(document: &Value, expected: &Expected) {
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "exactly one finding: {findings:#?}");
    let finding = &findings[0];
    assert_eq!(finding["class"], expected.class);
    assert_eq!(finding["volume"]["uuid"], expected.volume_uuid.as_str());
    let holders: Vec<(String, String, String, u64)> = finding["holders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| {
            let text = |key: &str| h[key].as_str().unwrap().to_owned();
            (
                text("domain"),
                text("host"),
                text("target"),
                h["device_id"].as_u64().unwrap(),
            )
        })
        .collect();
    let told: Vec<(String, String, String, u64)> = expected
        .holders
        .iter()
        .map(|h| {
            (
                h.instance.clone(),
                h.host.to_owned(),
                h.target.to_owned(),
                h.device,
            )
        })
        .collect();
    assert_eq!(holders, told);
    let blocks = finding["blocks"].as_array().unwrap();
    match &expected.blocks {
        Some((vm, slot, target)) => {
            assert_eq!(blocks.len(), 1, "{blocks:?}");
            assert_eq!(blocks[0]["vm"], vm.as_str());
            assert_eq!(blocks[0]["device_id"], *slot);
            assert_eq!(blocks[0]["target"], *target);
            assert_eq!(blocks[0]["by"], "volume");
        }
        None => assert!(blocks.is_empty(), "{blocks:?}"),
    }
    if let Some(job) = expected.job {
        assert_eq!(finding["cause"]["job"], job);
        assert_eq!(finding["cause"]["work_job"], job + 1);
        assert_eq!(finding["confidence"], "proven");
    }
    assert!(
        finding["remedies"]
            .as_array()
            .unwrap()
            .iter()
            .all(|o| { o["remedy"] != "detach" || (o["recommended"] == false && o["withheld"].is_string()) })
    );
}

fn shipped(name: &str, tell: Tell) -> Value {
    let (db, paper, config) = paper(name);
    let story = tell(&db, &paper, Telling::AS_SHIPPED).expect("the story");
    let (document, exit) = scan(&config, &[]);
    check(&document, story.expected.as_ref().expect("something to find"));
    assert_eq!((exit, &document["complete"]), (1, &Value::Bool(true)));
    document
}

fn compared(name: &str, tell: Tell) {
    let (db, paper, config) = paper(name);
    let mut story = tell(&db, &paper, Telling::COMPARED).expect("the story");
    let (vm, device) = story.claim().expect("the row");
    assert_eq!(vm, Some(story.vm), "the newer attachment remains");
    assert!(device.is_some());
    let (document, exit) = scan(&config, &[]);
    assert_eq!(document["findings"], serde_json::json!([]));
    assert_eq!(exit, 0, "{document:#}");
}

#[test]
fn occurrence_1_a_straggler_clears_worker7() {
    let document = shipped("1", occurrences::first);
    assert_eq!(document["findings"][0]["remedies"][0]["action"], "adopt");
    assert_eq!(document["findings"][0]["remedies"][0]["recommended"], true);
}

#[test]
fn occurrence_2_job_210235_clears_what_job_210247_attached() {
    let document = shipped("2", occurrences::second);
    let summary = document["findings"][0]["cause"]["summary"].as_str().unwrap();
    assert!(
        summary.contains("job-210235") && summary.contains("job-210247"),
        "{summary}"
    );
    assert!(summary.contains("2 min 21 s"), "{summary}");
}

#[test]
fn occurrence_3_a_consumer_runs_on_while_the_row_says_detached() {
    shipped("3", occurrences::third);
}

#[test]
fn occurrence_4_a_lost_attach_whose_history_is_gone() {
    let document = shipped("4", occurrences::fourth);
    assert_eq!(document["findings"][0]["confidence"], "unproven");
    assert_eq!(document["findings"][0]["cause"]["job"], Value::Null);
}

#[test]
fn occurrence_4_ends_in_a_double_open() {
    let document = shipped("4d", occurrences::fourth_double);
    assert_eq!(document["findings"][0]["severity"], "critical");
    assert!(
        document["findings"][0]["remedies"]
            .as_array()
            .unwrap()
            .iter()
            .all(|o| o["remedy"] != "database")
    );
}

#[test]
fn a_completion_that_compares_leaves_nothing_of_occurrence_1() {
    compared("1c", occurrences::first);
}

#[test]
fn a_completion_that_compares_leaves_nothing_of_occurrence_2() {
    compared("2c", occurrences::second);
}

#[test]
fn a_completion_that_compares_leaves_nothing_of_occurrence_3() {
    compared("3c", occurrences::third);
}

#[test]
fn one_host_leads_to_the_others_only_where_a_suspect_needs_it() {
    let (db, paper, config) = paper("2h");
    let story = occurrences::second(&db, &paper, Telling::AS_SHIPPED).expect("the story");
    let (document, exit) = scan(&config, &["--host", "kvm2"]);
    check(&document, story.expected.as_ref().unwrap());
    assert_eq!(exit, 1);
    let (document, exit) = scan(&config, &["--host", "kvm1"]);
    assert_eq!(document["findings"], serde_json::json!([]), "worker1 is well");
    assert_eq!(exit, 0);
    let statuses: Vec<&str> = document["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["seen", "not-asked", "not-asked"]);
    assert_eq!(
        document["not_ruled_out"][0]["hosts"],
        serde_json::json!(["kvm2", "kvm3"])
    );
}
