//! Writing messages that must follow a certain message of their subject.
//!
//! Input: one message, or several that are written as a whole. Output: the sequence of the first one, once the servers have
//! stored them; or that another message came first. Never: a message stored twice, however often it is sent; the next message of a
//! subject before the outcome of the last one is known.
//!
//! Each message names the sequence of the last message of its subject, and has an id. If an answer is lost, the same message is sent again: the servers
//! refuse it or call it a duplicate if they have it. The leader then says which message is the last one.

use super::engine::{ApiError, Engine, Failure, NOT_FOUND, PAUSE, read};
use crate::clock::{Clock, Moment};
use async_nats::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

/// The header with a message's id.
const ID: &str = "Nats-Msg-Id";

/// The most messages that are written as a whole. The servers' default limit is 1000.
pub(super) const MOST_AT_ONCE: usize = 900;

/// The id of a message that was not sent before. Two messages must not share one, even if they have the same place in a subject:
/// the first may be stored although its sender got no answer, and would then be taken for the second.
pub(super) fn new_message_id() -> String {
    Clock::System.new_id().as_simple().to_string()
}

/// A message to be stored.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) subject: String,
    /// The sequence of the last message of the subject, 0 if it has none; `None` if the message follows one of the same batch,
    /// or may follow any.
    pub(super) after: Option<u64>,
    /// Identifies the message among all that were ever sent.
    pub(super) id: Option<String>,
    pub(super) note: Option<String>,
    /// Further headers.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) payload: Bytes,
}

impl Outgoing {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(note) = &self.note {
            headers.insert(super::note::NOTE, note.as_str());
        }
        if let Some(id) = &self.id {
            headers.insert(ID, id.as_str());
        }
        if let Some(after) = self.after {
            headers.insert("Nats-Expected-Last-Subject-Sequence", after.to_string());
        }
        for (name, value) in &self.headers {
            headers.insert(*name, value.as_str());
        }
        headers
    }
}

/// Why messages were not stored.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Another message came first. The last message of the subject, if there is any.
    Overtaken(Option<LastMessage>),
    /// The stream is full.
    Full(String),
    /// It is not known whether they were stored.
    Unknown(Failure),
    /// The servers refuse them.
    Denied(Failure),
}

/// The last message of a subject.
#[derive(Clone, Debug)]
pub(super) struct LastMessage {
    pub(super) seq: u64,
    pub(super) id: Option<String>,
}

#[derive(Deserialize)]
struct Ack {
    error: Option<ApiError>,
    seq: Option<u64>,
}

