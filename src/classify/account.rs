//! What the witnesses say of one volume now, found or not.

use super::tell;
use crate::classify::{Claim, Class, Finding, Holder, VolumeRef};
use crate::model::Volume;
use crate::sight::Sight;

/// A volume beside its disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The volume.
    pub volume: VolumeRef,
    /// What its row claims.
    pub claim: Option<Claim>,
    /// The disks that are it.
    pub holders: Vec<Holder>,
}

/// Takes a volume's account.
#[must_use]
pub fn account(sight: &Sight<'_>, volume: &Volume) -> Account {
    Account {
        volume: tell::volume_ref(sight, volume),
        claim: tell::claim(sight, volume),
        holders: sight
            .holders(volume.id)
            .into_iter()
            .map(|held| tell::holder(sight, held))
            .collect(),
    }
}

/// The id that a straggler to be has where no host was asked, as `jobs` tells it; none for every other class.
#[must_use]
pub fn id_without_hosts(finding: &Finding) -> Option<String> {
    (finding.class == Class::PendingStraggler).then(|| {
        let mut blind = finding.clone();
        blind.holders.clear();
        tell::id_of(&blind)
    })
}
