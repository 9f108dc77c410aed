//! Filters the headers that pass from one side of the proxy to the other.
//!
//! Input: two lists of names or prefixes (a name followed by `*`): headers that pass, and headers that are removed. Output:
//! the headers that pass, in order. Never: a hop-by-hop header (RFC 9110, section 7.6.1); credentials or cookies; a header in
//! which a server speaks for its own origin.

use hyper::HeaderMap;
use hyper::header::{CONNECTION, HeaderName};

/// Hop-by-hop headers, and those that the client or server on each side sets itself.
const OF_ONE_CONNECTION: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Credentials and cookies. Credentials have settings of their own.
const SECRET: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
    "x-goog-api-key",
    "x-upstream-authorization",
];

/// What an upstream says to browsers about its own origin. If passed on, it would apply to the proxy's origin.
const OF_THE_ORIGIN: &[&str] = &[
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-allow-private-network",
    "access-control-expose-headers",
    "access-control-max-age",
    "alt-svc",
    "clear-site-data",
    "strict-transport-security",
];

/// The entry that matches every name.
const ALL: &str = "*";

/// Header names and prefixes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    whole: Vec<String>,
    beginnings: Vec<String>,
}

impl Names {
    fn hold(&self, name: &str) -> bool {
        self.whole.iter().any(|known| known == name)
            || self.beginnings.iter().any(|beginning| name.starts_with(beginning.as_str()))
    }

    /// Adds an entry.
    fn add(&mut self, entry: &str) -> Result<(), NotAllowed> {
        let (name, is_whole) = match entry.strip_suffix('*') {
            Some(beginning) => (beginning, false),
            None => (entry, true),
        };
        let is_all = entry == ALL;
        if !is_all && HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(NotAllowed::NoName(entry.to_owned()));
        }
        let to = if is_whole { &mut self.whole } else { &mut self.beginnings };
        to.push(name.to_owned());
        Ok(())
    }
}

/// Which headers pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    passed: Names,
    removed: Names,
}

/// An entry that a list must not contain.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// It is neither a header name nor a prefix.
    #[error("{0:?} is neither a header name nor a prefix of one that ends in *")]
    NoName(String),
    /// It is a hop-by-hop header.
    #[error("{0:?} is a hop-by-hop header, which is never passed on")]
    OneConnection(String),
    /// It carries credentials.
    #[error("{0:?} carries credentials; use authorization, secret_file and secret_env")]
    Secret(String),
}

impl Passing {
    /// Passes the headers of the first list, without those of the second. Case is ignored; `x-name-*` matches every name with
    /// that prefix, and `*` matches every name.
    ///
    /// # Errors
    /// The first entry that a list must not contain.
    pub fn new<S: AsRef<str>, R: AsRef<str>>(passed: &[S], removed: &[R]) -> Result<Self, NotAllowed> {
        let mut passing = Self::default();
        for entry in passed {
            let entry = entry.as_ref().trim().to_ascii_lowercase();
            if OF_ONE_CONNECTION.contains(&&*entry) {
                return Err(NotAllowed::OneConnection(entry));
            }
            if SECRET.contains(&&*entry) {
                return Err(NotAllowed::Secret(entry));
            }
            passing.passed.add(&entry)?;
        }
        for entry in removed {
            passing.removed.add(&entry.as_ref().trim().to_ascii_lowercase())?;
        }
        Ok(passing)
    }

    /// Copies the headers that pass, in order.
    pub fn copy(&self, from: &HeaderMap, to: &mut HeaderMap) {
        // `Connection` names further hop-by-hop headers.
        let of_connection: Vec<String> = from
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        for (name, value) in from {
            if self.passes(name.as_str()) && !of_connection.iter().any(|other| other == name.as_str()) {
                to.append(name.clone(), value.clone());
            }
        }
    }

    fn passes(&self, name: &str) -> bool {
        let never = [OF_ONE_CONNECTION, SECRET, OF_THE_ORIGIN];
        self.passed.hold(name) && !self.removed.hold(name) && !never.iter().any(|names| names.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(list: &[&str], removed: &[&str], headers: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        let mut from = HeaderMap::new();
        for (name, value) in headers {
            from.append(*name, value.parse().unwrap());
        }
        let mut to = HeaderMap::new();
        Passing::new(list, removed).unwrap().copy(&from, &mut to);
        let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap().to_owned();
        to.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn listed_headers_pass_except_removed_ones() {
        let headers = [("openai-beta", "a"), ("x-one", "b"), ("x-two", "c"), ("other", "d")];
        let listed = [("openai-beta", "a"), ("x-one", "b"), ("x-two", "c")];
        assert_eq!(passed(&["OpenAI-Beta", "x-*"], &[], &headers), owned(&listed));
        assert_eq!(passed(&["*"], &[], &headers), owned(&headers));
        assert_eq!(passed(&["*"], &["X-*", "other"], &headers), owned(&headers[..1]));
        assert_eq!(passed(&["x-one"], &["x-two"], &headers), owned(&headers[1..2]));
        assert_eq!(passed(&["*"], &["*"], &headers), []);
        assert_eq!(passed(&[], &[], &headers), []);
    }

    #[test]
    fn hop_by_hop_headers_and_credentials_never_pass() {
        let headers = [
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("keep-alive", "timeout=5"),
            ("x-api-key", "secret"),
            ("cookie", "a=b"),
            ("set-cookie", "a=b"),
            ("x-upstream-authorization", "secret"),
            ("access-control-allow-origin", "*"),
            ("x-more", "2"),
        ];
        assert_eq!(passed(&["*"], &[], &headers), owned(&[("x-more", "2")]));
        assert_eq!(passed(&["x-*"], &[], &headers), owned(&[("x-more", "2")]));
        assert_eq!(passed(&["c*"], &[], &headers), []);
    }

    #[test]
    fn a_repeated_header_passes_each_time() {
        let headers = [("x-one", "a"), ("x-one", "b")];
        assert_eq!(passed(&["*"], &[], &headers), owned(&headers));
    }

    #[test]
    fn a_list_may_not_name_hop_by_hop_headers_or_credentials() {
        for (name, expected) in [
            ("Authorization", "carries credentials"),
            ("cookie", "carries credentials"),
            ("transfer-encoding", "hop-by-hop header"),
            ("host", "hop-by-hop header"),
            ("two words", "neither a header name"),
            ("two words*", "neither a header name"),
            ("", "neither a header name"),
        ] {
            let message = Passing::new(&[name], &[""; 0]).unwrap_err().to_string();
            assert!(message.contains(expected), "{name}: {message}");
        }
        let message = Passing::new(&["*"], &["two words"]).unwrap_err().to_string();
        assert!(message.contains("neither a header name"), "{message}");
    }
}
