//! The four occurrences of apache/cloudstack #14214, played step by step, with the report's names, times and job ids.
//!
//! What the report does not tell (most uuids, work jobs' ids, seconds between steps) is ours. Each story leaves rows and live XML in the
//! told state and says what a scan must find; it must never look at what a scan does find.

use anyhow::{Result, bail, ensure};

use super::maria::Db;
use super::replay::{Completion, End, Play};
use super::rows::uuid;
use super::staging::{data, guest, instance, plug, stage};
use super::when::{self, Shift};
use super::world::Hands;

/// The volume of occurrence 2.
pub const VOLUME_2: &str = "e949a8c4-5b0d-4c6e-9f3a-61d2c7a80b15";
/// The volume of occurrence 4.
pub const VOLUME_4: &str = "1a6a7be4-93c7-4f02-8d5e-0b9c64f1a7d3";

/// Where a disk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub instance: String,
    pub host: &'static str,
    pub target: &'static str,
    pub device: u64,
}

/// What a scan must find: exactly this, or nothing at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub class: &'static str,
    pub volume: u64,
    pub volume_uuid: String,
    pub holders: Vec<Holder>,
    /// The VM whose next attach fails, the device id that it is given and the target that is taken.
    pub blocks: Option<(String, u64, &'static str)>,
    /// The API job that cleared the row.
    pub job: Option<u64>,
}

/// A played story; `expected` is empty when the completion compared and there is nothing to find.
pub struct Story<'h> {
    pub play: Play<'h>,
    pub expected: Option<Expected>,
    /// The volume that the story is about, and the VM that it was last attached to.
    pub volume: u64,
    pub vm: u64,
    /// What later attaches were told.
    pub refusals: Vec<String>,
}

/// Which completion, and when.
#[derive(Debug, Clone, Copy)]
pub struct Telling {
    pub completion: Completion,
    pub shift: Shift,
}

impl Telling {
    pub const AS_SHIPPED: Self = Self {
        completion: Completion::AsShipped,
        shift: Shift::NONE,
    };
    pub const COMPARED: Self = Self {
        completion: Completion::CompareAndSwap,
        shift: Shift::NONE,
    };
}

/// Occurrence 1: 2026-08-27/28, `worker7`; job-148750 clears what job-148738 attached.
pub fn first<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Story<'h>> {
    let mut play = stage(db, hands, how)?;
    guest(&mut play, 103, "worker3", 1, &[(10_301, 1)])?;
    guest(&mut play, 107, "worker7", 2, &[(10_701, 1)])?;
    let (volume, vm) = (10_301, 107);
    let gone = play.ask_detach("2026-08-27 23:51:04", (148_702, 148_703), volume)?;
    let late = play.ask_detach("2026-08-27 23:52:05", (148_750, 148_751), volume)?;
    done(&play.run("2026-08-27 23:51:06", "2026-08-27 23:53:20", &gone)?)?;
    let moved = play.ask_attach("2026-08-27 23:55:10", (148_738, 148_739), volume, vm, None)?;
    done(&play.run("2026-08-27 23:55:11", "2026-08-27 23:55:18", &moved)?)?;
    done(&play.run("2026-08-27 23:58:50", "2026-08-27 23:58:54", &late)?)?;
    let mut story = Story {
        play,
        expected: None,
        volume,
        vm,
        refusals: Vec::new(),
    };
    story.attach_spare(&[
        (148_762, "2026-08-28 00:00:31", 10_390),
        (148_768, "2026-08-28 00:01:32", 10_390),
    ])?;
    story.expect(
        "straggler-detach",
        Holder {
            instance: instance(vm),
            host: "kvm2",
            target: "vdc",
            device: 2,
        },
        Some(148_750),
    )
}

