//! Which remedies a class has, and which of them stand.

use super::guard::{Broken, Guards};
use crate::classify::{Action, Class, Finding, History, Offer, Remedy};
use crate::model::{Vm, VmId};
use crate::sight::{Held, Sight};
use std::collections::{BTreeMap, BTreeSet};

/// Which findings touch which VM, as holder or by the row.
pub(super) struct Findings(BTreeMap<VmId, Vec<(String, Class)>>);

impl Findings {
    pub fn new(sight: &Sight<'_>, findings: &[Finding]) -> Self {
        let mut all: BTreeMap<VmId, Vec<(String, Class)>> = BTreeMap::new();
        for finding in findings {
            let rows = finding.volume.iter().chain(&finding.others);
            let claims = rows.filter_map(|v| sight.volume(v.id)?.instance);
            let vms: BTreeSet<VmId> = claims
                .chain(finding.holders.iter().filter_map(|h| h.vm_id))
                .chain(finding.vm.as_ref().map(|vm| vm.id))
                .collect();
            for vm in vms {
                all.entry(vm)
                    .or_default()
                    .push((finding.id.clone(), finding.class));
            }
        }
        Self(all)
    }

    /// What else is wrong with a VM: another finding, or two rows on one of its slots.
    fn beside(&self, vm: &Vm, finding: &Finding) -> Option<Broken> {
        let shared = finding.also.contains(&Class::DuplicateSlot).then(|| Broken {
            code: "vm-settled",
            why: format!("two rows of {} have one device id", vm.instance),
        });
        let mut others = self.0.get(&vm.id).into_iter().flatten();
        let other = others.find(|(id, class)| (id, *class) != (&finding.id, finding.class));
        shared.or_else(|| {
            other.map(|(id, class)| Broken {
                code: "vm-settled",
                why: format!("{} has another finding, {id} ({class})", vm.instance),
            })
        })
    }
}

/// The offers of one finding, recommended first. Empty where hands are needed.
pub(super) fn offers(
    sight: &Sight<'_>,
    history: &History<'_>,
    troubled: &BTreeSet<VmId>,
    findings: &Findings,
    finding: &Finding,
) -> Vec<Offer> {
    let Some(volume) = finding.volume.as_ref().and_then(|v| sight.volume(v.id)) else {
        return Vec::new();
    };
    let held = sight.holders(volume.id);
    let guards = |vm: VmId, held: Option<Held>| {
        sight.vm(vm).map(|vm| Guards {
            sight,
            troubled,
            volume,
            vm,
            held,
        })
    };
    let one = held.first().copied();
    let holder = one.and_then(|held| sight.seats()[held.seat].vm());
    match finding.class {
        Class::StragglerDetach | Class::LostAttach | Class::IncompleteDetach => {
            let Some(guards) = holder.and_then(|vm| guards(vm, one)) else {
                return Vec::new();
            };
            let adopt = guards
                .row()
                .or_else(|| guards.source_matches())
                .or_else(|| guards.single_holder())
                .or_else(|| guards.slot_free())
                .or_else(|| guards.no_block_job());
            vec![
                database(Action::Adopt, true, adopt),
                detach(&guards),
                restart(&guards, findings, finding),
            ]
        }
        Class::WrongVm => {
            let Some(guards) = holder.and_then(|vm| guards(vm, one)) else {
                return Vec::new();
            };
            let reassign = guards
                .row()
                .or_else(|| guards.source_matches())
                .or_else(|| guards.single_holder())
                .or_else(|| guards.slot_free())
                .or_else(|| guards.no_block_job())
                .or_else(|| unnamed(&guards.vm.instance));
            vec![detach(&guards), database(Action::Reassign, false, reassign)]
        }
        Class::MissingDisk => {
            let Some(guards) = volume.instance.and_then(|vm| guards(vm, None)) else {
                return Vec::new();
            };
            let mut out = Vec::new();
            if history.has_detach_since_attach(volume, guards.vm.id) {
                out.push(database(Action::Release, true, guards.row()));
            }
            out.push(restart(&guards, findings, finding));
            out
        }
        Class::DoubleOpen => {
            // Only if the row names exactly one of two domains, and never the one it names.
            let seats: BTreeSet<usize> = held.iter().map(|h| h.seat).collect();
            let vm_of = |h: &&Held| sight.seats()[h.seat].vm();
            let named = held
                .iter()
                .filter(|h| vm_of(h).is_some() && vm_of(h) == volume.instance)
                .count();
            let other = held.iter().find(|h| vm_of(h) != volume.instance).copied();
            let vm = other.and_then(|h| sight.seats()[h.seat].vm());
            match vm.and_then(|vm| guards(vm, other)) {
                Some(guards) if held.len() == 2 && seats.len() == 2 && named == 1 => vec![detach(&guards)],
                _ => Vec::new(),
            }
        }
        Class::SlotMismatch => {
            let Some(guards) = volume.instance.and_then(|vm| guards(vm, one)) else {
                return Vec::new();
            };
            let reslot = guards
                .row()
                .or_else(|| guards.source_matches())
                .or_else(|| guards.single_holder())
                .or_else(|| guards.slot_free())
                .or_else(|| guards.no_block_job());
            let mut out = Vec::new();
            if !finding.blocks.is_empty() {
                out.push(database(Action::Reslot, false, reslot));
            }
            out.push(restart(&guards, findings, finding));
            out
        }
        Class::IdentityConflict
        | Class::SplitVm
        | Class::DeletedInUse
        | Class::VmDrift
        | Class::ForeignHolder
        | Class::DuplicateSlot
        | Class::UnknownDisk
        | Class::PendingStraggler => Vec::new(),
    }
}

fn database(action: Action, recommended: bool, broken: Option<Broken>) -> Offer {
    make(Remedy::Database, action, recommended, broken)
}

/// A detach while in use or unknown is always withheld, and a scan cannot know.
fn detach(guards: &Guards<'_, '_>) -> Offer {
    let unknown = || {
        Some(Broken {
            code: "not-mounted",
            why: "not shown unused: a scan asks neither the guest nor its monitor".to_owned(),
        })
    };
    let broken = guards
        .basics()
        .or_else(|| guards.queue_at_rest())
        .or_else(|| guards.no_block_job())
        .or_else(|| guards.plain_storage())
        .or_else(unknown);
    make(Remedy::Detach, Action::Detach, false, broken)
}

/// A restart plugs in what the rows say and nothing else: not while anything else is wrong with the VM, nor while its guest
/// writes to another copy than the row names.
fn restart(guards: &Guards<'_, '_>, findings: &Findings, finding: &Finding) -> Offer {
    let other_copy = || {
        guards
            .held
            .and_then(|_| guards.source_matches().or_else(|| guards.single_holder()))
    };
    let broken = guards
        .basics()
        .or_else(|| guards.volume_ready())
        .or_else(other_copy)
        .or_else(|| findings.beside(guards.vm, finding))
        .or_else(|| guards.claims_free());
    make(Remedy::Restart, Action::Restart, false, broken)
}

fn unnamed(instance: &str) -> Option<Broken> {
    let why = format!("{instance} is not shown to use it, and nobody has named the owner");
    Some(Broken {
        code: "named-holder",
        why,
    })
}

fn make(remedy: Remedy, action: Action, recommended: bool, broken: Option<Broken>) -> Offer {
    let recommended = recommended && broken.is_none();
    let (withheld, code) = broken.map_or((None, None), |b| (Some(b.why), Some(b.code)));
    Offer {
        remedy,
        action,
        recommended,
        withheld,
        code,
    }
}
