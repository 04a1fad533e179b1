//! A record's own prefix: time, level, logger, thread, jobs, log id. Nothing after it is ever taken for one.
//!
//! From 4.20: `2026-09-08 14:42:40,113 DEBUG [c.c.v.VmWorkJobDispatcher] (Work-Job-Executor-6:[ctx-1, job-8/job-9,
//! ctx-2]) (logid:9fdf554d) …`. Until 4.19 the jobs stand without brackets and commas: `(…-6:ctx-1 job-8/job-9 ctx-2)`.

use crate::model::JobId;

/// Bytes of a date and time to the second.
pub(super) const STAMP: usize = 19;

/// A local time: year, month, day, hour, minute, second, millisecond as decimal digits in one number, so that it orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Civil(pub u64);

impl Civil {
    /// The parts, largest first.
    pub fn parts(self) -> [u64; 7] {
        let n = self.0;
        [
            n / 10_000_000_000_000,
            n / 100_000_000_000 % 100,
            n / 1_000_000_000 % 100,
            n / 10_000_000 % 100,
            n / 100_000 % 100,
            n / 1000 % 100,
            n % 1000,
        ]
    }
}

/// Reads `2026-09-08 14:42:40,113` at the beginning; a `T` and a point are as good, and the fraction may be missing.
#[inline]
pub(super) fn civil(bytes: &[u8]) -> Option<(Civil, usize)> {
    let stamp: &[u8; STAMP] = bytes.first_chunk()?;
    let fixed = stamp[4] == b'-' && stamp[7] == b'-' && stamp[13] == b':' && stamp[16] == b':';
    if !fixed || !matches!(stamp[10], b' ' | b'T') {
        return None;
    }
    let digits = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18].map(|at| stamp[at].wrapping_sub(b'0'));
    let number = decimal(&digits)?;
    let fraction = bytes.get(STAMP..STAMP + 4).and_then(|fraction| {
        let digits = [1, 2, 3].map(|at| fraction[at].wrapping_sub(b'0'));
        matches!(fraction[0], b',' | b'.').then(|| decimal(&digits))?
    });
    let end = STAMP + if fraction.is_some() { 4 } else { 0 };
    Some((Civil(number * 1000 + fraction.unwrap_or(0)), end))
}

/// Digits, less `'0'`, as a number.
#[inline]
fn decimal(digits: &[u8]) -> Option<u64> {
    let all = digits.iter().fold(true, |all, d| all & (*d < 10));
    all.then(|| digits.iter().fold(0, |n, d| n * 10 + u64::from(*d)))
}

/// A record, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The server's local time.
    pub civil: Civil,
    /// The logger's class, last part, without `$5`.
    pub logger: &'a str,
    /// The API job by the thread's context.
    pub job: Option<JobId>,
    /// The work job by the thread's context.
    pub work: Option<JobId>,
    /// Eight hex digits.
    pub log_id: Option<u32>,
    /// What is said, first line.
    pub message: &'a str,
    /// Lines that follow without a prefix: stack traces, XML.
    pub rest: &'a str,
}

/// Takes a record apart; none if it does not begin as a log line does.
pub(super) fn parse(record: &str) -> Option<Line<'_>> {
    let (civil, end) = civil(record.as_bytes())?;
    let (head, rest) = record.split_once('\n').unwrap_or((record, ""));
    let head = head.strip_suffix('\r').unwrap_or(head);
    let after = head.get(end..)?.strip_prefix(' ')?.trim_start_matches(' ');
    let level = after.bytes().take_while(u8::is_ascii_alphabetic).count();
    if level == 0 {
        return None;
    }
    let after = after[level..].trim_start_matches(' ').strip_prefix('[')?;
    let (logger, after) = after.split_once(']')?;
    let (thread, after) = after.trim_start_matches(' ').strip_prefix('(')?.split_once(')')?;
    let (log_id, message) = match after.strip_prefix(" (logid:").and_then(|a| a.split_once(')')) {
        Some((id, message)) => (log_id(id), message),
        None => (None, after),
    };
    let logger = logger.rsplit('.').next().unwrap_or(logger);
    let logger = logger.split('$').next().unwrap_or(logger);
    let (name, context) = thread.split_once(':').unwrap_or((thread, ""));
    let (job, work) = jobs(name, context);
    Some(Line {
        civil,
        logger,
        job,
        work,
        log_id,
        message: message.trim_start_matches(' '),
        rest,
    })
}

