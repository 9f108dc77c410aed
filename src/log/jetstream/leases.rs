//! Which proxies live.
//!
//! Input: the leases of all proxies. Output: this proxy's own lease, renewed for as long as it lives; the proxies that live; the streams of
//! lost proxies that this one closes ([`Membership`] decides). Never: a proxy that counts as lost because the servers, or this proxy, were away.
//!
//! A lease only says who is expected to write. What keeps a proxy that wakes up from writing on is the guard of each append.

use super::JetstreamLog;
use super::engine::Failure;
use super::publish::{Outgoing, Refusal};
use crate::clock::Moment;
use crate::log::{Membership, StreamId};
use bytes::Bytes;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

/// How long to wait for messages that were not heard yet, before lost proxies are looked for at the next renewal.
const CATCH_UP: Duration = Duration::from_millis(500);

/// How long a probe may take: less than `GET /readyz` waits, so that its answer names the servers.
const PROBE: Duration = Duration::from_millis(1500);

/// What is known of the leases.
#[derive(Debug)]
pub(super) struct Leases {
    membership: Mutex<Membership>,
    /// Streams that this proxy has to close.
    to_close: Mutex<Vec<StreamId>>,
    has_to_close: Notify,
}

impl Leases {
    /// Starts for one proxy.
    pub(super) fn new(proxy: Uuid, lease: Duration) -> Self {
        let membership = Mutex::new(Membership::new(proxy, lease));
        Self { membership, to_close: Mutex::default(), has_to_close: Notify::new() }
    }

    /// Which proxies live.
    pub(super) fn membership(&self) -> MutexGuard<'_, Membership> {
        // Each change leaves it complete.
        self.membership.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_close(&self) -> MutexGuard<'_, Vec<StreamId>> {
        self.to_close.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renews the lease until the log is closed.
pub(super) async fn keep(log: Weak<JetstreamLog>, lease: Duration) {
    let mut failures = 0;
    while let Some(log) = log.upgrade() {
        match log.renew(lease).await {
            Ok(()) => failures = 0,
            Err(failure) => {
                failures += 1;
                log.leases.membership().interrupted();
                tracing::warn!(error = %log.engine.error(&failure), "the lease of this proxy could not be renewed");
                // A server that hangs keeps its connections open.
                if failures >= 2 && log.engine.is_connected() {
                    let _ = log.engine.client.force_reconnect().await;
                }
            }
        }
        log.make_room().await;
        let pause = log.leases.membership().pause();
        drop(log);
        tokio::time::sleep(pause).await;
    }
}

impl JetstreamLog {
    /// Renews the lease, then looks which proxies live.
    async fn renew(&self, lease: Duration) -> Result<(), Failure> {
        self.publish_lease(lease).await?;
        let name = self.engine.names.leases_stream();
        let subjects = self.engine.subjects(&name, &self.engine.names.leases_subject()).await?;
        let alive = subjects.iter().filter_map(|subject| self.engine.names.proxy_of(subject));
        // The index must have what a lost proxy wrote last.
        let last = self.engine.last_sequence(&self.engine.names.frames_stream()).await?;
        let is_current = tokio::time::timeout(CATCH_UP, self.hear_up_to(last)).await.is_ok();
        let now = Moment::now();
        let mut membership = self.leases.membership();
        membership.found(alive, now);
        if is_current {
            let left = self.index().left_open(|proxy| membership.lives(proxy));
            let to_close = membership.to_close(&left, now);
            if !to_close.is_empty() {
                *self.leases.to_close() = to_close;
                self.leases.has_to_close.notify_one();
            }
        }
        Ok(())
    }

    /// Writes the lease, and waits for servers that do not answer.
    pub(super) async fn publish_lease(&self, lease: Duration) -> Result<(), Failure> {
        match self.engine.publish(&self.engine.names.leases_stream(), &[self.lease_message(lease)]).await {
            Ok(_) => Ok(()),
            Err(Refusal::Unknown(failure) | Refusal::Denied(failure)) => Err(failure),
            Err(Refusal::Full(why)) => Err(Failure::Odd(why)),
            Err(Refusal::Overtaken(_)) => Err(Failure::Odd("the lease was refused".to_owned())),
        }
    }

    /// Writes the lease now, to find out whether the servers store anything. Servers without a majority still answer questions.
    pub(super) async fn probe(&self, lease: Duration) -> Result<(), Failure> {
        let message = [self.lease_message(lease)];
        match tokio::time::timeout(PROBE, self.engine.send(&message)).await {
            Ok(sent) => sent.map(drop),
            Err(_) => Err(Failure::Silent(format!("no answer within {} ms", PROBE.as_millis()))),
        }
    }

    fn lease_message(&self, lease: Duration) -> Outgoing {
        let seconds = lease.as_secs() + u64::from(lease.subsec_nanos() > 0);
        Outgoing {
            subject: self.engine.names.lease(self.proxy),
            after: None,
            id: None,
            note: None,
            headers: vec![("Nats-TTL", format!("{seconds}s"))],
            payload: Bytes::new(),
        }
    }

    /// Waits for streams of lost proxies that this one has to close.
    pub(super) async fn streams_to_close(&self) -> Vec<StreamId> {
        loop {
            let found = std::mem::take(&mut *self.leases.to_close());
            if !found.is_empty() {
                return found;
            }
            self.leases.has_to_close.notified().await;
        }
    }

    /// Gives the lease up.
    pub(super) async fn give_up_lease(&self) {
        let name = self.engine.names.leases_stream();
        let subject = self.engine.names.lease(self.proxy);
        let purged = self.engine.purge(&name, &subject, None);
        if !matches!(tokio::time::timeout(self.engine.timeout, purged).await, Ok(Ok(()))) {
            tracing::debug!("the lease of this proxy lapses by itself");
        }
    }
}
