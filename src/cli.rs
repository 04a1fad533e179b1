//! What was typed. What it means is [`crate::config`]'s and [`crate::run`]'s.

use crate::classify::{Class, Severity};
use crate::exit::Exit;
use crate::render::{ColorChoice, Format};
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use jiff::tz::TimeZone;
use std::path::PathBuf;
use std::time::Duration;

const SCOPE: &str = "Scope";
const OUTPUT: &str = "Output";
const CONNECTION: &str = "Connection";
const SAFETY: &str = "Safety";
const LOGS: &str = "Logs";

/// Finds disks on which Apache CloudStack's database and the KVM hypervisors disagree.
///
/// volrecon reads the rows of CloudStack's database and the live XML of every libvirt domain, sets one beside the other,
/// and tells where they differ: disks that are plugged in and that no row claims, disks that two guests hold open, rows
/// that name a slot where nothing is. Reading cannot change anything: libvirt is opened read-only, and the database in
/// read-only transactions.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "volrecon",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Run `volrecon COMMAND --help` for a command's options and examples.",
    after_long_help = top_notes()
)]
pub struct Cli {
    /// What goes for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Configuration file to read
    ///
    /// Instead of $XDG_CONFIG_HOME/volrecon/config.toml or /etc/volrecon/config.toml, whichever is there first. Without
    /// any of them, the database is taken from /etc/cloudstack/management/db.properties. A variable
    /// VOLRECON_SECTION_KEY, as VOLRECON_DATABASE_URL, wins over the file.
    #[arg(long, global = true, value_name = "FILE", help_heading = CONNECTION)]
    pub config: Option<PathBuf>,

    /// Give up the whole run after this time
    ///
    /// As in 30s, 5m, 1h. Hosts that are not done by then are not seen; if the rows cannot be had within two seconds more,
    /// nothing is told, and the run leaves with 2. Each host has a limit of its own: `host_timeout` of [libvirt].
    #[arg(long, global = true, value_name = "DURATION", value_parser = positive, help_heading = CONNECTION)]
    pub timeout: Option<Duration>,

    /// Format of the results on stdout
    #[arg(short, long, global = true, value_name = "FORMAT", value_enum, default_value_t, hide_possible_values = false, help_heading = OUTPUT)]
    pub output: Format,

    /// When to use colour
    ///
    /// `auto` colours on a terminal, and heeds NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = OUTPUT)]
    pub color: ColorChoice,

    /// Leave out the header lines of table and csv
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub no_headers: bool,

    /// Only the findings' own lines, and no warnings
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub quiet: bool,

    /// Timelines, sources, and lists in full; twice: what is being done
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = OUTPUT)]
    pub verbose: u8,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Compare database and hypervisors, and tell where they disagree
    ///
    /// Reads the rows, then every host side by side, then the rows again. What moved in between is in flux: reported,
    /// never judged. A host that cannot be read is said, and what only it could show is not guessed.
    Scan(Scan),
    /// List attach and detach work that waits or runs, and the stragglers to be
    ///
    /// Reads the database only. A detach whose volume the row gives to another VM, or to none, finds another attachment
    /// when it runs, or nothing: it is marked, with what it will do then and how to keep the newer attachment. Leaves with
    /// 1 only if there is such a job.
    Jobs(Jobs),
    /// Tell who did what to a volume, what a finding stands on, or what a class means
    ///
    /// For a volume or a finding: what each witness says now, the history in one order with who says so, a verdict for a
    /// ticket, what it blocks, the remedies, and what would be typed by hand. Leaves with 0 if there is such a volume or
    /// finding, well or not. For a class: the same as in volrecon-classes(7).
    Explain(Explain),
    /// Write a completion script for a shell
    Completions(Completions),
}

/// `volrecon scan`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = scan_notes())]
pub struct Scan {
    /// What to look at.
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// List every volume beside its disk, healthy ones too
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,

