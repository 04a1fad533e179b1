//! What may be typed.

use clap::Parser;
use clap::error::ErrorKind;
use std::time::Duration;
use volrecon::classify::{Class, Severity};
use volrecon::cli::{Cli, Command, Scan, command, duration};
use volrecon::exit::Exit;
use volrecon::render::{ColorChoice, Format};

fn typed(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("volrecon").chain(line.split_whitespace()))
}

fn scan(line: &str) -> Scan {
    match typed(line).unwrap().command {
        Command::Scan(scan) => scan,
        other => panic!("{other:?}"),
    }
}

fn error(line: &str) -> clap::Error {
    typed(line).unwrap_err()
}

#[test]
fn the_command_line_is_sound() {
    command().debug_assert();
}

#[test]
fn a_bare_scan_has_the_defaults_of_the_contract() {
    let cli = typed("scan").unwrap();
    assert_eq!(
        (cli.global.output, cli.global.color),
        (Format::Table, ColorChoice::Auto)
    );
    assert_eq!(
        (cli.global.verbose, cli.global.quiet, cli.global.no_headers),
        (0, false, false)
    );
    let scan = scan("scan");
    assert!(scan.scope.is_everything());
    assert_eq!(scan.min_severity, Severity::Low);
    assert_eq!(scan.stuck_after, None);
    assert_eq!(scan.settle, None);
}

#[test]
fn scopes_repeat() {
    let scope = scan("scan --host kvm1 --host kvm2 --vm i-2-41-VM --volume v --cluster c --zone z").scope;
    assert_eq!(scope.host, ["kvm1", "kvm2"]);
    assert_eq!(
        (
            scope.vm.len(),
            scope.volume.len(),
            scope.cluster.len(),
            scope.zone.len()
        ),
        (1, 1, 1, 1)
    );
    assert!(!scope.is_everything());
    assert!(Cli::try_parse_from(["volrecon", "scan", "--host", ""]).is_err());
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    for line in ["-o jsonl -vv --timeout 5m scan", "scan -o jsonl -vv --timeout 5m"] {
        let global = typed(line).unwrap().global;
        assert_eq!((global.output, global.verbose), (Format::Jsonl, 2));
        assert_eq!(global.timeout, Some(Duration::from_secs(300)));
    }
}

#[test]
fn what_excludes_each_other_is_a_usage_error() {
    for line in [
        "scan --save a --evidence b",
        "scan --settle 30s --evidence b",
        "scan -q -v",
    ] {
        let error = error(line);
        assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{line}");
        assert_eq!(error.exit_code(), i32::from(Exit::Trouble.code()));
    }
}

#[test]
fn near_misses_are_named() {
    for (line, near) in [
        ("scann", "scan"),
        ("explain --class stragler-detach", "straggler-detach"),
        ("scan --min-severity critcal", "critical"),
        ("scan --hosts kvm1", "--host"),
        ("scan -o jsn", "json"),
    ] {
        let error = error(line);
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(
            error.to_string().contains("tip:") && error.to_string().contains(near),
            "{error}"
        );
    }
}

#[test]
fn every_class_can_be_explained() {
    for class in Class::ALL {
        match typed(&format!("explain --class {class}")).unwrap().command {
            Command::Explain(explain) => assert_eq!(explain.class, Some(class)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(error("explain").exit_code(), 2);
}

#[test]
fn durations() {
    for (text, millis) in [
        ("500ms", 500),
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1h30m", 5_400_000),
        ("0s", 0),
    ] {
        assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
    }
    for (text, part) in [
        ("30", "is it 30s, 30m or 30h?"),
        ("", "written as"),
        ("soon", "written as"),
        ("5 parsecs", "written as"),
        ("-5s", "negative"),
        ("99999999999999999999h", "written as"),
    ] {
        assert!(duration(text).unwrap_err().contains(part), "{text}");
    }
    let error = error("scan --timeout 0s");
    assert!(error.to_string().contains("longer than nothing"), "{error}");
}

#[test]
fn the_help_has_the_exit_codes() {
    let help = command().render_long_help().to_string();
    for exit in Exit::ALL {
        assert!(
            help.contains(&format!("{:>3}  {}", exit.code(), exit.meaning())),
            "{help}"
        );
    }
}
