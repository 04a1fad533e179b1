//! Who cleared an orphan's attachment: from job tables, events and logs, without guessing.
//!
//! An ordinary detach also completes after its attach: order alone proves nothing. What tells the three classes apart is
//! the VM that the clearing work job was meant for, against the VM that holds the disk. Where that VM is not on record,
//! when the detach was *asked for* tells it: CloudStack takes the VM from the row as it is then
//! (`VolumeApiServiceImpl.detachVolumeFromVM`), so that one asked for before the attach was another VM's.

use super::act::{Act, acts};
use super::class::Class;
use super::court::Court;
use super::finding::{Cause, Confidence, Moment};
use super::history::History;
use super::line::{Line, lines};
use super::tell;
use crate::model::{VmId, Volume};
use crate::sight::Sight;

/// What is known of an orphan's making.
pub struct Orphan {
    /// One of the three.
    pub class: Class,
    /// How sure.
    pub confidence: Confidence,
    /// Who, and when.
    pub cause: Cause,
}

/// Tells the three orphan classes apart for a volume that no row claims and `holder` holds.
#[must_use]
pub fn orphan(sight: &Sight<'_>, history: &History<'_>, volume: &Volume, holder: VmId) -> Orphan {
    let told = lines(sight, history, volume);
    let acts = acts(&told.all);
    let court = Court {
        sight,
        volume,
        holder,
        name: tell::instance(sight, holder),
        uuid: sight.vm(holder).and_then(|vm| vm.uuid.as_deref()),
        acts: &acts,
        lines: &told,
    };
    let verdict = court.judge();
    Orphan {
        class: verdict.class,
        confidence: verdict.confidence,
        cause: Cause {
            job: verdict.act.and_then(|act| act.job.or(act.work_job)),
            work_job: verdict.act.and_then(|act| act.work_job),
            summary: verdict.summary,
            timeline: told.all.iter().map(moment).collect(),
            at: verdict.act.and_then(Act::at),
        },
    }
}

fn moment(line: &Line) -> Moment {
    Moment {
        time: line.time,
        source: line.source.to_owned(),
        job: line.job,
        vm: line.vm.clone(),
        what: line.what.clone(),
    }
}
