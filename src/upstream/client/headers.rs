//! Which headers pass from one side of the proxy to the other.
//!
//! In: names, or beginnings of names with a `*` behind them. Out: whether a header passes. Never: a header of one connection
//! alone (RFC 9110, section 7.6.1), one that carries credentials, one that the proxy itself decides on.

use hyper::HeaderMap;
use hyper::header::{CONNECTION, HeaderName};

/// Headers that are of one connection, or that the client or the server of each side writes itself.
const OF_ONE_SIDE: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "date",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers with credentials, or with what a browser keeps; credentials are configured by themselves.
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

/// Which headers pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    names: Vec<String>,
    beginnings: Vec<String>,
}

/// A header that may not stand in a list.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// It is no header's name.
    #[error("{0:?} is no header's name, nor the beginning of one with a * behind it")]
    NoName(String),
    /// It is of one side.
    #[error("{0:?} is of one connection alone, and is never passed on")]
    OneSide(String),
    /// It is a secret.
    #[error("{0:?} carries credentials; they are set by authorization, secret_file and secret_env")]
    Secret(String),
}

impl AllowList {
    /// A list of these names, whatever their case; `x-name-*` is every name that begins so.
    ///
    /// # Errors
    /// The first that may not be in it.
    pub fn new<S: AsRef<str>>(list: &[S]) -> Result<Self, NotAllowed> {
        let mut allow = Self::default();
        for entry in list {
            let entry = entry.as_ref().trim().to_ascii_lowercase();
            let (beginning, is_whole) = match entry.strip_suffix('*') {
                Some(beginning) => (beginning, false),
                None => (&*entry, true),
            };
            if HeaderName::from_bytes(beginning.as_bytes()).is_err() {
                return Err(NotAllowed::NoName(entry));
            }
            if OF_ONE_SIDE.contains(&beginning) {
                return Err(NotAllowed::OneSide(entry));
            }
            if SECRET.contains(&beginning) {
                return Err(NotAllowed::Secret(entry));
            }
            let to = if is_whole { &mut allow.names } else { &mut allow.beginnings };
            to.push(beginning.to_owned());
        }
        Ok(allow)
    }

    /// Copies what passes, in order.
    pub fn copy(&self, from: &HeaderMap, to: &mut HeaderMap) {
        // What `Connection` names is of one connection too.
        let of_connection: Vec<String> = from
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        for (name, value) in from {
            if self.admits(name.as_str()) && !of_connection.iter().any(|other| other == name.as_str()) {
                to.append(name.clone(), value.clone());
            }
        }
    }

    fn admits(&self, name: &str) -> bool {
        let is_listed = self.names.iter().any(|known| known == name)
            || self.beginnings.iter().any(|beginning| name.starts_with(beginning.as_str()));
        is_listed && !OF_ONE_SIDE.contains(&name) && !SECRET.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(list: &[&str], headers: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        let mut from = HeaderMap::new();
        for (name, value) in headers {
            from.append(*name, value.parse().unwrap());
        }
        let mut to = HeaderMap::new();
        AllowList::new(list).unwrap().copy(&from, &mut to);
        let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap().to_owned();
        to.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    #[test]
    fn what_is_listed_passes_and_nothing_else() {
        let headers = [("openai-beta", "a"), ("x-one", "b"), ("x-two", "c"), ("other", "d")];
        let expected = [("openai-beta", "a"), ("x-one", "b"), ("x-two", "c")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(passed(&["OpenAI-Beta", "x-*"], &headers), expected);
        assert_eq!(passed(&[], &headers), []);
    }

    #[test]
    fn what_is_of_one_connection_or_secret_never_passes() {
        let headers = [
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("x-api-key", "secret"),
            ("x-upstream-authorization", "secret"),
            ("x-more", "2"),
        ];
        assert_eq!(passed(&["x-*"], &headers), [("x-more".to_owned(), "2".to_owned())]);
        assert_eq!(passed(&["c*"], &headers), []);
    }

    #[test]
    fn a_list_may_not_name_them() {
        for (name, expected) in [
            ("Authorization", "carries credentials"),
            ("cookie", "carries credentials"),
            ("transfer-encoding", "of one connection"),
            ("host", "of one connection"),
            ("two words", "no header's name"),
            ("*", "no header's name"),
            ("", "no header's name"),
        ] {
            let message = AllowList::new(&[name]).unwrap_err().to_string();
            assert!(message.contains(expected), "{name}: {message}");
        }
    }
}
