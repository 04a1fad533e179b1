//! Records age out: jobs within a day, events after months, logs as they rotate. What may be done must not depend on it.

use super::cases::judge;
use super::properties::grows_not;
use super::properties::worlds::world;
use proptest::prelude::*;
use std::collections::BTreeMap;
use volrecon::classify::{Action, Remedy, Verdicts};
use volrecon::evidence::Evidence;
use volrecon::model::*;

/// What may be done about every orphan, by its finding.
type Told = (u8, bool, u8, i64, u64, u64);
type Offers = BTreeMap<String, Vec<(Remedy, Action, bool, bool, Option<&'static str>)>>;

fn offers(verdicts: &Verdicts) -> Offers {
    let orphans = verdicts.findings.iter().filter(|f| f.class.is_orphan());
    orphans
        .map(|f| {
            let all = f.remedies.iter();
            let told = all.map(|o| (o.remedy, o.action, o.recommended, o.withheld.is_some(), o.code));
            (f.id.clone(), told.collect())
        })
        .collect()
}

/// Jobs whose threads may still act hold repairs back, and do so for as long as they are kept.
fn is_over(job: &Job) -> bool {
    job.state != JobState::Pending && !job.cancelled_blocking
}

/// Rows say when they were attached, as CloudStack writes it with every attach.
fn attached(world: &mut Evidence) {
    for row in world.volumes.iter_mut().filter(|v| v.instance.is_some()) {
        let mine = |job: &&Job| {
            job.volume == Some(row.id)
                && job.vm == row.instance
                && job.work == Work::Attach
                && job.state == JobState::Succeeded
        };
        row.attached = world
            .jobs
            .iter()
            .filter(mine)
            .filter_map(|job| job.completed)
            .max();
    }
}

/// Events, usage and lines of logs about every volume, in any order and of any VM.
fn records() -> impl Strategy<Value = Vec<Told>> {
    proptest::collection::vec(
        (0u8..3, any::<bool>(), 0u8..6, 0i64..7200, 1u64..8, 1u64..5),
        0..14,
    )
}

fn tell(world: &mut Evidence, told: &[Told]) {
    let begin: jiff::Timestamp = "2026-09-08T10:00:00Z".parse().expect("a time");
    let mut moments = Vec::new();
    for (at, (witness, attach, step, seconds, volume, vm)) in told.iter().enumerate() {
        let work = if *attach { Work::Attach } else { Work::Detach };
        let time = begin + jiff::SignedDuration::from_secs(*seconds);
        let row = world.volumes.iter().find(|v| v.id == VolumeId(*volume));
        let Some(uuid) = row.and_then(|v| v.uuid.clone()) else {
            continue;
        };
        let of_vm = world
            .vms
            .iter()
            .find(|v| v.id == VmId(*vm))
            .and_then(|v| v.uuid.clone());
        if *witness == 2 {
            moments.push(LogMoment {
                time,
                ambiguous: false,
                out_of_order: false,
                witness: LogWitness::Agent("kvm1".to_owned()),
                server: "agent.log".to_owned(),
                record: at as u64,
                log_id: Some(format!("{:08x}", step)),
                job: None,
                work_job: None,
                vm: Some(VmTold {
                    uuid: of_vm,
                    ..VmTold::default()
                }),
                volume: Some(uuid),
                target: None,
                kind: if *attach {
                    LogKind::AttachAsked
                } else {
                    LogKind::NotFoundSetDetached
                },
                text: String::new(),
            });
            continue;
        }
        let entry = world.records.entry(VolumeId(*volume)).or_default();
        entry.all.push(Record {
            source: if *witness == 0 {
                RecordSource::Event
            } else {
                RecordSource::Usage
            },
            id: at as u64,
            time,
            work,
            step: match (witness, step) {
                (1, _) | (0, 0 | 1) => Step::Succeeded,
                (0, 2) => Step::Failed,
                (0, 3) => Step::Started,
                _ => Step::Scheduled,
            },
            start: (*witness == 0).then_some(u64::from(*step) / 2),
            job: None,
            vm_uuid: of_vm.filter(|_| *attach),
        });
    }
    moments.sort();
    world.logs = Some(Logs {
        moments,
        missing: Vec::new(),
    });
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_repair_of_an_orphan_depends_on_what_is_still_on_record(
        world in world(), kept in any::<u64>(), told in records(), left in any::<u16>()
    ) {
        let mut whole = world;
        attached(&mut whole);
        let mut aged = whole.clone();
        tell(&mut whole, &told);
        let left: Vec<_> = told.iter().enumerate().filter(|(at, _)| left >> at & 1 == 1).map(|(_, one)| *one).collect();
        tell(&mut aged, &left);
        let mut at = 0;
        aged.jobs.retain(|job| {
            at += 1;
            !is_over(job) || kept >> (at % 64) & 1 == 1
        });
        prop_assert_eq!(offers(&judge(&whole)), offers(&judge(&aged)));
        grows_not(&whole, &aged)?;
    }
}
