//! One volume's case: what its row says, who holds it, and what stands in the way of judging it.

use super::cause::{self, Orphan};
use super::class::Class;
use super::history::History;
use crate::model::{Vm, VmId, Volume};
use crate::sight::{Flux, Held, Obstacle, Sight, Who};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// How a rule answers.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not this class.
    No,
    /// This class.
    Yes,
    /// It would be this class, but for an absence that cannot be proven: the first reason.
    CannotTell(Obstacle),
}

impl Answer {
    pub(super) fn when(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// One volume's case.
pub struct Case<'s, 'e> {
    /// All that is known.
    pub sight: &'s Sight<'e>,
    /// Attach and detach jobs.
    pub history: &'s History<'e>,
    /// VMs that are split or drifted.
    pub troubled: &'s BTreeMap<VmId, Class>,
    /// The row.
    pub volume: &'e Volume,
    /// The claim's VM, where its row is at hand.
    pub claim: Option<&'e Vm>,
    /// The disks that are this volume's.
    pub held: Vec<Held>,
    /// Disks on its source that may be another volume's: by their serial, or by another row of that source.
    pub conflicting: Vec<Held>,
    orphan: OnceCell<Option<Orphan>>,
}

impl<'s, 'e> Case<'s, 'e> {
    pub(super) fn new(
        sight: &'s Sight<'e>,
        history: &'s History<'e>,
        troubled: &'s BTreeMap<VmId, Class>,
        volume: &'e Volume,
    ) -> Self {
        let claim = volume.instance.and_then(|id| sight.vm(id));
        Self {
            sight,
            history,
            troubled,
            volume,
            claim,
            held: sight.holders(volume.id),
            conflicting: sight.conflicting(volume.id).collect(),
            orphan: OnceCell::new(),
        }
    }

    /// How it became an orphan, if it is one: no claim, and one holder that is a VM's domain without trouble of its own.
    pub(super) fn orphan(&self) -> Option<&Orphan> {
        let made = || {
            let free = self.volume.instance.is_none() && !self.volume.is_deleted();
            let vm = self.holder_vm().filter(|vm| free && !self.is_troubled(*vm))?;
            Some(cause::orphan(self.sight, self.history, self.volume, vm))
        };
        self.orphan.get_or_init(made).as_ref()
    }

    /// Distinct domains that hold it: a domain on two hosts is two.
    #[must_use]
    pub fn seats(&self) -> BTreeSet<usize> {
        self.held.iter().map(|held| held.seat).collect()
    }

    /// The one disk, if there is exactly one. Of disks that are all shareable, the claim's VM's, or the first.
    #[must_use]
    pub fn one(&self) -> Option<Held> {
        let all = self.held.as_slice();
        let own = |held: &&Held| {
            let vm = self.sight.seats()[held.seat].vm();
            vm.is_some() && vm == self.volume.instance
        };
        match all {
            [one] => Some(*one),
            [first, ..] if all.iter().all(|held| self.sight.disk(*held).shareable) => {
                Some(*all.iter().find(own).unwrap_or(first))
            }
            _ => None,
        }
    }

    /// Who the one holder is.
    #[must_use]
    pub fn who(&self) -> Option<Who> {
        self.one().map(|held| self.sight.seats()[held.seat].who)
    }

    /// The one holder's VM, if it is a VM of CloudStack's.
    #[must_use]
    pub fn holder_vm(&self) -> Option<VmId> {
        match self.who()? {
            Who::Vm(id) => Some(id),
            Who::Mismatch(_) | Who::Foreign => None,
        }
    }

    /// The claim's VM is one that should have a domain: Running, and its row is live.
    #[must_use]
    pub fn claim_runs(&self) -> bool {
        self.claim
            .is_some_and(|vm| vm.removed.is_none() && !vm.state.is_down())
    }

    /// The VM's own trouble speaks for this volume, too.
    #[must_use]
    pub fn is_troubled(&self, vm: VmId) -> bool {
        self.troubled.contains_key(&vm)
    }

    /// Why the case is not judged now: the volume, the claim's VM, or a holder's VM is in flux.
    #[must_use]
    pub fn flux(&self) -> Option<Flux> {
        let holders = self
            .held
            .iter()
            .filter_map(|held| self.sight.seats()[held.seat].vm());
        let vms = self.volume.instance.into_iter().chain(holders);
        let mut all = self.sight.volume_flux(self.volume.id).into_iter();
        all.next()
            .or_else(|| vms.filter_map(|vm| self.sight.vm_flux(vm)).next())
            .cloned()
    }

    /// Rows and disks agree as far as they were seen.
    #[must_use]
    pub fn looks_right(&self) -> bool {
        match self.held.as_slice() {
            [] => !self.claim_runs() || self.volume.state.has_no_disk_yet() || self.volume.is_deleted(),
            [one] => {
                let vm = self.sight.seats()[one.seat].vm();
                vm.is_some() && vm == self.volume.instance
            }
            _ => false,
        }
    }
}
