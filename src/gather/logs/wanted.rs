//! What is looked for, and the quick look that passes over everything else.

use super::line::number;
use crate::model::{JobId, VolumeId};
use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// Needles shorter than this would be found everywhere.
const MIN_NEEDLE: usize = 6;
/// Within this much of a record stands its log id.
const HEAD: usize = 512;
/// Within this much of a record stands the job that it is about.
const ABOUT: usize = 1024;

/// A volume, by all its names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WantedVolume {
    /// `volumes.id`.
    pub id: Option<VolumeId>,
    /// `volumes.uuid`.
    pub uuid: Option<String>,
    /// `volumes.path`, and what the disk's source is called where it is another.
    pub paths: Vec<String>,
    /// `volumes.name`: old lines know no more. Tenants choose it, so alone it proves little.
    pub name: Option<String>,
}

/// What is looked for. The readers add what they learn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The volumes.
    pub volumes: Vec<WantedVolume>,
    /// API jobs.
    pub jobs: BTreeSet<JobId>,
    /// Work jobs.
    pub work_jobs: BTreeSet<JobId>,
    /// First 8 hex digits of API jobs' uuids, as numbers.
    pub log_ids: BTreeSet<u32>,
}

impl Wanted {
    /// Adds an API job's log id, from its uuid or from the log id itself.
    pub fn log_id(&mut self, uuid: &str) {
        self.log_ids.extend(uuid.get(..8).and_then(super::line::log_id));
    }

    /// The wanted volume that a uuid, a path or a disk's source names: whole, or after its last slash.
    #[must_use]
    pub fn volume(&self, named: &str) -> Option<&WantedVolume> {
        let last = named.rsplit('/').next().unwrap_or(named);
        let is = |known: &str| {
            !known.is_empty() && (known.eq_ignore_ascii_case(named) || known.eq_ignore_ascii_case(last))
        };
        self.volumes
            .iter()
            .find(|v| v.uuid.as_deref().is_some_and(is) || v.paths.iter().any(|p| is(p)))
    }

    /// The wanted volume of this row.
    #[must_use]
    pub fn row(&self, id: VolumeId) -> Option<&WantedVolume> {
        self.volumes.iter().find(|v| v.id == Some(id))
    }

    /// The wanted volume of this name, if there is one only.
    pub(super) fn named(&self, name: &str) -> Option<&WantedVolume> {
        let mut all = self.volumes.iter().filter(|v| v.name.as_deref() == Some(name));
        let first = all.next().filter(|_| name.len() >= MIN_NEEDLE)?;
        all.next().is_none().then_some(first)
    }

    pub(super) fn size(&self) -> usize {
        self.jobs.len() + self.work_jobs.len() + self.log_ids.len()
    }
}

impl WantedVolume {
    /// How moments call it.
    pub(super) fn called(&self) -> Option<String> {
        self.uuid.clone().or_else(|| self.paths.first().cloned())
    }
}

/// The quick look at a record.
pub(super) struct Filter {
    needles: Needles,
    log_id: Finder<'static>,
    job: Finder<'static>,
    content: Finder<'static>,
    log_ids: HashSet<u32>,
    jobs: HashSet<u64>,
}

/// Few needles are looked for one by one, which is much the fastest; many at once.
enum Needles {
    Few(Vec<Finder<'static>>),
    Many(AhoCorasick),
}

impl Needles {
    const FEW: usize = 6;

    fn new(needles: &BTreeSet<String>) -> Self {
        // One that holds another is found with it.
        let least: Vec<&String> = needles
            .iter()
            .filter(|n| !needles.iter().any(|m| m != *n && n.contains(m.as_str())))
            .collect();
        if least.len() > Self::FEW
            && let Ok(all) = AhoCorasick::new(&least)
        {
            return Self::Many(all);
        }
        Self::Few(
            least
                .iter()
                .map(|n| Finder::new(n.as_bytes()).into_owned())
                .collect(),
        )
    }

    #[inline]
    fn find(&self, record: &[u8]) -> bool {
        match self {
            Self::Few(all) => all.iter().any(|needle| needle.find(record).is_some()),
            Self::Many(all) => all.is_match(record),
        }
    }
}

impl Filter {
    /// For these, and what is learned later.
    pub fn new(wanted: &Wanted) -> Self {
        let mut needles = BTreeSet::new();
        for volume in &wanted.volumes {
            let texts = volume.uuid.iter().chain(&volume.paths).chain(&volume.name);
            for text in texts.filter(|t| t.len() >= MIN_NEEDLE) {
                needles.insert(text.clone());
                // As JSON may escape it.
                needles.extend(text.contains('/').then(|| text.replace('/', "\\/")));
            }
            // Lines with the row's number have the uuid, too, or are of a thread that named it before.
            if let Some(id) = volume.id.filter(|_| volume.uuid.is_none()) {
                needles.insert(format!("instanceType: Volume, instanceId: {id}"));
                needles.insert(format!("\"instanceId\":{id},\"instanceType\":\"Volume\""));
            }
        }
        Self {
            needles: Needles::new(&needles),
            log_id: Finder::new(b" (logid:"),
            job: Finder::new(b"ob-"),
            content: Finder::new(b"ontentId"),
            log_ids: wanted.log_ids.iter().copied().collect(),
            jobs: wanted.jobs.iter().chain(&wanted.work_jobs).map(|j| j.0).collect(),
        }
    }

