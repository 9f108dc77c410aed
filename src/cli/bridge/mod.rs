//! What the commands have in common that let a client use a proxy through their standard input and output.
//!
//! Input: where the proxy is. Output: the proxy of that URL, or one of this process's own; a client for it; lines of standard input and
//! output. Never: a format of any client, which belongs to its command.
//!
//! A command speaks HTTP with its own proxy too, so that both ways have the same behaviour.

mod embedded;
mod failure;
mod follow;
mod proxy;
mod stdio;

pub(super) use embedded::{Embedded, Guest};
pub(super) use failure::Failure;
pub(super) use follow::Events;
pub(super) use proxy::{Order, Proxy, Started};
pub(super) use stdio::{Input, Line, Output};

use super::named_upstream;
use crate::config::Sources;
use anyhow::Context;
use std::path::PathBuf;

/// Where the proxy is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Place {
    /// The URL of a running proxy, whose upstream is used [default: the command runs a proxy of its own]
    #[arg(long, value_name = "URL", env = "FRAMEGATE_URL")]
    pub(super) url: Option<String>,
    /// A file with the token for that proxy
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_TOKEN_FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// A file with the certificates to trust, as PEM [default: those of the machine]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CA_FILE")]
    pub(super) ca_file: Option<PathBuf>,
    /// The configuration file of the own proxy [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CONFIG")]
    pub(super) config: Option<PathBuf>,
}

/// The proxy that a command uses, and the own one if it runs one.
pub(super) struct Opened {
    pub(super) proxy: Proxy,
    pub(super) embedded: Option<Embedded>,
}

impl Place {
    /// Finds the running proxy, or starts one with only this upstream.
    ///
    /// # Errors
    /// The URL, the token or the configuration cannot be used, or no upstream has this name.
    pub(super) async fn open(&self, upstream: &str) -> anyhow::Result<Opened> {
        if let Some(proxy) = self.running()? {
            return Ok(Opened { proxy, embedded: None });
        }
        let config = Sources::new(self.config.clone(), std::env::vars_os())?.load()?;
        let upstream = named_upstream::find(&config, upstream)?;
        let embedded = Embedded::start(config, upstream).await?;
        let proxy = Proxy::at(&format!("http://{}", embedded.address()), Some(embedded.token()), None)?;
        Ok(Opened { proxy, embedded: Some(embedded) })
    }

    /// The running proxy of the URL; `None` without a URL.
    ///
    /// # Errors
    /// The URL, the token or the certificates cannot be used.
    pub(super) fn running(&self) -> anyhow::Result<Option<Proxy>> {
        let Some(url) = &self.url else { return Ok(None) };
        let file = self.token_file.as_deref().filter(|path| !path.as_os_str().is_empty());
        let token =
            file.map(|path| std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display())));
        let token = token.transpose()?;
        Proxy::at(url, token.as_deref().map(str::trim), self.ca_file.as_deref()).map(Some)
    }
}
