//! What goes wrong in a played CloudStack beyond its plain course: answers that are lost, jobs that are cancelled while their threads go
//! on, VMs that stop, volumes that move under a job's feet.
//!
//! It does what the releases do, no more: a cancelled job's thread is not stopped, and what it does later is written down by nobody but
//! itself.

use anyhow::{Context, Result, bail, ensure};

use super::domxml::{Disk, Source};
use super::payload;
use super::replay::{End, Job, Play};
use super::rows::Row;
use super::world::live_disks;

/// What the garbage collector says of a job that was at the head of its queue for more than `job.cancel.threshold.minutes`.
pub const BLOCKING: &str = "Job is cancelled as it has been blocking others for too long";

impl Play<'_> {
    /// A successful hot-plug whose answer is lost: the agent has done its part, the row never hears of it, and the job fails.
    pub fn end_attach_unheard(&mut self, at: &str, job: &Job) -> Result<()> {
        let (volume, vm) = (self.volume(job.volume)?, self.vm(job.vm)?);
        self.state(at, job.volume, "Attaching")?;
        self.plug_in(job, &volume, &vm)?;
        self.state(at, job.volume, "Ready")?;
        self.complete(
            at,
            job,
            &End::Failed("job cancelled because of management server restart or shutdown".to_owned()),
        )
    }

    /// Takes a job that runs off its queue, as the garbage collector does after an hour. Its thread is told nothing.
    pub fn cancel(&mut self, at: &str, job: &Job) -> Result<()> {
        let now = self.shift.apply(at)?;
        let sql =
            "SELECT TIMESTAMPDIFF(MINUTE, queue_proc_time, ?) FROM sync_queue_item WHERE content_id = ?";
        let minutes: Option<i64> = self.cloud.one(sql, (&now, job.work))?;
        ensure!(
            minutes.is_some_and(|minutes| minutes > 60),
            "job-{} has been in process for {minutes:?} minutes: nobody cancels it",
            job.work
        );
        // The worker's row has the words as they are. The API's thread wakes up, takes them for a serialised answer, and fails.
        let work = (0, BLOCKING.to_owned());
        let api = (
            530,
            payload::failure(530, &format!("Unable to serialize: {BLOCKING}")),
        );
        self.write_end(at, job, (2, &work, &api))
    }

    /// The thread of a job that was cancelled comes to its end all the same; its completion is ignored.
    pub fn thread_goes_on(&mut self, at: &str, job: &Job) -> Result<End> {
        let status: u64 = self
            .cloud
            .one("SELECT job_status FROM async_job WHERE id = ?", (job.work,))?;
        ensure!(status == 2 && !job.attach, "job-{} was not cancelled", job.work);
        Ok(match self.detach_worker(at, job) {
            Ok(()) => End::Succeeded,
            Err(why) => End::Failed(format!("{why:#}")),
        })
    }

    /// A VM is stopped: its domain is gone, its volumes' rows stay as they are.
    pub fn stop(&mut self, vm: u64) -> Result<()> {
        let row = self.vm(vm)?;
        let sql =
            "UPDATE vm_instance SET state = 'Stopped', host_id = NULL, power_state = 'PowerOff' WHERE id = ?";
        self.cloud.exec(sql, (vm,))?;
        self.hands
            .shut(row.host.as_deref().context("no host")?, &row.instance)
    }

    /// A live storage migration: the volume gets a row of another id, which takes the uuid, the VM and the slot; its path is its first
    /// uuid. The old row is left in `Destroy`, for the storage scavenger.
    pub fn move_live(&mut self, at: &str, volume: u64, to: u64) -> Result<()> {
        let (now, old) = (self.shift.apply(at)?, self.volume(volume)?);
        let (Some(vm), Some(device)) = (old.vm, old.device) else {
            bail!("a live migration is of an attached volume")
        };
        let machine = self.vm(vm)?;
        let host = machine.host.as_deref().context("no host")?;
        self.cloud
            .add(Row::volume(to, &old.name, 1).set("format", old.format.as_str()))?;
        let new = self.volume(to)?;
        let source = Source::of(&old.pool, &old.path, None);
        let live = live_disks(&self.hands.xml(host, &machine.instance)?)?;
        let (target, _) = live
            .iter()
            .find(|(_, held)| held == source.path())
            .context("not plugged in")?;
        self.hands.detach(host, &machine.instance, target)?;
        let disk = Disk::new(
            Source::of(&new.pool, &new.path, None),
            &new.format,
            device,
            &old.uuid,
        );
        self.hands.attach(host, &machine.instance, &disk)?;
        let sql =
            "UPDATE volumes SET uuid = ?, instance_id = NULL, state = 'Destroy', updated = ? WHERE id = ?";
        self.cloud
            .exec(sql, (format!("{}-moved", &new.uuid[..30]), &now, volume))?;
        let sql = "UPDATE volumes SET uuid = ?, instance_id = ?, device_id = ?, attached = ?, updated = ?, last_id = ? WHERE id = ?";
        self.cloud
            .exec(sql, (&old.uuid, vm, device, &now, &now, volume, to))?;
        self.cloud
            .exec("UPDATE volumes SET uuid = ? WHERE id = ?", (new.uuid, volume))
            .map(drop)
    }

    /// The storage scavenger's part: what is in `Destroy` is expunged, and its row removed.
    pub fn scavenge(&mut self, at: &str, volume: u64) -> Result<()> {
        let now = self.shift.apply(at)?;
        let sql = "UPDATE volumes SET state = 'Expunged', removed = ?, updated = ? WHERE id = ? AND state = 'Destroy'";
        let changed = self.cloud.exec(sql, (&now, &now, volume))?;
        ensure!(changed == 1, "volume {volume} is not in Destroy");
        Ok(())
    }
}
