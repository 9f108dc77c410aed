//! Chooses the contract and the wire format: `?contract=`, then the `Accept` header, then the default.
//!
//! Input: the query and `Accept` values of a request. Output: the contract, its options and the form, or why nothing matches.
//! Never: another contract than the one that the client requested.

use crate::telemetry::metrics::WIRES;
use framegate_translators::contracts::{CONTRACTS, Contract, NUMBERED_RECORDS, RECORDS, contract};
use framegate_translators::encode::EncoderOptions;

/// The result of a negotiation.
#[derive(Clone)]
pub(super) struct Negotiated {
    /// The contract.
    pub(super) contract: &'static Contract,
    /// The encoder options.
    pub(super) options: EncoderOptions,
    /// The form of the response.
    pub(super) form: Form,
}

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Server-sent events: replay, then live.
    Sse,
    /// One event per line: replay, then live.
    Ndjson,
    /// One page of events.
    Json,
    /// The runner's own bytes.
    Bytes,
}

impl Form {
    /// The media type.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream",
            Self::Ndjson => "application/x-ndjson",
            Self::Json => "application/json",
            Self::Bytes => "application/octet-stream",
        }
    }
}

impl Form {
    /// The wire label in metrics. Pages and bytes have no label of their own: they count as NDJSON, as sequences of records.
    pub(super) fn wire_name(self) -> &'static str {
        let [sse, ndjson] = WIRES;
        if self == Self::Sse { sse } else { ndjson }
    }
}

impl Negotiated {
    /// The `Content-Type` of the response.
    pub(super) fn content_type(&self) -> String {
        let experimental = if self.options.experimental { "; experimental=1" } else { "" };
        let user_messages = if self.options.user_messages { "; user_messages=1" } else { "" };
        format!("{}; contract={}{experimental}{user_messages}", self.form.media_type(), self.contract.name)
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'r> {
    /// The `contract` parameter of the query.
    pub(super) contract: Option<&'r str>,
    /// Whether the query asks for experimental groups.
    pub(super) experimental: bool,
    /// Whether the query asks for the user's messages.
    pub(super) user_messages: bool,
    /// The options that apply to every client.
    pub(super) options: &'r EncoderOptions,
    /// The `Accept` header, several joined by commas; `None` if absent.
    pub(super) accept: Option<&'r str>,
    /// The contract of a native path, or the configured default.
    pub(super) default: &'static Contract,
    /// Whether the path belongs to the default contract, which is then the only one available.
    pub(super) native: bool,
    /// The forms that the path offers, the preferred one first.
    pub(super) forms: &'r [Form],
}

/// Chooses the contract and the form.
///
/// # Errors
/// An explanation for people, with the list of available forms and contracts.
pub(super) fn negotiate(wanted: Wanted<'_>) -> Result<Negotiated, String> {
    let mut base = EncoderOptions { experimental: wanted.experimental, ..wanted.options.clone() };
    base.user_messages |= wanted.user_messages;
    let by_query = match wanted.contract {
        Some(name) => Some(contract(name).ok_or_else(|| format!("unknown contract {name:?}; {}", offer(wanted)))?),
        None => None,
    };
    if let (true, Some(other)) = (wanted.native, by_query.filter(|by_query| by_query.name != wanted.default.name)) {
        return Err(format!("this path only supports {}, not {}", wanted.default.name, other.name));
    }
    let header = wanted.accept.map(str::trim).filter(|accept| !accept.is_empty()).unwrap_or("*/*");
    let mut ranges: Vec<Range<'_>> = header.split(',').filter_map(Range::parse).collect();
    // The sort is stable. Among equal weights, the more specific range is first, then the one listed first.
    ranges.sort_by(|one, other| other.rank().total_cmp(&one.rank()));
    for range in ranges.iter().filter(|range| range.q > 0.0) {
        let Some(form) = wanted.forms.iter().copied().find(|form| range.matches(*form)) else { continue };
        let refused = |form: Form| ranges.iter().any(|other| other.q == 0.0 && other.refuses(form));
        let form = if range.is_wildcard() && refused(form) {
            match wanted.forms.iter().copied().find(|form| range.matches(*form) && !refused(*form)) {
                Some(form) => form,
                None => continue,
            }
        } else {
            form
        };
        let named = match range.contract {
            Some(name) => match contract(name) {
                Some(named) => Some(named),
                None => continue,
            },
            None => None,
        };
        let chosen = match (by_query, named) {
            (Some(by_query), _) => by_query,
            (None, Some(named)) if wanted.native && named.name != wanted.default.name => continue,
            (None, Some(named)) => named,
            // Only `raw` has this form.
            (None, None) if form == Form::Bytes => RECORDS,
            (None, None) => wanted.default,
        };
        let chosen = match (chosen.name == RECORDS.name, form) {
            (true, Form::Bytes) => RECORDS,
            (true, _) => NUMBERED_RECORDS,
            (false, Form::Bytes) => continue,
            (false, _) => chosen,
        };
        base.experimental |= range.experimental;
        base.user_messages |= range.user_messages;
        return Ok(Negotiated { contract: chosen, options: base, form });
    }
    Err(format!("none of the types in Accept are available; {}", offer(wanted)))
}

fn offer(wanted: Wanted<'_>) -> String {
    let forms: Vec<&str> = wanted.forms.iter().map(|form| form.media_type()).collect();
    let contracts: Vec<&str> = if wanted.native {
        vec![wanted.default.name]
    } else {
        CONTRACTS.iter().map(|contract| contract.name).collect()
    };
    let bytes = if wanted.forms.contains(&Form::Bytes) { " (application/octet-stream only with raw)" } else { "" };
    format!("use {} with contract={}{bytes}", forms.join(", "), contracts.join(", "))
}

/// One media range of an `Accept` header.
#[derive(Debug)]
struct Range<'r> {
    media: &'r str,
    contract: Option<&'r str>,
    experimental: bool,
    user_messages: bool,
    q: f32,
}

