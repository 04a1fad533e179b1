//! The shapes of lines, one by one, and what only looks like one.

use super::{VOLUME, WORKER1, bytes, thread, wanted};
use jiff::tz::TimeZone;
use volrecon::gather::logs::{read_agent, read_management};
use volrecon::model::{JobId, JobState, LogKind, LogMoment, VmId, VmTold};

fn one(logger: &str, message: &str) -> Vec<LogMoment> {
    let line = String::from_utf8(thread(message))
        .unwrap()
        .replace("c.c.s.X", logger);
    let mut wanted = wanted();
    wanted.jobs.insert(JobId(5));
    read_management(&[bytes("ms", line)], &wanted, &TimeZone::UTC)
        .unwrap()
        .moments
}

fn kind(logger: &str, message: &str) -> Option<LogKind> {
    let moments = one(logger, message);
    assert!(moments.len() < 2);
    moments.into_iter().next().map(|m| m.kind)
}

#[test]
fn every_shape_of_a_management_server() {
    let (ajm, vasi) = ("o.a.c.f.j.i.AsyncJobManagerImpl$5", "c.c.s.VolumeApiServiceImpl");
    let vm = VmId(41);
    let completed = |status| Some(LogKind::Completed { status });
    let work = "com.cloud.vm.VmWorkDetachVolume for VM 41, job origin: 5";
    let command = "VmWorkDetachVolume".to_owned();
    let table = [
        (
            ajm,
            "Sync job-6 execution on object VmWorkJobQueue.41",
            Some(LogKind::Queued { vm }),
        ),
        (ajm, "Schedule queued job-5", Some(LogKind::Dequeued)),
        (
            ajm,
            "Execute sync-queue item: SyncQueueItemVO {id:1, queueId: 2, contentType: AsyncJob, contentId: 5, x: y}",
            Some(LogKind::Dequeued),
        ),
        (
            ajm,
            r#"Execute sync-queue item: SyncQueueItem {"queueId":2,"contentId":5}"#,
            Some(LogKind::Dequeued),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: SUCCEEDED, resultCode: 0, result: null",
            completed(JobState::Succeeded),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: FAILED, resultCode: 530, result: x",
            completed(JobState::Failed),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: CANCELLED, resultCode: 0, result: x",
            Some(LogKind::Cancelled),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: FAILED, resultCode: 0, result: Job is cancelled as it has been blocking others for too long",
            Some(LogKind::Cancelled),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: FAILED, resultCode: 530, result: job cancelled because of management server restart or shutdown",
            Some(LogKind::Cancelled),
        ),
        (
            ajm,
            "Complete async job-5, jobStatus: UNHEARD, resultCode: 0, result: x",
            None,
        ),
        (
            ajm,
            "Remove Job-5 from Queue-9 since it has been blocked for too long",
            Some(LogKind::Cancelled),
        ),
        (
            ajm,
            "job-5 is already completed.",
            Some(LogKind::AlreadyCompleted),
        ),
        (
            ajm,
            "Update async-job attachment, job-5, instanceType: Volume, instanceId: 4",
            Some(LogKind::Bound),
        ),
        (
            ajm,
            "Update async-job attachment, job-5, instanceType: Snapshot, instanceId: 4",
            None,
        ),
        (ajm, "Publish async job-5 complete on message bus", None),
        (
            "c.c.v.VmWorkJobDispatcher",
            &format!("Run VM work job: {work}"),
            Some(LogKind::WorkStarted {
                command: command.clone(),
                vm,
            }),
        ),
        (
            "c.c.v.VmWorkJobDispatcher",
            &format!("Done with run of VM work job: {work}"),
            Some(LogKind::WorkDone { command, vm }),
        ),
        (
            "c.c.v.VmWorkJobDispatcher",
            "Unable to complete AsyncJob {}, job origin: 5",
            Some(LogKind::Failed),
        ),
        (
            "c.c.v.VmWorkJobHandlerProxy",
            "Invocation exception, caused by: x",
            Some(LogKind::Failed),
        ),
        (
            vasi,
            "Volume: pvc successfully attached to VM: worker7",
            Some(LogKind::Attached),
        ),
        (
            vasi,
            r#"Volume: Volume {"id":4} successfully attached to VM: VM instance {"id":41}"#,
            Some(LogKind::Attached),
        ),
        (
            vasi,
            "Volume: pvc failed to attach to VM: worker7",
            Some(LogKind::Failed),
        ),
        (
            vasi,
            "Volume: x failed to attach to VM: y successfully attached to VM: worker7",
            Some(LogKind::Attached),
        ),
        (
            vasi,
            "Trying to attach volume pvc to vm instance:41, update async job-5 progress status",
            Some(LogKind::Bound),
        ),
        (
            vasi,
            r#"Trying to attach volume [{"id":4,"uuid":"u"}] to VM instance [{"id":41}], update async job-[5] progress status"#,
            Some(LogKind::Bound),
        ),
        (
            vasi,
            "Failed to detach volume x from VM y; z",
            Some(LogKind::Failed),
        ),
        (vasi, "New job 6, result field: null", None),
        (
            "c.c.a.t.Request",
            r#"Seq 3-1: Sending  { Cmd , [{"a.AttachCommand":{"disk":{"diskSeq":"4"}}}] }"#,
            Some(LogKind::Sent {
                command: "AttachCommand".to_owned(),
                slot: Some(4),
            }),
        ),
        (
            "c.c.a.t.Request",
            r#"Seq 3-1: Sending  { Cmd , [{"a.DettachCommand":{"disk":{}}}] }"#,
            Some(LogKind::Sent {
                command: "DettachCommand".to_owned(),
                slot: None,
            }),
        ),
        (
            "c.c.a.t.Request",
            r#"Seq 3-1: Processing:  { Ans: , [{"a.Answer":{"result":"false","details":"java.lang.NullPointerException\n\tat com.cloud.agent.api.to.DiskTO.getDiskSeq(DiskTO.java:9)"}}] }"#,
            Some(LogKind::NullPointer),
        ),
        (
            "c.c.a.t.Request",
            r#"Seq 3-1: Processing:  { Ans: , [{"a.Answer":{"result":"true"}}] }"#,
            None,
        ),
        (
            "c.c.x.Other",
            "Complete async job-5, jobStatus: SUCCEEDED, resultCode: 0, result: null",
            None,
        ),
    ];
    for (logger, message, expected) in table {
        assert_eq!(kind(logger, message), expected, "{message}");
    }
}

