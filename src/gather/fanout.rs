//! All hosts side by side: a bounded pool of detached threads, one channel, one deadline per host.
//!
//! A libvirt call can hang for ever and cannot be taken back, so a thread that is late is left behind, and its place in the
//! pool is given to the next host. Not `thread::scope`: it would wait for the stuck one. The process ends by `exit`, which
//! ends the stuck threads, too.

use super::libvirt::{self, Notebook};
use super::{names, uri};
use crate::evidence::{GapCode, Look, Status};
use crate::model::{Host, HostId};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use super::uri::uri_for;

/// How the hosts are reached: `[libvirt]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibvirtSettings {
    /// The template: `{ip}`, `{name}` and `{uuid}` are the host row's.
    pub uri: String,
    /// URIs by host name: they win over the template.
    pub hosts: BTreeMap<String, String>,
    /// Hosts not to ask, by name, uuid or address: gaps.
    pub skip: Vec<String>,
    /// How many hosts are asked at a time; at least one is.
    pub parallel: usize,
    /// How long a host may take, from when it is asked.
    pub host_timeout: Duration,
}

/// What happened to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is asked.
    Asked,
    /// It was read whole.
    Seen,
    /// It was not; why.
    Unseen(String),
}

/// News of a look, as it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Hosts that are done, seen or not.
    pub done: usize,
    /// Hosts to ask.
    pub total: usize,
    /// The host's name.
    pub host: String,
    /// What happened to it.
    pub step: Step,
}

/// A host to ask.
#[derive(Clone, Debug)]
struct Ask {
    id: HostId,
    name: String,
    uri: String,
}

/// A look, and the uuid that the host's capabilities gave.
type Seen = (Look, Option<String>);

/// Looks at hosts: who is seen, who is not and why, and what was read.
///
/// Ends when all are done, or at `deadline`: what is unfinished then is a gap. Threads that hang are left behind.
pub fn look(
    hosts: &[&Host],
    settings: &LibvirtSettings,
    deadline: Option<Instant>,
    progress: &mut dyn FnMut(Progress),
) -> BTreeMap<HostId, Look> {
    let mut looks = BTreeMap::new();
    let mut asks: Vec<Ask> = Vec::new();
    for host in hosts {
        if let Some(since) = host.removed {
            let reason = format!("its row is removed since {since}, and rows of running VMs still name it");
            looks.insert(
                host.id,
                empty(String::new(), Status::NotAsked { reason, gap: true }),
            );
            continue;
        }
        if settings.skip.iter().any(|word| names::is_skipped(host, word)) {
            let uri = uri_for(host, settings)
                .map(|u| uri::masked(&u))
                .unwrap_or_default();
            let reason = "skipped, as [libvirt] skip says".to_owned();
            looks.insert(host.id, empty(uri, Status::NotAsked { reason, gap: true }));
            continue;
        }
        match uri_for(host, settings) {
            Ok(uri) if !asks.iter().any(|a| a.id == host.id) => asks.push(Ask {
                id: host.id,
                name: host.name.clone(),
                uri,
            }),
            Ok(_) => {}
            Err(reason) => {
                looks.insert(host.id, empty(String::new(), unseen(reason)));
            }
        }
    }
    for (host, twins) in shared(asks.iter().map(|a| (a.id, a.name.as_str(), uri::target(&a.uri)))) {
        let Some(at) = asks.iter().position(|a| a.id == host) else {
            continue;
        };
        let ask = asks.remove(at);
        let uri = uri::masked(&ask.uri);
        let reason = format!("{uri} is the URI of {twins}, too: whose domains it shows cannot be told");
        looks.insert(host, empty(uri, unseen(reason)));
    }
    let names: BTreeMap<HostId, String> = asks.iter().map(|a| (a.id, a.name.clone())).collect();
    let read = |ask: &Ask, notes: &Notebook| libvirt::read_host(&ask.name, &ask.uri, notes);
    let mut seen = fan_out(asks, settings, deadline, &Arc::new(read), progress);
    let uuids = seen
        .iter()
        .filter_map(|(id, (_, uuid))| Some((*id, names[id].as_str(), uuid.clone()?)));
    for (host, twins) in shared(uuids) {
        if let Some((look, Some(uuid))) = seen.get_mut(&host) {
            let reason = format!(
                "{twins} answers with the same host uuid {uuid}: one host behind several rows; \
                 if it is not, give each a host_uuid in libvirtd.conf"
            );
            *look = Look {
                millis: look.millis,
                ..empty(look.uri.clone(), unseen(reason))
            };
        }
    }
    looks.extend(seen.into_iter().map(|(id, (look, _))| (id, look)));
    looks
}

/// Hosts that have their key in common with others, and the others' names.
fn shared<'a>(keys: impl Iterator<Item = (HostId, &'a str, String)>) -> Vec<(HostId, String)> {
    let mut by_key: BTreeMap<String, Vec<(HostId, &str)>> = BTreeMap::new();
    for (id, name, key) in keys {
        by_key.entry(key).or_default().push((id, name));
    }
    let mut found = Vec::new();
    for group in by_key.values().filter(|g| g.len() > 1) {
        for (id, _) in group {
            let others = group.iter().filter(|(other, _)| other != id);
            let names: Vec<String> = others
                .clone()
                .take(3)
                .map(|(_, name)| format!("{name:?}"))
                .collect();
            let more = others.count() - names.len();
            let tail = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            found.push((*id, names.join(", ") + &tail));
        }
    }
    found
}

