//! How long judging takes, from evidence in memory to findings with their offers: `cargo bench --bench classify`.
//!
//! Every row is one cloud; the last column shows whether the time grows with the disks or faster. Numbers after `--`
//! choose the sizes, in disks.

#![allow(clippy::expect_used, clippy::panic, reason = "the worlds are the tests'")]

#[path = "../tests/it/build.rs"]
mod build;
#[path = "../tests/it/fleet.rs"]
mod fleet;
#[path = "../tests/it/plug.rs"]
mod plug;
#[path = "../tests/it/spec.rs"]
mod spec;
#[path = "../tests/it/world.rs"]
mod world;

use fleet::{Wrong, fleet};
use std::time::Instant;
use volrecon::classify::classify;
use volrecon::plan;
use volrecon::sight::Sight;

#[expect(clippy::print_stdout, reason = "the table is what a bench is for")]
fn main() {
    let sizes: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![250_000, 500_000, 1_000_000]
    } else {
        sizes
    };
    let healthy = Wrong {
        orphans: 10,
        jobs: true,
        ..Wrong::default()
    };
    let worlds = [
        ("1 % orphans", healthy),
        (
            "40 % orphans",
            Wrong {
                orphans: 400,
                ..healthy
            },
        ),
        (
            "missing, a host unseen",
            Wrong {
                missing: 400,
                blind: true,
                ..Wrong::default()
            },
        ),
        (
            "unknown disks, missing",
            Wrong {
                unknown: 400,
                missing: 400,
                ..Wrong::default()
            },
        ),
    ];
    println!(
        "{:<24} {:>9} {:>9} {:>7} {:>7} {:>7} {:>7} {:>8} {:>9}",
        "world", "disks", "findings", "sight", "judge", "offer", "total", "us/disk", "rss MiB"
    );
    for (name, wrong) in worlds {
        for disks in &sizes {
            let world = fleet(disks / 4, 4, wrong);
            let begin = Instant::now();
            let sight = Sight::new(&world);
            let seen = begin.elapsed().as_secs_f64();
            let mut verdicts = classify(&sight);
            let judged = begin.elapsed().as_secs_f64();
            plan::offer(&sight, &mut verdicts);
            let total = begin.elapsed().as_secs_f64();
            let each = total * 1e6 / f64::from(u32::try_from(*disks).unwrap_or(u32::MAX));
            println!(
                "{name:<24} {disks:>9} {:>9} {seen:>7.2} {:>7.2} {:>7.2} {total:>7.2} {each:>8.2} {:>9}",
                verdicts.findings.len(),
                judged - seen,
                total - judged,
                resident()
            );
        }
    }
}

/// What the process has in memory now, in MiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or_default()
        / 1024
}
