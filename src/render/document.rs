//! The `scan` document: what every format is made of.

use crate::classify::{Block, Class, Finding, NotJudged, Severity, Story};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// `"document": "scan"`, version 1.
#[derive(Clone, Debug, Serialize)]
pub struct ScanDocument {
    /// `scan`.
    pub document: &'static str,
    /// 1.
    pub version: u32,
    /// volrecon and its version.
    pub tool: Tool,
    /// When the run began.
    pub started: Timestamp,
    /// When the last thing was read.
    pub finished: Timestamp,
    /// False when anything in scope was not seen.
    pub complete: bool,
    /// What was asked for, in words; empty: everything.
    pub scope: Vec<String>,
    /// What a scoped scan leaves open.
    pub not_ruled_out: Vec<NotRuledOut>,
    /// The hosts.
    pub hosts: Vec<HostSeen>,
    /// The findings that `--min-severity` and `ignore` leave.
    pub findings: Vec<Finding>,
    /// In flux.
    pub in_flux: Vec<NotJudged>,
    /// Cannot be told.
    pub cannot_tell: Vec<NotJudged>,
    /// Slots on which the next attach collides, whoever holds them.
    pub blocked: Vec<Block>,
    /// With `--all`: every volume beside its disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<Vec<Pair>>,
    /// Counts.
    pub summary: Summary,
}

/// Who wrote a document.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// `volrecon`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Tool {
    /// This volrecon.
    #[must_use]
    pub const fn own() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Something that was not looked at, because it was out of scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotRuledOut {
    /// In words: "another holder of volume …".
    pub what: String,
    /// Names of the hosts that were not asked, or not seen.
    pub hosts: Vec<String>,
}

/// A host, and whether it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostSeen {
    /// The row's name.
    pub name: String,
    /// The row's uuid.
    pub uuid: Option<String>,
    /// The URI that was opened, without a password; none if not asked.
    pub uri: Option<String>,
    /// `seen`, `unseen`, `not-asked`.
    pub status: &'static str,
    /// It should have been read and was not: unseen, or skipped.
    #[serde(skip)]
    pub gap: bool,
    /// Why not seen.
    pub reason: Option<String>,
    /// Active domains.
    pub domains: usize,
    /// Their disks.
    pub disks: usize,
    /// How long it took.
    pub millis: u64,
}

/// A volume beside its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The row's uuid.
    pub uuid: Option<String>,
    /// The row's name.
    pub name: Option<String>,
    /// The row's state.
    pub state: String,
    /// Instance name of the VM that the row claims.
    pub claim_vm: Option<String>,
    /// The claimed slot.
    pub claim_device_id: Option<u32>,
    /// `host/domain/target` of each holder.
    pub holders: Vec<String>,
    /// `ok`, `detached`, `in-flux`, `cannot-tell`, or the class of its finding.
    pub verdict: String,
    /// The finding's id.
    pub finding: Option<String>,
}

/// Counts of one scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Findings by class; classes without one are there with 0.
    pub by_class: BTreeMap<&'static str, usize>,
    /// Findings by severity; likewise.
    pub by_severity: BTreeMap<&'static str, usize>,
    /// Findings hidden by `[scan] ignore`.
    pub ignored: usize,
    /// Findings below `--min-severity`.
    pub below_min_severity: usize,
    /// Volumes judged.
    pub volumes: usize,
    /// Disks seen.
    pub disks: usize,
    /// Hosts read whole.
    pub hosts_seen: usize,
    /// Hosts that should have been read and were not.
    pub hosts_unseen: usize,
}

impl Summary {
    /// Counts with every name present.
    #[must_use]
    pub fn count(findings: &[Finding]) -> Self {
        let mut summary = Self::default();
        for class in crate::classify::Class::ALL {
            summary.by_class.insert(class.name(), 0);
        }
        for severity in Severity::ALL {
            summary.by_severity.insert(severity.name(), 0);
        }
        for finding in findings {
            *summary.by_class.entry(finding.class.name()).or_default() += 1;
            *summary.by_severity.entry(finding.severity.name()).or_default() += 1;
        }
        summary
    }
}

/// `volrecon explain --class -o json`: a class's story.
#[derive(Clone, Debug, Serialize)]
pub struct StoryDocument {
    /// `class`.
    pub document: &'static str,
    /// 1.
    pub version: u32,
    /// volrecon and its version.
    pub tool: Tool,
    /// The class.
    pub class: Class,
    /// How bad a finding of it is, as a rule.
    pub severity: Severity,
    /// A line.
    pub title: &'static str,
    /// What the operator sees.
    pub sees: &'static str,
    /// How it comes about.
    pub why: &'static str,
    /// What would prove the opposite.
    pub proof_of_opposite: &'static str,
    /// What to check and do.
    pub what_to_do: &'static str,
}

impl StoryDocument {
    /// Of a story.
    #[must_use]
    pub fn new(story: &Story) -> Self {
        Self {
            document: "class",
            version: 1,
            tool: Tool::own(),
            class: story.class,
            severity: story.class.severity(),
            title: story.title,
            sees: story.sees,
            why: story.why,
            proof_of_opposite: story.proof_of_opposite,
            what_to_do: story.what_to_do,
        }
    }
}
