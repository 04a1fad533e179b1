//! A stage for a story: three hosts, one pool, guests with their volumes, rows and disks in accord.

use anyhow::Result;

use super::domxml::{Disk, Domain, Source};
use super::maria::Db;
use super::occurrences::Telling;
use super::replay::Play;
use super::rows::{Cloud, Row, uuid};
use super::world::Hands;

pub fn instance(vm: u64) -> String {
    format!("i-2-{vm}-VM")
}

/// Three hosts, one pool, no guests.
pub fn stage<'h>(db: &Db, hands: &'h dyn Hands, how: Telling) -> Result<Play<'h>> {
    let mut cloud = Cloud::new(db, 3)?;
    let (kind, path, user) = hands.pool();
    let pool = Row::pool(1, &kind, &path)
        .set("user_info", user)
        .set("uuid", POOL);
    cloud.add(pool)?;
    Ok(Play {
        cloud,
        hands,
        completion: how.completion,
        shift: how.shift,
    })
}

/// The pool's uuid, which is also that of the hosts' Ceph secret.
pub const POOL: &str = "c5a7e0d2-6b18-3f4c-a9e1-2d40b87f5c36";

/// A VM with its ROOT and data volumes, running.
pub fn guest(play: &mut Play<'_>, id: u64, name: &str, host: u64, volumes: &[(u64, u64)]) -> Result<()> {
    play.cloud.add_vm(Row::vm(id, name, host))?;
    let format = format_of(play);
    let mut domain = Domain::new(&instance(id), &uuid(0x1157, id));
    for (volume, device) in [(id * 1000, 0)].iter().chain(volumes) {
        let label = if *device == 0 {
            format!("ROOT-{id}")
        } else {
            format!("pvc-{volume}")
        };
        data(play, *volume, &label, None)?;
        play.cloud.exec(
            "UPDATE volumes SET instance_id = ?, device_id = ?, attached = ?, volume_type = IF(? = 0, 'ROOT', volume_type) WHERE id = ?",
            (id, device, super::rows::BORN, device, volume),
        )?;
        domain = domain.disk(&disk(play, *volume, *device, format)?);
    }
    play.hands.boot(&format!("kvm{host}"), &domain)
}

/// A data volume that is attached to nothing.
pub fn data(play: &mut Play<'_>, id: u64, name: &str, uuid: Option<&str>) -> Result<()> {
    let format = format_of(play);
    let mut row = Row::volume(id, name, 1).set("format", format);
    if let Some(uuid) = uuid {
        row = row.set("uuid", uuid).set("path", uuid);
    }
    play.cloud.add(row)?;
    let path: String = play.cloud.one("SELECT path FROM volumes WHERE id = ?", (id,))?;
    play.hands.provision(&play.pool(1)?, &path, format)
}

/// Attaches a volume as if it had always been: row and disk, no job.
pub fn plug(play: &mut Play<'_>, volume: u64, vm: u64, device: u64, host: &str) -> Result<()> {
    let format = format_of(play);
    play.cloud.exec(
        "UPDATE volumes SET instance_id = ?, device_id = ?, attached = ? WHERE id = ?",
        (vm, device, super::rows::BORN, volume),
    )?;
    let disk = disk(play, volume, device, format)?;
    play.hands.attach(host, &instance(vm), &disk)
}

pub fn disk(play: &mut Play<'_>, volume: u64, device: u64, format: &str) -> Result<Disk> {
    let (uuid, path): (String, String) = play
        .cloud
        .one("SELECT uuid, path FROM volumes WHERE id = ?", (volume,))?;
    Ok(Disk::new(
        Source::of(&play.pool(1)?, &path, None),
        format,
        device,
        &uuid,
    ))
}

pub fn format_of(play: &Play<'_>) -> &'static str {
    if play.hands.pool().0 == "RBD" {
        "RAW"
    } else {
        "QCOW2"
    }
}
