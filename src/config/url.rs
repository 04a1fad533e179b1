//! `mysql://user:password@host:port/schema?socket=/run/mysqld/mysqld.sock`.

use crate::gather::Secret;
use std::path::PathBuf;

/// The parts of a URL; what it does not say is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DatabaseUrl {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub schema: Option<String>,
    pub socket: Option<PathBuf>,
}

/// Takes a URL apart. Messages never repeat it: it may hold a password.
pub(super) fn parse(text: &str) -> Result<DatabaseUrl, String> {
    let rest = ["mysql://", "mariadb://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .ok_or("it must begin with mysql://")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may hold slashes and @: the last @ before the path ends the account.
    let (account, rest) = match rest.rsplit_once('@') {
        Some((account, rest)) => (Some(account), rest),
        None => (None, rest),
    };
    let (address, schema) = rest.split_once('/').unwrap_or((rest, ""));
    let mut url = DatabaseUrl::default();
    if let Some(account) = account {
        let (user, password) = match account.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (account, None),
        };
        url.user = some(decoded(user)?);
        url.password = password.map(decoded).transpose()?.and_then(some).map(Secret::new);
    }
    (url.host, url.port) = host_and_port(address)?;
    url.schema = some(decoded(schema)?);
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        match pair.split_once('=') {
            Some(("socket", path)) => url.socket = some(decoded(path)?).map(PathBuf::from),
            _ => return Err("the only parameter that it may have is socket".to_owned()),
        }
    }
    Ok(url)
}

fn host_and_port(address: &str) -> Result<(Option<String>, Option<u16>), String> {
    let (host, port) = if let Some(v6) = address.strip_prefix('[') {
        let (host, rest) = v6
            .split_once(']')
            .ok_or("a bracket of its address is not closed")?;
        (host, rest.strip_prefix(':').unwrap_or(rest))
    } else {
        address.split_once(':').unwrap_or((address, ""))
    };
    let port = if port.is_empty() {
        None
    } else {
        let port = port.parse::<u16>().ok().filter(|p| *p > 0);
        Some(port.ok_or("its port is no number from 1 to 65535")?)
    };
    Ok((some(decoded(host)?), port))
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Undoes `%2F` and the like.
fn decoded(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digit = |i: usize| bytes.get(i).and_then(|b| char::from(*b).to_digit(16));
            let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                return Err("a % in it is not followed by two hex digits".to_owned());
            };
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).map_err(|_| "it is no UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts() {
        let url = parse("mysql://volrecon:p%40ss@db.example.net:3307/cloud?socket=%2Frun%2Fm.sock").unwrap();
        assert_eq!(url.user.as_deref(), Some("volrecon"));
        assert_eq!(url.password.as_ref().map(Secret::reveal), Some("p@ss"));
        assert_eq!(url.host.as_deref(), Some("db.example.net"));
        assert_eq!(url.port, Some(3307));
        assert_eq!(url.schema.as_deref(), Some("cloud"));
        assert_eq!(url.socket.as_deref(), Some(std::path::Path::new("/run/m.sock")));
        assert!(!format!("{url:?}").contains("p@ss"));
    }

    #[test]
    fn few_parts() {
        assert_eq!(parse("mysql://").unwrap(), DatabaseUrl::default());
        let url = parse("mysql://u@[::1]:3306").unwrap();
        assert_eq!((url.host.as_deref(), url.port), (Some("::1"), Some(3306)));
        assert_eq!(url.schema, None);
    }

    #[test]
    fn what_is_wrong_is_said_without_the_url() {
        for (text, problem) in [
            ("postgres://u:geheim@h/db", "it must begin with mysql://"),
            (
                "mysql://u:geheim@h:port/db",
                "its port is no number from 1 to 65535",
            ),
            (
                "mysql://u:geheim%@h/db",
                "a % in it is not followed by two hex digits",
            ),
            (
                "mysql://u:geheim@h/db?tls=on",
                "the only parameter that it may have is socket",
            ),
            (
                "mysql://u:geheim@[::1/db",
                "a bracket of its address is not closed",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), problem, "{text}");
        }
    }
}
