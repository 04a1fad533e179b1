//! A CloudStack that is played: the management server's and the agent's part in attaching and detaching.
//!
//! It does what the releases do, faults included: the VM of a detach is frozen when it is asked for, the worker reads the row again and
//! compares nothing, the agent takes *not found* for success, and the completion clears the row whoever owns it. It must never be kinder
//! than that, except in the one place that is asked for (`Completion::CompareAndSwap`). No detach is judged by the scanner's own code.

use anyhow::{Context, Result, anyhow, bail};

use super::domxml::{Disk, Pool, Source};
use super::rows::{Cloud, MSID};
use super::world::{Hands, live_disks};
use super::{payload, when};

/// How a detach clears the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// By the volume's id alone.
    AsShipped,
    /// Only if the row still tells of the attachment that the job was asked to end.
    CompareAndSwap,
}

/// A job that was taken into a VM's queue.
#[derive(Debug, Clone)]
pub struct Job {
    pub api: u64,
    pub work: u64,
    pub volume: u64,
    /// Frozen when the job was asked for.
    pub vm: u64,
    pub(super) device: Option<u64>,
    pub(super) attach: bool,
    pub(super) event: u64,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Succeeded,
    Failed(String),
}

/// The played management server.
pub struct Play<'h> {
    pub cloud: Cloud,
    pub hands: &'h dyn Hands,
    pub completion: Completion,
    pub shift: when::Shift,
}

#[derive(Debug)]
pub(super) struct Volume {
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) format: String,
    pub(super) state: String,
    pub(super) vm: Option<u64>,
    pub(super) device: Option<u64>,
    pub(super) pool: Pool,
    /// `removed` is set: the worker's own reading does not find it.
    removed: bool,
}

pub(super) struct Vm {
    pub(super) uuid: String,
    pub(super) instance: String,
    pub(super) state: String,
    pub(super) host: Option<String>,
}

