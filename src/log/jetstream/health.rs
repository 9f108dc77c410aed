//! Whether the stream of frames at the servers still is what this proxy has followed.
//!
//! Input: what the servers say of the stream. Output: whether there are messages that were not heard; the damage, if there is any. Never: a
//! stream taken for damaged because a server lags behind, or does not answer.

use super::JetstreamLog;
use super::engine::{Failure, NOT_FOUND, number};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of the stream.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// When the stream was made, as the servers spell it.
    created: Option<String>,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Whole,
    /// The servers say that there is no such stream. They may say so while they start.
    Missing,
    /// Messages that were heard are lost. Only a new process can follow what is there now.
    Lost(String),
}

impl Health {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wrong with the stream, if anything is.
    pub(super) fn damage(&self) -> Option<String> {
        match &self.known().state {
            State::Whole => None,
            State::Missing => Some("the servers have no such stream".to_owned()),
            State::Lost(why) => Some(format!("{why}; restart the proxies")),
        }
    }

    /// Whether messages that were heard are lost.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.known().state, State::Lost(_))
    }

    /// Takes in what the servers say of the stream, of which everything up to `heard` was heard. Returns the sequence of its last message.
    fn take_in(&self, info: &Value, heard: u64, replicas: usize) -> Result<u64, Failure> {
        let last = number(info, "/state/last_seq")?;
        let created = info.get("created").and_then(Value::as_str).unwrap_or_default();
        // Without a leader, any server answers, and may lag behind.
        let leader = info.pointer("/cluster/leader").and_then(Value::as_str).unwrap_or_default();
        let is_certain = replicas == 1 || !leader.is_empty();
        let mut known = self.known();
        let is_same = known.created.get_or_insert_with(|| created.to_owned()) == created;
        if !is_same {
            known.state = State::Lost("the stream was deleted and made anew".to_owned());
        } else if last < heard && is_certain {
            known.state = State::Lost(format!("the stream ends at message {last}, but had {heard}"));
        } else if known.state == State::Missing {
            known.state = State::Whole;
        }
        Ok(last)
    }
}

impl JetstreamLog {
    /// Asks the servers for the state of the stream. Returns whether there are messages that were not heard.
    pub(super) async fn look(&self) -> Result<bool, Failure> {
        let (name, heard) = (self.engine.names.frames_stream(), self.heard());
        let before = self.health.damage();
        let looked = match self.engine.api(&format!("STREAM.INFO.{name}"), &Value::Null).await {
            Ok(info) => self.health.take_in(&info, heard, self.engine.replicas).map(|last| last > heard),
            Err(Failure::Refused(error)) if error.code == NOT_FOUND => {
                let mut known = self.health.known();
                if known.state == State::Whole {
                    known.state = State::Missing;
                }
                Ok(false)
            }
            Err(failure) => Err(failure),
        };
        let damage = self.health.damage().filter(|damage| before.as_ref() != Some(damage));
        if let Some(damage) = damage {
            tracing::error!(stream = name, damage, "the stream of frames is damaged");
        }
        looked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn info(created: &str, last: u64, leader: &str) -> Value {
        json!({"created": created, "state": {"last_seq": last}, "cluster": {"leader": leader}})
    }

    #[test]
    fn only_a_leader_can_say_that_messages_are_lost() {
        let health = Health::default();
        assert_eq!(health.take_in(&info("monday", 7, "a"), 7, 3).unwrap(), 7);
        health.take_in(&info("monday", 5, ""), 7, 3).unwrap();
        assert_eq!(health.damage(), None, "a server that lags behind");
        health.take_in(&info("monday", 6, "a"), 7, 3).unwrap();
        assert!(health.is_lost() && health.damage().unwrap().contains("ends at message 6, but had 7"));
        // What was lost does not come back.
        health.take_in(&info("monday", 9, "a"), 7, 3).unwrap();
        assert!(health.is_lost());
    }

    #[test]
    fn a_stream_that_was_made_anew_is_another_one_and_a_missing_one_may_come_back() {
        let health = Health::default();
        health.take_in(&info("monday", 7, "a"), 7, 1).unwrap();
        health.known().state = State::Missing;
        assert_eq!(health.damage().as_deref(), Some("the servers have no such stream"));
        health.take_in(&info("monday", 8, "a"), 7, 1).unwrap();
        assert_eq!(health.damage(), None);
        health.take_in(&info("tuesday", 99, "a"), 8, 1).unwrap();
        assert!(health.is_lost() && health.damage().unwrap().contains("made anew"));
        assert!(health.take_in(&json!({}), 8, 1).is_err());
    }
}
