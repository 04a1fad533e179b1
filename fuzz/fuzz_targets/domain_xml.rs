//! No bytes make the XML reader panic, and what it reads it reads alike a second time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use volrecon::gather::domain_xml::{compare_definition, disks_of_fragment, parse_bytes};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(domain) = parse_bytes(bytes) {
        assert_eq!(parse_bytes(bytes).ok().as_ref(), Some(&domain));
        let mut live = domain.disks.clone();
        assert!(!compare_definition(&mut live, &domain.disks));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = disks_of_fragment(text);
    }
});
