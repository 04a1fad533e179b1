//! A management log of 1 GB, read for one volume by the whole program.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::cases::Bench;
use super::cloud::Size;
use super::figures::{mebibytes, show};
use super::made_up;
use super::process::{self, Run};
use super::table::{Goal, Line};

/// Of the plain log; a quarter of it is packed.
const MIB: u64 = 1024;
/// What a log without a match has to be read with, in MB/s.
const LEAST: f64 = 200.0;

impl Bench {
    /// `explain --evidence` with a log in which nothing matches.
    pub fn logs(&self, notes: &mut Vec<String>) -> Result<Vec<Line>> {
        let size = Size { hosts: 1, domains: 1 };
        let db = self.cloud("bench_logs", size)?;
        let config = self.config("logs", &db, &self.files("logs", size)?, "")?;
        let seen = self.session.path("logs.json");
        let seen = seen.to_str().context("the lab's directory")?;
        let live = self.scan(&config, &["--save", seen])?;
        ensure!(live.code == 0, "the scan: {}", live.stderr);
        let evidence: serde_json::Value = serde_json::from_reader(File::open(seen)?)?;
        let volume = evidence["evidence"]["volumes"][0]["uuid"]
            .as_str()
            .context("a volume")?
            .to_owned();

        let plain = self.session.path("management-server.log");
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&plain)?);
        let bytes = made_up::write(&mut out, MIB)?;
        out.flush()?;
        let packed = self.session.path("management-server.log.gz");
        let mut gzip = GzEncoder::new(BufWriter::new(File::create(&packed)?), Compression::fast());
        let unpacked = made_up::write(&mut gzip, MIB / 4)?;
        gzip.finish()?.flush()?;

        let explain = |log: Option<&Path>| -> Result<Run> {
            let mut command = Command::new(env!("CARGO_BIN_EXE_volrecon"));
            command.args(["explain", "-o", "json", "--evidence", seen, &volume]);
            if let Some(log) = log {
                command.args(["--log-zone", "UTC", "--management-log"]).arg(log);
            }
            let run = process::run(&mut command, &self.out())?;
            ensure!(run.code == 0, "explain: {}", run.stderr);
            Ok(run)
        };
        let best = |log: Option<&Path>| -> Result<Run> {
            let mut runs = (0..5).map(|_| explain(log)).collect::<Result<Vec<Run>>>()?;
            runs.sort_by_key(|run| run.time);
            Ok(runs.swap_remove(2))
        };
        let (without, with, gzip) = (best(None)?, best(Some(&plain))?, best(Some(&packed))?);
        std::fs::remove_file(&plain)?;
        notes.push(format!(
            "Logs: a made-up log of {bytes} bytes in which no line is about the volume, read by the whole program; the median of 5 runs. \
             Without a log it takes {} and {:.0} MiB.",
            show(without.time),
            mebibytes(without.peak)
        ));
        let line = |what: &str, run: &Run, figure, unit, goal| Line {
            what: what.to_owned(),
            ours: show(run.time),
            against: String::new(),
            figure,
            unit,
            goal,
            runs: (1, 0),
        };
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let rate = |bytes: u64, run: &Run| bytes as f64 / 1e6 / run.time.as_secs_f64();
        Ok(vec![
            line(
                "1 GB of a management log: speed",
                &with,
                rate(bytes, &with),
                "MB/s",
                Goal::AtLeast(LEAST),
            ),
            line(
                "1 GB of a management log: peak memory",
                &with,
                mebibytes(with.peak),
                "MiB",
                Goal::None,
            ),
            line(
                "a quarter of that, packed: speed unpacked",
                &gzip,
                rate(unpacked, &gzip),
                "MB/s",
                Goal::None,
            ),
        ])
    }
}
