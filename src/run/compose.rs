//! From evidence and verdicts to the `scan` document: everything that is shown comes from here.

use crate::classify::{Finding, Severity, Verdicts};
use crate::model::Host;
use crate::render::{HostSeen, NotRuledOut, Pair, ScanDocument, Summary, Tool};
use crate::sight::{Sight, View};
use std::collections::{BTreeMap, BTreeSet};

/// What the operator wants to see of it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// `--min-severity`.
    pub min_severity: Severity,
    /// `[scan] ignore`.
    pub ignore: BTreeSet<String>,
    /// `--all`.
    pub all: bool,
}

/// Makes the document.
#[must_use]
pub fn compose(sight: &Sight<'_>, verdicts: Verdicts, wanted: &Wanted) -> ScanDocument {
    let evidence = sight.evidence;
    let hosts: Vec<HostSeen> = evidence.hosts.iter().map(|host| host_seen(sight, host)).collect();
    let stuck = verdicts.in_flux.iter().any(|entry| entry.stuck);
    let unread = evidence.looks.values().any(|look| !look.unreadable.is_empty());
    let complete = !stuck && !unread && verdicts.cannot_tell.is_empty() && !hosts.iter().any(|host| host.gap);
    let volumes = wanted.all.then(|| pairs(sight, &verdicts));
    let judged = verdicts.marks.len();
    let (ignored, rest): (Vec<Finding>, Vec<Finding>) = verdicts
        .findings
        .into_iter()
        .partition(|finding| wanted.ignore.contains(&finding.id));
    let (findings, below): (Vec<Finding>, Vec<Finding>) = rest
        .into_iter()
        .partition(|finding| finding.severity >= wanted.min_severity);
    let summary = Summary {
        ignored: ignored.len(),
        below_min_severity: below.len(),
        volumes: judged,
        disks: hosts.iter().map(|host| host.disks).sum(),
        hosts_seen: hosts.iter().filter(|host| host.status == "seen").count(),
        hosts_unseen: hosts.iter().filter(|host| host.gap).count(),
        ..Summary::count(&findings)
    };
    ScanDocument {
        document: "scan",
        version: 1,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        started: evidence.started,
        finished: evidence.finished,
        complete,
        scope: evidence.scope.words.clone(),
        not_ruled_out: not_ruled_out(sight),
        hosts,
        findings,
        in_flux: verdicts.in_flux,
        cannot_tell: verdicts.cannot_tell,
        blocked: verdicts.blocked,
        volumes,
        summary,
    }
}

fn host_seen(sight: &Sight<'_>, host: &Host) -> HostSeen {
    let look = sight.evidence.looks.get(&host.id);
    let (status, gap, reason) = match sight.view(host.id) {
        View::Seen => ("seen", false, None),
        View::Unseen(_, reason) => ("unseen", true, Some(reason)),
        View::NotAsked { reason, gap } => ("not-asked", gap, Some(reason.to_owned())),
    };
    let unreadable = look.and_then(|look| {
        let first = look.unreadable.first()?;
        let more = look.unreadable.len();
        Some(format!(
            "{more} {} could not be read, {} first: {}",
            if more == 1 { "domain" } else { "domains" },
            first.name,
            first.reason
        ))
    });
    HostSeen {
        name: host.name.clone(),
        uuid: host.uuid.clone(),
        uri: look
            .filter(|_| status != "not-asked")
            .map(|look| look.uri.clone()),
        status,
        gap,
        reason: reason.or(unreadable),
        domains: look.map_or(0, |look| look.domains.len()),
        disks: look.map_or(0, |look| look.domains.iter().map(|d| d.disks.len()).sum()),
        millis: look.map_or(0, |look| look.millis),
    }
}

/// What was not looked at leaves these open, whatever was found.
fn not_ruled_out(sight: &Sight<'_>) -> Vec<NotRuledOut> {
    let by = |want: fn(&Host, &View<'_>) -> bool| -> Vec<String> {
        let hosts = sight.evidence.hosts.iter();
        let hosts = hosts.filter(|host| want(host, &sight.view(host.id)));
        hosts.map(|host| host.name.clone()).collect()
    };
    let entry = |what: &str, hosts: Vec<String>| NotRuledOut {
        what: what.to_owned(),
        hosts,
    };
    let mut out = vec![
        entry(
            "a second holder of a volume in scope (double-open), or a twin of a VM in scope (split-vm), on a host that was not asked",
            by(|host, view| host.removed.is_none() && matches!(view, View::NotAsked { .. })),
        ),
        entry(
            "a holder, a second holder, or a twin on a host that could not be read",
            by(|host, view| host.removed.is_none() && matches!(view, View::Unseen(..))),
        ),
        entry(
            "a holder, a second holder, or a twin on a host whose row is removed while rows of running VMs name it",
            by(|host, view| host.removed.is_some() && !matches!(view, View::Seen)),
        ),
    ];
    out.retain(|entry| !entry.hosts.is_empty());
    out
}

fn pairs(sight: &Sight<'_>, verdicts: &Verdicts) -> Vec<Pair> {
    let mut ids: BTreeMap<_, &str> = BTreeMap::new();
    for finding in &verdicts.findings {
        for volume in finding.volume.iter().chain(&finding.others) {
            ids.entry(volume.id).or_insert(&finding.id);
        }
    }
    let pair = |(id, mark): &(crate::model::VolumeId, crate::classify::Mark)| {
        let volume = sight.volume(*id)?;
        let holders = sight.holders(*id).into_iter().map(|held| {
            let seat = &sight.seats()[held.seat];
            format!(
                "{}/{}/{}",
                sight.host_name(seat.host),
                seat.domain.name,
                sight.disk(held).target
            )
        });
        Some(Pair {
            uuid: volume.uuid.clone(),
            name: volume.name.clone(),
            state: volume.state.to_string(),
            claim_vm: volume
                .instance
                .map(|vm| sight.vm(vm).map_or(format!("VM {vm}"), |vm| vm.instance.clone())),
            claim_device_id: volume.device_id,
            holders: holders.collect(),
            verdict: mark.name().to_owned(),
            finding: ids.get(id).map(|id| (*id).to_owned()),
        })
    };
    verdicts.marks.iter().filter_map(pair).collect()
}
