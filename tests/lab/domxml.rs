//! Domain XML as CloudStack emits it: disks of every pool type, with serial and target, and what libvirt adds is left to libvirt.
//!
//! It must never be read by the scanner's own code: a mistake that both shared would be seen by neither.

/// A pool, as far as a disk's source depends on it: columns of its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    pub uuid: String,
    pub kind: String,
    pub path: String,
    pub host_address: String,
    pub port: u32,
    /// `user:key`; the lab keeps it plain, CloudStack keeps it encrypted.
    pub user_info: Option<String>,
}

/// A volume as a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    pub source: Source,
    pub format: String,
    pub target: String,
    pub bus: String,
    pub serial: Option<String>,
    /// Further elements, as `<shareable/>` or `<encryption…>`.
    pub extra: String,
}

/// Where a disk's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(String),
    Block(String),
    Network {
        protocol: String,
        name: String,
        hosts: Vec<String>,
        port: u32,
        auth: Option<(String, String)>,
    },
}

impl Source {
    /// What libvirt is given for a volume of a pool (`system` is PowerFlex's id of the storage system).
    pub fn of(pool: &Pool, path: &str, iscsi_name: Option<&str>) -> Self {
        let inner = pool.path.trim_start_matches('/');
        let field = |name: &str| {
            path.split(';')
                .find_map(|part| part.trim().strip_prefix(name))
                .unwrap_or_default()
                .trim_start_matches('=')
                .to_owned()
        };
        match pool.kind.as_str() {
            "RBD" | "Gluster" => Self::Network {
                protocol: pool.kind.to_lowercase(),
                name: format!("{inner}/{path}"),
                hosts: pool.host_address.split(',').map(str::to_owned).collect(),
                port: pool.port,
                auth: pool
                    .user_info
                    .as_deref()
                    .and_then(|u| Some((u.split_once(':')?.0.to_owned(), pool.uuid.clone()))),
            },
            "NetworkFilesystem" => Self::File(format!("/mnt/{}/{path}", pool.uuid)),
            "ManagedNFS" => Self::File(format!("/mnt{path}/{path}")),
            "CLVM" | "CLVM_NG" => Self::Block(format!("/dev/{inner}/{path}")),
            "PowerFlex" => Self::Block(format!(
                "/dev/disk/by-id/emc-vol-218ce1797566a00f-{}",
                path.split(':').next().unwrap_or(path)
            )),
            "StorPool" => Self::Block(path.to_owned()),
            "Linstor" => Self::Block(format!("/dev/drbd/by-res/cs-{path}/0")),
            "FiberChannel" => Self::Block(format!("/dev/mapper/3{}", field("address"))),
            "NVMeTCP" => Self::Block(format!(
                "/dev/disk/by-id/nvme-eui.{}",
                field("address").to_lowercase()
            )),
            "Iscsi" => {
                let (iqn, lun) = iscsi_name
                    .unwrap_or(path)
                    .trim_start_matches('/')
                    .rsplit_once('/')
                    .unwrap_or((path, "0"));
                Self::Block(format!(
                    "/dev/disk/by-path/ip-{}:{}-iscsi-{iqn}-lun-{lun}",
                    pool.host_address, pool.port
                ))
            }
            _ => Self::File(format!("{}/{path}", pool.path)),
        }
    }

    /// The string by which an agent compares disks.
    pub fn path(&self) -> &str {
        match self {
            Self::File(path) | Self::Block(path) => path,
            Self::Network { name, .. } => name,
        }
    }
}

impl Disk {
    /// A volume at a device id, on the virtio bus.
    pub fn new(source: Source, format: &str, device: u64, volume_uuid: &str) -> Self {
        Self {
            source,
            format: format.to_lowercase(),
            target: target("vd", device),
            bus: "virtio".to_owned(),
            serial: Some(serial(volume_uuid)),
            extra: String::new(),
        }
    }

    pub fn xml(&self) -> String {
        let (kind, source) = match &self.source {
            Source::File(path) => ("file", format!("<source file='{}'/>", escape(path))),
            Source::Block(path) => ("block", format!("<source dev='{}'/>", escape(path))),
            Source::Network {
                protocol,
                name,
                hosts,
                port,
                auth,
            } => {
                let port = if *port > 0 {
                    format!(" port='{port}'")
                } else {
                    String::new()
                };
                let hosts: String = hosts
                    .iter()
                    .map(|h| format!("<host name='{}'{port}/>", escape(h)))
                    .collect();
                let auth = auth.as_ref().map_or_else(String::new, |(user, uuid)| {
                    format!(
                        "<auth username='{}'><secret type='ceph' uuid='{uuid}'/></auth>",
                        escape(user)
                    )
                });
                (
                    "network",
                    format!(
                        "{auth}<source protocol='{protocol}' name='{}'>{hosts}</source>",
                        escape(name)
                    ),
                )
            }
        };
        let serial = self
            .serial
            .as_ref()
            .map_or_else(String::new, |s| format!("<serial>{}</serial>", escape(s)));
        format!(
            "<disk type='{kind}' device='disk'><driver name='qemu' type='{}' cache='none'/>{source}<target dev='{}' bus='{}'/>{serial}{}</disk>",
            self.format, self.target, self.bus, self.extra
        )
    }
}

/// A CD-ROM, with or without a medium.
pub fn cdrom(target: &str, iso: Option<&str>) -> String {
    let source = iso.map_or_else(String::new, |path| format!("<source file='{}'/>", escape(path)));
    format!(
        "<disk type='file' device='cdrom'><driver name='qemu' type='raw'/>{source}<target dev='{target}' bus='ide'/><readonly/></disk>"
    )
}

/// `0, 1, 2 … 25, 26` become `a, b, c … z, aa`.
pub fn target(prefix: &str, device: u64) -> String {
    let mut letters = Vec::new();
    let mut left = device + 1;
    while left > 0 {
        let digit = u8::try_from((left - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'a' + digit));
        left = (left - 1) / 26;
    }
    letters.iter().rev().fold(prefix.to_owned(), |mut name, c| {
        name.push(*c);
        name
    })
}

/// The first 20 hex digits of a volume's uuid.
pub fn serial(uuid: &str) -> String {
    uuid.chars().filter(|c| *c != '-').take(20).collect()
}

/// A domain to be.
#[derive(Debug, Clone)]
pub struct Domain {
    pub name: String,
    pub uuid: String,
    /// `<disk>` elements.
    pub disks: Vec<String>,
    /// Further devices.
    pub devices: String,
}

impl Domain {
    pub fn new(name: &str, uuid: &str) -> Self {
        Self {
            name: name.to_owned(),
            uuid: uuid.to_owned(),
            disks: Vec::new(),
            devices: String::new(),
        }
    }

    #[must_use]
    pub fn disk(mut self, disk: &Disk) -> Self {
        self.disks.push(disk.xml());
        self
    }

    /// For libvirt's test driver; transient, as CloudStack's domains are.
    pub fn test_xml(&self) -> String {
        format!(
            "<domain type='test' xmlns:test='http://libvirt.org/schemas/domain/test/1.0'><test:transient/><name>{}</name><uuid>{}</uuid><memory unit='MiB'>96</memory><vcpu>1</vcpu>\
             <os><type>hvm</type></os><devices>{}{}</devices></domain>",
            escape(&self.name),
            self.uuid,
            self.disks.concat(),
            self.devices
        )
    }
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&apos;")
        .replace('"', "&quot;")
}
