//! Finds the session that a request to the Responses API belongs to.
//!
//! Input: the request's headers, and the bytes of its body on their way to the upstream. Output: the names of the session and
//! of the previous response. Never: a body that is held or changed; more memory than a few short texts.
//!
//! The scanner looks only at keys of the outermost object, so a body of any size costs one pass. Nothing is read from a
//! compressed body; its headers are still read.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, SizeHint};
use memchr::memchr2;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The longest accepted name of a session or response, in bytes. Longer names are ignored.
const LONGEST: usize = 256;

/// The headers in which clients name their session, the most specific first. Codex sends `session-id` (versions before 0.90:
/// `session_id`) and `thread-id`. A subagent has a thread of its own in the session of the agent that started it.
const HEADERS: [&str; 6] = ["session-id", "session_id", "conversation-id", "conversation_id", "thread-id", "thread_id"];

/// What a request says about its session. Absent values are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The `conversation` of the API.
    pub conversation: Option<String>,
    /// The `previous_response_id`: the response that this one follows.
    pub previous: Option<String>,
    /// The session named in the headers.
    pub header: Option<String>,
    /// The `prompt_cache_key`. Requests of one thread share it, because they share a prefix.
    pub cache_key: Option<String>,
}

impl Said {
    /// The name of the session; `None` if the request names none. `session_of` returns the session of a known response.
    pub fn session(&self, session_of: impl FnOnce(&str) -> Option<String>) -> Option<String> {
        self.conversation
            .clone()
            .or_else(|| self.previous.as_deref().and_then(session_of))
            .or_else(|| self.header.clone())
            .or_else(|| self.cache_key.clone())
            .or_else(|| self.previous.clone())
    }
}

/// Reads along with one request. Clones share the same state.
#[derive(Clone, Debug)]
pub struct Asking {
    scanner: Arc<Mutex<Scanner>>,
    header: Option<String>,
}

impl Asking {
    /// Starts with the headers of a request.
    pub fn new(headers: &HeaderMap) -> Self {
        let named = |name: &&str| headers.get(*name).and_then(|value| value.to_str().ok()).and_then(is_name);
        Self { scanner: Arc::default(), header: HEADERS.iter().find_map(named) }
    }

    /// Reads what a response says about the request that it answers: it repeats the same keys.
    pub(super) fn read(response: &[u8]) -> Said {
        let asking = Self::new(&HeaderMap::new());
        asking.hear(response);
        asking.said()
    }

    /// What the request has said so far.
    pub fn said(&self) -> Said {
        let found = self.scanner.lock().unwrap_or_else(PoisonError::into_inner).found.clone();
        Said { header: self.header.clone(), ..found }
    }

    /// Wraps the body so that its bytes are scanned as they pass.
    pub fn listen(&self, body: UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>) -> Heard {
        Heard { body, asking: self.clone() }
    }

    fn hear(&self, bytes: &[u8]) {
        self.scanner.lock().unwrap_or_else(PoisonError::into_inner).feed(bytes);
    }
}

