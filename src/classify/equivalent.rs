//! What an operator would type for a remedy: SQL, `virsh` and `cmk`, as text for reading.
//!
//! Names come from tenants and from domain XML. What cannot be quoted so that it means itself in every dialect is not
//! written: a line that is missing is better than one that does something else.

use crate::classify::{Action, Finding, Offer};
use crate::model::{Slot, Vm, Volume};
use crate::sight::{Held, Sight};
use jiff::Timestamp;
use serde::Serialize;

/// One line, or one statement on several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Equivalent {
    /// The action that it stands for: `look`, `adopt`, `detach`, ….
    pub action: &'static str,
    /// `sql`, `virsh` or `cmk`.
    pub tool: &'static str,
    /// What would be typed; none if a name in it cannot be quoted safely.
    pub text: Option<String>,
    /// What to know before.
    pub note: Option<String>,
}

/// A name or value that cannot be quoted safely.
#[derive(Debug, PartialEq, Eq)]
pub struct Unquotable;

/// Printable ASCII and no backslash: the same in every SQL mode, character set and shell.
fn plain(text: &str) -> Result<&str, Unquotable> {
    let fits = text.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'\\');
    if fits { Ok(text) } else { Err(Unquotable) }
}

/// A string of SQL: quotes are doubled.
///
/// # Errors
/// When it cannot be quoted safely.
pub fn sql(text: &str) -> Result<String, Unquotable> {
    Ok(format!("'{}'", plain(text)?.replace('\'', "''")))
}

/// A word of a POSIX shell. One that begins with a dash would be an option.
///
/// # Errors
/// When it cannot be quoted safely.
pub fn shell(text: &str) -> Result<String, Unquotable> {
    let text = plain(text)?;
    if text.is_empty() || text.starts_with('-') {
        return Err(Unquotable);
    }
    let bare = |b: u8| b.is_ascii_alphanumeric() || b"-_./:+@,".contains(&b);
    if text.bytes().all(bare) {
        return Ok(text.to_owned());
    }
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

fn uuid(text: Option<&str>) -> Result<&str, Unquotable> {
    let text = text.ok_or(Unquotable)?;
    let fits = text.len() == 36
        && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && !text.starts_with('-');
    if fits { Ok(text) } else { Err(Unquotable) }
}

fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(
        || "NULL".to_owned(),
        |t| format!("'{}'", t.strftime("%Y-%m-%d %H:%M:%S")),
    )
}

fn number(id: Option<u64>) -> String {
    id.map_or_else(|| "NULL".to_owned(), |id| id.to_string())
}

/// Ways to look, then what each remedy that may be had would be.
#[must_use]
pub fn equivalents(sight: &Sight<'_>, volume: &Volume, finding: Option<&Finding>) -> Vec<Equivalent> {
    let held = sight.holders(volume.id);
    let mut out = vec![made("look", "sql", select(volume), None)];
    for held in &held {
        out.push(made("look", "virsh", domblklist(sight, *held), None));
    }
    for offer in finding.iter().flat_map(|finding| &finding.remedies) {
        of_offer(sight, volume, held.first().copied(), offer, &mut out);
    }
    out
}

fn made(
    action: &'static str,
    tool: &'static str,
    text: Result<String, Unquotable>,
    note: Option<&str>,
) -> Equivalent {
    let text = text.ok();
    let note = match (&text, note) {
        (None, _) => Some("not written: a name in it cannot be quoted safely".to_owned()),
        (Some(_), note) => note.map(str::to_owned),
    };
    Equivalent {
        action,
        tool,
        text,
        note,
    }
}

