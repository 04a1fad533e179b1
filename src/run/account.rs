//! From evidence and verdicts to the `explain` document.

use crate::classify::{
    Account, Class, Finding, Holder, Mark, NotJudged, Offer, QueuedJob, Subject, Verdicts, account,
    equivalents, queue, stories, timeline,
};
use crate::model::{VmId, Volume, VolumeId};
use crate::render::{ExplainDocument, Tool, Witness};
use crate::sight::{Sight, View, Whereabouts};
use std::collections::BTreeMap;

/// What is asked about: a volume, or a finding by its id.
#[derive(Clone, Debug)]
pub enum Asked {
    /// A volume's row.
    Volume(VolumeId),
    /// A finding.
    Finding(String),
}

/// Makes the document; none if nothing of that name is there.
#[must_use]
pub fn explain(sight: &Sight<'_>, verdicts: &Verdicts, asked: &Asked, word: &str) -> Option<ExplainDocument> {
    let finding = match asked {
        Asked::Finding(id) => Some(find(verdicts, id)?),
        Asked::Volume(id) => of_volume(sight, verdicts, *id),
    };
    let id = match asked {
        Asked::Volume(id) => Some(*id),
        Asked::Finding(_) => finding.and_then(|f| f.volume.as_ref()).map(|v| v.id),
    };
    let volume = id.and_then(|id| sight.volume(id));
    if volume.is_none() && finding.is_none() {
        return None;
    }
    let told = volume.map(|volume| account(sight, volume));
    let history = volume
        .map(|volume| timeline(sight, volume, finding))
        .unwrap_or_default();
    let not_judged = not_judged(sight, verdicts, volume);
    let mark = id
        .and_then(|id| verdicts.marks.iter().find(|(of, _)| *of == id))
        .map(|(_, mark)| *mark);
    let read_at = sight
        .evidence
        .database
        .read_again_at
        .unwrap_or(sight.evidence.database.read_at);
    let mut pending: Vec<QueuedJob> = queue(sight, &BTreeMap::new(), read_at);
    pending.retain(|job| id.is_some() && job.volume_id == id);
    let holders = match (&told, finding) {
        (_, Some(finding)) => finding.holders.clone(),
        (Some(told), None) => told.holders.clone(),
        (None, None) => Vec::new(),
    };
    let further = verdicts.findings.iter().filter(|f| {
        let names = |id| f.volume.iter().chain(&f.others).any(|v| v.id == id);
        id.is_some_and(names) && finding.is_none_or(|main| main.id != f.id)
    });
    Some(ExplainDocument {
        document: "explain",
        version: 1,
        tool: Tool::own(),
        asked: word.to_owned(),
        verdict: match (finding, mark) {
            (Some(finding), _) => finding.class.name().to_owned(),
            (None, Some(mark)) => mark.name().to_owned(),
            (None, None) => "not-judged".to_owned(),
        },
        summary: match (finding, &told, volume) {
            (Some(finding), told, _) => of_finding(finding, told.as_ref()),
            (None, Some(told), Some(volume)) => {
                let last = history
                    .lines
                    .iter()
                    .rfind(|line| line.source != "volumes" && line.job.is_some());
                let last = last.map_or_else(
                    || "No attach or detach job of it is on record.".to_owned(),
                    |line| {
                        format!(
                            "The last on record: job-{}, {} at {}.",
                            line.job.map_or(0, |j| j.0),
                            line.what,
                            line.time
                        )
                    },
                );
                of_mark(sight, volume, told, mark, &not_judged, &last)
            }
            (None, _, _) => String::new(),
        },
        witnesses: witnesses(sight, told.as_ref(), finding, &holders),
        claim: told.as_ref().and_then(|told| told.claim.clone()),
        volume: told.map(|told| told.volume),
        further: further.map(|f| f.id.clone()).collect(),
        not_judged,
        pending,
        timeline: history.lines,
        contradictions: history.contradictions,
        unknown: history.unknown,
        blocks: finding.map(|f| f.blocks.clone()).unwrap_or_default(),
        remedies: finding.map(|f| in_order(&f.remedies)).unwrap_or_default(),
        equivalent: volume
            .map(|volume| equivalents(sight, volume, finding))
            .unwrap_or_default(),
        advice: finding.map(|f| f.advice.clone()),
        holders,
        finding: finding.cloned(),
    })
}

/// By its id; a straggler to be also by the id that it has where no host was asked.
pub(super) fn find<'v>(verdicts: &'v Verdicts, id: &str) -> Option<&'v Finding> {
    let all = || verdicts.findings.iter();
    let blind = |f: &&Finding| crate::classify::id_without_hosts(f).as_deref() == Some(id);
    all().find(|f| f.id == id).or_else(|| all().find(blind))
}

