//! Records out of bytes: a line with a prefix, and the lines without one that follow. In bounded memory, without copying.

use super::line::{Civil, STAMP, civil};
use memchr::memchr;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// A record longer than this is cut. CloudStack's longest lines, whole lists in JSON, have a few hundred kilobytes.
pub const MAX_RECORD: usize = 1 << 20;
/// A line that does not end within this much more is taken to have no end, and the rest of its log is not read.
pub const MAX_ENDLESS: u64 = 256 << 20;
/// Read at a time.
const CHUNK: usize = 256 << 10;
/// As much of a line's beginning tells whether it has a prefix.
const LOOK: usize = STAMP + 4;

/// What was read of one log, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The source's name.
    pub name: String,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines with a prefix: none in a file that is no log of CloudStack's.
    pub records: u64,
    /// Lines that belong to no record: before the first prefix.
    pub stray: u64,
    /// Lines and records longer than [`MAX_RECORD`], which were cut or skipped.
    pub cut: u64,
    /// Why it could not be read to its end.
    pub broken: Option<String>,
    /// How often the clock went back from one line to the next.
    pub jumps: u64,
    /// Lines that matter and bear a date that is none.
    pub undated: u64,
    /// The first record's time.
    pub first: Option<jiff::Timestamp>,
    /// The last record's time.
    pub last: Option<jiff::Timestamp>,
    /// It can be read only once: what a later line would have made look important was passed by.
    pub once: bool,
}

/// What is done with a record.
pub(super) type Each<'a> = dyn FnMut(&[u8], Civil, &mut Seen) + 'a;

/// The cutter.
#[derive(Default)]
pub(super) struct Records {
    buf: Vec<u8>,
    /// Where the record begins that is being read.
    begin: usize,
    /// Where the line begins that is being read.
    line: usize,
    /// What of it holds no newline.
    searched: usize,
    end: usize,
    /// The time of the record that is being read; none outside of one.
    inside: Option<Civil>,
    /// In a line that was cut: how much of it went by.
    endless: Option<u64>,
}

