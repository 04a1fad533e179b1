//! One reason for many is told once: with the first that has it, and the names of the others after it.

use super::document::HostSeen;
use super::{Options, places};
use crate::classify::NotJudged;
use std::collections::{BTreeMap, HashMap};

/// Names listed of one group; `-v` lists all.
const NAMES: usize = 3;
/// Hosts listed of one group; likewise.
const HOSTS: usize = 8;
/// Stands where a reason names what it is about.
const HOLE: char = '\0';

/// What is left of a text when its own names are taken out, and those names.
fn bare(text: &str, own: impl Fn(&str) -> bool) -> (String, Vec<String>) {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let (mut left, mut names) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(begin) = rest.find(part) {
        left.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        if word.is_empty() {
            // Dots alone.
            left.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        if own(word) {
            left.push(HOLE);
            names.push(word.to_owned());
        } else {
            left.push_str(word);
        }
        rest = &rest[word.len()..];
    }
    (left + rest, names)
}

/// Hosts that were not seen, or not asked: a line for each reason.
pub(super) fn hosts<'d>(
    word: &str,
    hosts: impl Iterator<Item = &'d HostSeen>,
    options: &Options,
) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<&HostSeen>> = BTreeMap::new();
    for host in hosts {
        let key = if options.verbose > 0 {
            reason(host).to_owned()
        } else {
            of_host(host)
        };
        groups.entry(key).or_default().push(host);
    }
    let mut groups: Vec<Vec<&HostSeen>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let line = |group: Vec<&HostSeen>| {
        let names: Vec<&str> = group.iter().map(|host| host.name.as_str()).collect();
        let (first, others) = names.split_first()?;
        let mut text = format!("{word}: {first} ({})", reason(group.first()?));
        if !others.is_empty() {
            text += &format!("; likewise {}", others.join(", "));
        }
        Some(text)
    };
    groups.into_iter().filter_map(line).collect()
}

fn reason(host: &HostSeen) -> &str {
    host.reason.as_deref().unwrap_or("no reason given")
}

/// A host's reason without its own URI, address and name, and however many domains it had given.
fn of_host(host: &HostSeen) -> String {
    let mut text = reason(host).to_owned();
    let mut server = "";
    if let Some(uri) = host.uri.as_deref().filter(|uri| !uri.is_empty()) {
        text = text.replace(uri, "\0");
        let authority = uri.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?']).next().unwrap_or_default();
        let after = authority.rsplit('@').next().unwrap_or_default();
        server = after.split(':').next().unwrap_or_default();
    }
    for words in [" domains read", " domain read"] {
        if let Some((before, after)) = text.split_once(words) {
            text = before.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned() + "\0" + after;
        }
    }
    bare(&text, |word| {
        word == host.name || (!server.is_empty() && word == server)
    })
    .0
}

/// What could not be judged, for one reason or for reasons that differ in names only.
pub(super) struct Group<'d> {
    /// By the reason, word for word.
    same: BTreeMap<&'d str, Vec<&'d NotJudged>>,
}

impl<'d> Group<'d> {
    /// By code; within one, the largest first.
    pub fn all(
        entries: impl Iterator<Item = &'d NotJudged>,
        known: &HashMap<&str, &HostSeen>,
        options: &Options,
    ) -> Vec<(&'d str, Vec<Self>)> {
        let mut codes: BTreeMap<&str, BTreeMap<String, Self>> = BTreeMap::new();
        for entry in entries {
            let own = |word: &str| {
                let names = [entry.vm.as_deref(), entry.volume.as_deref()];
                known.contains_key(word) || names.contains(&Some(word))
            };
            let why = told_below(&entry.why, known);
            let key = if options.verbose > 0 {
                why.to_owned()
            } else {
                bare(why, own).0
            };
            let group = codes.entry(entry.code).or_default().entry(key);
            let group = group.or_insert_with(|| Self {
                same: BTreeMap::new(),
            });
            group.same.entry(why).or_default().push(entry);
        }
        let largest_first = |groups: BTreeMap<String, Self>| {
            let mut groups: Vec<Self> = groups.into_values().collect();
            // Stable: reasons of one size stay in their order.
            groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
            groups
        };
        let all = codes.into_iter();
        all.map(|(code, groups)| (code, largest_first(groups))).collect()
    }

