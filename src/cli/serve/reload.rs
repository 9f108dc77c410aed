//! SIGHUP: reads the configuration again, and applies what a running server can change.
//!
//! Input: the configuration sources as they are now. Output: a new [`Live`](crate::http::Live), log filter and endpoints of webhooks, and a log line
//! that names the settings that changed. Never: half of a configuration applied; the proxy stopped because the new one is
//! wrong.

use super::settings::live;
use crate::budgets::{self, Budgets};
use crate::cli::{LogArgs, prices};
use crate::config::{Config, Sources};
use crate::http::Control;
use crate::prices::Prices;
use crate::{telemetry, webhooks};
use std::sync::Arc;

/// The sources of the configuration, and the configuration that is active.
pub(super) struct Reload {
    pub(super) sources: Sources,
    pub(super) config: Config,
    pub(super) log: LogArgs,
    /// The prices, which the runs share.
    pub(super) prices: Prices,
    /// The endpoints of webhooks; `None` until deliveries have started.
    pub(super) webhooks: Option<webhooks::Control>,
    /// The budgets, which the server and the runs share.
    pub(super) budgets: Arc<Budgets>,
}

impl Reload {
    /// Reads everything again. Files that a setting names are read even if the setting itself did not change.
    pub(super) fn take_up(&mut self, control: &Control) {
        match self.tried(control) {
            Ok(new) => {
                new.contradictions().iter().for_each(|message| tracing::warn!("{message}"));
                let changes = self.config.changes(&new);
                let changed = changes.reloaded.join(", ");
                tracing::info!(
                    changed,
                    "the configuration was reloaded, including tokens, certificates, prices and secrets of webhooks"
                );
                if !changes.restart.is_empty() {
                    let settings = changes.restart.join(", ");
                    tracing::warn!(settings, "these changed settings need a restart; their old values stay in effect");
                }
                self.config = self.config.reloaded(new);
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(error, "the configuration was not reloaded; the current one stays in effect");
            }
        }
    }

    fn tried(&self, control: &Control) -> anyhow::Result<Config> {
        let new = self.sources.load()?;
        // Settings that need a restart keep their old values here: a server started without TLS still has none.
        let usable = self.config.reloaded(new.clone());
        let live = live(&usable)?;
        let prices = prices::of(&usable)?;
        let budgets = budgets::of(&new.budgets.limit)?;
        let targets = webhooks::targets(&usable.webhooks.endpoint)?;
        control.set(live)?;
        self.prices.replace(&prices);
        if new.budgets.limit != self.config.budgets.limit {
            self.budgets.replace(budgets);
        }
        if let Some(webhooks) = &self.webhooks {
            webhooks.replace(targets);
        }
        telemetry::set_filter(&self.log.over(&usable.telemetry).filter)?;
        Ok(new)
    }
}