    /// Leave out findings below this severity; they do not count for the exit code either
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = Severity::Low, help_heading = OUTPUT)]
    pub min_severity: Severity,

    /// Also write all that was seen to a file, for --evidence
    ///
    /// The file holds names and paths of customers, and no password. It is readable by its owner only.
    #[arg(long, value_name = "FILE", conflicts_with = "evidence", help_heading = OUTPUT)]
    pub save: Option<PathBuf>,

    /// Judge a file that --save wrote; neither database nor hosts are asked
    ///
    /// A scope narrows a file of the whole cloud: names are looked up among the rows in it.
    #[arg(long, value_name = "FILE", conflicts_with = "settle", help_heading = CONNECTION)]
    pub evidence: Option<PathBuf>,

    /// Look at suspects again after this time; only what still stands is a finding
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = SAFETY)]
    pub settle: Option<Duration>,

    /// What has been in flux for longer than this is stuck, and counts as not seen
    ///
    /// Without it, an hour; with --evidence, what the scan that saved it was told.
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = SAFETY)]
    pub stuck_after: Option<Duration>,
}

/// `volrecon jobs`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = jobs_notes())]
pub struct Jobs {
    /// What to look at.
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// SCOPE: names as typed. None at all: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = SCOPE)]
pub struct ScopeArgs {
    /// VMs that the rows place on this host, and domains seen on it (repeatable)
    ///
    /// Other hosts are asked only where a suspect needs it; the output says what that leaves open.
    #[arg(long, value_name = "NAME|UUID|IP", value_parser = NonEmptyStringValueParser::new())]
    pub host: Vec<String>,

    /// This VM and its volumes (repeatable)
    #[arg(long, value_name = "NAME|UUID|INSTANCE", value_parser = NonEmptyStringValueParser::new())]
    pub vm: Vec<String>,

    /// This volume (repeatable)
    #[arg(long, value_name = "UUID|NAME|PATH", value_parser = NonEmptyStringValueParser::new())]
    pub volume: Vec<String>,

    /// The hosts of this cluster (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub cluster: Vec<String>,

    /// The hosts of this zone (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub zone: Vec<String>,
}

impl ScopeArgs {
    /// Nothing was typed: everything is in scope.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// `volrecon explain`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = explain_notes())]
pub struct Explain {
    /// A volume by uuid, name or path, or a finding by its id, as vr-f4624595
    ///
    /// A finding's id needs a look at the whole cloud; a volume needs only the hosts that could have it.
    #[arg(value_name = "VOLUME|FINDING", required_unless_present = "class", conflicts_with = "class", value_parser = NonEmptyStringValueParser::new())]
    pub subject: Option<String>,

    /// Tell about a class instead
    #[arg(long, value_name = "NAME", value_parser = class())]
    pub class: Option<Class>,

    /// Explain from a file that scan --save wrote; neither database nor hosts are asked
    #[arg(long, value_name = "FILE", conflicts_with = "class", help_heading = CONNECTION)]
    pub evidence: Option<PathBuf>,

    /// Logs that remember more than the database.
    #[command(flatten)]
    pub logs: LogArgs,
}

/// Logs to read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = LOGS)]
pub struct LogArgs {
    /// A management server's log, plain or .gz; - for stdin (repeatable)
    ///
    /// Every server's, and as many of the rotated files as reach back to the attach:
    /// /var/log/cloudstack/management/management-server.log*. In any order.
    #[arg(long, value_name = "FILE", conflicts_with = "class")]
    pub management_log: Vec<PathBuf>,

    /// The log of the agent on a host, plain or .gz (repeatable)
    ///
    /// /var/log/cloudstack/agent/agent.log of the host from which the volume was to be detached: its line "Could not find
    /// disk ... set it as detached in the database" is the orphan being made.
    #[arg(long, value_name = "HOST=FILE", conflicts_with = "class", value_parser = agent_log)]
    pub agent_log: Vec<AgentLog>,