    /// How many could not be judged for it.
    pub fn len(&self) -> usize {
        self.same.values().map(Vec::len).sum()
    }

    /// `WHO: reason; likewise HOST (WHO), …`.
    pub fn text(&self, known: &HashMap<&str, &HostSeen>, options: &Options) -> String {
        let mut alike: Vec<(&&str, &Vec<&NotJudged>)> = self.same.iter().collect();
        alike.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        let Some(((why, first), rest)) = alike.split_first() else {
            return String::new();
        };
        let mut text = format!("{}: {why}", who(first, options));
        let mut places: BTreeMap<Vec<String>, Vec<&NotJudged>> = BTreeMap::new();
        for (why, members) in rest {
            let mut names = bare(why, |word| known.contains_key(word)).1;
            names.dedup();
            places.entry(names).or_default().extend(members.iter());
        }
        let named = if options.verbose > 0 { places.len() } else { HOSTS };
        let more = places.len().saturating_sub(named);
        let parts: Vec<String> = places
            .iter()
            .take(named)
            .map(|(hosts, members)| match hosts.as_slice() {
                [] => who(members, options),
                hosts => format!("{} ({})", hosts.join(", "), who(members, options)),
            })
            .collect();
        if !parts.is_empty() {
            text += &format!("; likewise {}", parts.join(", "));
        }
        if more > 0 {
            text += &format!(" and {more} more (-v lists all)");
        }
        text
    }
}

/// A host's reason stands at the end, once: here its name is enough.
fn told_below<'w>(why: &'w str, known: &HashMap<&str, &HostSeen>) -> &'w str {
    for how in [" was not read: ", " was not asked: "] {
        if let Some((name, reason)) = why.split_once(how)
            && let Some(host) = known.get(name)
            && host.gap
            && host.reason.as_deref() == Some(reason)
        {
            return &why[..why.len() - reason.len() - 2];
        }
    }
    why
}

/// Which volumes and VMs: by name while they are few.
fn who(members: &[&NotJudged], options: &Options) -> String {
    let names: Vec<&str> = members.iter().filter_map(|m| places::subject(m)).collect();
    if names.is_empty() {
        return count(members.len(), "case");
    }
    if names.len() <= NAMES || options.verbose > 0 {
        return names.join(", ");
    }
    let volumes = members.iter().filter(|m| m.volume.is_some()).count();
    match (volumes, members.len() - volumes) {
        (volumes, 0) => count(volumes, "volume"),
        (0, vms) => count(vms, "VM"),
        (volumes, vms) => format!("{}, {}", count(volumes, "volume"), count(vms, "VM")),
    }
}

/// `1 domain`, `2 domains`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_as_whole_words() {
        let own = |word: &str| matches!(word, "kvm1" | "kvm2.example.net" | "i-2-1-VM");
        for (text, left, names) in [
            ("kvm1 was not read: no.", "\0 was not read: no.", &["kvm1"][..]),
            ("kvm10, kvm1-b and kvm1.", "kvm10, kvm1-b and \0.", &["kvm1"]),
            (
                "i-2-1-VM on kvm2.example.net: ü",
                "\0 on \0: ü",
                &["i-2-1-VM", "kvm2.example.net"],
            ),
            ("... 'kvm1'", "... '\0'", &["kvm1"]),
            ("", "", &[]),
        ] {
            let (bare, taken) = bare(text, own);
            assert_eq!(
                (bare.as_str(), taken),
                (left, names.iter().map(ToString::to_string).collect())
            );
        }
    }
}
