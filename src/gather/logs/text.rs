//! Words from a log, made fit to be kept: tenants write into them, and secrets stand in them.

/// The most that is kept of an error's words.
pub const MAX_TEXT: usize = 400;

/// What a value after one of these keys is, is nobody's business.
const SECRETS: [&str; 6] = [
    "apikey",
    "secretkey",
    "signature",
    "sessionkey",
    "password",
    "secret",
];

/// One line, without control and direction characters, without secrets, cut.
#[must_use]
pub fn neutral(text: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    for c in hidden(text).chars() {
        let blank = c.is_whitespace() || c.is_control() || is_invisible(c);
        if blank && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if kept == MAX_TEXT {
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        out.push(if blank { ' ' } else { c });
        kept += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Turns the direction of what follows, or is not to be seen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text, with stars for the values of secret keys: `key=value`, `"key":"value"`, escaped or not.
fn hidden(text: &str) -> String {
    // Far more than is kept, so that a key is never cut from its value.
    let text: String = text.chars().take(MAX_TEXT * 8).collect();
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = SECRETS
            .iter()
            .filter_map(|key| lower[at..].find(key).map(|i| (at + i, at + i + key.len())))
            .min_by_key(|(from, to)| (*from, std::cmp::Reverse(*to)));
        let Some((_, after)) = next else { break };
        let gap = text[after..]
            .find(|c: char| !matches!(c, '"' | '\\' | '\'' | ' ' | ':' | '='))
            .unwrap_or(text.len() - after);
        out.push_str(&text[at..after + gap]);
        at = after + gap;
        if text[after..at].contains([':', '=']) {
            let end = text[at..]
                .find(['"', '\\', '\'', ' ', '&', ',', '}'])
                .unwrap_or(text.len() - at);
            if end > 0 {
                out.push_str("***");
            }
            at += end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The target that libvirt calls taken: "target 'vdc' duplicated", "target vdb already exists". Names that tenants gave
/// stand before libvirt's words, so the last such words count.
#[must_use]
pub fn collision(text: &str) -> Option<String> {
    let quoted = text.rfind("XML error: target '").and_then(|at| {
        let (name, after) = text[at + "XML error: target '".len()..].split_once('\'')?;
        after.starts_with(" duplicated").then_some(name)
    });
    let bare = || {
        let at = text.rfind("operation failed: target ")?;
        let (name, after) = text[at + "operation failed: target ".len()..].split_once(' ')?;
        after.starts_with("already exists").then_some(name)
    };
    let name = quoted.or_else(bare)?;
    let plain = !name.is_empty() && name.len() <= 8 && name.bytes().all(|b| b.is_ascii_lowercase());
    plain.then(|| name.to_owned())
}

/// The last part of a class's name: `VmWorkDetachVolume` of `com.cloud.vm.VmWorkDetachVolume`.
#[must_use]
pub fn class(name: &str) -> Option<&str> {
    let last = name.rsplit('.').next()?;
    let plain = !last.is_empty()
        && last.len() <= 80
        && last
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'$' || b == b'_');
    plain.then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_made_harmless_and_short() {
        assert_eq!(neutral("a\u{1b}[31m \n\t b\u{202e}c"), "a [31m b c");
        let long = neutral(&"é".repeat(5_000));
        assert_eq!(long.chars().count(), MAX_TEXT + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn secrets_are_not_kept() {
        for text in [
            r#"{"apiKey":"plgWJ","id":"x"}"#,
            r#"{\"apiKey\":\"plgWJ\",\"id\":\"x\"}"#,
            "apiKey=plgWJ&id=x",
            "sessionkey = plgWJ",
            "APIKEY=plgWJ",
            "secretKey=plgWJ",
        ] {
            let kept = neutral(text);
            assert!(!kept.contains("plgWJ"), "{kept}");
            assert!(kept.contains("***"), "{kept}");
        }
        assert_eq!(neutral("the secret of rbd"), "the secret of rbd");
    }

    #[test]
    fn both_words_for_a_taken_target_are_known_and_a_name_cannot_say_them() {
        let new = "Failed to attach volume a to VM b; org.libvirt.LibvirtException: XML error: target 'vde' duplicated for disk sources 'p/1' and 'p/2'";
        assert_eq!(collision(new).as_deref(), Some("vde"));
        let old = "org.libvirt.LibvirtException: operation failed: target vdb already exists";
        assert_eq!(collision(old).as_deref(), Some("vdb"));
        let forged = "Failed to attach volume XML error: target 'vdz' duplicated for to VM b; org.libvirt.LibvirtException: XML error: target 'vdc' duplicated for";
        assert_eq!(collision(forged).as_deref(), Some("vdc"));
        assert_eq!(collision("XML error: target 'v d' duplicated"), None);
        assert_eq!(collision("XML error: target 'vd"), None);
    }

    #[test]
    fn a_class_is_a_word() {
        assert_eq!(
            class("com.cloud.vm.VmWorkDetachVolume"),
            Some("VmWorkDetachVolume")
        );
        assert_eq!(class("com.cloud.vm.Vm Work"), None);
        assert_eq!(class(""), None);
    }
}
