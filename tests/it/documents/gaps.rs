//! What was not seen, not judged, or would like to act on a terminal.

use super::{document, findings::straggler_finding, not_judged, not_seen, pair, seen};
use volrecon::render::{HostSeen, ScanDocument};

/// Names that would like to act on a terminal or a spreadsheet.
pub fn hostile() -> ScanDocument {
    let mut finding = straggler_finding();
    let evil =
        "=cmd|'/C calc'!A1\u{202e}\u{1b}[2J\u{1b}]0;owned\u{7}\nno findings; 0 volumes\u{200b}\u{e0041}";
    let long = "x".repeat(255);
    if let Some(volume) = &mut finding.volume {
        volume.name = Some(evil.to_owned());
        volume.pool = Some("\u{9b}31mpool".to_owned());
    }
    for holder in &mut finding.holders {
        holder.vm_name = Some(long.clone());
        holder.host = "kvm7\r\u{1b}[A".to_owned();
    }
    for block in &mut finding.blocks {
        block.vm_name = "日本語の名前".to_owned();
    }
    finding.advice = format!("Look at {evil}.");
    let mut doc = document(
        vec![
            seen("kvm1"),
            not_seen("kvm\u{1b}[31m2", "said \"\u{1b}[0mno\"\nand left"),
        ],
        vec![finding],
    );
    doc.cannot_tell = vec![not_judged(
        None,
        Some("i-2-\u{202e}66-VM"),
        "tab\there",
        "domain-unreadable",
        false,
    )];
    doc.volumes = Some(vec![pair(
        Some("e949a8c4-52a3-4c1b-9d7e-6f0c2b1a8d35"),
        evil,
        None,
        &["kvm7/i-2-47-VM/vdc"],
        "straggler-detach",
        Some("vr-5f1c09ab"),
    )]);
    doc
}

/// No finding, but a host was not seen.
pub fn unseen() -> ScanDocument {
    let hosts = vec![
        seen("kvm1"),
        not_seen("kvm2", "no answer within 30 s"),
        seen("kvm3"),
        not_seen("kvm4", "cannot connect: Connection refused"),
        not_seen("kvm5", "no answer within 30 s"),
    ];
    let mut doc = document(hosts, Vec::new());
    for at in 0..212 {
        let uuid = format!("00000000-0000-4000-8000-{at:0>12}");
        let host = if at < 200 { "kvm2" } else { "kvm4" };
        doc.cannot_tell.push(not_judged(
            Some(&uuid),
            Some("i-2-9-VM"),
            &format!("host {host} was not seen"),
            "host-unseen",
            false,
        ));
    }
    doc
}

/// Hosts and domains that were not seen for reasons that differ in names only. Beside the goldens.
pub fn alike() -> ScanDocument {
    let refused = |host: &str| {
        let uri = format!("qemu+ssh://root@{host}/system");
        let reason = format!(
            "cannot connect to {uri}: unable to connect to '{host}': refused; try: virsh -r -c '{uri}' list"
        );
        not_seen(host, &reason)
    };
    let skipped = |host: &str| HostSeen {
        status: "not-asked",
        uri: None,
        ..not_seen(host, "skipped, as [libvirt] skip says")
    };
    let hosts = vec![
        seen("kvm1"),
        seen("kvm10"),
        refused("kvm2"),
        refused("kvm3"),
        refused("kvm4"),
        not_seen("kvm5", "no end within 1s, 3 domains read"),
        not_seen("kvm6", "no end within 1s, 1 domain read"),
        skipped("kvm7"),
        skipped("kvm8"),
        HostSeen {
            gap: false,
            reason: Some("out of scope".to_owned()),
            ..skipped("kvm9")
        },
    ];
    let mut doc = document(hosts, Vec::new());
    let reason = |host: &str| format!("{host} was not read: {}", refused(host).reason.unwrap());
    for at in 0..4 {
        let uuid = format!("00000000-0000-4000-8000-{at:0>12}");
        let vm = format!("i-2-{at}-VM");
        doc.cannot_tell.push(not_judged(
            Some(&uuid),
            Some(&vm),
            &reason("kvm2"),
            "host-unseen",
            false,
        ));
    }
    doc.cannot_tell.push(not_judged(
        None,
        Some("i-2-90-VM"),
        &reason("kvm3"),
        "host-unseen",
        false,
    ));
    for (vm, host) in [
        ("i-2-10-VM", "kvm1"),
        ("i-2-11-VM", "kvm1"),
        ("i-2-12-VM", "kvm10"),
    ] {
        let why = format!("its domain on {host} could not be read: no domain with name '{vm}'");
        doc.cannot_tell
            .push(not_judged(None, Some(vm), &why, "domain-unreadable", false));
    }
    doc
}
