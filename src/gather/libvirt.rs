//! One look at one host, over one read-only connection.
//!
//! The calls: `virConnectGetHostname`, three times `virConnectListAllDomains` (active; active and paused; active and
//! persistent), `virConnectGetCapabilities` for the host's uuid, and per domain `virDomainGetXMLDesc`. Only paused
//! domains are asked for their reason (`virDomainGetState`), only persistent ones for their definition. None of them goes
//! through QEMU's monitor, where one hung QEMU would hold the caller for ever: no statistics, no block information.
//!
//! A libvirt server works on 5 calls of a connection at a time (`max_client_requests`), so that several are in
//! flight, and parsing overlaps with waiting. Calls may still hang, with the server: the caller's deadline counts, and
//! what was read until then is in the [`Notes`].

use super::domain_xml::{self, DomainXml};
use super::uri;
use crate::evidence::Unreadable;
use crate::model::{Domain, RunState};
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::thread;
use virt::connect::Connect;
use virt::domain::{DomainPausedReason, DomainState, DomainStateReason};
use virt::enumutil::Enum;
use virt::error::{Error, ErrorNumber};
use virt::sys;

/// Calls in flight on one connection, the capabilities' among them. At its fifth the server would log a warning.
const IN_FLIGHT: usize = 4;

/// What a look has put down so far. The reader's and the waiter's: the deadline may come at any line.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub domains: Vec<Domain>,
    pub unreadable: Vec<Unreadable>,
    /// The uuid in the host's capabilities, lower case.
    pub host_uuid: Option<String>,
    /// The domains are not to be believed: another host answered, or this one lies.
    pub void: bool,
    /// How it ended; none while it goes on.
    pub end: Option<Result<(), String>>,
}

/// [`Notes`] that two threads share.
#[derive(Debug, Default)]
pub(super) struct Notebook(Mutex<Notes>);

impl Notebook {
    /// Opens it, also after a writer panicked: what it wrote before is still true.
    pub fn open(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a host and writes it down. `name` is the row's.
pub(super) fn read_host(name: &str, uri: &str, notes: &Notebook) {
    // `virt`'s `Drop` panics where libvirt refuses to let go, and its C strings may be null.
    let end = catch_unwind(AssertUnwindSafe(|| connect_and_read(name, uri, notes)))
        .unwrap_or_else(|panic| Err(format!("reading {} failed: {}", uri::masked(uri), said(&*panic))));
    let mut notes = notes.open();
    if notes.end.is_none() {
        notes.end = Some(end);
    }
}

fn connect_and_read(name: &str, uri: &str, notes: &Notebook) -> Result<(), String> {
    static SILENCE: Once = Once::new();
    // libvirt's own callback prints every error.
    SILENCE.call_once(virt::error::clear_error_callback);

    let connection = Connect::open_read_only(Some(uri)).map_err(|e| trouble("cannot connect to", uri, &e))?;
    let host = Host {
        uri,
        connection,
        notes,
    };
    let end = host.read(name);
    // Said before the connection closes, so that a close that hangs or panics costs nothing.
    notes.open().end = Some(end.clone());
    end
}

struct Host<'a> {
    uri: &'a str,
    connection: Connect,
    notes: &'a Notebook,
}

/// A domain to be read: name and uuid come with the list, and asking for them costs no call.
struct Entry {
    handle: virt::domain::Domain,
    name: String,
    uuid: String,
    paused: bool,
    persistent: bool,
}

/// Why one domain was not read.
enum Failure {
    /// `VIR_ERR_NO_DOMAIN`: it went between the list and the call.
    Gone,
    /// The connection is dead, and with it the look.
    Connection(String),
    /// Only this domain.
    Domain(String),
}

impl Host<'_> {
    fn read(&self, name: &str) -> Result<(), String> {
        let test = uri::is_test_driver(self.uri);
        let entries = self.entries(if test { None } else { Some(name) })?;
        if let Some(lie) = lie(&entries) {
            self.notes.open().void = true;
            return Err(format!("{} lies: {lie}", uri::masked(self.uri)));
        }
        let next = AtomicUsize::new(0);
        let dead = OnceLock::new();
        let identity = thread::scope(|scope| {
            for _ in 1..IN_FLIGHT.min(entries.len()) {
                scope.spawn(|| self.work(&entries, &next, &dead));
            }
            self.work(&entries, &next, &dead);
            // Last: the capabilities of a server that was just started take seconds, and the domains shall be down by then.
            if test || dead.get().is_some() {
                Ok(())
            } else {
                self.read_uuid()
            }
        });
        match dead.into_inner() {
            Some(reason) => Err(reason),
            None => identity,
        }
    }

