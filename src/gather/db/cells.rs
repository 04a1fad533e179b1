//! One row's cells, whatever the protocol or the column's type: NULL is none, nonsense is an error, nothing panics.

use super::error::DbError;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mysql::{Row, Value};

/// A row, and what it is a row of.
pub(super) struct Cells<'a> {
    row: &'a Row,
    what: &'static str,
}

type Cell<T> = Result<T, DbError>;

impl<'a> Cells<'a> {
    pub fn new(row: &'a Row, what: &'static str) -> Self {
        Self { row, what }
    }

    fn value(&self, column: usize) -> &Value {
        self.row.as_ref(column).unwrap_or(&Value::NULL)
    }

    fn bad(&self, column: usize) -> DbError {
        let id = text_of(self.value(0)).unwrap_or_default();
        DbError::Row {
            what: self.what,
            column: column + 1,
            id,
        }
    }

    /// Text; bytes that are no UTF-8 are replaced.
    pub fn text(&self, column: usize) -> Option<String> {
        text_of(self.value(column))
    }

    /// Text that must be there.
    pub fn must_text(&self, column: usize) -> Cell<String> {
        self.text(column).ok_or_else(|| self.bad(column))
    }

    /// An unsigned number.
    pub fn number(&self, column: usize) -> Cell<Option<u64>> {
        match self.value(column) {
            Value::NULL => Ok(None),
            Value::UInt(n) => Ok(Some(*n)),
            Value::Int(n) => u64::try_from(*n).map(Some).map_err(|_| self.bad(column)),
            Value::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| self.bad(column))?;
                text.trim().parse().map(Some).map_err(|_| self.bad(column))
            }
            Value::Float(_) | Value::Double(_) | Value::Date(..) | Value::Time(..) => Err(self.bad(column)),
        }
    }

    /// An id that must be there.
    pub fn id<T>(&self, column: usize, wrap: fn(u64) -> T) -> Cell<T> {
        self.number(column)?.map(wrap).ok_or_else(|| self.bad(column))
    }

    /// An id, or none.
    pub fn maybe<T>(&self, column: usize, wrap: fn(u64) -> T) -> Cell<Option<T>> {
        Ok(self.number(column)?.map(wrap))
    }

    /// A `tinyint(1)`, `bit(1)` or the result of a comparison.
    pub fn flag(&self, column: usize) -> bool {
        match self.value(column) {
            Value::Int(n) => *n != 0,
            Value::UInt(n) => *n != 0,
            Value::Bytes(bytes) => !matches!(bytes.as_slice(), [] | b"0" | [0]),
            _ => false,
        }
    }

    /// A `DATETIME`, which CloudStack writes in UTC. A zero date is none.
    pub fn time(&self, column: usize) -> Cell<Option<Timestamp>> {
        let civil = match self.value(column) {
            Value::NULL | Value::Date(0, ..) => return Ok(None),
            Value::Date(year, month, day, hour, minute, second, _) => {
                let narrow = |n: u8| i8::try_from(n).map_err(|_| self.bad(column));
                let year = i16::try_from(*year).map_err(|_| self.bad(column))?;
                let (month, day) = (narrow(*month)?, narrow(*day)?);
                DateTime::new(
                    year,
                    month,
                    day,
                    narrow(*hour)?,
                    narrow(*minute)?,
                    narrow(*second)?,
                    0,
                )
            }
            value => {
                let Value::Bytes(bytes) = value else {
                    return Err(self.bad(column));
                };
                let text = std::str::from_utf8(bytes).map_err(|_| self.bad(column))?;
                if text.starts_with("0000") {
                    return Ok(None);
                }
                text.parse::<DateTime>()
            }
        };
        let civil = civil.map_err(|_| self.bad(column))?;
        TimeZone::UTC
            .to_timestamp(civil)
            .map(Some)
            .map_err(|_| self.bad(column))
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(n) => Some(n.to_string()),
        Value::UInt(n) => Some(n.to_string()),
        _ => None,
    }
}
