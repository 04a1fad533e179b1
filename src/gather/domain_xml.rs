//! A domain's XML, as `virDomainGetXMLDesc` gives it, reduced to its disks.
//!
//! Read with a parser, never by text: libvirt adds elements and attributes with every release, quotes as it likes, and
//! nests backing stores and mirrors that carry `<source>`s of their own. Only `/domain/devices/disk` counts, as for
//! libvirt itself: a `<disk>` in someone's metadata is none.
//!
//! What cannot be understood is never left out: a source of a kind that is not known here is [`SourceKind::Other`], so
//! that it stays an unidentified disk instead of an empty drive.

use crate::model::{Bus, Device, Disk, Source, SourceKind};
use roxmltree::{Document, Node, ParsingOptions};

/// The longest document that is read. libvirt's own protocol carries 4 MiB (`REMOTE_STRING_MAX`).
pub const MAX_BYTES: usize = 16 << 20;

/// The most elements, texts and comments in a document. A disk has about 40.
const MAX_NODES: u32 = 1_000_000;

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum XmlError {
    #[error("XML of {0} bytes, and at most {MAX_BYTES} are read")]
    TooLong(usize),
    #[error("XML that is no UTF-8")]
    NotUtf8,
    #[error("broken XML: {0}")]
    Broken(roxmltree::Error),
    #[error("XML whose root is <{0}>, not <domain>")]
    NoDomain(String),
    #[error("domain XML without a name")]
    NoName,
}

/// What is kept of one domain's XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainXml {
    /// `<name>`.
    pub name: String,
    /// `<uuid>`, lower case.
    pub uuid: Option<String>,
    /// `<devices><disk>`, in the document's order. Their `persistent` is none: see [`compare_definition`].
    pub disks: Vec<Disk>,
    /// Targets of the disks that are `<transient/>`: their top is an overlay that goes with the domain.
    pub transient: Vec<String>,
}

/// Reads a domain's XML.
///
/// # Errors
/// When it is no well-formed XML, has a document type (and so may have entities), or is no domain's.
pub fn parse(xml: &str) -> Result<DomainXml, XmlError> {
    let document = document(xml)?;
    let root = document.root_element();
    if !is(root, "domain") {
        return Err(XmlError::NoDomain(root.tag_name().name().to_owned()));
    }
    let name = child(root, "name").map(text).filter(|n| !n.is_empty());
    let uuid = child(root, "uuid").map(|n| text(n).trim().to_ascii_lowercase());
    let mut disks = Vec::new();
    let mut transient = Vec::new();
    for node in children(root, "devices").flat_map(|d| children(d, "disk")) {
        let disk = disk(node);
        if child(node, "transient").is_some() {
            transient.push(disk.target.clone());
        }
        disks.push(disk);
    }
    disks.shrink_to_fit();
    Ok(DomainXml {
        name: name.ok_or(XmlError::NoName)?,
        uuid: uuid.filter(|u| !u.is_empty()),
        disks,
        transient,
    })
}

/// Reads a domain's XML that may be any bytes.
///
/// # Errors
/// As [`parse`], and when the bytes are no UTF-8.
pub fn parse_bytes(xml: &[u8]) -> Result<DomainXml, XmlError> {
    parse(std::str::from_utf8(xml).map_err(|_| XmlError::NotUtf8)?)
}

/// The disks of a piece of XML that was written for a domain: one or several `<disk>`s, in `<devices>`, in a whole
/// `<domain>`, or bare, with other elements beside them (`extraconfig-*` of `vm_instance_details`).
///
/// # Errors
/// When it is no well-formed XML.
pub fn disks_of_fragment(xml: &str) -> Result<Vec<Disk>, XmlError> {
    let mut bare = xml.trim_start_matches('\u{feff}').trim();
    if let Some(rest) = bare.strip_prefix("<?xml") {
        bare = rest.split_once("?>").map_or("", |(_, after)| after);
    }
    let whole =
        format!("<fragment xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>{bare}</fragment>");
    let document = document(&whole)?;
    let outermost = |n: &Node| is(*n, "disk") && !n.ancestors().skip(1).any(|up| is(up, "disk"));
    Ok(document.descendants().filter(outermost).map(disk).collect())
}

/// Fills `persistent` of a live domain's disks from its persistent definition's (`VIR_DOMAIN_XML_INACTIVE`), and says
/// whether the two differ. Drives for removable media are not compared: a medium is changed live, as a rule.
pub fn compare_definition(live: &mut [Disk], defined: &[Disk]) -> bool {
    let fixed = |d: &&Disk| matches!(d.device, Device::Disk | Device::Lun);
    let count = (
        live.iter().filter(|d| fixed(d)).count(),
        defined.iter().filter(fixed).count(),
    );
    let mut differs = count.0 != count.1;
    for disk in live {
        let same = defined
            .iter()
            .any(|d| d.target == disk.target && d.source == disk.source);
        disk.persistent = Some(same);
        differs |= !same && fixed(&&*disk);
    }
    differs
}

