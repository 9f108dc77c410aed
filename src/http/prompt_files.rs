//! The files of a prompt, as clients write them.
//!
//! Input: a media type with base64 text or a URL; a URL that may contain the content. Output: the file. Never: a file that the proxy reads or
//! fetches; text that only looks like base64; a URL of a kind that a model's server should not open.

use framegate_translators::host::{FileContent, PromptFile};
use serde::Deserialize;

/// The maximum number of files of a prompt.
pub(super) const MAX_FILES: usize = 100;

/// The media type of an image at a URL that does not say more.
const IMAGE: &str = "image/*";

/// The longest file name or media type, in bytes.
const MAX_NAME: usize = 255;

/// A file in the body of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileForm {
    media_type: Option<String>,
    data: Option<String>,
    url: Option<String>,
    name: Option<String>,
}

impl FileForm {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(self) -> Result<PromptFile, String> {
        match (self.data, self.url) {
            (Some(data), None) => of_data(self.media_type.as_deref().unwrap_or_default(), data, self.name),
            (None, Some(url)) => of_url(&url, self.media_type.as_deref(), self.name),
            _ => Err("needs either data or url".to_owned()),
        }
    }
}

/// The file with this base64 text.
///
/// # Errors
/// What is wrong with it.
pub(super) fn of_data(media_type: &str, data: String, name: Option<String>) -> Result<PromptFile, String> {
    if !is_base64(data.as_bytes()) {
        return Err("is not valid base64".to_owned());
    }
    file(media_type, FileContent::Base64(data), name)
}

/// The file at this URL, or in it if it is a `data:` URL. Without a `media_type`, the URL must have one.
///
/// # Errors
/// What is wrong with it.
pub(super) fn of_url(url: &str, media_type: Option<&str>, name: Option<String>) -> Result<PromptFile, String> {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
    match scheme.as_str() {
        "data" => {
            let form = "is no data: URL with base64 text (data:image/png;base64,…)";
            let (head, data) = url.get(5..).and_then(|rest| rest.split_once(',')).ok_or(form)?;
            let own = head.strip_suffix(";base64").ok_or(form)?;
            of_data(if own.is_empty() { media_type.unwrap_or_default() } else { own }, data.to_owned(), name)
        }
        "http" | "https" => file(media_type.unwrap_or_default(), FileContent::Url(url.to_owned()), name),
        _ => Err("must be an http, https or data URL".to_owned()),
    }
}

/// The image at this URL, or in it if it is a `data:` URL. The name at the end of the URL may say which type it has.
///
/// # Errors
/// What is wrong with it.
pub(super) fn image(url: &str) -> Result<PromptFile, String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    of_url(url, Some(media_type_of(path).unwrap_or(IMAGE)), None)
}

/// The file with this content, which is a `data:` URL, or base64 text whose type its name says.
///
/// # Errors
/// What is wrong with it.
pub(super) fn named(data: &str, name: Option<&str>) -> Result<PromptFile, String> {
    let media_type = name.and_then(media_type_of).unwrap_or_default();
    let name = name.map(str::to_owned);
    if data.starts_with("data:") {
        of_url(data, Some(media_type), name)
    } else {
        of_data(media_type, data.to_owned(), name)
    }
}

/// The media type that a file name says.
pub(super) fn media_type_of(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit('/').next().unwrap_or_default().rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "md" => "text/markdown",
        _ => return None,
    })
}

fn file(media_type: &str, content: FileContent, name: Option<String>) -> Result<PromptFile, String> {
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let is_valid = media_type.split_once('/').is_some_and(|(kind, of)| is_word(kind) && is_word(of));
    let is_valid = is_valid || media_type == IMAGE && matches!(content, FileContent::Url(_));
    if !is_valid || media_type.len() > MAX_NAME {
        return Err("has no valid media type, such as image/png".to_owned());
    }
    if name.as_ref().is_some_and(|name| name.len() > MAX_NAME) {
        return Err(format!("has a name of more than {MAX_NAME} bytes"));
    }
    Ok(PromptFile { media_type, name, content })
}

