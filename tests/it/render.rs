//! Output: goldens of hand-made documents, and what must hold of any.

use super::{documents, golden};
use proptest::prelude::*;
use std::collections::BTreeSet;
use volrecon::exit::Exit;
use volrecon::render::{Format, Options, ScanDocument, after_writing, text, write_scan};

fn written(doc: &ScanDocument, format: Format, options: &Options) -> String {
    let mut out = Vec::new();
    write_scan(doc, format, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn at(width: usize) -> Options {
    Options {
        width,
        ..Options::default()
    }
}

/// Every golden: its file's name and what it should hold.
fn goldens() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, doc) in documents::all() {
        for width in [80, 200] {
            all.push((
                format!("{name}-{width}.txt"),
                written(&doc, Format::Table, &at(width)),
            ));
        }
        all.push((format!("{name}.json"), written(&doc, Format::Json, &at(80))));
        all.push((format!("{name}.jsonl"), written(&doc, Format::Jsonl, &at(80))));
        all.push((format!("{name}.csv"), written(&doc, Format::Csv, &at(80))));
    }
    let doc = documents::straggler();
    let color = Options {
        color: true,
        ..at(80)
    };
    all.push((
        "straggler-color.txt".to_owned(),
        written(&doc, Format::Table, &color),
    ));
    let verbose = Options { verbose: 1, ..at(80) };
    all.push((
        "straggler-verbose.txt".to_owned(),
        written(&doc, Format::Table, &verbose),
    ));
    let quiet = Options {
        quiet: true,
        ..at(80)
    };
    all.push((
        "everything-quiet.txt".to_owned(),
        written(&documents::everything(), Format::Table, &quiet),
    ));
    all
}

#[test]
fn goldens_are_current() {
    for (name, actual) in goldens() {
        golden::check(&format!("tests/golden/{name}"), &actual);
    }
}

#[test]
fn no_golden_is_orphaned() {
    let compared: BTreeSet<String> = goldens().into_iter().map(|(name, _)| name).collect();
    golden::no_orphans("tests/golden", &compared);
}

#[test]
fn tables_fit_their_width() {
    for (name, doc) in documents::all() {
        for width in [80, 100, 160, 200] {
            for verbose in [0, 1] {
                let table = written(&doc, Format::Table, &Options { verbose, ..at(width) });
                for line in table.lines() {
                    assert!(text::width(line) <= width, "{name} at {width}: {line}");
                    assert_eq!(line, line.trim_end(), "{name} at {width}");
                }
            }
        }
    }
}

#[test]
fn ids_are_never_cut() {
    for (name, doc) in documents::all() {
        for width in [20, 80, 160] {
            let table = written(&doc, Format::Table, &at(width));
            for finding in &doc.findings {
                assert!(table.contains(&finding.id), "{name} at {width}");
                let uuid = finding.volume.as_ref().and_then(|v| v.uuid.as_ref());
                assert!(
                    uuid.is_none_or(|u| table.contains(u.as_str())),
                    "{name} at {width}"
                );
            }
            for pair in doc.volumes.iter().flatten() {
                assert!(
                    pair.uuid.as_ref().is_none_or(|u| table.contains(u.as_str())),
                    "{name} at {width}"
                );
            }
        }
    }
}

#[test]
fn colour_only_adds() {
    for (name, doc) in documents::all() {
        let plain = written(&doc, Format::Table, &at(80));
        let color = written(
            &doc,
            Format::Table,
            &Options {
                color: true,
                ..at(80)
            },
        );
        assert_eq!(without_sgr(&color), plain, "{name}");
        assert!(!plain.contains('\u{1b}'), "{name}");
    }
}

/// Takes colours out, and only colours.
fn without_sgr(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sgr, rest) = part.split_once('m').expect("a colour");
        assert!(sgr.bytes().all(|b| b.is_ascii_digit() || b == b';'));
        out.push_str(rest);
    }
    out
}

#[test]
fn quiet_is_a_line_a_finding_and_nothing_else() {
    let quiet = Options {
        quiet: true,
        ..at(200)
    };
    assert_eq!(written(&documents::consistent(), Format::Table, &quiet), "");
    assert_eq!(written(&documents::unseen(), Format::Table, &quiet), "");
    assert_eq!(
        written(&documents::everything(), Format::Table, &quiet)
            .lines()
            .count(),
        6
    );
}

#[test]
fn no_headers_leaves_them_out() {
    let bare = Options {
        headers: false,
        ..at(80)
    };
    assert!(!written(&documents::everything(), Format::Table, &bare).contains("SEVERITY"));
    assert_eq!(written(&documents::consistent(), Format::Csv, &bare), "");
}

