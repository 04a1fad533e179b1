//! The judge: tries the classes in their order for every VM, volume and disk.

use super::case::{Answer, Case};
use super::class::{Class, Severity};
use super::finding::{Finding, Mark, NotJudged, Subject, Verdicts};
use super::history::History;
use super::rules::{
    deleted_in_use, double_open, foreign_holder, incomplete_detach, lost_attach, missing_disk,
    pending_straggler, slot_mismatch, split_vm, straggler_detach, unknown_disk, vm_drift, wrong_vm,
};
use super::{scope, tell};
use crate::model::{Vm, VmId, VmState, Volume, VolumeId};
use crate::sight::{Asked, Flux, Identity, Obstacle, Sight, Who};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
        asked: Asked::default(),
    };
    let troubled = court.judge_vms();
    court.judge_volumes(&troubled);
    court.judge_slots();
    court.judge_conflicts();
    court.out.findings.extend(unknown_disk::findings(sight));
    court.out.findings.extend(pending_straggler::findings(sight));
    court.find_blocks();
    let mut out = court.finish(troubled);
    if let Some(earlier) = &sight.evidence.earlier {
        let before = classify(&Sight::new(earlier));
        let stood: BTreeSet<&str> = before.findings.iter().map(|f| f.id.as_str()).collect();
        let (stands, fresh) = out
            .findings
            .into_iter()
            .partition(|f| stood.contains(f.id.as_str()));
        out.findings = stands;
        settle(&mut out, fresh);
    }
    out
}

/// What only the later of two looks shows is in flux, and said to be.
fn settle(out: &mut Verdicts, fresh: Vec<Finding>) {
    let told: BTreeSet<VolumeId> = out
        .findings
        .iter()
        .filter_map(|f| Some(f.volume.as_ref()?.id))
        .collect();
    let mut moving = BTreeSet::new();
    for finding in fresh {
        moving.extend(finding.volume.as_ref().map(|v| v.id));
        out.in_flux.push(NotJudged {
            volume: finding.volume.and_then(|v| v.uuid),
            vm: finding.vm.map(|vm| vm.instance),
            why: format!("{} in the later of two looks only", finding.class),
            code: "moved",
            stuck: false,
        });
    }
    for (id, mark) in &mut out.marks {
        if moving.contains(id) && !told.contains(id) {
            *mark = Mark::InFlux;
        }
    }
    out.in_flux.sort();
    out.in_flux.dedup();
}

pub(super) struct Court<'s, 'e> {
    pub sight: &'s Sight<'e>,
    history: &'s History<'e>,
    pub out: Verdicts,
    pub by_volume: HashMap<VolumeId, usize>,
    asked: Asked,
}

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
                self.in_flux(None, Some(vm.instance.clone()), flux);
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
        self.sight.ask_in_zone(vm.zone, &mut self.asked);
    }

    /// Hosts that would complete the sight of a suspect, and of the VMs that it touches.
    fn want(&mut self, volume: &Volume) {
        self.sight.ask_for(volume, &mut self.asked);
        let holders = self.sight.holders(volume.id).into_iter();
        let holders = holders.filter_map(|held| self.sight.seats()[held.seat].vm());
        let vms: Vec<VmId> = volume.instance.into_iter().chain(holders).collect();
        for vm in vms.into_iter().filter_map(|id| self.sight.vm(id)) {
            self.sight.ask_for_vm(vm, &mut self.asked);
        }
    }

    fn judge_volumes(&mut self, troubled: &BTreeMap<VmId, Class>) {
        for volume in self.sight.volumes().filter(|v| self.sight.is_judged(v)) {
            let settled = volume.instance.is_some_and(|vm| !troubled.contains_key(&vm));
            if settled && self.sight.is_plainly_healthy(volume) {
                self.out.marks.push((volume.id, Mark::Healthy));
                continue;
            }
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
        if let Some(held) = case.conflicting.iter().find(|_| case.held.is_empty())
            && !matches!(self.sight.identity(*held), Identity::Conflict { .. })
        {
            // One of several rows of its source is plugged in, and it may be this one.
            let obstacle = self.sight.unidentified_disk(*held);
            self.cannot_tell(Some(case.volume), case.claim, obstacle);
            return (Mark::CannotTell, None);
        }
        (mark(case), None)
    }

    fn found(&self, case: &Case<'_, '_>, class: Class, also: Vec<Class>) -> Finding {
        let sight = self.sight;
        let mut finding = tell::finding(class, Subject::Volume);
        finding.also = also;
        finding.volume = Some(tell::volume_ref(sight, case.volume));
        finding.claim = tell::claim(sight, case.volume);
        let mut disks = case.held.clone();
        if class == Class::DoubleOpen {
            disks.extend(&case.conflicting);
            disks.sort_unstable();
        }
        finding.holders = disks.into_iter().map(|held| tell::holder(sight, held)).collect();
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
        if let Some(told) = case.orphan().filter(|_| class.is_orphan()) {
            finding.confidence = Some(told.confidence);
            finding.cause = Some(told.cause.clone());
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
        let vm = vm.map(|id| tell::instance(self.sight, id));
        self.in_flux(case.volume.uuid.clone(), vm, &flux);
    }

    pub(super) fn in_flux(&mut self, volume: Option<String>, vm: Option<String>, flux: &Flux) {
        self.out.in_flux.push(NotJudged {
            volume,
            vm,
            why: flux.why.clone(),
            code: if flux.stuck { "stuck" } else { flux.code },
            stuck: flux.stuck,
        });
    }

    fn cannot_tell(&mut self, volume: Option<&Volume>, vm: Option<&Vm>, first: Obstacle) {
        self.asked.hosts.extend(first.ask);
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

    fn finish(mut self, troubled: BTreeMap<VmId, Class>) -> Verdicts {
        self.out.troubled = troubled.into_keys().collect();
        self.out.wanted = std::mem::take(&mut self.asked.hosts);
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
