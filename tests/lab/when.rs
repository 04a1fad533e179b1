//! Times of a story: as the report has them, or moved so that the story ends now.
//!
//! The database keeps whole seconds, in UTC. The job tables normally hold a day: a story that is moved keeps every distance.

use anyhow::{Context, Result};
use jiff::Timestamp;

/// Moves every time of a story by the same distance.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shift(i64);

impl Shift {
    /// The dates as they were.
    pub const NONE: Self = Self(0);

    /// `then` (`2026-09-08 14:43:04`) becomes `ago` seconds before now.
    pub fn to_now(then: &str, ago: i64) -> Result<Self> {
        Ok(Self(Timestamp::now().as_second() - ago - seconds(then)?))
    }

    pub fn apply(self, time: &str) -> Result<String> {
        text(seconds(time)? + self.0)
    }
}

/// A database time plus some seconds.
pub fn plus(time: &str, by: i64) -> Result<String> {
    text(seconds(time)? + by)
}

/// Now, as the database writes it.
pub fn now() -> Result<String> {
    text(Timestamp::now().as_second())
}

/// Some seconds ago, as the database writes it.
pub fn ago(by: i64) -> Result<String> {
    text(Timestamp::now().as_second() - by)
}

fn seconds(time: &str) -> Result<i64> {
    let stamp: Timestamp = format!("{}Z", time.replace(' ', "T"))
        .parse()
        .with_context(|| format!("{time:?} is no time"))?;
    Ok(stamp.as_second())
}

fn text(second: i64) -> Result<String> {
    Ok(Timestamp::from_second(second)?
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string())
}
