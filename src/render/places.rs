//! How output names what it speaks of: one spelling for a VM, a place, a slot.

use crate::classify::{Block, Claim, Holder, NotJudged, VmRef, VolumeRef};

/// `host/domain/target`; without a target, `host/domain`.
pub(super) fn place(holder: &Holder) -> String {
    match &holder.target {
        Some(target) => format!("{}/{}/{target}", holder.host, holder.domain),
        None => format!("{}/{}", holder.host, holder.domain),
    }
}

/// `worker7 (i-2-47-VM)`: what the tenant calls it, and the name that libvirt and operators know.
pub(super) fn vm(instance: &str, name: Option<&str>) -> String {
    match name {
        Some(name) if name != instance => format!("{name} ({instance})"),
        _ => instance.to_owned(),
    }
}

/// `device id 2 (vdc)`.
pub(super) fn slot(device_id: Option<u32>, target: Option<&str>) -> String {
    match (device_id, target) {
        (Some(id), Some(target)) => format!("device id {id} ({target})"),
        (Some(id), None) => format!("device id {id}"),
        (None, Some(target)) => format!("{target}, no device id"),
        (None, None) => "no device id".to_owned(),
    }
}

/// The volume by its lasting name.
pub(super) fn volume(volume: &VolumeRef) -> String {
    let VolumeRef {
        id,
        uuid,
        name,
        path: _,
        pool,
        pool_id,
        pool_uuid: _,
        pool_type,
        r#type,
        state,
        removed,
    } = volume;
    let mut text = uuid
        .clone()
        .unwrap_or_else(|| format!("row {id}, which has no uuid"));
    if let Some(name) = name {
        text += &format!(" {name}");
    }
    text += &format!(" ({}, {state}", r#type);
    if let Some(removed) = removed {
        text += &format!(", removed {removed}");
    }
    match (pool, pool_id, pool_type) {
        (Some(pool), _, Some(kind)) => text += &format!(", on {pool}, {kind}"),
        (Some(pool), _, None) => text += &format!(", on {pool}"),
        (None, Some(id), _) => text += &format!(", on pool {id}"),
        (None, None, _) => {}
    }
    text + ")"
}

/// What the database says of the volume.
pub(super) fn claim(claim: &Claim) -> String {
    let Claim {
        vm: instance,
        vm_name,
        vm_uuid: _,
        vm_state,
        host,
        device_id,
        target,
    } = claim;
    let state = match (vm_state, host) {
        (Some(state), Some(host)) => format!(", which is {state} on {host}"),
        (Some(state), None) => format!(", which is {state}"),
        (None, Some(host)) => format!(", on {host}"),
        (None, None) => String::new(),
    };
    format!(
        "attached to {} as {}{state}",
        vm(instance, vm_name.as_deref()),
        slot(*device_id, target.as_deref())
    )
}

/// What the database says of a VM.
pub(super) fn vm_row(row: &VmRef) -> String {
    let VmRef {
        id: _,
        uuid: _,
        instance,
        name,
        state,
        host,
        account: _,
    } = row;
    let place = host
        .as_ref()
        .map_or_else(|| ", on no host".to_owned(), |h| format!(" on {h}"));
    format!("{} is {state}{place}", vm(instance, Some(name)))
}

/// What libvirt shows of a holder.
pub(super) fn holder(holder: &Holder, source: bool) -> String {
    let Holder {
        host,
        host_uuid: _,
        domain,
        domain_uuid: _,
        vm_name,
        target,
        device_id,
        source: path,
        serial,
        persistent,
        in_use,
        host_id: _,
        vm_id: _,
    } = holder;
    let domain = vm(domain, vm_name.as_deref());
    let Some(target) = target else {
        return format!("{domain} runs on {host}");
    };
    let slot = device_id
        .map(|id| format!(" (device id {id})"))
        .unwrap_or_default();
    let mut text = format!("plugged into {domain} on {host} as {target}{slot}");
    if *persistent == Some(true) {
        text += ", also in its persistent definition";
    }
    text += match in_use {
        crate::classify::InUse::Yes => "; in use: yes",
        crate::classify::InUse::No => "; in use: no",
        crate::classify::InUse::Unknown => "; in use: unknown",
    };
    if source {
        let none = "none";
        text += &format!(
            "; source {}; serial {}",
            path.as_deref().unwrap_or(none),
            serial.as_deref().unwrap_or(none)
        );
    }
    text
}

/// An attach that collides.
pub(super) fn block(block: &Block) -> String {
    let Block {
        vm: instance,
        vm_name,
        device_id,
        target,
        by: _,
    } = block;
    format!(
        "every attach to {} that is given device id {device_id} fails: {target} is taken",
        vm(instance, Some(vm_name))
    )
}

/// What could not be judged: the volume, or the VM.
pub(super) fn subject(not_judged: &NotJudged) -> Option<&str> {
    not_judged.volume.as_deref().or(not_judged.vm.as_deref())
}
