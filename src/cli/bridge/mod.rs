//! What the commands have in common that let a client use a proxy through their standard input and output.
//!
//! Input: where the proxy is. Output: the proxy of that URL, or one of this process's own; a client for it; lines of standard input and
//! output. Never: a format of any client, which belongs to its command.
//!
//! A command speaks HTTP with its own proxy too, so that both ways have the same behaviour.

mod embedded;
mod failure;
mod follow;
pub(super) mod nesting;
mod proxy;
mod stdio;

pub(super) use embedded::{Embedded, Guest};
pub(super) use failure::Failure;
pub(super) use follow::Events;
pub(super) use proxy::{Order, Proxy, Started};
pub(super) use stdio::{Input, Line, Output, Waiting};

use super::named_upstream;
use crate::config::Sources;
use crate::config::upstream::Upstream;
use crate::platform::variables::HOME;
use anyhow::Context;
use std::path::{Path, PathBuf};

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
    /// The configuration file of the own proxy [default: framegate/config.toml in $XDG_CONFIG_HOME, which is ~/.config unless it is set]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CONFIG")]
    pub(super) config: Option<PathBuf>,
}

/// The proxy that a command uses, and the own one if it runs one.
pub(super) struct Opened {
    pub(super) proxy: Proxy,
    pub(super) embedded: Option<Embedded>,
}

/// The running proxy at a URL.
///
/// # Errors
/// The URL, the token or the certificates cannot be used.
pub(super) fn running(url: &str, token_file: Option<&Path>, ca_file: Option<&Path>) -> anyhow::Result<Proxy> {
    let file = token_file.filter(|path| !path.as_os_str().is_empty());
    let token =
        file.map(|path| std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display())));
    Proxy::at(url, token.transpose()?.as_deref().map(str::trim), ca_file)
}

impl Place {
    /// Finds the running proxy, or starts one with only this upstream, which `adapt` may change.
    ///
    /// # Errors
    /// The URL, the token or the configuration cannot be used, or no upstream has this name.
    pub(super) async fn open(
        &self,
        upstream: &str,
        adapt: impl FnOnce(&mut Upstream) -> anyhow::Result<()>,
    ) -> anyhow::Result<Opened> {
        if let Some(proxy) = self.running()? {
            return Ok(Opened { proxy, embedded: None });
        }
        // Not a file of the working directory: that is the client's project, which may be anyone's.
        let own = || own_config(|name| std::env::var_os(name).map(PathBuf::from));
        let file = self.config.clone().or_else(own);
        let config = Sources::new(file, std::env::vars_os())?.without_default_file().load()?;
        let mut upstream = named_upstream::find(&config, upstream)?;
        adapt(&mut upstream)?;
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
        running(url, self.token_file.as_deref(), self.ca_file.as_deref()).map(Some)
    }
}

/// The user's configuration file, if there is one. `variable` reads an environment variable.
fn own_config(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set(HOME)?.join(".config")))?;
    Some(folder.join("framegate/config.toml")).filter(|file| file.is_file())
}
