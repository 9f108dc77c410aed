//! A proxy within this process, for one client.
//!
//! Input: the configuration, and one upstream, or none. Output: a server on loopback with a random token. Never: a file; a token that another
//! process can read; another upstream; a runner that outlives the process's orderly end.

use crate::auth::{Caller, Scope, new_secret};
use crate::cli::serve::{engine, settings};
use crate::clock::Clock;
use crate::config::upstream::{Kind, Upstream};
use crate::config::{Auth, Config, LogKind, Server as ServerSettings, Tls};
use crate::http::{Listening, OneTime, Server, Settings};
use crate::runs::Runs;
use anyhow::anyhow;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// How long runs may take to end after the client has left, in milliseconds.
const GRACE_MS: u64 = 2000;

/// A running proxy.
pub(in crate::cli) struct Embedded {
    address: SocketAddr,
    token: String,
    runs: Arc<Runs>,
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
        config.upstream = vec![upstream];
        let mut client = Caller::clone(&Caller::anonymous());
        client.name = "client".to_owned();
        let mut settings = loopback(&mut config)?;
        // The client writes its prompts and answers through the API alone.
        settings.page = false;
        Self::serve(&config, settings, new_secret(), client).await
    }

    /// Starts a proxy without upstreams and with the page, for a browser that may read, and that fetches its token with a code.
    ///
    /// # Errors
    /// The configuration cannot be used, or no port is free.
    pub(in crate::cli) async fn for_guest(mut config: Config, guest: &Guest) -> anyhow::Result<Self> {
        config.upstream = Vec::new();
        let mut caller = Caller::clone(&Caller::anonymous());
        caller.name = "guest".to_owned();
        caller.scopes = vec![Scope::Read];
        let mut settings = loopback(&mut config)?;
        settings.page = true;
        settings.one_time = Some(OneTime { code: guest.code.clone(), token: guest.token.clone() });
        settings.shutdown_flush = settings.shutdown_flush.min(GUEST_FLUSH);
        Self::serve(&config, settings, guest.token.clone(), caller).await
    }

    /// Starts a proxy with one token.
    async fn serve(config: &Config, mut settings: Settings, token: String, caller: Caller) -> anyhow::Result<Self> {
        settings.live.tokens.add(&token, caller).map_err(|name| anyhow!("there is already a token {name:?}"))?;
        let listening = Listening::at(&settings).await?;
        let runs = engine::runs(config, engine::storage(config, LogKind::Memory).await?, &settings.encoder)?;
        runs.recover(Clock::System.now_ms()).await?;
        let runs = Arc::new(runs);
        let server = Server::on(listening, settings, runs.clone())?;
        let address = server.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = AbortOnDropHandle::new(tokio::spawn({
            let runs = runs.clone();
            async move {
                let _upkeep = engine::Upkeep::start(&runs);
                let stopped = async { drop(stopped.await) };
                server.serve(stopped, std::future::pending()).await;
            }
        }));
        Ok(Self { address, token, runs, stop, served })
    }

    pub(in crate::cli) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The runs of the proxy.
    pub(in crate::cli) fn runs(&self) -> &Arc<Runs> {
        &self.runs
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

/// How long a browser may read the rest when its proxy stops.
const GUEST_FLUSH: Duration = Duration::from_millis(500);

/// A browser that looks at recordings.
pub(in crate::cli) struct Guest {
    /// The code of its link, which works once.
    pub(in crate::cli) code: String,
    /// The token that the code is exchanged for.
    token: String,
}

impl Guest {
    /// A guest with a new code and a new token.
    pub(in crate::cli) fn new() -> Self {
        Self { code: new_secret(), token: new_secret() }
    }
}

/// The settings of a proxy on a free port of loopback, without the tokens and names of the configuration.
fn loopback(config: &mut Config) -> anyhow::Result<Settings> {
    config.server = ServerSettings {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        allowed_hosts: Vec::new(),
        cors_origins: Vec::new(),
        trusted_proxies: Vec::new(),
        token_file: PathBuf::new(),
        shutdown_grace_ms: GRACE_MS.min(config.server.shutdown_grace_ms),
        ..config.server.clone()
    };
    config.auth = Auth::default();
    config.tls = Tls::default();
    settings(config)
}