    /// The list calls and the host's name, all in flight together.
    fn entries(&self, name: Option<&str>) -> Result<Vec<Entry>, String> {
        let list = |flags| {
            let found = self
                .connection
                .list_all_domains(sys::VIR_CONNECT_LIST_DOMAINS_ACTIVE | flags);
            found.map_err(|e| trouble("cannot list the domains of", self.uri, &e))
        };
        let uuids = |flags| -> Result<BTreeSet<[u8; 16]>, String> {
            let found = list(flags)?;
            Ok(found
                .iter()
                .filter_map(|d| Some(*d.uuid().ok()?.as_bytes()))
                .collect())
        };
        let (answers_as, active, paused, persistent) = thread::scope(|scope| {
            let paused = scope.spawn(|| uuids(sys::VIR_CONNECT_LIST_DOMAINS_PAUSED));
            let persistent = scope.spawn(|| uuids(sys::VIR_CONNECT_LIST_DOMAINS_PERSISTENT));
            let hostname = name.map(|_| scope.spawn(|| self.connection.hostname()));
            let active = list(0);
            let lost = || Err("a list call panicked".to_owned());
            (
                hostname.map(thread::ScopedJoinHandle::join),
                active,
                paused.join().unwrap_or_else(|_| lost()),
                persistent.join().unwrap_or_else(|_| lost()),
            )
        });
        if let (Some(name), Some(answer)) = (name, answers_as) {
            let answer = answer.map_err(|panic| format!("a call panicked: {}", said(&*panic)))?;
            let answer = answer.map_err(|e| trouble("cannot ask for the host name of", self.uri, &e))?;
            if !same_host(name, &answer) {
                let uri = uri::masked(self.uri);
                return Err(format!(
                    "{uri} answers as {answer:?}, not as {name:?}: the URI or the row is wrong"
                ));
            }
        }
        let (paused, persistent) = (paused?, persistent?);
        let mut entries = Vec::new();
        for handle in active? {
            let read = (handle.name(), handle.uuid(), handle.uuid_string());
            let (Ok(name), Ok(uuid), Ok(text)) = read else {
                return Err(format!(
                    "{} lists a domain without name or uuid",
                    uri::masked(self.uri)
                ));
            };
            entries.push(Entry {
                handle,
                name,
                uuid: text.to_ascii_lowercase(),
                paused: paused.contains(uuid.as_bytes()),
                persistent: persistent.contains(uuid.as_bytes()),
            });
        }
        Ok(entries)
    }

    /// `<host><uuid>` of `virConnectGetCapabilities`: two rows that reach one host show by it.
    fn read_uuid(&self) -> Result<(), String> {
        let capabilities = self
            .connection
            .capabilities()
            .map_err(|e| trouble("cannot ask for the capabilities of", self.uri, &e))?;
        let document = roxmltree::Document::parse(&capabilities).map_err(|e| {
            format!(
                "{} gives capabilities that are broken XML: {e}",
                uri::masked(self.uri)
            )
        })?;
        let host = document
            .root_element()
            .children()
            .find(|n| n.has_tag_name("host"));
        let uuid = host.and_then(|h| h.children().find(|n| n.has_tag_name("uuid")));
        self.notes.open().host_uuid = uuid.and_then(|u| u.text()).map(|t| t.trim().to_ascii_lowercase());
        Ok(())
    }

    fn work(&self, entries: &[Entry], next: &AtomicUsize, dead: &OnceLock<String>) {
        while dead.get().is_none() {
            let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let read = catch_unwind(AssertUnwindSafe(|| self.domain(entry))).unwrap_or_else(|panic| {
                Err(Failure::Domain(format!("reading it failed: {}", said(&*panic))))
            });
            match read {
                Ok((domain, None)) => self.notes.open().domains.push(domain),
                Ok((domain, Some(reason))) => {
                    self.notes.open().domains.push(domain);
                    self.unreadable(entry, reason);
                }
                Err(Failure::Gone) => {}
                Err(Failure::Domain(reason)) => self.unreadable(entry, reason),
                Err(Failure::Connection(reason)) => {
                    // Of several the first: the others only follow.
                    let _ = dead.set(reason);
                }
            }
        }
    }

    fn unreadable(&self, entry: &Entry, reason: String) {
        self.notes.open().unreadable.push(Unreadable {
            name: entry.name.clone(),
            uuid: Some(entry.uuid.clone()),
            reason,
        });
    }

