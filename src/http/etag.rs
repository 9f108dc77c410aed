//! Entity tags of responses (RFC 9110, section 8.8.3).
//!
//! Input: the headers of a request, and the tag of what would be sent. Output: whether the client already has it. Never: a
//! comparison of contents.

use hyper::header::{self, HeaderMap};

/// Whether `If-None-Match` contains the tag (RFC 9110, section 13.1.2, which compares weakly).
pub(super) fn is_known(headers: &HeaderMap, etag: &[u8]) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag.as_bytes() == etag
    })
}
