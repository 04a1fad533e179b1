//! Hosts that hang, refuse, are unknown, close mid-way, or lie: gaps with the reason, and the others are seen.

use super::daemon::{self, Crowd, Daemon};
use super::relay::{Relay, Then, procedure, replace};
use super::{look_at, look_by, reason, row, settings, through};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};
use volrecon::evidence::Status;
use volrecon::gather::fanout::look;
use volrecon::model::HostId;

#[test]
fn a_host_that_refuses() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let uri = format!("qemu+tcp://admin:secret@127.0.0.1:{port}/system");
    let seen = look_by(&uri);
    let shown = format!("qemu+tcp://admin:***@127.0.0.1:{port}/system");
    assert_eq!(seen.uri, shown);
    let wanted = format!(
        "cannot connect to {shown}: unable to connect to server at '127.0.0.1:{port}': Connection refused; \
         try: virsh -r -c '{shown}' list"
    );
    assert_eq!(reason(&seen), wanted);
}

#[test]
fn a_host_that_the_dns_does_not_know() {
    let seen = look_by("qemu+tcp://no-such-host.invalid/system");
    let said = reason(&seen).to_lowercase();
    let wanted = "cannot connect to qemu+tcp://no-such-host.invalid/system: unable to resolve";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn a_host_that_accepts_and_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!(
        "qemu+tcp://127.0.0.1:{}/system",
        listener.local_addr().unwrap().port()
    );
    let mut settings = settings([("kvm1", uri.as_str()), ("kvm2", "test:///default")]);
    settings.host_timeout = Duration::from_millis(500);
    let since = Instant::now();
    let looks = look_at(&[row(1, "kvm1"), row(2, "kvm2")], &settings);
    assert!(
        since.elapsed() < Duration::from_millis(1000),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(
        reason(&looks[&HostId(1)]),
        format!("{uri}: no end within 500ms; try: virsh -r -c '{uri}' list")
    );
    assert!((500..1000).contains(&looks[&HostId(1)].millis));
    assert!(looks[&HostId(2)].is_seen());
}

#[test]
fn a_daemon_that_is_stopped() {
    let daemon = Daemon::start("kvm1");
    daemon.freeze();
    let mut settings = settings([("kvm1", daemon.uri("qemu", "system"))]);
    settings.host_timeout = Duration::from_millis(700);
    let since = Instant::now();
    let looks = look_at(&[row(1, "kvm1")], &settings);
    assert!(
        since.elapsed() < Duration::from_millis(1200),
        "{:?}",
        since.elapsed()
    );
    assert!(reason(&looks[&HostId(1)]).contains("no end within 700ms"));
}

#[test]
fn what_was_read_before_the_connection_died_stays() {
    let daemon = Daemon::start("kvm1");
    let _crowd = Crowd::gather(&daemon, 50, 1);
    let mut answers = 0;
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, move |call, _| {
        answers += usize::from(call == procedure::XML);
        if answers > 10 { Then::Cut } else { Then::Pass }
    });
    let seen = look_by(&through(&relay));
    assert!(
        reason(&seen).starts_with("lost the connection to test+unix:///default?socket="),
        "{seen:?}"
    );
    assert!((5..=10).contains(&seen.domains.len()), "{}", seen.domains.len());
    assert!(seen.unreadable.is_empty(), "{:?}", seen.unreadable);
}

#[test]
fn what_was_read_before_the_deadline_stays() {
    let daemon = Daemon::start("kvm1");
    let _crowd = Crowd::gather(&daemon, 50, 1);
    let mut answers = 0;
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, move |call, _| {
        answers += usize::from(call == procedure::XML);
        if answers > 10 {
            std::thread::sleep(Duration::from_secs(60));
        }
        Then::Pass
    });
    let mut settings = settings([("kvm1", through(&relay))]);
    settings.host_timeout = Duration::from_millis(600);
    let seen = look_at(&[row(1, "kvm1")], &settings).remove(&HostId(1)).unwrap();
    assert!(
        reason(&seen).contains("no end within 600ms, 10 domains read"),
        "{}",
        reason(&seen)
    );
    assert_eq!(seen.domains.len(), 10);
}

#[test]
fn a_host_with_two_domains_of_one_name_or_uuid_lies() {
    let daemon = Daemon::start("kvm1");
    let _crowd = Crowd::gather(&daemon, 3, 1);
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, |call, packet| {
        if call == procedure::LIST {
            replace(packet, "i-2-1002-VM", "i-2-1003-VM");
        }
        Then::Pass
    });
    let seen = look_by(&through(&relay));
    assert!(
        reason(&seen).ends_with("lies: it has two domains of the name \"i-2-1003-VM\""),
        "{seen:?}"
    );
    assert!(seen.domains.is_empty());
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, |call, packet| {
        if call == procedure::LIST {
            replace(packet, "\0\0\0\u{1}\0\0\u{40}\0", "\0\0\0\u{2}\0\0\u{40}\0");
        }
        Then::Pass
    });
    let seen = look_by(&through(&relay));
    assert!(
        reason(&seen).contains("lies: it has two domains of the uuid 00000002-0000-4000-"),
        "{seen:?}"
    );
}

