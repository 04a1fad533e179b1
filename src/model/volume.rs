//! A volume: one row of `cloud.volumes`.

use super::named::named;
use super::{AccountId, DomainId, PoolId, VmId, VolumeId, ZoneId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

named! {
    /// `volumes.state` (CloudStack's `Volume.State`). There is no `Detaching`.
    VolumeState {
        Allocated = "Allocated", Creating = "Creating", Ready = "Ready", Migrating = "Migrating",
        Snapshotting = "Snapshotting", RevertSnapshotting = "RevertSnapshotting", Resizing = "Resizing",
        Expunging = "Expunging", Expunged = "Expunged", Destroy = "Destroy", Destroying = "Destroying",
        UploadOp = "UploadOp", Copying = "Copying", Uploaded = "Uploaded", NotUploaded = "NotUploaded",
        UploadInProgress = "UploadInProgress", UploadError = "UploadError",
        UploadAbandoned = "UploadAbandoned", Attaching = "Attaching", Restoring = "Restoring",
    }
}

impl VolumeState {
    /// CloudStack is at work on the volume and will leave this state by itself.
    #[must_use]
    pub fn is_transitional(&self) -> bool {
        matches!(
            self,
            Self::Creating
                | Self::Migrating
                | Self::Snapshotting
                | Self::RevertSnapshotting
                | Self::Resizing
                | Self::UploadOp
                | Self::Copying
                | Self::UploadInProgress
                | Self::Attaching
                | Self::Restoring
                | Self::Destroying
                | Self::Expunging
        )
    }

    /// The database has given the volume up: what still holds it writes to something deleted or about to be.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        matches!(
            self,
            Self::Destroy | Self::Destroying | Self::Expunging | Self::Expunged
        )
    }

    /// Not on primary storage yet (or never): no disk is expected anywhere.
    #[must_use]
    pub fn has_no_disk_yet(&self) -> bool {
        matches!(
            self,
            Self::Allocated
                | Self::Uploaded
                | Self::NotUploaded
                | Self::UploadInProgress
                | Self::UploadError
                | Self::UploadAbandoned
        )
    }
}

named! {
    /// `volumes.volume_type` (CloudStack's `Volume.Type`).
    VolumeType { Root = "ROOT", Data = "DATADISK", Swap = "SWAP", Iso = "ISO", Unknown = "UNKNOWN" }
}

/// One row of `cloud.volumes`. Times are UTC, `size` is bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// `id`.
    pub id: VolumeId,
    /// `uuid`; absent on the row that lost a uuid swap (`VolumeDaoImpl.updateUuid`).
    pub uuid: Option<String>,
    /// `name`, the tenant's text.
    pub name: Option<String>,
    /// `path`: file, image, logical volume or provider's string.
    pub path: Option<String>,
    /// `iscsi_name`: `/<iqn>/<lun>` on managed iSCSI.
    pub iscsi_name: Option<String>,
    /// `pool_id`.
    pub pool: Option<PoolId>,
    /// `last_pool_id`: where it was before its last migration.
    pub last_pool: Option<PoolId>,
    /// `instance_id`: the claim's VM.
    pub instance: Option<VmId>,
    /// `device_id`: the claim's slot; 0 is ROOT.
    pub device_id: Option<u32>,
    /// `volume_type`.
    pub kind: VolumeType,
    /// `state`.
    pub state: VolumeState,
    /// `account_id`.
    pub account: AccountId,
    /// `domain_id`.
    pub domain: DomainId,
    /// `data_center_id`.
    pub zone: ZoneId,
    /// `size`, bytes.
    pub size: u64,
    /// `attached`: set by attach, cleared by detach.
    pub attached: Option<Timestamp>,
    /// `updated`: bumped by attach, detach and every change of state.
    pub updated: Option<Timestamp>,
    /// `removed`: soft deletion.
    pub removed: Option<Timestamp>,
    /// `update_count`: counts changes of *state* only; attach and detach leave it alone.
    pub update_count: u64,
    /// `passphrase_id` is set: encrypted by the hypervisor.
    pub encrypted: bool,
    /// `last_id`: the row that this one replaces while a live storage migration runs.
    pub last_id: Option<VolumeId>,
}

impl Volume {
    /// Soft-deleted or in a state that leads there.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.removed.is_some() || self.state.is_deleted()
    }

    /// What volrecon fingerprints of a row: if any of it differs between two reads, the row moved.
    #[must_use]
    pub fn same_row(&self, other: &Self) -> bool {
        self.uuid == other.uuid
            && self.instance == other.instance
            && self.device_id == other.device_id
            && self.pool == other.pool
            && self.path == other.path
            && self.state == other.state
            && self.update_count == other.update_count
            && self.updated == other.updated
            && self.attached == other.attached
            && self.removed == other.removed
    }
}
