//! What a running server can be told anew: names, origins, tokens, rates, the certificate.
//!
//! In: a [`Live`] at the start, another one whenever the configuration or the certificate's files change. Out: the same to
//! every request and every open stream. Never: half of a change, a change that opens the server to everybody.

use super::ServeError;
use super::limits::Rates;
use super::tls::Tls;
use crate::auth::Tokens;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Host names besides loopback that may be asked for, and that pages may come from.
    pub allowed_hosts: Vec<String>,
    /// Pages elsewhere that may use the proxy, as exact origins.
    pub cors_origins: Vec<String>,
    /// Who may do what; without tokens everybody may do everything, and only loopback is listened on.
    pub tokens: Tokens,
    /// How much each client gets.
    pub rates: Rates,
    /// The certificate; `None`: no TLS.
    pub tls: Option<Tls>,
    /// How long browsers are to ask for TLS alone, in seconds; 0: they are not told. Without TLS it says nothing.
    pub hsts_seconds: u64,
}

/// Changes a running server.
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

    /// From now on, this is what holds. Streams of tokens that are gone, or may do or see something else now, end.
    ///
    /// # Errors
    /// Everybody could reach the server without a token; what held goes on to hold.
    pub fn set(&self, live: Live) -> Result<(), ServeError> {
        if !self.listen.ip().is_loopback() && live.tokens.is_empty() {
            return Err(ServeError::Open(self.listen));
        }
        self.live.send_replace(Arc::new(live));
        Ok(())
    }

    /// Another certificate, everything else as it is.
    pub(super) fn set_tls(&self, tls: Tls) {
        self.live.send_modify(|live| *live = Arc::new(Live { tls: Some(tls), ..Live::clone(live) }));
    }

    /// What holds now.
    pub(super) fn live(&self) -> Arc<Live> {
        self.live.borrow().clone()
    }

    /// What holds, and when that changes.
    pub(super) fn watch(&self) -> watch::Receiver<Arc<Live>> {
        self.live.subscribe()
    }
}
