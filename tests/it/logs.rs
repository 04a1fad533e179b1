//! The readers of logs: occurrence 2 as its logs tell it.

mod hostile;
mod shapes;

use crate::golden::{check, repo};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::tz::TimeZone;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use volrecon::gather::logs::{Log, Source, Wanted, WantedVolume, read_agent, read_management};
use volrecon::model::{JobId, JobState, LogKind, LogMoment, LogWitness, VmId, VolumeId};

const VOLUME: &str = "e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15";
const WORKER1: &str = "0b6ad3f1-2f0c-4c51-8a54-1f5d7f3a0201";

fn wanted() -> Wanted {
    Wanted {
        volumes: vec![WantedVolume {
            id: Some(VolumeId(20_102)),
            uuid: Some(VOLUME.to_owned()),
            paths: vec![VOLUME.to_owned()],
            name: Some("pvc-e949a8c4".to_owned()),
        }],
        ..Wanted::default()
    }
}

fn berlin() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

fn fixture(name: &str) -> PathBuf {
    repo("tests/logs").join(name)
}

fn bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader(name, Cursor::new(bytes.into()))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// One line a moment.
fn told(log: &Log) -> String {
    let mut out = String::new();
    for moment in &log.moments {
        let LogMoment {
            time,
            ambiguous,
            out_of_order,
            witness,
            server,
            record,
            log_id,
            job,
            work_job,
            vm,
            volume,
            target,
            kind,
            text,
        } = moment;
        assert_eq!((*ambiguous, *out_of_order), (false, false));
        let witness = match witness {
            LogWitness::Management => "management".to_owned(),
            LogWitness::Agent(host) => format!("agent of {host}"),
        };
        let file = Path::new(server)
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let id = |id: &Option<JobId>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let vm = vm.clone().unwrap_or_default();
        let vm = [vm.id.map(|id| id.to_string()), vm.instance, vm.uuid]
            .map(|v| v.unwrap_or_else(|| "-".to_owned()));
        out.push_str(&format!(
            "{time} {kind:?}\n    {witness}, {file}:{record}; log id {}, job {}/{}; VM {}; volume {}\n",
            log_id.as_deref().unwrap_or("-"),
            id(job),
            id(work_job),
            vm.join(" "),
            volume.as_deref().unwrap_or("-"),
        ));
        if let Some(target) = target {
            out.push_str(&format!("    target {target}\n"));
        }
        if !text.is_empty() {
            out.push_str(&format!("    {text}\n"));
        }
    }
    out
}

fn newer() -> Log {
    // Two servers and an agent, whatever the order.
    let sources = ["4.22/ms2.log", "4.22/ms1.log"].map(|name| Source::path(fixture(name)));
    let mut log = read_management(&sources, &wanted(), &berlin()).unwrap();
    let agent = [Source::path(fixture("4.22/agent-kvm1.log"))];
    let agent = read_agent("kvm1", &agent, &log.wanted, &berlin()).unwrap();
    log.join(agent);
    log
}

fn older() -> Log {
    let sources = [Source::path(fixture("4.19/management.log"))];
    read_management(&sources, &wanted(), &TimeZone::UTC).unwrap()
}

/// The report's table: time to the second, API job, and what it is.
fn seven(log: &Log) {
    let has = |time: &str, job: u64, what: &dyn Fn(&LogMoment) -> bool| {
        let at =
            |m: &&LogMoment| m.time.to_string().starts_with(time) && m.job == Some(JobId(job)) && what(m);
        assert!(
            log.moments.iter().any(|m| at(&m)),
            "{time} job-{job} in\n{}",
            told(log)
        );
    };
    let submitted =
        |m: &LogMoment| matches!(&m.kind, LogKind::Submitted { command } if command == "DetachVolumeCmd");
    has("2026-09-08T14:34:56", 210_187, &submitted);
    has("2026-09-08T14:35:56", 210_205, &submitted);
    has("2026-09-08T14:36:57", 210_223, &submitted);
    has("2026-09-08T14:37:57", 210_235, &submitted);
    let succeeded = |m: &LogMoment| {
        m.kind
            == LogKind::Completed {
                status: JobState::Succeeded,
            }
            && m.volume.as_deref() == Some(VOLUME)
    };
    has("2026-09-08T14:38:51", 210_187, &succeeded);
    has("2026-09-08T14:40:19", 210_247, &succeeded);
    has("2026-09-08T14:42:40", 210_235, &succeeded);
    has("2026-09-08T14:40:19", 210_247, &|m| m.kind == LogKind::Attached);
    has("2026-09-08T14:42:40", 210_235, &|m| {
        let done = LogKind::WorkDone {
            command: "VmWorkDetachVolume".to_owned(),
            vm: VmId(201),
        };
        m.kind == done && m.work_job == Some(JobId(210_236))
    });
    has("2026-09-08T14:43:04", 210_253, &|m| {
        m.kind
            == LogKind::Completed {
                status: JobState::Failed,
            }
            && m.target.as_deref() == Some("vdc")
    });
}

