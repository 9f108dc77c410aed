//! What every kind of log does, with the log at servers.

use crate::every_kind::{Opened, Place, of_every_kind, runtime};
use crate::kinds::{opened, options};
use crate::restarts::{Service, after_restarts};
use crate::servers::Servers;
use framegate::log::jetstream::{JetstreamLog, JetstreamOptions};
use tokio::runtime::Runtime;

/// A log at servers.
struct AtServers {
    servers: Servers,
    /// How many bytes of frames a proxy keeps in memory besides.
    recent_bytes: u64,
    runtime: Runtime,
}

impl AtServers {
    fn new(recent_bytes: u64) -> Self {
        Self { servers: Servers::one(), recent_bytes, runtime: runtime() }
    }
}

impl Place for AtServers {
    fn open(&self, has_runs: bool) -> Opened {
        let options = JetstreamOptions { recent_bytes: self.recent_bytes, ..options(&self.servers, "kind") };
        let log = self.runtime.block_on(async {
            if has_runs { JetstreamLog::open(options).await.unwrap() } else { opened(options).await }
        });
        Opened { log: log.clone(), store: log }
    }

    fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

mod servers {
    super::of_every_kind!(super::AtServers::new(0), ignore = "needs nats-server (NATS_SERVER)");
}

mod servers_and_memory {
    super::of_every_kind!(super::AtServers::new(1 << 20), ignore = "needs nats-server (NATS_SERVER)");
}

/// Proxies with a log at servers, whose leases lapse soon.
fn at_servers() -> Service {
    let servers = Servers::one();
    let settings = vec![
        ("FRAMEGATE__LOG__KIND", "jetstream".to_owned()),
        ("FRAMEGATE__LOG__SERVERS", servers.urls().join(", ")),
        ("FRAMEGATE__LOG__MAX_BYTES", "268435456".to_owned()),
        ("FRAMEGATE__LOG__LEASE_MS", "5000".to_owned()),
        ("FRAMEGATE__LOG__PATIENCE_MS", "2500".to_owned()),
    ];
    Service { settings, error_code: "proxy_lost", home: Box::new(servers) }
}

mod restarted {
    super::after_restarts!(super::at_servers(), ignore = "needs nats-server (NATS_SERVER)");
}
