//! From a server's local time to UTC. Logs do not say their zone, and local times repeat once a year.

use super::line::Civil;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// Threads write a little out of order; only more than this is told, in milliseconds.
const TOLERANCE: i64 = 1000;

/// One file's clock.
pub(super) struct Clock<'z> {
    zone: &'z TimeZone,
    newest: Civil,
    last: Civil,
    behind: bool,
    /// How often the time went back from one record to the next.
    pub jumps: u64,
}

/// A time, and what is doubtful about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub time: Timestamp,
    pub ambiguous: bool,
    pub out_of_order: bool,
}

impl<'z> Clock<'z> {
    pub const fn new(zone: &'z TimeZone) -> Self {
        Self {
            zone,
            newest: Civil(0),
            last: Civil(0),
            behind: false,
            jumps: 0,
        }
    }

    /// Every record's time, in the order of the file.
    #[inline]
    pub fn saw(&mut self, civil: Civil) {
        if civil >= self.newest {
            self.newest = civil;
            self.behind = false;
        } else {
            self.behind = later(civil, self.newest);
            if civil < self.last && later(civil, self.last) {
                self.jumps += 1;
            }
        }
        self.last = civil;
    }

    /// The last record's time in UTC; none if there is no such time.
    pub fn told(&self) -> Option<Told> {
        let time = local(self.last)?;
        let ambiguous = self.zone.to_ambiguous_timestamp(time);
        let (fold, doubtful) = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => (false, false),
            AmbiguousOffset::Gap { .. } => (false, true),
            AmbiguousOffset::Fold { .. } => (true, true),
        };
        // An hour that comes twice: what is behind the newest is in its second coming.
        let time = if fold && self.behind {
            ambiguous.later()
        } else {
            ambiguous.compatible()
        };
        Some(Told {
            time: time.ok()?,
            ambiguous: doubtful,
            out_of_order: self.behind && !fold,
        })
    }
}

fn local(civil: Civil) -> Option<DateTime> {
    let [year, month, day, hour, minute, second, millis] = civil.parts();
    let small = |n: u64| i8::try_from(n).ok();
    DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        // A leap second is the second before it.
        small(second.min(59))?,
        i32::try_from(millis).ok()? * 1_000_000,
    )
    .ok()
}

/// Whether `new` is later than `old` by more than threads account for.
#[cold]
fn later(old: Civil, new: Civil) -> bool {
    match (local(old), local(new)) {
        (Some(old), Some(new)) => new.duration_since(old).as_millis().gt(&i128::from(TOLERANCE)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::logs::line::civil;

    fn at(clock: &mut Clock<'_>, text: &str) -> (String, bool, bool) {
        clock.saw(civil(text.as_bytes()).unwrap().0);
        let told = clock.told().unwrap();
        (told.time.to_string(), told.ambiguous, told.out_of_order)
    }

    #[test]
    fn local_time_becomes_utc() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let mut clock = Clock::new(&zone);
        let told = at(&mut clock, "2026-09-08 16:42:40,113");
        assert_eq!(told, ("2026-09-08T14:42:40.113Z".to_owned(), false, false));
    }

    #[test]
    fn the_hour_that_comes_twice() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let mut clock = Clock::new(&zone);
        assert_eq!(
            at(&mut clock, "2026-10-25 01:59:59,000").0,
            "2026-10-24T23:59:59Z"
        );
        let first = at(&mut clock, "2026-10-25 02:30:00,000");
        assert_eq!(first, ("2026-10-25T00:30:00Z".to_owned(), true, false));
        let again = at(&mut clock, "2026-10-25 02:10:00,000");
        assert_eq!(again, ("2026-10-25T01:10:00Z".to_owned(), true, false));
        assert_eq!(
            at(&mut clock, "2026-10-25 03:00:00,000").0,
            "2026-10-25T02:00:00Z"
        );
    }

    #[test]
    fn the_hour_that_never_comes() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let told = at(&mut Clock::new(&zone), "2026-03-29 02:30:00,000");
        assert!(told.1);
    }

    #[test]
    fn a_clock_that_jumps_back_is_told_and_a_thread_that_is_late_is_not() {
        let zone = TimeZone::UTC;
        let mut clock = Clock::new(&zone);
        at(&mut clock, "2026-09-08 14:00:10,000");
        assert!(!at(&mut clock, "2026-09-08 14:00:09,990").2);
        assert!(at(&mut clock, "2026-09-08 13:00:00,000").2);
        assert!(at(&mut clock, "2026-09-08 13:00:01,000").2);
        assert!(!at(&mut clock, "2026-09-08 14:00:11,000").2);
        assert_eq!(clock.jumps, 1);
    }

    #[test]
    fn times_that_are_none() {
        let zone = TimeZone::UTC;
        let mut clock = Clock::new(&zone);
        for text in [
            "2026-02-30 00:00:00,000",
            "0000-00-00 00:00:00,000",
            "9999-99-99 99:99:99,999",
        ] {
            clock.saw(civil(text.as_bytes()).unwrap().0);
            assert!(clock.told().is_none(), "{text}");
        }
    }
}
