//! Where a command finds runs: at a running proxy, or in a log.
//!
//! Input: flags and environment variables. Output: a client of the proxy, or the configuration with its log. Never: a proxy that is used although
//! a database is named.

use super::bridge::{self, Proxy};
use super::frame_log;
use crate::config::{Config, Sources};
use std::path::PathBuf;

/// The flags that say where the runs are.
#[derive(Debug, clap::Args)]
pub(super) struct RunsAt {
    /// The URL of a running proxy, which is used instead of a log
    #[arg(long, value_name = "URL", env = "FRAMEGATE_URL")]
    url: Option<String>,
    /// A file with the token for that proxy
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// A file with the certificates to trust, as PEM [default: those of the machine]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// The database file, even if a URL is set [default: the log of the configuration]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl RunsAt {
    /// The running proxy and its URL; `None` if the runs are in a log.
    ///
    /// # Errors
    /// The URL, the token or the certificates cannot be used.
    pub(super) fn proxy(&self) -> anyhow::Result<Option<(Proxy, &str)>> {
        let Some(url) = self.url.as_deref().filter(|url| !url.is_empty() && self.db.is_none()) else { return Ok(None) };
        Ok(Some((bridge::running(url, self.token_file.as_deref(), self.ca_file.as_deref())?, url)))
    }

    /// The configuration. Its log is the named database, if one is named.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        let mut config = Sources::new(self.config.clone(), std::env::vars_os())?.load()?;
        frame_log::choose(self.db.as_deref(), &mut config.log);
        Ok(config)
    }
}