impl Engine {
    /// Stores messages, all or none. `stream` is the stream that has them. Returns the sequence of the first one; the others
    /// follow it.
    pub(super) async fn publish(&self, stream: &str, messages: &[Outgoing]) -> Result<u64, Refusal> {
        self.check_writable().map_err(Refusal::Denied)?;
        let (begun, mut pause) = (Moment::now(), PAUSE.0);
        loop {
            let failure = match self.send(messages).await {
                Ok(last) => return Ok((last + 1).saturating_sub(messages.len() as u64)),
                Err(failure) => failure,
            };
            let failure = match failure {
                Failure::Refused(error) if is_overtaken(&error) => match self.settle(stream, messages).await {
                    Ok(Settled::Stored(first)) => return Ok(first),
                    Ok(Settled::Overtaken(last)) => return Err(Refusal::Overtaken(last)),
                    Ok(Settled::Absent) => Failure::Silent(error.to_string()),
                    Err(failure) => failure,
                },
                Failure::Refused(error) if is_full(&error) => return Err(Refusal::Full(error.description)),
                // The servers still work on the same message; too many batches are open, or this one was not complete in time.
                Failure::Refused(error)
                    if matches!(error.err_code, 10158 | 10176 | 10210 | 10211) || error.is_passing() =>
                {
                    Failure::Silent(error.to_string())
                }
                failure @ (Failure::Silent(_) | Failure::Undelivered) => failure,
                denied => return Err(Refusal::Denied(denied)),
            };
            if begun.elapsed() + pause > self.patience {
                return Err(Refusal::Unknown(failure));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// Sends the messages once. Returns the sequence of the last one.
    pub(super) async fn send(&self, messages: &[Outgoing]) -> Result<u64, Failure> {
        let [rest @ .., last] = messages else { return Err(Failure::Odd("no messages".to_owned())) };
        if rest.is_empty() {
            return self.sent(last, last.headers()).await;
        }
        let batch = Clock::System.new_id().as_simple().to_string();
        let mut number = 0;
        let mut headers = |message: &Outgoing| {
            number += 1;
            let mut headers = message.headers();
            headers.insert("Nats-Batch-Id", batch.as_str());
            headers.insert("Nats-Batch-Sequence", number.to_string());
            headers
        };
        for (nth, message) in rest.iter().enumerate() {
            let headers = headers(message);
            if nth == 0 {
                // The first message opens the batch, and its answer is empty unless the batch is refused.
                let answer = self.ask(message.subject.clone(), Some(headers), message.payload.clone()).await?;
                if !answer.payload.is_empty() {
                    sequence(&answer.payload)?;
                }
                continue;
            }
            let sent =
                self.client.publish_with_headers(message.subject.clone(), headers, message.payload.clone()).await;
            sent.map_err(|error| Failure::Silent(error.to_string()))?;
        }
        let mut headers = headers(last);
        headers.insert("Nats-Batch-Commit", "1");
        self.sent(last, headers).await
    }

    async fn sent(&self, message: &Outgoing, headers: HeaderMap) -> Result<u64, Failure> {
        let answer = self.ask(message.subject.clone(), Some(headers), message.payload.clone()).await?;
        sequence(&answer.payload)
    }

    /// Finds out whether messages that were refused are stored already. They are stored as a whole, so one with a guard speaks
    /// for all.
    async fn settle(&self, stream: &str, messages: &[Outgoing]) -> Result<Settled, Failure> {
        let Some((nth, guarded)) = messages.iter().enumerate().rev().find(|(_, message)| message.id.is_some()) else {
            return Ok(Settled::Absent);
        };
        // The last message of the subject in the batch has the id, or follows the one that has it.
        let behind = messages.iter().skip(nth + 1).filter(|other| other.subject == guarded.subject).count() as u64;
        let last = self.last_of(stream, &guarded.subject).await?;
        let seq = last.as_ref().map_or(0, |last| last.seq);
        let is_ours = match (&last, behind) {
            (Some(last), 0) => last.id == guarded.id,
            // The message with the id is `behind` messages before the last one.
            (Some(last), behind) => self.id_at(stream, last.seq.saturating_sub(behind)).await? == guarded.id,
            (None, _) => false,
        };
        if is_ours {
            return Ok(Settled::Stored((seq - behind).saturating_sub(nth as u64)));
        }
        // The servers also refuse a message that would be right a moment later, for example while they elect a leader.
        let mut is_free = guarded.after.is_none_or(|after| after == seq);
        for other in messages.iter().filter(|other| other.subject != guarded.subject) {
            if let Some(after) = other.after {
                let last = self.last_of(stream, &other.subject).await?;
                is_free &= last.as_ref().map_or(0, |last| last.seq) == after;
                if !is_free {
                    return Ok(Settled::Overtaken(last));
                }
            }
        }
        Ok(if is_free { Settled::Absent } else { Settled::Overtaken(last) })
    }

    /// The last message of a subject, from the stream's leader.
    pub(super) async fn last_of(&self, stream: &str, subject: &str) -> Result<Option<LastMessage>, Failure> {
        let got = self.message(stream, &json!({"last_by_subj": subject})).await?;
        Ok(got.map(|(seq, headers, _)| LastMessage { seq, id: header(&headers, ID) }))
    }

    async fn id_at(&self, stream: &str, seq: u64) -> Result<Option<String>, Failure> {
        Ok(self.message(stream, &json!({"seq": seq})).await?.and_then(|(_, headers, _)| header(&headers, ID)))
    }

    /// A message with its sequence, headers and content, from the stream's leader.
    pub(super) async fn message(&self, stream: &str, which: &Value) -> Result<Option<(u64, String, Vec<u8>)>, Failure> {
        let answer = match self.api(&format!("STREAM.MSG.GET.{stream}"), which).await {
            Err(Failure::Refused(error)) if error.code == NOT_FOUND => return Ok(None),
            answer => answer?,
        };
        let message: Got = read(answer.to_string().as_bytes())?;
        let decoded = |text: &str| STANDARD.decode(text).map_err(|error| Failure::Odd(error.to_string()));
        let headers = String::from_utf8_lossy(&decoded(&message.message.hdrs)?).into_owned();
        Ok(Some((message.message.seq, headers, decoded(&message.message.data)?)))
    }
}

#[derive(Deserialize)]
struct Got {
    message: GotMessage,
}

#[derive(Deserialize)]
struct GotMessage {
    seq: u64,
    #[serde(default)]
    hdrs: String,
    #[serde(default)]
    data: String,
}

/// A header in the text of all headers.
pub(super) fn header(headers: &str, name: &str) -> Option<String> {
    let mut lines = headers.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| *found == name).map(|(_, value)| value.trim().to_owned())
}

enum Settled {
    /// They are stored; the first one has this sequence.
    Stored(u64),
    /// Another message came first.
    Overtaken(Option<LastMessage>),
    /// They are not stored, and may be sent again.
    Absent,
}

fn sequence(payload: &[u8]) -> Result<u64, Failure> {
    match read(payload)? {
        Ack { error: Some(error), .. } => Err(Failure::Refused(error)),
        Ack { seq: Some(seq), .. } => Ok(seq),
        Ack { .. } => Err(Failure::Odd("an answer without the sequence of the message".to_owned())),
    }
}

/// Whether the servers refuse a message because of what its subject has already: a wrong last sequence, a message under way in
/// this subject, or an id that they know.
fn is_overtaken(error: &ApiError) -> bool {
    matches!(error.err_code, 10071 | 10164 | 10201)
}

fn is_full(error: &ApiError) -> bool {
    // 10023: the server has no room at all. 10077 is also the code of a message that is too large.
    error.err_code == 10023
        || error.err_code == 10047
        || (error.err_code == 10077 && error.description.contains("maximum"))
}
