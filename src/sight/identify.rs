//! Which volume a disk is: its serial, then its source by the type of the pool. The target names nothing.
//!
//! Unknown serials are ignored (imported VMs have none of ours). A serial that names a removed row, or a row left over
//! from a migration, yields to the live row of the source. A backing chain is walked only if its top is unknown.

use super::table::Lists;
use super::{Held, Sight};
use crate::model::{
    Device, Disk, HostId, Source, SourceKey, Vm, Volume, VolumeId, expected_keys, is_plainly, seen_keys,
    serial_of,
};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// How a disk was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The volume.
    pub volume: VolumeId,
    /// The top of its chain is shown to be the source that the row expects. If not, the guest may write to another copy
    /// than the one that the row names.
    pub source_matches: bool,
}

/// Which volume a disk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// This one.
    Volume(Named),
    /// Its serial names one volume, its source another.
    Conflict {
        /// The serial's.
        serial: VolumeId,
        /// The source's.
        source: VolumeId,
    },
    /// Two live rows stand on its source, and the serial does not decide.
    Ambiguous(Vec<VolumeId>),
    /// No volume, and known to be none: a CD-ROM, a drive without medium, an `extraconfig` disk.
    NoVolume,
    /// Not known. A `lun` device with a source is here, too.
    Unknown,
}

/// Rows by the hash of their expected source, sorted. Who looks a row up asks it again whether it expects that source.
type Sources = Vec<(u64, VolumeId)>;

/// Rows by the number in their serial, sorted.
type Serials = Vec<(u128, VolumeId)>;

/// Indexes over all rows, made when the first disk needs them.
#[derive(Default)]
struct Indexes {
    serials: Option<Serials>,
    sources: Option<Sources>,
    /// Rows that have their source in common with another live one.
    shared: HashSet<VolumeId>,
}

enum Pick {
    None,
    One(VolumeId),
    Many(Vec<VolumeId>),
}

