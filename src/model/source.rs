//! Identity: which source a row's disk should have, by the type of its pool, and what a disk's serial says.
//!
//! Both sides are brought to one spelling, a [`SourceKey`]; a disk may be spelt in several ways, and a row may expect
//! several. The host is no part of the key: for local pools the caller adds it.

use super::{Pool, PoolType, Source, SourceKind, Volume};

/// A source in one spelling, ready to compare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceKey(pub String);

/// The serial that CloudStack gives a volume's disk (`LibvirtComputingResource.diskUuidToSerial`): its uuid without
/// hyphens, the first 20 characters, as a number to compare. None if the text is no such serial.
#[must_use]
pub fn serial_of(text: &str) -> Option<u128> {
    let mut serial = 0u128;
    let mut digits = 0;
    for byte in text.bytes().filter(|b| *b != b'-') {
        let digit = char::from(byte).to_digit(16)?;
        if digits < 20 {
            serial = serial << 4 | u128::from(digit);
        }
        digits += 1;
    }
    // Exactly 20 digits as CloudStack writes them, or a whole uuid as other tools do.
    (digits == 20 || digits == 32).then_some(serial)
}

/// Every spelling of a disk's source under which a row may expect it.
#[must_use]
pub fn seen_keys(source: &Source) -> Vec<SourceKey> {
    match source.kind {
        SourceKind::Rbd => vec![key("rbd", source.name.trim_start_matches('/'))],
        SourceKind::Gluster => vec![key("gluster", source.name.trim_start_matches('/'))],
        SourceKind::File => {
            let path = tidy(&source.name);
            let mut keys = vec![key("path", &path)];
            // An agent may mount NFS pools elsewhere than below /mnt: the pool's uuid and the file name stay.
            let mut parts = path.rsplit('/');
            if let (Some(file), Some(dir)) = (parts.next(), parts.next())
                && looks_like_uuid(dir)
            {
                keys.push(key("nfs", &format!("{}/{file}", dir.to_ascii_lowercase())));
            }
            keys
        }
        SourceKind::Block => block_keys(&tidy(&source.name)),
        SourceKind::Other => Vec::new(),
    }
}

fn block_keys(path: &str) -> Vec<SourceKey> {
    if let Some(id) = path.strip_prefix("/dev/disk/by-id/emc-vol-") {
        // `<systemId>-<volId>`; the system's id is not in the database.
        if let Some((_, volume)) = id.rsplit_once('-') {
            return vec![key("powerflex", &volume.to_ascii_lowercase())];
        }
    }
    if let Some(eui) = path.strip_prefix("/dev/disk/by-id/nvme-eui.") {
        return vec![key("nvme", &eui.to_ascii_lowercase())];
    }
    if let Some(name) = path.strip_prefix("/dev/mapper/") {
        let mut keys = vec![key("mapper", &name.to_ascii_lowercase())];
        keys.extend(split_mapper(name).map(|(vg, lv)| key("path", &format!("/dev/{vg}/{lv}"))));
        return keys;
    }
    vec![key("path", path)]
}

/// The sources that a row's disk may have, by `facts` of its pool's type; empty where nothing can be expected.
#[must_use]
pub fn expected_keys(volume: &Volume, pool: &Pool) -> Vec<SourceKey> {
    let Some(path) = volume.path.as_deref().filter(|p| !p.is_empty()) else {
        return Vec::new();
    };
    let image = path.trim_start_matches('/');
    let base = pool.path.as_deref().unwrap_or("");
    let bare = base.trim_matches('/');
    match pool.kind {
        PoolType::Rbd => vec![key("rbd", &format!("{bare}/{image}"))],
        PoolType::Gluster => vec![key("gluster", &format!("{bare}/{image}"))],
        PoolType::NetworkFilesystem => vec![
            key("nfs", &format!("{}/{image}", pool.uuid.to_ascii_lowercase())),
            key("path", &tidy(&format!("/mnt/{}/{image}", pool.uuid))),
        ],
        PoolType::ManagedNfs => {
            let Some(uuid) = volume.uuid.as_deref() else {
                return Vec::new();
            };
            vec![
                key("nfs", &format!("{}/{image}", uuid.to_ascii_lowercase())),
                key("path", &tidy(&format!("/mnt{uuid}/{image}"))),
            ]
        }
        PoolType::SharedMountPoint | PoolType::Filesystem => {
            vec![key("path", &tidy(&format!("{base}/{image}")))]
        }
        PoolType::Clvm | PoolType::ClvmNg => {
            vec![key("path", &tidy(&format!("/dev/{bare}/{image}")))]
        }
        PoolType::PowerFlex => {
            let id = image.split(':').next().unwrap_or(image);
            vec![key("powerflex", &id.to_ascii_lowercase())]
        }
        PoolType::StorPool => vec![key("path", &tidy(path))],
        PoolType::Linstor => vec![key("path", &format!("/dev/drbd/by-res/cs-{image}/0"))],
        PoolType::FiberChannel | PoolType::NvmeTcp => multipath(path),
        PoolType::Iscsi => iscsi(volume, pool).into_iter().collect(),
        _ if path.starts_with("type=") => multipath(path),
        _ => Vec::new(),
    }
}

