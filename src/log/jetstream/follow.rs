//! Follows the messages of all proxies.
//!
//! Input: the headers of the stored messages, in the order in which the servers stored them. Output: the index, and the news for the runs of
//! this proxy. Never: a message left out or taken in twice, whatever happens to the servers; the content of a message.

use super::JetstreamLog;
use super::index::{dropped_stream, position};
use super::names::Topic;
use super::note::{NOTE, Note, stream_of};
use crate::clock::Moment;
use crate::log::{Heard, News, Run, StreamId};
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::push::OrderedConfig;
use async_nats::jetstream::{self, Message};
use framegate_translators::frame::Stream;
use framegate_translators::frame::stored::Header;
use futures_util::StreamExt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;

/// After how long a silence the leader is asked whether there is news. An ordered consumer can stand still without an error.
const SILENCE: Duration = Duration::from_secs(2);

/// The pause before the messages are followed again after an error.
const PAUSE: Duration = Duration::from_millis(100);

/// Follows until the log is closed.
pub(super) async fn follow(log: Weak<JetstreamLog>, news: mpsc::Sender<Heard>) {
    while let Some(log) = log.upgrade() {
        let followed = follow_once(&log, &news).await;
        if news.is_closed() {
            return;
        }
        if let Err(why) = followed {
            tracing::debug!(why, "the messages of the log are followed anew");
        }
        if log.look().await.is_ok() && log.health.is_lost() {
            // The end of the news says that nothing more can be heard.
            return;
        }
        drop(log);
        tokio::time::sleep(PAUSE).await;
    }
}

async fn follow_once(log: &JetstreamLog, news: &mpsc::Sender<Heard>) -> Result<(), String> {
    let engine = &log.engine;
    let name = engine.names.frames_stream();
    let mut context = jetstream::new(engine.client.clone());
    context.set_timeout(engine.timeout);
    let stream = context.get_stream_no_info(&name).await.map_err(|error| error.to_string())?;
    let after = log.heard();
    let config = OrderedConfig {
        deliver_subject: engine.client.new_inbox(),
        headers_only: true,
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
        ..OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(|error| error.to_string())?;
    let mut messages = consumer.messages().await.map_err(|error| error.to_string())?;
    log.counts.followed();
    let mut is_behind = false;
    loop {
        let message = tokio::select! {
            () = news.closed() => return Ok(()),
            message = tokio::time::timeout(SILENCE, messages.next()) => message,
        };
        match message {
            Ok(Some(Ok(message))) => {
                is_behind = false;
                hear(log, &message, news).await?;
            }
            Ok(Some(Err(error))) => return Err(error.to_string()),
            Ok(None) => return Err("the subscription ended".to_owned()),
            Err(_) => {
                let was_behind = is_behind;
                is_behind = log.look().await.unwrap_or(false);
                if log.health.is_lost() {
                    return Err("messages that were heard are lost".to_owned());
                }
                if was_behind && is_behind {
                    return Err("the consumer stands still".to_owned());
                }
            }
        }
    }
}

/// Takes in one message.
async fn hear(log: &JetstreamLog, message: &Message, news: &mpsc::Sender<Heard>) -> Result<(), String> {
    let info = message.info().map_err(|error| error.to_string())?;
    let (seq, pending) = (info.stream_sequence, info.pending);
    if seq <= log.heard() {
        return Ok(());
    }
    let note = message.headers.as_ref().and_then(|headers| headers.get(NOTE)).map(|note| Note::read(note.as_str()));
    let topic = log.engine.names.topic(&message.subject);
    let found = match (topic, note) {
        (Some(topic), Some(Ok(note))) => log.take_in(seq, topic, note),
        (_, note) => {
            log.counts.unread.fetch_add(1, Ordering::Relaxed);
            let error = note.and_then(Result::err);
            tracing::warn!(seq, subject = %message.subject, ?error, "a message of the log cannot be read and is left out");
            None
        }
    };
    log.heard.send_replace(seq);
    log.counts.pending.store(pending, Ordering::Relaxed);
    let heard = Heard { news: found, behind: position(seq + 1), pending, arrived: Moment::now() };
    news.send(heard).await.map_err(|_| "the runs hear no more news".to_owned())
}

impl JetstreamLog {
    /// Takes a message into the index. Returns what the runs have to know.
    fn take_in(&self, seq: u64, topic: Topic, note: Note) -> Option<News> {
        let mut index = self.index();
        match (topic, note) {
            (Topic::Frames(id), Note::Frames(note)) => {
                let stream = self.stream(id, &note.stream)?;
                index.frames(seq, &note, &stream);
                let run = Run { position: position(seq), seq: note.first, frames: note.frames };
                let (writer, ended) = (note.writer, note.ended);
                Some(News::Frames {
                    stream,
                    run,
                    ended,
                    is_own: writer == self.proxy,
                    status: note.status,
                    labels: note.labels,
                })
            }
            (Topic::Frames(id), Note::Cut(note)) => {
                let stream = self.stream(id, &note.stream)?;
                index.cut(seq, &note, &stream);
                self.read_cache.drop_front(id, note.gone().frames);
                Some(News::Cut { stream, gone: note.gone(), position: note.position })
            }
            (Topic::Frames(id), Note::Dropped(note)) => {
                let stream = self.stream(id, &note.stream)?;
                // If the stream has begun again, its frames are behind this message.
                if index.reached(id).last_seq <= seq {
                    index.dropped(id);
                }
                self.tombstones().insert(id, seq);
                self.tail_cache.forget(id);
                self.read_cache.forget(id);
                Some(News::Dropped(dropped_stream(&note, stream)))
            }
            (Topic::Status(stream), Note::Status { status }) => Some(News::Status { stream, status }),
            (Topic::Checkpoint(id), Note::Checkpoint(note)) => {
                index.checkpoint(seq, id, note);
                None
            }
            // Further messages of frames and of checkpoints, and the key.
            _ => None,
        }
    }

    /// The stream of a message; `None` if this version does not know its runner.
    fn stream(&self, id: StreamId, header: &Header) -> Option<Arc<Stream>> {
        let stream = stream_of(header);
        if stream.is_none() {
            self.counts.unread.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(stream = %id.1, runner = header.provider, "this version does not know the runner of a stream");
        }
        stream
    }
}