impl<'e> Sight<'e> {
    pub(super) fn identify_disks(&mut self) {
        let mut indexes = Indexes {
            shared: self.shared_sources(),
            ..Indexes::default()
        };
        let mut identities = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            let vm = seat.vm().and_then(|id| self.vm(id));
            let own = vm.map_or(&[][..], |vm| self.volumes_of(vm.id));
            let told = |disk| {
                let sure = own.iter().filter(|id| !indexes.shared.contains(id));
                let plain = sure.into_iter().find_map(|id| self.is_own(*id, disk, seat.host));
                plain.unwrap_or_else(|| self.identify(disk, seat.host, vm, &mut indexes))
            };
            identities.push(seat.domain.disks.iter().map(told).collect::<Vec<_>>());
        }
        let mut holders = Vec::with_capacity(self.volumes.len());
        for (seat, disks) in identities.iter().enumerate() {
            for (disk, identity) in disks.iter().enumerate() {
                let held = Held { seat, disk };
                match identity {
                    Identity::Volume(named) => {
                        let row = self.volumes.position(named.volume);
                        holders.extend(row.and_then(|row| Some((u32::try_from(row).ok()?, held))));
                    }
                    Identity::Conflict { serial, source } => self.leave_open(held, &[*serial, *source]),
                    Identity::Ambiguous(ids) => self.leave_open(held, ids),
                    Identity::Unknown => self.leave_open(held, &[]),
                    Identity::NoVolume => {}
                }
            }
        }
        self.holders = Lists::new(self.volumes.len(), holders);
        self.identities = identities;
    }

    /// The common case needs no index: a row of the domain's own VM has the serial and expects just this source.
    fn is_own(&self, id: VolumeId, disk: &Disk, host: HostId) -> Option<Identity> {
        let volume = self.volume(id)?;
        let source = disk.source.as_ref().filter(|_| Self::can_be_volume(disk))?;
        let (uuid, serial) = (volume.uuid.as_deref()?, disk.serial.as_deref()?);
        let same = serial_of(uuid).is_some() && serial_of(uuid) == serial_of(serial);
        (same && !volume.is_deleted() && self.expects(volume, source, host)).then_some(Identity::Volume(
            Named {
                volume: id,
                source_matches: true,
            },
        ))
    }

    /// A disk that is not identified, and the volumes that it may be by one of its witnesses.
    fn leave_open(&mut self, held: Held, volumes: &[VolumeId]) {
        let seat = self.seats[held.seat];
        self.unidentified.push(held);
        self.unidentified_on.entry(seat.host).or_default().push(held);
        if let Some(vm) = seat.vm() {
            self.unidentified_in.entry(vm).or_default().push(held);
        }
        for volume in volumes {
            self.half_named.entry(*volume).or_default().push(held);
        }
    }

    /// Rows by the number in their serial. A live row wins over one that is gone; two live ones that share the digits
    /// make the serial say nothing.
    fn serials(&self) -> Serials {
        let numbered = |volume: &Volume| Some((serial_of(volume.uuid.as_deref()?)?, volume.id));
        let mut serials: Serials = self.volumes.iter().filter_map(numbered).collect();
        serials.sort_unstable();
        serials
    }

    /// Live rows that stand on one source with another live row: the same pool and path.
    fn shared_sources(&self) -> HashSet<VolumeId> {
        let place = |volume: &'e Volume| {
            let path = volume.path.as_deref().filter(|path| !path.is_empty())?;
            let named = volume.uuid.is_some() && !volume.is_deleted();
            let pool = volume.pool.filter(|_| named)?;
            Some((hash_of(&(pool, path)), volume.id))
        };
        let mut places: Vec<(u64, VolumeId)> = self.volumes.iter().filter_map(place).collect();
        places.sort_unstable();
        let mut shared = HashSet::new();
        for pair in places.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            if let (Some(a), Some(b)) = (self.volume(pair[0].1), self.volume(pair[1].1)) {
                let linked = a.last_id == Some(b.id) || b.last_id == Some(a.id);
                if !linked && (a.pool, &a.path) == (b.pool, &b.path) {
                    shared.extend([a.id, b.id]);
                }
            }
        }
        shared
    }

    fn by_serial(&self, serial: u128, serials: &Serials) -> Option<&'e Volume> {
        let from = serials.partition_point(|(other, _)| *other < serial);
        let same = serials[from..].iter().take_while(|(other, _)| *other == serial);
        let rows: Vec<&Volume> = same.filter_map(|(_, id)| self.volume(*id)).collect();
        let live: Vec<&Volume> = rows.iter().copied().filter(|row| !row.is_deleted()).collect();
        match live.as_slice() {
            [] => rows.last().copied(),
            [one] => Some(one),
            _ => None,
        }
    }

    fn sources(&self) -> Sources {
        let mut sources = Sources::with_capacity(self.volumes.len());
        for volume in self.volumes.iter() {
            let keys = self.expected(volume);
            sources.extend(keys.iter().map(|key| (hash_of(key), volume.id)));
        }
        sources.sort_unstable();
        sources
    }

    fn expected(&self, volume: &Volume) -> Vec<SourceKey> {
        volume
            .pool
            .and_then(|id| self.pool(id))
            .map_or_else(Vec::new, |pool| expected_keys(volume, pool))
    }

    fn identify(&self, disk: &'e Disk, host: HostId, vm: Option<&Vm>, indexes: &mut Indexes) -> Identity {
        if disk.device == Device::Lun && disk.source.is_some() {
            return Identity::Unknown;
        }
        let Some(source) = disk.source.as_ref().filter(|_| Self::can_be_volume(disk)) else {
            return Identity::NoVolume;
        };
        let number = disk.serial.as_deref().and_then(serial_of);
        let by_serial = number.and_then(|serial| {
            let serials = indexes.serials.get_or_insert_with(|| self.serials());
            self.by_serial(serial, serials)
        });
        // The common case needs no index of sources: the serial's row expects just this source.
        if let Some(row) = by_serial.filter(|row| !row.is_deleted())
            && !indexes.shared.contains(&row.id)
            && self.expects(row, source, host)
        {
            return Identity::Volume(Named {
                volume: row.id,
                source_matches: true,
            });
        }
        let sources = indexes.sources.get_or_insert_with(|| self.sources());
        match (by_serial, self.pick(source, host, sources)) {
            (Some(serial), Pick::One(id)) => self.weigh(serial, id),
            (Some(serial), Pick::None) => self.through_chain(Some(serial), disk, host, sources),
            // The serial does not decide: whichever row is right, the other one gives the same bytes away.
            (_, Pick::Many(ids)) => Identity::Ambiguous(ids),
            (None, Pick::One(volume)) => Identity::Volume(Named {
                volume,
                source_matches: true,
            }),
            (None, Pick::None) => match self.through_chain(None, disk, host, sources) {
                Identity::Unknown if is_extra(disk, vm) || is_image(disk) => Identity::NoVolume,
                other => other,
            },
        }
    }

    /// Both witnesses name a row. The live one of the source wins over what is gone or left over.
    fn weigh(&self, serial: &Volume, id: VolumeId) -> Identity {
        let Some(source) = self.volume(id) else {
            return Identity::Unknown;
        };
        if serial.id == source.id {
            return Identity::Volume(Named {
                volume: source.id,
                source_matches: true,
            });
        }
        let linked = serial.last_id == Some(source.id) || source.last_id == Some(serial.id);
        match (serial.is_deleted(), source.is_deleted()) {
            (true, _) => Identity::Volume(Named {
                volume: source.id,
                source_matches: true,
            }),
            // The old copy of a migrated volume: its row gave its uuid away.
            (false, true) if source.uuid.is_none() || linked => Identity::Volume(Named {
                volume: serial.id,
                source_matches: false,
            }),
            (false, false) if linked => Identity::Volume(Named {
                volume: source.id,
                source_matches: true,
            }),
            (false, false) if source.uuid.is_none() => Identity::Volume(Named {
                volume: serial.id,
                source_matches: false,
            }),
            (false, _) => Identity::Conflict {
                serial: serial.id,
                source: source.id,
            },
        }
    }

    /// The top is no row's source: an overlay, or a copy that the row has left behind.
    fn through_chain(
        &self,
        serial: Option<&Volume>,
        disk: &Disk,
        host: HostId,
        sources: &Sources,
    ) -> Identity {
        for below in &disk.backing {
            match (self.pick(below, host, sources), serial) {
                (Pick::None, _) => {}
                (Pick::Many(ids), Some(row)) if ids.contains(&row.id) => {
                    return Identity::Volume(Named {
                        volume: row.id,
                        source_matches: false,
                    });
                }
                (Pick::Many(ids), _) => return Identity::Ambiguous(ids),
                (Pick::One(id), Some(row)) => {
                    return match self.weigh(row, id) {
                        Identity::Volume(named) => Identity::Volume(Named {
                            source_matches: false,
                            ..named
                        }),
                        other => other,
                    };
                }
                (Pick::One(volume), None) => {
                    return Identity::Volume(Named {
                        volume,
                        source_matches: false,
                    });
                }
            }
        }
        serial.map_or(Identity::Unknown, |row| {
            Identity::Volume(Named {
                volume: row.id,
                source_matches: false,
            })
        })
    }

    fn expects(&self, volume: &Volume, source: &Source, host: HostId) -> bool {
        let pool = volume.pool.and_then(|id| self.pool(id));
        let plainly = || pool.is_some_and(|pool| is_plainly(volume, pool, source));
        self.on_host(volume, host) && (plainly() || self.expects_one(volume, &seen_keys(source)))
    }

    fn expects_one(&self, volume: &Volume, seen: &[SourceKey]) -> bool {
        self.expected(volume).iter().any(|key| seen.contains(key))
    }

    /// A local pool's path means a file of its own on every host.
    fn on_host(&self, volume: &Volume, host: HostId) -> bool {
        let pool = volume.pool.and_then(|id| self.pool(id));
        pool.is_none_or(|pool| !pool.is_local() || pool.hosts.contains(&host))
    }

    /// The row of a source: the live one; of several that are gone, the latest.
    fn pick(&self, source: &Source, host: HostId, sources: &Sources) -> Pick {
        let seen = seen_keys(source);
        let mut rows: Vec<&Volume> = seen
            .iter()
            .flat_map(|key| rows_of(sources, hash_of(key)))
            .filter_map(|(_, id)| self.volume(*id))
            .filter(|volume| self.on_host(volume, host) && self.expects_one(volume, &seen))
            .collect();
        rows.sort_by_key(|v| v.id);
        rows.dedup_by_key(|v| v.id);
        let mut live: Vec<&Volume> = rows.iter().copied().filter(|v| !v.is_deleted()).collect();
        if live.len() > 1 && live.iter().any(|v| v.uuid.is_some()) {
            live.retain(|v| v.uuid.is_some());
        }
        match live.as_slice() {
            [] => rows.last().map_or(Pick::None, |v| Pick::One(v.id)),
            [one] => Pick::One(one.id),
            many => Pick::Many(many.iter().map(|v| v.id).collect()),
        }
    }
}

fn hash_of(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

fn rows_of(sources: &[(u64, VolumeId)], hash: u64) -> &[(u64, VolumeId)] {
    let from = sources.partition_point(|(other, _)| *other < hash);
    let rest = &sources[from..];
    &rest[..rest.partition_point(|(other, _)| *other == hash)]
}

/// A disk of an `extraconfig` detail: the operator's own, and known.
fn is_extra(disk: &Disk, vm: Option<&Vm>) -> bool {
    let source = disk.source.as_ref().map(|s| s.name.as_str());
    vm.is_some_and(|vm| {
        vm.extra_disks
            .iter()
            .any(|extra| match (&extra.source, &extra.target) {
                (Some(name), _) => Some(name.as_str()) == source,
                (None, Some(target)) => *target == disk.target,
                (None, None) => false,
            })
    })
}

/// A boot or configuration image plugged in as a read-only disk.
fn is_image(disk: &Disk) -> bool {
    let name = disk.source.as_ref().map_or("", |s| s.name.as_str());
    disk.readonly && name.to_ascii_lowercase().ends_with(".iso")
}
