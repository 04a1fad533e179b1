//! A relay before a libvirt daemon: it counts the calls, and may change, hold or cut what the daemon answers.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Numbers of libvirt's remote protocol (`remote_protocol.x`).
pub mod procedure {
    pub const OPEN: u32 = 1;
    pub const CLOSE: u32 = 2;
    pub const CAPABILITIES: u32 = 7;
    pub const XML: u32 = 14;
    pub const HOSTNAME: u32 = 59;
    pub const SUPPORTS_FEATURE: u32 = 60;
    pub const AUTH_LIST: u32 = 66;
    pub const STATE: u32 = 212;
    pub const LIST: u32 = 273;
}

/// What becomes of an answer.
pub enum Then {
    Pass,
    /// Both ends are closed instead.
    Cut,
}

type Meddle = Box<dyn FnMut(u32, &mut Vec<u8>) -> Then + Send>;

/// A relay that listens on a socket of its own.
pub struct Relay {
    dir: tempfile::TempDir,
    calls: Arc<Mutex<BTreeMap<u32, usize>>>,
}

impl Relay {
    /// Before `upstream`; each answer, without its length, goes through `meddle` with its procedure's number.
    pub fn start(
        upstream: &Path,
        delay: Duration,
        meddle: impl FnMut(u32, &mut Vec<u8>) -> Then + Send + 'static,
    ) -> Self {
        let dir = tempfile::TempDir::new().unwrap();
        let listener = UnixListener::bind(dir.path().join("s")).unwrap();
        let calls: Arc<Mutex<BTreeMap<u32, usize>>> = Arc::default();
        let meddle: Arc<Mutex<Meddle>> = Arc::new(Mutex::new(Box::new(meddle)));
        let (upstream, counted) = (upstream.to_owned(), Arc::clone(&calls));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = UnixStream::connect(&upstream).unwrap();
                let (counted, meddle) = (Arc::clone(&counted), Arc::clone(&meddle));
                let count = move |procedure, _: &mut Vec<u8>| {
                    *counted.lock().unwrap().entry(procedure).or_default() += 1;
                    Then::Pass
                };
                let change = move |procedure, packet: &mut Vec<u8>| meddle.lock().unwrap()(procedure, packet);
                pump(
                    client.try_clone().unwrap(),
                    server.try_clone().unwrap(),
                    delay,
                    count,
                );
                pump(server, client, delay, change);
            }
        });
        Self { dir, calls }
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    /// How often each procedure was called.
    pub fn calls(&self) -> BTreeMap<u32, usize> {
        self.calls.lock().unwrap().clone()
    }
}

/// Carries packets one way, each held back for `delay` without holding back those behind it.
fn pump(
    mut from: UnixStream,
    mut to: UnixStream,
    delay: Duration,
    mut each: impl FnMut(u32, &mut Vec<u8>) -> Then + Send + 'static,
) {
    let (sender, receiver) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
    let end = (from.try_clone().unwrap(), to.try_clone().unwrap());
    thread::spawn(move || {
        let mut word = [0; 4];
        while from.read_exact(&mut word).is_ok() {
            let mut packet = vec![0; u32::from_be_bytes(word) as usize - 4];
            if from.read_exact(&mut packet).is_err() {
                break;
            }
            let number = u32::from_be_bytes(packet[8..12].try_into().unwrap());
            if matches!(each(number, &mut packet), Then::Cut) {
                break;
            }
            if sender.send((Instant::now() + delay, packet)).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (at, packet) in receiver {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            let length = u32::try_from(packet.len() + 4).unwrap().to_be_bytes();
            if to.write_all(&[&length[..], &packet].concat()).is_err() {
                break;
            }
        }
        let _ = end.0.shutdown(std::net::Shutdown::Both);
        let _ = end.1.shutdown(std::net::Shutdown::Both);
    });
}

/// Replaces bytes by as many others.
pub fn replace(packet: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let (from, to) = (from.as_bytes(), to.as_bytes());
    for at in 0..packet.len().saturating_sub(from.len()) + 1 {
        if packet[at..].starts_with(from) {
            packet[at..at + to.len()].copy_from_slice(to);
        }
    }
}
