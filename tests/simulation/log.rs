//! The log of one simulated proxy.
//!
//! Input: what its runs ask. Output: the servers' answers, and the news in their order. Never: a decision about lost proxies of its own:
//! [`Membership`] decides, as in the product.

use crate::servers::Servers;
use async_trait::async_trait;
use bytes::Bytes;
use framegate::clock::Moment;
use framegate::log::{
    Checkpoint, FrameLog, Gone, Heard, KeptStream, Loading, LogError, Membership, Order, Place, ReadCache, Request,
    SharedFigures, SharedLog, StreamId, Summary,
};
use framegate_translators::frame::Frame;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use uuid::Uuid;

/// The default of `log.recent_bytes`.
const READ_CACHE_BYTES: u64 = 8 << 20;

pub struct SimulatedLog {
    pub proxy: Uuid,
    servers: Arc<Servers>,
    lease: Duration,
    membership: Mutex<Membership>,
    to_close: Mutex<Vec<StreamId>>,
    has_to_close: Notify,
    read_cache: ReadCache<StreamId>,
}

impl SimulatedLog {
    pub fn new(servers: Arc<Servers>, proxy: Uuid, lease: Duration) -> Self {
        let membership = Mutex::new(Membership::new(proxy, lease));
        Self {
            proxy,
            servers,
            lease,
            membership,
            to_close: Mutex::default(),
            has_to_close: Notify::new(),
            read_cache: ReadCache::new(READ_CACHE_BYTES),
        }
    }

    /// Renews the lease, again and again.
    pub async fn keep_lease(&self) {
        loop {
            let alive = self.servers.renew(self.proxy, self.lease).await;
            let pause = {
                let mut membership = self.membership.lock().unwrap();
                membership.found(alive, Moment::now());
                let left = self.servers.left_open(|proxy| membership.lives(proxy));
                let to_close = membership.to_close(&left, Moment::now());
                if !to_close.is_empty() {
                    *self.to_close.lock().unwrap() = to_close;
                    self.has_to_close.notify_one();
                }
                membership.pause()
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// How many proxies live, as far as this one knows.
    pub fn alive(&self) -> usize {
        self.membership.lock().unwrap().len()
    }
}

#[async_trait]
impl FrameLog for SimulatedLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        self.servers.append(self.proxy, frames, &summaries).await
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }

    fn order(&self) -> Order {
        Order::default()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let end = self.servers.frames_of(stream);
        if from >= end {
            return Ok(Vec::new());
        }
        self.read_cache.read(stream, from, max, end, |from, max| self.servers.read(stream, from, max)).await
    }

    async fn prune(&self, _: StreamId, _: Gone, _: Vec<Checkpoint>) -> Result<(), LogError> {
        unreachable!("no bound is set")
    }

    async fn first_within(&self, _: StreamId, _: u64) -> Result<u64, LogError> {
        Ok(0)
    }

    async fn drop_stream(&self, _: StreamId) -> Result<(), LogError> {
        unreachable!("no bound is set")
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        Vec::new()
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(self.servers.streams())
    }
}

#[async_trait]
impl SharedLog for SimulatedLog {
    async fn load(&self) -> Result<Loading, LogError> {
        let (loaded, behind, mut stored) = self.servers.follow();
        let (out, news) = mpsc::channel(256);
        let (servers, proxy) = (self.servers.clone(), self.proxy);
        tokio::spawn(async move {
            while let Some(message) = stored.recv().await {
                tokio::time::sleep_until(message.at).await;
                let news = message.news(&servers.any_frame(message.id), proxy);
                let heard = Heard { news: Some(news), behind: message.behind(), pending: 0, arrived: Moment::now() };
                if out.send(heard).await.is_err() {
                    return;
                }
            }
        });
        Ok(Loading { loaded, behind, news })
    }

    async fn reached(&self) -> Result<u64, LogError> {
        Ok(self.servers.reached().await)
    }

    fn is_reachable(&self) -> bool {
        true
    }

    async fn orphans(&self) -> Vec<StreamId> {
        loop {
            let found = std::mem::take(&mut *self.to_close.lock().unwrap());
            if !found.is_empty() {
                return found;
            }
            self.has_to_close.notified().await;
        }
    }

    fn is_writer(&self, stream: StreamId) -> bool {
        self.servers.is_writer(stream, self.proxy)
    }

    fn is_elected(&self) -> bool {
        self.membership.lock().unwrap().is_elected()
    }

    async fn ask_writer(&self, _: StreamId, _: Bytes, _: Duration) -> Option<Result<Bytes, LogError>> {
        None
    }

    fn take_requests(&self) -> Option<mpsc::Receiver<Request>> {
        None
    }

    async fn leave(&self) {
        self.servers.give_up(self.proxy).await;
    }

    fn distance(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from)
    }

    fn figures(&self) -> SharedFigures {
        SharedFigures { proxies: self.alive() as u64, ..SharedFigures::default() }
    }
}
