//! A file or an image that belongs to a prompt.
//!
//! Input: a media type, and the content or where it is. Output: the same in the forms that runners take. Never: a file that is read or
//! fetched; base64 text that is decoded.

use std::borrow::Cow;

/// A file or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// The media type, in lower case, without parameters.
    pub media_type: String,
    /// Its file name; `None` if it has none.
    pub name: Option<String>,
    /// Its content.
    pub content: FileContent,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The content, as base64 with padding (RFC 4648, section 4).
    Base64(String),
    /// Where the runner or its model finds it: an `http` or `https` URL.
    Url(String),
}

impl PromptFile {
    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Whether the content is at a URL. The type of an image may then be `image/*`.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.content, FileContent::Url(_))
    }

    /// The URL of the content: a `data:` URL if the content is here.
    pub fn url(&self) -> Cow<'_, str> {
        match &self.content {
            FileContent::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", self.media_type)),
            FileContent::Url(url) => Cow::Borrowed(url),
        }
    }

    /// The size of the content in bytes; `None` if the content is elsewhere.
    pub fn bytes(&self) -> Option<u64> {
        let FileContent::Base64(data) = &self.content else { return None };
        let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
        Some((data.len() / 4 * 3).saturating_sub(padding) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_a_url_with_a_known_size_unless_it_is_elsewhere() {
        let file = |media_type: &str, content| PromptFile { media_type: media_type.to_owned(), name: None, content };
        for (data, bytes) in [("", 0), ("YQ==", 1), ("YWI=", 2), ("YWJj", 3), ("YWJjZA==", 4)] {
            let image = file("image/png", FileContent::Base64(data.to_owned()));
            assert_eq!((image.bytes(), &*image.url()), (Some(bytes), &*format!("data:image/png;base64,{data}")));
            assert!(image.is_image());
        }
        let remote = file("application/pdf", FileContent::Url("https://a/b.pdf".to_owned()));
        assert_eq!((remote.bytes(), &*remote.url(), remote.is_image()), (None, "https://a/b.pdf", false));
    }
}
