//! How fast a scan is, as ratios: against what operators do today, and against the least that anyone could do.
//!
//! `cargo bench --bench scan -- [near] [far] [large] [hanging] [--rounds N] [--write FILE]`; without a case, all of them; `hold` keeps the clouds up instead, to profile. It ends with 1
//! if a goal is missed by more than the stated margin. Everything runs on a private MariaDB and private libvirt daemons, and is gone
//! when the bench is.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench speaks to its user"
)]

#[path = "../tests/lab/mod.rs"]
mod lab;

#[path = "scan/cases.rs"]
mod cases;
#[path = "scan/cloud.rs"]
mod cloud;
#[path = "scan/daemon.rs"]
mod daemon;
#[path = "scan/figures.rs"]
mod figures;
#[path = "scan/logs.rs"]
mod logs;
#[path = "scan/made_up.rs"]
mod made_up;
#[path = "scan/process.rs"]
mod process;
#[path = "scan/relay.rs"]
mod relay;
#[path = "scan/table.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use cases::Bench;
use table::{Line, MARGIN};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` starts benches without it.
    if !args.iter().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let done = measure(&args);
    lab::session::close();
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("bench: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and says whether all goals are met.
fn measure(args: &[String]) -> Result<bool> {
    virt::error::clear_error_callback();
    let after = |name: &str| {
        args.iter()
            .position(|a| a == name)
            .and_then(|at| args.get(at + 1))
    };
    let rounds = after("--rounds")
        .map(|n| n.parse())
        .transpose()
        .context("--rounds")?;
    let named = ["near", "far", "large", "hanging", "logs"]
        .iter()
        .any(|case| args.iter().any(|a| a == case));
    let wanted = |case: &str| !named || args.iter().any(|a| a == case);
    let load = process::load();
    let first = if process::come_first() {
        "at the highest priority"
    } else {
        "at ordinary priority"
    };
    let session = lab::session::Session::current()?;
    let bench = Bench {
        session,
        maria: lab::maria::Maria::start(session)?,
        bare: compile(&session.path("bare_reader"))?,
        rounds: (rounds.unwrap_or(11), rounds.unwrap_or(5)),
    };
    if args.iter().any(|a| a == "hold") {
        bench.hold()?;
        return Ok(true);
    }
    let mut notes = vec![
        format!(
            "Times are medians of whole processes in rounds that take turns, each case after a warm-up, all of them {first}. A time counts as \
             missed beyond {:.0} % of its goal; memory and deadlines have no margin.",
            MARGIN * 100.0
        ),
        "volrecon's time includes its start, the database twice, the verdict and the JSON document; the bare reader \
         (`benches/c/bare_reader.c`) lists the domains and fetches their XML one after the other, and throws it away."
            .to_owned(),
    ];
    let mut lines: Vec<Line> = Vec::new();
    if wanted("near") {
        lines.extend(bench.near(&mut notes)?);
    }
    if wanted("far") {
        lines.extend(bench.far(&mut notes)?);
    }
    if wanted("large") {
        lines.extend(bench.large(&mut notes)?);
    }
    if wanted("hanging") {
        lines.extend(bench.hanging()?);
    }
    if wanted("logs") {
        lines.extend(bench.logs(&mut notes)?);
    }
    let text = table::text(&lines, &notes, &load);
    println!("{text}");
    if let Some(file) = after("--write") {
        std::fs::write(file, &text).with_context(|| format!("writing {file}"))?;
    }
    Ok(!lines.iter().any(Line::missed))
}

/// The reader in C.
fn compile(to: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/c/bare_reader.c");
    let gcc = Command::new("gcc")
        .args(["-O2", "-o"])
        .arg(to)
        .arg(source)
        .arg("-lvirt")
        .status();
    ensure!(
        gcc.context("starting gcc")?.success(),
        "gcc could not compile the bare reader"
    );
    Ok(to.to_owned())
}
