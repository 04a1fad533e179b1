//! Every key there is: what is not here is a mistake, and the nearest key is named.

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
    /// Lists and maps; no variable sets them.
    Many,
    /// A table of its own keys, which are the operator's.
    Free,
}

/// Tables by name, keys by name.
pub(super) const KEYS: &[(&str, &[(&str, Kind)])] = &[
    (
        "database",
        &[
            ("url", Kind::Text),
            ("properties", Kind::Text),
            ("password_file", Kind::Text),
            ("password_command", Kind::Many),
            ("tls", Kind::Text),
            ("ca", Kind::Text),
            ("connect_timeout", Kind::Text),
            ("single_writer", Kind::Flag),
        ],
    ),
    (
        "database.write",
        &[
            ("url", Kind::Text),
            ("properties", Kind::Text),
            ("password_file", Kind::Text),
            ("password_command", Kind::Many),
            ("tls", Kind::Text),
            ("ca", Kind::Text),
            ("connect_timeout", Kind::Text),
        ],
    ),
    (
        "libvirt",
        &[
            ("uri", Kind::Text),
            ("write_uri", Kind::Text),
            ("parallel", Kind::Number),
            ("host_timeout", Kind::Text),
            ("skip", Kind::Many),
            ("hosts", Kind::Free),
        ],
    ),
    ("scan", &[("ignore", Kind::Many)]),
    (
        "cloudstack",
        &[
            ("url", Kind::Text),
            ("api_key", Kind::Text),
            ("secret_key_file", Kind::Text),
            ("profile", Kind::Text),
        ],
    ),
    (
        "drain",
        &[
            ("account", Kind::Many),
            ("vm_uuid", Kind::Many),
            ("check", Kind::Many),
            ("command", Kind::Many),
            ("undrain", Kind::Many),
            ("timeout", Kind::Many),
        ],
    ),
    ("journal", &[("path", Kind::Text)]),
];

/// `VOLRECON_DATABASE_URL` and the like, with the table and key that each sets.
pub(super) fn variables() -> impl Iterator<Item = (String, &'static str, &'static str, Kind)> {
    KEYS.iter().flat_map(|(table, keys)| {
        keys.iter()
            .filter(|(_, kind)| !matches!(kind, Kind::Many | Kind::Free))
            .map(move |(key, kind)| {
                let name = format!("VOLRECON_{table}_{key}").replace('.', "_");
                (name.to_ascii_uppercase(), *table, *key, *kind)
            })
    })
}

/// The first key of a file that is unknown, and the one it is most like.
pub(super) fn unknown(file: &toml::Table) -> Option<(String, Option<String>)> {
    file.iter().find_map(|(name, value)| in_table(name, value))
}

fn in_table(table: &str, value: &toml::Value) -> Option<(String, Option<String>)> {
    let Some((_, keys)) = KEYS.iter().find(|(name, _)| *name == table) else {
        let near = nearest(table, KEYS.iter().map(|(name, _)| *name));
        return Some((format!("[{table}]"), near.map(|n| format!("[{n}]"))));
    };
    let tables: Vec<&toml::Table> = match value {
        toml::Value::Table(one) => vec![one],
        toml::Value::Array(many) => many.iter().filter_map(toml::Value::as_table).collect(),
        _ => Vec::new(),
    };
    tables.iter().flat_map(|t| t.iter()).find_map(|(key, value)| {
        let below = format!("{table}.{key}");
        if KEYS.iter().any(|(name, _)| *name == below) {
            return in_table(&below, value);
        }
        if keys.iter().any(|(name, _)| name == key) {
            return None;
        }
        let all = KEYS
            .iter()
            .flat_map(|(t, keys)| keys.iter().map(move |(k, _)| (*t, *k)));
        let here = nearest(key, keys.iter().map(|(name, _)| *name)).map(|n| format!("{table}.{n}"));
        // The right key in the wrong table.
        let there = || {
            all.clone()
                .find(|(_, k)| k == key)
                .map(|(t, k)| format!("{t}.{k}"))
        };
        Some((below, here.or_else(there)))
    })
}

pub(super) fn nearest<'a>(word: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    all.map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