/// Occurrence 2: 2026-09-08, from `worker1` to `worker7`; job-210235 clears what job-210247 attached.
pub fn second<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Story<'h>> {
    let mut play = stage(db, hands, how)?;
    let (volume, vm) = (20_102, 207);
    guest(&mut play, 201, "worker1", 1, &[(20_101, 1)])?;
    guest(&mut play, 207, "worker7", 2, &[(20_701, 1)])?;
    guest(&mut play, 208, "worker8", 3, &[(20_801, 1)])?;
    data(&mut play, volume, "pvc-e949a8c4", Some(VOLUME_2))?;
    plug(&mut play, volume, 201, 2, "kvm1")?;
    let asked = [
        ("2026-09-08 14:34:56", (210_187, 210_188)),
        ("2026-09-08 14:35:56", (210_205, 210_206)),
        ("2026-09-08 14:36:57", (210_223, 210_224)),
        ("2026-09-08 14:37:57", (210_235, 210_236)),
    ];
    let mut queue = Vec::new();
    for (at, ids) in asked {
        queue.push(play.ask_detach(at, ids, volume)?);
    }
    done(&play.run("2026-09-08 14:34:57", "2026-09-08 14:38:51", &queue[0])?)?;
    stale(&play.run("2026-09-08 14:38:52", "2026-09-08 14:39:20", &queue[1])?)?;
    stale(&play.run("2026-09-08 14:39:21", "2026-09-08 14:39:49", &queue[2])?)?;
    let moved = play.ask_attach("2026-09-08 14:40:10", (210_247, 210_248), volume, vm, None)?;
    done(&play.run("2026-09-08 14:40:10", "2026-09-08 14:40:19", &moved)?)?;
    done(&play.run("2026-09-08 14:40:21", "2026-09-08 14:42:40", &queue[3])?)?;
    let mut story = Story {
        play,
        expected: None,
        volume,
        vm,
        refusals: Vec::new(),
    };
    story.attach_spare(&[
        (210_253, "2026-09-08 14:43:04", 20_790),
        (210_259, "2026-09-08 14:44:05", 20_791),
        (210_265, "2026-09-08 14:44:06", 20_790),
        (210_268, "2026-09-08 14:45:06", 20_791),
        (210_277, "2026-09-08 14:46:07", 20_790),
    ])?;
    story.expect(
        "straggler-detach",
        Holder {
            instance: instance(vm),
            host: "kvm2",
            target: "vdc",
            device: 2,
        },
        Some(210_235),
    )
}

/// Occurrence 3: `worker2`; one stale detach meets no row and dies of a null pointer, job-185059 never reaches the hypervisor and clears.
pub fn third<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Story<'h>> {
    let mut play = stage(db, hands, how)?;
    let (volume, vm) = (30_501, 302);
    guest(&mut play, 305, "worker5", 1, &[(volume, 1)])?;
    guest(&mut play, 302, "worker2", 3, &[])?;
    let gone = play.ask_detach("2026-09-02 09:10:00", (185_021, 185_022), volume)?;
    let null = play.ask_detach("2026-09-02 09:11:01", (185_034, 185_035), volume)?;
    let late = play.ask_detach("2026-09-02 09:12:01", (185_059, 185_060), volume)?;
    done(&play.run("2026-09-02 09:10:01", "2026-09-02 09:12:30", &gone)?)?;
    stale(&play.run("2026-09-02 09:12:32", "2026-09-02 09:12:33", &null)?)?;
    let moved = play.ask_attach("2026-09-02 09:13:10", (185_047, 185_048), volume, vm, None)?;
    done(&play.run("2026-09-02 09:13:10", "2026-09-02 09:13:17", &moved)?)?;
    play.cloud.exec(
        "UPDATE vm_instance SET state = 'Stopped', host_id = NULL, power_state = 'PowerOff' WHERE id = 305",
        (),
    )?;
    play.hands.shut("kvm1", &instance(305))?;
    done(&play.run("2026-09-02 09:15:40", "2026-09-02 09:15:41", &late)?)?;
    let story = Story {
        play,
        expected: None,
        volume,
        vm,
        refusals: Vec::new(),
    };
    story.expect(
        "straggler-detach",
        Holder {
            instance: instance(vm),
            host: "kvm3",
            target: "vdb",
            device: 1,
        },
        Some(185_059),
    )
}

