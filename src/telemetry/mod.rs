//! What framegate says about itself: `tracing` events on stderr, as text or as JSON.
//!
//! Never: an event's payload, a line on stdout, a failure because stderr is closed.

pub mod metrics;
#[cfg(feature = "otel")]
pub mod spans;

use crate::config::{LogFormat, Telemetry};
use framegate_translators::frame::Frame;
use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

/// Hears of frames once the log has them, in order. Ingests wait for it, so it must not.
pub trait Watcher: Send + Sync {
    /// These frames of one ingest are kept.
    fn kept(&self, frames: &[Arc<Frame>]);
}

/// Why a filter is refused.
#[derive(Debug, thiserror::Error)]
#[error("{given:?} is no log filter: {cause} (a level such as \"info\", or targets such as \"warn,framegate=debug\")")]
pub struct BadFilter {
    given: String,
    cause: String,
}

/// Reads a filter: `off`, a level, or a comma-separated list of `target=level`.
///
/// # Errors
/// What was given, and what would be right.
pub fn filter(given: &str) -> Result<EnvFilter, BadFilter> {
    let bad = |cause: String| BadFilter { given: given.to_owned(), cause };
    // `EnvFilter` takes a bare word that is no level for a target, so a misspelt level would turn everything on.
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    let is_word = |part: &&str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let is_level = |part: &str| levels.contains(&part.to_ascii_lowercase().as_str());
    let parts: Vec<&str> = given.split(',').map(str::trim).collect();
    if let Some(word) = parts.iter().copied().filter(is_word).find(|word| !is_level(word)) {
        return Err(bad(format!("{word:?} is no level; the levels are {}", levels.join(", "))));
    }
    EnvFilter::builder().parse(parts.join(",")).map_err(|error| bad(error.to_string()))
}

/// Puts another filter in the place of the one that events pass.
type Replace = Box<dyn Fn(EnvFilter) + Send + Sync>;

/// How the filter of this process is replaced; nothing where the subscriber is somebody else's.
static REPLACE: OnceLock<Replace> = OnceLock::new();

/// Lets other events through, from now on.
///
/// # Errors
/// A filter that is none; the old one stays.
pub fn set_filter(given: &str) -> Result<(), BadFilter> {
    let filter = filter(given)?;
    if let Some(replace) = REPLACE.get() {
        replace(filter);
    }
    Ok(())
}

/// Sends the events of this process to stderr, from now on. A second call changes nothing.
///
/// # Errors
/// A filter that is none.
pub fn init(settings: &Telemetry) -> Result<(), BadFilter> {
    let filter = filter(&settings.filter)?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .log_internal_errors(false);
    // Only tests and embedders set a subscriber of their own before; theirs stays. A handle fails once its subscriber is gone.
    let replace: (Replace, bool) = match settings.format {
        LogFormat::Text => {
            let builder = builder.with_filter_reloading();
            let handle = builder.reload_handle();
            let replace = Box::new(move |filter| drop(handle.reload(filter)));
            (replace, builder.finish().try_init().is_ok())
        }
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_filter_reloading();
            let handle = builder.reload_handle();
            let replace = Box::new(move |filter| drop(handle.reload(filter)));
            (replace, builder.finish().try_init().is_ok())
        }
    };
    if let (replace, true) = replace {
        let _ = REPLACE.set(replace);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_targets() {
        for good in ["info", "WARN", "off", "warn,framegate=debug", "framegate::http=trace", "info, hyper=warn"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for (bad, part) in [("inof", "\"inof\" is no level"), ("framegate=loud", "framegate=loud"), ("a=b=c", "a=b=c")]
        {
            let message = filter(bad).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("such as"), "{message}");
        }
    }
}
