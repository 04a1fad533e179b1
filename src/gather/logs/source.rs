//! Where a log comes from: a file, plain or gzip by its first bytes, standard input, or any reader.

use super::LogError;
use super::line::{Civil, civil};
use super::record::{Each, Records, Seen};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What other packers write first, and how to unpack it.
const PACKED: [(&[u8], &str); 4] = [
    (b"\x28\xb5\x2f\xfd", "zstd -dc"),
    (b"\xfd7zXZ\x00", "xz -dc"),
    (b"BZh", "bzip2 -dc"),
    (b"PK\x03\x04", "unzip -p"),
];

/// As much of a file tells when it begins.
const PEEK: u64 = 64 << 10;

/// One log.
pub struct Source {
    name: String,
    from: From,
}

enum From {
    Path(PathBuf),
    /// Can be read once.
    Once(Mutex<Option<Box<dyn Read + Send>>>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// A file, a named pipe, or standard input for `-`.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        if path.as_os_str() == "-" {
            return Self::reader("standard input", io::stdin());
        }
        Self {
            name: path.display().to_string(),
            from: From::Path(path),
        }
    }

    /// Anything that gives bytes, once.
    #[must_use]
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            from: From::Once(Mutex::new(Some(Box::new(reader)))),
        }
    }

    /// How it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can be read from the beginning again: a regular file.
    #[must_use]
    pub fn again(&self) -> bool {
        self.regular().is_some()
    }

    /// What tells a regular file from all others: two names may lead to one.
    pub(super) fn regular(&self) -> Option<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        let From::Path(path) = &self.from else { return None };
        let meta = std::fs::metadata(path).ok()?;
        meta.is_file().then(|| (meta.dev(), meta.ino()))
    }

    /// Opens it. A reader that was read before is empty.
    pub(super) fn open(&self) -> Result<Opened, LogError> {
        let raw: Box<dyn Read + Send> = match &self.from {
            From::Path(path) => Box::new(self.file(path)?),
            From::Once(reader) => reader
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .take()
                .unwrap_or_else(|| Box::new(io::empty())),
        };
        self.unpacked(raw)
    }

    fn file(&self, path: &Path) -> Result<File, LogError> {
        let open = || {
            let file = File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            Ok(file)
        };
        open().map_err(|source| LogError::Open {
            name: self.name.clone(),
            source,
        })
    }

    fn unpacked(&self, mut raw: Box<dyn Read + Send>) -> Result<Opened, LogError> {
        let mut magic = [0; 6];
        let mut got = 0;
        while got < magic.len() {
            match raw.read(&mut magic[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(LogError::Read {
                        name: self.name.clone(),
                        source,
                    });
                }
            }
        }
        let magic = &magic[..got];
        if let Some((_, with)) = PACKED.iter().find(|(first, _)| magic.starts_with(first)) {
            return Err(LogError::Packed {
                name: self.name.clone(),
                with,
            });
        }
        let whole = Cursor::new(magic.to_vec()).chain(raw);
        Ok(if magic.starts_with(&[0x1f, 0x8b]) {
            Opened::Gzip(Box::new(MultiGzDecoder::new(whole)))
        } else {
            Opened::Plain(whole)
        })
    }

    /// The time of the first record that is near the beginning.
    pub(super) fn begins(&self) -> Result<Option<Civil>, LogError> {
        let mut first = Vec::new();
        // What is damaged is told when it is read.
        let _ = self.open()?.take(PEEK).read_to_end(&mut first);
        Ok(first.split(|b| *b == b'\n').find_map(|line| Some(civil(line)?.0)))
    }

    /// Reads it through, a record at a time.
    pub(super) fn each(&self, seen: &mut Seen, each: &mut Each<'_>) -> Result<(), LogError> {
        let mut opened = self.open()?;
        let Err(source) = Records::default().read(&mut opened, seen, each) else {
            return Ok(());
        };
        if let Opened::Gzip(_) = opened {
            // What came before is as good as ever.
            seen.broken = Some(match source.kind() {
                io::ErrorKind::UnexpectedEof => "ends in the middle of its compressed data".to_owned(),
                _ => format!("its compressed data is damaged: {source}"),
            });
            return Ok(());
        }
        Err(LogError::Read {
            name: self.name.clone(),
            source,
        })
    }
}

type Whole = Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// An open log.
pub(super) enum Opened {
    Plain(Whole),
    Gzip(Box<MultiGzDecoder<Whole>>),
}

impl Read for Opened {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(from) => from.read(buf),
            Self::Gzip(from) => from.read(buf),
        }
    }
}
