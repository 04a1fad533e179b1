//! Advice: what to do about a finding, in plain words, Kubernetes' part included.

use super::elsewhere::{Other, listed};
use crate::classify::{Action, Class, Finding, Holder, Offer};

/// The advice of one finding; `others`: where else a disk that no row knows is open.
pub(super) fn advise(finding: &Finding, others: &[Other]) -> String {
    let holder = finding.holders.first();
    let place = holder.map_or_else(|| "the guest".to_owned(), place);
    let claim = finding.claim.as_ref().map_or("no VM", |c| c.vm.as_str());
    let vm = finding.vm.as_ref().map_or("the VM", |vm| vm.instance.as_str());
    let text = match finding.class {
        Class::StragglerDetach | Class::LostAttach => {
            format!("Assume that {place} uses the disk: do not unplug it, and attach the volume nowhere else. {} {}", adopt(finding), kubernetes_adopt(finding))
        }
        Class::IncompleteDetach => {
            format!("The detach was wanted and the guest never let go. Do not attach the volume anywhere else. If {place} is shown not to use it, it can be unplugged; else: {} {}", adopt(finding), kubernetes_adopt(finding))
        }
        Class::WrongVm => {
            format!("Do not start {claim} and attach nothing: the row gives the volume to {claim}, but {place} has it. Look whose data is live: in the guest of {place}, is it mounted and written to? If it is not used there, unplug it from there; if it is, the row belongs to that VM. {}", kubernetes_gone(finding))
        }
        Class::MissingDisk => {
            let release = finding.remedies.iter().any(|o| o.action == Action::Release && o.withheld.is_none());
            let what = if release {
                format!("A detach from {claim} is on record and the guest has let go: set the row free (release), then attach the volume where it is wanted: `cmk attach volume`.")
            } else if restartable(finding) {
                format!("No detach from {claim} explains it. Look into the guest and ask its owner; a stop and start of {claim} through CloudStack plugs the disk in again.")
            } else {
                format!("No detach from {claim} explains it, and {}. Look into the guest and ask its owner; change nothing before.", no_restart(finding))
            };
            if finding.volume.as_ref().is_some_and(|v| v.r#type != "DATADISK") {
                return what;
            }
            format!("{what} {}", kubernetes_gone(finding))
        }
        Class::DoubleOpen => {
            format!("Do not shut either guest down: it would flush stale pages over the live copy. Snapshot the image, suspend the guest that you judge stale, decide which copy lives, then stop the stale one by force. Changing the database cures nothing. {}", kubernetes_look(finding))
        }
        Class::DeletedInUse => {
            let state = finding.volume.as_ref().map_or("", |v| v.state.as_str());
            let recover = if state == "Destroy" {
                format!("The state is still Destroy: `cmk recover volume id={}` now, then scan again. ", uuid(finding).unwrap_or("?"))
            } else {
                String::new()
            };
            format!("Do not stop, migrate or reboot {place}: it may hold the last copy. {recover}On a file pool, copy the data from the QEMU process's open descriptor (/proc/PID/fd on the host).")
        }
        Class::SplitVm => {
            format!("Find out which copy of {vm} its clients reach. Suspend the other one, do not shut it down; snapshot what matters, then destroy it on its host. Touch none of its volumes before.")
        }
        Class::VmDrift => drift(finding, vm),
        Class::ForeignHolder => {
            format!("Find out who started {place} and why. Attach the volume nowhere{} until it is gone.", if finding.claim.is_some() { format!(", and do not start {claim},") } else { String::new() })
        }
        Class::IdentityConflict => {
            "The guest goes by the serial, the bytes are the source's. Compare the data of both volumes with what the guest sees; change neither row until that is known.".to_owned()
        }
        Class::SlotMismatch if restartable(finding) => {
            format!("The disk is right, its letter is wanted by something else. A stop and start of {vm} through CloudStack puts it where the row says.")
        }
        Class::SlotMismatch => {
            format!("The disk is right, its letter is wanted by something else; {}. Mend the other finding of {vm} first.", no_restart(finding))
        }
        Class::DuplicateSlot => {
            format!("See which volume {vm} has at that slot, then detach the other through CloudStack and attach it again.")
        }
        Class::UnknownDisk => {
            format!("{}Ask the owner of {vm} what it is. The next stop and start through CloudStack removes it: the domain is built from the rows.", two_writers(others))
        }
        Class::PendingStraggler => {
            let job = finding.cause.as_ref().and_then(|c| c.job).map_or_else(|| "the job".to_owned(), |id| format!("job-{id}"));
            format!("Wait for {job}, then scan again; attach the volume nowhere before. If a row names a VM when it runs, it clears that attachment. {}", kubernetes_look(finding))
        }
    };
    // A volume without uuid has no line to look it up with.
    text.trim_end().to_owned()
}

/// What comes first of a disk that is open elsewhere, too.
fn two_writers(others: &[Other]) -> String {
    let places = listed(others);
    match others.first() {
        None => String::new(),
        Some(Other { sure: true, .. }) => format!(
            "The same source is also open in {places}: two writers on one image destroy it. Shut neither guest down, it would flush stale pages over the live copy: suspend the one that you judge stale. "
        ),
        Some(Other { sure: false, .. }) => format!(
            "The same path is also open in {places}: if it is one image, two writers destroy it. Find that out before either guest is shut down. "
        ),
    }
}

