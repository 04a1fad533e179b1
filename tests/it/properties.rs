//! What holds in every world. How many worlds: `PROPTEST_CASES`.

pub mod worlds;

use super::build::{build, hide};
use super::cases::judge;
use super::spec::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use volrecon::classify::{Action, Class, Finding, Offer, Remedy, Verdicts};
use volrecon::evidence::Evidence;
use volrecon::model::*;
use volrecon::sight::{Identity, Sight};
use worlds::world;

/// Offers by volume.
type Offers = BTreeSet<(u64, Action)>;

/// What may be done, by what it is about: more of it is more courage.
fn courage(verdicts: &Verdicts) -> (Offers, Offers) {
    let mut free = BTreeSet::new();
    let mut recommended = BTreeSet::new();
    for finding in &verdicts.findings {
        let id = finding.volume.as_ref().map_or(0, |v| v.id.0);
        for offer in finding.remedies.iter().filter(|o| o.withheld.is_none()) {
            free.insert((id, offer.action));
            if offer.recommended {
                recommended.insert((id, offer.action));
            }
        }
    }
    (free, recommended)
}

pub fn grows_not(before: &Evidence, after: &Evidence) -> Result<(), TestCaseError> {
    let (free, recommended) = courage(&judge(before));
    let (free_after, recommended_after) = courage(&judge(after));
    prop_assert!(
        free_after.is_subset(&free),
        "new: {:?}",
        free_after.difference(&free)
    );
    prop_assert!(recommended_after.is_subset(&recommended));
    Ok(())
}

fn count(verdicts: &Verdicts, class: Class) -> usize {
    verdicts.findings.iter().filter(|f| f.class == class).count()
}

fn text(verdicts: &Verdicts) -> String {
    let flux = (&verdicts.in_flux, &verdicts.cannot_tell, &verdicts.blocked);
    serde_json::to_string(&(&verdicts.findings, flux)).expect("text")
}

/// The guards of section 5 that rows and XML can decide, looked at in the evidence itself.
fn guards_hold(world: &Evidence, finding: &Finding, offer: &Offer) -> Result<(), TestCaseError> {
    let id = finding.volume.as_ref().expect("an offer is about a volume").id;
    let row = world.volumes.iter().find(|v| v.id == id).expect("a row");
    let sight = Sight::new(world);
    let held = sight.holders(id);
    let vm_of = |h: &volrecon::sight::Held| sight.seats()[h.seat].vm();
    let vms: BTreeSet<VmId> = held.iter().filter_map(vm_of).chain(row.instance).collect();
    let troubled = |vm: &VmId| {
        let seats: Vec<_> = world
            .looks
            .iter()
            .flat_map(|(h, l)| l.domains.iter().map(move |d| (*h, d)))
            .collect();
        let row = world.vms.iter().find(|v| v.id == *vm).expect("a VM");
        let own: Vec<_> = seats.iter().filter(|(_, d)| d.name == row.instance).collect();
        own.len() != 1 || Some(own[0].0) != row.host || Some(own[0].1.uuid.clone()) != row.uuid
    };
    prop_assert_eq!(&row.kind, &VolumeType::Data);
    prop_assert!(row.device_id != Some(0));
    prop_assert_eq!(row.removed, None);
    for vm in &vms {
        let vm = world.vms.iter().find(|v| v.id == *vm).expect("a VM");
        prop_assert_eq!(&vm.kind, &VmType::User);
        prop_assert_eq!(
            (vm.account, vm.domain, vm.zone),
            (row.account, row.domain, row.zone)
        );
        prop_assert!(!troubled(&vm.id), "{} is not settled", vm.instance);
        prop_assert!(!world.moved.vms.contains(&vm.id));
    }
    prop_assert!(!world.moved.volumes.contains(&id));
    prop_assert!(
        world
            .looks
            .values()
            .all(|l| l.is_seen() && l.unreadable.is_empty())
            || row.pool != Some(PoolId(1))
    );
    let acts = |j: &&Job| (j.state == JobState::Pending || j.cancelled_blocking) && j.volume == Some(id);
    prop_assert!(!world.jobs.iter().any(|j| acts(&j)));
    prop_assert!(!held.iter().any(|h| sight.disk(*h).mirror));
    prop_assert!(
        offer.remedy != Remedy::Detach,
        "a scan cannot show that a disk is unused"
    );
    if offer.remedy == Remedy::Database {
        prop_assert_eq!(&row.state, &VolumeState::Ready);
        prop_assert!(
            world
                .vms
                .iter()
                .filter(|v| vms.contains(&v.id))
                .all(|v| !v.has_snapshot && !v.has_backup_offering)
        );
        prop_assert!(offer.action != Action::Reassign, "nobody named the owner");
    }
    if matches!(offer.action, Action::Adopt | Action::Reslot) {
        prop_assert_eq!(held.len(), 1);
        let named = matches!(sight.identity(held[0]), Identity::Volume(n) if n.source_matches);
        prop_assert!(named, "the guest writes to another copy");
        let slot = Slot::of_target(&sight.disk(held[0]).target).expect("a slot");
        prop_assert!(slot.0 != 0 && slot.0 != 3);
        let vm = vm_of(&held[0]);
        let taken = world
            .volumes
            .iter()
            .filter(|v| v.id != id && v.removed.is_none() && v.instance == vm);
        prop_assert!(
            !taken.into_iter().any(|v| v.device_id == Some(slot.0)),
            "the slot is another row's"
        );
    }
    if offer.action == Action::Release {
        prop_assert!(held.is_empty());
    }
    Ok(())
}

