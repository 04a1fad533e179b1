//! The history of one volume beyond its jobs: `event` and `usage_event`. Read for `explain` only.

use super::cells::Cells;
use super::{DbError, Reader};
use crate::model::{JobId, Record, RecordSource, Records, Step, Volume, Work};
use std::collections::BTreeMap;

/// Rows read of each table, newest first.
const LIMIT: usize = 500;

impl Reader {
    /// Reads what `event` and `usage_event` say of a volume, in one transaction. A table that is not there, or may not be
    /// read, is said and no error.
    ///
    /// # Errors
    /// When a statement fails, or a row cannot be read.
    pub fn records(&mut self, volume: &Volume) -> Result<Records, DbError> {
        self.begin()?;
        let mut out = Records::default();
        let jobs = self.starts(volume)?;
        if self.schema.has("event") {
            self.events(volume, &jobs, &mut out)?;
        } else {
            out.missing.push("the table event cannot be read".to_owned());
        }
        if self.schema.has("usage_event") {
            let sql = self
                .schema
                .fit(include_str!("../sql/usage.sql"), &volume.id.to_string());
            let found = self.read("usage_event", &sql, usage)?;
            cut("usage_event", found.len(), &mut out);
            out.all.extend(found.into_iter().flatten());
        } else {
            out.missing
                .push("the table usage_event cannot be read".to_owned());
        }
        self.end()?;
        out.all.sort_by_key(|r| (r.time, r.source, r.id));
        Ok(out)
    }

    /// Which API job began with which event. Nothing else of a job's parameters is read: they hold API keys.
    fn starts(&mut self, volume: &Volume) -> Result<BTreeMap<u64, JobId>, DbError> {
        let sql = self
            .schema
            .fit(include_str!("../sql/starts.sql"), &volume.id.to_string());
        let found = self.read("async_job", &sql, |c| Ok((c.number(1)?, c.id(0, JobId)?)))?;
        Ok(found
            .into_iter()
            .filter_map(|(event, job)| Some((event?, job)))
            .collect())
    }

    /// By the columns that 4.16 has; where they are missing, by the uuid in the text.
    fn events(
        &mut self,
        volume: &Volume,
        jobs: &BTreeMap<u64, JobId>,
        out: &mut Records,
    ) -> Result<(), DbError> {
        let by_id = self.schema.has_column("event", "resource_id")
            && self.schema.has_column("event", "resource_type");
        let (filter, params) = if by_id {
            let filter = "e.resource_type = 'Volume' AND e.resource_id = ?";
            (filter, vec![volume.id.to_string()])
        } else {
            let Some(uuid) = volume.uuid.as_deref().filter(|uuid| is_uuid(uuid)) else {
                out.missing
                    .push("the row has no uuid by which its events could be found".to_owned());
                return Ok(());
            };
            ("e.description LIKE ?", vec![format!("%{uuid}%")])
        };
        let sql = self.schema.fit(include_str!("../sql/events.sql"), filter);
        let found = self.ask("event", &sql, params, |c| event(c, volume, jobs))?;
        cut("event", found.len(), out);
        out.all.extend(found.into_iter().flatten());
        Ok(())
    }
}

fn cut(table: &str, found: usize, out: &mut Records) {
    if found >= LIMIT {
        out.missing
            .push(format!("only the newest {LIMIT} rows of {table} were read"));
    }
}

fn work(text: Option<&str>) -> Option<Work> {
    match text {
        Some("VOLUME.ATTACH") => Some(Work::Attach),
        Some("VOLUME.DETACH") => Some(Work::Detach),
        _ => None,
    }
}

/// A row of `events.sql`; none for a state that is not known, or without a time.
fn event(c: &Cells<'_>, volume: &Volume, jobs: &BTreeMap<u64, JobId>) -> Result<Option<Record>, DbError> {
    let id = c.id(0, |id| id)?;
    let step = match (c.text(2).as_deref(), c.text(3).as_deref()) {
        (Some("Scheduled"), _) => Step::Scheduled,
        (Some("Started"), _) => Step::Started,
        (Some("Completed"), Some("INFO")) => Step::Succeeded,
        (Some("Completed"), _) => Step::Failed,
        _ => return Ok(None),
    };
    let start = c.number(4)?.filter(|start| *start > 0).unwrap_or(id);
    let (Some(work), Some(time)) = (work(c.text(1).as_deref()), c.time(5)?) else {
        return Ok(None);
    };
    let description = c.text(6).unwrap_or_default();
    Ok(Some(Record {
        source: RecordSource::Event,
        id,
        time,
        work,
        step,
        start: Some(start),
        job: jobs.get(&start).copied(),
        vm_uuid: vm_in(&description, volume).filter(|_| work == Work::Attach),
    }))
}

/// A row of `usage.sql`.
fn usage(c: &Cells<'_>) -> Result<Option<Record>, DbError> {
    let (Some(work), Some(time)) = (work(c.text(1).as_deref()), c.time(2)?) else {
        return Ok(None);
    };
    Ok(Some(Record {
        source: RecordSource::Usage,
        id: c.id(0, |id| id)?,
        time,
        work,
        step: Step::Succeeded,
        start: None,
        job: None,
        vm_uuid: None,
    }))
}

/// The uuid that stands in an attach's text and is not the volume's, if there is exactly one.
fn vm_in(text: &str, volume: &Volume) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_hexdigit() || c == '-'));
    let own = volume.uuid.as_deref().unwrap_or_default();
    let mut others = words.filter(|word| is_uuid(word) && !word.eq_ignore_ascii_case(own));
    let first = others.next()?;
    others
        .all(|other| other == first)
        .then(|| first.to_ascii_lowercase())
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
