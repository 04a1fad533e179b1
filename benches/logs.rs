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
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use volrecon::gather::logs::{Log, Source, Wanted, WantedVolume, read_management};
use volrecon::model::{JobId, VolumeId};

const VOLUME: &str = "e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15";

/// One line of traffic; the mix of lengths is a busy server's.
fn line(out: &mut dyn Write, n: u64) {
    let millis = n % 1000;
    let (s, m, h, d) = (
        n / 9000 % 60,
        n / 540_000 % 60,
        n / 32_400_000 % 24,
        1 + n / 777_600_000 % 28,
    );
    let stamp = format!("2026-09-{d:02} {h:02}:{m:02}:{s:02},{millis:03}");
    let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let log = (id >> 32) as u32;
    match n % 6 {
        0 => writeln!(out, "{stamp} DEBUG [c.c.a.ApiServlet] (qtp253011924-{}:[ctx-{log:08x}]) (logid:{log:08x}) ===START===  10.0.33.232 -- GET  command=listVirtualMachines&listall=true&response=json&signature={id:x}", n % 90),
        1 => writeln!(out, "{stamp} DEBUG [o.a.c.f.j.i.AsyncJobManagerImpl] (API-Job-Executor-{}:[ctx-{log:08x}, job-{}, ctx-0b4db09d]) (logid:{log:08x}) Complete async job-{}, jobStatus: SUCCEEDED, resultCode: 0, result: org.apache.cloudstack.api.response.VolumeResponse/volume/{{\"id\":\"{id:016x}-210a-4ce2-90e9-280148c103b6\",\"name\":\"data-{n}\",\"type\":\"DATADISK\",\"size\":\"(5.00 GB) 5368709120\",\"state\":\"Ready\",\"account\":\"admin\"}}", n % 90, n / 6, n / 6),
        2 => writeln!(out, "{stamp} DEBUG [c.c.v.VmWorkJobDispatcher] (Work-Job-Executor-{}:[ctx-{log:08x}, job-{}/job-{}]) (logid:{log:08x}) Run VM work job: com.cloud.vm.VmWorkDetachVolume for VM {}, job origin: {}", n % 90, n / 6, n / 6 + 1, n % 5000, n / 6),
        3 => writeln!(out, "{stamp} DEBUG [c.c.a.m.AgentManagerImpl] (AgentManager-Handler-{}:[]) (logid:) SeqA 3-{n}: Processing Seq 3-{n}:  {{ Cmd , MgmtId: -1, via: 3, Ver: v1, Flags: 11, [{{\"com.cloud.agent.api.ConsoleProxyLoadReportCommand\":{{\"_proxyVmId\":\"2\",\"_loadInfo\":\"{{\n  \"connections\": []\n}}\",\"wait\":\"0\"}}}}] }}", n % 16),
        4 => writeln!(out, "{stamp} TRACE [c.c.h.d.HostDaoImpl] (StatsCollector-{}:[ctx-{log:08x}]) (logid:{log:08x}) Found {} hosts in cluster {id:x}", n % 9, n % 300),
        _ => writeln!(out, "{stamp} WARN  [c.c.s.StatsCollector] (StatsCollector-{}:[ctx-{log:08x}]) (logid:{log:08x}) Error\njava.lang.IllegalStateException: {id:x}\n\tat com.cloud.server.StatsCollector.one(StatsCollector.java:1)\n\tat com.cloud.server.StatsCollector.two(StatsCollector.java:22)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)", n % 9),
    }
    .unwrap();
}

fn write(out: &mut dyn Write, mib: u64) -> u64 {
    let mut text = Vec::new();
    let (mut written, mut n) = (0, 0);
    while written < mib << 20 {
        text.clear();
        line(&mut text, n);
        out.write_all(&text).unwrap();
        (written, n) = (written + text.len() as u64, n + 1);
    }
    written
}

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
    let bytes = write(&mut out, mib);
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
    write(&mut gzip, mib / 4);
    gzip.finish().unwrap().flush().unwrap();
    wanted.jobs.clear();
    run("gzip, no line matches", &packed, &wanted);
}
