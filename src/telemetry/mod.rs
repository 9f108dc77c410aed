//! framegate's own log: `tracing` events on stderr, as text or as JSON.
//!
//! Never: the payload of an event of a run; a line on stdout; a failure because stderr is closed.

pub mod metrics;
#[cfg(feature = "otel")]
pub mod spans;

use crate::config::filter::{BadFilter, filter};
use crate::config::{LogFormat, Telemetry};
use crate::platform::terminal::stderr_obeys_escapes;
use framegate_translators::frame::Frame;
use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;
use uuid::Uuid;

/// Receives frames in order once the log has them. Ingests wait for this call, so it must not block.
pub trait Watcher: Send + Sync {
    /// Called with frames of one ingest that the log has kept.
    fn kept(&self, frames: &[Arc<Frame>]);

    /// Called before the log gets the end of a run that replaces the run with this id, which it will drop.
    fn replaced(&self, _run_id: Uuid) {}

    /// Whether it also gets the frames of runs that are read from the files in which a runner keeps its sessions.
    fn wants_history(&self) -> bool {
        true
    }
}

/// Replaces the filter that events pass.
type Replace = Box<dyn Fn(EnvFilter) + Send + Sync>;

/// Replaces the filter of this process; unset if an embedder installed its own subscriber.
static REPLACE: OnceLock<Replace> = OnceLock::new();

/// Replaces the log filter.
///
/// # Errors
/// The filter is invalid; the old one stays.
pub fn set_filter(given: &str) -> Result<(), BadFilter> {
    let filter = filter(given)?;
    if let Some(replace) = REPLACE.get() {
        replace(filter);
    }
    Ok(())
}

/// Starts logging the events of this process to stderr. Only the first call has an effect.
///
/// # Errors
/// The filter is invalid.
pub fn init(settings: &Telemetry) -> Result<(), BadFilter> {
    let filter = filter(&settings.filter)?;
    let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colours = is_wanted && std::io::stderr().is_terminal() && stderr_obeys_escapes();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .log_internal_errors(false);
    // Only tests and embedders install a subscriber before this; theirs stays. A reload handle fails once its subscriber is
    // gone.
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
