//! Times and ratios, in words.

use std::time::Duration;

/// How far the rounds lie apart: the ratio of each round, and its quartiles.
pub fn spread(what: &str, ours: &[Duration], bare: &[Duration]) -> String {
    let mut ratios: Vec<f64> = ours.iter().zip(bare).map(|(a, b)| ratio(*a, *b)).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios.get((ratios.len() - 1) * part / 4).copied().unwrap_or(0.0);
    format!(
        "{what}: round by round, volrecon took {:.2} to {:.2} of the bare reader's time (quartiles; median {:.2}).",
        at(1),
        at(3),
        at(2)
    )
}

pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

pub fn show(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub fn mebibytes(kibibytes: u64) -> f64 {
    kibibytes as f64 / 1024.0
}
