//! Which compression a request body has (RFC 9110, section 8.4): `gzip` or `zstd`.
//!
//! Input: the headers of a request. Output: the compression. Never: one that is not supported, or more than one.

use super::problem::Problem;
use crate::compression::Coding;
use hyper::StatusCode;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};

/// The value of `Accept-Encoding` in the response that refuses a coding (RFC 9110, section 15.5.16).
const ACCEPTED: &str = "gzip, zstd";

/// The largest zstd window, in bytes: decoders must support it (RFC 9659).
pub(super) const WINDOW: u64 = 8 << 20;

/// The coding of a body; `None` if it is not compressed.
///
/// # Errors
/// 415: the coding is not supported, or there is more than one.
pub(super) fn coding_of(headers: &HeaderMap) -> Result<Option<Coding>, Problem> {
    let mut found = None;
    for list in headers.get_all(CONTENT_ENCODING) {
        for name in list.to_str().unwrap_or("?").split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let coding = match name.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "zstd" => Coding::Zstd,
                _ => return Err(refused(format!("the body's Content-Encoding is {name:?}"))),
            };
            if found.replace(coding).is_some() {
                return Err(refused("the body is compressed more than once".to_owned()));
            }
        }
    }
    Ok(found)
}

fn refused(what: String) -> Problem {
    let detail = format!("{what}; send it with one of {ACCEPTED}, or without a Content-Encoding");
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail).with(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_is_read_from_the_headers() {
        let of = |values: &[&'static str]| {
            let headers: HeaderMap =
                values.iter().map(|value| (CONTENT_ENCODING, HeaderValue::from_static(value))).collect();
            coding_of(&headers).map_err(|problem| problem.status().as_u16())
        };
        assert_eq!((of(&[]), of(&["identity"]), of(&[""])), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(
            (of(&["GZIP"]), of(&["x-gzip"]), of(&["zstd"])),
            (Ok(Some(Coding::Gzip)), Ok(Some(Coding::Gzip)), Ok(Some(Coding::Zstd)))
        );
        assert_eq!(
            (of(&["br"]), of(&["gzip, zstd"]), of(&["gzip", "gzip"]), of(&["deflate"])),
            (Err(415), Err(415), Err(415), Err(415))
        );
    }
}