/// Eight hex digits, as a number.
pub(super) fn log_id(text: &str) -> Option<u32> {
    let plain = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

/// `job-A/job-W`, or `job-A`, which a worker's thread has for its own.
fn jobs(name: &str, context: &str) -> (Option<JobId>, Option<JobId>) {
    let parts = context.split([' ', ',', '[', ']']);
    let Some(jobs) = parts.rev().find(|part| part.starts_with("job-")) else {
        return (None, None);
    };
    match jobs.split_once('/') {
        Some((api, work)) => (job(api), job(work)),
        None if name.starts_with("Work-Job") => (None, job(jobs)),
        None => (job(jobs), None),
    }
}

fn job(text: &str) -> Option<JobId> {
    let (id, rest) = number(text.strip_prefix("job-")?)?;
    rest.is_empty().then_some(JobId(id))
}

/// The number that a text begins with, and what follows.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &str) -> Line<'_> {
        parse(record).unwrap_or_else(|| panic!("not a line: {record}"))
    }

    #[test]
    fn the_newer_prefix() {
        let line = read(
            "2026-09-08 14:42:40,113 DEBUG [c.c.v.VmWorkJobDispatcher] (Work-Job-Executor-6:[ctx-1a, job-8/job-9, ctx-2b]) (logid:9fdf554d) Run VM work job: x",
        );
        assert_eq!(line.civil, Civil(20_260_908_144_240_113));
        assert_eq!(line.logger, "VmWorkJobDispatcher");
        assert_eq!((line.job, line.work), (Some(JobId(8)), Some(JobId(9))));
        assert_eq!(line.log_id, Some(0x9fdf_554d));
        assert_eq!(line.message, "Run VM work job: x");
    }

    #[test]
    fn the_older_prefix() {
        let line = read(
            "2024-12-18 06:57:58,038 INFO  [o.a.c.f.j.i.AsyncJobManagerImpl$5] (API-Job-Executor-67:ctx-9a295591 job-117 ctx-9b0fa450) (logid:d30252c8) Sync",
        );
        assert_eq!(line.logger, "AsyncJobManagerImpl");
        assert_eq!((line.job, line.work), (Some(JobId(117)), None));
        let line = read("2024-12-18T06:57:58.038 WARN [x.Y] (Work-Job-Executor-4:ctx-1 job-7) (logid:) z");
        assert_eq!((line.job, line.work, line.log_id), (None, Some(JobId(7)), None));
        assert_eq!((line.logger, line.message), ("Y", "z"));
    }

    #[test]
    fn agents_and_empty_contexts() {
        for thread in [
            "AgentRequest-Handler-2:[]",
            "agentRequest-Handler-3:null",
            "main:",
            "main",
        ] {
            let record = format!(
                "2026-09-08 14:42:40,000 WARN  [kvm.storage.KVMStorageProcessor] ({thread}) (logid:4f27dc30) m"
            );
            let line = read(&record);
            assert_eq!((line.job, line.work), (None, None));
            assert_eq!(line.log_id, Some(0x4f27_dc30));
        }
        assert_eq!(
            read("2026-09-08 14:42:40 INFO [a] (b:c) said (logid:4f27dc30) so").log_id,
            None
        );
    }

    #[test]
    fn a_prefix_in_the_middle_is_only_words() {
        let forged = "2026-09-08 14:42:40,000 INFO  [c.c.s.VolumeApiServiceImpl] (API-Job-Executor-1:[ctx-1, job-5]) (logid:11111111) Trying 2026-09-08 14:42:40,000 INFO [a.b.AsyncJobManagerImpl] (x:[job-9]) (logid:22222222) Complete";
        let line = read(forged);
        assert_eq!((line.job, line.log_id), (Some(JobId(5)), Some(0x1111_1111)));
        assert_eq!(line.logger, "VolumeApiServiceImpl");
    }

    #[test]
    fn what_is_no_line() {
        for text in [
            "",
            "at com.cloud",
            "2026-09-08",
            "2026-09-08 14:42:40,000",
            "2026-09-08 14:42:40,000 INFO",
            "2026-13-08 1x:42:40,000 INFO [a] (b) c",
            "2026-09-08 14:42:40,000  [a] (b) c",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(number("99999999999999999999999"), None);
    }
}
