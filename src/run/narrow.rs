//! SCOPE on saved evidence: the words that `gather` looks up in the database, looked up among the rows of a file.

use crate::evidence::{Evidence, Scope};
use crate::gather::{ScopeError, ScopeWords};
use crate::model::{Host, HostId, VmId, VolumeId};

/// Why saved evidence cannot be narrowed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NarrowError {
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error("the evidence is of a scan of {words} only: it is judged as it is, without a scope")]
    Narrow { words: String },
}

/// Gives evidence of the whole cloud a scope. Without words it stays as it is.
///
/// # Errors
/// When a name is unknown or ambiguous, or the evidence itself has a scope: what that left out was not read.
pub fn narrow(evidence: &mut Evidence, words: &ScopeWords) -> Result<(), NarrowError> {
    if *words == ScopeWords::default() {
        return Ok(());
    }
    if !evidence.scope.is_everything() {
        let words = evidence.scope.words.join(", ");
        return Err(NarrowError::Narrow { words });
    }
    let scope = scope(evidence, words)?;
    if let Some(earlier) = &mut evidence.earlier {
        earlier.scope = scope.clone();
    }
    evidence.scope = scope;
    Ok(())
}

fn scope(evidence: &Evidence, words: &ScopeWords) -> Result<Scope, ScopeError> {
    let mut scope = Scope::default();
    let hosts: Vec<Named<HostId>> = evidence
        .hosts
        .iter()
        .filter(|h| h.removed.is_none())
        .map(|h| Named::new(h.id, &h.name, h.uuid.as_deref(), &[&h.name, &h.ip]))
        .collect();
    let vms: Vec<Named<VmId>> = evidence
        .vms
        .iter()
        .filter(|vm| vm.removed.is_none())
        .map(|vm| Named::new(vm.id, &vm.name, vm.uuid.as_deref(), &[&vm.name, &vm.instance]))
        .collect();
    let volumes: Vec<Named<VolumeId>> = evidence
        .volumes
        .iter()
        .map(|v| {
            let name = v.name.as_deref().unwrap_or_default();
            let by: Vec<&str> = [v.name.as_deref(), v.path.as_deref()]
                .into_iter()
                .flatten()
                .filter(|_| v.removed.is_none())
                .collect();
            Named::new(v.id, name, v.uuid.as_deref(), &by)
        })
        .collect();
    let clusters: Vec<_> = evidence
        .clusters
        .iter()
        .map(|c| Named::new(c.id, &c.name, c.uuid.as_deref(), &[&c.name]))
        .collect();
    let zones: Vec<_> = evidence
        .zones
        .iter()
        .map(|z| Named::new(z.id, &z.name, z.uuid.as_deref(), &[&z.name]))
        .collect();
    for word in &words.hosts {
        scope.hosts.insert(one("host", word, &hosts)?);
        scope.words.push(format!("host {word}"));
    }
    for word in &words.vms {
        scope.vms.insert(one("VM", word, &vms)?);
        scope.words.push(format!("vm {word}"));
    }
    for word in &words.volumes {
        scope.volumes.insert(one("volume", word, &volumes)?);
        scope.words.push(format!("volume {word}"));
    }
    let within = |is: &dyn Fn(&Host) -> bool| -> Vec<HostId> {
        let hosts = evidence.hosts.iter().filter(|h| h.removed.is_none() && is(h));
        hosts.map(|h| h.id).collect()
    };
    for word in &words.clusters {
        let id = one("cluster", word, &clusters)?;
        scope.areas.extend(within(&|h| h.cluster == Some(id)));
        scope.words.push(format!("cluster {word}"));
    }
    for word in &words.zones {
        let id = one("zone", word, &zones)?;
        scope.areas.extend(within(&|h| h.zone == id));
        scope.words.push(format!("zone {word}"));
    }
    Ok(scope)
}

/// A row and what it goes by.
struct Named<I> {
    id: I,
    name: String,
    uuid: String,
    by: Vec<String>,
}

impl<I> Named<I> {
    fn new(id: I, name: &str, uuid: Option<&str>, by: &[&str]) -> Self {
        let by = by.iter().copied().chain(uuid).map(str::to_lowercase);
        Self {
            id,
            name: name.to_owned(),
            uuid: uuid.unwrap_or_default().to_owned(),
            by: by.collect(),
        }
    }
}

/// As the database compares: whole words, whatever their case.
fn one<I: Copy>(kind: &'static str, word: &str, rows: &[Named<I>]) -> Result<I, ScopeError> {
    let wanted = word.to_lowercase();
    let found: Vec<&Named<I>> = rows.iter().filter(|row| row.by.contains(&wanted)).collect();
    if let [row] = found.as_slice() {
        return Ok(row.id);
    }
    let told: Vec<String> = found
        .iter()
        .map(|row| format!("{} ({})", row.uuid, row.name))
        .collect();
    let names = rows.iter().map(|row| row.name.clone()).collect();
    Err(ScopeError::of(kind, word, &told, names))
}
