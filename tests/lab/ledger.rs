//! What a played management server writes down: jobs, queues, events, usage, and the state of a volume.
//!
//! It must never decide anything: who may do what, and when, is `replay`'s part.

use anyhow::Result;

use super::payload;
use super::replay::{End, Job, Play};
use super::rows::{MSID, Row};

const EXCEPTION: u32 = 530;

impl Play<'_> {
    pub(super) fn event_start(&mut self, at: &str, kind: &str, text: &str, volume: u64) -> Result<u64> {
        let at = self.shift.apply(at)?;
        let scheduled = self.event(Row::event(kind, "Scheduled", text, &at), volume)?;
        let verb = if kind == "VOLUME.ATTACH" {
            "Attaching volume"
        } else {
            "Detaching volume"
        };
        self.event(
            Row::event(kind, "Started", &format!("{verb}. {text}"), &at).set("start_id", scheduled),
            volume,
        )?;
        Ok(scheduled)
    }

    pub(super) fn event(&mut self, row: Row, volume: u64) -> Result<u64> {
        let sql = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'event' \
                   AND column_name = 'resource_id'";
        let known: u64 = self.cloud.one(sql, ())?;
        let row = if known > 0 {
            row.set("resource_id", volume).set("resource_type", "Volume")
        } else {
            row
        };
        self.cloud.add(row)
    }

    /// The rows of an API job and of the work job that it waits for.
    pub(super) fn file(
        &mut self,
        at: &str,
        ids: (u64, u64),
        what: (&str, u64, u64),
        info: (&str, &str),
    ) -> Result<()> {
        let at = self.shift.apply(at)?;
        let (verb, volume, vm) = what;
        let command = format!("org.apache.cloudstack.api.command.user.volume.{verb}VolumeCmd");
        let api = Row::job(ids.0, &command, &at)
            .set("instance_type", "Volume")
            .set("instance_id", volume);
        self.cloud.add(api.set("job_cmd_info", info.0))?;
        let work =
            Row::job(ids.1, &format!("com.cloud.vm.VmWork{verb}Volume"), &at).set("job_cmd_info", info.1);
        self.cloud.add(
            work.set("related", ids.0.to_string())
                .set("job_type", "VmWork")
                .set("job_dispatcher", "VmWorkJobDispatcher"),
        )?;
        let step = Row::new("vm_work_job")
            .set("id", ids.1)
            .set("step", "Starting")
            .set("vm_type", "Instance");
        self.cloud.add(step.set("vm_instance_id", vm))?;
        let join = Row::new("async_job_join_map")
            .set("job_id", ids.0)
            .set("join_job_id", ids.1)
            .set("join_status", 0);
        self.cloud.add(join.set("join_msid", MSID).set("created", &at))?;
        let sql = "INSERT IGNORE INTO sync_queue (sync_objtype, sync_objid, created, last_updated) VALUES ('VmWorkJobQueue', ?, ?, ?)";
        self.cloud.exec(sql, (vm, &at, &at))?;
        let queue: u64 = self.cloud.one(
            "SELECT id FROM sync_queue WHERE sync_objtype = 'VmWorkJobQueue' AND sync_objid = ?",
            (vm,),
        )?;
        let item = Row::new("sync_queue_item")
            .set("queue_id", queue)
            .set("content_type", "AsyncJob")
            .set("content_id", ids.1);
        self.cloud.add(item.set("created", &at)).map(drop)
    }

    pub(super) fn complete(&mut self, at: &str, job: &Job, end: &End) -> Result<()> {
        let volume = self.volume(job.volume)?;
        match end {
            End::Succeeded => {
                let shown = format!(
                    "org.apache.cloudstack.api.response.VolumeResponse/volume/{{\"id\":\"{}\"}}",
                    volume.uuid
                );
                self.write_end(at, job, (1, &(0, payload::result(job.volume)), &(0, shown)))
            }
            End::Failed(why) => {
                let (work, api) = (payload::thrown(why), payload::failure(EXCEPTION, why));
                self.write_end(at, job, (2, &(EXCEPTION, work), &(EXCEPTION, api)))
            }
        }
    }

    /// Status, and code and result of the work job and of the API job.
    pub(super) fn write_end(
        &mut self,
        at: &str,
        job: &Job,
        (status, work, api): (u32, &(u32, String), &(u32, String)),
    ) -> Result<()> {
        let now = self.shift.apply(at)?;
        let volume = self.volume(job.volume)?;
        let sql = "UPDATE async_job SET job_status = ?, job_result_code = ?, job_result = ?, job_complete_msid = ?, last_updated = ?, \
                   removed = ?, job_executing_msid = NULL WHERE id = ? AND job_status = 0";
        for (id, (code, result)) in [(job.work, work), (job.api, api)] {
            self.cloud
                .exec(sql, (status, code, result, MSID, &now, &now, id))?;
        }
        let sql = "UPDATE async_job_join_map SET join_status = ?, complete_msid = ?, last_updated = ? WHERE join_job_id = ?";
        self.cloud.exec(sql, (status, MSID, &now, job.work))?;
        let sql = "UPDATE sync_queue q JOIN sync_queue_item i ON i.queue_id = q.id SET q.queue_size = 0, q.last_updated = ? WHERE i.content_id = ?";
        self.cloud.exec(sql, (&now, job.work))?;
        self.cloud
            .exec("DELETE FROM sync_queue_item WHERE content_id = ?", (job.work,))?;
        let (kind, verb) = if job.attach {
            ("VOLUME.ATTACH", "attaching")
        } else {
            ("VOLUME.DETACH", "detaching")
        };
        let (level, text) = if status == 1 {
            (
                "INFO",
                format!("Successfully completed {verb} volume. {}", volume.uuid),
            )
        } else {
            ("ERROR", format!("Error while {verb} volume. {}", volume.uuid))
        };
        let row = Row::event(kind, "Completed", &text, &now)
            .set("level", level)
            .set("start_id", job.event);
        self.event(row, job.volume).map(drop)
    }

    /// What the garbage collector does a day later: no trace of any job is left.
    pub fn forget_jobs(&mut self) -> Result<()> {
        for table in [
            "sync_queue_item",
            "async_job_join_map",
            "vm_work_job",
            "async_job",
        ] {
            self.cloud.exec(&format!("DELETE FROM {table}"), ())?;
        }
        Ok(())
    }

    pub(super) fn state(&mut self, at: &str, volume: u64, state: &str) -> Result<()> {
        let now = self.shift.apply(at)?;
        let sql = "UPDATE volumes SET state = ?, updated = ?, update_count = update_count + 1 WHERE id = ?";
        self.cloud.exec(sql, (state, now, volume)).map(drop)
    }

    pub(super) fn usage(&mut self, at: &str, kind: &str, volume: u64) -> Result<()> {
        let name: String = self
            .cloud
            .one("SELECT name FROM volumes WHERE id = ?", (volume,))?;
        let row = Row::new("usage_event")
            .set("type", kind)
            .set("account_id", 2)
            .set("created", self.shift.apply(at)?);
        self.cloud
            .add(
                row.set("zone_id", 1)
                    .set("resource_id", volume)
                    .set("resource_name", name),
            )
            .map(drop)
    }
}
