//! Which domain is which VM, and which of two is the silent half of a migration.

use super::{Seat, Sight, Who};
use crate::model::{RunState, Vm};
use std::collections::HashMap;

impl Sight<'_> {
    pub(super) fn place_domains(&mut self) {
        let mut by_name: HashMap<&str, &Vm> = HashMap::new();
        let mut by_uuid: HashMap<String, &Vm> = HashMap::new();
        for vm in self.vms.iter().filter(|vm| vm.is_kvm()) {
            // A live row wins over a removed one of the same name.
            let better = |old: &&Vm| old.removed.is_some() && vm.removed.is_none();
            if by_name.get(vm.instance.as_str()).is_none_or(better) {
                by_name.insert(&vm.instance, vm);
            }
            if let Some(uuid) = vm
                .domain_uuid()
                .filter(|uuid| by_uuid.get(uuid).is_none_or(better))
            {
                by_uuid.insert(uuid, vm);
            }
        }
        for (host, look) in &self.evidence.looks {
            for domain in &look.domains {
                let named = by_name.get(domain.name.as_str()).copied();
                let identified = by_uuid.get(&domain.uuid).copied();
                let who = match (named, identified) {
                    (Some(vm), _) if vm.domain_uuid().is_none_or(|u| u == domain.uuid) => Who::Vm(vm.id),
                    (Some(vm), _) => Who::Mismatch(vm.id),
                    (None, Some(vm)) => Who::Mismatch(vm.id),
                    (None, None) => Who::Foreign,
                };
                if let Who::Mismatch(vm) = who {
                    self.mismatched.insert(vm);
                    self.mismatched.extend(identified.map(|vm| vm.id));
                }
                self.seats.push(Seat {
                    host: *host,
                    domain,
                    who,
                    twin: false,
                });
            }
        }
        self.seats.sort_by(|a, b| {
            (a.host, &a.domain.name, &a.domain.uuid).cmp(&(b.host, &b.domain.name, &b.domain.uuid))
        });
        self.mark_twins();
        for (index, seat) in self.seats.iter().enumerate() {
            if let Some(vm) = seat.vm() {
                self.seats_of.entry(vm).or_default().push(index);
            }
        }
    }

    /// A domain that is paused by a migration is its running twin's shadow. If all of them are, one still counts.
    fn mark_twins(&mut self) {
        let mut shown: HashMap<&str, usize> = HashMap::new();
        for seat in &self.seats {
            if seat.domain.state != RunState::Incoming {
                *shown.entry(&seat.domain.uuid).or_default() += 1;
            }
        }
        for seat in &mut self.seats {
            if seat.domain.state == RunState::Incoming {
                let count = shown.entry(&seat.domain.uuid).or_default();
                seat.twin = *count > 0;
                *count += 1;
            }
        }
    }
}
