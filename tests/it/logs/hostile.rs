//! Logs that are damaged, endless, out of order, or none at all.

use super::{VOLUME, berlin, bytes, fixture, gzip, older, seven, thread, told, wanted};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::Command;
use volrecon::gather::logs::{LogError, MAX_ENDLESS, Source, read_agent, read_management};
use volrecon::model::JobId;

#[test]
fn a_truncated_gzip_is_read_as_far_as_it_goes_and_that_is_told() {
    let whole = std::fs::read(fixture("4.19/management.log")).unwrap();
    let packed = gzip(&whole);
    let read = |bytes_: &[u8]| read_management(&[bytes("ms.gz", bytes_)], &wanted(), &TimeZone::UTC).unwrap();
    for cut in [3, 10, packed.len() / 2, packed.len() - 1] {
        let log = read(&packed[..cut]);
        let broken = log.seen[0].broken.clone();
        // Three bytes are not known for gzip's.
        assert!(cut == 3 || broken.is_some(), "{cut}: {broken:?}");
        assert!(log.seen[0].bytes <= whole.len() as u64);
    }
    assert_eq!(
        read(&packed[..packed.len() / 2]).seen[0].broken.as_deref(),
        Some("ends in the middle of its compressed data")
    );
    let mut damaged = packed.clone();
    damaged[40..60].fill(0xff);
    assert!(read(&damaged).seen[0].broken.is_some());
    assert!(
        read(&[packed, b"and more".to_vec()].concat()).seen[0]
            .broken
            .is_some()
    );
}

#[test]
fn what_is_no_log_is_told_by_its_figures() {
    let noise: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let log = read_management(&[bytes("noise", noise)], &wanted(), &TimeZone::UTC).unwrap();
    assert_eq!((log.moments.len(), log.seen[0].records), (0, 0));
    let log = read_management(&[bytes("empty", "")], &wanted(), &TimeZone::UTC).unwrap();
    assert_eq!((log.seen[0].bytes, log.seen[0].first), (0, None));
}

#[test]
fn a_pipe_with_a_line_that_never_ends_is_left() {
    let head = Cursor::new(thread(&format!("Failed to detach volume {VOLUME}")));
    let source = Source::reader("pipe", head.chain(std::io::repeat(b'x')));
    let log = read_management(&[source], &wanted(), &TimeZone::UTC).unwrap();
    let seen = &log.seen[0];
    assert!(seen.once);
    assert_eq!(seen.records, 1);
    assert!(seen.cut > 0);
    assert_eq!(seen.broken.as_deref(), Some("a line does not end within 256 MiB"));
    assert!(seen.bytes < MAX_ENDLESS + (4 << 20));
}

#[test]
fn lines_out_of_order_and_clocks_that_jump_keep_their_own_times() {
    let line = |time: &str, job: u64| {
        format!(
            "2026-09-08 {time},000 DEBUG [x.AsyncJobManagerImpl] (API-Job-Executor-1:[ctx-1, job-{job}]) (logid:aaaa0005) job-{job} is already completed.\n"
        )
    };
    let log = [line("14:00:00", 5), line("12:00:00", 5), line("14:00:01", 5)].concat();
    let mut wanted = wanted();
    wanted.jobs.insert(JobId(5));
    let log = read_management(&[bytes("ms", log)], &wanted, &TimeZone::UTC).unwrap();
    let told: Vec<_> = log
        .moments
        .iter()
        .map(|m| (m.time.to_string(), m.out_of_order))
        .collect();
    assert_eq!(
        told,
        [
            ("2026-09-08T12:00:00Z".to_owned(), true),
            ("2026-09-08T14:00:00Z".to_owned(), false),
            ("2026-09-08T14:00:01Z".to_owned(), false)
        ]
    );
    assert_eq!(log.seen[0].jumps, 1);
}

#[test]
fn what_cannot_be_read_says_what_was_tried_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let read = |path: &Path| read_management(&[Source::path(path)], &wanted(), &TimeZone::UTC).unwrap_err();
    let missing = read(&dir.path().join("no.log"));
    assert!(
        missing.to_string().starts_with("cannot open the log "),
        "{missing}"
    );
    let folder = read(dir.path());
    assert!(
        folder.hint().unwrap().contains("management-server.log"),
        "{folder:?}"
    );
    let packed = dir.path().join("a.zst");
    std::fs::write(&packed, b"\x28\xb5\x2f\xfd1234").unwrap();
    let packed = read(&packed);
    assert!(matches!(packed, LogError::Packed { .. }));
    assert!(packed.hint().unwrap().contains("zstd -dc"));
    // A named pipe is read once.
    let fifo = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::thread::spawn({
        let (fifo, text) = (
            fifo.clone(),
            std::fs::read(fixture("4.19/management.log")).unwrap(),
        );
        move || std::fs::write(fifo, text).unwrap()
    });
    let log = read_management(&[Source::path(&fifo)], &wanted(), &TimeZone::UTC).unwrap();
    writer.join().unwrap();
    assert!(log.seen[0].once);
    seven(&log);
}

/// Pieces that a log is made of, to be put together wrongly.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<Vec<u8>> = [
        "4.22/ms1.log",
        "4.22/ms2.log",
        "4.22/agent-kvm1.log",
        "4.19/management.log",
    ]
    .iter()
    .flat_map(|name| {
        let text = std::fs::read(fixture(name)).unwrap();
        text.split_inclusive(|b| *b == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    })
    .collect();
    prop_oneof![
        4 => (prop::sample::select(lines), any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(|(line, a, b)| {
            let (a, b) = (a.index(line.len() + 1), b.index(line.len() + 1));
            line[a.min(b)..a.max(b)].to_vec()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..60),
        1 => Just(b"2026-02-31 25:61:61,999 INFO [KVMStorageProcessor] (a:[job-/job-9]) (logid:7d3a0187) ".to_vec()),
        1 => prop::sample::select(vec!["\n", "\r\n", "\u{2028}", "é", "job-", "{", "[{", "\0"]).prop_map(|s| s.as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(pieces in prop::collection::vec(piece(), 0..30), packed in any::<bool>(), cut in any::<prop::sample::Index>()) {
        let plain = pieces.concat();
        let mut log = if packed { gzip(&plain) } else { plain };
        if packed {
            log.truncate(cut.index(log.len() + 1));
        }
        let mut wanted = wanted();
        wanted.jobs.insert(JobId(210_187));
        let management = read_management(&[bytes("ms", log.clone())], &wanted, &berlin()).unwrap();
        let agent = read_agent("kvm1", &[bytes("agent", log)], &wanted, &berlin()).unwrap();
        for text in management.moments.iter().chain(&agent.moments).map(|m| &m.text) {
            prop_assert!(text.chars().all(|c| !c.is_control()));
        }
        let mut both = management;
        both.join(agent);
        prop_assert!(both.moments.is_sorted());
    }

    #[test]
    fn a_log_in_pieces_is_the_same_log(step in 1_usize..5000) {
        struct Drip(Cursor<Vec<u8>>, usize);
        impl Read for Drip {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                let most = self.1.min(buf.len());
                self.0.read(&mut buf[..most])
            }
        }
        let text = std::fs::read(fixture("4.19/management.log")).unwrap();
        let source = Source::reader("x/management.log", Drip(Cursor::new(text), step));
        let log = read_management(&[source], &wanted(), &TimeZone::UTC).unwrap();
        prop_assert_eq!(told(&log), told(&older()));
    }
}
