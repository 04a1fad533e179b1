//! The pool itself, with readers that behave as no daemon can be made to.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn asks(count: u64) -> Vec<Ask> {
    let ask = |n| Ask {
        id: HostId(n),
        name: format!("kvm{n}"),
        uri: format!("test:///{n}"),
    };
    (1..=count).map(ask).collect()
}

fn settings(parallel: usize, millis: u64) -> LibvirtSettings {
    LibvirtSettings {
        uri: String::new(),
        hosts: BTreeMap::new(),
        skip: Vec::new(),
        parallel,
        host_timeout: Duration::from_millis(millis),
    }
}

fn run(
    count: u64,
    settings: &LibvirtSettings,
    read: impl Fn(&Ask, &Notebook) + Send + Sync + 'static,
) -> BTreeMap<HostId, Look> {
    let seen = fan_out(asks(count), settings, None, &Arc::new(read), &mut |_| {});
    seen.into_iter().map(|(id, (look, _))| (id, look)).collect()
}

fn reason(look: &Look) -> &str {
    match &look.status {
        Status::Unseen { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reader_that_panics_is_a_gap_and_the_others_are_seen() {
    let looks = run(5, &settings(2, 5000), |ask, notes| {
        assert_ne!(ask.id, HostId(3), "unable to drop reference on connection");
        notes.open().end = Some(Ok(()));
    });
    assert!(reason(&looks[&HostId(3)]).contains("unable to drop reference on connection"));
    assert_eq!(looks.values().filter(|l| l.is_seen()).count(), 4);
}

#[test]
fn a_reader_that_panics_with_the_notes_open_loses_nothing() {
    let looks = run(1, &settings(1, 5000), |_, notes| {
        let mut open = notes.open();
        open.unreadable.push(crate::evidence::Unreadable {
            name: "a".to_owned(),
            uuid: None,
            reason: "b".to_owned(),
        });
        panic!("in the middle of it");
    });
    assert!(reason(&looks[&HostId(1)]).contains("in the middle of it"));
    assert_eq!(looks[&HostId(1)].unreadable.len(), 1);
}

#[test]
fn a_reader_without_an_end_is_a_gap() {
    let looks = run(1, &settings(1, 5000), |_, _| {});
    assert_eq!(reason(&looks[&HostId(1)]), "the look ended without a word");
}

#[test]
fn a_connection_that_hangs_while_it_closes_costs_no_sight() {
    let looks = run(1, &settings(1, 200), |_, notes| {
        notes.open().end = Some(Ok(()));
        thread::sleep(Duration::from_secs(60));
    });
    assert!(looks[&HostId(1)].is_seen());
}

#[test]
fn no_more_at_a_time_than_places() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    run(20, &settings(3, 5000), |_, notes| {
        MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(10));
        NOW.fetch_sub(1, Ordering::SeqCst);
        notes.open().end = Some(Ok(()));
    });
    assert_eq!(MOST.load(Ordering::SeqCst), 3);
}

#[test]
fn no_places_means_one_and_a_boundless_timeout_means_none() {
    let mut settings = settings(0, 0);
    settings.host_timeout = Duration::MAX;
    let looks = run(3, &settings, |_, notes| notes.open().end = Some(Ok(())));
    assert!(looks.values().all(Look::is_seen));
}

#[test]
fn an_answer_that_comes_late_changes_nothing() {
    let looks = run(6, &settings(1, 100), |ask, notes| {
        if ask.id == HostId(1) {
            thread::sleep(Duration::from_millis(180));
        } else {
            thread::sleep(Duration::from_millis(40));
        }
        notes.open().end = Some(Ok(()));
    });
    assert!(reason(&looks[&HostId(1)]).contains("no end within 100ms"));
    assert_eq!(looks.values().filter(|l| l.is_seen()).count(), 5);
}
