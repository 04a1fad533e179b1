//! Some of all there is.

use super::findings::{double_open, missing_disk, straggler_finding, unknown_disk, vm_drift};
use super::{document, not_judged, not_seen, pair, seen};
use volrecon::classify::{Block, BlockedBy};
use volrecon::render::{HostSeen, NotRuledOut, ScanDocument};

/// Some of all there is.
pub fn everything() -> ScanDocument {
    let mut hosts = ["kvm1", "kvm2", "kvm3", "kvm7"].map(seen).to_vec();
    hosts.push(not_seen("kvm9", "cannot connect: Connection refused"));
    hosts.push(HostSeen {
        status: "not-asked",
        gap: false,
        reason: Some("out of scope".to_owned()),
        uri: None,
        ..not_seen("kvm10", "")
    });
    let mut drift_of_stopped = vm_drift();
    drift_of_stopped.id = "vr-77c0ffef".to_owned();
    drift_of_stopped.holders.clear();
    let mut doc = document(
        hosts,
        vec![
            double_open(),
            straggler_finding(),
            vm_drift(),
            drift_of_stopped,
            missing_disk(),
            unknown_disk(),
        ],
    );
    doc.scope = vec!["cluster blue".to_owned()];
    doc.summary.ignored = 1;
    doc.summary.below_min_severity = 2;
    doc.blocked = vec![Block {
        vm: "i-2-60-VM".to_owned(),
        vm_name: "installer".to_owned(),
        device_id: 1,
        target: "hdb".to_owned(),
        by: BlockedBy::Cdrom,
    }];
    doc.blocked.extend(straggler_finding().blocks);
    doc.not_ruled_out = (0..5)
        .map(|at| NotRuledOut {
            what: format!("another holder of volume {at}"),
            hosts: vec!["kvm10".to_owned()],
        })
        .collect();
    doc.in_flux = vec![
        not_judged(
            Some("aaaaaaaa-0000-4000-8000-000000000001"),
            None,
            "job-4711 attaches it",
            "job",
            false,
        ),
        not_judged(None, Some("i-2-70-VM"), "it is Migrating", "vm-state", false),
        not_judged(
            Some("aaaaaaaa-0000-4000-8000-000000000002"),
            None,
            "job-17 has been running for 3 h",
            "stuck",
            true,
        ),
    ];
    doc.cannot_tell = (0..9)
        .map(|at| {
            not_judged(
                Some("bbbbbbbb-0000-4000-8000-000000000001"),
                None,
                &format!("disk vd{at} of i-2-9-VM could be it"),
                "disk-unidentified",
                false,
            )
        })
        .collect();
    doc.volumes = Some(vec![
        pair(
            Some("1a6a7be4-90c2-4e0e-8a54-3d7a5e0f7c21"),
            "data-postgres-0",
            Some(("i-2-49-VM", 1)),
            &["kvm3/i-2-44-VM/vde", "kvm1/i-2-49-VM/vdb"],
            "double-open",
            Some("vr-90aa12fe"),
        ),
        pair(
            Some("e949a8c4-52a3-4c1b-9d7e-6f0c2b1a8d35"),
            "pvc-3f0d2c8e-7f1e-4b58-a6a5-0d8d0a9f5b11",
            None,
            &["kvm7.rack-12.dc-frankfurt.example.net/i-2-47-VM/vdc"],
            "straggler-detach",
            Some("vr-5f1c09ab"),
        ),
        pair(
            Some("c0ffee00-0000-4000-8000-000000000001"),
            "ROOT-47",
            Some(("i-2-47-VM", 0)),
            &["kvm7/i-2-47-VM/vda"],
            "ok",
            None,
        ),
        pair(
            Some("c0ffee00-0000-4000-8000-000000000002"),
            "spare",
            None,
            &[],
            "detached",
            None,
        ),
        pair(
            None,
            "left over",
            Some(("i-2-48-VM", 4)),
            &[],
            "cannot-tell",
            None,
        ),
    ]);
    doc
}
