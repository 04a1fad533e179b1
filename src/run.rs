//! The only one that sees all rooms: one function per subcommand.

mod account;
mod compose;
mod deadline;
mod explain;
mod logs;
mod look;
mod narrow;
mod queues;

pub use account::{Asked, explain};
pub use compose::{Wanted, compose};
pub use look::{LookError, Orders, look};
pub use narrow::{NarrowError, narrow};

use crate::classify::{Verdicts, classify};
use crate::cli::{self, Cli, Command};
use crate::config::{Config, Sources};
use crate::evidence::{self, Evidence};
use crate::exit::Exit;
use crate::gather::{self, Reader, ScopeWords};
use crate::plan;
use crate::render::{self, Options, Progress, ScanDocument, Terminals, message};
use crate::sight::Sight;
use anyhow::Context;
use deadline::{Timed, Watch};
use std::io::Write;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::{Duration, Instant};

/// `--stuck-after`, where it is not typed.
const STUCK_AFTER: Duration = Duration::from_secs(3600);

/// Runs what was typed, and says how it ended. Errors are told here, once.
#[must_use]
pub fn run(cli: &Cli) -> Exit {
    let terminals = Terminals::look(cli.global.color);
    let done = match &cli.command {
        Command::Scan(args) => scan(cli, args, &terminals),
        Command::Jobs(args) => queues::jobs(cli, args, &terminals),
        Command::Explain(args) => explain::run(cli, args, &terminals),
        Command::Completions(args) => completions(args),
    };
    done.unwrap_or_else(|error| {
        // A stderr that is gone leaves nothing to say it with: the exit code still tells.
        let _ = message::write_error(
            error.as_ref(),
            &hints(&error),
            terminals.stderr_color,
            &mut std::io::stderr(),
        );
        Exit::Trouble
    })
}

/// `volrecon scan`.
fn scan(cli: &Cli, args: &cli::Scan, terminals: &Terminals) -> anyhow::Result<Exit> {
    let mut config = Config::load(&Sources::from_process(cli.global.config.clone()))?;
    let ignore = config.ignored()?;
    let evidence = match &args.evidence {
        Some(file) => saved(args, file)?,
        None => {
            let want = Want {
                words: words(&args.scope),
                settle: args.settle,
                stuck_after: args.stuck_after.unwrap_or(STUCK_AFTER),
            };
            live(cli, &want, &mut config, terminals)?.0
        }
    };
    if !cli.global.quiet {
        for warning in config.warnings.iter().chain(&evidence.warnings) {
            let _ = message::write_warning(warning, terminals.stderr_color, &mut std::io::stderr());
        }
    }
    if let Some(file) = &args.save {
        evidence::save(&evidence, file)?;
    }
    // The process ends next: giving back 100,000 disks one by one would only take time.
    let evidence = ManuallyDrop::new(evidence);
    let sight = Sight::new(&evidence);
    let verdicts = judge(&sight);
    let wanted = Wanted {
        min_severity: args.min_severity,
        ignore,
        all: args.all,
    };
    let document = compose(&sight, verdicts, &wanted);
    let exit = exit_of(&document);
    let written = render::write_scan(
        &document,
        cli.global.output,
        &options(cli, terminals),
        &mut std::io::stdout().lock(),
    );
    render::after_writing(written, exit).context("cannot write the results to stdout")
}

/// Verdicts with their offers and advice.
#[must_use]
pub fn judge(sight: &Sight<'_>) -> Verdicts {
    let mut verdicts = classify(sight);
    plan::offer(sight, &mut verdicts);
    verdicts
}

/// Findings beat gaps; fresh flux does not spoil 0.
fn exit_of(document: &ScanDocument) -> Exit {
    if !document.findings.is_empty() {
        Exit::Findings
    } else if document.complete {
        Exit::Consistent
    } else {
        Exit::NotAllSeen
    }
}

/// `--evidence`: what was seen then, with the scope and the patience of now.
fn saved(args: &cli::Scan, file: &Path) -> anyhow::Result<Evidence> {
    let mut evidence = evidence::load(file)?;
    narrow(&mut evidence, &words(&args.scope))?;
    if let Some(stuck_after) = args.stuck_after {
        evidence.stuck_after = stuck_after.as_secs();
    }
    Ok(evidence)
}

