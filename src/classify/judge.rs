//! The judge: tries the classes in their order for every VM, volume and disk.

use super::case::{Answer, Case};
use super::cause::{self, History};
use super::finding::{Class, Finding, Mark, NotJudged, Severity, Subject, Verdicts};
use super::rules::{
    deleted_in_use, double_open, duplicate_slot, foreign_holder, identity_conflict, incomplete_detach,
    lost_attach, missing_disk, pending_straggler, slot_mismatch, split_vm, straggler_detach, unknown_disk,
    vm_drift, wrong_vm,
};
use super::{scope, tell};
use crate::model::{HostId, PoolId, Vm, VmId, VmState, Volume, VolumeId, ZoneId};
use crate::sight::{Obstacle, Sight, Who};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

type Rule = fn(&Case<'_, '_>) -> Answer;

/// Classes of one volume that *seen* presence alone decides: flux and gaps do not hold them back.
const ALWAYS: [(Class, Rule); 2] = [
    (Class::DeletedInUse, deleted_in_use::judge),
    (Class::DoubleOpen, double_open::judge),
];

/// The other classes of one volume, in order.
const SETTLED: [(Class, Rule); 7] = [
    (Class::ForeignHolder, foreign_holder::judge),
    (Class::WrongVm, wrong_vm::judge),
    (Class::IncompleteDetach, incomplete_detach::judge),
    (Class::StragglerDetach, straggler_detach::judge),
    (Class::LostAttach, lost_attach::judge),
    (Class::MissingDisk, missing_disk::judge),
    (Class::SlotMismatch, slot_mismatch::judge),
];

/// Judges everything that the evidence shows.
#[must_use]
pub fn classify(sight: &Sight<'_>) -> Verdicts {
    let history = History::new(sight);
    let mut court = Court {
        sight,
        history: &history,
        out: Verdicts::default(),
        by_volume: HashMap::new(),
        wanted_zones: HashSet::new(),
        wanted_vms: HashSet::new(),
        wanted_places: HashSet::new(),
    };
    let troubled = court.judge_vms();
    court.judge_volumes(&troubled);
    court.judge_slots();
    court.out.findings.extend(identity_conflict::findings(sight));
    court.out.findings.extend(unknown_disk::findings(sight));
    court.out.findings.extend(pending_straggler::findings(sight));
    court.find_blocks();
    let mut out = court.finish();
    if let Some(earlier) = &sight.evidence.earlier {
        let before = classify(&Sight::new(earlier));
        let stood: BTreeSet<&str> = before.findings.iter().map(|f| f.id.as_str()).collect();
        out.findings.retain(|finding| stood.contains(finding.id.as_str()));
    }
    out
}

struct Court<'s, 'e> {
    sight: &'s Sight<'e>,
    history: &'s History<'e>,
    out: Verdicts,
    by_volume: HashMap<VolumeId, usize>,
    wanted_zones: HashSet<ZoneId>,
    wanted_vms: HashSet<VmId>,
    wanted_places: HashSet<Place>,
}

/// What decides which hosts a suspect makes worth asking.
type Place = (
    Option<PoolId>,
    Option<PoolId>,
    ZoneId,
    Option<VmId>,
    Option<HostId>,
);

impl Court<'_, '_> {
    fn judge_vms(&mut self) -> BTreeMap<VmId, Class> {
        let mut troubled = BTreeMap::new();
        for vm in self.sight.vms().filter(|vm| vm.is_kvm()) {
            let flux = self.sight.vm_flux(vm.id);
            if split_vm::is_split(self.sight, vm) {
                troubled.insert(vm.id, Class::SplitVm);
                self.trouble(vm, Class::SplitVm);
            }
            if let Some(flux) = flux {
                self.out.in_flux.push(NotJudged {
                    volume: None,
                    vm: Some(vm.instance.clone()),
                    why: flux.why.clone(),
                    code: if flux.stuck { "stuck" } else { flux.code },
                    stuck: flux.stuck,
                });
                continue;
            }
            if self.sight.is_mismatched(vm.id) {
                let why = format!(
                    "a domain bears the name or the uuid of {}, but not both",
                    vm.instance
                );
                self.cannot_tell(
                    None,
                    Some(vm),
                    Obstacle {
                        code: "domain-uuid",
                        why,
                        ask: None,
                    },
                );
                continue;
            }
            if vm.removed.is_none() && matches!(vm.state, VmState::Unknown | VmState::Other(_)) {
                let why = format!("the state of {} is {}", vm.instance, vm.state);
                self.cannot_tell(
                    None,
                    Some(vm),
                    Obstacle {
                        code: "vm-state",
                        why,
                        ask: None,
                    },
                );
                continue;
            }
            if troubled.contains_key(&vm.id) {
                continue;
            }
            match vm_drift::judge(self.sight, vm) {
                Answer::No => {}
                Answer::Yes => {
                    troubled.insert(vm.id, Class::VmDrift);
                    self.trouble(vm, Class::VmDrift);
                }
                Answer::CannotTell(obstacle) => self.cannot_tell(None, Some(vm), obstacle),
            }
        }
        troubled
    }