#[test]
fn a_host_that_answers_under_another_name() {
    let daemon = Daemon::start("kvm1");
    let uri = daemon.uri("qemu", "system");
    let see = |name: &str| {
        look_at(&[row(1, name)], &settings([(name, uri.as_str())]))
            .remove(&HostId(1))
            .unwrap()
    };
    for name in ["kvm1", "KVM1", "kvm1.dc.example.org"] {
        assert_eq!(see(name).status, Status::Seen, "{name}");
    }
    for name in ["kvm10", "kvm2", "kvm"] {
        let seen = see(name);
        assert!(
            reason(&seen).contains(&format!("answers as \"kvm1\", not as {name:?}")),
            "{seen:?}"
        );
    }
}

#[test]
fn two_rows_that_reach_one_host_are_both_unseen() {
    let daemon = Daemon::start("kvm1");
    let relay = Relay::start(&daemon.socket(), Duration::ZERO, |_, _| Then::Pass);
    let other = daemon::uri("qemu", "system", &relay.socket());
    let settings = settings([
        ("kvm1", daemon.uri("qemu", "system")),
        ("kvm1.b", other),
        ("kvm3", "test:///default".into()),
    ]);
    let looks = look_at(&[row(1, "kvm1"), row(2, "kvm1.b"), row(3, "kvm3")], &settings);
    let uuid = "00000000-0000-4000-8000-000000000007";
    for (id, twin) in [(1, "kvm1.b"), (2, "kvm1")] {
        let wanted = format!("{twin:?} answers with the same host uuid {uuid}: one host behind several rows");
        assert!(reason(&looks[&HostId(id)]).starts_with(&wanted), "{looks:?}");
    }
    assert!(looks[&HostId(3)].is_seen());
    let calls = relay.calls();
    let identity = [procedure::HOSTNAME, procedure::CAPABILITIES].map(|p| calls.get(&p).copied());
    assert_eq!(identity, [Some(1), Some(1)]);
}

#[test]
fn two_rows_of_one_uri_are_not_even_asked() {
    let settings = settings([
        ("kvm1", "qemu+tcp://10.9.9.9/system"),
        ("kvm2", "qemu+TCP://root@10.9.9.9:16509/system"),
        ("kvm3", "test:///default"),
    ]);
    let looks = look_at(&[row(1, "kvm1"), row(2, "kvm2"), row(3, "kvm3")], &settings);
    assert!(reason(&looks[&HostId(1)]).contains("is the URI of \"kvm2\", too"));
    assert!(reason(&looks[&HostId(2)]).contains("is the URI of \"kvm1\", too"));
    assert!(looks[&HostId(3)].is_seen());
}

#[test]
fn hosts_that_hang_starve_nobody() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut uris = Vec::new();
    let mut silent = Vec::new();
    for n in 1..=40 {
        let name = format!("kvm{n}");
        if n % 8 == 1 {
            let socket = dir.path().join(&name);
            silent.push(UnixListener::bind(&socket).unwrap());
            uris.push((name, daemon::uri("qemu", "system", &socket)));
        } else {
            let file = dir.path().join(format!("{name}.xml"));
            std::fs::write(&file, format!("<node>{}</node>", daemon::domain_xml(n, 1))).unwrap();
            uris.push((name, format!("test://{}", file.display())));
        }
    }
    let mut settings = settings(uris);
    settings.parallel = 4;
    settings.host_timeout = Duration::from_secs(1);
    let hosts: Vec<_> = (1..=40).map(|n| row(n, &format!("kvm{n}"))).collect();
    let since = Instant::now();
    let looks = look_at(&hosts, &settings);
    let took = since.elapsed();
    assert_eq!(looks.len(), 40);
    assert_eq!(looks.values().filter(|l| l.is_seen()).count(), 35);
    // Five that hang, four places: two timeouts at the most, and the others pass between.
    assert!(took < Duration::from_millis(2700), "{took:?}");
}

#[test]
fn at_the_end_of_the_run_all_that_is_unfinished_is_a_gap() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let uri = |n: u32| format!("qemu+tcp://127.0.0.{n}:{port}/system");
    let mut settings = settings([
        ("kvm1", uri(1)),
        ("kvm2", uri(2)),
        ("kvm3", "test:///default".to_owned()),
    ]);
    settings.parallel = 1;
    let hosts = [row(3, "kvm3"), row(1, "kvm1"), row(2, "kvm2")];
    let since = Instant::now();
    let end = since + Duration::from_millis(400);
    let looks = look(
        &hosts.iter().collect::<Vec<_>>(),
        &settings,
        Some(end),
        &mut |_| {},
    );
    assert!(
        since.elapsed() < Duration::from_millis(900),
        "{:?}",
        since.elapsed()
    );
    assert!(looks[&HostId(3)].is_seen());
    assert!(reason(&looks[&HostId(1)]).contains("no end before the time for the whole run was up"));
    assert!(reason(&looks[&HostId(2)]).contains("not asked: the time for the whole run was up"));
}
