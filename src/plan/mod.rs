//! Plan: which remedies a finding has, which guard holds one back, and what to advise.
//!
//! *Comes in*: sight and findings. *Goes out*: findings with their offers and their advice. *Never*: changes anything, asks
//! a guest or a monitor, or reads a clock. What only a guest can show (whether it uses a disk) is unknown here, so a
//! detach is never recommended.

mod advice;
mod elsewhere;
mod guard;
mod offer;

use crate::classify::{History, Verdicts};
use crate::sight::Sight;

/// Fills in what may be done about each finding, and says it in words.
pub fn offer(sight: &Sight<'_>, verdicts: &mut Verdicts) {
    let history = History::new(sight);
    let findings = offer::Findings::new(sight, &verdicts.findings);
    let elsewhere = elsewhere::Elsewhere::new(sight);
    for finding in &mut verdicts.findings {
        finding.remedies = offer::offers(sight, &history, &verdicts.troubled, &findings, finding);
        finding.advice = advice::advise(finding, &elsewhere.of(finding));
    }
}
