//! The history of volumes beyond their jobs: `event` and `usage_event`. Read for orphans, and for what is explained.

use super::cells::Cells;
use super::rows::list;
use super::seen::paths;
use super::{DbError, Reader};
use crate::model::{Domain, JobId, Record, RecordSource, Records, Step, Volume, VolumeId, Work, serial_of};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Volumes per statement.
const CHUNK: usize = 1000;
/// Rows kept of each table for one volume, newest first.
const KEPT: usize = 500;
/// `event` has millions of rows in an old cloud, and not every release has an index for this: history is worth no more.
const LONGEST: Duration = Duration::from_secs(20);
/// What is left to it where the time for the whole run is all but up.
const SHORTEST: Duration = Duration::from_millis(500);

/// Volumes that no row claims and that some disk may be, by its serial or a name of its source: all orphans, and a few
/// others. Cheaper than a sight, which is made once, when everything is read.
#[must_use]
pub fn maybe_orphans<'v>(
    volumes: &'v [Volume],
    domains: &mut dyn Iterator<Item = &Domain>,
) -> Vec<&'v Volume> {
    let free = || {
        volumes
            .iter()
            .filter(|v| v.instance.is_none() && v.removed.is_none())
    };
    let serials: HashMap<u128, &Volume> = free()
        .filter_map(|v| Some((serial_of(v.uuid.as_deref()?)?, v)))
        .collect();
    let names: HashMap<&str, &Volume> = free()
        .flat_map(|v| {
            [v.path.as_deref(), v.iscsi_name.as_deref()]
                .into_iter()
                .flatten()
                .map(move |name| (name, v))
        })
        .collect();
    let mut out: BTreeMap<VolumeId, &Volume> = BTreeMap::new();
    if serials.is_empty() && names.is_empty() {
        return Vec::new();
    }
    for disk in domains.flat_map(|domain| &domain.disks) {
        let serial = disk.serial.as_deref().and_then(serial_of);
        let by_serial = serial.and_then(|serial| serials.get(&serial).copied());
        let by_name = || {
            paths(disk)
                .iter()
                .find_map(|name| names.get(name.as_str()).copied())
        };
        out.extend(by_serial.or_else(by_name).map(|volume| (volume.id, volume)));
    }
    out.into_values().collect()
}

impl Reader {
    /// Reads what `event` and `usage_event` say of volumes, in one transaction. A table that is not there, may not be
    /// read, or takes longer than 20 seconds (or the run's own limit) is said and no error: nothing that may be done depends on it.
    ///
    /// # Errors
    /// When no transaction can be had, or the jobs cannot be read.
    pub fn records(&mut self, volumes: &[&Volume]) -> Result<BTreeMap<VolumeId, Records>, DbError> {
        let mut out: BTreeMap<VolumeId, Records> =
            volumes.iter().map(|v| (v.id, Records::default())).collect();
        if volumes.is_empty() {
            return Ok(out);
        }
        self.begin()?;
        let left = self
            .end
            .map_or(LONGEST, |end| end.saturating_duration_since(Instant::now()));
        self.limit(left.clamp(SHORTEST, LONGEST));
        for chunk in volumes.chunks(CHUNK) {
            let starts = self.starts(chunk, &mut out)?;
            let events = self.events(chunk, &starts);
            keep("event", events, chunk, &mut out);
            let usage = self.usage(chunk);
            keep("usage_event", usage, chunk, &mut out);
        }
        self.limit(Duration::ZERO);
        self.end()?;
        for records in out.values_mut() {
            records.all.sort_by_key(|r| (r.time, r.source, r.id));
        }
        Ok(out)
    }

    /// Limits every statement's time; 0 takes the limit away. MySQL 5.6 knows none, and does without.
    fn limit(&mut self, limit: Duration) {
        let sql = if self.server.contains("MariaDB") {
            format!("SET SESSION max_statement_time = {}", limit.as_secs_f64())
        } else {
            format!("SET SESSION max_execution_time = {}", limit.as_millis())
        };
        let _ = self.run("the session", &sql);
    }

    /// Which API job began with which event, and what logs call it. Nothing else of a job's parameters is read: they hold
    /// API keys.
    fn starts(
        &mut self,
        volumes: &[&Volume],
        out: &mut BTreeMap<VolumeId, Records>,
    ) -> Result<BTreeMap<u64, JobId>, DbError> {
        let ids = list(volumes.iter().map(|v| v.id.0));
        let sql = self.schema.fit(include_str!("../sql/starts.sql"), &ids);
        let found = self.read("async_job", &sql, |c| {
            Ok((c.id(0, JobId)?, c.id(1, VolumeId)?, c.text(2), c.number(3)?))
        })?;
        let mut starts = BTreeMap::new();
        for (job, volume, uuid, event) in found {
            starts.extend(event.map(|event| (event, job)));
            let log_id = uuid
                .as_deref()
                .and_then(|uuid| uuid.get(..8))
                .map(str::to_ascii_lowercase);
            if let (Some(records), Some(log_id)) = (out.get_mut(&volume), log_id) {
                records.log_ids.insert(log_id, job);
            }
        }
        Ok(starts)
    }