/// The worst finding that names the volume; else the one of its VM that speaks for it.
fn of_volume<'v>(sight: &Sight<'_>, verdicts: &'v Verdicts, id: VolumeId) -> Option<&'v Finding> {
    let names = |f: &&Finding| f.volume.iter().chain(&f.others).any(|v| v.id == id);
    let absorbed = || {
        let (_, mark) = verdicts.marks.iter().find(|(of, _)| *of == id)?;
        let Mark::Absorbed(class) = mark else { return None };
        let vms = vms(sight, sight.volume(id)?);
        let speaks = |f: &&Finding| f.class == *class && f.vm.as_ref().is_some_and(|vm| vms.contains(&vm.id));
        verdicts.findings.iter().find(speaks)
    };
    verdicts.findings.iter().find(names).or_else(absorbed)
}

fn vms(sight: &Sight<'_>, volume: &Volume) -> Vec<VmId> {
    let held = sight.holders(volume.id).into_iter();
    let holders = held.filter_map(|held| sight.seats()[held.seat].vm());
    volume.instance.into_iter().chain(holders).collect()
}

fn not_judged(sight: &Sight<'_>, verdicts: &Verdicts, volume: Option<&Volume>) -> Vec<NotJudged> {
    let Some(volume) = volume else { return Vec::new() };
    let names: Vec<&str> = vms(sight, volume)
        .into_iter()
        .filter_map(|id| sight.vm(id))
        .map(|vm| vm.instance.as_str())
        .collect();
    let own = |entry: &&NotJudged| match (&entry.volume, &entry.vm) {
        (Some(uuid), _) => Some(uuid) == volume.uuid.as_ref(),
        (None, Some(vm)) => names.contains(&vm.as_str()),
        (None, None) => false,
    };
    let all = verdicts.in_flux.iter().chain(&verdicts.cannot_tell);
    let mut out: Vec<NotJudged> = all.filter(own).cloned().collect();
    // What is said of the volume itself comes first.
    out.sort_by_key(|entry| entry.volume.is_none());
    out
}

/// Recommended first, withheld last.
fn in_order(offers: &[Offer]) -> Vec<Offer> {
    let mut out = offers.to_vec();
    out.sort_by_key(|offer| (!offer.recommended, offer.withheld.is_some()));
    out
}

/// `worker7 (i-2-207-VM)`.
fn named(instance: &str, name: Option<&str>) -> String {
    match name {
        Some(name) if name != instance => format!("{name} ({instance})"),
        _ => instance.to_owned(),
    }
}

fn plugged(holder: &Holder) -> String {
    let vm = named(&holder.domain, holder.vm_name.as_deref());
    match &holder.target {
        Some(target) => format!("plugged into {vm} on {} as {target}", holder.host),
        None => format!("{vm} runs on {}", holder.host),
    }
}

fn by_row(told: &Account) -> String {
    let Some(claim) = &told.claim else {
        return "attached to no VM".to_owned();
    };
    let slot = match (claim.device_id, &claim.target) {
        (Some(id), Some(target)) => format!("device id {id} ({target})"),
        _ => "no device id".to_owned(),
    };
    let state = claim
        .vm_state
        .as_ref()
        .map_or_else(String::new, |state| format!(", which is {state}"));
    format!(
        "attached to {} as {slot}{state}",
        named(&claim.vm, claim.vm_name.as_deref())
    )
}

fn subject(told: &Account) -> String {
    let volume = &told.volume;
    let uuid = volume
        .uuid
        .clone()
        .unwrap_or_else(|| format!("row {}", volume.id));
    let name = volume
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" ({name})"));
    format!("Volume {uuid}{name}")
}

/// What is so; and who did it, or what that is.
fn of_finding(finding: &Finding, told: Option<&Account>) -> String {
    let mut places: Vec<String> = finding.holders.iter().map(plugged).collect();
    if places.is_empty() {
        places.push("in no domain that was read".to_owned());
    }
    let places = places.join(" and ");
    let first = match (told, &finding.vm, finding.subject) {
        (Some(told), ..) => format!(
            "{} is {places}, and the database says that it is {}.",
            subject(told),
            by_row(told)
        ),
        (None, Some(vm), Subject::Vm) => format!(
            "{} is {}{} by its row; libvirt: {places}.",
            named(&vm.instance, Some(&vm.name)),
            vm.state,
            vm.host
                .as_ref()
                .map_or_else(String::new, |host| format!(" on {host}")),
        ),
        (None, ..) => format!("A disk that no row knows is {places}."),
    };
    let sure = finding
        .confidence
        .map_or_else(String::new, |c| format!(", {}", c.name()));
    let second = finding.cause.as_ref().map(|cause| cause.summary.clone());
    let second = second.or_else(|| {
        let story = stories()
            .iter()
            .find(|story| story.class == finding.class)
            .map(|story| story.title);
        story.map(str::to_owned)
    });
    format!(
        "{first} This is {}{sure}: {}.",
        finding.class,
        second.unwrap_or_default()
    )
}

