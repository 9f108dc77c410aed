//! Identifies the client of a request, and the address that the request was sent to.
//!
//! Input: the connection, and what trusted proxies add to the request. Output: the client's address; the scheme and host of
//! the request. Never: a forwarding header accepted from a peer that is not in `server.trusted_proxies`.

use super::live::Live;
use hyper::header::{HOST, HeaderMap};
use hyper::http::uri::Uri;
use std::net::{IpAddr, SocketAddr};

/// What the connection says about a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The address of the peer: the client, or a proxy in front of it.
    pub(super) peer: IpAddr,
    /// Whether the connection uses TLS.
    pub(super) is_secure: bool,
    /// Whether the connection has a reserved permit, which is only for probes.
    pub(super) is_reserved: bool,
}

impl Visit {
    fn is_of_proxy(&self, live: &Live) -> bool {
        is_trusted(self.peer, live)
    }

    /// The client's address.
    pub(super) fn client(&self, headers: &HeaderMap, live: &Live) -> IpAddr {
        let mut client = self.peer.to_canonical();
        if !self.is_of_proxy(live) {
            return client;
        }
        // Each proxy appends the address of its peer. The last address that is not a trusted proxy is the client.
        let lists = headers.get_all("x-forwarded-for").iter().rev();
        for entry in lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.rsplit(',')) {
            let Some(address) = address_in(entry.trim()) else { break };
            client = address;
            if !is_trusted(client, live) {
                break;
            }
        }
        client
    }

    /// The scheme of the client's request.
    pub(super) fn scheme<'r>(&self, headers: &'r HeaderMap, live: &Live) -> &'r str {
        let forwarded = if self.is_of_proxy(live) { last(headers, "x-forwarded-proto") } else { None };
        forwarded.unwrap_or(if self.is_secure { "https" } else { "http" })
    }

    /// The host that the client requested, with its port if one is given.
    pub(super) fn host<'r>(&self, headers: &'r HeaderMap, uri: &'r Uri, live: &Live) -> Option<&'r str> {
        let forwarded = if self.is_of_proxy(live) { last(headers, "x-forwarded-host") } else { None };
        let asked = || uri.authority().map(|authority| authority.as_str());
        forwarded.or_else(asked).or_else(|| headers.get(HOST)?.to_str().ok())
    }
}

fn is_trusted(address: IpAddr, live: &Live) -> bool {
    live.trusted_proxies.iter().any(|network| network.has(address))
}

/// The last value of a header, which the nearest proxy added.
fn last<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let list = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    list.rsplit(',').next().map(str::trim).filter(|value| !value.is_empty())
}

/// Parses an address with or without a port.
fn address_in(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|entry| entry.strip_suffix(']')).unwrap_or(entry);
    let address = bare.parse().ok().or_else(|| entry.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// Whether an `Origin` has this scheme and the same host and port as a `Host`.
pub(super) fn is_origin_of(origin: &str, scheme: &str, host: &str) -> bool {
    let Some((of_origin, rest)) = origin.split_once("://") else { return false };
    of_origin.eq_ignore_ascii_case(scheme)
        && match (place(rest, scheme), place(host, scheme)) {
            (Some((one, one_port)), Some((other, other_port))) => {
                one_port == other_port && one.eq_ignore_ascii_case(other)
            }
            _ => false,
        }
}

/// Splits a host and its port; without a port, the default port of the scheme.
fn place<'t>(text: &'t str, scheme: &str) -> Option<(&'t str, u16)> {
    let behind_bracket = text.rfind(']').unwrap_or_default();
    let colon = text.rfind(':').filter(|at| *at > behind_bracket);
    let default = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    match colon {
        Some(at) => Some((text.get(..at)?, text.get(at + 1..)?.parse().ok()?)),
        None => Some((text, default)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn live() -> Live {
        Live { trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()], ..Live::default() }
    }

    fn visit(peer: &str) -> Visit {
        Visit { peer: peer.parse().unwrap(), is_secure: false, is_reserved: false }
    }

    #[test]
    fn only_trusted_proxies_can_name_the_client() {
        let forwarded = headers(&[
            ("x-forwarded-for", "203.0.113.9, 198.51.100.4, 10.0.0.2"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "gate.example"),
            ("host", "127.0.0.1:8080"),
        ]);
        let uri = Uri::from_static("/v1/runs");
        let (live, proxy, other) = (live(), visit("10.0.0.1"), visit("192.0.2.1"));
        assert_eq!(
            proxy.client(&forwarded, &live).to_string(),
            "198.51.100.4",
            "addresses that the client adds must not count"
        );
        assert_eq!(
            (proxy.scheme(&forwarded, &live), proxy.host(&forwarded, &uri, &live)),
            ("https", Some("gate.example"))
        );
        assert_eq!(other.client(&forwarded, &live).to_string(), "192.0.2.1");
        assert_eq!(
            (other.scheme(&forwarded, &live), other.host(&forwarded, &uri, &live)),
            ("http", Some("127.0.0.1:8080"))
        );
        assert_eq!(proxy.client(&headers(&[]), &live).to_string(), "10.0.0.1");
        assert_eq!(proxy.client(&headers(&[("x-forwarded-for", "unknown")]), &live).to_string(), "10.0.0.1");
        assert_eq!(
            proxy.client(&headers(&[("x-forwarded-for", "[2001:db8::1]:443")]), &live).to_string(),
            "2001:db8::1"
        );
    }

    #[test]
    fn origins_are_compared_by_scheme_host_and_port() {
        for (origin, scheme, host, expected) in [
            ("http://localhost:8080", "http", "localhost:8080", true),
            ("http://LOCALHOST:8080", "http", "localhost:8080", true),
            ("http://localhost:5173", "http", "localhost:8080", false),
            ("http://localhost", "http", "localhost:8080", false),
            ("http://localhost", "http", "localhost:80", true),
            ("https://gate.example", "https", "gate.example:443", true),
            ("https://gate.example", "http", "gate.example", false),
            ("http://gate.example:443", "https", "gate.example", false),
            ("http://[::1]:8080", "http", "[::1]:8080", true),
            ("http://[::1]", "http", "[::1]:80", true),
            ("http://127.0.0.1:8080", "http", "localhost:8080", false),
            ("null", "http", "localhost", false),
            ("http://localhost:x", "http", "localhost:x", false),
        ] {
            assert_eq!(is_origin_of(origin, scheme, host), expected, "{origin} {scheme} {host}");
        }
    }
}
