//! What is judged beside the volumes' own cases: conflicting disks, shared slots, and what blocks the next attach.

use super::class::Class;
use super::judge::Court;
use super::rules::{duplicate_slot, identity_conflict};
use super::tell;
use crate::model::{Vm, VmState, VolumeId};
use std::collections::HashMap;

impl Court<'_, '_> {
    /// A disk whose witnesses disagree; not told while CloudStack is at work on either volume or the VM.
    pub(super) fn judge_conflicts(&mut self) {
        for finding in identity_conflict::findings(self.sight) {
            let rows = finding.volume.iter().chain(&finding.others);
            let of_row = rows.filter_map(|v| self.sight.volume_flux(v.id)).next();
            let flux = of_row.or_else(|| self.sight.vm_flux(finding.vm.as_ref()?.id));
            match flux.cloned() {
                Some(flux) => self.in_flux(
                    finding.volume.and_then(|v| v.uuid),
                    finding.vm.map(|vm| vm.instance),
                    &flux,
                ),
                None => self.out.findings.push(finding),
            }
        }
    }

    /// A volume with a higher class tells its shared slot in `also`. The slot is a finding of its own, too, unless all
    /// of its volumes tell it.
    pub(super) fn judge_slots(&mut self) {
        for vm in self.sight.vms().filter(|vm| vm.is_kvm() && vm.removed.is_none()) {
            for finding in duplicate_slot::findings(self.sight, vm) {
                let members: Vec<VolumeId> = finding
                    .volume
                    .iter()
                    .chain(&finding.others)
                    .map(|v| v.id)
                    .collect();
                let higher: Vec<usize> = members
                    .iter()
                    .filter_map(|id| self.by_volume.get(id))
                    .copied()
                    .collect();
                for index in &higher {
                    self.out.findings[*index].also.push(Class::DuplicateSlot);
                }
                if higher.len() < members.len() {
                    self.out.findings.push(finding);
                }
            }
        }
    }

    /// Which attaches collide, and which finding is to blame. Only a running VM is hot-attached to.
    pub(super) fn find_blocks(&mut self) {
        let mut blame: HashMap<(String, String), Vec<usize>> = HashMap::new();
        for (index, finding) in self.out.findings.iter().enumerate() {
            for holder in &finding.holders {
                if let Some(target) = &holder.target {
                    let place = (holder.domain_uuid.clone(), target.clone());
                    blame.entry(place).or_default().push(index);
                }
            }
        }
        let runs = |vm: &&Vm| vm.is_kvm() && vm.removed.is_none() && vm.state == VmState::Running;
        for vm in self.sight.vms().filter(runs) {
            let [seat] = self.sight.seats_of(vm.id)[..] else {
                continue;
            };
            for taken in self.sight.taken_slots(vm, seat) {
                let block = tell::block(self.sight, vm, &taken);
                let place = (self.sight.seats()[seat].domain.uuid.clone(), taken.target.clone());
                for index in blame.get(&place).into_iter().flatten() {
                    let blocks = &mut self.out.findings[*index].blocks;
                    if !blocks.contains(&block) {
                        blocks.push(block.clone());
                    }
                }
                self.out.blocked.push(block);
            }
        }
    }
}