    fn trouble(&mut self, vm: &Vm, class: Class) {
        let mut finding = tell::finding(class, Subject::Vm);
        if class == Class::SplitVm && vm_drift::judge(self.sight, vm) == Answer::Yes {
            finding.also.push(Class::VmDrift);
        }
        finding.vm = Some(tell::vm_ref(self.sight, vm));
        finding.holders = self
            .sight
            .seats_of(vm.id)
            .into_iter()
            .map(|s| tell::seat(self.sight, s))
            .collect();
        self.out.findings.push(finding);
        // Where it runs, if not where it should: every host that it could run on is worth asking.
        if self.wanted_zones.insert(vm.zone) {
            self.out.wanted.extend(self.sight.ask_in_zone(vm.zone));
        }
    }

    /// Hosts that would complete the sight of a suspect, and of the VMs that it touches. Suspects of the same pools and
    /// VMs want the same hosts: asked once.
    fn want(&mut self, volume: &Volume) {
        let holder = self.sight.holders(volume.id).first().copied();
        let seat = holder.map(|held| self.sight.seats()[held.seat]);
        let place = (
            volume.pool,
            volume.last_pool,
            volume.zone,
            volume.instance,
            seat.map(|s| s.host),
        );
        if self.wanted_places.insert(place) {
            self.out.wanted.extend(self.sight.ask_for(volume));
        }
        let vms = volume.instance.into_iter().chain(seat.and_then(|s| s.vm()));
        for vm in vms.filter_map(|id| self.sight.vm(id)) {
            if self.wanted_vms.insert(vm.id) {
                self.out.wanted.extend(self.sight.ask_for_vm(vm));
            }
        }
    }

    fn judge_volumes(&mut self, troubled: &BTreeMap<VmId, Class>) {
        for volume in self.sight.volumes().filter(|v| self.sight.is_judged(v)) {
            let case = Case::new(self.sight, self.history, troubled, volume);
            let (mark, finding) = self.judge_volume(&case);
            if let Some(finding) = finding {
                self.by_volume.insert(volume.id, self.out.findings.len());
                self.out.findings.push(finding);
                self.want(volume);
            }
            self.out.marks.push((volume.id, mark));
        }
    }

    fn judge_volume(&mut self, case: &Case<'_, '_>) -> (Mark, Option<Finding>) {
        let yes = |rules: &[(Class, Rule)]| {
            let mut found = rules
                .iter()
                .filter(|(_, rule)| rule(case) == Answer::Yes)
                .map(|(class, _)| *class);
            found.next().map(|class| (class, found.collect::<Vec<_>>()))
        };
        let always = yes(&ALWAYS);
        let flux = case.flux();
        self.tell_flux(case);
        if let Some((class, mut also)) = always {
            if flux.is_none() {
                also.extend(
                    yes(&SETTLED)
                        .into_iter()
                        .flat_map(|(first, rest)| std::iter::once(first).chain(rest)),
                );
            }
            return (Mark::Found(class), Some(self.found(case, class, also)));
        }
        if flux.is_some() {
            return (Mark::InFlux, None);
        }
        if let Some(Who::Mismatch(vm)) = case.who() {
            let why = "its holder bears the name or the uuid of a VM, but not both".to_owned();
            let vm = self.sight.vm(vm);
            self.cannot_tell(
                Some(case.volume),
                vm,
                Obstacle {
                    code: "domain-uuid",
                    why,
                    ask: None,
                },
            );
            return (Mark::CannotTell, None);
        }
        for (class, rule) in SETTLED {
            match rule(case) {
                Answer::No => {}
                Answer::Yes => {
                    let later: Vec<(Class, Rule)> = SETTLED.into_iter().filter(|(c, _)| *c > class).collect();
                    let also = yes(&later).map(|(first, rest)| std::iter::once(first).chain(rest).collect());
                    return (
                        Mark::Found(class),
                        Some(self.found(case, class, also.unwrap_or_default())),
                    );
                }
                Answer::CannotTell(obstacle) => {
                    self.cannot_tell(Some(case.volume), case.claim, obstacle);
                    return (Mark::CannotTell, None);
                }
            }
        }
        (mark(case), None)
    }