impl Play<'_> {
    /// The API's part of a detach: the only place that validates. `ids` are the API job's and the work job's.
    pub fn ask_detach(&mut self, at: &str, ids: (u64, u64), volume: u64) -> Result<Job> {
        let row = self.volume(volume)?;
        let Some(vm) = row.vm else {
            bail!("The specified volume is not attached to a VM.")
        };
        if !matches!(self.vm(vm)?.state.as_str(), "Running" | "Stopped" | "Destroyed") {
            bail!("Please specify a VM that is either running or stopped.");
        }
        let text = format!(
            "Detaching volume: {} <error:  either volume id or deviceId/vmId need to be specified>",
            row.uuid
        );
        let event = self.event_start(at, "VOLUME.DETACH", &text, volume)?;
        let info = payload::api(&row.uuid, None, event, "VOLUME.DETACH", "detachVolume");
        let work = payload::detach(2, 2, vm, Some(volume));
        self.file(at, ids, ("Detach", volume, vm), (&info, &work))?;
        Ok(Job {
            api: ids.0,
            work: ids.1,
            volume,
            vm,
            device: row.device,
            attach: false,
            event,
        })
    }

    /// The API's part of an attach.
    pub fn ask_attach(
        &mut self,
        at: &str,
        ids: (u64, u64),
        volume: u64,
        vm: u64,
        device: Option<u64>,
    ) -> Result<Job> {
        let row = self.volume(volume)?;
        if row.vm.is_some() {
            bail!("Please specify a volume that is not attached to any VM.");
        }
        if !matches!(row.state.as_str(), "Allocated" | "Ready" | "Uploaded") {
            bail!("Volume state must be in Allocated, Ready or in Uploaded state");
        }
        let target = self.vm(vm)?;
        if !matches!(target.state.as_str(), "Running" | "Stopped") {
            bail!("Please specify a VM that is either running or stopped.");
        }
        let text = format!(
            "Attaching volume with ID: {} to Instance with ID: {}",
            row.uuid, target.uuid
        );
        let event = self.event_start(at, "VOLUME.ATTACH", &text, volume)?;
        let info = payload::api(
            &row.uuid,
            Some(&target.uuid),
            event,
            "VOLUME.ATTACH",
            "attachVolume",
        );
        let work = payload::attach(2, 2, vm, volume, device);
        self.file(at, ids, ("Attach", volume, vm), (&info, &work))?;
        Ok(Job {
            api: ids.0,
            work: ids.1,
            volume,
            vm,
            device,
            attach: true,
            event,
        })
    }

    /// Takes the job from its VM's queue; one at a time, and in order.
    pub fn begin(&mut self, at: &str, job: &Job) -> Result<()> {
        let sql = "SELECT i.id, i.content_id, q.id FROM sync_queue q JOIN sync_queue_item i ON i.queue_id = q.id \
                   WHERE q.sync_objtype = 'VmWorkJobQueue' AND q.sync_objid = ? ORDER BY i.id LIMIT 1";
        let (item, head, queue): (u64, u64, u64) = self.cloud.one(sql, (job.vm,))?;
        if head != job.work {
            bail!(
                "job-{} must wait: job-{head} is before it in the queue of VM {}",
                job.work,
                job.vm
            );
        }
        let at = self.shift.apply(at)?;
        let sql = "UPDATE sync_queue_item SET queue_proc_msid = ?, queue_proc_number = 1, queue_proc_time = ? WHERE id = ?";
        self.cloud.exec(sql, (MSID, &at, item))?;
        self.cloud.exec(
            "UPDATE sync_queue SET queue_proc_number = 1, queue_size = 1, last_updated = ? WHERE id = ?",
            (&at, queue),
        )?;
        self.cloud.exec(
            "UPDATE async_job SET job_executing_msid = ? WHERE id IN (?, ?)",
            (MSID, job.work, job.api),
        )?;
        Ok(())
    }

    /// The worker's part, and the completion of both jobs.
    pub fn end(&mut self, at: &str, job: &Job) -> Result<End> {
        let done = if job.attach {
            self.attach_worker(at, job)
        } else {
            self.detach_worker(at, job)
        };
        let end = match done {
            Ok(()) => End::Succeeded,
            Err(why) => End::Failed(format!("{why:#}")),
        };
        self.complete(at, job, &end)?;
        Ok(end)
    }

    /// A job from first to last in one instant after another.
    pub fn run(&mut self, begin: &str, end: &str, job: &Job) -> Result<End> {
        self.begin(begin, job)?;
        self.end(end, job)
    }

    pub(super) fn detach_worker(&mut self, at: &str, job: &Job) -> Result<()> {
        let (volume, vm) = (self.volume(job.volume)?, self.vm(job.vm)?);
        if volume.removed {
            // The worker does not see a removed row, and does not ask whether it saw one.
            bail!(
                "java.lang.NullPointerException: Cannot invoke \"com.cloud.storage.Volume.getName()\" because \"volume\" is null"
            );
        }
        if vm.state == "Running" {
            let host = vm.host.as_deref().context("no host")?;
            let fail = || format!("Failed to detach volume {} from VM {}", volume.name, vm.instance);
            if volume.device.is_none() {
                bail!(
                    "{}; java.lang.NullPointerException: Cannot invoke \"java.lang.Long.intValue()\" because the return value of \"com.cloud.agent.api.to.DiskTO.getDiskSeq()\" is null",
                    fail()
                );
            }
            let source = Source::of(&volume.pool, &volume.path, None);
            let live = live_disks(&self.hands.xml(host, &vm.instance)?)?;
            // Not there: "We will set it as detached in the database to ensure consistency."
            if let Some((target, _)) = live
                .iter()
                .find(|(_, held)| held.eq_ignore_ascii_case(source.path()))
            {
                let gone = self.hands.detach(host, &vm.instance, target);
                gone.map_err(|why| anyhow!("{}; {why:#}", fail()))?;
            }
        }
        let at_db = self.shift.apply(at)?;
        let clear = "UPDATE volumes SET instance_id = NULL, device_id = NULL, attached = NULL, updated = ?, \
                     volume_type = IF(volume_type = 'ROOT', 'DATADISK', volume_type) WHERE id = ?";
        let changed = match self.completion {
            Completion::AsShipped => self.cloud.exec(clear, (&at_db, job.volume))?,
            Completion::CompareAndSwap => {
                let only = format!("{clear} AND instance_id = ? AND device_id = ?");
                self.cloud.exec(&only, (&at_db, job.volume, job.vm, job.device))?
            }
        };
        // Shipped, it asks nobody whether anything was changed.
        if changed > 0 || self.completion == Completion::AsShipped {
            self.usage(at, "VOLUME.DETACH", job.volume)
        } else {
            Ok(())
        }
    }

    fn attach_worker(&mut self, at: &str, job: &Job) -> Result<()> {
        let (volume, vm) = (self.volume(job.volume)?, self.vm(job.vm)?);
        if volume.vm.is_some() {
            bail!("This volume is already attached to a VM.");
        }
        if volume.state == "Ready" {
            self.state(at, job.volume, "Attaching")?;
        } else if volume.state != "Allocated" {
            bail!(
                "Volume {} is in {}. It should be in Ready or Allocated state",
                volume.name,
                volume.state
            );
        }
        let done = self.plug(at, job, &volume, &vm);
        self.state(at, job.volume, "Ready")?;
        done.with_context(|| format!("Failed to attach volume: {} to VM: {}", volume.name, vm.instance))
    }

    fn plug(&mut self, at: &str, job: &Job, volume: &Volume, vm: &Vm) -> Result<()> {
        let device = self.plug_in(job, volume, vm)?;
        self.write_attached(at, job.volume, job.vm, device)
    }

    /// Libvirt's part of an attach: gives the device id.
    pub(super) fn plug_in(&mut self, job: &Job, volume: &Volume, vm: &Vm) -> Result<u64> {
        let device = match job.device {
            Some(device) => device,
            None => self.next_device(job.vm)?,
        };
        if vm.state == "Running" {
            let disk = Disk::new(
                Source::of(&volume.pool, &volume.path, None),
                &volume.format,
                device,
                &volume.uuid,
            );
            self.hands
                .attach(vm.host.as_deref().context("no host")?, &vm.instance, &disk)?;
        }
        Ok(device)
    }

    fn write_attached(&mut self, at: &str, volume: u64, vm: u64, device: u64) -> Result<()> {
        let now = self.shift.apply(at)?;
        let sql = "UPDATE volumes SET instance_id = ?, device_id = ?, updated = ?, attached = ? WHERE id = ?";
        self.cloud.exec(sql, (vm, device, &now, &now, volume))?;
        self.usage(at, "VOLUME.ATTACH", volume)
    }

    /// The lowest free device id from 1 on, never 3, by the rows alone.
    pub fn next_device(&mut self, vm: u64) -> Result<u64> {
        let sql = "SELECT device_id FROM volumes WHERE instance_id = ? AND removed IS NULL";
        let used: Vec<Option<u64>> = self.cloud.all(sql, (vm,))?;
        if used.contains(&None) {
            bail!("java.lang.NullPointerException");
        }
        let limit: u64 = self.cloud.one(
            "SELECT MAX(max_data_volumes_limit) FROM hypervisor_capabilities WHERE hypervisor_type = 'KVM'",
            (),
        )?;
        (1..=limit + 1)
            .find(|id| *id != 3 && !used.contains(&Some(*id)))
            .with_context(|| format!("All device Ids are used by vm {vm}"))
    }

    /// A pool's row, as far as sources depend on it.
    pub fn pool(&mut self, id: u64) -> Result<Pool> {
        let sql =
            "SELECT uuid, pool_type, path, host_address, port, user_info FROM storage_pool WHERE id = ?";
        let (uuid, kind, path, host_address, port, user_info) = self.cloud.one(sql, (id,))?;
        Ok(Pool {
            uuid,
            kind,
            path,
            host_address,
            port,
            user_info,
        })
    }

    pub(super) fn volume(&mut self, id: u64) -> Result<Volume> {
        let sql = "SELECT uuid, name, path, format, state, instance_id, device_id, pool_id, removed IS NOT NULL FROM volumes WHERE id = ?";
        let (uuid, name, path, format, state, vm, device, pool, removed): (_, _, _, _, _, _, _, u64, bool) =
            self.cloud.one(sql, (id,))?;
        Ok(Volume {
            uuid,
            name,
            path,
            format,
            state,
            vm,
            device,
            pool: self.pool(pool)?,
            removed,
        })
    }

    pub(super) fn vm(&mut self, id: u64) -> Result<Vm> {
        let sql = "SELECT m.uuid, m.instance_name, m.state, h.name FROM vm_instance m LEFT JOIN host h ON h.id = m.host_id WHERE m.id = ?";
        let (uuid, instance, state, host) = self.cloud.one(sql, (id,))?;
        Ok(Vm {
            uuid,
            instance,
            state,
            host,
        })
    }
}
