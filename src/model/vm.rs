//! A VM: one row of `cloud.vm_instance` with the details that matter to disks.

use super::named::named;
use super::{AccountId, DomainId, HostId, VmId, ZoneId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

named! {
    /// `vm_instance.state` (CloudStack's `VirtualMachine.State`).
    VmState {
        Starting = "Starting", Running = "Running", Stopping = "Stopping", Stopped = "Stopped",
        Destroyed = "Destroyed", Expunging = "Expunging", Migrating = "Migrating", Error = "Error",
        Unknown = "Unknown", Shutdown = "Shutdown", Restoring = "Restoring",
    }
}

impl VmState {
    /// CloudStack is at work on the VM. `Expunging` is told apart: a VM is stopped long before it is expunged,
    /// so a domain that still runs then is no race.
    #[must_use]
    pub fn is_transitional(&self) -> bool {
        matches!(
            self,
            Self::Starting | Self::Stopping | Self::Migrating | Self::Restoring
        )
    }

    /// States in which no domain may exist.
    #[must_use]
    pub fn is_down(&self) -> bool {
        matches!(
            self,
            Self::Stopped | Self::Destroyed | Self::Expunging | Self::Error | Self::Shutdown
        )
    }
}

named! {
    /// `vm_instance.type` (CloudStack's `VirtualMachine.Type`).
    VmType {
        User = "User", DomainRouter = "DomainRouter", ConsoleProxy = "ConsoleProxy",
        SecondaryStorageVm = "SecondaryStorageVm", ElasticLoadBalancerVm = "ElasticLoadBalancerVm",
        InternalLoadBalancerVm = "InternalLoadBalancerVm",
    }
}

/// A `<disk>` that an operator merged into the domain through an `extraconfig-N` detail: no volume, and known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraDisk {
    /// The source's path, device or name, if it has one.
    pub source: Option<String>,
    /// `<target dev=…>`.
    pub target: Option<String>,
}

/// One row of `cloud.vm_instance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// `id`.
    pub id: VmId,
    /// `uuid`, which is the domain's uuid where it parses as one (`LibvirtComputingResource.createVMFromSpec`).
    pub uuid: Option<String>,
    /// `name`, the tenant's text.
    pub name: String,
    /// `instance_name`: the libvirt domain's name, `i-2-41-VM`.
    pub instance: String,
    /// `state`.
    pub state: VmState,
    /// `type`.
    pub kind: VmType,
    /// `host_id`; absent when stopped.
    pub host: Option<HostId>,
    /// `last_host_id`.
    pub last_host: Option<HostId>,
    /// `power_host`: the host that last reported the VM.
    pub power_host: Option<HostId>,
    /// `account_id`.
    pub account: AccountId,
    /// `domain_id`.
    pub domain: DomainId,
    /// `data_center_id`.
    pub zone: ZoneId,
    /// `hypervisor_type`.
    pub hypervisor: String,
    /// `removed`.
    pub removed: Option<Timestamp>,
    /// `update_time`: when `state` last changed.
    pub update_time: Option<Timestamp>,
    /// `backup_offering_id` is set.
    pub has_backup_offering: bool,
    /// A live row of `vm_snapshots` names it.
    pub has_snapshot: bool,
    /// Detail `dataDiskController`: the bus that a hot-attach takes, where set.
    pub data_disk_controller: Option<String>,
    /// Disks of its `extraconfig-N` details.
    pub extra_disks: Vec<ExtraDisk>,
    /// It has an `extraconfig-N` detail that could not be read as XML: any unknown disk may be its.
    pub extra_unreadable: bool,
}

impl Vm {
    /// Whether volrecon judges it: KVM only.
    #[must_use]
    pub fn is_kvm(&self) -> bool {
        self.hypervisor.eq_ignore_ascii_case("KVM")
    }

    /// The row's uuid in the form that libvirt prints, where it is one; CloudStack gives the domain a random uuid
    /// where it is not.
    #[must_use]
    pub fn domain_uuid(&self) -> Option<String> {
        let uuid = self.uuid.as_deref()?;
        let hex = uuid.bytes().filter(u8::is_ascii_hexdigit).count();
        let shaped = uuid.len() == 36 && hex == 32 && uuid.bytes().filter(|b| *b == b'-').count() == 4;
        shaped.then(|| uuid.to_ascii_lowercase())
    }
}