/// Occurrence 4: `worker4`; a successful attach at `vde` that the row never heard of, and no job is left to tell.
pub fn fourth<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Story<'h>> {
    let mut play = stage(db, hands, how)?;
    let (volume, vm) = (40_403, 404);
    guest(&mut play, 404, "worker4", 2, &[(40_401, 1), (40_402, 2)])?;
    guest(&mut play, 409, "worker9", 3, &[])?;
    data(&mut play, volume, "pvc-1a6a7be4", Some(VOLUME_4))?;
    let lost = play.ask_attach("2026-09-10 03:20:11", (214_100, 214_101), volume, vm, None)?;
    play.begin("2026-09-10 03:20:12", &lost)?;
    play.end_attach_unheard("2026-09-10 03:21:40", &lost)?;
    let mut story = Story {
        play,
        expected: None,
        volume,
        vm,
        refusals: Vec::new(),
    };
    story.attach_spare(&[
        (214_120, "2026-09-10 03:24:00", 40_490),
        (214_126, "2026-09-10 03:24:25", 40_491),
    ])?;
    ensure!(story.refusals.len() == 2, "nothing was refused");
    story.play.forget_jobs()?;
    story.set(
        "lost-attach",
        vec![Holder {
            instance: instance(vm),
            host: "kvm2",
            target: "vde",
            device: 4,
        }],
        None,
    );
    Ok(story)
}

/// The end of occurrence 4: the pod is evicted, and the volume goes to a second VM while the first still holds it. RBD and paper only:
/// a file's own lock would refuse.
pub fn fourth_double<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Story<'h>> {
    let mut story = fourth(db, hands, how)?;
    let second = story
        .play
        .ask_attach("2026-09-16 11:02:00", (229_310, 229_311), story.volume, 409, None)?;
    done(
        &story
            .play
            .run("2026-09-16 11:02:01", "2026-09-16 11:02:07", &second)?,
    )?;
    let old = Holder {
        instance: instance(404),
        host: "kvm2",
        target: "vde",
        device: 4,
    };
    story.set(
        "double-open",
        vec![
            old,
            Holder {
                instance: instance(409),
                host: "kvm3",
                target: "vdb",
                device: 1,
            },
        ],
        None,
    );
    Ok(story)
}

impl<'h> Story<'h> {
    /// Attaches other volumes to the story's VM, as its clients go on doing; what is refused is kept.
    fn attach_spare(&mut self, asked: &[(u64, &str, u64)]) -> Result<()> {
        for (api, at, volume) in asked {
            let known: Option<u64> = self
                .play
                .cloud
                .maybe("SELECT id FROM volumes WHERE id = ?", (volume,))?;
            if known.is_none() {
                data(&mut self.play, *volume, &format!("pvc-{volume}"), None)?;
            }
            let row: Option<u64> = self
                .play
                .cloud
                .one("SELECT instance_id FROM volumes WHERE id = ?", (volume,))?;
            if row.is_some() {
                continue; // an earlier one was not refused
            }
            let job = self
                .play
                .ask_attach(at, (*api, api + 1), *volume, self.vm, None)?;
            if let End::Failed(why) = self.play.run(at, &when::plus(at, 1)?, &job)? {
                self.refusals.push(why);
            }
        }
        Ok(())
    }

    fn expect(mut self, class: &'static str, holder: Holder, job: Option<u64>) -> Result<Self> {
        if self.play.completion == Completion::AsShipped {
            self.set(class, vec![holder], job);
        }
        Ok(self)
    }

    fn set(&mut self, class: &'static str, holders: Vec<Holder>, job: Option<u64>) {
        let uuid = match self.volume {
            20_102 => VOLUME_2.to_owned(),
            40_403 => VOLUME_4.to_owned(),
            other => uuid(0x0d15, other),
        };
        let blocks = holders.first().map(|h| (h.instance.clone(), h.device, h.target));
        self.expected = Some(Expected {
            class,
            volume: self.volume,
            volume_uuid: uuid,
            holders,
            blocks,
            job,
        });
    }

    /// What the row says of the story's volume: VM and device id.
    pub fn claim(&mut self) -> Result<(Option<u64>, Option<u64>)> {
        self.play.cloud.one(
            "SELECT instance_id, device_id FROM volumes WHERE id = ?",
            (self.volume,),
        )
    }

    /// The live disks of one VM of the story, as target and source.
    pub fn live(&self, host: &str, vm: u64) -> Result<Vec<(String, String)>> {
        super::world::live_disks(&self.play.hands.xml(host, &instance(vm))?)
    }
}

fn done(end: &End) -> Result<()> {
    match end {
        End::Succeeded => Ok(()),
        End::Failed(why) => bail!("a step of the story failed: {why}"),
    }
}

fn stale(end: &End) -> Result<()> {
    match end {
        End::Failed(why) if why.contains("NullPointerException") => Ok(()),
        other => bail!("a stale detach should die of a null pointer, and {other:?}"),
    }
}
