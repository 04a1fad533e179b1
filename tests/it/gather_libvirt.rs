//! The libvirt side of `gather`, on libvirt's test driver, on real daemons, and on what merely pretends to be one.

mod daemon;
mod relay;
mod trouble;
mod uris;

use daemon::{Crowd, Daemon, domain_xml, name, uuid};
use relay::{Relay, Then, procedure, replace};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use volrecon::evidence::{Look, Status};
use volrecon::gather::fanout::{LibvirtSettings, Progress, Step, look};
use volrecon::model::{Bus, Device, Host, HostId, RunState, SourceKind, ZoneId};

/// A row of `host`.
pub fn row(id: u64, name: &str) -> Host {
    Host {
        id: HostId(id),
        uuid: Some(format!("{id:08x}-1111-4222-8333-444455556666")),
        name: name.to_owned(),
        ip: format!("10.1.{}.{}", id / 250, id % 250),
        zone: ZoneId(1),
        cluster: None,
        status: "Up".to_owned(),
        resource_state: "Enabled".to_owned(),
        removed: None,
    }
}

/// Settings by host name, with 10 seconds for each.
pub fn settings<N: Into<String>, U: Into<String>>(
    hosts: impl IntoIterator<Item = (N, U)>,
) -> LibvirtSettings {
    LibvirtSettings {
        uri: "qemu+tcp://{ip}/system".to_owned(),
        hosts: hosts.into_iter().map(|(n, u)| (n.into(), u.into())).collect(),
        skip: Vec::new(),
        parallel: 32,
        host_timeout: Duration::from_secs(10),
    }
}

/// Looks at hosts without an end of the run.
pub fn look_at(hosts: &[Host], settings: &LibvirtSettings) -> BTreeMap<HostId, Look> {
    look(&hosts.iter().collect::<Vec<_>>(), settings, None, &mut |_| {})
}

/// Looks at one host `kvm1` by its URI.
pub fn look_by(uri: &str) -> Look {
    look_at(&[row(1, "kvm1")], &settings([("kvm1", uri)]))
        .remove(&HostId(1))
        .unwrap()
}

/// Why a look is not whole.
#[track_caller]
pub fn reason(look: &Look) -> &str {
    match &look.status {
        Status::Unseen { reason, .. } | Status::NotAsked { reason, .. } => reason,
        Status::Seen => panic!("seen: {look:?}"),
    }
}

fn through(relay: &Relay) -> String {
    daemon::uri("test", "default", &relay.socket())
}

#[test]
fn a_node_of_the_test_driver_is_read_whole_and_by_name() {
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("node.xml");
    let domains: String = [2, 0, 1].into_iter().map(|n| domain_xml(n, 2)).collect();
    std::fs::write(&file, format!("<node>{domains}</node>")).unwrap();
    let seen = look_by(&format!("test://{}", file.display()));
    assert_eq!(
        seen.status,
        Status::Seen,
        "the test driver is not asked for its host name"
    );
    let names: Vec<&str> = seen.domains.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, [name(0), name(1), name(2)]);
    let domain = &seen.domains[1];
    assert_eq!(
        (domain.uuid.as_str(), domain.state),
        (uuid(1).as_str(), RunState::Running)
    );
    let disk = &domain.disks[1];
    assert_eq!(
        (disk.device, disk.bus, disk.target.as_str()),
        (Device::Disk, Bus::Virtio, "vdb")
    );
    let source = disk.source.as_ref().unwrap();
    assert_eq!(source.kind, SourceKind::File);
    assert!(
        source.name.ends_with("/00000001-0000-4000-8000-000000000001"),
        "{source:?}"
    );
    assert_eq!(disk.serial.as_deref(), Some("00000001000040008001"));
}

#[test]
fn no_more_calls_than_the_list_and_one_for_each_domain() {
    let daemon = Daemon::start("kvm1");
    let crowd = Crowd::gather(&daemon, 20, 2);
    crowd.domain(3).suspend().unwrap();
    crowd.define(&domain_xml(5, 1));
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, |_, _| Then::Pass);
    let seen = look_by(&through(&relay));
    assert_eq!((&seen.status, seen.domains.len()), (&Status::Seen, 20));
    let calls = relay.calls();
    assert_eq!(calls.get(&procedure::LIST), Some(&3));
    assert_eq!(
        calls.get(&procedure::XML),
        Some(&21),
        "one each, and the one definition"
    );
    assert_eq!(calls.get(&procedure::STATE), Some(&1), "the paused one");
    let setup = [
        procedure::OPEN,
        procedure::CLOSE,
        procedure::SUPPORTS_FEATURE,
        procedure::AUTH_LIST,
        procedure::LIST,
        procedure::XML,
        procedure::STATE,
    ];
    let strange: Vec<_> = calls.keys().filter(|p| !setup.contains(p)).collect();
    assert!(
        strange.is_empty(),
        "calls that a look has no need of: {strange:?}"
    );
    let opened = [procedure::OPEN, procedure::AUTH_LIST].map(|p| calls.get(&p).copied());
    assert_eq!(opened, [Some(1), Some(1)], "one connection");
}

#[test]
fn a_definition_that_differs_is_told() {
    let daemon = Daemon::start("kvm1");
    let crowd = Crowd::gather(&daemon, 3, 2);
    crowd.define(&domain_xml(1, 2));
    crowd.define(&domain_xml(2, 3));
    let seen = look_by(&daemon.uri("test", "default"));
    let told: Vec<_> = seen
        .domains
        .iter()
        .map(|d| (d.persistent, d.persistent_differs))
        .collect();
    assert_eq!(told, [(false, false), (true, false), (true, true)]);
    let disks: Vec<_> = seen.domains.iter().map(|d| d.disks[0].persistent).collect();
    assert_eq!(disks, [None, Some(true), Some(true)]);
}