#[test]
fn occurrence_2_of_4_22_by_two_servers_and_an_agent() {
    let log = newer();
    seven(&log);
    check("tests/logs/4.22/told.txt", &told(&log));
    assert!(
        log.seen
            .iter()
            .all(|s| s.broken.is_none() && s.cut == 0 && s.stray == 0 && !s.once)
    );
    assert!(log.wanted.jobs.contains(&JobId(210_247)));
    // A collision is of another volume's job, and teaches nothing.
    assert!(!log.wanted.jobs.contains(&JobId(210_253)));
}

#[test]
fn occurrence_2_of_4_19() {
    let log = older();
    seven(&log);
    check("tests/logs/4.19/told.txt", &told(&log));
}

/// The one line of an agent that found no disk, and called it detached.
fn set_detached(log: &Log) -> &LogMoment {
    let mut all = log
        .moments
        .iter()
        .filter(|m| m.kind == LogKind::NotFoundSetDetached);
    let first = all.next().unwrap();
    assert_eq!(all.next(), None);
    first
}

#[test]
fn the_agents_line_proves_the_straggler_and_names_its_job() {
    let log = newer();
    let print = set_detached(&log);
    assert_eq!(print.job, Some(JobId(210_235)));
    assert_eq!(print.log_id.as_deref(), Some("7d3a0235"));
    assert_eq!(print.witness, LogWitness::Agent("kvm1".to_owned()));
    assert_eq!(print.volume.as_deref(), Some(VOLUME));
    assert_eq!(print.vm.as_ref().and_then(|vm| vm.uuid.as_deref()), Some(WORKER1));
}

#[test]
fn an_agents_log_alone_says_the_same_without_the_jobs_number() {
    let sources = [Source::path(fixture("4.22/agent-kvm1.log"))];
    let log = read_agent("kvm1", &sources, &wanted(), &berlin()).unwrap();
    let print = set_detached(&log);
    assert_eq!((print.job, print.log_id.as_deref()), (None, Some("7d3a0235")));
    let dead = log
        .moments
        .iter()
        .filter(|m| m.kind == LogKind::NullPointer)
        .count();
    assert_eq!(dead, 2, "{}", told(&log));
}

#[test]
fn the_order_and_the_packing_of_a_rotated_set_change_nothing() {
    let whole = std::fs::read(fixture("4.19/management.log")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').collect();
    let (old, new) = lines.split_at(lines.len() / 2);
    let path = dir.path().join("management-server.log");
    let packed = dir.path().join("management-server.log.2026-09-08.gz");
    std::fs::write(&path, new.concat()).unwrap();
    std::fs::write(&packed, gzip(&old.concat())).unwrap();
    let plain = |log: &Log| -> Vec<_> {
        let all = log.moments.iter();
        all.map(|m| {
            (
                m.time,
                m.job,
                m.work_job,
                m.kind.clone(),
                m.volume.clone(),
                m.vm.clone(),
            )
        })
        .collect()
    };
    let expected = plain(&older());
    for order in [[&path, &packed], [&packed, &path]] {
        let sources = order.map(Source::path);
        let log = read_management(&sources, &wanted(), &TimeZone::UTC).unwrap();
        assert_eq!(plain(&log), expected);
    }
    // The same file by two names is one.
    let twice = [&path, &packed, &path].map(Source::path);
    assert_eq!(
        plain(&read_management(&twice, &wanted(), &TimeZone::UTC).unwrap()),
        expected
    );
    // One after the other through a pipe.
    let pipe = bytes("-", [gzip(&old.concat()), gzip(&new.concat())].concat());
    assert_eq!(
        plain(&read_management(&[pipe], &wanted(), &TimeZone::UTC).unwrap()),
        expected
    );
}

#[test]
fn no_secret_and_no_raw_line_is_kept() {
    for log in [newer(), older()] {
        let all = serde_json::to_string(&log.moments).unwrap();
        for secret in ["not-a-key", "bm90IGEgc2lnbmF0dXJl", "apiKey", "cmdInfo"] {
            assert!(!all.contains(secret), "{secret}");
        }
    }
}

/// A line of a wanted job's thread.
fn thread(message: &str) -> Vec<u8> {
    format!("2026-09-08 14:42:40,000 INFO  [c.c.s.X] (API-Job-Executor-1:[ctx-1, job-5, ctx-2]) (logid:aaaa0005) {message}\n")
        .into_bytes()
}