    fn found(&self, case: &Case<'_, '_>, class: Class, also: Vec<Class>) -> Finding {
        let sight = self.sight;
        let mut finding = tell::finding(class, Subject::Volume);
        finding.also = also;
        finding.volume = Some(tell::volume_ref(sight, case.volume));
        finding.claim = tell::claim(sight, case.volume);
        finding.holders = case.held.iter().map(|held| tell::holder(sight, *held)).collect();
        let holder = case.held.iter().find_map(|held| sight.seats()[held.seat].vm());
        let by_row = matches!(
            class,
            Class::MissingDisk | Class::ForeignHolder | Class::DoubleOpen | Class::SlotMismatch
        );
        let vm = if by_row {
            case.volume.instance.or(holder)
        } else {
            holder.or(case.volume.instance)
        };
        finding.vm = vm.and_then(|id| sight.vm(id)).map(|vm| tell::vm_ref(sight, vm));
        if class == Class::ForeignHolder && case.volume.instance.is_some() {
            finding.severity = Severity::Critical;
        }
        if class.is_orphan()
            && let Some(vm) = case.holder_vm()
        {
            let told = cause::orphan(sight, self.history, case.volume, vm);
            finding.confidence = Some(told.confidence);
            finding.cause = Some(told.cause);
        }
        finding
    }

    /// A volume's own flux is always told; its VM's only where rows and disks do not agree anyway.
    fn tell_flux(&mut self, case: &Case<'_, '_>) {
        let own = self.sight.volume_flux(case.volume.id).cloned();
        let Some(flux) = own.or_else(|| case.flux().filter(|_| !case.looks_right())) else {
            return;
        };
        let holder = case
            .held
            .iter()
            .find_map(|held| self.sight.seats()[held.seat].vm());
        let vm = case.volume.instance.or(holder);
        self.out.in_flux.push(NotJudged {
            volume: case.volume.uuid.clone(),
            vm: vm.map(|id| tell::instance(self.sight, id)),
            why: flux.why.clone(),
            code: if flux.stuck { "stuck" } else { flux.code },
            stuck: flux.stuck,
        });
    }

    fn cannot_tell(&mut self, volume: Option<&Volume>, vm: Option<&Vm>, first: Obstacle) {
        self.out.wanted.extend(first.ask);
        if let Some(volume) = volume {
            self.want(volume);
        }
        self.out.cannot_tell.push(NotJudged {
            volume: volume.and_then(|v| v.uuid.clone()),
            vm: vm.map(|vm| vm.instance.clone()),
            why: first.why,
            code: first.code,
            stuck: false,
        });
    }

    /// A volume with a higher class tells its shared slot in `also`; else the slot is a finding of its own.
    fn judge_slots(&mut self) {
        for vm in self.sight.vms().filter(|vm| vm.is_kvm() && vm.removed.is_none()) {
            for finding in duplicate_slot::findings(self.sight, vm) {
                let members = finding.volume.iter().chain(&finding.others).map(|v| v.id);
                let higher = members.filter_map(|id| self.by_volume.get(&id)).copied().next();
                match higher.and_then(|index| self.out.findings.get_mut(index)) {
                    Some(found) => found.also.push(Class::DuplicateSlot),
                    None => self.out.findings.push(finding),
                }
            }
        }
    }

    /// Which attaches collide, and which finding is to blame.
    fn find_blocks(&mut self) {
        for vm in self.sight.vms().filter(|vm| vm.is_kvm() && vm.removed.is_none()) {
            let [seat] = self.sight.seats_of(vm.id)[..] else {
                continue;
            };
            for taken in self.sight.taken_slots(vm, seat) {
                let block = tell::block(self.sight, vm, &taken);
                let place = self.sight.disk(taken.held);
                let uuid = &self.sight.seats()[seat].domain.uuid;
                for finding in &mut self.out.findings {
                    let holds = finding.holders.iter().any(|h| {
                        h.domain_uuid == *uuid && h.target.as_deref() == Some(place.target.as_str())
                    });
                    if holds && !finding.blocks.contains(&block) {
                        finding.blocks.push(block.clone());
                    }
                }
                self.out.blocked.push(block);
            }
        }
    }

    fn finish(mut self) -> Verdicts {
        for finding in &mut self.out.findings {
            finding.also.sort_unstable();
            finding.also.dedup();
            finding.id = tell::id_of(finding);
        }
        let sight = self.sight;
        scope::narrow(sight, &mut self.out);
        let key = |f: &Finding| {
            let instance = f.vm.as_ref().map(|vm| vm.instance.clone());
            (
                std::cmp::Reverse(f.severity),
                f.class,
                instance,
                f.volume.as_ref().map(|v| v.id),
                f.id.clone(),
            )
        };
        self.out.findings.sort_by_cached_key(key);
        self.out.in_flux.sort();
        self.out.in_flux.dedup();
        self.out.cannot_tell.sort();
        self.out.cannot_tell.dedup();
        self.out
    }
}

/// What is left when no class matched: healthy, expected nowhere, or spoken for by its VM's own finding.
fn mark(case: &Case<'_, '_>) -> Mark {
    let vms = case.holder_vm().into_iter().chain(case.volume.instance);
    let trouble = vms.filter_map(|vm| case.troubled.get(&vm).copied()).next();
    match trouble {
        Some(class) => Mark::Absorbed(class),
        None if case.held.is_empty() && case.volume.instance.is_none() => Mark::Detached,
        None if case.held.is_empty() => Mark::NotExpected,
        None => Mark::Healthy,
    }
}