#[test]
fn paused_by_hand_and_paused_by_an_incoming_migration() {
    let daemon = Daemon::start("kvm1");
    let crowd = Crowd::gather(&daemon, 3, 1);
    crowd.domain(1).suspend().unwrap();
    let states = |look: &Look| look.domains.iter().map(|d| d.state).collect::<Vec<_>>();
    let seen = look_by(&daemon.uri("test", "default"));
    assert_eq!(
        states(&seen),
        [RunState::Running, RunState::Paused, RunState::Running]
    );
    // VIR_DOMAIN_PAUSED_MIGRATION, VIR_DOMAIN_PAUSED_STARTING_UP
    for why in [2, 11] {
        let relay = Relay::start(&daemon.socket(), Duration::ZERO, move |call, packet| {
            if call == procedure::STATE {
                *packet.last_mut().unwrap() = why;
            }
            Then::Pass
        });
        let seen = look_by(&through(&relay));
        assert_eq!(
            states(&seen),
            [RunState::Running, RunState::Incoming, RunState::Running]
        );
    }
}

#[test]
fn a_domain_that_goes_between_list_and_xml_is_simply_gone() {
    let daemon = Daemon::start("kvm1");
    let crowd = Crowd::gather(&daemon, 5, 1);
    let (paused, running) = (crowd.domain(1), crowd.domain(2));
    paused.suspend().unwrap();
    let mut lists = 0;
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, move |call, _| {
        lists += usize::from(call == procedure::LIST);
        if lists == 3 && call == procedure::LIST {
            paused.destroy().unwrap();
            running.destroy().unwrap();
        }
        Then::Pass
    });
    let seen = look_by(&through(&relay));
    assert_eq!((&seen.status, seen.domains.len()), (&Status::Seen, 3));
    assert!(seen.unreadable.is_empty(), "{:?}", seen.unreadable);
}

#[test]
fn xml_that_cannot_be_read_is_a_gap_of_that_domain_alone() {
    let daemon = Daemon::start("kvm1");
    let _crowd = Crowd::gather(&daemon, 4, 1);
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, |call, packet| {
        if call == procedure::XML {
            replace(packet, "<name>i-2-1002-VM", "<name>i-2<1002-VM");
            replace(packet, "<name>i-2-1003-VM", "<name>i-2-9003-VM");
        }
        Then::Pass
    });
    let seen = look_by(&through(&relay));
    assert_eq!((&seen.status, seen.domains.len()), (&Status::Seen, 2));
    let gaps: Vec<_> = seen
        .unreadable
        .iter()
        .map(|u| (u.name.clone(), u.uuid.clone().unwrap()))
        .collect();
    assert_eq!(gaps, [(name(1), uuid(1)), (name(2), uuid(2))]);
    assert!(
        seen.unreadable[0].reason.starts_with("broken XML: "),
        "{:?}",
        seen.unreadable
    );
    assert!(
        seen.unreadable[1].reason.contains("another domain"),
        "{:?}",
        seen.unreadable
    );
}

#[test]
fn hosts_that_are_skipped_are_gaps() {
    let hosts = [row(1, "kvm1"), row(2, "kvm2"), row(3, "kvm3"), row(4, "kvm4")];
    let mut settings = settings([("kvm4", "test:///default")]);
    settings.skip = vec![
        "KVM1".to_owned(),
        "10.1.0.2".to_owned(),
        hosts[2].uuid.clone().unwrap(),
    ];
    let looks = look_at(&hosts, &settings);
    for id in 1..=3 {
        assert!(
            matches!(looks[&HostId(id)].status, Status::NotAsked { gap: true, .. }),
            "{looks:?}"
        );
    }
    assert!(looks[&HostId(4)].is_seen());
}

#[test]
fn progress_tells_of_each_host_when_it_is_asked_and_when_it_is_done() {
    let hosts = [row(1, "kvm1"), row(2, "kvm2")];
    let settings = settings([("kvm1", "test:///default"), ("kvm2", "nonsense:///")]);
    let mut news: Vec<Progress> = Vec::new();
    look(&hosts.iter().collect::<Vec<_>>(), &settings, None, &mut |p| {
        news.push(p);
    });
    assert_eq!(news.len(), 4);
    assert!(news.iter().all(|p| p.total == 2));
    assert_eq!(news.iter().map(|p| p.done).collect::<Vec<_>>(), [0, 0, 1, 2]);
    let last = |host: &str| {
        news.iter()
            .rfind(|p| p.host == host)
            .map(|p| p.step.clone())
            .unwrap()
    };
    assert_eq!(last("kvm1"), Step::Seen);
    assert!(matches!(last("kvm2"), Step::Unseen(_)));
}

#[test]
fn calls_are_in_flight_together() {
    let daemon = Daemon::start("kvm1");
    let _crowd = Crowd::gather(&daemon, 100, 1);
    let relay = Relay::start(&daemon.socket(), Duration::from_millis(10), |_, _| Then::Pass);
    let since = Instant::now();
    let seen = look_by(&through(&relay));
    assert_eq!(seen.domains.len(), 100);
    // One after the other they would take 20 ms each, 2 s in all.
    assert!(
        since.elapsed() < Duration::from_millis(1300),
        "{:?}",
        since.elapsed()
    );
}
