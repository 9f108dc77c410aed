//! `GET /`, `/app.js`, `/app.css`: the page on which runs can be looked at.
//!
//! Input: nothing but the path. Output: one of three files that are part of the program, compressed if the client accepts it, with
//! an `ETag`. Never: data of a run, so no token is needed; a script or a style that is not one of these files; a page of
//! another site that shows this one in a frame.
//!
//! The page reads the API like any other client, with the token that the user types into it.

use super::etag::is_known;
use super::problem::Problem;
use super::reply::{Body, empty, full};
use super::route::Call;
use crate::ui;
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// What the page may load and do. Its own script and style are files, so nothing inline is needed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The names of the files do not change with their contents, so a client asks each time and usually gets 304.
const CACHE_CONTROL: &str = "no-cache";

/// A file of the page as it is sent.
struct File {
    media_type: &'static str,
    /// Only clients that do not accept gzip need it.
    plain: LazyLock<Form>,
    gzip: LazyLock<Form>,
}

/// The bytes to send, and their entity tag.
struct Form {
    bytes: Bytes,
    etag: HeaderValue,
}

impl Form {
    fn new(bytes: &'static [u8]) -> Self {
        let digest = Sha256::digest(bytes);
        // Hexadecimal digits are a valid header value.
        let etag = HeaderValue::from_str(&format!("\"{digest:x}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Self { bytes: Bytes::from_static(bytes), etag }
    }
}

macro_rules! file {
    ($media_type:literal, $file:path) => {
        File {
            media_type: $media_type,
            plain: LazyLock::new(|| Form::new($file.text().as_bytes())),
            gzip: LazyLock::new(|| Form::new($file.gzip())),
        }
    };
}

static INDEX: File = file!("text/html; charset=utf-8", ui::INDEX);
static SCRIPT: File = file!("text/javascript; charset=utf-8", ui::SCRIPT);
static STYLE: File = file!("text/css; charset=utf-8", ui::STYLE);

/// `GET /`.
pub(super) async fn index(call: Call) -> Result<Response<Body>, Problem> {
    serve(&INDEX, &call)
}

/// `GET /app.js`.
pub(super) async fn script(call: Call) -> Result<Response<Body>, Problem> {
    serve(&SCRIPT, &call)
}

/// `GET /app.css`.
pub(super) async fn style(call: Call) -> Result<Response<Body>, Problem> {
    serve(&STYLE, &call)
}

fn serve(file: &'static File, call: &Call) -> Result<Response<Body>, Problem> {
    if !call.shared.settings.page {
        return Err(Problem::not_found("the page is not served here; to serve it, set ui.enabled to \"on\""));
    }
    let headers = call.request.headers();
    let is_compressed = accepts_gzip(headers);
    let form = if is_compressed { &file.gzip } else { &file.plain };
    let has_it = is_known(headers, form.etag.as_bytes());
    let mut response = Response::new(if has_it { empty() } else { full(form.bytes.clone()) });
    if has_it {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    let headers = response.headers_mut();
    headers.insert(header::ETAG, form.etag.clone());
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_CONTROL));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("permissions-policy", HeaderValue::from_static("camera=(), geolocation=(), microphone=()"));
    Ok(response)
}

/// Whether `Accept-Encoding` prefers gzip to no compression, or names it without a preference (RFC 9110, section 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut other, mut plain) = (None, None, None);
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
    for coding in lists.flat_map(|list| list.split(',')) {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight: f32 = weight.map_or(Some(1.0), |text| text.parse().ok()).unwrap_or(0.0);
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            gzip = Some(weight);
        } else if name.eq_ignore_ascii_case("identity") {
            plain = Some(weight);
        } else if name == "*" {
            other = Some(weight);
        }
    }
    let weight = gzip.or(other).unwrap_or(0.0);
    weight > 0.0 && weight >= plain.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_to_clients_that_accept_it() {
        for (value, expected) in [
            (None, false),
            (Some(""), false),
            (Some("gzip"), true),
            (Some("GZIP;q=0.5"), true),
            (Some("deflate, gzip, br, zstd"), true),
            (Some("x-gzip"), true),
            (Some("*"), true),
            (Some("br"), false),
            (Some("gzip;q=0, *"), false),
            (Some("gzip; q=0.000"), false),
            (Some("gzip;q=x"), false),
            (Some("*;q=0"), false),
            (Some("identity, gzip;q=0.5"), false),
            (Some("identity;q=0.5, gzip"), true),
            (Some("gzipped"), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            }
            assert_eq!(accepts_gzip(&headers), expected, "{value:?}");
        }
    }
}
