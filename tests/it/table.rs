//! The table: for every row state × claim × state of the claim's VM × place × what could be read, one match names the
//! verdict. It knows nothing of the code: it is the contract, written out.

use super::build::{build, hide};
use super::cases::judge;
use super::spec::*;
use super::world::*;
use volrecon::evidence::Evidence;
use volrecon::model::HostId;

const STATES: [&str; 9] = [
    "Ready",
    "Allocated",
    "Snapshotting",
    "Attaching",
    "Destroy",
    "Expunging",
    "Expunged",
    "removed",
    "Uploaded",
];
const VMS: [&str; 7] = [
    "Running",
    "Stopped",
    "Destroyed",
    "Error",
    "Starting",
    "Migrating",
    "Unknown",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Nothing,
    /// VM 1.
    A,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nowhere,
    /// VM 1's domain, if it has one.
    InA,
    InB,
    InBoth,
    InForeign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    All,
    /// A host of the pool on which nothing was said to be.
    NotThird,
    /// The host of VM 1.
    NotA,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Healthy,
    Flux,
    CannotTell,
    Class(&'static str),
    /// Spoken for by its VM's own finding.
    Absorbed,
}

/// VM 1 ("A") on kvm1, VM 2 ("B") on kvm2, volume 7, a foreign domain on kvm3.
fn world(state: &str, claim: Claim, vm: &str, seen: Seen, read: Read) -> Evidence {
    let removed = (state == "removed").then(|| at("2026-09-01T00:00:00Z"));
    let mut volume = VolumeSpec {
        id: 7,
        state: if removed.is_some() {
            "Ready".to_owned()
        } else {
            state.to_owned()
        },
        removed,
        plugged: false,
        ..VolumeSpec::default()
    };
    if claim == Claim::A {
        (volume.vm, volume.device) = (Some(1), Some(1));
    }
    let a = VmSpec {
        id: 1,
        state: vm.to_owned(),
        ..VmSpec::default()
    };
    let mut spec = Spec {
        vm: vec![
            a,
            VmSpec {
                id: 2,
                host: "kvm2".to_owned(),
                ..VmSpec::default()
            },
        ],
        volume: vec![volume],
        domain: vec![DomainSpec {
            host: "kvm3".to_owned(),
            name: Some("rescue".to_owned()),
            ..DomainSpec::default()
        }],
        ..Spec::default()
    };
    let down = matches!(vm, "Stopped" | "Destroyed" | "Error");
    let disk = |vm: Option<u64>, domain: Option<&str>| DiskSpec {
        vm,
        domain: domain.map(str::to_owned),
        volume: Some(7),
        target: "vdb".to_owned(),
        ..DiskSpec::default()
    };
    if down && matches!(seen, Seen::InA | Seen::InBoth) {
        spec.vm[0].on = Some("kvm1".to_owned());
    }
    match seen {
        Seen::Nowhere => {}
        Seen::InA => spec.disk.push(disk(Some(1), None)),
        Seen::InB => spec.disk.push(disk(Some(2), None)),
        Seen::InBoth => spec.disk.extend([disk(Some(1), None), disk(Some(2), None)]),
        Seen::InForeign => spec.disk.push(disk(None, Some("rescue"))),
    }
    let mut world = build(&spec);
    match read {
        Read::All => {}
        Read::NotThird => hide(&mut world, HostId(4), "unseen"),
        Read::NotA => hide(&mut world, HostId(1), "unseen"),
    }
    world
}

/// The contract.
fn expected(state: &str, claim: Claim, vm: &str, seen: Seen, read: Read) -> Verdict {
    use Verdict::{Absorbed, CannotTell, Class, Flux, Healthy};
    let deleted = matches!(state, "Destroy" | "Expunging" | "Expunged" | "removed");
    let moving = matches!(state, "Snapshotting" | "Attaching" | "Expunging");
    let unplaced = matches!(state, "Allocated" | "Uploaded");
    let down = matches!(vm, "Stopped" | "Destroyed" | "Error");
    let busy = matches!(vm, "Starting" | "Migrating");
    // What a host hides is not seen; what is left is.
    let seen = match (seen, read) {
        (Seen::InA, Read::NotA) => Seen::Nowhere,
        (Seen::InBoth, Read::NotA) => Seen::InB,
        (seen, _) => seen,
    };
    match (seen, claim) {
        // Seen presence is told, whatever else is going on.
        (Seen::InA | Seen::InB | Seen::InBoth | Seen::InForeign, _) if deleted => Class("deleted-in-use"),
        (Seen::InBoth, _) => Class("double-open"),
        // Not judged.
        _ if moving => Flux,
        (Seen::InA, _) | (_, Claim::A) if busy => match (seen, claim) {
            (Seen::InA, Claim::A) => Healthy,
            (Seen::Nowhere, Claim::A) if deleted => Healthy,
            (Seen::Nowhere, Claim::A) if unplaced => Healthy,
            _ => Flux,
        },
        (Seen::InForeign, _) => Class("foreign-holder"),
        // A drifted VM speaks for its disks.
        (Seen::InA, _) if down => Absorbed,
        (Seen::InA, Claim::A) => Healthy,
        (Seen::InA | Seen::InB, Claim::Nothing) => Class("lost-attach"),
        // A down VM expects nothing; a running one has to be shown not to have it.
        (Seen::InB, Claim::A) if down => Class("wrong-vm"),
        (Seen::InB, Claim::A) => match read {
            Read::All | Read::NotThird => Class("wrong-vm"),
            Read::NotA => CannotTell,
        },
        (Seen::Nowhere, Claim::Nothing) => Healthy,
        (Seen::Nowhere, Claim::A) if down || deleted || unplaced || vm == "Unknown" => Healthy,
        (Seen::Nowhere, Claim::A) => match read {
            Read::All => Class("missing-disk"),
            Read::NotThird | Read::NotA => CannotTell,
        },
    }
}

fn verdict(world: &Evidence) -> Verdict {
    let verdicts = judge(world);
    let uuid = Some(volume_uuid(7));
    let own: Vec<&'static str> = verdicts
        .findings
        .iter()
        .filter(|f| f.volume.as_ref().is_some_and(|v| v.id.0 == 7))
        .map(|f| f.class.name())
        .collect();
    match own.as_slice() {
        [class] => return Verdict::Class(class),
        [] => {}
        more => panic!("several findings of one volume: {more:?}"),
    }
    if verdicts.in_flux.iter().any(|n| n.volume == uuid) {
        return Verdict::Flux;
    }
    if verdicts.cannot_tell.iter().any(|n| n.volume == uuid) {
        return Verdict::CannotTell;
    }
    let mark = verdicts
        .marks
        .iter()
        .find(|(id, _)| id.0 == 7)
        .map(|(_, mark)| mark.name());
    match mark {
        Some("vm-drift" | "split-vm") => Verdict::Absorbed,
        _ => Verdict::Healthy,
    }
}

#[test]
fn every_row_of_the_table() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for state in STATES {
        for claim in [Claim::Nothing, Claim::A] {
            for vm in VMS {
                for seen in [Seen::Nowhere, Seen::InA, Seen::InB, Seen::InBoth, Seen::InForeign] {
                    for read in [Read::All, Read::NotThird, Read::NotA] {
                        count += 1;
                        let got = verdict(&world(state, claim, vm, seen, read));
                        let want = expected(state, claim, vm, seen, read);
                        if got != want {
                            wrong.push(format!(
                                "{state}, {claim:?} {vm}, {seen:?}, {read:?}: {got:?}, not {want:?}"
                            ));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(count, 9 * 2 * 7 * 5 * 3);
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