impl<'r> Range<'r> {
    fn parse(text: &'r str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().filter(|media| media.contains('/') || *media == "*")?;
        let mut range = Self { media, contract: None, experimental: false, user_messages: false, q: 1.0 };
        for part in parts {
            let (key, value) = part.split_once('=')?;
            let value = value.trim().trim_matches('"');
            match key.trim().to_ascii_lowercase().as_str() {
                "q" => range.q = value.parse().ok().filter(|q| (0.0..=1.0).contains(q))?,
                "contract" => range.contract = Some(value),
                "experimental" => range.experimental = matches!(value, "1" | "true"),
                "user_messages" => range.user_messages = matches!(value, "1" | "true"),
                _ => {}
            }
        }
        Some(range)
    }

    fn is_wildcard(&self) -> bool {
        self.media.contains('*')
    }

    fn matches(&self, form: Form) -> bool {
        let media = form.media_type();
        match self.media {
            "*/*" | "*" => true,
            range => match range.strip_suffix("/*") {
                Some(kind) => media.split('/').next().is_some_and(|of| of.eq_ignore_ascii_case(kind)),
                None => media.eq_ignore_ascii_case(range),
            },
        }
    }

    /// Whether this range, with weight 0, excludes a form.
    fn refuses(&self, form: Form) -> bool {
        self.contract.is_none() && self.matches(form)
    }

    fn rank(&self) -> f32 {
        let specific = if self.is_wildcard() { 0.0 } else { 0.0001 };
        let named = if self.contract.is_some() { 0.0002 } else { 0.0 };
        self.q + specific + named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Form] = &[Form::Sse, Form::Ndjson, Form::Json, Form::Bytes];

    fn ask(query: Option<&str>, accept: Option<&str>) -> Result<(String, Form), String> {
        let wanted = Wanted {
            contract: query,
            experimental: false,
            user_messages: false,
            options: &EncoderOptions::default(),
            accept,
            default: contract("frames.v2").unwrap(),
            native: false,
            forms: ALL,
        };
        negotiate(wanted).map(|negotiated| (negotiated.contract.name.to_owned(), negotiated.form))
    }

    #[test]
    fn the_first_match_wins() {
        for (query, accept, expected) in [
            (None, None, ("frames.v2", Form::Sse)),
            (None, Some("*/*"), ("frames.v2", Form::Sse)),
            (Some("sse.v1"), Some("*/*"), ("sse.v1", Form::Sse)),
            (Some("sse.v1"), Some("application/json"), ("sse.v1", Form::Json)),
            (None, Some("text/event-stream; contract=sse.v1"), ("sse.v1", Form::Sse)),
            (None, Some("application/x-ndjson;contract=\"frames.v1\""), ("frames.v1", Form::Ndjson)),
            (None, Some("application/json;q=0.5, text/event-stream;q=0.4"), ("frames.v2", Form::Json)),
            (None, Some("application/json, text/event-stream; contract=raw"), ("raw", Form::Sse)),
            (
                None,
                Some("text/event-stream; contract=no.v9, text/event-stream; contract=sse.v1;q=0.1"),
                ("sse.v1", Form::Sse),
            ),
            (None, Some("text/event-stream;q=0, */*"), ("frames.v2", Form::Ndjson)),
            (None, Some("application/*"), ("frames.v2", Form::Ndjson)),
            (Some("sse.v1"), Some("text/event-stream; contract=raw"), ("sse.v1", Form::Sse)),
            (Some("raw"), Some("application/octet-stream"), ("raw", Form::Bytes)),
            (None, Some("application/octet-stream"), ("raw", Form::Bytes)),
            (Some("raw"), Some("application/json"), ("raw", Form::Json)),
            (Some("raw"), None, ("raw", Form::Sse)),
            (Some("sse.v1"), Some("application/octet-stream, */*;q=0.1"), ("sse.v1", Form::Sse)),
        ] {
            assert_eq!(ask(query, accept), Ok((expected.0.to_owned(), expected.1)), "{query:?} {accept:?}");
        }
    }

    #[test]
    fn unsupported_requests_are_answered_with_the_supported_contracts() {
        for (query, accept) in [
            (Some("sse.v9"), None),
            (None, Some("text/html")),
            (None, Some("text/event-stream; contract=sse.v9")),
            (None, Some("*/*;q=0")),
            (Some("sse.v1"), Some("application/octet-stream")),
            (None, Some("application/octet-stream; contract=frames.v1")),
        ] {
            let message = ask(query, accept).unwrap_err();
            assert!(message.contains("agent-manager.v1"), "{message}");
        }
    }

    #[test]
    fn a_native_path_serves_only_its_contract() {
        let wanted = Wanted {
            contract: None,
            experimental: false,
            user_messages: false,
            options: &EncoderOptions::default(),
            accept: Some("text/event-stream; contract=raw"),
            default: contract("sse.v1").unwrap(),
            native: true,
            forms: &[Form::Sse],
        };
        assert!(negotiate(wanted).is_err());
        assert_eq!(negotiate(Wanted { accept: None, ..wanted }).map(|chosen| chosen.contract.name), Ok("sse.v1"));
        assert!(negotiate(Wanted { contract: Some("raw"), accept: None, ..wanted }).is_err());
    }
}
