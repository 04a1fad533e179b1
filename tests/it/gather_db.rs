//! The database's side of `gather`, on a real MariaDB with CloudStack's tables.

mod again;
mod cells;
mod jobs;
mod log;
mod rows;
mod scopes;
mod seen;
mod trouble;

use jiff::Timestamp;
use volrecon::evidence::Scope;
use volrecon::gather::{Reader, Rows};

/// A time of the database: `2026-06-01 08:00:00`, UTC.
pub fn time(text: &str) -> Timestamp {
    format!("{}Z", text.replace(' ', "T")).parse().unwrap()
}

/// All rows.
pub fn everything(reader: &mut Reader) -> Rows {
    reader.rows(&Scope::default()).unwrap()
}
