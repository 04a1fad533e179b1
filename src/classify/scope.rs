//! A scope leaves out what does not touch it.

use crate::classify::{Finding, NotJudged, Verdicts};
use crate::model::{HostId, VmId, VolumeId};
use crate::sight::Sight;
use std::collections::{BTreeSet, HashMap};

/// Drops findings and entries outside the scope that the evidence was gathered for.
pub(super) fn narrow(sight: &Sight<'_>, out: &mut Verdicts) {
    let scope = &sight.evidence.scope;
    if scope.is_everything() {
        return;
    }
    let touches = |hosts: &BTreeSet<HostId>, vms: &BTreeSet<VmId>, volumes: &BTreeSet<VolumeId>| {
        hosts
            .iter()
            .any(|id| scope.hosts.contains(id) || scope.areas.contains(id))
            || vms.iter().any(|id| scope.vms.contains(id))
            || volumes.iter().any(|id| scope.volumes.contains(id))
    };
    let places = |vms: &BTreeSet<VmId>| -> BTreeSet<HostId> {
        let rows = vms.iter().filter_map(|id| sight.vm(*id)).filter_map(|vm| vm.host);
        let seats = vms
            .iter()
            .flat_map(|id| sight.seats_of(*id))
            .map(|seat| sight.seats()[seat].host);
        rows.chain(seats).collect()
    };
    out.findings.retain(|finding| {
        let (vms, volumes) = named(sight, finding);
        let mut hosts: BTreeSet<HostId> = finding.holders.iter().map(|h| h.host_id).collect();
        hosts.extend(places(&vms));
        touches(&hosts, &vms, &volumes)
    });
    let by_instance: HashMap<&str, VmId> = sight.vms().map(|vm| (vm.instance.as_str(), vm.id)).collect();
    let by_uuid: HashMap<&str, VolumeId> = sight
        .volumes()
        .filter_map(|v| Some((v.uuid.as_deref()?, v.id)))
        .collect();
    let keep = |entry: &NotJudged| {
        let vms: BTreeSet<VmId> = entry
            .vm
            .as_deref()
            .and_then(|name| by_instance.get(name))
            .copied()
            .into_iter()
            .collect();
        let volumes: BTreeSet<VolumeId> = entry
            .volume
            .as_deref()
            .and_then(|uuid| by_uuid.get(uuid))
            .copied()
            .into_iter()
            .collect();
        let mut hosts = places(&vms);
        let held = volumes.iter().flat_map(|id| sight.holders(*id));
        hosts.extend(held.map(|held| sight.seats()[held.seat].host));
        touches(&hosts, &vms, &volumes)
    };
    out.in_flux.retain(keep);
    out.cannot_tell.retain(keep);
    out.blocked.retain(|block| {
        let vms: BTreeSet<VmId> = by_instance.get(block.vm.as_str()).copied().into_iter().collect();
        touches(&places(&vms), &vms, &BTreeSet::new())
    });
    out.marks.retain(|(id, _)| {
        let volume = sight.volume(*id);
        let vms: BTreeSet<VmId> = volume.and_then(|v| v.instance).into_iter().collect();
        let mut hosts = places(&vms);
        hosts.extend(
            sight
                .holders(*id)
                .iter()
                .map(|held| sight.seats()[held.seat].host),
        );
        touches(&hosts, &vms, &BTreeSet::from([*id]))
    });
}

fn named(sight: &Sight<'_>, finding: &Finding) -> (BTreeSet<VmId>, BTreeSet<VolumeId>) {
    let volumes: BTreeSet<VolumeId> = finding
        .volume
        .iter()
        .chain(&finding.others)
        .map(|v| v.id)
        .collect();
    let claims = volumes.iter().filter_map(|id| sight.volume(*id)?.instance);
    let vms = claims
        .chain(finding.vm.iter().map(|vm| vm.id))
        .chain(finding.holders.iter().filter_map(|h| h.vm_id))
        .collect();
    (vms, volumes)
}
