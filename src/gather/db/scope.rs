//! SCOPE: names as typed, made into rows. An ambiguous name is an error that lists the candidates.

use super::{DbError, Reader};
use crate::evidence::Scope;
use crate::model::{HostId, VmId, VolumeId};
use std::collections::BTreeSet;

/// What was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeWords {
    /// `--host`: name, uuid or address.
    pub hosts: Vec<String>,
    /// `--vm`: name, uuid or instance name.
    pub vms: Vec<String>,
    /// `--volume`: uuid, name or path.
    pub volumes: Vec<String>,
    /// `--cluster`: name or uuid.
    pub clusters: Vec<String>,
    /// `--zone`: name or uuid.
    pub zones: Vec<String>,
}

/// A name that leads nowhere, or to several rows.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ScopeError {
    #[error("no {kind} is called {word:?}")]
    Unknown {
        kind: &'static str,
        word: String,
        near: Vec<String>,
    },
    #[error("{count} {kind}s are called {word:?}")]
    Ambiguous {
        kind: &'static str,
        word: String,
        count: usize,
        candidates: Vec<String>,
    },
    #[error(transparent)]
    Database(#[from] DbError),
}

impl ScopeError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { near, .. } if near.is_empty() => None,
            Self::Unknown { near, .. } => Some(format!("did you mean {}?", near.join(", "))),
            Self::Ambiguous { candidates, .. } => {
                Some(format!("give the uuid of one: {}", candidates.join("; ")))
            }
            Self::Database(error) => error.hint(),
        }
    }
}

impl ScopeError {
    /// For a word that leads to none or to several rows: `found` tells them, `names` are all there are.
    #[must_use]
    pub fn of(kind: &'static str, word: &str, found: &[String], names: Vec<String>) -> Self {
        if found.is_empty() {
            return Self::Unknown {
                kind,
                word: word.to_owned(),
                near: near(word, names),
            };
        }
        Self::Ambiguous {
            kind,
            word: word.to_owned(),
            count: found.len(),
            candidates: found.iter().take(10).cloned().collect(),
        }
    }
}

/// What one kind of name is looked up by.
struct Kind {
    word: &'static str,
    /// Selects id, uuid and what tells a row apart, by one parameter that stands several times.
    find: &'static str,
    /// How often.
    times: usize,
    /// Selects all names, for "did you mean".
    names: &'static str,
}

const HOST: Kind = Kind {
    word: "host",
    find: "SELECT h.id, h.uuid, CONCAT(h.name, ' ', h.private_ip_address) FROM host h WHERE h.type = 'Routing' AND h.hypervisor_type = 'KVM' AND h.removed IS NULL AND (h.name = ? OR h.uuid = ? OR h.private_ip_address = ?)",
    times: 3,
    names: "SELECT h.name FROM host h WHERE h.type = 'Routing' AND h.hypervisor_type = 'KVM' AND h.removed IS NULL ORDER BY h.name LIMIT 5000",
};

const VM: Kind = Kind {
    word: "VM",
    find: "SELECT i.id, i.uuid, CONCAT(i.instance_name, ' ', i.state) FROM vm_instance i WHERE i.removed IS NULL AND (i.name = ? OR i.uuid = ? OR i.instance_name = ?)",
    times: 3,
    names: "SELECT i.name FROM vm_instance i WHERE i.removed IS NULL ORDER BY i.name LIMIT 5000",
};

const VOLUME: Kind = Kind {
    word: "volume",
    find: "SELECT v.id, v.uuid, CONCAT(COALESCE(v.name, ''), ' ', COALESCE(v.state, '')) FROM volumes v WHERE v.uuid = ? OR (v.removed IS NULL AND (v.name = ? OR v.path = ?))",
    times: 3,
    names: "SELECT v.name FROM volumes v WHERE v.removed IS NULL AND v.name IS NOT NULL ORDER BY v.name LIMIT 5000",
};

