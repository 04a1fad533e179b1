//! Exit codes: 0 the same, 1 different, 2 trouble, 3 not all seen.

use crate::lab::rows::Row;
use crate::stage::{Stage, classes, command, run};

#[test]
fn a_healthy_cloud_leaves_0_and_nothing_on_stderr() {
    let run = Stage::healthy().scan_json(&[]).left(0).quiet();
    let document = run.json();
    assert_eq!(document["complete"], true);
    assert_eq!(
        (
            &document["summary"]["volumes"],
            &document["summary"]["disks"],
            &document["summary"]["hosts_seen"]
        ),
        (&6.into(), &6.into(), &3.into())
    );
}

#[test]
fn a_finding_leaves_1_in_every_format() {
    let stage = Stage::with_orphan();
    for format in ["table", "json", "jsonl", "csv"] {
        let run = stage.scan(&["-o", format]).left(1).quiet();
        assert!(
            run.stdout.contains("orphan") && run.stdout.ends_with('\n'),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn what_min_severity_or_ignore_hides_does_not_count() {
    let mut stage = Stage::with_orphan();
    let document = stage.scan_json(&[]).left(1).json();
    let finding = &document["findings"][0];
    assert_eq!(finding["severity"], "high", "{finding}");
    stage.scan_json(&["--min-severity", "high"]).left(1);
    let hidden = stage.scan_json(&["--min-severity", "critical"]).left(0).json();
    assert_eq!(
        (&hidden["summary"]["below_min_severity"], classes(&hidden).len()),
        (&1.into(), 0)
    );
    stage.configure(&format!("[scan]\nignore = [{}, \"vr-00000000\"]", finding["id"]));
    let hidden = stage.scan_json(&[]).left(0).json();
    assert_eq!(
        (&hidden["summary"]["ignored"], classes(&hidden).len()),
        (&1.into(), 0)
    );
    stage.orphan(901, "pvc-other", 101, "kvm1", 2);
    assert_eq!(
        classes(&stage.scan_json(&[]).left(1).json()).len(),
        1,
        "only the known one is hidden"
    );
}

#[test]
fn an_empty_inventory_is_trouble() {
    let mut stage = Stage::with_orphan();
    stage
        .cloud()
        .exec("UPDATE volumes SET removed = UTC_TIMESTAMP()", ())
        .unwrap();
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr.contains("no volume") && run.stdout.is_empty(),
        "{run:?}"
    );
    stage
        .cloud()
        .exec("UPDATE volumes SET removed = NULL", ())
        .unwrap();
    stage
        .cloud()
        .exec("UPDATE host SET hypervisor_type = 'VMware'", ())
        .unwrap();
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr.contains("no KVM host") && run.stdout.is_empty(),
        "{run:?}"
    );
}

#[test]
fn gaps_leave_3_and_findings_beat_them() {
    let mut stage = Stage::healthy();
    for host in ["kvm1", "kvm2", "kvm3"] {
        stage.reach(host, "qemu+unix:///system?socket=/nowhere");
    }
    let document = stage.scan_json(&[]).left(3).json();
    assert_eq!(
        (&document["complete"], &document["summary"]["hosts_unseen"]),
        (&false.into(), &3.into())
    );
    let mut stage = Stage::healthy();
    stage.reach("kvm1", "qemu+unix:///system?socket=/nowhere");
    stage.scan_json(&[]).left(3);
    stage.orphan(900, "pvc-orphan", 102, "kvm2", 2);
    let document = stage.scan_json(&[]).left(1).json();
    assert_eq!(
        (&document["complete"], classes(&document).len()),
        (&false.into(), 1)
    );
    stage.scan_json(&["--min-severity", "critical"]).left(3);
}

#[test]
fn fresh_flux_leaves_0_and_stuck_flux_3() {
    let mut stage = Stage::with_orphan();
    let sql = "UPDATE volumes SET state = 'Attaching', updated = UTC_TIMESTAMP() - INTERVAL ? MINUTE WHERE id = 900";
    stage.cloud().exec(sql, (1,)).unwrap();
    let document = stage.scan_json(&[]).left(0).json();
    assert_eq!(
        (&document["in_flux"][0]["code"], &document["in_flux"][0]["stuck"]),
        (&"volume-state".into(), &false.into())
    );
    assert_eq!(document["complete"], true);
    stage.scan_json(&["--stuck-after", "30s"]).left(3);
    stage.cloud().exec(sql, (90,)).unwrap();
    let document = stage.scan_json(&[]).left(3).json();
    assert_eq!(
        (&document["in_flux"][0]["stuck"], &document["complete"]),
        (&true.into(), &false.into())
    );
    stage.scan_json(&["--stuck-after", "2h"]).left(0);
}

#[test]
fn a_pending_job_is_flux() {
    let mut stage = Stage::with_orphan();
    let attach = "org.apache.cloudstack.api.command.user.volume.AttachVolumeCmd";
    let now = crate::lab::when::now().unwrap();
    let job = Row::job(700, attach, &now)
        .set("instance_type", "Volume")
        .set("instance_id", 900);
    stage.cloud().add(job).unwrap();
    let document = stage.scan_json(&[]).left(0).json();
    assert_eq!(document["in_flux"][0]["code"], "job", "{document}");
}

#[test]
fn usage_errors_leave_2() {
    let home = tempfile::TempDir::new().unwrap();
    for args in [
        &[][..],
        &["scna"],
        &["scan", "--nope"],
        &["scan", "-o", "yaml"],
        &["scan", "--min-severity", "urgent"],
        &["scan", "--timeout", "0s"],
        &["scan", "--settle", "5"],
        &["scan", "--host"],
        &["scan", "--host", ""],
        &["scan", "--save", "a", "--evidence", "b"],
        &["scan", "-q", "-v"],
        &["explain", "--class", "nothing"],
        &["explain"],
        &["completions", "tcsh"],
    ] {
        let mut command = command(home.path());
        let run = run({
            command.args(args);
            command
        })
        .left(2);
        assert!(
            run.stdout.is_empty() && !run.stderr.is_empty(),
            "{args:?} {run:?}"
        );
    }
    for args in [
        &["--help"][..],
        &["--version"],
        &["scan", "--help"],
        &["explain", "--class", "double-open"],
        &["completions", "bash"],
    ] {
        let mut command = command(home.path());
        let run = run({
            command.args(args);
            command
        })
        .left(0)
        .quiet();
        assert!(!run.stdout.is_empty());
    }
}

#[test]
fn trouble_with_configuration_or_database_leaves_2_and_says_what_to_do() {
    let mut stage = Stage::healthy();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    stage.set_database(&format!("mysql://volrecon_ro@127.0.0.1:{port}/cloud"));
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr
            .contains("error: cannot connect to the database at 127.0.0.1:"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("hint: is a server listening"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.is_empty());

    let mut stage = Stage::healthy();
    stage.configure("[libvirt]\nparalel = 3");
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr.contains("paralel") && run.stderr.contains("parallel"),
        "{}",
        run.stderr
    );

    let stage = Stage::healthy();
    stage.cloud_drop("async_job");
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr.contains("no table async_job") && run.stderr.contains("GRANT SELECT ON"),
        "{}",
        run.stderr
    );

    let mut stage = Stage::healthy();
    stage.configure("[scan]\nignore = [\"vr-00000000\", \"vr-123\"]");
    let run = stage.scan(&[]).left(2);
    assert!(
        run.stderr
            .contains("error: scan.ignore: \"vr-123\" is no finding's id")
            && run.stdout.is_empty(),
        "{run:?}"
    );

    let run = stage.scan(&["--config", "/nowhere.toml"]);
    assert_eq!(run.code, 2, "{run:?}");
}
