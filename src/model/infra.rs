//! Where things are: zones, clusters, hosts, primary storage pools.

use super::named::named;
use super::{ClusterId, HostId, PoolId, ZoneId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A row of `cloud.data_center`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// `id`.
    pub id: ZoneId,
    /// `uuid`.
    pub uuid: Option<String>,
    /// `name`.
    pub name: String,
}

/// A row of `cloud.cluster`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// `id`.
    pub id: ClusterId,
    /// `uuid`.
    pub uuid: Option<String>,
    /// `name`.
    pub name: String,
    /// `data_center_id`.
    pub zone: ZoneId,
    /// `hypervisor_type`.
    pub hypervisor: Option<String>,
}

/// A KVM hypervisor: a row of `cloud.host` with `type = 'Routing'`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `id`.
    pub id: HostId,
    /// `uuid`: the row's, not the one libvirt reports.
    pub uuid: Option<String>,
    /// `name`: the host name that the agent reported.
    pub name: String,
    /// `private_ip_address`.
    pub ip: String,
    /// `data_center_id`.
    pub zone: ZoneId,
    /// `cluster_id`.
    pub cluster: Option<ClusterId>,
    /// `status`: `Up`, `Down`, `Alert` …. A host that is called Down is asked all the same.
    pub status: String,
    /// `resource_state`: `Enabled`, `Maintenance` ….
    pub resource_state: String,
    /// `removed`.
    pub removed: Option<Timestamp>,
}

named! {
    /// `storage_pool.pool_type` (CloudStack's `Storage.StoragePoolType`). The pool's row is the authority, not
    /// `volumes.pool_type`.
    PoolType {
        Filesystem = "Filesystem", NetworkFilesystem = "NetworkFilesystem", Iscsi = "Iscsi",
        IscsiLun = "IscsiLUN", Clvm = "CLVM", ClvmNg = "CLVM_NG", Rbd = "RBD",
        SharedMountPoint = "SharedMountPoint", Gluster = "Gluster", PowerFlex = "PowerFlex",
        ManagedNfs = "ManagedNFS", Linstor = "Linstor", StorPool = "StorPool",
        FiberChannel = "FiberChannel", NvmeTcp = "NVMeTCP", Lvm = "LVM", Vmfs = "VMFS",
        PreSetup = "PreSetup", Ext = "EXT", Ocfs2 = "OCFS2", Smb = "SMB", Iso = "ISO",
        DatastoreCluster = "DatastoreCluster",
    }
}

impl PoolType {
    /// Pools of other hypervisors, whose volumes are never judged.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(
            self,
            Self::IscsiLun
                | Self::PreSetup
                | Self::Vmfs
                | Self::Ocfs2
                | Self::Ext
                | Self::Lvm
                | Self::Smb
                | Self::DatastoreCluster
        )
    }
}

named! {
    /// `storage_pool.scope`.
    PoolScope { Host = "HOST", Cluster = "CLUSTER", Zone = "ZONE", Region = "REGION" }
}

/// A row of `cloud.storage_pool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// `id`.
    pub id: PoolId,
    /// `uuid`; any text on local pools.
    pub uuid: String,
    /// `name`.
    pub name: String,
    /// `pool_type`.
    pub kind: PoolType,
    /// `host_address`; several, comma-separated, on RBD.
    pub address: Option<String>,
    /// `port`.
    pub port: Option<i64>,
    /// `path`.
    pub path: Option<String>,
    /// `scope`; absent on old rows, which are then judged by their cluster and zone.
    pub scope: Option<PoolScope>,
    /// `data_center_id`.
    pub zone: Option<ZoneId>,
    /// `cluster_id`.
    pub cluster: Option<ClusterId>,
    /// `hypervisor`, where the pool is bound to one.
    pub hypervisor: Option<String>,
    /// `managed`.
    pub managed: bool,
    /// `removed`.
    pub removed: Option<Timestamp>,
    /// `storage_pool_host_ref.host_id`, ascending: the hosts that mounted it.
    pub hosts: Vec<HostId>,
}

impl Pool {
    /// The same path on two hosts is two files: the host is part of a disk's identity.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.scope, Some(PoolScope::Host))
            || matches!(self.kind, PoolType::Filesystem | PoolType::Iso)
    }

    /// Another row of the same storage: the same type, address and path.
    #[must_use]
    pub fn same_backend(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.path == other.path
            && match self.kind {
                PoolType::SharedMountPoint => true,
                PoolType::Filesystem => self.hosts.iter().any(|h| other.hosts.contains(h)),
                _ => self.address == other.address,
            }
    }
}