/// Whether a source is, letter by letter, the one that a row expects; the common spellings only, and without making a
/// key. False means that the keys have to tell.
#[must_use]
pub fn is_plainly(volume: &Volume, pool: &Pool, source: &Source) -> bool {
    let Some(image) = volume
        .path
        .as_deref()
        .filter(|p| !p.is_empty() && !p.starts_with('/'))
    else {
        return false;
    };
    let base = pool.path.as_deref().unwrap_or("");
    let below = |dir: &str| {
        let rest = source
            .name
            .strip_prefix(dir)
            .and_then(|rest| rest.strip_prefix('/'));
        !dir.is_empty() && rest == Some(image)
    };
    match (&pool.kind, source.kind) {
        (PoolType::Rbd, SourceKind::Rbd) | (PoolType::Gluster, SourceKind::Gluster) => {
            below(base.trim_matches('/'))
        }
        (PoolType::NetworkFilesystem, SourceKind::File) => {
            let rest = source
                .name
                .strip_prefix("/mnt/")
                .and_then(|rest| rest.strip_prefix(pool.uuid.as_str()));
            rest.and_then(|rest| rest.strip_prefix('/')) == Some(image)
        }
        (PoolType::SharedMountPoint | PoolType::Filesystem, SourceKind::File) => below(base),
        _ => false,
    }
}

/// `type=FIBERWWN; address=…; connid.HOST=N; `: only the address names the device.
fn multipath(path: &str) -> Vec<SourceKey> {
    let mut kind = None;
    let mut address = None;
    for part in path.split(';') {
        match part.trim().split_once('=') {
            Some(("type", value)) => kind = Some(value.trim()),
            Some(("address", value)) => address = Some(value.trim().to_ascii_lowercase()),
            _ => {}
        }
    }
    match (kind, address) {
        (Some("NVMETCP"), Some(eui)) => vec![key("nvme", &eui)],
        (Some(_), Some(wwn)) => vec![key("mapper", &format!("3{wwn}"))],
        _ => Vec::new(),
    }
}

fn iscsi(volume: &Volume, pool: &Pool) -> Option<SourceKey> {
    let name = volume
        .iscsi_name
        .as_deref()
        .filter(|n| !n.is_empty())
        .or(volume.path.as_deref())?;
    let (iqn, lun) = name.trim_start_matches('/').rsplit_once('/')?;
    let address = pool.address.as_deref()?.trim();
    let port = pool.port.filter(|p| *p > 0).unwrap_or(3260);
    Some(key(
        "path",
        &format!("/dev/disk/by-path/ip-{address}:{port}-iscsi-{iqn}-lun-{lun}"),
    ))
}

fn key(kind: &str, name: &str) -> SourceKey {
    SourceKey(format!("{kind}:{name}"))
}

/// One slash where there were several; no trailing one.
fn tidy(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if !(c == '/' && out.ends_with('/')) {
            out.push(c);
        }
    }
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
}

/// Device mapper writes `vg-lv` with the hyphens inside either name doubled.
fn split_mapper(name: &str) -> Option<(String, String)> {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'-' {
            if bytes.get(at + 1) == Some(&b'-') {
                at += 2;
                continue;
            }
            let part = |text: &str| text.replace("--", "-");
            return Some((part(&name[..at]), part(&name[at + 1..])));
        }
        at += 1;
    }
    None
}

fn looks_like_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