#[test]
fn two_hundred_that_cannot_be_told_are_one_line() {
    let table = written(&documents::unseen(), Format::Table, &at(80));
    assert!(
        table.contains("200 volumes: host kvm2 was not seen; likewise kvm4 (12 volumes)\n    [host-unseen]"),
        "{table}"
    );
    assert!(table.lines().count() < 15, "{table}");
    let all = written(
        &documents::unseen(),
        Format::Table,
        &Options { verbose: 1, ..at(80) },
    );
    assert_eq!(all.matches("00000000-0000-4000-8000-").count(), 212);
}

#[test]
fn a_reason_that_many_share_is_told_once_with_the_names_after_it() {
    let table = written(&documents::alike(), Format::Table, &at(4000));
    let own = |host: &str| {
        format!(
            "cannot connect to qemu+ssh://root@{host}/system: unable to connect to '{host}': refused; \
             try: virsh -r -c 'qemu+ssh://root@{host}/system' list"
        )
    };
    for line in [
        "  - 4 volumes: kvm2 was not read; likewise kvm3 (i-2-90-VM) [host-unseen]",
        "  - i-2-10-VM: its domain on kvm1 could not be read: no domain with name 'i-2-10-VM'; \
         likewise kvm1 (i-2-11-VM), kvm10 (i-2-12-VM) [domain-unreadable]",
        &format!("not seen: kvm2 ({}); likewise kvm3, kvm4", own("kvm2")),
        "not seen: kvm5 (no end within 1s, 3 domains read); likewise kvm6",
        "not asked: kvm7 (skipped, as [libvirt] skip says); likewise kvm8",
        "not asked: 1 host, out of scope",
    ] {
        assert!(table.lines().any(|l| l == line), "{line}\n{table}");
    }
    assert_eq!(table.matches("refused").count(), 1, "{table}");
    // In full, each host has its own.
    let all = written(
        &documents::alike(),
        Format::Table,
        &Options {
            verbose: 1,
            ..at(4000)
        },
    );
    for host in ["kvm2", "kvm3", "kvm4"] {
        assert!(
            all.contains(&format!("not seen: {host} ({})", own(host))),
            "{all}"
        );
    }
}

#[test]
fn json_keeps_hostile_values_and_escapes_them() {
    let doc = documents::hostile();
    for format in [Format::Json, Format::Jsonl] {
        let json = written(&doc, format, &at(80));
        assert!(!json.chars().any(|c| c != '\n' && text::acts(c)));
        let first = if format == Format::Json {
            serde_json::from_str::<serde_json::Value>(&json).unwrap()["findings"][0].clone()
        } else {
            serde_json::from_str(json.lines().next().unwrap()).unwrap()
        };
        assert_eq!(
            first["volume"]["name"].as_str(),
            doc.findings[0].volume.as_ref().unwrap().name.as_deref()
        );
    }
}

#[test]
fn jsonl_ends_with_a_summary() {
    let lines = written(&documents::everything(), Format::Jsonl, &at(80));
    let documents: Vec<String> = lines
        .lines()
        .map(|l| {
            serde_json::from_str::<serde_json::Value>(l).unwrap()["document"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(documents.last().map(String::as_str), Some("summary"));
    assert!(documents[..documents.len() - 1].iter().all(|d| d == "finding"));
}

#[test]
fn csv_is_a_line_a_finding() {
    let csv = written(&documents::hostile(), Format::Csv, &at(80));
    assert_eq!(csv.lines().count(), 2);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let row = reader.records().next().unwrap().unwrap();
    assert!(row[5].starts_with("'=cmd"), "{row:?}");
}

struct Closed(std::io::ErrorKind);

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_quietly_and_a_full_disk_does_not() {
    for format in [Format::Table, Format::Json, Format::Jsonl, Format::Csv] {
        let end = |kind| {
            let doc = documents::everything();
            after_writing(
                write_scan(&doc, format, &at(80), &mut Closed(kind)),
                Exit::Findings,
            )
        };
        assert_eq!(
            end(std::io::ErrorKind::BrokenPipe).unwrap(),
            Exit::Findings,
            "{format:?}"
        );
        assert!(end(std::io::ErrorKind::StorageFull).is_err(), "{format:?}");
    }
}

proptest! {
    #[test]
    fn nothing_that_acts_is_left(text in any::<String>()) {
        prop_assert!(!text::visible(&text).chars().any(text::acts));
        prop_assert!(!text::cell(&text).chars().any(text::acts));
    }

    #[test]
    fn wrapping_keeps_every_character(words in "[ -~日]{0,200}", width in 2usize..90) {
        let wrapped = text::wrap(&words, width);
        let kept = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
        prop_assert_eq!(kept(&wrapped.concat()), kept(&words));
        for line in wrapped {
            prop_assert!(text::width(&line) <= width);
        }
    }
}
