//! How fast logs are read: plain text in which nothing matters, a few lines that do, and gzip.
//!
//! `cargo bench --bench logs` writes 1 GiB of a made-up management log into a temporary directory, reads it and says MB/s
//! on one core and the peak memory of this process. `LOG_MIB` sets another size.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that fails says so by a panic, and prints its figures"
)]

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::tz::TimeZone;
#[path = "scan/made_up.rs"]
mod made_up;

use made_up::write;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use volrecon::gather::logs::{Log, Source, Wanted, WantedVolume, read_management};
use volrecon::model::{JobId, VolumeId};

const VOLUME: &str = "e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15";

/// User and system time of this process: what one core did, whatever else the machine does.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|l| l.starts_with("VmHWM"))
        .unwrap_or_default();
    line.trim_start_matches("VmHWM:").trim().to_owned()
}

fn run(what: &str, file: &Path, wanted: &Wanted) -> Log {
    let (begin, before) = (Instant::now(), cpu());
    let log = read_management(&[Source::path(file)], wanted, &TimeZone::UTC).unwrap();
    let (took, cpu) = (begin.elapsed().as_secs_f64(), (cpu() - before).as_secs_f64());
    let bytes: u64 = log.seen.iter().map(|s| s.bytes).sum();
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds.max(0.01);
    println!(
        "{what:<44} {:>5.0} MB/s of time, {:>5.0} MB/s of one core's work; {} records, {} moments; peak {}",
        rate(took),
        rate(cpu),
        log.seen[0].records,
        log.moments.len(),
        peak()
    );
    log
}

fn main() {
    let mib = std::env::var("LOG_MIB")
        .ok()
        .and_then(|m| m.parse().ok())
        .unwrap_or(1024);
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("management-server.log");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&plain).unwrap());
    let bytes = write(&mut out, mib).unwrap();
    out.flush().unwrap();
    println!(
        "{bytes} bytes of a made-up management log; peak {} before it is read",
        peak()
    );

    let volume = WantedVolume {
        id: Some(VolumeId(99_999_999_999)),
        uuid: Some(VOLUME.to_owned()),
        paths: vec![VOLUME.to_owned(), format!("cloudstack/{VOLUME}")],
        name: Some("pvc-e949a8c4".to_owned()),
    };
    let mut wanted = Wanted {
        volumes: vec![volume],
        ..Wanted::default()
    };
    run("a volume by its names, no line matches", &plain, &wanted);
    wanted.jobs = (0..64).map(|n| JobId(900_000_000_000 + n)).collect();
    wanted.log_ids = BTreeSet::from([1, 2, 3]);
    run("and 64 jobs and 3 log ids, no line matches", &plain, &wanted);
    wanted.jobs.extend((0..5000).map(|n| JobId(n * 7)));
    run("and 5,000 jobs that match and teach", &plain, &wanted);

    let packed = dir.path().join("management-server.log.gz");
    let mut gzip = GzEncoder::new(
        BufWriter::new(File::create(&packed).unwrap()),
        Compression::fast(),
    );
    write(&mut gzip, mib / 4).unwrap();
    gzip.finish().unwrap().flush().unwrap();
    wanted.jobs.clear();
    run("gzip, no line matches", &packed, &wanted);
}
