//! URIs of rows that are hostile.

use super::{look_at, reason, row, settings};
use volrecon::gather::fanout::uri_for;
use volrecon::model::{Host, HostId};

fn with(template: &str, change: impl FnOnce(&mut Host)) -> Result<String, String> {
    let mut settings = settings([("mapped", "qemu+ssh://root@{ip}:2222/system")]);
    settings.uri = template.to_owned();
    let mut host = row(1, "kvm1");
    change(&mut host);
    uri_for(&host, &settings)
}

#[test]
fn the_template_takes_address_name_and_uuid() {
    let uri = |template, change: fn(&mut Host)| with(template, change).unwrap();
    assert_eq!(
        uri("qemu+ssh://root@{ip}/system", |_| {}),
        "qemu+ssh://root@10.1.0.1/system"
    );
    assert_eq!(
        uri("qemu+tls://{name}.dc/system", |_| {}),
        "qemu+tls://kvm1.dc/system"
    );
    assert_eq!(
        uri("qemu+unix:///system?socket=/run/{uuid}", |_| {}),
        "qemu+unix:///system?socket=/run/00000001-1111-4222-8333-444455556666"
    );
    let v6 = |h: &mut Host| h.ip = "2001:DB8::1".to_owned();
    assert_eq!(
        uri("qemu+ssh://root@{ip}/system", v6),
        "qemu+ssh://root@[2001:db8::1]/system"
    );
    assert_eq!(
        uri("qemu+ssh://root@[{ip}]/system", v6),
        "qemu+ssh://root@[2001:db8::1]/system"
    );
}

#[test]
fn the_map_wins_over_the_template() {
    let mapped = |h: &mut Host| h.name = "Mapped".to_owned();
    assert_eq!(
        with("test:///{nothing}", mapped).unwrap(),
        "qemu+ssh://root@10.1.0.1:2222/system"
    );
}

#[test]
fn a_hostile_address_is_a_gap() {
    for ip in [
        "",
        "-oProxyCommand=id",
        "10.0.0.1 -oProxyCommand=id",
        "10.0.0.1/../x",
        "kvm1",
        "10.0.0.1\n",
        "1.2.3",
        "fe80::1%eth0",
        "[::1]",
        "10.0.0.1?command=/bin/sh",
    ] {
        let said = with("qemu+ssh://root@{ip}/system", |h| h.ip = ip.to_owned()).unwrap_err();
        assert_eq!(said, format!("its private_ip_address {ip:?} is no IP address"));
    }
}

#[test]
fn a_hostile_name_is_a_gap() {
    let long = "a".repeat(64);
    for name in [
        "",
        "-oProxyCommand=id",
        "kvm1;id",
        "kvm1?command=x",
        "kvm1/",
        "kvm 1",
        "kvm1@evil",
        "a..b",
        ".a",
        "a.",
        "a.-b",
        "kvm$1",
        "kvm1:22",
        "ké",
        "{ip}",
        &long,
    ] {
        let said = with("qemu+ssh://root@{name}/system", |h| h.name = name.to_owned()).unwrap_err();
        assert_eq!(said, format!("its name {name:?} is no DNS name"));
    }
}

#[test]
fn a_hostile_uuid_is_a_gap() {
    for uuid in [
        "",
        "x",
        "../../../../../../../../etc/passwd-1234",
        "00000001-1111-4222-8333-44445555666g",
    ] {
        let said = with("qemu+unix:///system?socket=/run/{uuid}", |h| {
            h.uuid = Some(uuid.to_owned());
        });
        assert_eq!(said.unwrap_err(), format!("its uuid {uuid:?} is no uuid"));
    }
    assert!(with("test:///{uuid}", |h| h.uuid = None).is_err());
}

#[test]
fn a_template_that_asks_for_something_else_is_a_gap() {
    for template in [
        "qemu+ssh://{host}/system",
        "qemu+ssh://{ip/system",
        "",
        "qemu+ssh://root@{ip}/system x",
    ] {
        assert!(with(template, |_| {}).is_err(), "{template}");
    }
}

#[test]
fn a_row_that_gives_no_uri_does_not_spoil_the_others() {
    let mut hosts = [row(1, "kvm1"), row(2, "kvm2")];
    hosts[0].ip = "-x".to_owned();
    let looks = look_at(&hosts, &settings([("kvm2", "test:///default")]));
    assert_eq!(
        reason(&looks[&HostId(1)]),
        "its private_ip_address \"-x\" is no IP address"
    );
    assert!(looks[&HostId(2)].is_seen());
}

#[test]
fn the_line_to_try_is_safe_to_paste() {
    let uri = "qemu+unix:///system?socket=/nowhere/'$(id)'\u{1b}[2J";
    let looks = look_at(
        &[row(1, "kvm1")],
        &settings([("kvm1", "qemu+unix:///system?socket=/nowhere/'$(id)'")]),
    );
    let said = reason(&looks[&HostId(1)]);
    assert!(
        said.ends_with(r"try: virsh -r -c 'qemu+unix:///system?socket=/nowhere/'\''$(id)'\''' list"),
        "{said}"
    );
    let looks = look_at(&[row(1, "kvm1")], &settings([("kvm1", uri)]));
    assert!(!reason(&looks[&HostId(1)]).contains('\u{1b}'));
}
