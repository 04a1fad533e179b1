//! Where values come from, and which source wins.

use super::file::File;
use super::keys::{self, Kind};
use super::{
    CloudstackSection, ConfigError, DatabaseSection, DrainSection, JournalSection, LibvirtSection,
    ScanSection,
};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// `--config`: must be there.
    pub flag: Option<PathBuf>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Looked for in order; the first that is there is read.
    pub files: Vec<PathBuf>,
    /// CloudStack's own `db.properties`.
    pub properties: PathBuf,
}

impl Sources {
    /// Those of this process.
    #[must_use]
    pub fn from_process(flag: Option<PathBuf>) -> Self {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let absolute = |name: &str| env.get(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|h| h.join(".config")));
        let mut files: Vec<PathBuf> = home.map(|h| h.join("volrecon/config.toml")).into_iter().collect();
        files.push(PathBuf::from("/etc/volrecon/config.toml"));
        Self {
            flag,
            env,
            files,
            properties: PathBuf::from("/etc/cloudstack/management/db.properties"),
        }
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable.
    Variable(String),
    /// A file.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A configuration: read, merged, its words known. Values are judged when they are asked for.
#[derive(Clone, Debug)]
pub struct Config {
    file: File,
    origins: BTreeMap<String, Origin>,
    properties: PathBuf,
    /// To be said on stderr.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads and merges.
    ///
    /// # Errors
    /// When a file cannot be read, is no TOML, or has an unknown key, or a value is of the wrong kind.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut origins = BTreeMap::new();
        let path = match &sources.flag {
            Some(path) => Some(path.clone()),
            None => sources.files.iter().find(|p| is_there(p)).cloned(),
        };
        let mut table = match &path {
            Some(path) => read(path)?,
            None => toml::Table::new(),
        };
        if let Some(path) = &path {
            // Alone, so that what is wrong in the file is told with its place.
            let _: File = parsed(&table, path)?;
            note_origins(&table, "", path, &mut origins);
        }
        let mut warnings = Vec::new();
        for (name, value) in sources
            .env
            .iter()
            .filter(|(name, _)| name.starts_with("VOLRECON_"))
        {
            match keys::variables().find(|(known, ..)| known == name) {
                Some((_, section, key, kind)) => {
                    set(&mut table, section, key, typed(name, key, value, kind)?);
                    origins.insert(format!("{section}.{key}"), Origin::Variable(name.clone()));
                }
                None => warnings.push(unknown_variable(name)),
            }
        }
        let file = parsed(&table, path.as_deref().unwrap_or(Path::new("environment")))?;
        Ok(Self {
            file,
            origins,
            properties: sources.properties.clone(),
            warnings,
        })
    }

    /// Where the value of a key came from; none for a default.
    #[must_use]
    pub fn origin(&self, table: &str, key: &str) -> Option<&Origin> {
        self.origins.get(&format!("{table}.{key}"))
    }

    /// `[database]`, as written.
    #[must_use]
    pub fn database_section(&self) -> &DatabaseSection {
        &self.file.database
    }

    /// `[libvirt]`, as written.
    #[must_use]
    pub fn libvirt_section(&self) -> &LibvirtSection {
        &self.file.libvirt
    }

    /// `[scan]`.
    #[must_use]
    pub fn scan(&self) -> &ScanSection {
        &self.file.scan
    }

    /// `[cloudstack]`.
    #[must_use]
    pub fn cloudstack(&self) -> &CloudstackSection {
        &self.file.cloudstack
    }

    /// `[[drain]]`.
    #[must_use]
    pub fn drain(&self) -> &[DrainSection] {
        &self.file.drain
    }

    /// `[journal]`.
    #[must_use]
    pub fn journal(&self) -> &JournalSection {
        &self.file.journal
    }

    pub(super) fn properties(&self) -> &Path {
        &self.properties
    }
}

/// There, or not to be told: a file that may not be looked at must not be passed over in silence.
fn is_there(path: &Path) -> bool {
    !matches!(path.try_exists(), Ok(false))
}

fn read(path: &Path) -> Result<toml::Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })?;
    let table: toml::Table = toml::from_str(&text).map_err(|source| ConfigError::Toml {
        path: path.to_owned(),
        place: place(&text, &source),
        problem: source.message().to_owned(),
    })?;
    match keys::unknown(&table) {
        Some((key, near)) => Err(ConfigError::UnknownKey {
            key,
            path: path.to_owned(),
            near,
        }),
        None => Ok(table),
    }
}

/// `line 3: ` of a parser's complaint. The line itself is not quoted: it may hold a password.
fn place(text: &str, error: &toml::de::Error) -> String {
    let Some(span) = error.span() else {
        return String::new();
    };
    let before = text.as_bytes().get(..span.start).unwrap_or_default();
    format!("line {}: ", before.iter().filter(|b| **b == b'\n').count() + 1)
}

fn parsed(table: &toml::Table, path: &Path) -> Result<File, ConfigError> {
    table
        .clone()
        .try_into()
        .map_err(|source: toml::de::Error| ConfigError::Kind {
            path: path.to_owned(),
            problem: source.to_string().trim().replace('\n', " "),
        })
}

/// Remembers that each key of a file came from it.
fn note_origins(table: &toml::Table, above: &str, path: &Path, origins: &mut BTreeMap<String, Origin>) {
    for (key, value) in table {
        let name = if above.is_empty() {
            key.clone()
        } else {
            format!("{above}.{key}")
        };
        if let toml::Value::Table(below) = value {
            note_origins(below, &name, path, origins);
        }
        origins.insert(name, Origin::File(path.to_owned()));
    }
}

fn typed(name: &str, key: &str, text: &str, kind: Kind) -> Result<toml::Value, ConfigError> {
    let wrong = |problem: &str| ConfigError::Value {
        key: key.to_owned(),
        problem: problem.to_owned(),
        origin: name.to_owned(),
    };
    Ok(match kind {
        Kind::Number => {
            let number = text
                .trim()
                .parse::<u32>()
                .map_err(|_| wrong("this is no number"))?;
            toml::Value::Integer(number.into())
        }
        Kind::Flag => match text.trim() {
            "true" | "1" | "yes" => toml::Value::Boolean(true),
            "false" | "0" | "no" | "" => toml::Value::Boolean(false),
            _ => return Err(wrong("this must be true or false")),
        },
        Kind::Text | Kind::Many | Kind::Free => toml::Value::String(text.to_owned()),
    })
}

fn set(table: &mut toml::Table, section: &str, key: &str, value: toml::Value) {
    let mut at = table;
    for part in section.split('.') {
        let below = at
            .entry(part)
            .or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let toml::Value::Table(below) = below else { return };
        at = below;
    }
    at.insert(key.to_owned(), value);
}

fn unknown_variable(name: &str) -> String {
    let known: Vec<String> = keys::variables().map(|(name, ..)| name).collect();
    let near = keys::nearest(name, known.iter().map(String::as_str));
    let near = near
        .map(|n| format!("; a similar one is {n}"))
        .unwrap_or_default();
    format!("the variable {name} sets nothing{near}")
}
