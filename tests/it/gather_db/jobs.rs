//! Jobs: what they do, to what, whether anybody works on them, and nothing of their payloads.

use super::{everything, time};
use crate::lab::maria::Shape;
use crate::lab::rows::{Cloud, MSID, Row};
use crate::lab::{payload, replay::Completion};
use crate::stage::{Stage, reader, schema};
use volrecon::model::{Job, JobId, JobKind, JobState, Reconcile, VmId, VolumeId, Work};

const AT: &str = "2026-09-08 14:37:57";
const END: &str = "2026-09-08 14:42:40";
const DETACH: &str = "com.cloud.vm.VmWorkDetachVolume";
const API: &str = "org.apache.cloudstack.api.command.user.volume.DetachVolumeCmd";

fn cloud() -> Cloud {
    Cloud::new(&schema(Shape::V4_22), 1).unwrap()
}

fn jobs(cloud: &Cloud) -> Vec<Job> {
    everything(&mut reader(&cloud.db)).jobs
}

fn work(cloud: &mut Cloud, id: u64, command: &str, vm: u64, how: impl FnOnce(Row) -> Row) {
    let row = Row::job(id, command, AT)
        .set("job_type", "VmWork")
        .set("job_dispatcher", "VmWorkJobDispatcher");
    cloud.add(how(row)).unwrap();
    let step = Row::new("vm_work_job")
        .set("id", id)
        .set("step", "Starting")
        .set("vm_type", "Instance");
    cloud.add(step.set("vm_instance_id", vm)).unwrap();
}

#[test]
fn a_played_detach_is_read_with_its_vm_and_volume() {
    let mut stage = Stage::healthy();
    assert_eq!(stage.play.completion, Completion::AsShipped);
    let job = stage.play.ask_detach(AT, (500, 501), 102_001).unwrap();
    let read = |stage: &Stage| everything(&mut reader(stage.db())).jobs;
    let waiting = read(&stage);
    let api = Job {
        id: JobId(500),
        api: None,
        kind: JobKind::Api,
        work: Work::Detach,
        command: "DetachVolumeCmd".to_owned(),
        vm: None,
        volume: Some(VolumeId(102_001)),
        state: JobState::Pending,
        created: Some(time(AT)),
        completed: None,
        running: None,
        abandoned: false,
        cancelled_blocking: false,
        failure: None,
    };
    let work = Job {
        id: JobId(501),
        api: Some(JobId(500)),
        kind: JobKind::Work,
        command: "VmWorkDetachVolume".to_owned(),
        vm: Some(VmId(102)),
        running: Some(false),
        ..api
    };
    assert_eq!(waiting, [api.clone(), work.clone()]);
    stage.play.begin(AT, &job).unwrap();
    assert_eq!(
        read(&stage)[1],
        Job {
            running: Some(true),
            ..work.clone()
        }
    );
    stage.play.end(END, &job).unwrap();
    let ended = Job {
        state: JobState::Succeeded,
        completed: Some(time(END)),
        ..api
    };
    let work = Job {
        state: JobState::Succeeded,
        completed: Some(time(END)),
        running: None,
        ..work
    };
    assert_eq!(read(&stage), [ended, work]);
}

#[test]
fn the_payload_names_the_volume_when_the_api_job_is_gone() {
    let mut cloud = cloud();
    work(&mut cloud, 1, DETACH, 41, |row| {
        row.set("related", "77")
            .set("job_cmd_info", payload::detach(2, 2, 41, Some(1234)))
    });
    let attach = payload::attach(2, 2, 41, 1235, Some(3));
    work(&mut cloud, 2, "com.cloud.vm.VmWorkAttachVolume", 41, |row| {
        row.set("related", "78").set("job_cmd_info", attach)
    });
    work(&mut cloud, 3, DETACH, 41, |row| {
        row.set("related", "79").set("job_cmd_info", "rO0ABnonsense")
    });
    work(&mut cloud, 4, DETACH, 41, |row| row.null("job_cmd_info"));
    let told: Vec<_> = jobs(&cloud)
        .iter()
        .map(|job| (job.api, job.vm, job.volume))
        .collect();
    let vm = Some(VmId(41));
    assert_eq!(
        told,
        [
            (Some(JobId(77)), vm, Some(VolumeId(1234))),
            (Some(JobId(78)), vm, Some(VolumeId(1235))),
            (Some(JobId(79)), vm, None),
            (None, vm, None)
        ]
    );
}