/// Whether the text is base64 with padding, and not empty.
fn is_base64(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let (digits, padding) = text.split_at(end);
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && padding.len() <= 2
        && digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(form: serde_json::Value) -> Result<PromptFile, String> {
        serde_json::from_value::<FileForm>(form).map_err(|error| error.to_string())?.read()
    }

    #[test]
    fn a_file_is_given_as_data_or_as_a_url() {
        let image = |content| PromptFile { media_type: "image/png".to_owned(), name: None, content };
        let here = image(FileContent::Base64("YQ==".to_owned()));
        assert_eq!(read(json!({"media_type": "image/png", "data": "YQ=="})), Ok(here.clone()));
        assert_eq!(read(json!({"media_type": "IMAGE/PNG; a=b", "data": "YQ=="})), Ok(here.clone()));
        assert_eq!(read(json!({"url": "data:image/png;base64,YQ=="})), Ok(here.clone()));
        assert_eq!(read(json!({"url": "data:;base64,YQ==", "media_type": "image/png"})), Ok(here));
        let there = PromptFile { name: Some("a".to_owned()), ..image(FileContent::Url("https://a/b".to_owned())) };
        assert_eq!(read(json!({"media_type": "image/png", "url": "https://a/b", "name": "a"})), Ok(there));
    }

    #[test]
    fn the_type_of_a_file_is_guessed_only_from_its_name() {
        for (url, expected) in [
            ("https://a/b.PNG?c=d.gif", "image/png"),
            ("https://a/b.jpeg#c", "image/jpeg"),
            ("https://a/b", "image/*"),
            ("https://a.png/b", "image/*"),
            ("data:image/webp;base64,YQ==", "image/webp"),
        ] {
            assert_eq!(image(url).unwrap().media_type, expected, "{url}");
        }
        assert!(image("data:;base64,YQ==").unwrap_err().contains("media type"));
        assert_eq!(named("YQ==", Some("a.pdf")).unwrap().media_type, "application/pdf");
        assert_eq!(named("data:text/plain;base64,YQ==", Some("a.pdf")).unwrap().media_type, "text/plain");
        assert!(named("YQ==", Some("a.unknown")).unwrap_err().contains("media type"));
        assert!(named("YQ==", None).unwrap_err().contains("media type"));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let long = "n".repeat(MAX_NAME + 1);
        for (form, part) in [
            (json!({}), "either data or url"),
            (json!({"media_type": "a/b", "data": "YQ==", "url": "https://a"}), "either data or url"),
            (json!({"data": "YQ=="}), "media type"),
            (json!({"media_type": "image", "data": "YQ=="}), "media type"),
            (json!({"media_type": "image/", "data": "YQ=="}), "media type"),
            (json!({"media_type": "image/p ng", "data": "YQ=="}), "media type"),
            (json!({"media_type": "a/b", "data": ""}), "base64"),
            (json!({"media_type": "a/b", "data": "===="}), "base64"),
            (json!({"media_type": "a/b", "data": "YQ"}), "base64"),
            (json!({"media_type": "a/b", "data": "Y==="}), "base64"),
            (json!({"media_type": "a/b", "data": "Y-=="}), "base64"),
            (json!({"url": "https://a/b"}), "media type"),
            (json!({"url": "data:text/plain,hello"}), "data: URL"),
            (json!({"url": "data:image/png"}), "data: URL"),
            (json!({"url": "file:///etc/passwd", "media_type": "a/b"}), "http, https or data"),
            (json!({"url": "", "media_type": "a/b"}), "http, https or data"),
            (json!({"media_type": "a/b", "data": "YQ==", "name": long}), "name"),
            (json!({"type": "a/b"}), "unknown field"),
        ] {
            let error = read(form.clone()).unwrap_err();
            assert!(error.contains(part), "{form}: {error}");
        }
    }
}
