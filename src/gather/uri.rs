//! Libvirt URIs: from a host's row and the configuration, and into messages.
//!
//! A row is hostile input. `qemu+ssh://` ends as an argument of ssh, so an address that is no address, or a name that is
//! no name, makes a gap of the host instead of a URI.

use super::fanout::LibvirtSettings;
use super::names;
use crate::model::Host;
use std::net::IpAddr;

/// The URI to reach a host by. The map by host name wins over the template; in both, `{ip}`, `{name}` and `{uuid}` are
/// the row's `private_ip_address`, `name` and `uuid`. IPv6 is put in brackets.
///
/// # Errors
/// In words, when the row's value is not what it should be, or the template asks for something else.
pub fn uri_for(host: &Host, settings: &LibvirtSettings) -> Result<String, String> {
    let mapped = settings.hosts.get(&host.name).or_else(|| {
        let mut all = settings.hosts.iter();
        all.find(|(name, _)| names::is_mapped(host, name))
            .map(|(_, uri)| uri)
    });
    let template = mapped.unwrap_or(&settings.uri);
    if template.chars().any(|c| c.is_control() || c.is_whitespace()) || template.is_empty() {
        return Err("its libvirt URI is empty, or has white space in it".to_owned());
    }
    let mut uri = String::with_capacity(template.len() + 40);
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        uri.push_str(before);
        let (word, behind) = after
            .split_once('}')
            .ok_or_else(|| format!("the libvirt URI {} has a {{ without a }}", masked(template)))?;
        match word {
            "ip" => uri.push_str(&address(&host.ip, before.ends_with('['))?),
            "name" => uri.push_str(name(&host.name)?),
            "uuid" => uri.push_str(uuid(host.uuid.as_deref().unwrap_or_default())?),
            _ => {
                let template = masked(template);
                return Err(format!(
                    "the libvirt URI {template} asks for {{{word}}}, and there are only {{ip}}, {{name}} and {{uuid}}"
                ));
            }
        }
        rest = behind;
    }
    uri.push_str(rest);
    Ok(uri)
}

fn address(text: &str, in_brackets: bool) -> Result<String, String> {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) if !in_brackets => Ok(format!("[{ip}]")),
        Ok(ip) => Ok(ip.to_string()),
        Err(_) => Err(format!("its private_ip_address {text:?} is no IP address")),
    }
}

fn name(text: &str) -> Result<&str, String> {
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && l.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    if text.len() <= 253 && text.split('.').all(label) {
        Ok(text)
    } else {
        Err(format!("its name {text:?} is no DNS name"))
    }
}

fn uuid(text: &str) -> Result<&str, String> {
    let shaped = text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        });
    if shaped {
        Ok(text)
    } else {
        Err(format!("its uuid {text:?} is no uuid"))
    }
}

/// The parts of a URI that messages and comparisons need.
struct Parts<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    server: &'a str,
    /// Path and query.
    rest: &'a str,
}

fn parts(uri: &str) -> Option<Parts<'_>> {
    let (scheme, after) = uri.split_once("://")?;
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let (user, server) = match authority.rsplit_once('@') {
        Some((user, server)) => (Some(user), server),
        None => (None, authority),
    };
    Some(Parts {
        scheme,
        user,
        server,
        rest,
    })
}

/// A URI without its password, and without what a terminal would obey.
pub(super) fn masked(uri: &str) -> String {
    let plain = |text: &str| text.replace(|c: char| c.is_control(), "?");
    match parts(uri) {
        Some(Parts {
            scheme,
            user: Some(user),
            server,
            rest,
        }) => {
            let user = match user.split_once(':') {
                Some((user, _)) => format!("{user}:***"),
                None => user.to_owned(),
            };
            plain(&format!("{scheme}://{user}@{server}{rest}"))
        }
        _ => plain(uri),
    }
}

/// What two URIs share that lead to the same server: user and default port do not count.
pub(super) fn target(uri: &str) -> String {
    let Some(Parts {
        scheme, server, rest, ..
    }) = parts(uri)
    else {
        return uri.to_owned();
    };
    let scheme = scheme.to_ascii_lowercase();
    let transport = scheme.split_once('+').map_or("tls", |(_, transport)| transport);
    let port = match transport {
        "tcp" => ":16509",
        "tls" => ":16514",
        _ => ":22",
    };
    let server = server.to_ascii_lowercase();
    let server = server.strip_suffix(port).unwrap_or(&server);
    format!("{scheme}://{server}{rest}")
}

/// Whether libvirt's test driver is asked, in this process or behind a daemon: it knows neither host name nor uuid.
pub(super) fn is_test_driver(uri: &str) -> bool {
    let scheme = uri.split(':').next().unwrap_or_default();
    scheme
        .split('+')
        .next()
        .is_some_and(|driver| driver.eq_ignore_ascii_case("test"))
}

/// The line to try by hand, safe to paste.
pub(super) fn virsh(uri: &str) -> String {
    format!("virsh -r -c '{}' list", masked(uri).replace('\'', r"'\''"))
}
