//! The vocabulary: ids, rows, domains, disks, slots, and what a row's disk should look like.
//!
//! *Comes in*: nothing. *Goes out*: plain values that every other room speaks in. *Never*: reads anything,
//! knows any other room, or holds a verdict.

mod ids;
mod infra;
mod job;
mod libvirt;
mod moment;
mod named;
mod record;
mod slot;
mod source;
mod vm;
mod volume;

pub use ids::{AccountId, ClusterId, DomainId, HostId, JobId, PoolId, VmId, VolumeId, ZoneId};
pub use infra::{Cluster, Host, Pool, PoolScope, PoolType, Zone};
pub use job::{Failure, Job, JobKind, JobState, Reconcile, Work};
pub use libvirt::{Device, Disk, Domain, RunState, Source, SourceKind};
pub use moment::{LogKind, LogMoment, LogWitness, Logs, VmTold};
pub use record::{Record, RecordSource, Records, Step};
pub use slot::{Bus, Slot, target_index};
pub use source::{SourceKey, expected_keys, is_plainly, seen_keys, serial_of};
pub use vm::{ExtraDisk, Vm, VmState, VmType};
pub use volume::{Volume, VolumeState, VolumeType};