/// Writes an adopt, as a plan would.
fn adopt(world: &mut Evidence, finding: &Finding) {
    let (id, holder) = (finding.volume.as_ref().expect("a volume").id, &finding.holders[0]);
    let row = world.volumes.iter_mut().find(|v| v.id == id).expect("a row");
    row.instance = holder.vm_id;
    row.device_id = holder.device_id;
    row.attached = Some(world.finished);
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn order_changes_nothing(world in world(), seed in any::<u64>()) {
        let mut other = world.clone();
        let turn = |n: usize| usize::try_from(seed % 7).expect("small") % n.max(1);
        other.volumes.reverse();
        other.vms.rotate_left(turn(world.vms.len()));
        other.jobs.reverse();
        other.hosts.rotate_left(turn(4));
        other.pools.reverse();
        other.clusters.reverse();
        for look in other.looks.values_mut() {
            look.domains.reverse();
        }
        prop_assert_eq!(text(&judge(&world)), text(&judge(&other)));
    }

    #[test]
    fn a_file_gives_the_same_findings(world in world()) {
        let json = serde_json::to_string(&world).expect("text");
        let again: Evidence = serde_json::from_str(&json).expect("evidence");
        prop_assert_eq!(&world, &again);
        prop_assert_eq!(text(&judge(&world)), text(&judge(&again)));
    }

    #[test]
    fn blindness_never_adds_courage(world in world(), host in 1u64..=4, how in 0usize..6) {
        let how = ["unseen", "partly", "skipped", "not-asked", "no-look", "removed"][how];
        let mut blind = world.clone();
        hide(&mut blind, HostId(host), how);
        grows_not(&world, &blind)?;
        let (before, after) = (judge(&world), judge(&blind));
        prop_assert!(count(&after, Class::MissingDisk) <= count(&before, Class::MissingDisk));
        if how == "partly" {
            // Nothing that was seen went away.
            for class in [Class::SplitVm, Class::DeletedInUse, Class::DoubleOpen] {
                prop_assert_eq!(count(&after, class), count(&before, class));
            }
        }
    }

    #[test]
    fn an_unreadable_domain_never_adds_courage(world in world(), host in 1u64..=3, nth in 0usize..3) {
        let mut blind = world.clone();
        let look = blind.looks.get_mut(&HostId(host)).expect("a look");
        if look.domains.is_empty() {
            return Ok(());
        }
        let gone = look.domains.remove(nth % look.domains.len());
        look.unreadable.push(volrecon::evidence::Unreadable { name: gone.name, uuid: Some(gone.uuid), reason: "XML".to_owned() });
        grows_not(&world, &blind)?;
    }

    #[test]
    fn a_row_that_moved_never_adds_courage(world in world(), volume in 1u64..8, vm in 1u64..5) {
        let mut stirred = world.clone();
        stirred.moved.volumes.insert(VolumeId(volume));
        grows_not(&world, &stirred)?;
        let (before, after) = (judge(&world), judge(&stirred));
        prop_assert!(count(&after, Class::MissingDisk) <= count(&before, Class::MissingDisk));
        for class in [Class::SplitVm, Class::DeletedInUse, Class::DoubleOpen] {
            prop_assert_eq!(count(&after, class), count(&before, class));
        }
        stirred.moved.vms.insert(VmId(vm));
        grows_not(&world, &stirred)?;
        prop_assert_eq!(count(&before, Class::DeletedInUse), count(&judge(&stirred), Class::DeletedInUse));
    }

    #[test]
    fn every_guard_holds_in_the_evidence(world in world()) {
        for finding in &judge(&world).findings {
            prop_assert!(finding.remedies.iter().filter(|o| o.recommended).count() <= 1);
            for offer in finding.remedies.iter().filter(|o| o.withheld.is_none()) {
                guards_hold(&world, finding, offer)?;
            }
            prop_assert!(finding.remedies.iter().all(|o| o.withheld.is_some() == o.code.is_some()));
            prop_assert!(!finding.advice.is_empty());
        }
    }

    #[test]
    fn an_adopt_cures_and_adds_nothing(world in world()) {
        let before = judge(&world);
        let adopts = |f: &&Finding| f.remedies.iter().any(|o| o.action == Action::Adopt && o.withheld.is_none());
        for finding in before.findings.iter().filter(adopts) {
            let mut cured = world.clone();
            adopt(&mut cured, finding);
            let after = judge(&cured);
            let ids: BTreeSet<&str> = before.findings.iter().map(|f| f.id.as_str()).collect();
            prop_assert!(after.findings.iter().all(|f| f.id != finding.id));
            for other in &after.findings {
                prop_assert!(ids.contains(other.id.as_str()), "new: {} of {:?}", other.class, other.volume);
            }
        }
    }

    #[test]
    fn a_scope_only_leaves_out(world in world(), vm in 1u64..5, host in 1u64..=4) {
        let whole: BTreeMap<String, String> = judge(&world).findings.iter()
            .map(|f| (f.id.clone(), serde_json::to_string(f).expect("text"))).collect();
        let mut narrow = world.clone();
        narrow.scope.vms.insert(VmId(vm));
        let mut on_host = world;
        on_host.scope.hosts.insert(HostId(host));
        for scoped in [narrow, on_host] {
            for finding in &judge(&scoped).findings {
                let text = serde_json::to_string(finding).expect("text");
                prop_assert_eq!(whole.get(&finding.id), Some(&text));
            }
        }
    }

    #[test]
    fn one_stale_completion_gives_one_orphan(vms in 2u64..6, host in 1u64..=3, slot in 0usize..4, taken in 0u64..3, holder in 1u64..6) {
        let slot = [1, 2, 4, 5][slot];
        let holder = (holder - 1) % vms + 1;
        let mut spec = Spec::default();
        for id in 1..=vms {
            spec.vm.push(VmSpec { id, host: format!("kvm{}", (id + host) % 3 + 1), ..VmSpec::default() });
            for n in 0..taken {
                let device = [1, 2, 4][usize::try_from(n).expect("small")];
                if id != holder || device != slot {
                    spec.volume.push(VolumeSpec { id: id * 10 + n, vm: Some(id), device: Some(device), ..VolumeSpec::default() });
                }
            }
        }
        spec.volume.push(VolumeSpec { id: 7000, vm: Some(holder), device: Some(slot), ..VolumeSpec::default() });
        let healthy = build(&spec);
        prop_assert!(judge(&healthy).findings.is_empty());
        let mut stale = healthy;
        let row = stale.volumes.iter_mut().find(|v| v.id == VolumeId(7000)).expect("a row");
        (row.instance, row.device_id) = (None, None);
        let told = judge(&stale);
        prop_assert_eq!(told.findings.len(), 1);
        let finding = &told.findings[0];
        prop_assert!(finding.class.is_orphan());
        prop_assert_eq!(finding.holders.len(), 1);
        prop_assert_eq!(&finding.holders[0].domain, &format!("i-2-{holder}-VM"));
        prop_assert_eq!(finding.holders[0].device_id, Some(slot));
        // It blocks the next attach if the slot is the lowest that the rows leave free.
        let used: Vec<u32> = stale.volumes.iter().filter(|v| v.instance == Some(VmId(holder))).filter_map(|v| v.device_id).collect();
        let next = (1..).find(|id| *id != 3 && !used.contains(id)).expect("a free one");
        prop_assert_eq!(!finding.blocks.is_empty(), next == slot);
    }
}