const CLUSTER: Kind = Kind {
    word: "cluster",
    find: "SELECT c.id, c.uuid, c.name FROM cluster c WHERE c.removed IS NULL AND (c.name = ? OR c.uuid = ?)",
    times: 2,
    names: "SELECT c.name FROM cluster c WHERE c.removed IS NULL ORDER BY c.name LIMIT 5000",
};

const ZONE: Kind = Kind {
    word: "zone",
    find: "SELECT z.id, z.uuid, z.name FROM data_center z WHERE z.removed IS NULL AND (z.name = ? OR z.uuid = ?)",
    times: 2,
    names: "SELECT z.name FROM data_center z WHERE z.removed IS NULL ORDER BY z.name LIMIT 5000",
};

impl Reader {
    /// Looks up what was typed: exact matches only.
    ///
    /// # Errors
    /// When a name is unknown or ambiguous, or the database cannot be read.
    pub fn resolve(&mut self, words: &ScopeWords) -> Result<Scope, ScopeError> {
        let mut scope = Scope::default();
        for word in &words.hosts {
            scope.hosts.insert(HostId(self.one(&HOST, word)?));
            scope.words.push(format!("host {word}"));
        }
        for word in &words.vms {
            scope.vms.insert(VmId(self.one(&VM, word)?));
            scope.words.push(format!("vm {word}"));
        }
        for word in &words.volumes {
            scope.volumes.insert(VolumeId(self.one(&VOLUME, word)?));
            scope.words.push(format!("volume {word}"));
        }
        for word in &words.clusters {
            let id = self.one(&CLUSTER, word)?;
            let hosts = self.hosts_of_area("h.cluster_id", id)?;
            scope.areas.extend(hosts);
            scope.words.push(format!("cluster {word}"));
        }
        for word in &words.zones {
            let id = self.one(&ZONE, word)?;
            let hosts = self.hosts_of_area("h.data_center_id", id)?;
            scope.areas.extend(hosts);
            scope.words.push(format!("zone {word}"));
        }
        Ok(scope)
    }

    fn hosts_of_area(&mut self, column: &'static str, id: u64) -> Result<BTreeSet<HostId>, DbError> {
        let sql = format!(
            "SELECT h.id FROM host h WHERE h.type = 'Routing' AND h.hypervisor_type = 'KVM' AND h.removed IS NULL AND {column} = {id}"
        );
        Ok(self
            .read("host", &sql, |c| c.id(0, HostId))?
            .into_iter()
            .collect())
    }

    fn one(&mut self, kind: &Kind, word: &str) -> Result<u64, ScopeError> {
        let params = vec![word.to_owned(); kind.times];
        let found = self.ask(kind.word, kind.find, params, |c| {
            let (id, uuid) = (c.number(0)?.unwrap_or_default(), c.text(1).unwrap_or_default());
            let text = format!("{uuid} ({})", c.text(2).unwrap_or_default());
            Ok((id, uuid.eq_ignore_ascii_case(word), text))
        })?;
        // A uuid is one row's, whatever others are called or lie under: what is left of a volume that moved has its uuid as a path.
        let exact: Vec<u64> = found
            .iter()
            .filter(|(_, is, _)| *is)
            .map(|(id, ..)| *id)
            .collect();
        match found.as_slice() {
            [(id, ..)] => Ok(*id),
            _ if exact.len() == 1 => Ok(exact[0]),
            many => {
                let names = if many.is_empty() {
                    self.read(kind.word, kind.names, |c| Ok(c.text(0).unwrap_or_default()))?
                } else {
                    Vec::new()
                };
                let found: Vec<String> = many.iter().map(|(.., text)| text.clone()).collect();
                Err(ScopeError::of(kind.word, word, &found, names))
            }
        }
    }
}

/// Up to five names that are much like the word.
pub(in crate::gather) fn near(word: &str, names: Vec<String>) -> Vec<String> {
    let word = word.to_lowercase();
    let mut scored: Vec<(f64, String)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(5).map(|(_, name)| name).collect()
}