    /// A domain, and what could not be read of its persistent definition.
    fn domain(&self, entry: &Entry) -> Result<(Domain, Option<String>), Failure> {
        let state = if entry.paused {
            self.paused(entry)?
        } else {
            RunState::Running
        };
        let live = self.xml(entry, 0)?;
        let mut domain = Domain {
            name: entry.name.clone(),
            uuid: entry.uuid.clone(),
            state,
            persistent: entry.persistent,
            persistent_differs: false,
            disks: live.disks,
        };
        if !entry.persistent {
            return Ok((domain, None));
        }
        match self.xml(entry, sys::VIR_DOMAIN_XML_INACTIVE) {
            Ok(defined) => {
                domain.persistent_differs = domain_xml::compare_definition(&mut domain.disks, &defined.disks);
                Ok((domain, None))
            }
            // Its disks were seen, and stay so.
            Err(Failure::Domain(reason)) => {
                Ok((domain, Some(format!("its persistent definition: {reason}"))))
            }
            Err(failure) => Err(failure),
        }
    }

    /// `virDomainGetXMLDesc`.
    fn xml(&self, entry: &Entry, flags: sys::virDomainXMLFlags) -> Result<DomainXml, Failure> {
        let xml = entry.handle.xml_desc(flags).map_err(|e| self.failure(&e))?;
        let read = domain_xml::parse(&xml).map_err(|e| Failure::Domain(e.to_string()))?;
        let same_uuid = read.uuid.as_ref().is_none_or(|uuid| *uuid == entry.uuid);
        if read.name != entry.name || !same_uuid {
            return Err(Failure::Domain(format!(
                "its XML is that of another domain, {:?}",
                read.name
            )));
        }
        Ok(read)
    }

    /// `virDomainGetState`: why a domain is paused.
    fn paused(&self, entry: &Entry) -> Result<RunState, Failure> {
        let (state, reason) = entry.handle.state().map_err(|e| self.failure(&e))?;
        match (state, reason) {
            (Enum::Known(DomainState::Paused), Enum::Known(DomainStateReason::Paused(Enum::Known(why)))) => {
                Ok(match why {
                    DomainPausedReason::Migration | DomainPausedReason::StartingUp => RunState::Incoming,
                    _ => RunState::Paused,
                })
            }
            (Enum::Known(DomainState::Paused), _) => Ok(RunState::Paused),
            (Enum::Known(DomainState::Shutoff), _) => Err(Failure::Gone),
            (Enum::Known(_), _) => Ok(RunState::Running),
            // `virt` lets the call's failure fall, and the state is none of libvirt's.
            (Enum::Unknown(_), _) => Err(self.failure(&Error::last_error())),
        }
    }

    fn failure(&self, error: &Error) -> Failure {
        if matches!(error.code(), Enum::Known(ErrorNumber::NoDomain)) {
            return Failure::Gone;
        }
        // Answered by the client library itself, without a call.
        if matches!(self.connection.is_alive(), Ok(true)) {
            Failure::Domain(plain(error.message()))
        } else {
            Failure::Connection(trouble("lost the connection to", self.uri, error))
        }
    }
}

/// Two active domains of one name or uuid: libvirt holds both to be unique.
fn lie(entries: &[Entry]) -> Option<String> {
    let (mut names, mut uuids) = (BTreeSet::new(), BTreeSet::new());
    entries.iter().find_map(|entry| {
        if !names.insert(&entry.name) {
            Some(format!("it has two domains of the name {:?}", entry.name))
        } else if !uuids.insert(&entry.uuid) {
            Some(format!("it has two domains of the uuid {}", entry.uuid))
        } else {
            None
        }
    })
}

/// Whether a host row's name and the name that libvirt reports are one host's: up to the first dot, in any case.
fn same_host(row: &str, answer: &str) -> bool {
    let first = |name: &'_ str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    // A row that is named by its address says nothing of the host's name.
    row.parse::<std::net::IpAddr>().is_ok() || first(row) == first(answer)
}

/// libvirt's words in ours, and what to try.
fn trouble(what: &str, uri: &str, error: &Error) -> String {
    let words = plain(error.message());
    format!("{what} {}: {words}; try: {}", uri::masked(uri), uri::virsh(uri))
}

/// A message in one line, without a full stop.
fn plain(message: &str) -> String {
    let words: Vec<&str> = message
        .split(|c: char| c.is_whitespace() || c.is_control())
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

/// What a panic said.
pub(super) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    plain(&text.unwrap_or_else(|| "a panic without words".to_owned()))
}