    /// Takes over what was learned.
    pub fn learn(&mut self, jobs: impl Iterator<Item = JobId>, log_id: Option<u32>) {
        self.jobs.extend(jobs.map(|job| job.0));
        self.log_ids.extend(log_id);
    }

    /// Whether the record can matter.
    #[inline]
    pub fn hit(&self, record: &[u8]) -> bool {
        self.by_log_id(record) || self.by_job(record) || self.by_name(record)
    }

    /// Whether a volume's names stand in it.
    #[inline]
    pub fn by_name(&self, record: &[u8]) -> bool {
        self.needles.find(record)
    }

    #[inline]
    fn by_log_id(&self, record: &[u8]) -> bool {
        if self.log_ids.is_empty() {
            return false;
        }
        let head = &record[..record.len().min(HEAD)];
        let Some(at) = self.log_id.find(head) else {
            return false;
        };
        let digits = head.get(at + 8..at + 16).unwrap_or_default();
        let number = digits
            .iter()
            .try_fold(0_u32, |n, d| Some(n << 4 | char::from(*d).to_digit(16)?));
        digits.len() == 8 && number.is_some_and(|n| self.log_ids.contains(&n))
    }

    #[inline]
    fn by_job(&self, record: &[u8]) -> bool {
        if self.jobs.is_empty() {
            return false;
        }
        let about = &record[..record.len().min(ABOUT)];
        let known = |rest: &[u8]| {
            let digits = rest.len().min(20);
            let text = std::str::from_utf8(&rest[..digits])
                .unwrap_or_else(|e| std::str::from_utf8(&rest[..e.valid_up_to()]).unwrap_or_default());
            number(text).is_some_and(|(id, _)| self.jobs.contains(&id))
        };
        self.job.find_iter(about).any(|at| known(&about[at + 3..]))
            || self.content.find(about).is_some_and(|at| {
                let rest = &about[at + 8..];
                let skip = rest
                    .iter()
                    .take_while(|b| matches!(b, b'"' | b':' | b' '))
                    .count();
                known(&rest[skip..])
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_found_whole_or_after_a_slash_and_not_as_a_part() {
        let wanted = Wanted {
            volumes: vec![WantedVolume {
                uuid: Some("e949a8c4-5b0d".to_owned()),
                paths: vec!["abcdef".to_owned()],
                ..WantedVolume::default()
            }],
            ..Wanted::default()
        };
        for named in ["abcdef", "pool/ABCDEF", "/mnt/x/abcdef", "e949a8c4-5b0d"] {
            assert!(wanted.volume(named).is_some(), "{named}");
        }
        for named in ["", "abcde", "xabcdef", "abcdef/x", "/"] {
            assert!(wanted.volume(named).is_none(), "{named}");
        }
    }

    #[test]
    fn the_quick_look() {
        let mut wanted = Wanted {
            jobs: [JobId(210_187)].into(),
            work_jobs: [JobId(210_188)].into(),
            volumes: vec![WantedVolume {
                id: Some(VolumeId(4)),
                uuid: Some("e949a8c4-5b0d".to_owned()),
                name: Some("data".to_owned()),
                ..WantedVolume::default()
            }],
            ..Wanted::default()
        };
        wanted.log_id("9fdf554d-210a-4ce2");
        let filter = Filter::new(&wanted);
        for yes in [
            "x (logid:9fdf554d) y",
            "x job-210187 y",
            "Remove Job-210188 from",
            "contentId: 210188, x",
            r#"{"contentId":210187}"#,
            "a e949a8c4-5b0d b",
        ] {
            assert!(filter.hit(yes.as_bytes()), "{yes}");
        }
        for no in [
            "",
            "x (logid:9fdf554e) y",
            "(logid:",
            " (logid:9fdf",
            "job-21018",
            "job-2101870",
            "job-",
            "contentId",
            "data",
            "contentId: ",
        ] {
            assert!(!filter.hit(no.as_bytes()), "{no}");
        }
        wanted.volumes[0].uuid = None;
        assert!(Filter::new(&wanted).hit(b"instanceType: Volume, instanceId: 4"));
        for n in 0..20 {
            wanted.volumes.push(WantedVolume {
                uuid: Some(format!("uuid-{n}-of-many")),
                ..WantedVolume::default()
            });
        }
        assert!(Filter::new(&wanted).hit(b"a uuid-13-of-many b"));
        assert!(!Filter::new(&wanted).hit(b"a uuid-20-of-many b"));
        assert!(!Filter::new(&Wanted::default()).hit(b"job-1 (logid:00000000)"));
    }
}