/// What a live look is for.
struct Want {
    words: ScopeWords,
    settle: Option<Duration>,
    stuck_after: Duration,
}

/// Looks at the world; the reader is given back, for those that have further questions. `--timeout` ends when it is dropped.
fn live(
    cli: &Cli,
    want: &Want,
    config: &mut Config,
    terminals: &Terminals,
) -> anyhow::Result<(Evidence, Timed<Reader>)> {
    let until = cli
        .global
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let progress = Progress::start(terminals.progress && !cli.global.quiet);
    progress.phase("reading the database");
    let watch = Watch::start(cli, terminals, "reaching the database", progress.eraser());
    let phase = |what| watch.iter().for_each(|watch: &Watch| watch.phase(what));
    let limit = cli.global.timeout.unwrap_or(Duration::MAX);
    let mut reader = Reader::open_within(&config.database()?, limit)?;
    let scope = reader.resolve(&want.words)?;
    let libvirt = config.libvirt()?;
    phase("reading the database");
    let mut tell = |news: gather::Progress| {
        progress.host(news.done, news.total, &news.host);
        // Hosts that are late are given up: what lasts beyond them is the second read.
        if news.done == news.total {
            phase("reading the database again");
        }
    };
    let mut orders = Orders {
        libvirt: &libvirt,
        scope,
        stuck_after: want.stuck_after,
        until,
        progress: &mut tell,
    };
    let first = look(&mut reader, &mut orders)?;
    config.warnings.extend(gather::strangers(&libvirt, &first.hosts));
    let Some(settle) = want.settle else {
        progress.finish();
        return Ok((first, Timed::new(reader, watch)));
    };
    // Only suspects are worth a second look.
    if classify(&Sight::new(&first)).findings.is_empty() {
        progress.finish();
        return Ok((first, Timed::new(reader, watch)));
    }
    progress.phase("letting suspects settle");
    let left = until.map_or(settle, |end| {
        settle.min(end.saturating_duration_since(Instant::now()))
    });
    std::thread::sleep(left);
    let mut second = look(&mut reader, &mut orders)?;
    second.earlier = Some(Box::new(first));
    progress.finish();
    Ok((second, Timed::new(reader, watch)))
}

fn words(scope: &cli::ScopeArgs) -> ScopeWords {
    ScopeWords {
        hosts: scope.host.clone(),
        vms: scope.vm.clone(),
        volumes: scope.volume.clone(),
        clusters: scope.cluster.clone(),
        zones: scope.zone.clone(),
    }
}

/// How to write, from what was typed and where it goes.
fn options(cli: &Cli, terminals: &Terminals) -> Options {
    Options {
        width: terminals.width,
        color: terminals.stdout_color,
        headers: !cli.global.no_headers,
        quiet: cli.global.quiet,
        verbose: cli.global.verbose,
    }
}

/// `volrecon completions`.
fn completions(args: &cli::Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "volrecon", &mut script);
    let written = std::io::stdout().write_all(&script);
    render::after_writing(written, Exit::Consistent).context("cannot write to stdout")
}

/// What the operator can do, from the errors that know it.
fn hints(error: &anyhow::Error) -> Vec<String> {
    let mut out = Vec::new();
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<crate::config::ConfigError>() {
            out.extend(error.hints());
        }
        if let Some(error) = cause.downcast_ref::<gather::DbError>() {
            out.extend(error.hint());
        }
        if let Some(error) = cause.downcast_ref::<gather::ScopeError>() {
            out.extend(error.hint());
        }
        if let Some(NarrowError::Scope(error)) = cause.downcast_ref::<NarrowError>() {
            out.extend(error.hint());
        }
        if let Some(error) = cause.downcast_ref::<gather::logs::LogError>() {
            out.extend(error.hint());
        }
        if let Some(error) = cause.downcast_ref::<explain::ExplainError>() {
            out.extend(error.hint());
        }
        if let Some(LookError::Database(error)) = cause.downcast_ref::<LookError>() {
            out.extend(error.hint());
        }
    }
    out.dedup();
    out
}
