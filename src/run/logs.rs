//! `--management-log` and `--agent-log`: the logs of one volume, read into the evidence.

use crate::cli;
use crate::evidence::Evidence;
use crate::gather::logs::{Log, LogError, Seen, Source, Wanted, WantedVolume, read_agent, read_management};
use crate::model::{JobKind, Logs, Volume, VolumeId};
use crate::sight::Sight;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Reads the logs that were named for what they say of a volume. Without any, the evidence stays as it is.
///
/// # Errors
/// When a log cannot be opened or read; a damaged one is read as far as it goes, and that is said.
pub(super) fn read(evidence: &mut Evidence, id: VolumeId, args: &cli::LogArgs) -> Result<(), LogError> {
    if args.management_log.is_empty() && args.agent_log.is_empty() {
        return Ok(());
    }
    let Some(volume) = evidence.volumes.iter().find(|v| v.id == id).cloned() else {
        return Ok(());
    };
    let zone = args.log_zone.clone().unwrap_or_else(TimeZone::system);
    let mut wanted = wanted(evidence, &volume);
    let mut log = Log::default();
    if !args.management_log.is_empty() {
        let sources: Vec<Source> = args.management_log.iter().map(Source::path).collect();
        log = read_management(&sources, &wanted, &zone)?;
        wanted = log.wanted.clone();
    }
    let mut agents: BTreeMap<&str, Vec<Source>> = BTreeMap::new();
    for of in &args.agent_log {
        agents.entry(&of.host).or_default().push(Source::path(&of.file));
    }
    for (host, sources) in agents {
        log.join(read_agent(host, &sources, &wanted, &zone)?);
    }
    evidence.logs = Some(Logs {
        missing: missing(&log, &volume),
        moments: log.moments,
    });
    Ok(())
}

/// A volume by all its names, and the jobs of it that are on record.
fn wanted(evidence: &Evidence, volume: &Volume) -> Wanted {
    let sight = Sight::new(evidence);
    let mut paths: Vec<String> = volume.path.clone().into_iter().collect();
    // An overlay, or another copy: the guest's own source.
    for held in sight.holders(volume.id) {
        let source = sight.disk(held).source.as_ref();
        let last = source.and_then(|source| source.name.rsplit('/').next());
        paths.extend(last.filter(|last| !last.is_empty()).map(str::to_owned));
    }
    paths.sort();
    paths.dedup();
    let mut out = Wanted {
        volumes: vec![WantedVolume {
            id: Some(volume.id),
            uuid: volume.uuid.clone(),
            paths,
            name: volume.name.clone(),
        }],
        ..Wanted::default()
    };
    for job in evidence.jobs.iter().filter(|job| job.volume == Some(volume.id)) {
        match job.kind {
            JobKind::Work => {
                out.work_jobs.insert(job.id);
                out.jobs.extend(job.api);
            }
            JobKind::Api => {
                out.jobs.insert(job.id);
            }
        }
    }
    for log_id in evidence
        .records
        .get(&volume.id)
        .iter()
        .flat_map(|r| r.log_ids.keys())
    {
        out.log_id(log_id);
    }
    out
}

/// What the logs leave in doubt, in words.
fn missing(log: &Log, volume: &Volume) -> Vec<String> {
    let mut out: Vec<String> = log.seen.iter().flat_map(of_one).collect();
    if log.dropped > 0 {
        out.push(format!("{} more lines of the logs were not kept", log.dropped));
    }
    if let Some(updated) = volume.updated {
        let covers = |seen: &Seen| {
            let (Some(first), Some(last)) = (seen.first, seen.last) else {
                return false;
            };
            first <= updated && updated <= last
        };
        if !log.seen.iter().any(covers) {
            out.push(format!(
                "no log that was given covers {updated}, when the row last changed (is --log-zone right?)"
            ));
        }
    }
    out
}

fn of_one(seen: &Seen) -> Vec<String> {
    let name = &seen.name;
    let mut out = Vec::new();
    if seen.records == 0 {
        out.push(format!(
            "{name} has no line that looks like a log of CloudStack's"
        ));
    }
    if let Some(broken) = &seen.broken {
        out.push(format!("{name} {broken}: what comes before was read"));
    }
    if seen.cut > 0 {
        out.push(format!(
            "{} lines of {name} are longer than 1 MiB, and were cut",
            seen.cut
        ));
    }
    if seen.jumps > 0 {
        out.push(format!(
            "the clock of {name} goes back {} times: the order of its lines is doubtful",
            seen.jumps
        ));
    }
    if seen.undated > 0 {
        out.push(format!(
            "{} lines of {name} bear no date that is one",
            seen.undated
        ));
    }
    if seen.once {
        out.push(format!(
            "{name} could be read only once: lines before the one that names the job were passed over"
        ));
    }
    out
}
