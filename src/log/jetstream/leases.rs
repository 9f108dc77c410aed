//! Which proxies live.
//!
//! Input: the leases of all proxies. Output: this proxy's own lease, renewed for as long as it lives; the proxies that live; the streams
//! that a lost proxy left open. Never: a proxy that counts as lost because the servers, or this proxy, were away.
//!
//! A lease only says who is expected to write. What keeps a proxy that wakes up from writing on is the guard of each append.

use super::JetstreamLog;
use super::engine::Failure;
use super::publish::{Outgoing, Refusal};
use crate::clock::Moment;
use crate::log::StreamId;
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

/// A lease is renewed this many times before it would lapse.
const RENEWALS: u32 = 4;

/// How long to wait for messages that were not heard yet, before lost proxies are looked for at the next renewal.
const CATCH_UP: Duration = Duration::from_millis(500);

/// What is known of the leases.
#[derive(Debug, Default)]
pub(super) struct Leases {
    known: Mutex<Known>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Known {
    alive: HashSet<Uuid>,
    /// Since when the leases could be read without interruption.
    steady_since: Option<Moment>,
    orphans: Vec<StreamId>,
}

impl Leases {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many proxies live.
    pub(super) fn count(&self) -> usize {
        self.known().alive.len()
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
                log.leases.known().steady_since = None;
                tracing::warn!(error = %log.engine.error(&failure), "the lease of this proxy could not be renewed");
                // A server that hangs keeps its connections open.
                if failures >= 2 && log.engine.is_connected() {
                    let _ = log.engine.client.force_reconnect().await;
                }
            }
        }
        log.make_room().await;
        drop(log);
        tokio::time::sleep(lease / RENEWALS).await;
    }
}

impl JetstreamLog {
    /// Renews the lease, then looks which proxies live.
    async fn renew(&self, lease: Duration) -> Result<(), Failure> {
        self.publish_lease(lease).await?;
        let name = self.engine.names.leases_stream();
        let subjects = self.engine.subjects(&name, &self.engine.names.leases_subject()).await?;
        let alive: HashSet<Uuid> =
            subjects.iter().filter_map(|subject| self.engine.names.proxy_of(subject)).chain([self.proxy]).collect();
        // The index must have what a lost proxy wrote last.
        let last = self.engine.last_sequence(&self.engine.names.frames_stream()).await?;
        let is_current = tokio::time::timeout(CATCH_UP, self.hear_up_to(last)).await.is_ok();
        let mut known = self.leases.known();
        let is_steady = known.steady_since.get_or_insert_with(Moment::now).elapsed() >= lease;
        known.alive = alive;
        if is_steady && is_current {
            known.orphans = self.index().left_by(&known.alive);
            if !known.orphans.is_empty() {
                self.leases.changed.notify_one();
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
        self.engine.send(&[self.lease_message(lease)]).await.map(drop)
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

    /// Waits for streams that a lost proxy left open.
    pub(super) async fn lost_streams(&self) -> Vec<StreamId> {
        loop {
            let found = std::mem::take(&mut self.leases.known().orphans);
            if !found.is_empty() {
                return found;
            }
            self.leases.changed.notified().await;
        }
    }

    /// Whether this proxy does the work that one proxy does for all.
    pub(super) fn is_elected(&self) -> bool {
        let known = self.leases.known();
        known.steady_since.is_some() && known.alive.iter().min() == Some(&self.proxy)
    }

    /// Whether a proxy lives, as far as is known.
    pub(super) fn lives(&self, proxy: Uuid) -> bool {
        self.leases.known().alive.contains(&proxy)
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
