//! SIGHUP: the sources are read again, and what a running server can take up is taken up.
//!
//! In: the sources as they are now. Out: another [`Live`](crate::http::Live) and log filter, and a log line that says what
//! changed, by the names of the settings. Never: half of a configuration; the proxy stopped because the new one is wrong.

use super::settings::live;
use crate::cli::LogArgs;
use crate::config::{Config, Sources};
use crate::http::Control;
use crate::telemetry;

/// What the configuration is read again from, and what it was.
pub(super) struct Reload {
    pub(super) sources: Sources,
    pub(super) config: Config,
    pub(super) log: LogArgs,
}

impl Reload {
    /// Reads everything again. Files that a setting names are read even where the setting is what it was.
    pub(super) fn take_up(&mut self, control: &Control) {
        match self.tried(control) {
            Ok(new) => {
                let changes = self.config.changes(&new);
                let changed = changes.reloaded.join(", ");
                tracing::info!(changed, "the configuration was read again; tokens and certificates too");
                if !changes.restart.is_empty() {
                    let settings = changes.restart.join(", ");
                    tracing::warn!(settings, "these settings changed too, and need a restart: what they were goes on");
                }
                self.config = self.config.reloaded(new);
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(error, "the configuration was not reloaded; what holds goes on to hold");
            }
        }
    }

    fn tried(&self, control: &Control) -> anyhow::Result<Config> {
        let new = self.sources.load()?;
        // What needs a restart does not count: a server without TLS has none after it either.
        let usable = self.config.reloaded(new.clone());
        control.set(live(&usable)?)?;
        telemetry::set_filter(&self.log.over(&usable.telemetry).filter)?;
        Ok(new)
    }
}