fn fan_out<F>(
    asks: Vec<Ask>,
    settings: &LibvirtSettings,
    deadline: Option<Instant>,
    read: &Arc<F>,
    progress: &mut dyn FnMut(Progress),
) -> BTreeMap<HostId, Seen>
where
    F: Fn(&Ask, &Notebook) + Send + Sync + 'static,
{
    let total = asks.len();
    let mut waiting = VecDeque::from(asks);
    let mut running: BTreeMap<HostId, Place> = BTreeMap::new();
    let mut done: BTreeMap<HostId, Seen> = BTreeMap::new();
    let (sender, receiver) = channel();
    while !(waiting.is_empty() && running.is_empty()) {
        let mut finished: Vec<(Place, Option<String>)> = Vec::new();
        while running.len() < settings.parallel.max(1) && deadline.is_none_or(|d| Instant::now() < d) {
            let Some(ask) = waiting.pop_front() else { break };
            progress(Progress {
                done: done.len(),
                total,
                host: ask.name.clone(),
                step: Step::Asked,
            });
            let place = Place::new(ask, settings.host_timeout);
            let (ask, notes) = (place.ask.clone(), Arc::clone(&place.notes));
            let (sender, read) = (sender.clone(), Arc::clone(read));
            let thread = thread::Builder::new()
                .name(format!("host-{}", ask.id))
                .spawn(move || {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(&ask, &notes))) {
                        notes.open().end =
                            Some(Err(format!("the look panicked: {}", libvirt::said(&*panic))));
                    }
                    // Nobody listens any more if it is late.
                    let _ = sender.send(ask.id);
                });
            match thread {
                Ok(_) => drop(running.insert(place.ask.id, place)),
                Err(e) => finished.push((place, Some(format!("cannot start a thread for it: {e}")))),
            }
        }
        let alarm = running.values().filter_map(|p| p.until).chain(deadline).min();
        if finished.is_empty() {
            let news = match alarm {
                Some(at) => receiver.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            // A host that was given up may still answer: it has no place any more.
            finished.extend(news.ok().and_then(|id| running.remove(&id)).map(|p| (p, None)));
        }
        let now = Instant::now();
        if deadline.is_some_and(|d| now >= d) {
            let never = waiting
                .drain(..)
                .map(|ask| Place::new(ask, settings.host_timeout));
            finished
                .extend(never.map(|p| (p, Some("not asked: the time for the whole run was up".to_owned()))));
            let late = std::mem::take(&mut running).into_values();
            finished.extend(late.map(|p| {
                (
                    p,
                    Some("no end before the time for the whole run was up".to_owned()),
                )
            }));
        }
        let late: Vec<HostId> = running
            .iter()
            .filter(|(_, place)| place.until.is_some_and(|at| now >= at))
            .map(|(id, _)| *id)
            .collect();
        for place in late.iter().filter_map(|id| running.remove(id)) {
            finished.push((place, Some(format!("no end within {:?}", settings.host_timeout))));
        }
        for (place, reason) in finished {
            let (id, host) = (place.ask.id, place.ask.name.clone());
            let seen = place.close(reason);
            let step = match &seen.0.status {
                Status::Unseen { reason, .. } => Step::Unseen(reason.clone()),
                Status::Seen | Status::NotAsked { .. } => Step::Seen,
            };
            done.insert(id, seen);
            progress(Progress {
                done: done.len(),
                total,
                host,
                step,
            });
        }
    }
    done
}

/// A host's place in the pool.
struct Place {
    ask: Ask,
    since: Instant,
    /// When it is given up; never, if the timeout is beyond all clocks.
    until: Option<Instant>,
    notes: Arc<Notebook>,
}

impl Place {
    fn new(ask: Ask, timeout: Duration) -> Self {
        let since = Instant::now();
        Self {
            ask,
            since,
            until: since.checked_add(timeout),
            notes: Arc::default(),
        }
    }

    /// Takes what was written down. `given_up` says why nobody waits any longer.
    fn close(self, given_up: Option<String>) -> Seen {
        let mut notes = std::mem::take(&mut *self.notes.open());
        let status = match (notes.end, given_up) {
            (Some(Ok(())), _) => Status::Seen,
            (Some(Err(reason)), _) => unseen(reason),
            (None, Some(reason)) => {
                let uri = uri::masked(&self.ask.uri);
                let read = notes.domains.len();
                let part = if read > 0 {
                    format!(", {read} {} read", if read == 1 { "domain" } else { "domains" })
                } else {
                    String::new()
                };
                unseen(format!(
                    "{uri}: {reason}{part}; try: {}",
                    uri::virsh(&self.ask.uri)
                ))
            }
            (None, None) => unseen("the look ended without a word".to_owned()),
        };
        if notes.void {
            notes.domains.clear();
            notes.unreadable.clear();
        }
        notes
            .domains
            .sort_by(|a, b| (&a.name, &a.uuid).cmp(&(&b.name, &b.uuid)));
        notes
            .unreadable
            .sort_by(|a, b| (&a.name, &a.uuid).cmp(&(&b.name, &b.uuid)));
        let look = Look {
            uri: uri::masked(&self.ask.uri),
            status,
            millis: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            domains: notes.domains,
            unreadable: notes.unreadable,
        };
        (look, notes.host_uuid)
    }
}

fn unseen(reason: String) -> Status {
    Status::Unseen {
        code: GapCode::HostUnseen,
        reason,
    }
}

fn empty(uri: String, status: Status) -> Look {
    Look {
        uri,
        status,
        millis: 0,
        domains: Vec::new(),
        unreadable: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
