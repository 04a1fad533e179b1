//! The real binary, run on a lab: what it must find after a story, word for word.

use super::lab::occurrences::Expected;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

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
