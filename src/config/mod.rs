//! The configuration: defaults, then the standard variables of OpenTelemetry, then `config.toml`, then the environment, then flags.
//!
//! Input: the sources. Output: a [`Config`] in which every value is in its range, or a list of all problems in the sources,
//! each with its position and a correct alternative. Never: a key that is silently ignored, a secret.
//!
//! [`settings`] declares every setting; [`upstream`] those of runners that the proxy reaches out to.

pub mod approvals;
pub mod budgets;
mod choices;
mod constraints;
mod contradictions;
mod error;
pub mod filter;
mod listen;
mod lists;
mod load;
mod log;
mod otel_variables;
mod otlp;
mod redaction;
mod reload;
pub mod settings;
mod source;
pub mod table;
#[cfg(test)]
mod tests;
pub mod upstream;
pub mod webhooks;

pub use choices::*;
pub(crate) use error::unknown;
pub use error::{ConfigError, Problem};
pub use load::{DEFAULT_FILE, Sources};
#[cfg(feature = "otel")]
pub(crate) use otel_variables::pairs as header_list;
pub use reload::Changes;
pub use settings::*;

use table::{Section, Table};
use upstream::Upstream;

table::sections! {
    server: Server;
    ui: Ui;
    auth: Auth;
    tls: Tls;
    limits: Limits;
    ingest: Ingest;
    redaction: Redaction;
    log: Log;
    artifacts: Artifacts;
    prompts: Prompts;
    approvals: Approvals;
    prices: Prices;
    budgets: Budgets;
    search: Search;
    webhooks: Webhooks;
    gate: Gate;
    hecate: Hecate;
    telemetry: Telemetry;
    otlp: Otlp;
    /// Runners that the proxy reaches out to, one table each (docs/upstreams.md has every setting). For example:
    ///
    /// ```toml
    /// [[upstream]]
    /// name = "claude"
    /// kind = "command"
    /// preset = "claude-code"
    /// directories = ["/srv/work"]
    /// secret_files = { ANTHROPIC_API_KEY = "/run/secrets/anthropic" }
    /// ```
    with upstream: Vec<Upstream>;
}
