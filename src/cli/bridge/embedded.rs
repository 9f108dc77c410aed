//! A proxy within this process, for one client.
//!
//! Input: the configuration, and one upstream. Output: a server on loopback with a random token. Never: a file; a token that another
//! process can read; another upstream; a runner that outlives the process's orderly end.

use crate::auth::{Caller, new_secret};
use crate::cli::serve::{engine, settings};
use crate::clock::Clock;
use crate::config::upstream::{Kind, Upstream};
use crate::config::{Auth, Config, LogKind, Server as ServerSettings, Tls};
use crate::http::{Listening, Server};
use anyhow::anyhow;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// How long runs may take to end after the client has left, in milliseconds.
const GRACE_MS: u64 = 2000;

/// A running proxy.
pub(in crate::cli) struct Embedded {
    address: SocketAddr,
    token: String,
    stop: oneshot::Sender<()>,
    served: AbortOnDropHandle<()>,
}

impl Embedded {
    /// Starts a proxy with this upstream. Its runs may work in any directory, unless the upstream's settings name some: the caller
    /// could have started the program there.
    ///
    /// # Errors
    /// The configuration cannot be used, or no port is free.
    pub(super) async fn start(mut config: Config, mut upstream: Upstream) -> anyhow::Result<Self> {
        if let Kind::Command(settings) = &mut upstream.kind
            && settings.directories.is_empty()
        {
            settings.directories = vec![PathBuf::from("/")];
        }
        config.server = ServerSettings {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            token_file: PathBuf::new(),
            shutdown_grace_ms: GRACE_MS.min(config.server.shutdown_grace_ms),
            ..config.server
        };
        config.auth = Auth::default();
        config.tls = Tls::default();
        config.upstream = vec![upstream];
        let mut settings = settings(&config)?;
        let token = new_secret();
        let mut client = Caller::clone(&Caller::anonymous());
        client.name = "client".to_owned();
        settings.live.tokens.add(&token, client).map_err(|name| anyhow!("there is already a token {name:?}"))?;
        let listening = Listening::at(&settings).await?;
        let runs = engine::runs(&config, engine::storage(&config, LogKind::Memory)?, &settings.encoder)?;
        runs.recover(Clock::System.now_ms()).await?;
        let runs = Arc::new(runs);
        let server = Server::on(listening, settings, runs.clone())?;
        let address = server.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = AbortOnDropHandle::new(tokio::spawn(async move {
            let _upkeep = engine::Upkeep::start(&runs);
            let stopped = async { drop(stopped.await) };
            server.serve(stopped, std::future::pending()).await;
        }));
        Ok(Self { address, token, stop, served })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Ends the runs, their runners and the proxy.
    pub(in crate::cli) async fn stop(self) {
        // The server may have ended already.
        let _ = self.stop.send(());
        let _ = self.served.await;
    }
}