fn is_name(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

/// A body whose bytes are scanned as they pass.
pub struct Heard {
    body: UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>,
    asking: Asking,
}

impl Body for Heard {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.asking.hear(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A value that the scanner looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Conversation,
    Previous,
    CacheKey,
}

/// The role of the string that the scanner is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Other,
    Key,
    Value(Wanted),
}

/// Finds the string values of a few keys in a JSON object that arrives in pieces.
#[derive(Debug, Default)]
struct Scanner {
    depth: u32,
    /// Whether the outermost value is an object.
    is_object: bool,
    /// Whether the scanner is within the value of `conversation`, which may be an object.
    in_conversation: bool,
    /// Whether the next string of the object is a key.
    expects_key: bool,
    /// The key of the current value, if it is one of those looked for.
    key: Option<Wanted>,
    in_string: bool,
    is_escaped: bool,
    text: Text,
    /// The raw text of the current string so far, if it matters; bounded.
    kept: Vec<u8>,
    is_too_long: bool,
    found: Said,
}

impl Scanner {
    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&first, behind)) = bytes.split_first() {
            if !self.in_string {
                self.mark(first);
                bytes = behind;
            } else if self.is_escaped {
                self.is_escaped = false;
                self.keep(&[first]);
                bytes = behind;
            } else {
                let end = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                let (plain, rest) = bytes.split_at(end);
                self.keep(plain);
                bytes = rest;
                if let Some((&mark, behind)) = rest.split_first() {
                    if mark == b'\\' {
                        self.is_escaped = true;
                        self.keep(b"\\");
                    } else {
                        self.end_string();
                    }
                    bytes = behind;
                }
            }
        }
    }

    /// Whether the keys of the current object matter.
    fn is_looked_at(&self) -> bool {
        self.is_object && (self.depth == 1 || (self.depth == 2 && self.in_conversation))
    }

    /// Handles a byte outside strings.
    fn mark(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                self.kept.clear();
                self.is_too_long = false;
                self.text = match self.key {
                    _ if !self.is_looked_at() => Text::Other,
                    _ if self.expects_key => Text::Key,
                    Some(wanted) => Text::Value(wanted),
                    None => Text::Other,
                };
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                let is_brace = byte == b'{';
                match self.depth {
                    1 => self.is_object = is_brace,
                    2 => self.in_conversation = is_brace && self.key == Some(Wanted::Conversation),
                    _ => {}
                }
                self.expects_key = is_brace;
                if self.is_looked_at() {
                    self.key = None;
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.in_conversation &= self.depth >= 2;
                self.expects_key = false;
            }
            b',' if self.is_looked_at() => {
                self.expects_key = true;
                self.key = None;
            }
            _ => {}
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.text == Text::Other || self.is_too_long {
            return;
        }
        // A name may be written in escapes, with at most six bytes for each byte of the name.
        if self.kept.len() + bytes.len() > LONGEST * 6 {
            self.is_too_long = true;
            self.kept.clear();
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    fn end_string(&mut self) {
        self.in_string = false;
        match self.text {
            Text::Other => {}
            Text::Key => {
                self.expects_key = false;
                self.key = match (&*self.kept, self.in_conversation) {
                    (b"id", true) | (b"conversation", false) => Some(Wanted::Conversation),
                    (b"previous_response_id", false) => Some(Wanted::Previous),
                    (b"prompt_cache_key", false) => Some(Wanted::CacheKey),
                    _ => None,
                };
            }
            Text::Value(wanted) if !self.is_too_long => {
                let written = [b"\"", &*self.kept, b"\""].concat();
                let name = serde_json::from_slice::<String>(&written).ok().as_deref().and_then(is_name);
                let place = match wanted {
                    Wanted::Conversation => &mut self.found.conversation,
                    Wanted::Previous => &mut self.found.previous,
                    Wanted::CacheKey => &mut self.found.cache_key,
                };
                *place = name;
            }
            Text::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, piece: usize) -> Said {
        let asking = Asking::new(&HeaderMap::new());
        for bytes in text.as_bytes().chunks(piece) {
            asking.hear(bytes);
        }
        asking.said()
    }

    fn of(conversation: &str, previous: &str, cache_key: &str) -> Said {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Said { conversation: some(conversation), previous: some(previous), header: None, cache_key: some(cache_key) }
    }

    #[test]
    fn the_keys_of_a_request_are_found_whatever_the_chunking() {
        let long = format!(r#"{{"prompt_cache_key":"{}","previous_response_id":"r"}}"#, "x".repeat(LONGEST * 7));
        for (text, expected) in [
            (
                r#"{"model":"m","conversation":"c","previous_response_id":"r","prompt_cache_key":"k"}"#,
                of("c", "r", "k"),
            ),
            (r#"{"conversation": {"metadata": {"id": "no"}, "id" : "c"}, "input": []}"#, of("c", "", "")),
            (r#"{"conversation": null, "previous_response_id": null, "prompt_cache_key": "k"}"#, of("", "", "k")),
            (r#"{"input":[{"prompt_cache_key":"no"}],"metadata":{"conversation":"no","id":"no"}}"#, of("", "", "")),
            (r#"{"input":"{\"prompt_cache_key\":\"no\"}","prompt_cache_key":"a\"b\u00e9"}"#, of("", "", "a\"bé")),
            (r#"{"instructions":"\\","prompt_cache_key":"k"}"#, of("", "", "k")),
            (r#"{"x":"prompt_cache_key","y":"no"}"#, of("", "", "")),
            (r#"["prompt_cache_key","no",{"prompt_cache_key":"no"}]"#, of("", "", "")),
            (r#"{"prompt_cache_key":["no"],"previous_response_id":{"id":"no"}}"#, of("", "", "")),
            (r#"{"prompt_cache_key":"","conversation":{}}"#, of("", "", "")),
            (r#"{"prompt_cache_key":"two\nlines"}"#, of("", "", "")),
            (r#"{"prompt_cache_key":"unclosed"#, of("", "", "")),
            ("}}]{\"prompt_cache_key\":\"k\"", of("", "", "k")),
            (&*long, of("", "r", "")),
        ] {
            for piece in [1, 2, 3, 7, text.len()] {
                assert_eq!(said(text, piece), expected, "{text} by {piece}");
            }
        }
    }

    #[test]
    fn a_session_is_named_by_the_most_specific_key() {
        let all = Said {
            conversation: Some("conversation".to_owned()),
            previous: Some("response".to_owned()),
            header: Some("header".to_owned()),
            cache_key: Some("key".to_owned()),
        };
        let known = |_: &str| Some("before".to_owned());
        assert_eq!(all.session(known).as_deref(), Some("conversation"));
        let all = Said { conversation: None, ..all };
        assert_eq!(all.session(known).as_deref(), Some("before"));
        assert_eq!(all.session(|_| None).as_deref(), Some("header"));
        let all = Said { header: None, ..all };
        assert_eq!(all.session(|_| None).as_deref(), Some("key"));
        let all = Said { cache_key: None, ..all };
        assert_eq!(all.session(|_| None).as_deref(), Some("response"));
        assert_eq!(Said::default().session(known), None);
    }

    #[test]
    fn headers_name_a_session_by_their_precedence() {
        let mut headers = HeaderMap::new();
        assert_eq!(Asking::new(&headers).said().header, None);
        headers.insert("thread-id", "thread".parse().unwrap());
        assert_eq!(Asking::new(&headers).said().header.as_deref(), Some("thread"));
        headers.insert("session_id", "session".parse().unwrap());
        assert_eq!(Asking::new(&headers).said().header.as_deref(), Some("session"));
        headers.insert("session-id", "x".repeat(LONGEST + 1).parse().unwrap());
        assert_eq!(
            Asking::new(&headers).said().header.as_deref(),
            Some("session"),
            "a value that is too long must not be used"
        );
    }
}
