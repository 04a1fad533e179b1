//! Files that are checked in and compared; `BLESS=1 cargo test` rewrites them.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A path below the repository.
pub fn repo(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a file below the repository with what it should hold.
#[track_caller]
pub fn check(path: &str, actual: &str) {
    let file = repo(path);
    if std::env::var_os("BLESS").is_some() {
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).unwrap();
        }
        std::fs::write(&file, actual).unwrap();
        return;
    }
    let wanted = std::fs::read_to_string(&file).unwrap_or_default();
    if wanted == actual {
        return;
    }
    let wanted: Vec<&str> = wanted.lines().collect();
    let actual: Vec<&str> = actual.lines().collect();
    let at = wanted.iter().zip(&actual).take_while(|(a, b)| a == b).count();
    panic!(
        "{path} is not current from line {} on (BLESS=1 cargo test rewrites it)\n  file: {:?}\n  now:  {:?}",
        at + 1,
        wanted.get(at).unwrap_or(&"(end)"),
        actual.get(at).unwrap_or(&"(end)"),
    );
}

/// No file of a directory is left that nothing compares.
#[track_caller]
pub fn no_orphans(dir: &str, compared: &BTreeSet<String>) {
    let found: BTreeSet<String> = std::fs::read_dir(repo(dir))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let orphans: Vec<_> = found.difference(compared).collect();
    assert!(orphans.is_empty(), "nothing compares {orphans:?} in {dir}");
}