fn of_offer(
    sight: &Sight<'_>,
    volume: &Volume,
    held: Option<Held>,
    offer: &Offer,
    out: &mut Vec<Equivalent>,
) {
    let action = offer.action.name();
    // What only the guest can show, the operator can look up; every other guard is a reason not to type it.
    let by_hand = offer.code == Some("not-mounted");
    if offer.withheld.is_some() && !by_hand {
        return;
    }
    let vm = held
        .and_then(|held| sight.seats()[held.seat].vm())
        .and_then(|id| sight.vm(id));
    let slot = held.and_then(|held| Slot::of_target(&sight.disk(held).target));
    let claim = |vm: Option<&Vm>| -> Result<String, Unquotable> {
        let (vm, slot) = (vm.ok_or(Unquotable)?, slot.ok_or(Unquotable)?);
        Ok(format!(
            "instance_id = {}, device_id = {}, attached = UTC_TIMESTAMP(), updated = UTC_TIMESTAMP()",
            vm.id, slot.0
        ))
    };
    let reading = Some(
        "for reading: nothing checks the guards again when it is typed; 0 rows changed means that somebody moved",
    );
    match offer.action {
        Action::Adopt | Action::Reassign => {
            out.push(made(
                action,
                "sql",
                claim(vm).and_then(|set| update(volume, &set)),
                reading,
            ));
            let detach = uuid(volume.uuid.as_deref()).map(|id| format!("cmk detach volume id={id}"));
            let note = Some("after it, once the guest has let go of the disk, if it is wanted nowhere");
            out.push(made(action, "cmk", detach, note));
        }
        Action::Release => {
            let set = "instance_id = NULL, device_id = NULL, attached = NULL, updated = UTC_TIMESTAMP()";
            out.push(made(action, "sql", update(volume, set), reading));
        }
        Action::Reslot => {
            let set = slot.map(|slot| format!("device_id = {}, updated = UTC_TIMESTAMP()", slot.0));
            let text = set.ok_or(Unquotable).and_then(|set| update(volume, &set));
            out.push(made(action, "sql", text, reading));
        }
        Action::Detach => {
            let note = Some("only once the guest is shown not to use the disk: it is pulled from under it");
            out.extend(held.map(|held| made(action, "virsh", detach_disk(sight, held), note)));
        }
        Action::Restart => {
            let vm = vm.or_else(|| volume.instance.and_then(|id| sight.vm(id)));
            let id = uuid(vm.and_then(|vm| vm.uuid.as_deref()));
            let text =
                id.map(|id| format!("cmk stop virtualmachine id={id}\ncmk start virtualmachine id={id}"));
            out.push(made(action, "cmk", text, Some("after its workloads are drained")));
        }
    }
}

fn select(volume: &Volume) -> Result<String, Unquotable> {
    Ok(format!(
        "SELECT id, name, state, instance_id, device_id, attached, updated, removed\n  FROM volumes\n WHERE uuid = {};",
        sql(uuid(volume.uuid.as_deref())?)?
    ))
}

/// A compare-and-swap: the whole fingerprint of the row stands in WHERE.
fn update(volume: &Volume, set: &str) -> Result<String, Unquotable> {
    let path = match &volume.path {
        Some(path) => sql(path)?,
        None => "NULL".to_owned(),
    };
    let conditions = [
        format!("id = {}", volume.id),
        format!("uuid = {}", sql(uuid(volume.uuid.as_deref())?)?),
        format!("instance_id <=> {}", number(volume.instance.map(|id| id.0))),
        format!("device_id <=> {}", number(volume.device_id.map(u64::from))),
        format!("pool_id <=> {}", number(volume.pool.map(|id| id.0))),
        format!("path <=> {path}"),
        format!("state = {}", sql(&volume.state.to_string())?),
        format!("update_count = {}", volume.update_count),
        format!("updated <=> {}", time(volume.updated)),
        format!("attached <=> {}", time(volume.attached)),
        format!("removed <=> {}", time(volume.removed)),
    ];
    Ok(format!(
        "UPDATE volumes\n   SET {}\n WHERE {};",
        set.replace(", ", ",\n       "),
        conditions.join("\n   AND ")
    ))
}

fn connection(sight: &Sight<'_>, held: Held) -> Result<String, Unquotable> {
    let look = sight
        .evidence
        .looks
        .get(&sight.seats()[held.seat].host)
        .ok_or(Unquotable)?;
    shell(&look.uri)
}

fn domblklist(sight: &Sight<'_>, held: Held) -> Result<String, Unquotable> {
    let name = shell(&sight.seats()[held.seat].domain.name)?;
    Ok(format!(
        "virsh -r -c {} domblklist {name} --details",
        connection(sight, held)?
    ))
}

fn detach_disk(sight: &Sight<'_>, held: Held) -> Result<String, Unquotable> {
    let name = shell(&sight.seats()[held.seat].domain.name)?;
    let target = shell(&sight.disk(held).target)?;
    Ok(format!(
        "virsh -c {} detach-disk {name} {target} --live",
        connection(sight, held)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_means_itself_and_what_cannot_be_is_not_written() {
        assert_eq!(sql("it's"), Ok("'it''s'".to_owned()));
        assert_eq!(shell("i-2-41-VM"), Ok("i-2-41-VM".to_owned()));
        assert_eq!(shell("it's $(me) `x` !"), Ok("'it'\\''s $(me) `x` !'".to_owned()));
        for hostile in [
            "a\nb",
            "a\u{1b}[31m",
            "a\\",
            "\u{202e}x",
            "é",
            "\0",
            "a\tb",
            "a\u{7f}",
        ] {
            assert_eq!(sql(hostile), Err(Unquotable), "{hostile:?}");
            assert_eq!(shell(hostile), Err(Unquotable), "{hostile:?}");
        }
        for option in ["", "-x", "--live"] {
            assert_eq!(shell(option), Err(Unquotable), "{option:?}");
        }
        assert!(uuid(Some("e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15")).is_ok());
        for other in [
            None,
            Some(""),
            Some("e949a8c4"),
            Some("e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b1'"),
        ] {
            assert_eq!(uuid(other), Err(Unquotable), "{other:?}");
        }
    }
}
