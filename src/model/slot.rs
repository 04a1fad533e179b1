//! Slots: a device id, and the target that CloudStack makes of it (`LibvirtVMDef.DiskDef.getDevLabel`).
//!
//! A target is a hint, never an identity: the bus at hot-attach may differ from the bus at the next start, so slot 2
//! may live as `vdc`, `sdc` or `hde`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// `<target bus=…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// `virtio`, which CloudStack's `virtio-blk` is rendered as, too.
    Virtio,
    /// `scsi`.
    Scsi,
    /// `sata`.
    Sata,
    /// `ide`.
    Ide,
    /// `usb`, `fdc`, `xen`, or none.
    Other,
}

impl From<&str> for Bus {
    fn from(word: &str) -> Self {
        match word {
            "virtio" => Self::Virtio,
            "scsi" => Self::Scsi,
            "sata" => Self::Sata,
            "ide" => Self::Ide,
            _ => Self::Other,
        }
    }
}

/// A device id. 0 is the root disk; 3 is kept for the CD-ROM and never given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u32);

impl Slot {
    /// Kept for the CD-ROM (`VolumeApiServiceImpl.getDeviceId`).
    pub const CDROM: Self = Self(3);

    /// The target of this slot on a bus. IDE skips `hdc` and `hdd`, which are the ISO's and the config drive's.
    #[must_use]
    pub fn target(self, bus: Bus) -> String {
        match bus {
            Bus::Virtio => format!("vd{}", letters(self.0)),
            Bus::Scsi | Bus::Sata => format!("sd{}", letters(self.0)),
            Bus::Ide | Bus::Other if self.0 >= 2 => format!("hd{}", letters(self.0 + 2)),
            Bus::Ide | Bus::Other => format!("hd{}", letters(self.0)),
        }
    }

    /// The slot that a target stands for; none for `hdc`, `hdd` and what CloudStack does not name.
    #[must_use]
    pub fn of_target(target: &str) -> Option<Self> {
        let index = target_index(target)?;
        match (&target[..2], index) {
            ("hd", 2 | 3) => None,
            ("hd", n) if n >= 4 => Some(Self(n - 2)),
            _ => Some(Self(index)),
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The letters of a target as a number: `vda` 0, `vdz` 25, `vdaa` 26. None for other names.
#[must_use]
pub fn target_index(target: &str) -> Option<u32> {
    let rest = ["vd", "sd", "hd"].iter().find_map(|p| target.strip_prefix(p))?;
    if rest.is_empty() || rest.len() > 4 {
        return None;
    }
    let mut index = 0u32;
    for byte in rest.bytes() {
        if !byte.is_ascii_lowercase() {
            return None;
        }
        index = index * 26 + u32::from(byte - b'a') + 1;
    }
    Some(index - 1)
}

/// `getDevLabelSuffix`: 0 → `a`, 25 → `z`, 26 → `aa`, 701 → `zz`, 702 → `aaa`.
fn letters(index: u32) -> String {
    let mut reversed = Vec::new();
    let mut rest = Some(index);
    while let Some(n) = rest {
        reversed.push(char::from(b'a' + u8::try_from(n % 26).unwrap_or(0)));
        rest = (n / 26).checked_sub(1);
    }
    reversed.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        for (index, text) in [
            (0, "a"),
            (25, "z"),
            (26, "aa"),
            (27, "ab"),
            (51, "az"),
            (52, "ba"),
            (701, "zz"),
            (702, "aaa"),
        ] {
            assert_eq!(letters(index), text);
        }
    }

    #[test]
    fn targets_follow_the_bus() {
        let table = [
            (0, "vda", "sda", "hda"),
            (1, "vdb", "sdb", "hdb"),
            (2, "vdc", "sdc", "hde"),
            (4, "vde", "sde", "hdg"),
            (5, "vdf", "sdf", "hdh"),
            (26, "vdaa", "sdaa", "hdac"),
        ];
        for (id, virtio, scsi, ide) in table {
            assert_eq!(Slot(id).target(Bus::Virtio), virtio);
            assert_eq!(Slot(id).target(Bus::Scsi), scsi);
            assert_eq!(Slot(id).target(Bus::Sata), scsi);
            assert_eq!(Slot(id).target(Bus::Ide), ide);
        }
    }

    #[test]
    fn every_slot_comes_back_from_its_target() {
        for id in 0..2000 {
            for bus in [Bus::Virtio, Bus::Scsi, Bus::Ide] {
                assert_eq!(Slot::of_target(&Slot(id).target(bus)), Some(Slot(id)));
            }
        }
    }

    #[test]
    fn names_that_are_no_slot() {
        for name in [
            "hdc", "hdd", "", "vd", "vdA", "vd1", "fda", "xvda", "vdaaaaaa", "víd",
        ] {
            assert_eq!(Slot::of_target(name), None, "{name}");
        }
    }
}
