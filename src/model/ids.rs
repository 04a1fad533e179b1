//! Row ids as types, so that a VM's id cannot be taken for a volume's.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// `cloud.volumes.id`. Changes on live storage migration: the uuid is the lasting name.
    VolumeId,
    /// `cloud.vm_instance.id`.
    VmId,
    /// `cloud.host.id`.
    HostId,
    /// `cloud.storage_pool.id`.
    PoolId,
    /// `cloud.cluster.id`.
    ClusterId,
    /// `cloud.data_center.id`.
    ZoneId,
    /// `cloud.async_job.id`: the number in `job-210235`.
    JobId,
    /// `cloud.account.id`.
    AccountId,
    /// `cloud.domain.id`: CloudStack's tenancy tree, not a libvirt domain.
    DomainId,
}
