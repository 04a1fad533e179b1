//! `agent.log` of a KVM host: what libvirt was asked, and what came of it. No job has its number here; the log id has.

use super::draft::{self, Draft, null_pointer};
use super::line::Line;
use crate::gather::domain_xml::disks_of_fragment;
use crate::model::{LogKind, VmTold};

/// The success that is none: no disk to detach, so the row is cleared, whoever has the volume by now.
const NOT_FOUND: [&str; 3] = [
    "Could not find disk [",
    "] attached to VM instance with UUID [",
    "]. We will set it as detached in the database",
];
const DETACHED: [&str; 3] = [
    "The detach command was executed successfully. The device [",
    "] was removed from the VM instance with UUID [",
    "].",
];
const STILL_THERE: [&str; 3] = [
    "The hypervisor sent the detach command, but it is still possible to identify the device [",
    "] in the instance with UUID [",
    "].",
];

/// What the line says, if anything.
pub(super) fn read(line: &Line<'_>) -> Option<Draft> {
    if null_pointer(line.rest) {
        return Some(Draft::new(line, LogKind::NullPointer));
    }
    match line.logger {
        "KVMStorageProcessor" => storage(line),
        "Agent" => line
            .message
            .starts_with("Request:")
            .then(|| draft::sent(line))
            .flatten(),
        _ => None,
    }
}

fn storage(line: &Line<'_>) -> Option<Draft> {
    let message = line.message;
    for (shape, kind) in [
        (NOT_FOUND, LogKind::NotFoundSetDetached),
        (DETACHED, LogKind::Detached),
        (STILL_THERE, LogKind::StillThere),
    ] {
        if let Some((path, uuid)) = between(message, shape) {
            let vm = VmTold {
                uuid: Some(uuid.to_ascii_lowercase()),
                ..VmTold::default()
            };
            return Some(Draft::new(line, kind).path(path).vm(vm));
        }
    }
    for (words, kind) in [
        ("Detaching device: ", LogKind::DetachAsked),
        ("Attaching device: ", LogKind::AttachAsked),
    ] {
        if let Some(xml) = message.strip_prefix(words) {
            let whole = format!("{xml}\n{}", line.rest);
            return Some(asked(line, kind, &whole));
        }
    }
    let failed = ["Failed to attach", "Failed to detach", "Could not detach volume"];
    failed.iter().any(|words| message.starts_with(words)).then(|| {
        let draft = Draft::new(line, LogKind::Failed).said(message);
        // "Failed to attach device to i-2-41-VM: …"
        let instance = message
            .split_once(" device to ")
            .or_else(|| message.split_once(" device from "))
            .and_then(|(_, rest)| rest.split_once(": "))
            .map(|(name, _)| name)
            .filter(|name| name.len() <= 64 && !name.contains(' '));
        draft.vm(VmTold {
            instance: instance.map(str::to_owned),
            ..VmTold::default()
        })
    })
}

/// A path and a uuid in a shape that is matched from both ends.
fn between<'a>(message: &'a str, [before, middle, after]: [&str; 3]) -> Option<(&'a str, &'a str)> {
    let rest = message.strip_prefix(before)?;
    let at = rest.rfind(middle)?;
    let (path, rest) = (&rest[..at], &rest[at + middle.len()..]);
    let (uuid, _) = rest.split_at_checked(36)?;
    let plain = uuid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    (plain && rest[36..].starts_with(after)).then_some((path, uuid))
}

/// The disk's XML, in brackets or not.
fn asked(line: &Line<'_>, kind: LogKind, text: &str) -> Draft {
    let draft = Draft::new(line, kind);
    let xml = text.find("<disk").zip(text.rfind("</disk>"));
    let xml = xml.and_then(|(from, to)| text.get(from..to + "</disk>".len()));
    let disks = xml
        .and_then(|xml| disks_of_fragment(xml).ok())
        .unwrap_or_default();
    match disks.first().and_then(|disk| disk.source.as_ref()) {
        Some(source) => draft.path(&source.name),
        None => draft,
    }
}
