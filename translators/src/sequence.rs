//! The sequencer: gives each frame its stream, number and time.
//!
//! Input: a frame's stream and time. Output: the frame's number and final time. Never: a repeated or skipped number, a time
//! that decreases within a stream, or a frame after a run's last one.

use crate::derived::uuid_v5;
use crate::frame::{Provider, Session, Stream, StreamKind};
use crate::hash::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// The namespace of all ids derived from names.
const NAMESPACE: Uuid = Uuid::from_u128(0x6672_616d_6567_6174_8e00_0000_0000_0001);

/// The UUID for `name`: the name itself if it is a UUID, otherwise its UUIDv5.
pub fn uuid_of(name: &str) -> Uuid {
    Uuid::try_parse(name).unwrap_or_else(|_| uuid_v5(&NAMESPACE, name.as_bytes()))
}

/// The id of the session with that non-empty name in a provider's runner.
pub fn session_id_of(provider: &str, name: &str) -> Uuid {
    Uuid::try_parse(name).unwrap_or_else(|_| uuid_of(&format!("{provider}:{name}")))
}

/// The ids from which all other ids of an ingest are derived.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The id of the first run; those of later runs are derived from it.
    pub run_id: Uuid,
    /// Overrides the id of the first session.
    pub session_id: Option<Uuid>,
}

/// Identifies an open stream in a [`Sequencer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKey(u32);

/// The streams of one ingest.
#[derive(Debug)]
pub struct Sequencer {
    provider: Provider,
    identity: Identity,
    runs: u32,
    /// The end of the latest run whose time came from the ingest's clock. No later run begins before it, even if its records
    /// have an earlier time.
    floor_ms: u64,
    next_key: u32,
    /// Few streams are open at a time, so a tree lookup is faster than hashing.
    open: BTreeMap<StreamKey, Numbering>,
    sessions: HashMap<Arc<str>, (Arc<Session>, StreamKey)>,
    /// The session of runs whose session the runner does not name; empty if it was not set.
    home: Arc<str>,
    by_id: HashMap<Uuid, (Arc<Session>, StreamKey)>,
    /// Open streams by kind and id.
    by_stream: HashMap<(StreamKind, Uuid), StreamKey>,
    /// How often each task's stream was opened. A task that begins again gets a new stream.
    tasks: HashMap<Uuid, u32>,
}

/// A frame's position in its stream.
#[derive(Debug)]
pub struct Numbered {
    /// The stream.
    pub stream: Arc<Stream>,
    /// The frame's position in it.
    pub seq: u64,
    /// The frame's time in Unix epoch milliseconds: not before the previous frame's.
    pub timestamp_ms: u64,
}

#[derive(Debug)]
struct Numbering {
    stream: Arc<Stream>,
    next_seq: u64,
    last_ms: u64,
    /// Whether `last_ms` is from a record.
    is_own_time: bool,
}

impl Sequencer {
    /// A sequencer without open streams.
    pub fn new(provider: Provider, identity: Identity) -> Self {
        Self {
            provider,
            identity,
            runs: 0,
            floor_ms: 0,
            next_key: 0,
            open: BTreeMap::new(),
            sessions: HashMap::default(),
            home: Arc::from(""),
            by_id: HashMap::default(),
            by_stream: HashMap::default(),
            tasks: HashMap::default(),
        }
    }

    /// The id of the first run of this ingest, whether it has begun or not.
    pub(crate) fn run_id(&self) -> Uuid {
        self.identity.run_id
    }

    /// Sets the session of runs whose session the runner does not name.
    pub(crate) fn set_home(&mut self, session: &str) {
        self.home = Arc::from(session);
    }