fn drift(finding: &Finding, vm: &str) -> String {
    let state = finding.vm.as_ref().map_or("", |vm| vm.state.as_str());
    let row = finding
        .vm
        .as_ref()
        .and_then(|vm| vm.host.as_deref())
        .unwrap_or("no host");
    let seen: Vec<&str> = finding.holders.iter().map(|h| h.host.as_str()).collect();
    let fact = match seen.as_slice() {
        [] => format!("The row says {state} on {row}; {row} was read and has no such domain."),
        hosts => format!(
            "The row says {state} on {row}; its domain is active on {}.",
            hosts.join(", ")
        ),
    };
    format!(
        "{fact} Let {vm} settle first: CloudStack's power-state sync, or a stop or start through CloudStack. Its volumes are judged after that."
    )
}

fn place(holder: &Holder) -> String {
    match &holder.target {
        Some(target) => format!("{} ({target}, on {})", holder.domain, holder.host),
        None => format!("{} (on {})", holder.domain, holder.host),
    }
}

fn adopt(finding: &Finding) -> String {
    let holder = finding.holders.first();
    let slot = holder
        .and_then(|h| h.device_id)
        .map_or_else(String::new, |id| format!(", device id {id}"));
    let name = holder.map_or("the holder", |h| h.domain.as_str());
    match finding
        .remedies
        .iter()
        .find(|o: &&Offer| o.action == Action::Adopt)
    {
        Some(Offer { withheld: None, .. }) => {
            format!("Let the row name {name}{slot} again (adopt): nothing is pulled from under the guest.")
        }
        Some(Offer {
            withheld: Some(why),
            code,
            ..
        }) => {
            format!(
                "The row could name {name}{slot} again (adopt), but that is withheld ({}: {why}). Clear that up, then scan again; change nothing by hand before.",
                code.unwrap_or("guard")
            )
        }
        None => "This needs hands.".to_owned(),
    }
}

/// Whether a stop and start through CloudStack may be advised.
fn restartable(finding: &Finding) -> bool {
    let restart = finding.remedies.iter().find(|o| o.action == Action::Restart);
    restart.is_some_and(|o| o.withheld.is_none())
}

/// Why it may not.
fn no_restart(finding: &Finding) -> String {
    let restart = finding.remedies.iter().find(|o| o.action == Action::Restart);
    match restart.and_then(|o| o.withheld.as_deref()) {
        Some(why) => format!("a stop and start is no way out: {why}"),
        None => "a stop and start is no way out".to_owned(),
    }
}

/// Kubernetes' part, where an adopt can be had: what it advises would else act on a row that nobody has mended.
fn kubernetes_adopt(finding: &Finding) -> String {
    let adopt = finding.remedies.iter().find(|o| o.action == Action::Adopt);
    if adopt.is_none_or(|o| o.withheld.is_some()) {
        return match finding.class {
            Class::IncompleteDetach => kubernetes_gone(finding),
            _ => kubernetes_look(finding),
        };
    }
    let detach = uuid(finding).map_or_else(
        || "detach it through CloudStack".to_owned(),
        |id| format!("`cmk detach volume id={id}`"),
    );
    let unplugged = match finding.class {
        Class::IncompleteDetach => {
            " After an unplug, one that still says attached will not attach again: delete the pod and that VolumeAttachment."
        }
        _ => "",
    };
    format!(
        "Kubernetes: after the adopt, a VolumeAttachment of this node heals by itself; with none, nothing will ever detach it: {detach} once the guest has let go.{unplugged} {}",
        kubectl(finding)
    )
}

/// Kubernetes' part after a release or a detach.
fn kubernetes_gone(finding: &Finding) -> String {
    format!(
        "Kubernetes: after a release or detach, a VolumeAttachment that still says attached will not attach again: delete the pod and that VolumeAttachment. {}",
        kubectl(finding)
    )
}

/// Kubernetes' part, where it is only to be looked at.
fn kubernetes_look(finding: &Finding) -> String {
    match kubectl(finding) {
        none if none.is_empty() => none,
        line => format!("Kubernetes: {line}"),
    }
}

/// The PV of the volume's handle and its attachments, in bash: an empty list of patterns shows nothing, an empty pattern
/// would show all.
fn kubectl(finding: &Finding) -> String {
    uuid(finding).map_or_else(String::new, |id| {
        format!(
            "`kubectl get pv,volumeattachment | grep -Ff <(kubectl get pv -o custom-columns=N:.metadata.name,H:.spec.csi.volumeHandle | awk '/{id}/{{print $1}}')`"
        )
    })
}

/// The volume's uuid, if it is one: only then is it fit for a command line.
fn uuid(finding: &Finding) -> Option<&str> {
    let uuid = finding.volume.as_ref()?.uuid.as_deref()?;
    let shaped = uuid.len() == 36 && uuid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    shaped.then_some(uuid)
}
