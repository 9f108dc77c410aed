//! The settings that can change while the server runs: names, origins, tokens, rates, the certificate.
//!
//! Input: a [`Live`] at the start, and a new one whenever the configuration or the certificate files change. Output: the
//! current one, for every request and every open stream. Never: a partial change; a change that opens the server to
//! everybody.

use super::error::ServeError;
use super::limits::Rates;
use super::tls::Tls;
use crate::auth::Tokens;
use crate::network::Network;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// The settings of a server that can change while it runs.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Host names besides loopback that requests and page origins may use.
    pub allowed_hosts: Vec<String>,
    /// Other origins whose pages may use the proxy, compared exactly.
    pub cors_origins: Vec<String>,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<Network>,
    /// The tokens. Without any, every client may do everything, and only loopback addresses can be listened on.
    pub tokens: Tokens,
    /// The limits for clients.
    pub rates: Rates,
    /// The certificate; `None`: no TLS.
    pub tls: Option<Tls>,
    /// The `max-age` of `Strict-Transport-Security`, in seconds; 0: not sent. Without TLS it has no effect.
    pub hsts_seconds: u64,
}

/// Changes the settings of a running server.
#[derive(Clone, Debug)]
pub struct Control {
    listen: SocketAddr,
    live: Arc<watch::Sender<Arc<Live>>>,
}

impl Control {
    pub(super) fn new(listen: SocketAddr, live: Live) -> Result<Self, ServeError> {
        let control = Self { listen, live: Arc::new(watch::Sender::new(Arc::new(Live::default()))) };
        control.set(live)?;
        Ok(control)
    }

    /// Replaces the settings. Streams whose tokens were removed or have other rights now end.
    ///
    /// # Errors
    /// The server would be reachable from other machines without a token; the previous settings stay.
    pub fn set(&self, live: Live) -> Result<(), ServeError> {
        if !self.listen.ip().is_loopback() && live.tokens.is_empty() {
            return Err(ServeError::Open(self.listen));
        }
        self.live.send_replace(Arc::new(live));
        Ok(())
    }

    /// Replaces the certificate and keeps everything else.
    pub(super) fn set_tls(&self, tls: Tls) {
        self.live.send_modify(|live| *live = Arc::new(Live { tls: Some(tls), ..Live::clone(live) }));
    }

    /// The current settings.
    pub(super) fn live(&self) -> Arc<Live> {
        self.live.borrow().clone()
    }

    /// The current settings, with notification of changes.
    pub(super) fn watch(&self) -> watch::Receiver<Arc<Live>> {
        self.live.subscribe()
    }
}