impl Records {
    /// Reads to the end and gives every record, without its last newline.
    pub fn read(&mut self, from: &mut dyn Read, seen: &mut Seen, each: &mut Each<'_>) -> io::Result<()> {
        self.buf.resize(MAX_RECORD + CHUNK, 0);
        loop {
            // No more at a time than stays near the processor.
            let room = self.buf.len().min(self.end + CHUNK);
            let got = match from.read(&mut self.buf[self.end..room]) {
                Ok(got) => got,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    // A gzip that is cut may still have given the beginning of a line; only whole ones count.
                    self.give(self.line, seen, each);
                    return Err(e);
                }
            };
            self.end += got;
            seen.bytes += got as u64;
            if !self.past_cut_line(seen) {
                return Ok(());
            }
            self.scan(got == 0, seen, each);
            if got == 0 {
                self.give(self.end, seen, each);
                return Ok(());
            }
            self.make_room(seen, each);
        }
    }

    /// Skips the rest of a line that was cut; false when it has no end.
    fn past_cut_line(&mut self, seen: &mut Seen) -> bool {
        let Some(gone) = self.endless else { return true };
        if let Some(newline) = memchr(b'\n', &self.buf[..self.end]) {
            self.endless = None;
            (self.begin, self.line, self.searched) = (newline + 1, newline + 1, newline + 1);
            return true;
        }
        let gone = gone + self.end as u64;
        self.endless = Some(gone);
        self.clear();
        if gone > MAX_ENDLESS {
            seen.broken = Some(format!("a line does not end within {} MiB", MAX_ENDLESS >> 20));
            return false;
        }
        true
    }

    fn clear(&mut self) {
        (self.begin, self.line, self.searched, self.end) = (0, 0, 0, 0);
    }

    /// Goes over the lines that are whole, and gives each record that a next prefix ends.
    #[inline]
    fn scan(&mut self, last: bool, seen: &mut Seen, each: &mut Each<'_>) {
        while self.line < self.end {
            let rest = &self.buf[self.line..self.end];
            if self.searched <= self.line {
                // The line's beginning was not looked at yet.
                if rest.len() < LOOK && !last && memchr(b'\n', rest).is_none() {
                    return;
                }
                if let Some((civil, _)) = civil(rest) {
                    self.give(self.line, seen, each);
                    self.begin = self.line;
                    self.inside = Some(civil);
                    seen.records += 1;
                } else if self.inside.is_none() {
                    seen.stray += 1;
                }
                self.searched = self.line;
            }
            let from = self.searched;
            let Some(newline) = memchr(b'\n', &self.buf[from..self.end]) else {
                // One past, so that the beginning is not looked at again.
                self.searched = self.end.max(self.line + 1);
                return;
            };
            self.line = from + newline + 1;
            self.searched = self.line;
            if self.inside.is_none() {
                self.begin = self.line;
            }
        }
    }

    /// Gives the record that ends here, if there is one.
    #[inline]
    fn give(&mut self, end: usize, seen: &mut Seen, each: &mut Each<'_>) {
        if self.begin == end {
            return;
        }
        if let Some(civil) = self.inside.take() {
            let record = &self.buf[self.begin..end];
            each(record.strip_suffix(b"\n").unwrap_or(record), civil, seen);
        }
    }

    /// Moves what is unfinished to the front; what has grown too long is cut.
    fn make_room(&mut self, seen: &mut Seen, each: &mut Each<'_>) {
        if self.end - self.begin > MAX_RECORD {
            seen.cut += 1;
            if self.line > self.begin {
                // Many lines: the whole ones are given, and what follows up to the next prefix belongs to nothing.
                self.give(self.line, seen, each);
            }
            self.inside = None;
            if self.end - self.line > MAX_RECORD {
                self.endless = Some((self.end - self.line) as u64);
                self.clear();
                return;
            }
            self.begin = self.line;
        }
        if self.begin == 0 {
            return;
        }
        self.buf.copy_within(self.begin..self.end, 0);
        self.line -= self.begin;
        self.searched -= self.begin;
        self.end -= self.begin;
        self.begin = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buf.len());
            buf[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn records(bytes: &[u8], step: usize) -> (Vec<String>, Seen) {
        let mut seen = Seen::default();
        let mut out = Vec::new();
        Records::default()
            .read(&mut Drip(bytes, step), &mut seen, &mut |r, _, _| {
                out.push(String::from_utf8_lossy(r).into_owned());
            })
            .unwrap();
        (out, seen)
    }

    const LOG: &str = "stray\n2026-09-08 14:00:00,000 one\n\tat two\n2026-09-08 14:00:01,000 three\r\n\n2026-09-08 14:00:02,000 four";

    #[test]
    fn a_record_is_a_prefix_and_what_follows_however_the_bytes_come() {
        for step in 1..LOG.len() + 2 {
            let (records, seen) = records(LOG.as_bytes(), step);
            assert_eq!(
                records,
                [
                    "2026-09-08 14:00:00,000 one\n\tat two",
                    "2026-09-08 14:00:01,000 three\r\n",
                    "2026-09-08 14:00:02,000 four"
                ],
                "{step}"
            );
            assert_eq!((seen.records, seen.stray, seen.cut), (3, 1, 0), "{step}");
            assert_eq!(seen.bytes, LOG.len() as u64);
        }
    }

    #[test]
    fn a_line_too_long_is_skipped_and_counted_and_the_next_is_read() {
        let mut log = b"2026-09-08 14:00:00,000 ".to_vec();
        log.resize(3 * MAX_RECORD, b'x');
        log.extend(b"\n2026-09-08 14:00:01,000 next\n");
        for step in [4096, usize::MAX] {
            let (records, seen) = records(&log, step);
            assert_eq!(records, ["2026-09-08 14:00:01,000 next"]);
            assert_eq!(seen.cut, 1);
        }
    }

    #[test]
    fn a_record_of_too_many_lines_is_cut() {
        let mut log = b"2026-09-08 14:00:00,000 head\n".to_vec();
        for _ in 0..MAX_RECORD / 8 {
            log.extend(b"\tat line of a trace\n");
        }
        log.extend(b"2026-09-08 14:00:01,000 next");
        let (records, seen) = records(&log, usize::MAX);
        assert_eq!(records.len(), 2);
        assert!(records[0].starts_with("2026-09-08 14:00:00,000 head\n\tat line"));
        assert!(records[0].len() <= MAX_RECORD + CHUNK);
        assert_eq!(records[1], "2026-09-08 14:00:01,000 next");
        assert_eq!(seen.cut, 1);
    }

    #[test]
    fn a_line_without_end_ends_the_reading() {
        let mut seen = Seen::default();
        let mut given = 0;
        Records::default()
            .read(&mut io::repeat(0), &mut seen, &mut |_, _, _| given += 1)
            .unwrap();
        assert_eq!((given, seen.cut), (0, 1));
        assert!(seen.broken.unwrap().contains("does not end within 256 MiB"));
        assert!(seen.bytes < 2 * MAX_ENDLESS);
    }
}
