//! The servers, modelled: one leader that does one thing at a time, and stores messages in one order.
//!
//! Input: appends with their guard, reads, leases, questions. Output: the same answers as JetStream's, after the time that the leader needs; what was asked
//! how often. Never: an append that is stored although its frames do not follow.

use framegate::log::{
    ByStream, KeptStream, LeftOpen, Loaded, LogError, News, Place, Run, StreamId, Summary, stream_id, weight,
};
use framegate_translators::frame::Frame;
use framegate_translators::pipeline::is_last;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

/// How many positions a message takes.
const POSITIONS: u64 = 1 << 20;

/// The most bytes of frames in one answer.
const ANSWER_BYTES: u64 = 4 << 20;

/// What requests cost.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// The way to the servers and back.
    pub travel: Duration,
    /// The leader's time for a message.
    pub message: Duration,
    /// The leader's time for a question.
    pub question: Duration,
    /// The leader's time for each MiB that is stored.
    pub stored_mib: Duration,
    /// The leader's time for each MiB that is read.
    pub read_mib: Duration,
}

impl Costs {
    /// As measured with three servers (docs/cluster.md).
    pub const MEASURED: Self = Self {
        travel: Duration::from_micros(500),
        message: Duration::from_micros(100),
        question: Duration::from_micros(50),
        stored_mib: Duration::from_millis(20),
        read_mib: Duration::from_millis(3),
    };
}

/// What was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Appends that were stored.
    pub appends: u64,
    /// Appends that were refused because another came first.
    pub refused: u64,
    /// Reads of frames.
    pub reads: u64,
    /// Frames that were read.
    pub frames: u64,
    /// Questions about leases, and their renewals.
    pub leases: u64,
    /// Questions how far the log has got.
    pub reached: u64,
}

/// A message, as followers hear of it.
#[derive(Clone)]
pub struct Stored {
    pub seq: u64,
    pub run: Run,
    pub id: StreamId,
    pub writer: Uuid,
    pub ended: bool,
    pub status: Option<Box<str>>,
    /// When it can be heard.
    pub at: Instant,
}

struct Held {
    frames: Vec<Arc<Frame>>,
    writer: Uuid,
    ended: bool,
    /// How often it got a last frame.
    ends: u64,
}

#[derive(Default)]
struct State {
    busy_until: Option<Instant>,
    messages: Vec<Stored>,
    streams: ByStream<Held>,
    leases: HashMap<Uuid, Instant>,
    followers: Vec<mpsc::UnboundedSender<Stored>>,
    asked: Asked,
    /// The next append is stored, but its sender gets no answer, and it is heard so much later.
    lost_answer: Option<Duration>,
    /// How much longer the next request takes.
    delay: Duration,
}

/// The servers.
pub struct Servers {
    costs: Costs,
    state: Mutex<State>,
}