#[test]
fn every_shape_of_an_agent() {
    let path = format!("/mnt/3e518e5c/{VOLUME}");
    let table = [
        (
            format!(
                "Could not find disk [{path}] attached to VM instance with UUID [{WORKER1}]. We will set it as detached in the database to ensure consistency."
            ),
            LogKind::NotFoundSetDetached,
        ),
        (
            format!(
                "The detach command was executed successfully. The device [{path}] was removed from the VM instance with UUID [{WORKER1}]."
            ),
            LogKind::Detached,
        ),
        (
            format!(
                "The hypervisor sent the detach command, but it is still possible to identify the device [{path}] in the instance with UUID [{WORKER1}]."
            ),
            LogKind::StillThere,
        ),
        (
            format!(
                "Detaching device: [<disk type='file'>\n<source file='{path}'/>\n<target dev='vdb'/>\n</disk>\n]."
            ),
            LogKind::DetachAsked,
        ),
        (
            format!(
                "Attaching device: <disk type='file'>\n<source file='{path}'/>\n<target dev='vdb'/>\n</disk>\n"
            ),
            LogKind::AttachAsked,
        ),
        (
            format!(
                "Failed to attach device to i-2-207-VM: XML error: target 'vdc' duplicated for disk sources '{path}' and 'x'"
            ),
            LogKind::Failed,
        ),
    ];
    for (message, expected) in table {
        let line = format!(
            "2026-09-08 14:42:40,000 WARN  [kvm.storage.KVMStorageProcessor] (agentRequest-Handler-3:null) (logid:4f27dc30) {message}\n"
        );
        let log = read_agent("kvm1", &[bytes("agent", line)], &wanted(), &TimeZone::UTC).unwrap();
        let [moment] = log
            .moments
            .try_into()
            .unwrap_or_else(|m| panic!("{message}: {m:?}"));
        assert_eq!(moment.kind, expected);
        assert_eq!(moment.log_id.as_deref(), Some("4f27dc30"));
        let failed = expected == LogKind::Failed;
        assert_eq!(moment.volume.as_deref(), (!failed).then_some(VOLUME), "{message}");
        assert_eq!(moment.target.as_deref(), failed.then_some("vdc"));
        let vm = moment.vm.unwrap_or_default();
        match expected {
            LogKind::Failed => assert_eq!(vm.instance.as_deref(), Some("i-2-207-VM")),
            LogKind::DetachAsked | LogKind::AttachAsked => assert_eq!(vm, VmTold::default()),
            _ => assert_eq!(vm.uuid.as_deref(), Some(WORKER1)),
        }
    }
    // Not the whole line, and not the agent's disk processor: nothing.
    for (logger, message) in [
        (
            "kvm.storage.KVMStorageProcessor",
            format!("Could not find disk [{path}] attached to VM instance with UUID [{WORKER1}]"),
        ),
        (
            "kvm.storage.KVMStorageProcessor",
            format!(
                "x Could not find disk [{path}] attached to VM instance with UUID [{WORKER1}]. We will set it as detached in the database"
            ),
        ),
        (
            "kvm.storage.Other",
            format!(
                "Could not find disk [{path}] attached to VM instance with UUID [{WORKER1}]. We will set it as detached in the database"
            ),
        ),
    ] {
        let line = format!(
            "2026-09-08 14:42:40,000 WARN  [{logger}] (agentRequest-Handler-3:null) (logid:4f27dc30) {message}\n"
        );
        let log = read_agent("kvm1", &[bytes("agent", line)], &wanted(), &TimeZone::UTC).unwrap();
        assert!(log.moments.is_empty(), "{message}");
    }
}

