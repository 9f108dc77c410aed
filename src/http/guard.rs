//! Checks before authentication: the size of the head, Host, and Origin.
//!
//! The checks of Host and Origin keep out web pages that a browser lets through (DNS rebinding, cross-site requests).

use super::cors;
use super::live::Live;
use super::problem::Problem;
use super::settings::Settings;
use super::visit::{Visit, is_origin_of};
use hyper::header::{HOST, ORIGIN};
use hyper::{Request, StatusCode, Version};
use std::net::IpAddr;

/// Admits a request, or returns why not.
///
/// # Errors
/// 400, 403, 421 or 431.
pub(super) fn admit<B>(request: &Request<B>, visit: Visit, settings: &Settings, live: &Live) -> Result<(), Problem> {
    let (headers, authority) = (request.headers(), request.uri().authority().map(|authority| authority.as_str()));
    // The HTTP library refuses heads that exceed its buffer, but that buffer grows in steps beyond the limit.
    if head_bytes(request) > settings.max_header_bytes {
        let detail =
            format!("the request's head has more than {} bytes (server.max_header_bytes)", settings.max_header_bytes);
        return Err(Problem::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, detail));
    }
    let mut hosts = headers.get_all(HOST).iter();
    let host = match hosts.next().map(|host| host.to_str()) {
        Some(Ok(host)) => Some(host),
        Some(Err(_)) => return Err(Problem::bad_request("the Host header is not text")),
        None => None,
    };
    if hosts.next().is_some() {
        return Err(Problem::bad_request("there is more than one Host header"));
    }
    // RFC 9112, section 3.2.
    if host.is_none() && request.version() == Version::HTTP_11 {
        return Err(Problem::bad_request("an HTTP/1.1 request needs a Host header"));
    }
    // HTTP/2 has `:authority` instead of, or besides, `Host`, and a trusted proxy forwards the requested host. All must be
    // allowed.
    let asked = visit.host(headers, request.uri(), live);
    if [host, authority, asked].into_iter().flatten().any(|host| !known_host(host, settings, live)) {
        let detail = "this host name is not served here; add it to server.allowed_hosts to serve it";
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail));
    }
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let is_own = asked.is_some_and(|host| is_origin_of(origin, visit.scheme(headers, live), host));
        if !is_own && !cors::allows(origin, live) {
            let detail = "this Origin may not use the proxy: its scheme, host and port differ from those of the request; \
                          to allow it, add it to server.cors_origins (serve --cors ORIGIN)";
            return Err(Problem::new(StatusCode::FORBIDDEN, detail));
        }
    }
    Ok(())
}

/// The size of a request's head when written without optional white space.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let uri = request.uri();
    let target = uri.scheme_str().map_or(0, |scheme| scheme.len() + "://".len())
        + uri.authority().map_or(0, |authority| authority.as_str().len())
        + uri.path_and_query().map_or(0, |path| path.as_str().len());
    let fields = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.method().as_str().len() + target + "  HTTP/1.1\r\n".len() + fields.sum::<usize>() + "\r\n".len()
}

/// Whether a `host[:port]` is loopback, the listening address, or an allowed name.
fn known_host(host: &str, settings: &Settings, live: &Live) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || address == settings.listen.ip());
    is_loopback || live.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name) || allowed == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(pairs: &[(&str, &str)]) -> Request<()> {
        let with = |request: hyper::http::request::Builder, (name, value): &(&str, &str)| request.header(*name, *value);
        pairs.iter().fold(Request::builder().uri("/v1/runs?limit=1"), with).body(()).unwrap()
    }

    #[test]
    fn the_size_of_a_head_is_that_of_its_text() {
        let text = "GET /v1/runs?limit=1 HTTP/1.1\r\nhost: a\r\naccept: */*\r\n\r\n";
        assert_eq!(head_bytes(&request(&[("host", "a"), ("accept", "*/*")])), text.len());
    }

    fn status(pairs: &[(&str, &str)]) -> Option<u16> {
        let live = Live {
            allowed_hosts: vec!["gate.example".to_owned()],
            cors_origins: vec!["https://ui.example".to_owned()],
            ..Live::default()
        };
        let visit = Visit { peer: IpAddr::from([127, 0, 0, 1]), is_secure: false, is_reserved: false };
        let problem = admit(&request(pairs), visit, &Settings::default(), &live).err()?;
        Some(problem.into_response().status().as_u16())
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        for (pairs, expected) in [
            (&[("host", "127.0.0.1:8080")][..], None),
            (&[("host", "LOCALHOST")], None),
            (&[("host", "[::1]:8080")], None),
            (&[("host", "gate.example:443")], None),
            (&[("host", "evil.example")], Some(421)),
            (&[("host", "127.0.0.1.evil.example")], Some(421)),
            (&[("host", "localhost"), ("origin", "http://localhost:3000")], Some(403)),
            (&[("host", "localhost:8080"), ("origin", "http://localhost:8080")], None),
            (&[("host", "localhost"), ("origin", "http://localhost")], None),
            (&[("host", "localhost:8080"), ("origin", "https://localhost:8080")], Some(403)),
            (&[("host", "gate.example"), ("origin", "http://gate.example")], None),
            (&[("host", "localhost"), ("origin", "http://gate.example")], Some(403)),
            (&[], Some(400)),
            (&[("host", "localhost"), ("origin", "https://evil.example")], Some(403)),
            (&[("host", "localhost"), ("origin", "null")], Some(403)),
            (&[("host", "localhost"), ("origin", "https://ui.example")], None),
            (&[("host", "localhost"), ("origin", "http://ui.example")], Some(403)),
            (&[("host", "localhost"), ("origin", "https://ui.example:8443")], Some(403)),
            (&[("host", "ui.example")], Some(421)),
            (&[("host", "localhost"), ("host", "localhost")], Some(400)),
        ] {
            assert_eq!(status(pairs), expected, "{pairs:?}");
        }
    }
}
