//! A slow line: what comes in goes out a fixed time later, each way. Nothing waits for what is behind it, and nothing is limited but
//! the time. (The kernel here has no netem.)

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Listens on `at` and passes on to the socket `to`, `delay` late each way. It lasts as long as the process.
pub fn unix(at: &Path, to: &Path, delay: Duration) -> Result<()> {
    let listener = UnixListener::bind(at).with_context(|| format!("listening on {}", at.display()))?;
    let to = to.to_owned();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if let Ok(server) = UnixStream::connect(&to) {
                both(Line::Unix(client), Line::Unix(server), delay);
            }
        }
    });
    Ok(())
}

/// The same before a TCP port; gives the port that it listens on.
pub fn tcp(to: u16, delay: Duration) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listening on a port")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if let Ok(server) = TcpStream::connect(("127.0.0.1", to)) {
                drop((client.set_nodelay(true), server.set_nodelay(true)));
                both(Line::Tcp(client), Line::Tcp(server), delay);
            }
        }
    });
    Ok(port)
}

/// A server that takes connections and says nothing, ever.
pub fn mute(at: &Path) -> Result<()> {
    let listener = UnixListener::bind(at).with_context(|| format!("listening on {}", at.display()))?;
    thread::spawn(move || {
        let mut held = Vec::new();
        for client in listener.incoming() {
            held.push(client);
        }
    });
    Ok(())
}

enum Line {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Line {
    fn twin(&self) -> std::io::Result<Self> {
        Ok(match self {
            Self::Unix(line) => Self::Unix(line.try_clone()?),
            Self::Tcp(line) => Self::Tcp(line.try_clone()?),
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(line) => line.read(buffer),
            Self::Tcp(line) => line.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Unix(line) => line.write_all(bytes),
            Self::Tcp(line) => line.write_all(bytes),
        }
    }

    fn end(&self) {
        drop(match self {
            Self::Unix(line) => line.shutdown(Shutdown::Write),
            Self::Tcp(line) => line.shutdown(Shutdown::Write),
        });
    }
}

fn both(client: Line, server: Line, delay: Duration) {
    if let (Ok(from), Ok(to)) = (client.twin(), server.twin()) {
        pump(from, to, delay);
        pump(server, client, delay);
    }
}

/// One way: a thread that reads as fast as it comes, and one that writes each piece when its time is there.
fn pump(mut from: Line, mut to: Line, delay: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(count) = from.read(&mut buffer) {
            let piece = (Instant::now() + delay, buffer[..count].to_vec());
            if count == 0 || sender.send(piece).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, piece) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write(&piece).is_err() {
                break;
            }
        }
        to.end();
    });
}
