//! The sequencer: gives each frame its stream, number and time.
//!
//! In: the stream that a frame belongs to, and when it is. Out: its place. Never: a number twice or left out, a time that runs
//! backwards within a stream, a frame behind a run's last one.

use crate::derived::uuid_v5;
use crate::frame::{Session, Stream, StreamKind};
use crate::hash::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// The namespace of every id that is derived from a name.
const NAMESPACE: Uuid = Uuid::from_u128(0x6672_616d_6567_6174_8e00_0000_0000_0001);

/// The id that stands for `name` wherever a UUID is needed: itself where it is one, else UUIDv5 of it.
pub fn uuid_of(name: &str) -> Uuid {
    Uuid::try_parse(name).unwrap_or_else(|_| uuid_v5(&NAMESPACE, name.as_bytes()))
}

/// The id of the session that a provider's runner calls by that name, which is not empty.
pub fn session_id_of(provider: &str, name: &str) -> Uuid {
    Uuid::try_parse(name).unwrap_or_else(|_| uuid_of(&format!("{provider}:{name}")))
}

/// The ids from which all others of one ingest are derived.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The id of the first run; those of later runs are derived from it.
    pub run_id: Uuid,
    /// The id of the first session, instead of the runner's own.
    pub session_id: Option<Uuid>,
}

/// Names a stream that is open in a [`Sequencer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKey(u32);

/// The streams of one ingest.
#[derive(Debug)]
pub struct Sequencer {
    provider: &'static str,
    identity: Identity,
    runs: u32,
    next_key: u32,
    /// Few streams are open at a time, so a tree is found through faster than a hash is made.
    open: BTreeMap<StreamKey, Numbering>,
    sessions: HashMap<Arc<str>, (Arc<Session>, StreamKey)>,
    /// How often each task's stream was opened: one that begins again is another stream.
    tasks: HashMap<Uuid, u32>,
}

/// What a frame has of its stream.
#[derive(Debug)]
pub struct Numbered {
    /// The stream.
    pub stream: Arc<Stream>,
    /// The frame's position in it.
    pub seq: u64,
    /// The frame's time, in Unix epoch milliseconds: no earlier than that of the frame before.
    pub timestamp_ms: u64,
}

#[derive(Debug)]
struct Numbering {
    stream: Arc<Stream>,
    next_seq: u64,
    last_ms: u64,
}

impl Sequencer {
    /// No stream is open yet.
    pub fn new(provider: &'static str, identity: Identity) -> Self {
        Self {
            provider,
            identity,
            runs: 0,
            next_key: 0,
            open: BTreeMap::new(),
            sessions: HashMap::default(),
            tasks: HashMap::default(),
        }
    }

    /// Opens the next run of the session that the runner calls `session`.
    pub fn open_run(&mut self, session: &str) -> StreamKey {
        let id = match self.runs {
            0 => self.identity.run_id,
            nth => uuid_v5(&self.identity.run_id, format!("run/{nth}").as_bytes()),
        };
        self.runs += 1;
        let session = self.session(session).0;
        self.open(Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: self.provider })
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

    /// Goes on with a stream whose frames are kept up to `next_seq`, the last one of them at `last_ms`.
    pub fn resume(&mut self, stream: Arc<Stream>, next_seq: u64, last_ms: u64) -> StreamKey {
        let key = StreamKey(self.next_key);
        self.next_key += 1;
        self.open.insert(key, Numbering { stream, next_seq, last_ms });
        key
    }

    /// The thread stream of a session; it is always open.
    pub fn thread(&mut self, session: &str) -> StreamKey {
        self.session(session).1
    }

    /// What is known of an open stream.
    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.open.get(&key).map(|numbering| &numbering.stream)
    }

    /// The open stream of that kind and id.
    pub fn key_of(&self, id: (StreamKind, Uuid)) -> Option<StreamKey> {
        self.open.iter().find(|(_, open)| (open.stream.kind, open.stream.id) == id).map(|(&key, _)| key)
    }

    /// Closes a stream: nothing more is numbered in it.
    pub fn close(&mut self, key: StreamKey) {
        self.open.remove(&key);
    }

    /// The next place in a stream, for a frame of that time; `None` where the stream is closed.
    pub fn next(&mut self, key: StreamKey, time_ms: u64) -> Option<Numbered> {
        let numbering = self.open.get_mut(&key)?;
        let seq = numbering.next_seq;
        numbering.next_seq += 1;
        numbering.last_ms = numbering.last_ms.max(time_ms);
        Some(Numbered { stream: numbering.stream.clone(), seq, timestamp_ms: numbering.last_ms })
    }

    fn session(&mut self, name: &str) -> (Arc<Session>, StreamKey) {
        if let Some(known) = self.sessions.get(name) {
            return known.clone();
        }
        let own = match name {
            // A runner that never says its session's name has one session for each ingest.
            "" => uuid_v5(&self.identity.run_id, b"session"),
            _ => session_id_of(self.provider, name),
        };
        let first = self.sessions.keys().all(|known| known.is_empty());
        let id = self.identity.session_id.filter(|_| first).unwrap_or(own);
        // The same id in another spelling is the same session.
        if let Some(known) = self.sessions.values().find(|(session, _)| session.id == id).cloned() {
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
        (session, key)
    }

    fn open(&mut self, stream: Stream) -> StreamKey {
        self.resume(Arc::new(stream), 0, 0)
    }
}
