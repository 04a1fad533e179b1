//! CloudStack's own `db.properties`, so that on a management server nothing need be written.

use super::ConfigError;
use super::url::{self, DatabaseUrl};
use crate::gather::{Secret, Tls};
use std::collections::BTreeMap;
use std::path::Path;

/// What the file says of the database `cloud`. Its password is looked at only where it is needed.
pub(super) fn parse(
    text: &str,
    path: &Path,
    needs_password: bool,
) -> Result<(DatabaseUrl, Option<Tls>), ConfigError> {
    let all = pairs(text);
    let get = |key: &str| all.get(key).map(String::as_str).filter(|v| !v.is_empty());
    let wrong = |key: &str, problem: &str| ConfigError::Value {
        key: key.to_owned(),
        problem: problem.to_owned(),
        origin: path.display().to_string(),
    };
    let password = get("db.cloud.password").filter(|_| needs_password);
    if password.is_some_and(|p| p.starts_with("ENC(") && p.ends_with(')')) {
        return Err(ConfigError::Encrypted {
            path: path.to_owned(),
        });
    }
    let mut url = address(
        get("db.cloud.uri"),
        get("db.cloud.host"),
        get("db.cloud.port"),
        get("db.cloud.name"),
    )
    .map_err(|(key, problem)| wrong(key, problem))?;
    url.user = get("db.cloud.username").map(str::to_owned);
    url.password = password.map(Secret::new);
    let tls = (get("db.cloud.useSSL") == Some("true")).then_some(Tls::Prefer);
    Ok((url, tls))
}

/// A URI, where there is one, wins over host, port and name, as it does for CloudStack.
fn address(
    uri: Option<&str>,
    host: Option<&str>,
    port: Option<&str>,
    name: Option<&str>,
) -> Result<DatabaseUrl, (&'static str, &'static str)> {
    if let Some(uri) = uri {
        let unreadable = ("db.cloud.uri", "only jdbc:mysql://HOST:PORT/NAME can be read");
        let plain = uri.strip_prefix("jdbc:").ok_or(unreadable)?;
        let plain = plain.split('?').next().unwrap_or(plain);
        let url = url::parse(plain).map_err(|_| unreadable)?;
        if url.host.as_ref().is_none_or(|h| h.contains(',')) {
            return Err(unreadable);
        }
        return Ok(url);
    }
    let port = port.map(|p| p.parse().map_err(|_| ("db.cloud.port", "this is no port")));
    Ok(DatabaseUrl {
        host: host.map(str::to_owned),
        port: port.transpose()?,
        schema: name.map(str::to_owned),
        ..DatabaseUrl::default()
    })
}

/// Java's properties: `key=value` or `key: value`, comments with `#` and `!`, escapes with a backslash.
fn pairs(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1 {
            line.pop();
            let Some(next) = lines.next() else { break };
            line.push_str(next.trim_start());
        }
        let end = key_end(&line);
        let value = line[end..].trim_start();
        let value = value.strip_prefix(['=', ':']).unwrap_or(value).trim();
        all.insert(unescaped(&line[..end]), unescaped(value));
    }
    all
}

fn key_end(line: &str) -> usize {
    let mut escape = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escape => escape = false,
            '\\' => escape = true,
            '=' | ':' | ' ' | '\t' => return at,
            _ => {}
        }
    }
    line.len()
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('u') => {
                let code: String = chars.by_ref().take(4).collect();
                let c = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_javas() {
        let all = pairs("# no\n! no\n a = b \nc:d\ne f\nlong=one\\\n   two\nk\\=x=p\\u0041\\=\\\\\nempty=\n");
        let get = |key: &str| all.get(key).map(String::as_str);
        assert_eq!(get("a"), Some("b"));
        assert_eq!(get("c"), Some("d"));
        assert_eq!(get("e"), Some("f"));
        assert_eq!(get("long"), Some("onetwo"));
        assert_eq!(get("k=x"), Some("pA=\\"));
        assert_eq!(get("empty"), Some(""));
    }
}
