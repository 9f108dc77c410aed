//! Images and other media in a record: base64 with a media type beside it, or in a `data:` URL.
//!
//! Input: a record's JSON text. Output: media types and bytes, with the ids from the enclosing objects. Never: anything
//! specific to a runner; JSON from any writer carries bytes in these two ways. Media nested deeper than [`DEEPEST`] are not
//! found.

use crate::json::{Json, Kind, Object};
use data_encoding::{BASE64, BASE64_NOPAD};
use memchr::memmem;
use std::sync::LazyLock;

/// The nesting depth down to which media are searched.
const DEEPEST: usize = 32;

/// Maximum length of an id, in bytes of JSON text.
const LONGEST_ID: usize = 256;

/// The keys of a media type next to `data`.
const TYPE_KEYS: [&str; 5] = ["media_type", "mimeType", "mime_type", "mediaType", "mime"];

/// Bytes with a media type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Media {
    pub(super) mime: String,
    pub(super) content: Vec<u8>,
    /// The ids in the enclosing objects.
    pub(super) around: Vec<String>,
}

/// The media in a record, in order, without those of more than `max_bytes`.
pub(super) fn media_in(record: &str, max_bytes: usize) -> Vec<Media> {
    let mut found = Vec::new();
    if may_hold(record)
        && let Ok(json) = Json::parse(record)
    {
        collect_media(json, &mut Vec::new(), DEEPEST, max_bytes, &mut found);
    }
    found
}

/// A quick check whether a search is worthwhile: most records hold no media.
fn may_hold(text: &str) -> bool {
    static MARKS: LazyLock<[memmem::Finder<'static>; 4]> =
        LazyLock::new(|| [";base64,", "\"data\"", "mime", "media"].map(memmem::Finder::new));
    let [url, data, mime, media] = &*MARKS;
    let has = |mark: &memmem::Finder<'_>| mark.find(text.as_bytes()).is_some();
    has(url) || (has(data) && (has(mime) || has(media)))
}

fn collect_media(json: Json<'_>, around: &mut Vec<String>, deeper: usize, max_bytes: usize, found: &mut Vec<Media>) {
    if deeper == 0 || !may_hold(json.text()) {
        return;
    }
    match json.kind() {
        Kind::Array => {
            for item in json.items() {
                collect_media(item, around, deeper - 1, max_bytes, found);
            }
        }
        Kind::Object => {
            let Some(object) = json.object() else { return };
            let outside = around.len();
            around.extend(ids(&object));
            if let Some((mime, content)) = beside(&object, max_bytes) {
                found.push(Media { mime, content, around: around.clone() });
            }
            for (_, value) in object.iter() {
                match value.kind() {
                    Kind::String => {
                        if let Some((mime, content)) = in_url(value, max_bytes) {
                            found.push(Media { mime, content, around: around.clone() });
                        }
                    }
                    _ => collect_media(value, around, deeper - 1, max_bytes, found),
                }
            }
            around.truncate(outside);
        }
        _ => {}
    }
}

fn ids(object: &Object<'_>) -> Vec<String> {
    let is_id = |key: &str| key.get(key.len().saturating_sub(2)..).is_some_and(|end| end.eq_ignore_ascii_case("id"));
    let ids = object.iter().filter(|(key, value)| is_id(key) && value.text().len() <= LONGEST_ID);
    ids.filter_map(|(_, value)| value.str()).map(std::borrow::Cow::into_owned).collect()
}

/// `{"data": base64, "media_type": …}`.
fn beside(object: &Object<'_>, max_bytes: usize) -> Option<(String, Vec<u8>)> {
    let mime = TYPE_KEYS.iter().find_map(|key| object.str(key)).filter(|mime| is_media_type(mime))?;
    let data = object.get("data").filter(|data| data.kind() == Kind::String)?;
    Some((mime.into_owned(), decoded(&data.str()?, max_bytes)?))
}

/// `data:TYPE;base64,…`.
fn in_url(value: Json<'_>, max_bytes: usize) -> Option<(String, Vec<u8>)> {
    if !value.text().starts_with("\"data:") {
        return None;
    }
    let url = value.str()?;
    let (head, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let mime = head.split(';').next().filter(|mime| is_media_type(mime))?;
    Some((mime.to_owned(), decoded(data, max_bytes)?))
}

/// Whether it can be used as a header value unchanged.
fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    text.len() <= 127 && text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

fn decoded(text: &str, max_bytes: usize) -> Option<Vec<u8>> {
    let bytes = text.len() / 4 * 3;
    if text.is_empty() || bytes > max_bytes.saturating_add(3) {
        return None;
    }
    let encoding = if text.len().is_multiple_of(4) { BASE64 } else { BASE64_NOPAD };
    encoding.decode(text.as_bytes()).ok().filter(|content| content.len() <= max_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(record: &str) -> Vec<(String, Vec<u8>, Vec<String>)> {
        media_in(record, 1000).into_iter().map(|media| (media.mime, media.content, media.around)).collect()
    }

    #[test]
    fn media_are_found_beside_their_type_or_in_a_data_url() {
        let png = || ("image/png".to_owned(), vec![0, 1, 2, 3]);
        for (record, id) in [
            (
                r#"{"tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAECAw=="}}]}"#,
                "t",
            ),
            (
                r#"{"item":{"call_id":"c","result":{"content":[{"type":"image","data":"AAECAw","mimeType":"image/png"}]}}}"#,
                "c",
            ),
            (r#"{"part":{"callID":"o","state":{"attachments":[{"url":"data:image/png;base64,AAECAw=="}]}}}"#, "o"),
        ] {
            let (mime, content) = png();
            assert_eq!(found(record), [(mime, content, vec![id.to_owned()])], "{record}");
        }
    }

    #[test]
    fn values_that_are_not_media_are_ignored() {
        for record in [
            r#"{"data":"AAECAw==","mime":"not a type"}"#,
            r#"{"data":"AAECAw==","mime":"text/html\r\nx: y"}"#,
            r#"{"data":"***","media_type":"image/png"}"#,
            r#"{"data":{"media_type":"image/png"}}"#,
            r#"{"url":"data:text/plain,hello;base64"}"#,
            r#"{"text":"see data:image/png;base64,AAAA"}"#,
            r#"{"data":"","media_type":"image/png"}"#,
        ] {
            assert_eq!(found(record), [], "{record}");
        }
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let record = r#"{"data":"AAECAw==","mime":"image/png"}"#;
        assert_eq!(media_in(record, 4).len(), 1);
        assert_eq!(media_in(record, 3).len(), 0);
        let nested = |depth: usize| format!("{}{record}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(media_in(&nested(DEEPEST - 1), 4).len(), 1);
        assert_eq!(media_in(&nested(DEEPEST), 4).len(), 0);
        assert_eq!(media_in(&nested(10_000), 4).len(), 0);
    }
}
