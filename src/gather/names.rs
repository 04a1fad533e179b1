//! Which host a word of the configuration means; a word that means none is a mistake that would else pass in silence.

use super::LibvirtSettings;
use super::db::near;
use crate::model::Host;

/// Whether a word of `[libvirt] skip` means this host: its name, uuid or address.
pub(super) fn is_skipped(host: &Host, word: &str) -> bool {
    let uuid = host.uuid.as_deref().unwrap_or_default();
    let means = |text: &str| !text.is_empty() && text.eq_ignore_ascii_case(word);
    means(&host.name) || means(uuid) || means(&host.ip)
}

/// Whether a name of `[libvirt.hosts]` means this host.
pub(super) fn is_mapped(host: &Host, name: &str) -> bool {
    host.name.eq_ignore_ascii_case(name)
}

/// What should be said of the words that mean no host: one line for all of them, or nothing.
#[must_use]
pub fn strangers(settings: &LibvirtSettings, hosts: &[Host]) -> Option<String> {
    let told = |place: &str, words: Vec<&String>| {
        let words: Vec<String> = words.into_iter().map(|word| hinted(word, hosts)).collect();
        (!words.is_empty()).then(|| format!("{place} names {}", words.join(", ")))
    };
    let none = |means: fn(&Host, &str) -> bool| {
        move |word: &&String| !hosts.iter().any(|host| means(host, word.as_str()))
    };
    let skip = settings.skip.iter().filter(none(is_skipped)).collect();
    let mapped = settings.hosts.keys().filter(none(is_mapped)).collect();
    let parts = [told("[libvirt] skip", skip), told("[libvirt.hosts]", mapped)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        format!(
            "no KVM host of the database goes by that name: {}",
            parts.join("; ")
        )
    })
}

fn hinted(word: &str, hosts: &[Host]) -> String {
    let near = near(word, hosts.iter().map(|host| host.name.clone()).collect());
    match near.first() {
        Some(name) => format!("{word:?} (did you mean {name}?)"),
        None => format!("{word:?}"),
    }
}
