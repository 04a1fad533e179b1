//! The keys of the contract's documents, and their types.

use serde_json::Value;

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Number,
    Flag,
    List,
    Map,
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// That, or null.
    Or(&'static Kind),
}
use Kind::{Flag, List, Map, Number, Or, Text, Time, Word};

pub type Keys = &'static [(&'static str, Kind)];

pub const CLASSES: Kind = Word(&[
    "double-open",
    "deleted-in-use",
    "foreign-holder",
    "wrong-vm",
    "straggler-detach",
    "lost-attach",
    "incomplete-detach",
    "slot-mismatch",
    "duplicate-slot",
    "missing-disk",
    "identity-conflict",
    "split-vm",
    "vm-drift",
    "unknown-disk",
    "pending-straggler",
]);
pub const SEVERITIES: Kind = Word(&["critical", "high", "medium", "low"]);

pub const SCAN: Keys = &[
    ("document", Word(&["scan"])),
    ("version", Number),
    ("tool", Map),
    ("started", Time),
    ("finished", Time),
    ("complete", Flag),
    ("scope", List),
    ("not_ruled_out", List),
    ("hosts", List),
    ("findings", List),
    ("in_flux", List),
    ("cannot_tell", List),
    ("summary", Map),
];
pub const TOOL: Keys = &[("name", Word(&["volrecon"])), ("version", Text)];
pub const HOST: Keys = &[
    ("name", Text),
    ("uuid", Or(&Text)),
    ("uri", Or(&Text)),
    ("status", Word(&["seen", "unseen", "not-asked"])),
    ("reason", Or(&Text)),
    ("domains", Number),
    ("disks", Number),
    ("millis", Number),
];
pub const FINDING: Keys = &[
    ("id", Text),
    ("class", CLASSES),
    ("also", List),
    ("severity", SEVERITIES),
    ("confidence", Or(&Word(&["proven", "likely", "unproven"]))),
    ("subject", Word(&["volume", "vm", "disk", "job"])),
    ("volume", Or(&Map)),
    ("others", List),
    ("vm", Or(&Map)),
    ("claim", Or(&Map)),
    ("holders", List),
    ("blocks", List),
    ("cause", Or(&Map)),
    ("remedies", List),
    ("advice", Text),
];
pub const VOLUME: Keys = &[
    ("id", Number),
    ("uuid", Or(&Text)),
    ("name", Or(&Text)),
    ("path", Or(&Text)),
    ("pool", Or(&Text)),
    ("pool_uuid", Or(&Text)),
    ("pool_type", Or(&Text)),
    ("type", Text),
    ("state", Text),
    ("removed", Or(&Time)),
];
pub const VM: Keys = &[
    ("id", Number),
    ("uuid", Or(&Text)),
    ("instance", Text),
    ("name", Text),
    ("state", Text),
    ("host", Or(&Text)),
];
pub const CLAIM: Keys = &[
    ("vm", Text),
    ("vm_name", Or(&Text)),
    ("vm_uuid", Or(&Text)),
    ("vm_state", Or(&Text)),
    ("host", Or(&Text)),
    ("device_id", Or(&Number)),
    ("target", Or(&Text)),
];
pub const HOLDER: Keys = &[
    ("host", Text),
    ("host_uuid", Or(&Text)),
    ("domain", Text),
    ("domain_uuid", Text),
    ("vm_name", Or(&Text)),
    ("target", Or(&Text)),
    ("device_id", Or(&Number)),
    ("source", Or(&Text)),
    ("serial", Or(&Text)),
    ("persistent", Or(&Flag)),
    ("in_use", Word(&["yes", "no", "unknown"])),
];
pub const BLOCK: Keys = &[
    ("vm", Text),
    ("vm_name", Text),
    ("device_id", Number),
    ("target", Text),
    ("by", Word(&["volume", "unknown", "cdrom"])),
];
pub const CAUSE: Keys = &[("job", Or(&Number)), ("summary", Text), ("timeline", List)];
pub const MOMENT: Keys = &[
    ("time", Time),
    ("source", Text),
    ("job", Or(&Number)),
    ("vm", Or(&Text)),
    ("what", Text),
];
pub const REMEDY: Keys = &[
    ("remedy", Word(&["database", "detach", "restart"])),
    (
        "action",
        Word(&["adopt", "release", "reassign", "reslot", "detach", "restart"]),
    ),
    ("recommended", Flag),
    ("withheld", Or(&Text)),
    ("code", Or(&Text)),
];
pub const NOT_JUDGED: Keys = &[
    ("volume", Or(&Text)),
    ("vm", Or(&Text)),
    ("why", Text),
    ("code", Text),
    ("stuck", Flag),
];
pub const SUMMARY: Keys = &[
    ("by_class", Map),
    ("by_severity", Map),
    ("ignored", Number),
    ("volumes", Number),
    ("disks", Number),
    ("hosts_seen", Number),
    ("hosts_unseen", Number),
];
pub const NOT_RULED_OUT: Keys = &[("what", Text), ("hosts", List)];

pub fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Text => value.is_string(),
        Number => value.is_u64(),
        Flag => value.is_boolean(),
        List => value.is_array(),
        Map => value.is_object(),
        Time => value
            .as_str()
            .is_some_and(|t| t.ends_with('Z') && t.parse::<jiff::Timestamp>().is_ok()),
        Word(words) => value.as_str().is_some_and(|w| words.contains(&w)),
        Or(kind) => value.is_null() || fits(value, *kind),
    }
}

#[track_caller]
pub fn check(value: &Value, keys: Keys) {
    for (key, kind) in keys {
        let found = value.get(key).unwrap_or_else(|| panic!("no {key} in {value}"));
        assert!(fits(found, *kind), "{key}: {found} is no {kind:?}");
    }
    for (key, value) in value.as_object().unwrap() {
        if ["code"].contains(&key.as_str()) {
            let kebab = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(value.as_str().is_none_or(kebab), "{key}: {value}");
        }
    }
}

pub fn each(list: &Value, keys: Keys) -> usize {
    let list = list.as_array().unwrap();
    list.iter().for_each(|value| check(value, keys));
    list.len()
}