impl Servers {
    pub fn new(costs: Costs) -> Arc<Self> {
        Arc::new(Self { costs, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// What was asked since the last call.
    pub fn asked(&self) -> Asked {
        std::mem::take(&mut self.state().asked)
    }

    /// Waits until the leader has had its time for a request, behind all earlier ones.
    async fn serve(&self, cost: Duration) {
        let done = {
            let mut state = self.state();
            let now = Instant::now();
            let cost = cost + std::mem::take(&mut state.delay);
            let done = state.busy_until.map_or(now, |busy| busy.max(now)) + cost;
            state.busy_until = Some(done);
            done
        };
        tokio::time::sleep_until(done + self.costs.travel).await;
    }

    /// Loses the answer to the next append, which is heard that much later.
    pub fn lose_answer(&self, heard_after: Duration) {
        self.state().lost_answer = Some(heard_after);
    }

    /// Makes the next request take that much longer.
    pub fn delay(&self, by: Duration) {
        self.state().delay = by;
    }

    /// Stores frames, all or none.
    pub async fn append(&self, writer: Uuid, frames: &[Arc<Frame>], summaries: &[Summary]) -> Result<Place, LogError> {
        let bytes: u64 = frames.iter().map(|frame| weight(frame)).sum();
        let mut streams: ByStream<Vec<Arc<Frame>>> = ByStream::default();
        for frame in frames {
            streams.entry(stream_id(frame)).or_default().push(frame.clone());
        }
        let parts = u32::try_from(streams.len()).unwrap();
        self.serve(self.costs.message * parts + time_for(self.costs.stored_mib, bytes)).await;
        let mut state = self.state();
        for (id, part) in &streams {
            let expected = state.streams.get(id).map_or(0, |held| held.frames.len() as u64);
            if part[0].seq != expected {
                state.asked.refused += 1;
                return Err(LogError::Sequence { stream: id.1, expected, found: part[0].seq });
            }
        }
        state.asked.appends += 1;
        let lost = state.lost_answer.take();
        let at = Instant::now() + self.costs.travel + lost.unwrap_or_default();
        let first = state.messages.len() as u64 + 1;
        for (id, part) in streams {
            let seq = state.messages.len() as u64 + 1;
            let run = Run { position: seq * POSITIONS, seq: part[0].seq, frames: part.len() as u64 };
            let ends = part.iter().filter(|frame| is_last(frame)).count() as u64;
            let held =
                state.streams.entry(id).or_insert_with(|| Held { frames: Vec::new(), writer, ended: false, ends: 0 });
            held.frames.extend(part);
            held.writer = writer;
            held.ends += ends;
            held.ended = ends > 0;
            let status = summaries
                .iter()
                .rev()
                .find(|summary| summary.stream == id)
                .map(|summary| summary.status.as_str().into());
            let stored = Stored { seq, run, id, writer, ended: ends > 0, status, at };
            state.followers.retain(|follower| follower.send(stored.clone()).is_ok());
            state.messages.push(stored);
        }
        if lost.is_some() {
            return Err(LogError::Unreachable { servers: "the model".to_owned(), detail: "no answer".to_owned() });
        }
        Ok(Place { first: first * POSITIONS, behind: (state.messages.len() as u64 + 1) * POSITIONS })
    }

    /// Frames of a stream.
    pub async fn read(&self, id: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        {
            let mut state = self.state();
            let held = state.streams.get(&id).ok_or(LogError::Dropped { stream: id.1 })?;
            for frame in held.frames.iter().skip(usize::try_from(from).unwrap()).take(max) {
                bytes += weight(frame);
                if bytes > ANSWER_BYTES && !found.is_empty() {
                    break;
                }
                found.push(frame.clone());
            }
            state.asked.reads += 1;
            state.asked.frames += found.len() as u64;
        }
        self.serve(self.costs.question + time_for(self.costs.read_mib, bytes)).await;
        Ok(found)
    }

    /// Writes a lease, and returns the proxies that have one. Three requests.
    pub async fn renew(&self, proxy: Uuid, lease: Duration) -> Vec<Uuid> {
        self.serve(self.costs.message + self.costs.question * 2).await;
        let (mut state, now) = (self.state(), Instant::now());
        state.asked.leases += 3;
        state.leases.insert(proxy, now + lease);
        state.leases.retain(|_, until| *until > now);
        state.leases.keys().copied().collect()
    }

    /// Removes a lease.
    pub async fn give_up(&self, proxy: Uuid) {
        self.serve(self.costs.question).await;
        self.state().leases.remove(&proxy);
    }

    /// The position behind everything that is stored.
    pub async fn reached(&self) -> u64 {
        self.serve(self.costs.question).await;
        let mut state = self.state();
        state.asked.reached += 1;
        (state.messages.len() as u64 + 1) * POSITIONS
    }

    /// What is stored now, the position behind it, and what is stored from now on.
    pub fn follow(&self) -> (Loaded, u64, mpsc::UnboundedReceiver<Stored>) {
        let mut state = self.state();
        let (follower, stored) = mpsc::unbounded_channel();
        state.followers.push(follower);
        let mut loaded = Loaded::default();
        for message in &state.messages {
            loaded.take_in(message.news(&state.streams[&message.id].frames[0], Uuid::nil()));
        }
        (loaded, (state.messages.len() as u64 + 1) * POSITIONS, stored)
    }

    /// How many frames a stream has.
    pub fn frames_of(&self, id: StreamId) -> u64 {
        self.state().streams.get(&id).map_or(0, |held| held.frames.len() as u64)
    }

    /// A frame of a stream that is stored, for its properties.
    pub fn any_frame(&self, id: StreamId) -> Arc<Frame> {
        self.state().streams[&id].frames[0].clone()
    }

    /// The open streams whose writer is not in `alive`.
    pub fn left_open(&self, lives: impl Fn(Uuid) -> bool) -> Vec<LeftOpen> {
        let state = self.state();
        let lost = state.streams.iter().filter(|(_, held)| !held.ended && !lives(held.writer));
        lost.map(|(id, held)| LeftOpen { stream: *id, session: held.frames[0].stream.session.id }).collect()
    }

    /// Whether a proxy wrote the newest frames of a stream.
    pub fn is_writer(&self, id: StreamId, proxy: Uuid) -> bool {
        self.state().streams.get(&id).is_some_and(|held| held.writer == proxy)
    }

    /// How many runs and tasks are open, and whether any was ended twice.
    pub fn open_and_ended_twice(&self) -> (usize, usize) {
        use framegate_translators::frame::StreamKind::Thread;
        let state = self.state();
        let open = state.streams.iter().filter(|((kind, _), held)| *kind != Thread && !held.ended).count();
        (open, state.streams.values().filter(|held| held.ends > 1).count())
    }

    /// The proxies that wrote the last frames of the streams.
    pub fn writers(&self) -> HashSet<Uuid> {
        self.state().streams.values().map(|held| held.writer).collect()
    }

    /// Every stream, as a log lists them.
    pub fn streams(&self) -> Vec<KeptStream> {
        self.follow().0.into_streams()
    }
}

/// The time for some bytes at a price for each MiB.
fn time_for(mib: Duration, bytes: u64) -> Duration {
    mib.mul_f64(bytes as f64 / f64::from(1 << 20))
}

impl Stored {
    /// As news for a proxy.
    pub fn news(&self, frame: &Frame, proxy: Uuid) -> News {
        News::Frames {
            stream: frame.stream.clone(),
            run: self.run,
            ended: self.ended,
            is_own: self.writer == proxy,
            status: self.status.clone(),
            labels: None,
        }
    }

    /// The position behind it.
    pub fn behind(&self) -> u64 {
        (self.seq + 1) * POSITIONS
    }
}
