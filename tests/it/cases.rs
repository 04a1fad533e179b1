//! The stories of `tests/cases`: a world, and the whole truth about it, written by hand.
//!
//! `expect.toml` names every finding, everything in flux and everything that cannot be told; nothing else may be there.
//! To see what a story gives now: `VOLRECON_STORY=class/name cargo test --test it stories -- --nocapture`.

use super::build::load;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use volrecon::classify::{Block, Class, Finding, Holder, NotJudged, Offer, Subject, Verdicts, classify};
use volrecon::evidence::Evidence;
use volrecon::plan;
use volrecon::sight::Sight;

/// What a story expects, and what it gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Told {
    /// Said where there is nothing to tell, so that an empty file is no expectation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nothing: bool,
    /// `volume VM code`, and `stuck`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    in_flux: Vec<String>,
    /// `volume VM code`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cannot_tell: Vec<String>,
    /// `VM device-id target by`: all of them, also those that no finding is to blame for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked: Vec<String>,
    /// What an advice or a reason must say, word for word.
    #[serde(skip_serializing)]
    says: Vec<String>,
    /// What none of them may say.
    #[serde(skip_serializing)]
    never_says: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finding: Vec<ToldFinding>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldFinding {
    class: String,
    severity: String,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    confidence: String,
    subject: String,
    /// The row's id.
    #[serde(default)]
    volume: Option<u64>,
    #[serde(default)]
    others: Vec<u64>,
    /// Instance name.
    #[serde(default)]
    vm: String,
    /// `VM/device-id`.
    #[serde(default)]
    claim: String,
    /// `host/domain/target`.
    #[serde(default)]
    holders: Vec<String>,
    #[serde(default)]
    blocks: Vec<String>,
    /// The API job that is named.
    #[serde(default)]
    job: Option<u64>,
    /// `action` that may be had, `action recommended`, or `action code` of what withholds it.
    #[serde(default)]
    offers: Vec<String>,
}

/// Judges a world the whole way.
pub fn judge(world: &Evidence) -> Verdicts {
    let sight = Sight::new(world);
    let mut verdicts = classify(&sight);
    plan::offer(&sight, &mut verdicts);
    verdicts
}

/// Verdicts in the words of `expect.toml`.
pub fn tell(world: &Evidence, verdicts: &Verdicts) -> Told {
    let id_of = |uuid: &Option<String>| {
        let row = world.volumes.iter().find(|v| uuid.is_some() && v.uuid == *uuid);
        row.map_or_else(|| "-".to_owned(), |v| v.id.to_string())
    };
    let entry = |n: &NotJudged| {
        let vm = n.vm.as_deref().unwrap_or("-");
        format!("{} {vm} {}", id_of(&n.volume), n.code)
    };
    let block = |b: &Block| {
        let by = serde_json::to_value(b.by).expect("a word");
        format!(
            "{} {} {} {}",
            b.vm,
            b.device_id,
            b.target,
            by.as_str().unwrap_or_default()
        )
    };
    let finding = |f: &Finding| ToldFinding {
        class: f.class.to_string(),
        severity: f.severity.name().to_owned(),
        also: f.also.iter().map(Class::to_string).collect(),
        confidence: f.confidence.map(|c| c.word()).unwrap_or_default(),
        subject: f.subject.word(),
        volume: f.volume.as_ref().map(|v| v.id.0),
        others: f.others.iter().map(|v| v.id.0).collect(),
        vm: f.vm.as_ref().map(|vm| vm.instance.clone()).unwrap_or_default(),
        claim: f.claim.as_ref().map_or_else(String::new, |c| {
            format!(
                "{}/{}",
                c.vm,
                c.device_id.map_or_else(|| "-".to_owned(), |d| d.to_string())
            )
        }),
        holders: sorted(f.holders.iter().map(holder)),
        blocks: f.blocks.iter().map(block).collect(),
        job: f.cause.as_ref().and_then(|c| c.job).map(|j| j.0),
        offers: f.remedies.iter().map(offer).collect(),
    };
    Told {
        nothing: false,
        says: Vec::new(),
        never_says: Vec::new(),
        in_flux: sorted(verdicts.in_flux.iter().map(entry)),
        cannot_tell: sorted(verdicts.cannot_tell.iter().map(entry)),
        blocked: sorted(verdicts.blocked.iter().map(block)),
        finding: verdicts.findings.iter().map(finding).collect(),
    }
}

trait Word {
    fn word(&self) -> String;
}

impl<T: Serialize> Word for T {
    fn word(&self) -> String {
        let value = serde_json::to_value(self).expect("a word");
        value.as_str().unwrap_or_default().to_owned()
    }
}

fn holder(h: &Holder) -> String {
    let place = format!("{}/{}", h.host, h.domain);
    h.target
        .as_ref()
        .map_or(place.clone(), |target| format!("{place}/{target}"))
}

fn offer(offer: &Offer) -> String {
    let action = offer.action.word();
    match (offer.recommended, offer.code) {
        (true, None) => format!("{action} recommended"),
        (false, None) => action,
        (false, Some(code)) => format!("{action} {code}"),
        (true, Some(code)) => format!("{action} recommended and withheld by {code}"),
    }
}

fn sorted(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = all.collect();
    all.sort();
    all
}

