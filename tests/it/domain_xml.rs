//! The reader of domain XML: the kept corpus, and anything else.

use crate::golden::{check, no_orphans, repo};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use volrecon::gather::domain_xml::{
    DomainXml, MAX_BYTES, XmlError, compare_definition, disks_of_fragment, parse, parse_bytes,
};
use volrecon::model::{Disk, SourceKind};

const CORPUS: &str = "tests/corpus/domain_xml";

/// One line a disk; what is absent is not written.
fn told(domain: &DomainXml) -> String {
    let mut out = format!("{} {}\n", domain.name, domain.uuid.as_deref().unwrap_or("-"));
    for disk in &domain.disks {
        let Disk {
            device,
            source,
            backing,
            target,
            bus,
            serial,
            shareable,
            readonly,
            mirror,
            encrypted,
            persistent,
        } = disk;
        assert_eq!(*persistent, None);
        write!(out, "{target:?} {bus:?} {device:?}").unwrap();
        for (word, source) in source
            .iter()
            .map(|s| ("on", s))
            .chain(backing.iter().map(|s| ("over", s)))
        {
            write!(out, "\n    {word} {:?} {:?}", source.kind, source.name).unwrap();
        }
        if let Some(serial) = serial {
            write!(out, "\n    serial {serial:?}").unwrap();
        }
        let transient = domain.transient.contains(target);
        for (word, is) in [
            ("shareable", *shareable),
            ("readonly", *readonly),
            ("mirror", *mirror),
            ("encrypted", *encrypted),
            ("transient", transient),
        ] {
            if is {
                write!(out, "\n    {word}").unwrap();
            }
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_corpus_is_read_as_it_stands() {
    let mut compared = BTreeSet::new();
    for entry in std::fs::read_dir(repo(CORPUS)).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|e| e == "xml") {
            let domain =
                parse_bytes(&std::fs::read(&path).unwrap()).unwrap_or_else(|e| panic!("{stem}: {e}"));
            check(&format!("{CORPUS}/{stem}.txt"), &told(&domain));
            compared.extend([format!("{stem}.xml"), format!("{stem}.txt")]);
        }
    }
    assert!(compared.len() >= 2 * 15);
    no_orphans(CORPUS, &compared);
}

fn with_disks(disks: &str) -> String {
    format!("<domain><name>a</name><devices>{disks}</devices></domain>")
}

#[test]
fn a_hundred_thousand_nested_elements_cost_no_stack() {
    for element in ["a", "backingStore", "devices", "domain", "disk"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let deep = open.repeat(100_000) + &close.repeat(100_000);
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        let read = thread.spawn(move || {
            let within = with_disks(&format!("<disk>{deep}<target dev='vda'/></disk>"));
            assert_eq!(parse(&within).unwrap().disks[0].target, "vda");
            assert!(parse(&deep).is_err());
            disks_of_fragment(&deep).unwrap();
        });
        read.unwrap().join().unwrap();
    }
}

#[test]
fn a_deep_backing_chain_is_walked_to_its_end() {
    let level = "<backingStore type='file'><source file='/b'/>";
    let deep = level.repeat(20_000) + &"</backingStore>".repeat(20_000);
    let domain = parse(&with_disks(&format!("<disk><source file='/a'/>{deep}</disk>"))).unwrap();
    assert_eq!(domain.disks[0].backing.len(), 20_000);
}

#[test]
fn documents_without_end_are_refused() {
    assert!(matches!(
        parse(&" ".repeat(MAX_BYTES + 1)),
        Err(XmlError::TooLong(_))
    ));
    let many = with_disks(&"<a/>".repeat(1_100_000));
    assert!(matches!(parse(&many), Err(XmlError::Broken(_))));
}

#[test]
fn document_types_and_entities_are_refused() {
    let laughs = "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><domain><name>&b;</name></domain>";
    for xml in [
        laughs,
        "<!DOCTYPE domain SYSTEM 'file:///etc/passwd'><domain><name>a</name></domain>",
    ] {
        assert!(matches!(parse(xml), Err(XmlError::Broken(_))));
        assert!(disks_of_fragment(xml).is_err());
    }
}

#[test]
fn what_is_no_domain_is_an_error() {
    assert!(matches!(
        parse("<domainsnapshot><name>a</name></domainsnapshot>"),
        Err(XmlError::NoDomain(_))
    ));
    assert!(matches!(
        parse("<domain xmlns='urn:x'><name>a</name></domain>"),
        Err(XmlError::NoDomain(_))
    ));
    assert!(matches!(parse("<domain/>"), Err(XmlError::NoName)));
    assert!(matches!(
        parse_bytes(b"<domain><name>\xff</name></domain>"),
        Err(XmlError::NotUtf8)
    ));
    for broken in [
        "",
        "\0",
        "<domain",
        "<domain><name>a\0</name></domain>",
        "<domain><name>a</domain></name>",
    ] {
        assert!(parse(broken).is_err(), "{broken:?}");
    }
}

#[test]
fn fragments_as_operators_write_them() {
    let disk =
        "<disk type='block' device='disk'><source dev='/dev/sdx'/><target dev='vdz' bus='virtio'/></disk>";
    let two = format!("{disk}{disk}");
    for (text, count) in [
        (String::new(), 0),
        (disk.to_owned(), 1),
        (two.clone(), 2),
        (format!("<?xml version='1.0'?>\n{disk}"), 1),
        (format!("<devices>{two}</devices>"), 2),
        (
            format!("<memoryBacking><hugepages/></memoryBacking><devices>{disk}</devices>"),
            1,
        ),
        (with_disks(disk), 1),
        (
            "<qemu:commandline><qemu:arg value='-x'/></qemu:commandline>".to_owned(),
            0,
        ),
        ("plain text".to_owned(), 0),
    ] {
        let disks = disks_of_fragment(&text).unwrap();
        assert_eq!(disks.len(), count, "{text}");
        assert!(
            disks
                .iter()
                .all(|d| d.source.as_ref().is_some_and(|s| s.kind == SourceKind::Block))
        );
    }
    assert!(disks_of_fragment("<disk>").is_err());
}

#[test]
fn a_definition_is_compared_by_target_and_source() {
    let disks = |inner: &str| parse(&with_disks(inner)).unwrap().disks;
    let a = "<disk><source file='/a'/><target dev='vda'/></disk>";
    let b = "<disk><source file='/b'/><target dev='vdb'/></disk>";
    let elsewhere = "<disk><source file='/b'/><target dev='vdc'/></disk>";
    let medium = "<disk device='cdrom'><source file='/i'/><target dev='hdc'/></disk>";
    let empty = "<disk device='cdrom'><target dev='hdc'/></disk>";
    for (live, defined, differs, persistent) in [
        (format!("{a}{b}"), format!("{b}{a}"), false, vec![true, true]),
        (format!("{a}{b}"), a.to_owned(), true, vec![true, false]),
        (a.to_owned(), format!("{a}{b}"), true, vec![true]),
        (
            format!("{a}{b}"),
            format!("{a}{elsewhere}"),
            true,
            vec![true, false],
        ),
        (
            format!("{a}{medium}"),
            format!("{a}{empty}"),
            false,
            vec![true, false],
        ),
    ] {
        let mut live = disks(&live);
        assert_eq!(compare_definition(&mut live, &disks(&defined)), differs);
        assert_eq!(
            live.iter().map(|d| d.persistent.unwrap()).collect::<Vec<_>>(),
            persistent
        );
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(repo(CORPUS))
        .unwrap()
        .map(|e| e.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|p| p.extension().is_some_and(|e| e == "xml"))
        .collect();
    files.sort();
    files.iter().map(|p| std::fs::read(p).unwrap()).collect()
}

fn read_anyhow(bytes: &[u8]) {
    if let Ok(domain) = parse_bytes(bytes) {
        let mut disks = domain.disks.clone();
        assert!(
            !compare_definition(&mut disks, &domain.disks),
            "a domain differs from itself"
        );
    }
    let _ = disks_of_fragment(&String::from_utf8_lossy(bytes));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_anyhow(&bytes);
    }

    #[test]
    fn no_heap_of_xml_makes_it_panic(words in prop::collection::vec(prop::sample::select(vec![
        "<domain>", "</domain>", "<name>", "a", "</name>", "<devices>", "</devices>", "<disk>", "</disk>", "<disk/>", "<source ",
        "file='", "'", "/>", ">", "<target dev='vda'/>", "<backingStore>", "</backingStore>", "&#0;", "&amp;", "&x;", "<!--", "-->",
        "<![CDATA[", "]]>", "<?xml ", "?>", "<!DOCTYPE", "xmlns='x'", "xmlns:a='b'", "a:disk", "\0", "\u{feff}", "é",
    ]), 0..60)) {
        read_anyhow(words.concat().as_bytes());
    }

    #[test]
    fn no_damage_to_a_true_document_makes_it_panic(
        which in any::<prop::sample::Index>(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let corpus = corpus();
        let mut bytes = which.get(&corpus).clone();
        for (at, byte) in hits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_anyhow(&bytes);
        bytes.truncate(end.index(bytes.len()));
        read_anyhow(&bytes);
    }
}
