//! `volrecon explain`: one volume, one finding, or a class.

use super::account::{Asked, explain, find};
use super::{Want, judge, live, logs, options};
use crate::classify::{Class, Verdicts, classify, stories};
use crate::cli::{self, Cli};
use crate::config::{Config, Sources};
use crate::evidence::{self, Evidence};
use crate::exit::Exit;
use crate::gather::{ScopeError, ScopeWords};
use crate::model::{Volume, VolumeId};
use crate::render::{self, ExplainDocument, Terminals, message};
use crate::sight::Sight;
use anyhow::Context;
use std::time::Duration;

/// As `scan --stuck-after` has it, unless told.
const STUCK_AFTER: Duration = Duration::from_secs(3600);

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExplainError {
    #[error("there is no finding {id} in what was seen")]
    NoFinding {
        /// As typed.
        id: String,
        /// Findings that are there: those much like it, else the first.
        near: Vec<String>,
        /// Whether they are much like it.
        alike: bool,
    },
}

impl ExplainError {
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::NoFinding { near, .. } if near.is_empty() => {
                Some("nothing is found now: it may have been repaired".to_owned())
            }
            Self::NoFinding {
                near, alike: true, ..
            } => Some(format!("did you mean {}?", near.join(", "))),
            Self::NoFinding { near, .. } => Some(format!(
                "it may have been repaired; what is found now: {}",
                near.join(", ")
            )),
        }
    }
}

/// `volrecon explain`.
pub(super) fn run(cli: &Cli, args: &cli::Explain, terminals: &Terminals) -> anyhow::Result<Exit> {
    if let Some(class) = args.class {
        return of_class(cli, class, terminals);
    }
    let word = args.subject.as_deref().unwrap_or_default();
    let document = match &args.evidence {
        Some(file) => {
            let mut evidence = evidence::load(file)?;
            warn(cli, &[], &evidence, terminals);
            let asked = match finding_id(word) {
                Some(id) => Asked::Finding(id),
                None => Asked::Volume(volume_in(&evidence, word)?),
            };
            if let Some(id) = volume_of(&evidence, &asked) {
                logs::read(&mut evidence, id, &args.logs)?;
            }
            made(&evidence, &asked, word)?
        }
        None => now(cli, args, word, terminals)?,
    };
    let mut out = std::io::stdout().lock();
    let written = render::write_explain(&document, cli.global.output, &options(cli, terminals), &mut out);
    render::after_writing(written, Exit::Consistent).context("cannot write the results to stdout")
}

/// Looks: at all that could have the volume, or, for a finding, at everything.
fn now(cli: &Cli, args: &cli::Explain, word: &str, terminals: &Terminals) -> anyhow::Result<ExplainDocument> {
    let mut config = Config::load(&Sources::from_process(cli.global.config.clone()))?;
    let finding = finding_id(word);
    let volumes = if finding.is_some() {
        Vec::new()
    } else {
        vec![word.to_owned()]
    };
    let want = Want {
        words: ScopeWords {
            volumes,
            ..ScopeWords::default()
        },
        settle: None,
        stuck_after: STUCK_AFTER,
    };
    let (mut evidence, mut reader) = live(cli, &want, &mut config, terminals)?;
    warn(cli, &config.warnings, &evidence, terminals);
    let asked = match (finding, evidence.scope.volumes.first()) {
        (Some(id), _) => Asked::Finding(id),
        (None, Some(id)) => Asked::Volume(*id),
        (None, None) => Asked::Finding(word.to_owned()),
    };
    if let Some(id) = volume_of(&evidence, &asked) {
        if !evidence.records.contains_key(&id)
            && let Some(volume) = evidence.volumes.iter().find(|v| v.id == id)
        {
            let more = reader.records(&[volume])?;
            evidence.records.extend(more);
        }
        logs::read(&mut evidence, id, &args.logs)?;
    }
    made(&evidence, &asked, word)
}

/// The volume that is asked about: its history is worth reading.
fn volume_of(evidence: &Evidence, asked: &Asked) -> Option<VolumeId> {
    match asked {
        Asked::Volume(id) => Some(*id),
        Asked::Finding(id) => {
            let verdicts = classify(&Sight::new(evidence));
            Some(find(&verdicts, id)?.volume.as_ref()?.id)
        }
    }
}

fn made(evidence: &Evidence, asked: &Asked, word: &str) -> anyhow::Result<ExplainDocument> {
    let sight = Sight::new(evidence);
    let verdicts = judge(&sight);
    explain(&sight, &verdicts, asked, word).ok_or_else(|| no_finding(&verdicts, word).into())
}

fn no_finding(verdicts: &Verdicts, id: &str) -> ExplainError {
    let all: Vec<String> = verdicts.findings.iter().map(|f| f.id.clone()).collect();
    let mut near = all.clone();
    near.retain(|other| strsim::levenshtein(other, id) <= 2);
    let alike = !near.is_empty();
    ExplainError::NoFinding {
        id: id.to_owned(),
        near: if alike {
            near
        } else {
            all.into_iter().take(5).collect()
        },
        alike,
    }
}

/// `vr-` and eight hex digits.
fn finding_id(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let hex = word.strip_prefix("vr-")?;
    (hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit())).then_some(word)
}

/// A volume of a file, as a live look would find it: by uuid, or by the name or path of a live row.
fn volume_in(evidence: &Evidence, word: &str) -> Result<VolumeId, ScopeError> {
    let is = |text: &Option<String>| {
        text.as_deref()
            .is_some_and(|text| text.eq_ignore_ascii_case(word))
    };
    let named = |v: &&Volume| is(&v.uuid) || (v.removed.is_none() && (is(&v.name) || is(&v.path)));
    let mut found: Vec<&Volume> = evidence.volumes.iter().filter(named).collect();
    if found.iter().filter(|v| is(&v.uuid)).count() == 1 {
        found.retain(|v| is(&v.uuid));
    }
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => {
            let names = evidence.volumes.iter().filter_map(|v| v.name.clone());
            let near = names.filter(|name| strsim::jaro_winkler(name, word) > 0.8);
            Err(ScopeError::Unknown {
                kind: "volume",
                word: word.to_owned(),
                near: near.take(5).collect(),
            })
        }
        many => {
            let text = |v: &&Volume| format!("{} ({})", v.uuid.as_deref().unwrap_or("without uuid"), v.state);
            Err(ScopeError::Ambiguous {
                kind: "volume",
                word: word.to_owned(),
                count: many.len(),
                candidates: many.iter().take(10).map(text).collect(),
            })
        }
    }
}

fn warn(cli: &Cli, config: &[String], evidence: &Evidence, terminals: &Terminals) {
    if cli.global.quiet {
        return;
    }
    for warning in config.iter().chain(&evidence.warnings) {
        let _ = message::write_warning(warning, terminals.stderr_color, &mut std::io::stderr());
    }
}

/// `--class`.
fn of_class(cli: &Cli, class: Class, terminals: &Terminals) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    let stories = stories();
    let story = stories
        .iter()
        .find(|story| story.class == class)
        .context("the class has no story")?;
    let options = options(cli, terminals);
    let written = render::write_story(story, cli.global.output, &options, &mut out);
    render::after_writing(written, Exit::Consistent).context("cannot write to stdout")
}