/// The lasting name of a finding, computed from the document's own fields.
pub fn id_of(finding: &Finding) -> String {
    let mut domains: Vec<&str> = finding.holders.iter().map(|h| h.domain_uuid.as_str()).collect();
    domains.sort_unstable();
    domains.dedup();
    let domains = domains.join(",");
    let volume = finding
        .volume
        .as_ref()
        .and_then(|v| v.uuid.clone())
        .unwrap_or_default();
    let text = match (finding.class, finding.subject) {
        (Class::StragglerDetach | Class::LostAttach | Class::IncompleteDetach, _) => {
            format!("orphan|{volume}|{domains}")
        }
        (class, Subject::Vm) => {
            let vm = finding
                .vm
                .as_ref()
                .and_then(|vm| vm.uuid.clone())
                .unwrap_or_default();
            format!("{class}|{vm}")
        }
        (class, Subject::Disk) => {
            let source = finding
                .holders
                .first()
                .and_then(|h| h.source.clone())
                .unwrap_or_default();
            format!("{class}|{domains}|{source}")
        }
        (class, Subject::Volume | Subject::Job) => {
            let claim = finding
                .claim
                .as_ref()
                .and_then(|c| c.vm_uuid.clone())
                .unwrap_or_default();
            format!("{class}|{volume}|{claim}|{domains}")
        }
    };
    let hash = Sha256::digest(text.as_bytes());
    format!("vr-{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(path).expect("a folder of stories");
    let mut all: Vec<PathBuf> = all.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    all
}

/// Every advice, every reason of what is withheld or could not be judged.
fn words(verdicts: &Verdicts) -> Vec<String> {
    let of_finding = |f: &Finding| {
        let withheld = f.remedies.iter().filter_map(|o| o.withheld.clone());
        withheld.chain([f.advice.clone()]).collect::<Vec<_>>()
    };
    let not_judged = verdicts.in_flux.iter().chain(&verdicts.cannot_tell);
    let why = not_judged.map(|n| n.why.clone());
    verdicts.findings.iter().flat_map(of_finding).chain(why).collect()
}

fn run(story: &Path) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(story.join(name)).map_err(|e| format!("{name}: {e}"));
    let mut expected: Told = toml::from_str(&read("expect.toml")?).map_err(|e| e.to_string())?;
    let says = std::mem::take(&mut expected.says);
    let never_says = std::mem::take(&mut expected.never_says);
    if expected.nothing
        != (expected
            == Told {
                nothing: expected.nothing,
                ..Told::default()
            })
    {
        return Err(
            "expect.toml asserts nothing; if nothing is to be told, it says nothing = true".to_owned(),
        );
    }
    expected.nothing = false;
    let world = load(&read("world.toml")?);
    let verdicts = judge(&world);
    let mut out = String::new();
    for finding in verdicts.findings.iter().filter(|f| f.id != id_of(f)) {
        let _ = writeln!(
            out,
            "{} has id {}, which should be {}",
            finding.class,
            finding.id,
            id_of(finding)
        );
    }
    let words = words(&verdicts);
    let said = |text: &&String| words.iter().any(|word| word.contains(text.as_str()));
    for text in says.iter().filter(|text| !said(text)) {
        let _ = writeln!(out, "nothing says {text:?}, of\n{}", words.join("\n"));
    }
    for text in never_says.iter().filter(said) {
        let _ = writeln!(out, "something says {text:?}, of\n{}", words.join("\n"));
    }
    let told = tell(&world, &verdicts);
    if told != expected {
        let text = |t: &Told| toml::to_string(t).expect("text");
        let _ = write!(out, "expected:\n{}\ntold:\n{}", text(&expected), text(&told));
    }
    if out.is_empty() { Ok(()) } else { Err(out) }
}

#[test]
fn stories() {
    let only = std::env::var("VOLRECON_STORY").ok();
    let mut wrong = String::new();
    let mut count = 0;
    for story in folders(&root()).iter().flat_map(|class| folders(class)) {
        let name = story
            .strip_prefix(root())
            .expect("below it")
            .display()
            .to_string();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        count += 1;
        match run(&story) {
            Ok(()) => println!("ok    {name}"),
            Err(why) => {
                println!("WRONG {name}");
                let _ = write!(wrong, "\n=== {name} ===\n{why}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 0, "no story was told");
}

#[test]
fn kubernetes_is_told_in_two_sentences_and_one_line() {
    let mut told = std::collections::BTreeSet::new();
    for story in folders(&root()).iter().flat_map(|class| folders(class)) {
        let world = load(&fs::read_to_string(story.join("world.toml")).expect("a world"));
        for finding in judge(&world).findings {
            let Some((_, kubernetes)) = finding.advice.split_once("Kubernetes: ") else {
                assert!(!finding.advice.contains("kubectl"), "{}", finding.advice);
                continue;
            };
            told.insert(finding.class);
            let (words, line) = kubernetes.split_once("`kubectl ").expect("a line to look with");
            assert!(words.matches(". ").count() <= 2, "{kubernetes}");
            assert!(line.ends_with('`') && !line.contains("`kubectl"), "{kubernetes}");
            let uuid = finding.volume.expect("a volume").uuid.expect("a uuid");
            assert!(
                line.starts_with("get pv,volumeattachment ") && line.contains(&uuid),
                "{line}"
            );
        }
    }
    assert!(told.len() >= 6, "{told:?}");
}

#[test]
fn every_class_has_a_story_that_yields_it() {
    for class in Class::ALL {
        let stories = folders(&root().join(class.name()));
        let yields = |story: &PathBuf| {
            let text = fs::read_to_string(story.join("expect.toml")).unwrap_or_default();
            let told: Told = toml::from_str(&text).unwrap_or_default();
            told.finding.iter().any(|f| f.class == class.name())
        };
        assert!(stories.iter().any(yields), "no story yields {class}");
    }
}
