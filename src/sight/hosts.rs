//! Which hosts were seen, and which of them a volume could be on.

use super::Sight;
use crate::evidence::{GapCode, Status};
use crate::model::{HostId, Volume};
use std::collections::BTreeSet;

/// What may be concluded from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View<'e> {
    /// Read whole: what it does not show is not there.
    Seen,
    /// Should have been read whole and was not: what it does show still stands.
    Unseen(GapCode, String),
    /// Not asked, on purpose; `gap` if it was told to be skipped.
    NotAsked {
        /// In words.
        reason: &'e str,
        /// Counts as not seen.
        gap: bool,
    },
}

impl<'e> Sight<'e> {
    /// What may be concluded from a host. An empty inventory where the rows promise VMs is no inventory.
    #[must_use]
    pub fn view(&self, host: HostId) -> View<'e> {
        let Some(look) = self.evidence.looks.get(&host) else {
            return if self.host(host).is_some() {
                View::NotAsked {
                    reason: "out of scope",
                    gap: false,
                }
            } else {
                View::Unseen(
                    GapCode::HostUnseen,
                    "the host's row is removed or unknown".to_owned(),
                )
            };
        };
        match &look.status {
            Status::Seen if look.domains.is_empty() && look.unreadable.is_empty() => {
                let promised = self.promised.get(&host).copied().unwrap_or_default();
                if promised == 0 {
                    View::Seen
                } else {
                    View::Unseen(
                        GapCode::EmptyHost,
                        format!("it answered, but shows no domain where the rows promise {promised}"),
                    )
                }
            }
            Status::Seen => View::Seen,
            Status::Unseen { code, reason } => View::Unseen(*code, reason.clone()),
            Status::NotAsked { reason, gap } => View::NotAsked { reason, gap: *gap },
        }
    }

    /// Read whole, and no reason to doubt it.
    #[must_use]
    pub fn is_seen(&self, host: HostId) -> bool {
        matches!(self.view(host), View::Seen)
    }

    /// Every host that could hold a volume: in the scope of its pool, of its last pool, and of every pool row on the same
    /// backend, plus any host that was seen holding it.
    #[must_use]
    pub fn hosts_of(&self, volume: &Volume) -> BTreeSet<HostId> {
        let mut hosts = self.reach(volume).hosts.clone();
        let held = self.all_holders(volume.id).iter();
        hosts.extend(held.map(|held| self.seats()[held.seat].host));
        hosts
    }
}
