//! Hosts that refuse, are unknown, hang or lie: each is a gap of its own, the others are judged, and no time is lost.

use crate::lab::world::Hands;
use crate::stage::{Stage, classes};
use serde_json::Value;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn host<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|h| h["name"] == name)
        .unwrap()
}

#[test]
fn one_that_hangs_one_that_refuses_one_unknown_and_the_others_are_judged_in_time() {
    let mut stage = Stage::with_orphan();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = stage.path("silent");
    let _unix = UnixListener::bind(&socket).unwrap();
    stage.add_host(
        4,
        &format!("qemu+tcp://127.0.0.1:{}/system", tcp.local_addr().unwrap().port()),
    );
    stage.add_host(5, &format!("qemu+unix:///system?socket={}", socket.display()));
    stage.add_host(6, "qemu+tcp://127.0.0.1:1/system");
    stage.add_host(7, "qemu+tcp://no-such-host.invalid/system");
    stage.add_host(8, "nonsense:///");
    stage.configure("[libvirt]\nhost_timeout = \"1s\"");
    let run = stage.scan_json(&[]).left(1);
    assert!(run.took < Duration::from_secs(3), "{:?}", run.took);
    let document = run.json();
    assert_eq!(classes(&document).len(), 1);
    for (name, why) in [
        ("kvm4", "no end within 1s"),
        ("kvm5", "no end within 1s"),
        ("kvm6", "refused"),
        ("kvm7", "no-such-host.invalid"),
        ("kvm8", "nonsense"),
    ] {
        let host = host(&document, name);
        assert_eq!(host["status"], "unseen");
        assert!(host["reason"].as_str().unwrap().contains(why), "{host}");
    }
    for name in ["kvm1", "kvm2", "kvm3"] {
        assert_eq!(host(&document, name)["status"], "seen");
    }
    assert_eq!(
        (
            &document["summary"]["hosts_seen"],
            &document["summary"]["hosts_unseen"]
        ),
        (&3.into(), &5.into())
    );
    let table = stage.scan(&[]).left(1);
    for name in ["kvm4", "kvm5", "kvm6", "kvm7", "kvm8"] {
        assert!(table.stdout.contains(name), "{}", table.stdout);
    }
}

#[test]
fn what_only_an_unseen_host_could_show_cannot_be_told() {
    let mut stage = Stage::healthy();
    stage.reach("kvm2", "qemu+tcp://127.0.0.1:1/system");
    let document = stage.scan_json(&[]).left(3).json();
    assert!(classes(&document).is_empty(), "{document}");
    let untold: Vec<&str> = document["cannot_tell"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|e| e["code"].as_str())
        .collect();
    assert!(
        !untold.is_empty() && untold.iter().all(|code| *code == "host-unseen"),
        "{document}"
    );
}

#[test]
fn a_host_that_is_skipped_is_a_gap() {
    let mut stage = Stage::with_orphan();
    stage.configure("[libvirt]\nskip = [\"kvm2\"]");
    let document = stage.scan_json(&[]).left(3).json();
    assert_eq!(
        (&document["complete"], &document["summary"]["hosts_unseen"]),
        (&false.into(), &1.into())
    );
    let host = host(&document, "kvm2");
    assert_eq!(
        (&host["status"], &host["uri"]),
        (&"not-asked".into(), &Value::Null)
    );
    assert!(
        host["reason"].as_str().unwrap().contains("[libvirt] skip"),
        "{host}"
    );
    let table = stage.scan(&[]).stdout;
    assert!(
        table.contains("\nnot asked: kvm2 (skipped, as [libvirt] skip says)\n")
            && table.contains("2 of 3 hosts seen"),
        "{table}"
    );
}