    /// By the columns that 4.16 has; where they are missing, by the uuid in the text, and by the events that these began.
    fn events(
        &mut self,
        volumes: &[&Volume],
        jobs: &BTreeMap<u64, JobId>,
    ) -> Result<Vec<(VolumeId, Record)>, Missing> {
        if !self.schema.has("event") {
            return Err(Missing::cannot_be_read("event"));
        }
        let sql = include_str!("../sql/events.sql");
        let by_id = self.schema.has_column("event", "resource_id")
            && self.schema.has_column("event", "resource_type");
        if by_id {
            let uuids: HashMap<VolumeId, &Volume> = volumes.iter().map(|v| (v.id, *v)).collect();
            let ids = list(volumes.iter().map(|v| v.id.0));
            let filter = format!("e.resource_type = 'Volume' AND e.resource_id IN ({ids})");
            let sql = self.schema.fit(sql, &filter);
            let found = self.read("event", &sql, |c| {
                let Some(volume) = uuids.get(&c.id(7, VolumeId)?) else {
                    return Ok(None);
                };
                Ok(event(c, volume, jobs)?.map(|record| (volume.id, record)))
            });
            return Ok(found
                .map_err(|e| Missing::failed("event", &e))?
                .into_iter()
                .flatten()
                .collect());
        }
        let named: Vec<&Volume> = volumes
            .iter()
            .copied()
            .filter(|v| v.uuid.as_deref().is_some_and(is_uuid))
            .collect();
        if named.is_empty() {
            return Err(Missing(
                "the row has no uuid by which its events could be found".to_owned(),
            ));
        }
        let filter = format!("({})", vec!["e.description LIKE ?"; named.len()].join(" OR "));
        let params = named
            .iter()
            .map(|v| format!("%{}%", v.uuid.as_deref().unwrap_or_default()));
        let sql_named = self.schema.fit(sql, &filter);
        let found = self.ask("event", &sql_named, params.collect(), |c| {
            let text = c.text(6).unwrap_or_default().to_ascii_lowercase();
            let is = |v: &&&Volume| {
                v.uuid
                    .as_deref()
                    .is_some_and(|uuid| text.contains(&uuid.to_ascii_lowercase()))
            };
            let Some(volume) = named.iter().find(is) else {
                return Ok(None);
            };
            Ok(event(c, volume, jobs)?.map(|record| (volume.id, record)))
        });
        let mut found: Vec<(VolumeId, Record)> = found
            .map_err(|e| Missing::failed("event", &e))?
            .into_iter()
            .flatten()
            .collect();
        let began: BTreeMap<u64, &Volume> = found
            .iter()
            .filter_map(|(id, record)| Some((record.start?, *named.iter().find(|v| v.id == *id)?)))
            .collect();
        let filter = format!("e.start_id IN ({})", list(began.keys().copied()));
        let sql = self.schema.fit(sql, &filter);
        let later = self.read("event", &sql, |c| {
            let Some(volume) = began.get(&c.number(4)?.unwrap_or_default()) else {
                return Ok(None);
            };
            Ok(event(c, volume, jobs)?.map(|record| (volume.id, record)))
        });
        found.extend(
            later
                .map_err(|e| Missing::failed("event", &e))?
                .into_iter()
                .flatten(),
        );
        found.sort_by_key(|(_, record)| std::cmp::Reverse(record.id));
        found.dedup();
        Ok(found)
    }

    fn usage(&mut self, volumes: &[&Volume]) -> Result<Vec<(VolumeId, Record)>, Missing> {
        if !self.schema.has("usage_event") {
            return Err(Missing::cannot_be_read("usage_event"));
        }
        let ids = list(volumes.iter().map(|v| v.id.0));
        let sql = self.schema.fit(include_str!("../sql/usage.sql"), &ids);
        let found = self.read("usage_event", &sql, |c| {
            let Some(record) = usage(c)? else { return Ok(None) };
            Ok(Some((c.id(3, VolumeId)?, record)))
        });
        Ok(found
            .map_err(|e| Missing::failed("usage_event", &e))?
            .into_iter()
            .flatten()
            .collect())
    }
}

/// Why a table tells nothing, in words.
struct Missing(String);

impl Missing {
    fn cannot_be_read(table: &str) -> Self {
        Self(format!("the table {table} cannot be read"))
    }

    fn failed(table: &str, error: &DbError) -> Self {
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        Self(format!("the table {table} could not be read: {cause}"))
    }
}

/// Newest first, so that what is beyond [`KEPT`] is the oldest.
fn keep(
    table: &str,
    found: Result<Vec<(VolumeId, Record)>, Missing>,
    volumes: &[&Volume],
    out: &mut BTreeMap<VolumeId, Records>,
) {
    match found {
        Ok(found) => {
            let mut count: HashMap<VolumeId, usize> = HashMap::new();
            for (id, record) in found {
                let Some(records) = out.get_mut(&id) else { continue };
                let count = count.entry(id).or_default();
                *count += 1;
                match *count {
                    n if n <= KEPT => records.all.push(record),
                    n if n == KEPT + 1 => {
                        records
                            .missing
                            .push(format!("only the newest {KEPT} rows of {table} were kept"));
                    }
                    _ => {}
                }
            }
        }
        Err(Missing(why)) => {
            for volume in volumes {
                if let Some(records) = out.get_mut(&volume.id) {
                    records.missing.push(why.clone());
                }
            }
        }
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

/// A row of `usage.sql`; none for what it does not know.
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