    /// Opens the next run of the session that the runner names `session`.
    pub fn open_run(&mut self, session: &str) -> StreamKey {
        let id = match self.runs {
            0 => self.identity.run_id,
            nth => uuid_v5(&self.identity.run_id, format!("run/{nth}").as_bytes()),
        };
        self.runs += 1;
        let session = self.session(session).0;
        let run = Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: self.provider };
        self.resume(Arc::new(run), 0, self.floor_ms)
    }

    /// The number of runs opened so far.
    pub(crate) fn runs_begun(&self) -> u64 {
        u64::from(self.runs)
    }

    /// Opens the stream of a background task that `run` started.
    pub fn open_task(&mut self, run: StreamKey, task_id: &str) -> StreamKey {
        let origin = self.open.get(&run).map(|numbering| numbering.stream.clone());
        let session = match &origin {
            Some(stream) => stream.session.clone(),
            None => self.session("").0,
        };
        let mut id = uuid_v5(&session.id, format!("task/{task_id}").as_bytes());
        let times = self.tasks.entry(id).or_default();
        if *times > 0 {
            id = uuid_v5(&id, format!("again/{times}").as_bytes());
        }
        *times += 1;
        let origin_run = origin.filter(|stream| stream.kind == StreamKind::Session).map(|stream| stream.id);
        self.open(Stream { kind: StreamKind::Task, id, session, origin_run, provider: self.provider })
    }

    /// Continues a stream whose next number is `next_seq` and whose last frame was at `last_ms`.
    pub fn resume(&mut self, stream: Arc<Stream>, next_seq: u64, last_ms: u64) -> StreamKey {
        let key = StreamKey(self.next_key);
        self.next_key += 1;
        self.by_stream.insert((stream.kind, stream.id), key);
        self.open.insert(key, Numbering { stream, next_seq, last_ms, is_own_time: true });
        key
    }

    /// Opens a stream that begins elsewhere. The thread of a session that is already known goes on.
    pub(crate) fn adopt(&mut self, stream: Arc<Stream>) -> StreamKey {
        let (kind, session) = (stream.kind, stream.session.clone());
        if kind == StreamKind::Thread
            && let Some((_, thread)) = self.by_id.get(&stream.id)
        {
            return *thread;
        }
        let key = self.resume(stream, 0, 0);
        match kind {
            StreamKind::Session => self.runs += 1,
            // What belongs to no run of this session goes on in the same thread.
            StreamKind::Thread => {
                self.by_id.insert(session.id, (session.clone(), key));
                if !session.name.is_empty() {
                    self.sessions.insert(session.name.clone(), (session, key));
                }
            }
            StreamKind::Task | StreamKind::Artifact => {}
        }
        key
    }

    /// The thread stream of a session; it is always open.
    pub fn thread(&mut self, session: &str) -> StreamKey {
        self.session(session).1
    }

    /// The id of the session of runs whose session the runner does not name, and of its thread.
    pub(crate) fn home_id(&self) -> Uuid {
        let known = self.sessions.get(&*self.home);
        known.map_or_else(|| self.new_session_id(&self.home), |(session, _)| session.id)
    }

    /// An open stream's properties.
    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.open.get(&key).map(|numbering| &numbering.stream)
    }

    /// The open stream of that kind and id.
    pub fn key_of(&self, id: (StreamKind, Uuid)) -> Option<StreamKey> {
        self.by_stream.get(&id).copied()
    }

    /// Closes a stream: it gets no more frames.
    pub fn close(&mut self, key: StreamKey) {
        if let Some(closed) = self.open.remove(&key) {
            let id = (closed.stream.kind, closed.stream.id);
            if self.by_stream.get(&id) == Some(&key) {
                self.by_stream.remove(&id);
            }
            if id.0 == StreamKind::Session && !closed.is_own_time {
                self.floor_ms = self.floor_ms.max(closed.last_ms);
            }
        }
    }

    /// The next position in a stream, for a frame at that time; `None` if the stream is closed. `is_own_time` is whether the
    /// time is from the record rather than from the ingest's clock.
    pub fn next(&mut self, key: StreamKey, time_ms: u64, is_own_time: bool) -> Option<Numbered> {
        let numbering = self.open.get_mut(&key)?;
        let seq = numbering.next_seq;
        numbering.next_seq += 1;
        if time_ms >= numbering.last_ms {
            numbering.last_ms = time_ms;
            numbering.is_own_time = is_own_time;
        }
        Some(Numbered { stream: numbering.stream.clone(), seq, timestamp_ms: numbering.last_ms })
    }

    /// The time of the last frame of an open stream, in milliseconds; `None` if it is closed.
    pub(crate) fn last_ms(&self, key: StreamKey) -> Option<u64> {
        self.open.get(&key).map(|numbering| numbering.last_ms)
    }

    /// The next frame of an open stream is not timed before `until_ms`.
    pub(crate) fn advance(&mut self, stream: (StreamKind, Uuid), until_ms: u64) {
        if let Some(numbering) = self.key_of(stream).and_then(|key| self.open.get_mut(&key)) {
            numbering.last_ms = numbering.last_ms.max(until_ms);
        }
    }

    fn session(&mut self, name: &str) -> (Arc<Session>, StreamKey) {
        let home = self.home.clone();
        let name = if name.is_empty() { &*home } else { name };
        if let Some(known) = self.sessions.get(name) {
            return known.clone();
        }
        let id = self.new_session_id(name);
        // Another spelling of the same id is the same session.
        if let Some(known) = self.by_id.get(&id).cloned() {
            self.sessions.insert(Arc::from(name), known.clone());
            return known;
        }
        let session = Arc::new(Session { id, name: Arc::from(name) });
        let stream = Stream {
            kind: StreamKind::Thread,
            id,
            session: session.clone(),
            origin_run: None,
            provider: self.provider,
        };
        let key = self.open(stream);
        self.sessions.insert(Arc::from(name), (session.clone(), key));
        self.by_id.insert(id, (session.clone(), key));
        (session, key)
    }

    /// The id of a session that is not known yet.
    fn new_session_id(&self, name: &str) -> Uuid {
        let own = match name {
            // A runner that never names its session has one session per ingest.
            "" => uuid_v5(&self.identity.run_id, b"session"),
            _ => session_id_of(self.provider.name, name),
        };
        let first = self.sessions.len() == usize::from(self.sessions.contains_key(""));
        self.identity.session_id.filter(|_| first).unwrap_or(own)
    }

    fn open(&mut self, stream: Stream) -> StreamKey {
        self.resume(Arc::new(stream), 0, 0)
    }
}