#[test]
fn a_name_in_the_configuration_that_is_no_hosts_is_warned_of_in_one_line() {
    let mut stage = Stage::healthy();
    stage.configure("[libvirt]\nskip = [\"kvm22\", \"KVM3\", \"\"]");
    stage.names("kmv1", "test:///default");
    let run = stage.scan_json(&[]).left(3);
    assert_eq!(
        run.stderr,
        "warning: no KVM host of the database goes by that name: [libvirt] skip names \"kvm22\" (did you mean kvm2?), \
         \"\"; [libvirt.hosts] names \"kmv1\" (did you mean kvm1?)\n"
    );
    // A scope narrows the rows of VMs, not those of hosts.
    assert_eq!(stage.scan_json(&["--vm", "worker1"]).stderr, run.stderr);
    stage.scan_json(&["-q"]).quiet();
}

#[test]
fn every_way_to_name_a_host_is_good() {
    let mut stage = Stage::healthy();
    let sql = "SELECT uuid, private_ip_address FROM host WHERE name = ?";
    let (uuid, _): (String, String) = stage.cloud().one(sql, ("kvm1",)).unwrap();
    let (_, ip): (String, String) = stage.cloud().one(sql, ("kvm2",)).unwrap();
    stage.configure(&format!("[libvirt]\nskip = [{uuid:?}, {ip:?}, \"Kvm3\"]"));
    let document = stage.scan_json(&[]).left(3).quiet().json();
    assert_eq!(document["summary"]["hosts_unseen"], 3);
}

#[test]
fn a_removed_host_that_running_vms_still_name_is_named_and_said_to_be_removed() {
    let mut stage = Stage::healthy();
    let sql = "UPDATE host SET removed = '2026-09-01 10:00:00', cluster_id = NULL WHERE name = 'kvm3'";
    stage.cloud().exec(sql, ()).unwrap();
    // The machine is a host again, under a row of its own.
    let uri = stage.paper.uri("kvm3");
    stage.reach("kvm3", "qemu+tcp://127.0.0.1:1/system");
    stage.add_host(9, &uri);
    let why = "its row is removed since 2026-09-01T10:00:00Z, and rows of running VMs still name it";
    let document = stage.scan_json(&[]).left(1).quiet().json();
    let gone = host(&document, "kvm3");
    assert_eq!(
        (&gone["status"], &gone["reason"], &gone["uri"]),
        (&"not-asked".into(), &why.into(), &Value::Null)
    );
    assert_eq!(document["summary"]["hosts_unseen"], 1);
    assert_eq!(document["not_ruled_out"][0]["hosts"], serde_json::json!(["kvm3"]));
    let what = document["not_ruled_out"][0]["what"].as_str().unwrap();
    assert!(what.contains("whose row is removed"), "{what}");
    let table = stage.scan(&[]).stdout.replace("\n  ", " ");
    assert!(table.contains(&format!("not asked: kvm3 ({why})")), "{table}");
    let run = stage.scan(&["--host", "kvm3"]).left(2);
    assert!(
        run.stderr.contains("no host is called \"kvm3\""),
        "{}",
        run.stderr
    );

    // Once no row names it, it is no host any more.
    let sql = "UPDATE vm_instance SET host_id = 9 WHERE host_id = 3";
    stage.cloud().exec(sql, ()).unwrap();
    let run = stage.scan_json(&[]).left(0);
    let hosts = run.json()["hosts"].as_array().unwrap().len();
    assert_eq!(hosts, 3, "{run:?}");
}

#[test]
fn a_removed_row_of_the_same_name_spoils_no_live_one() {
    let mut stage = Stage::healthy();
    let sql = "UPDATE host SET removed = '2026-09-01 10:00:00', cluster_id = NULL WHERE name = 'kvm3'";
    stage.cloud().exec(sql, ()).unwrap();
    stage.cloud().add(crate::lab::rows::Row::host(9, "kvm3")).unwrap();
    let document = stage.scan_json(&[]).left(1).quiet().json();
    let hosts = document["hosts"].as_array().unwrap();
    let told: Vec<&str> = hosts.iter().map(|h| h["status"].as_str().unwrap()).collect();
    assert_eq!(told, ["seen", "seen", "not-asked", "seen"], "{document}");
    assert_eq!(
        (
            &document["summary"]["hosts_seen"],
            &document["summary"]["hosts_unseen"]
        ),
        (&3.into(), &1.into())
    );
}