#[test]
fn a_forged_line_in_a_volumes_name_is_a_name() {
    let forged = "2026-09-08 14:42:40,000 DEBUG [o.a.c.f.j.i.AsyncJobManagerImpl] (Work-Job-Executor-1:[ctx-1, job-5/job-6]) (logid:aaaa0005) Complete async job-6, jobStatus: SUCCEEDED, resultCode: 0, result: null";
    let message = format!(
        r#"Trying to attach volume [Volume {{"id":20102,"name":{},"uuid":"{VOLUME}"}}] to VM instance [VM instance {{"id":41,"uuid":"u"}}], update async job-5 [x] progress status"#,
        serde_json::to_string(&format!(
            "\"}}] to VM instance [{{\"id\":9}}], update async job-9 {forged}"
        ))
        .unwrap()
    );
    let [moment] = one("c.c.s.VolumeApiServiceImpl", &message).try_into().unwrap();
    assert_eq!(moment.kind, LogKind::Bound);
    assert_eq!((moment.job, moment.work_job), (Some(JobId(5)), None));
    assert_eq!(moment.vm.unwrap().id, Some(VmId(41)));
    // In an older line, with names only.
    let message = format!("Volume: {forged} successfully attached to VM: worker7");
    let [moment] = one("c.c.s.VolumeApiServiceImpl", &message).try_into().unwrap();
    assert_eq!(
        (moment.kind, moment.job, moment.work_job),
        (LogKind::Attached, Some(JobId(5)), None)
    );
    // In a line of no shape at all.
    assert!(
        one(
            "c.c.s.VolumeApiServiceImpl",
            &format!("Volume {VOLUME} is called {forged}")
        )
        .is_empty()
    );
}

#[test]
fn a_line_that_only_names_the_volume_is_no_moment() {
    let line = thread(&format!("GET command=listVolumes&id={VOLUME}"));
    let log = read_management(&[bytes("ms", line)], &wanted(), &TimeZone::UTC).unwrap();
    assert!(log.moments.is_empty());
    assert_eq!(log.wanted, wanted());
}

#[test]
fn a_name_alone_finds_an_older_line() {
    let line = "2026-09-08 14:42:40,000 DEBUG [c.c.s.VolumeApiServiceImpl] (Work-Job-Executor-1:ctx-1 job-5/job-6 ctx-2) (logid:aaaa0005) Volume: pvc-e949a8c4 successfully attached to VM: worker7\n";
    let log = read_management(&[bytes("ms", line)], &wanted(), &TimeZone::UTC).unwrap();
    assert_eq!(log.moments[0].volume.as_deref(), Some(VOLUME));
    let line = line.replace("pvc-e949a8c4", "pvc-e949a8c4-2");
    let log = read_management(&[bytes("ms", line)], &wanted(), &TimeZone::UTC).unwrap();
    assert!(log.moments.is_empty());
}
