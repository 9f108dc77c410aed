//! The text of a run as it comes, and the questions of its runner.
//!
//! Input: frames; keys, if standard input and output are a terminal. Output: text, line by line; answers to the runner. Never: a terminal that
//! stays changed.

use crate::cli::asking::{Act, Asking};
use crate::cli::text::{self, View};
use crate::platform::keys::Keys;
use crate::platform::suspension::Suspensions;
use crate::runs::FrameFollower;
use crate::upstream::{Handles, MessageError};
use anyhow::Context;
use framegate_translators::frame::{Frame, SharedStr};
use framegate_translators::host::HostMessage;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use uuid::Uuid;

/// Who answers, in the frames.
const BY: &str = "terminal";

/// Whether a user can answer questions here.
pub(super) fn can_ask() -> bool {
    text::is_live() && io::stdin().is_terminal()
}

/// What became of an answer.
struct Answered {
    run: Uuid,
    approval: SharedStr,
    result: Result<(), MessageError>,
}

pub(super) struct Show {
    view: View,
    keys: Option<Keys>,
    asking: Asking,
    handles: Arc<Handles>,
}

impl Show {
    /// `handles` take the answers, if a user can give any.
    ///
    /// # Errors
    /// Keys cannot be read.
    pub(super) fn new(view: View, handles: Arc<Handles>) -> anyhow::Result<Self> {
        let keys = if can_ask() { Some(Keys::open().context("cannot read keys")?) } else { None };
        Ok(Self { view, keys, asking: Asking::default(), handles })
    }

    /// Shows the frames until their end.
    ///
    /// # Errors
    /// Frames cannot be read, or text cannot be written.
    pub(super) async fn follow(mut self, follower: &mut FrameFollower) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(text::TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        // Without keys, Ctrl-Z stops the process as usual.
        let mut suspensions = match self.keys {
            Some(_) => Some(Suspensions::listen().context("cannot listen for signals")?),
            None => None,
        };
        let (answers, mut answered) = mpsc::channel::<Answered>(8);
        let is_live = self.view.is_live();
        loop {
            let keys = async {
                match &mut self.keys {
                    Some(keys) => keys.next().await,
                    None => None,
                }
            };
            let suspended = async {
                match &mut suspensions {
                    Some(suspensions) => suspensions.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                frames = follower.next() => match frames? {
                    Some(frames) => {
                        frames.iter().for_each(|frame| self.frame(frame));
                        if is_live { self.draw(false)? } else { self.view.flush().context("cannot write")? }
                    }
                    None => return self.view.finish().context("cannot write"),
                },
                Some(key) = keys => self.key(key, &answers)?,
                Some(answer) = answered.recv() => self.answered(&answer)?,
                _ = ticks.tick(), if is_live => self.draw(true)?,
                () = suspended => {
                    self.view.stop_here(self.keys.as_ref())?;
                    self.draw(true)?;
                }
            }
        }
    }

    fn frame(&mut self, frame: &Frame) {
        if self.keys.is_some() && self.asking.frame(frame) {
            self.view.message("too many questions wait here; another one is left to the rules and the timeout");
        }
        self.view.frame(frame);
    }

    fn draw(&mut self, is_tick: bool) -> anyhow::Result<()> {
        let below = self.asking.lines();
        // A new question is shown at once.
        let is_due = is_tick || !below.is_empty();
        self.view.draw(&below, is_due).context("cannot write")
    }

    fn key(&mut self, key: u8, answers: &mpsc::Sender<Answered>) -> anyhow::Result<()> {
        match self.asking.key(key) {
            Act::Nothing => return Ok(()),
            Act::Redraw => {}
            Act::Skip(tool) => {
                self.view.message(&format!("the question about {tool} is left to the rules and the timeout"));
            }
            Act::Send { run, approval, answer } => {
                let (handle, answers) = (self.handles.find(run), answers.clone());
                tokio::spawn(async move {
                    let result = match handle {
                        Some(handle) => {
                            let message = HostMessage::Answer { approval_id: approval.clone(), answer };
                            handle.send(message, BY).await
                        }
                        None => Err(MessageError::Gone),
                    };
                    // The run may have ended.
                    let _ = answers.send(Answered { run, approval, result }).await;
                });
            }
        }
        self.draw(true)
    }

    /// Reports an answer that was not accepted. One that was is an event, which is shown as such.
    fn answered(&mut self, answer: &Answered) -> anyhow::Result<()> {
        let Answered { run, approval, result } = answer;
        match result {
            Ok(()) | Err(MessageError::Answered(_)) => self.asking.settled(*run, approval),
            Err(error) => {
                self.asking.not_sent(*run, approval);
                self.view.message(&format!("the answer was not accepted: {error}"));
            }
        }
        self.draw(true)
    }
}