#[test]
fn a_job_of_a_server_that_is_down_or_gone_is_abandoned() {
    let mut cloud = cloud();
    for (msid, state, removed) in [(1, "Down", None), (2, "Up", Some(AT)), (3, "Up", None)] {
        let row = Row::new("mshost")
            .set("msid", msid)
            .set("state", state)
            .set("service_ip", "10.0.0.1");
        cloud
            .add(row.set("service_port", 9090).set("removed", removed))
            .unwrap();
    }
    for (id, init, executing) in [
        (1, 1, None),
        (2, 2, None),
        (3, 3, None),
        (4, 99, None),
        (5, 1, Some(3)),
        (6, 3, Some(1)),
    ] {
        work(&mut cloud, id, DETACH, 41, |row| {
            row.set("job_init_msid", init)
                .set("job_executing_msid", executing)
        });
    }
    work(&mut cloud, 7, DETACH, 41, |row| row.null("job_init_msid"));
    work(&mut cloud, 8, DETACH, 41, |row| {
        row.set("job_init_msid", 1).set("job_status", 1)
    });
    let abandoned: Vec<u64> = jobs(&cloud)
        .iter()
        .filter(|job| job.abandoned)
        .map(|job| job.id.0)
        .collect();
    assert_eq!(abandoned, [1, 2, 4, 6]);
    assert_eq!(MSID, 90_520_731_423_744);
}

#[test]
fn a_job_that_was_cancelled_as_blocking_others_is_told() {
    let mut cloud = cloud();
    let result = |text: &str| payload::failure(530, text);
    for (id, status, text) in [
        (
            1,
            2,
            "Job is cancelled as it has been blocking others for too long",
        ),
        (2, 2, "Failed to detach volume"),
        (3, 3, "cancelled"),
    ] {
        work(&mut cloud, id, DETACH, 41, |row| {
            row.set("job_status", status).set("job_result", result(text))
        });
    }
    work(&mut cloud, 4, DETACH, 41, |row| {
        row.set("job_status", 2).null("job_result")
    });
    let told: Vec<_> = jobs(&cloud)
        .iter()
        .map(|job| (job.state, job.cancelled_blocking))
        .collect();
    let failed = JobState::Failed;
    assert_eq!(
        told,
        [
            (failed, true),
            (failed, false),
            (JobState::Cancelled, false),
            (failed, false)
        ]
    );
}

#[test]
fn pending_jobs_of_all_kinds_are_told_and_ended_ones_of_other_kinds_are_not() {
    let mut cloud = cloud();
    let user = "org.apache.cloudstack.api.command.user";
    cloud.add(Row::snapshot(8, 55, "BackingUp")).unwrap();
    for (id, command, kind, instance) in [
        (1, "volume.ResizeVolumeCmd", Some("Volume"), Some(5)),
        (2, "snapshot.CreateSnapshotCmd", Some("Snapshot"), Some(8)),
        (3, "vm.StopVMCmd", Some("VirtualMachine"), Some(6)),
        (4, "network.CreateNetworkCmd", Some("Network"), Some(7)),
        (5, "vm.DeployVMCmd", None, None),
        (6, "vm.RestoreVMCmd", Some("virtualmachine"), Some(6)),
    ] {
        let row = Row::job(id, &format!("{user}.{command}"), AT);
        cloud
            .add(row.set("instance_type", kind).set("instance_id", instance))
            .unwrap();
    }
    let ended = Row::job(20, &format!("{user}.volume.ResizeVolumeCmd"), AT).set("job_status", 1);
    cloud
        .add(ended.set("instance_type", "Volume").set("instance_id", 5))
        .unwrap();
    cloud
        .add(
            Row::job(21, API, AT)
                .set("job_status", 1)
                .set("instance_type", "Volume")
                .set("instance_id", 5),
        )
        .unwrap();
    cloud
        .add(
            Row::job(
                22,
                "org.apache.cloudstack.api.command.admin.volume.AttachVolumeCmdByAdmin",
                AT,
            )
            .set("job_status", 2),
        )
        .unwrap();
    work(&mut cloud, 30, "com.cloud.vm.VmWorkStart", 6, |row| row);
    work(&mut cloud, 31, "com.cloud.vm.VmWorkStart", 6, |row| {
        row.set("job_status", 1)
    });
    let told: Vec<_> = jobs(&cloud)
        .iter()
        .map(|job| (job.id.0, job.work, job.volume.map(|v| v.0), job.vm.map(|v| v.0)))
        .collect();
    assert_eq!(
        told,
        [
            (1, Work::Volume, Some(5), None),
            (2, Work::Volume, Some(55), None),
            (3, Work::Vm, None, Some(6)),
            (6, Work::Vm, None, Some(6)),
            (21, Work::Detach, Some(5), None),
            (22, Work::Attach, None, None),
            (30, Work::Vm, None, Some(6)),
        ]
    );
}