/// For a volume without a finding.
fn of_mark(
    sight: &Sight<'_>,
    volume: &Volume,
    told: &Account,
    mark: Option<Mark>,
    entries: &[NotJudged],
    last: &str,
) -> String {
    let (name, row) = (subject(told), by_row(told));
    let places: Vec<String> = told.holders.iter().map(plugged).collect();
    let places = places.join(" and ");
    let why = || {
        entries
            .first()
            .map_or_else(|| "no reason is on record".to_owned(), |entry| entry.why.clone())
    };
    let nowhere = || match sight.whereabouts(volume) {
        Whereabouts::Seen => places.clone(),
        Whereabouts::Nowhere(_) => "no domain on any host that could have it has its disk".to_owned(),
        Whereabouts::Unknown(obstacle) => {
            format!(
                "no domain that was read has its disk, which proves nothing: {}",
                obstacle.why
            )
        }
    };
    match mark {
        Some(Mark::Healthy) => {
            format!("{name} is healthy: by the database {row}, by libvirt {places}. {last}")
        }
        Some(Mark::Detached) => format!("{name} is {row}, and {}. {last}", nowhere()),
        Some(Mark::NotExpected) => format!(
            "{name} is {row}: no disk of it is expected, and {}. {last}",
            nowhere()
        ),
        Some(Mark::InFlux) => {
            let stuck = entries.iter().any(|entry| entry.stuck);
            let then = if stuck {
                "It has been so for too long, or nobody works on it: look at that job or state first"
            } else {
                "Look again once that is over"
            };
            format!("{name} is in flux, and not judged: {}. {then}.", why())
        }
        Some(Mark::CannotTell) => {
            format!(
                "Whether {name} is well cannot be told: {}. Look again once that can be read.",
                why()
            )
        }
        Some(Mark::Absorbed(class) | Mark::Found(class)) => {
            format!("{name} is {row}. Its VM's own finding, {class}, speaks for it.")
        }
        None => format!(
            "{name} is not judged: it is out of the scope of what was read, or not KVM's. By the database it is {row}."
        ),
    }
}

fn witnesses(
    sight: &Sight<'_>,
    told: Option<&Account>,
    finding: Option<&Finding>,
    holders: &[Holder],
) -> Vec<Witness> {
    let evidence = sight.evidence;
    let rows = evidence
        .database
        .read_again_at
        .unwrap_or(evidence.database.read_at);
    let row = match (told, finding.and_then(|f| f.vm.as_ref())) {
        (Some(told), _) => Some(by_row(told)),
        (None, Some(vm)) if finding.is_some_and(|f| f.class != Class::UnknownDisk) => Some(format!(
            "{} is {}{}",
            named(&vm.instance, Some(&vm.name)),
            vm.state,
            vm.host
                .as_ref()
                .map_or_else(String::new, |host| format!(" on {host}"))
        )),
        (None, _) => Some("no row of this disk".to_owned()),
    };
    let mut out: Vec<Witness> = row
        .into_iter()
        .map(|says| Witness {
            witness: "database",
            read_at: rows,
            says,
        })
        .collect();
    let libvirt = |says| Witness {
        witness: "libvirt",
        read_at: evidence.finished,
        says,
    };
    out.extend(holders.iter().map(|holder| libvirt(plugged(holder))));
    let seen = evidence
        .hosts
        .iter()
        .filter(|host| matches!(sight.view(host.id), View::Seen))
        .count();
    if holders.is_empty() {
        let hosts = match seen {
            1 => "the one host that was read".to_owned(),
            seen => format!("the {seen} hosts that were read"),
        };
        out.push(libvirt(format!("no disk of it in any domain of {hosts}")));
    }
    // Not asked, since nothing of it can be there, is no gap.
    for host in &evidence.hosts {
        let reason = match sight.view(host.id) {
            View::Unseen(_, reason) => reason,
            View::NotAsked { reason, gap: true } => reason.to_owned(),
            View::Seen | View::NotAsked { gap: false, .. } => continue,
        };
        out.push(libvirt(format!("{} was not seen: {reason}", host.name)));
    }
    out
}
