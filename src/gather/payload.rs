//! The volume and VM ids in a work job's payload (`async_job.job_cmd_info` of a `VmWork` job).
//!
//! CloudStack writes URL-safe Base64 without padding over Java's native serialisation of `VmWorkAttachVolume` or
//! `VmWorkDetachVolume` (`JobSerializerHelper.toObjectSerializedString`). Fields stand in a fixed order: accountId,
//! userId, vmId as 8 bytes each, the handler's name, then for an attach the device id, then the volume id. Anything
//! unexpected is "unknown", never a guess.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;

/// What a payload names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// `VmWork.vmId`.
    pub vm: Option<u64>,
    /// `volumeId`.
    pub volume: Option<u64>,
}

const HANDLER: &[u8] = b"VolumeApiServiceImpl";
const TC_STRING: u8 = 0x74;
/// `java.lang.Number`'s end of description, before a Long's value: TC_ENDBLOCKDATA, TC_NULL.
const LONG_DESCRIBED: [u8; 2] = [0x78, 0x70];
/// An object of a class described before: TC_OBJECT, TC_REFERENCE, handle base.
const LONG_AGAIN: [u8; 4] = [0x73, 0x71, 0x00, 0x7e];

/// Reads a payload; fields that are not where they should be are none.
#[must_use]
pub fn decode(text: &str) -> Payload {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')) else {
        return Payload::default();
    };
    if !bytes.starts_with(&[0xac, 0xed, 0x00, 0x05]) {
        return Payload::default();
    }
    let Some(at) = handler(&bytes) else {
        return Payload::default();
    };
    let vm = at
        .checked_sub(8)
        .and_then(|from| bytes.get(from..at))
        .and_then(long);
    let after = bytes.get(at + 3 + HANDLER.len()..).unwrap_or_default();
    Payload {
        vm,
        volume: volume(after),
    }
}

/// Where the handler's name begins: TC_STRING, its length in two bytes, the name.
fn handler(bytes: &[u8]) -> Option<usize> {
    let mut name = vec![TC_STRING, 0, u8::try_from(HANDLER.len()).ok()?];
    name.extend_from_slice(HANDLER);
    let mut found = bytes
        .windows(name.len())
        .enumerate()
        .filter(|(_, window)| *window == name);
    let first = found.next()?.0;
    found.next().is_none().then_some(first)
}

/// The last field is the volume's id: a Long with its class described, or one whose class was described before. A null
/// or a back reference to an equal Long ends otherwise, and is not read.
fn volume(after: &[u8]) -> Option<u64> {
    let from = after.len().checked_sub(8)?;
    let (before, value) = after.split_at(from);
    let described = before.ends_with(&LONG_DESCRIBED) && before.windows(14).any(|w| w == b"java.lang.Long");
    let again = before.len() >= 6 && before[before.len() - 6..].starts_with(&LONG_AGAIN);
    (described || again).then(|| long(value)).flatten()
}

fn long(bytes: &[u8]) -> Option<u64> {
    let value = i64::from_be_bytes(bytes.try_into().ok()?);
    u64::try_from(value).ok().filter(|id| *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETACH: &str = "rO0ABXNyAB9jb20uY2xvdWQudm0uVm1Xb3JrRGV0YWNoVm9sdW1lhvReA-s81AMCAAFMAAh2b2x1bWVJZHQAEExqYXZhL2xhbmcvTG9uZzt4cgATY29tLmNsb3VkLnZtLlZtV29ya5-ZtlbwJWdrAgAESgAJYWNjb3VudElkSgAGdXNlcklkSgAEdm1JZEwAC2hhbmRsZXJOYW1ldAASTGphdmEvbGFuZy9TdHJpbmc7eHAAAAAAAAAAAwAAAAAAAAACAAAAAAAAACl0ABRWb2x1bWVBcGlTZXJ2aWNlSW1wbHNyAA5qYXZhLmxhbmcuTG9uZzuL5JDMjyPfAgABSgAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAAAAAAE0g";

    #[test]
    fn a_detach_names_vm_and_volume() {
        assert_eq!(
            decode(DETACH),
            Payload {
                vm: Some(41),
                volume: Some(1234)
            }
        );
    }

    #[test]
    fn a_null_volume_is_unknown() {
        let mut bytes = URL_SAFE_NO_PAD.decode(DETACH).unwrap();
        let end = handler(&bytes).unwrap() + 3 + HANDLER.len();
        bytes.truncate(end);
        bytes.push(0x70);
        assert_eq!(volume(&bytes[end..]), None);
    }

    #[test]
    fn a_second_long_goes_by_its_class_handle_and_a_back_reference_does_not() {
        let bytes = URL_SAFE_NO_PAD.decode(DETACH).unwrap();
        let end = handler(&bytes).unwrap() + 3 + HANDLER.len();
        let mut two = bytes[end..].to_vec();
        two.extend([0x73, 0x71, 0x00, 0x7e, 0x00, 0x06, 0, 0, 0, 0, 0, 0, 0x04, 0xd2]);
        assert_eq!(volume(&two), Some(1234));
        let mut same = bytes[end..].to_vec();
        same.extend([0x71, 0x00, 0x7e, 0x00, 0x08]);
        assert_eq!(volume(&same), None);
    }

    #[test]
    fn nothing_makes_it_panic_and_no_cut_makes_it_guess() {
        for cut in 0..DETACH.len() {
            assert!(decode(&DETACH[..cut]).volume.is_none(), "cut at {cut}");
        }
        for at in 0..DETACH.len() {
            let mut text = DETACH.as_bytes().to_vec();
            text[at] = b'!';
            assert_eq!(decode(std::str::from_utf8(&text).unwrap()), Payload::default());
        }
    }
}