#[test]
fn odd_cells_of_jobs_do_not_stop_a_scan() {
    let mut cloud = cloud();
    for (id, related) in [
        (1, ""),
        (2, "0"),
        (3, "abc"),
        (4, "12x"),
        (5, "99999999999999999999999999"),
        (6, "-5"),
    ] {
        work(&mut cloud, id, DETACH, 41, |row| {
            row.set("related", related).null("created").null("last_updated")
        });
    }
    cloud
        .add(Row::job(7, "", AT).null("job_dispatcher").set("job_status", 9))
        .unwrap();
    let told: Vec<_> = jobs(&cloud).iter().map(|job| job.api).collect();
    assert_eq!(told, [None; 6]);
}

#[test]
fn live_reconcile_commands_are_read() {
    let mut cloud = cloud();
    for (kind, id, removed) in [
        ("Volume", 5, None),
        ("VirtualMachine", 6, None),
        ("Volume", 7, Some(AT)),
        ("Host", 8, None),
    ] {
        let row = Row::new("reconcile_commands")
            .set("management_server_id", MSID)
            .set("host_id", 1);
        let row = row
            .set("request_sequence", 1)
            .set("resource_type", kind)
            .set("resource_id", id);
        cloud
            .add(
                row.set("command_name", "MigrateCommand")
                    .set("created", AT)
                    .set("removed", removed),
            )
            .unwrap();
    }
    let entry = |volume: Option<u64>, vm: Option<u64>| Reconcile {
        volume: volume.map(VolumeId),
        vm: vm.map(VmId),
        command: "MigrateCommand".to_owned(),
        created: Some(time(AT)),
    };
    let rows = everything(&mut reader(&cloud.db));
    assert_eq!(
        rows.reconcile,
        [entry(Some(5), None), entry(None, Some(6)), entry(None, None)]
    );
}

#[test]
fn no_key_signature_or_payload_gets_into_evidence_or_output() {
    let mut stage = Stage::healthy();
    stage.play.ask_detach(AT, (500, 501), 102_001).unwrap();
    let secret = "{\"apiKey\":\"VERY-SECRET-KEY\",\"signature\":\"VERY-SECRET-SIGNATURE\",\"password\":\"VERY-SECRET-WORD\"}";
    let row = Row::job(600, API, AT)
        .set("job_cmd_info", secret)
        .set("job_result", secret)
        .set("job_status", 1);
    stage.cloud().add(row).unwrap();
    work(stage.cloud(), 601, DETACH, 41, |row| {
        row.set("job_cmd_info", secret).set("job_result", secret)
    });
    stage
        .cloud()
        .exec("UPDATE storage_pool SET user_info = 'admin:VERY-SECRET-CEPH'", ())
        .unwrap();
    stage
        .cloud()
        .exec("UPDATE vm_instance SET vnc_password = 'VERY-SECRET-VNC'", ())
        .unwrap();
    stage.reach("kvm3", "qemu+tcp://me:VERY-SECRET-URI@127.0.0.1:1/system");
    let file = stage.path("seen.json");
    let run = stage.scan_json(&["-vv", "--save", file.to_str().unwrap()]);
    let saved = std::fs::read_to_string(file).unwrap();
    assert!(saved.contains("VmWorkDetachVolume"), "the jobs are in it");
    for text in [saved, run.stdout, run.stderr] {
        for secret in [
            "VERY-SECRET",
            "LAB-API-KEY",
            "LAB-SIGNATURE",
            "only-looks",
            "rO0AB",
        ] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}
