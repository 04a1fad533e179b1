//! The house: which room may import which, who may make a proof of absence, and what every room says at its door.

use std::fs;
use std::path::{Path, PathBuf};

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// The room of a file: the first part below `src`.
fn room(path: &Path) -> String {
    let below = path.strip_prefix(src()).expect("below src");
    let first = below.iter().next().expect("a part").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// What a room may import: the table in `src/lib.rs`. None: it is not in the table.
fn allowed(room: &str) -> Option<&'static [&'static str]> {
    Some(match room {
        "model" => &["model"],
        "evidence" => &["evidence", "model"],
        "gather" => &["gather", "evidence", "model"],
        "sight" => &["sight", "evidence", "model"],
        "classify" => &["classify", "sight", "evidence", "model"],
        "plan" => &["plan", "classify", "sight", "evidence", "model"],
        "render" => &["render", "plan", "classify", "sight", "evidence", "model", "exit"],
        "exit" => &["exit"],
        "cli" => &["cli", "classify", "exit", "render"],
        "config" => &["config", "gather", "cli"],
        "run" | "main" | "lib" => &[
            "run", "cli", "config", "exit", "render", "plan", "classify", "sight", "gather", "evidence",
            "model",
        ],
        _ => return None,
    })
}

/// Every room that a file names as `crate::room`, in code and in comments that link.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|l| !l.trim_start().starts_with("//"))
        .map(|l| format!("{l}\n"))
        .collect();
    let mut out = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let group = rest.strip_prefix('{');
        let names: Vec<&str> = match group {
            Some(group) => group.split('}').next().unwrap_or_default().split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let word: String = name
                .trim()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            out.push(word);
        }
    }
    out.retain(|w| !w.is_empty());
    out
}

#[test]
fn doors_open_one_way() {
    let mut wrong = Vec::new();
    for path in files(&src()) {
        let text = fs::read_to_string(&path).expect("a file");
        let name = room(&path);
        let Some(allowed) = allowed(&name) else {
            wrong.push(format!("{}: room {name} is not in the table", path.display()));
            continue;
        };
        for import in imports(&text) {
            let known = self::allowed(&import).is_some();
            if known && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{} imports {import}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_read_as_they_are_written() {
    let text = "use crate::model::{Vm, Volume};\n// crate::gather\nuse crate::{evidence, sight::Sight};\nlet x = crate::plan::offer;";
    assert_eq!(imports(text), ["model", "evidence", "sight", "plan"]);
}

#[test]
fn only_sight_makes_the_proof_of_absence() {
    for path in files(&src()).iter().filter(|p| !p.ends_with("sight/absence.rs")) {
        let text = fs::read_to_string(path).expect("a file");
        assert!(
            !text.contains("Absence("),
            "{} makes a proof of absence",
            path.display()
        );
    }
    let own = fs::read_to_string(src().join("sight/absence.rs")).expect("the file");
    assert!(own.contains("pub struct Absence(());"), "its field is private");
    assert!(
        !own.contains("derive(Clone")
            || !own.contains("#[derive(Clone, Debug, PartialEq, Eq)]\npub struct Absence")
    );
}

#[test]
fn the_pure_rooms_neither_read_nor_ask_the_time() {
    for path in files(&src()) {
        if !matches!(room(&path).as_str(), "sight" | "classify" | "plan" | "model") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        for word in [
            "std::fs",
            "std::net",
            "std::process",
            "std::env",
            "std::time",
            "Timestamp::now",
            "println!",
            "eprintln!",
        ] {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
}

#[test]
fn every_room_says_at_its_door_what_comes_in_and_what_goes_out() {
    for entry in fs::read_dir(src())
        .expect("src")
        .map(|e| e.expect("an entry").path())
    {
        let door = entry.join("mod.rs");
        if entry.is_dir() && door.exists() {
            let text = fs::read_to_string(&door).expect("a door");
            let head: String = text.lines().take_while(|l| l.starts_with("//!")).collect();
            for word in ["Comes in", "Goes out", "Never"] {
                assert!(head.contains(word), "{} does not say: {word}", door.display());
            }
        }
    }
}

#[test]
fn the_pure_rooms_files_are_short() {
    for path in files(&src()) {
        if matches!(room(&path).as_str(), "sight" | "classify" | "plan") {
            let lines = fs::read_to_string(&path).expect("a file").lines().count();
            assert!(lines <= 480, "{} has {lines} lines", path.display());
        }
    }
}