    /// Time zone of the logs: a name as Europe/Berlin, an offset as +02:00, or UTC; unless told, this machine's
    #[arg(long, value_name = "ZONE", conflicts_with = "class", value_parser = zone)]
    pub log_zone: Option<TimeZone>,
}

/// `HOST=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLog {
    /// The host's name, as it shall be called.
    pub host: String,
    /// Its log.
    pub file: PathBuf,
}

fn agent_log(text: &str) -> Result<AgentLog, String> {
    match text.split_once('=') {
        Some((host, file)) if !host.is_empty() && !file.is_empty() => Ok(AgentLog {
            host: host.to_owned(),
            file: file.into(),
        }),
        _ => Err("it is HOST=FILE, as in kvm1=/var/log/cloudstack/agent/agent.log".to_owned()),
    }
}

fn zone(text: &str) -> Result<TimeZone, String> {
    if text.eq_ignore_ascii_case("utc") || text == "Z" {
        return Ok(TimeZone::UTC);
    }
    if text.starts_with(['+', '-']) {
        let posix = jiff::fmt::strtime::parse("%:z", text).or_else(|_| jiff::fmt::strtime::parse("%z", text));
        let offset = posix.ok().and_then(|told| told.offset());
        return offset
            .map(TimeZone::fixed)
            .ok_or_else(|| "an offset is written as +02:00".to_owned());
    }
    TimeZone::get(text).map_err(|_| "no time zone has that name: as in Europe/Berlin, +02:00, UTC".to_owned())
}

/// `volrecon completions`.
#[derive(Clone, Debug, Args)]
#[command(
    after_long_help = "Examples:\n  volrecon completions bash > /etc/bash_completion.d/volrecon\n  \
                       volrecon completions zsh > \"${fpath[1]}/_volrecon\"\n  \
                       volrecon completions fish > ~/.config/fish/completions/volrecon.fish"
)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// The whole command line, for help, completions and manual pages.
#[must_use]
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    Cli::command()
}

fn class() -> impl TypedValueParser<Value = Class> {
    let names = Class::ALL.map(|c| PossibleValue::new(c.name()));
    PossibleValuesParser::new(names).try_map(|name| {
        let found = Class::ALL.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| format!("no class is called {name}"))
    })
}

/// `30s`, `5m`, `1h30m`, `500ms`.
///
/// # Errors
/// When it is no duration, or a negative one.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("a unit is missing: is it {text}s, {text}m or {text}h?"));
    }
    let parsed: jiff::SignedDuration = text
        .parse()
        .map_err(|_| "a duration is written as 500ms, 30s, 5m, 1h or 1h30m".to_owned())?;
    Duration::try_from(parsed).map_err(|_| "a duration cannot be negative".to_owned())
}

fn positive(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("this must be longer than nothing".to_owned()),
        duration => Ok(duration),
    }
}

fn exit_codes() -> String {
    let mut text = "Exit codes:".to_owned();
    for exit in Exit::ALL {
        text += &format!("\n  {:>3}  {}", exit.code(), exit.meaning());
    }
    text
}

fn top_notes() -> String {
    format!(
        "{}\n\nExamples:\n  \
         volrecon scan                            the whole cloud\n  \
         volrecon scan --host kvm7 --settle 30s   one host, suspects looked at twice\n  \
         volrecon jobs                            attach and detach work that waits or runs\n  \
         volrecon explain --class double-open     what that means, and what to do",
        exit_codes()
    )
}

fn explain_notes() -> String {
    "Examples:\n  \
     volrecon explain e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15\n  \
     volrecon explain vr-f4624595 --evidence seen.json\n  \
     volrecon explain --class straggler-detach"
        .to_owned()
}

fn jobs_notes() -> String {
    "Exit codes:\n    0  no straggler to be\n    1  stragglers to be\n    2  trouble: usage, configuration, database\n\n\
     Examples:\n  \
     volrecon jobs\n  \
     volrecon jobs --vm worker7 -o json"
        .to_owned()
}

fn scan_notes() -> String {
    format!(
        "{}\n\nExamples:\n  \
         volrecon scan\n  \
         volrecon scan --host kvm7 --vm worker7\n  \
         volrecon scan --min-severity high --settle 30s -o json\n  \
         volrecon scan --save seen.json; volrecon scan --evidence seen.json --all",
        exit_codes()
    )
}