#[test]
fn a_host_without_domains_where_rows_promise_some_is_not_believed() {
    let stage = Stage::healthy();
    stage.paper.shut("kvm2", "i-2-102-VM").unwrap();
    let document = stage.scan_json(&[]).left(3).json();
    assert!(classes(&document).is_empty(), "{document}");
    assert_eq!(host(&document, "kvm2")["status"], "unseen");
    let codes: Vec<&str> = document["cannot_tell"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"empty-host"), "{document}");
}

#[test]
fn all_hosts_empty_is_never_all_is_missing() {
    let stage = Stage::healthy();
    for n in 1..=3 {
        stage
            .paper
            .shut(&format!("kvm{n}"), &format!("i-2-{}-VM", 100 + n))
            .unwrap();
    }
    let document = stage.scan_json(&[]).left(3).json();
    assert!(classes(&document).is_empty(), "{document}");
}

#[test]
fn two_names_for_one_uri_are_both_gaps() {
    let mut stage = Stage::with_orphan();
    let uri = stage.paper.uri("kvm2");
    stage.reach("kvm3", &uri);
    let document = stage.scan_json(&[]).left(3).json();
    for name in ["kvm2", "kvm3"] {
        let host = host(&document, name);
        assert_eq!(host["status"], "unseen");
        assert!(
            host["reason"].as_str().unwrap().contains("is the URI of"),
            "{host}"
        );
    }
}

#[test]
fn the_time_for_the_whole_run_ends_it() {
    let mut stage = Stage::with_orphan();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    stage.add_host(
        4,
        &format!("qemu+tcp://127.0.0.1:{}/system", tcp.local_addr().unwrap().port()),
    );
    let run = stage.scan_json(&["--timeout", "1s"]).left(1);
    assert!(run.took < Duration::from_secs(3), "{:?}", run.took);
    let document = run.json();
    assert!(
        host(&document, "kvm4")["reason"]
            .as_str()
            .unwrap()
            .contains("time for the whole run was up"),
        "{document}"
    );

    // A database that accepts and is silent has no longer than that either.
    stage.set_database(&format!(
        "mysql://volrecon_ro@127.0.0.1:{}/cloud",
        tcp.local_addr().unwrap().port()
    ));
    let run = stage.scan_json(&["--timeout", "1s"]).left(2);
    assert!(run.took < Duration::from_secs(3), "{:?}", run.took);
    assert!(
        run.stderr.contains("cannot connect to the database"),
        "{}",
        run.stderr
    );
}

#[test]
fn settling_does_not_outlast_the_run() {
    let stage = Stage::with_orphan();
    let run = stage.scan_json(&["--timeout", "2s", "--settle", "10m"]);
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    // Without a whole second look nothing that needs one is called clean.
    assert!(matches!(run.code, 1 | 3), "{run:?}");
}

#[test]
fn a_database_that_goes_away_between_the_reads_is_trouble() {
    let mut stage = Stage::with_orphan();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    stage.add_host(
        4,
        &format!("qemu+tcp://127.0.0.1:{}/system", tcp.local_addr().unwrap().port()),
    );
    stage.configure("[libvirt]\nhost_timeout = \"2s\"");
    let child = stage.start(&["-o", "json"]);
    let _host = tcp.accept().unwrap();
    let sql = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND user <> 'root'";
    let ids: Vec<u64> = stage.cloud().all(sql, ()).unwrap();
    assert_eq!(ids.len(), 1, "one connection");
    stage
        .cloud()
        .exec(&format!("KILL CONNECTION {}", ids[0]), ())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(
        stderr.contains("error: cannot read a transaction from the database at 127.0.0.1:"),
        "{stderr}"
    );
    assert!(stderr.contains("hint: "), "{stderr}");
}