fn document(xml: &str) -> Result<Document<'_>, XmlError> {
    if xml.len() > MAX_BYTES {
        return Err(XmlError::TooLong(xml.len()));
    }
    // No document type, so no entities. Nesting costs no stack: roxmltree reads in a loop and keeps a flat list.
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(xml, options).map_err(XmlError::Broken)
}

fn disk(node: Node) -> Disk {
    let target = child(node, "target");
    let mut backing = Vec::new();
    let mut above = node;
    while let Some(below) = child(above, "backingStore") {
        backing.extend(source(below));
        above = below;
    }
    backing.shrink_to_fit();
    let encrypted = child(node, "encryption").is_some()
        || child(node, "source").is_some_and(|s| child(s, "encryption").is_some());
    Disk {
        device: match node.attribute("device") {
            Some("cdrom") => Device::Cdrom,
            Some("floppy") => Device::Floppy,
            Some("lun") => Device::Lun,
            _ => Device::Disk,
        },
        source: source(node),
        backing,
        target: target
            .and_then(|t| t.attribute("dev"))
            .unwrap_or_default()
            .to_owned(),
        bus: Bus::from(target.and_then(|t| t.attribute("bus")).unwrap_or_default()),
        serial: child(node, "serial").map(text).filter(|s| !s.is_empty()),
        shareable: child(node, "shareable").is_some(),
        readonly: child(node, "readonly").is_some(),
        mirror: child(node, "mirror").is_some(),
        encrypted,
        persistent: None,
    }
}

/// The source of a `<disk>` or a `<backingStore>`: none if it has none.
fn source(owner: Node) -> Option<Source> {
    let node = child(owner, "source")?;
    let attribute = |name| node.attribute(name).filter(|value: &&str| !value.is_empty());
    let known = |kind, name: &str| {
        let name = name.to_owned();
        Some(Source { kind, name })
    };
    let other = |name: String| {
        Some(Source {
            kind: SourceKind::Other,
            name,
        })
    };
    let kind = owner.attribute("type").unwrap_or_default();
    match kind {
        // These use attributes that other types use, too.
        "nvme" => return other(nvme(node)),
        "vhostvdpa" | "vhostuser" => {
            let path = attribute("dev").or_else(|| attribute("path")).unwrap_or_default();
            return other(format!("{kind}:{path}"));
        }
        _ => {}
    }
    if let Some(path) = attribute("file") {
        return known(SourceKind::File, path);
    }
    if let Some(path) = attribute("dev") {
        return known(SourceKind::Block, path);
    }
    if let Some(protocol) = attribute("protocol") {
        let name = node.attribute("name").unwrap_or_default();
        // A snapshot of an image is another thing than the image; QEMU writes it so.
        let snapshot = child(node, "snapshot").and_then(|s| s.attribute("name"));
        let name = snapshot.map_or_else(|| name.to_owned(), |s| format!("{name}@{s}"));
        return match protocol {
            "rbd" => known(SourceKind::Rbd, &name),
            "gluster" => known(SourceKind::Gluster, &name),
            _ => other(format!("{protocol}:{name}")),
        };
    }
    if let Some(path) = attribute("dir") {
        return other(format!("dir:{path}"));
    }
    if let (Some(pool), Some(volume)) = (attribute("pool"), attribute("volume")) {
        return other(format!("volume:{pool}/{volume}"));
    }
    // An empty drive keeps a `<source>` for these two only.
    let means_nothing = |name: &str| matches!(name, "startupPolicy" | "index" | "file" | "dev");
    if node.attributes().all(|a| means_nothing(a.name())) {
        return None;
    }
    other(format!("{kind}:"))
}

fn nvme(source: Node) -> String {
    let part = |name| {
        let address = child(source, "address");
        address
            .and_then(|a| a.attribute(name))
            .unwrap_or("?")
            .trim_start_matches("0x")
    };
    let namespace = source.attribute("namespace").unwrap_or("?");
    format!(
        "nvme:{}:{}:{}.{}/{namespace}",
        part("domain"),
        part("bus"),
        part("slot"),
        part("function")
    )
}

fn is(node: Node, name: &str) -> bool {
    node.is_element() && node.tag_name().namespace().is_none() && node.tag_name().name() == name
}

fn children<'a, 'x>(node: Node<'a, 'x>, name: &'static str) -> impl Iterator<Item = Node<'a, 'x>> {
    node.children().filter(move |n| is(*n, name))
}

fn child<'a, 'x>(node: Node<'a, 'x>, name: &'static str) -> Option<Node<'a, 'x>> {
    children(node, name).next()
}

/// All text of an element; a comment may split it.
fn text(node: Node) -> String {
    node.children()
        .filter(Node::is_text)
        .filter_map(|n| n.text())
        .collect()
}
