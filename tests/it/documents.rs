//! Scan documents made by hand, to look at.

mod everything;
mod findings;
mod gaps;

pub use everything::everything;
pub use gaps::{alike, hostile, unseen};

use findings::straggler_finding;
use jiff::Timestamp;
use volrecon::classify::{Finding, NotJudged};
use volrecon::render::{HostSeen, Pair, ScanDocument, Summary, Tool};

/// Every document, by the name of its goldens.
pub fn all() -> Vec<(&'static str, ScanDocument)> {
    vec![
        ("consistent", consistent()),
        ("straggler", straggler()),
        ("hostile", hostile()),
        ("unseen", unseen()),
        ("everything", everything()),
    ]
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn seen(name: &str) -> HostSeen {
    HostSeen {
        name: name.to_owned(),
        uuid: Some(format!("5c1d7f0e-0000-4000-8000-{:0>12}", name.len())),
        uri: Some(format!("qemu+ssh://root@{name}/system")),
        status: "seen",
        gap: false,
        reason: None,
        domains: 40,
        disks: 133,
        millis: 210,
    }
}

fn not_seen(name: &str, reason: &str) -> HostSeen {
    HostSeen {
        status: "unseen",
        gap: true,
        reason: Some(reason.to_owned()),
        domains: 0,
        disks: 0,
        millis: 30_000,
        ..seen(name)
    }
}

fn document(hosts: Vec<HostSeen>, findings: Vec<Finding>) -> ScanDocument {
    let summary = Summary {
        volumes: 412,
        disks: 398,
        hosts_seen: hosts.iter().filter(|h| h.status == "seen").count(),
        hosts_unseen: hosts.iter().filter(|h| h.status == "unseen").count(),
        ..Summary::count(&findings)
    };
    ScanDocument {
        document: "scan",
        version: 1,
        tool: Tool {
            name: "volrecon",
            version: "0.1.0",
        },
        started: time("2026-09-08T14:50:00.2Z"),
        finished: time("2026-09-08T14:50:03.9Z"),
        complete: hosts.iter().all(|h| h.status != "unseen"),
        scope: Vec::new(),
        not_ruled_out: Vec::new(),
        hosts,
        findings,
        in_flux: Vec::new(),
        cannot_tell: Vec::new(),
        blocked: Vec::new(),
        volumes: None,
        summary,
    }
}

/// Nothing to find, all seen.
pub fn consistent() -> ScanDocument {
    document(["kvm1", "kvm2", "kvm3", "kvm7"].map(seen).to_vec(), Vec::new())
}

/// Occurrence 2 of the incident.
pub fn straggler() -> ScanDocument {
    let mut doc = document(
        ["kvm1", "kvm2", "kvm3", "kvm7"].map(seen).to_vec(),
        vec![straggler_finding()],
    );
    doc.blocked = doc.findings[0].blocks.clone();
    doc
}

fn not_judged(
    volume: Option<&str>,
    vm: Option<&str>,
    why: &str,
    code: &'static str,
    stuck: bool,
) -> NotJudged {
    NotJudged {
        volume: volume.map(str::to_owned),
        vm: vm.map(str::to_owned),
        why: why.to_owned(),
        code,
        stuck,
    }
}

fn pair(
    uuid: Option<&str>,
    name: &str,
    claim: Option<(&str, u32)>,
    holders: &[&str],
    verdict: &str,
    finding: Option<&str>,
) -> Pair {
    Pair {
        uuid: uuid.map(str::to_owned),
        name: Some(name.to_owned()),
        state: "Ready".to_owned(),
        claim_vm: claim.map(|c| c.0.to_owned()),
        claim_device_id: claim.map(|c| c.1),
        holders: holders.iter().map(|h| (*h).to_owned()).collect(),
        verdict: verdict.to_owned(),
        finding: finding.map(str::to_owned),
    }
}
