//! The runs of an exported file as a Markdown document.
//!
//! Input: runs. Output: one document of their conversations. Never: a longer document than the limit allows, apart from the last block;
//! a part that is left out without saying so.

use crate::log::LogError;
use crate::render::markdown::Document;
use crate::runs::{Entry, Runs};
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

/// How many frames are read at a time.
const AT_ONCE: usize = 256;

/// A document that is being written.
pub(super) struct Markdown {
    text: String,
    max_bytes: usize,
    known: HashSet<Uuid>,
    left_out: Vec<String>,
}

impl Markdown {
    /// An empty document of at most about `max_bytes` bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { text: String::new(), max_bytes, known: HashSet::new(), left_out: Vec::new() }
    }

    /// Adds a run, unless it is there already.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn add(&mut self, runs: &Runs, entry: &Arc<Entry>) -> Result<(), LogError> {
        let run = entry.stream.id;
        if !self.known.insert(run) {
            return Ok(());
        }
        let end = entry.tail().borrow().frames;
        let mut at = entry.gone().map_or(0, |gone| gone.frames);
        let mut document = Document::default();
        if at > 0 {
            self.say(run, format!("the first {at} frames are missing; the log no longer has them"));
        }
        while at < end && self.text.len() < self.max_bytes {
            let frames = runs.log().read(entry.id(), at, AT_ONCE).await?;
            let Some(last) = frames.last() else { break };
            for frame in &frames {
                if self.text.len() >= self.max_bytes {
                    break;
                }
                document.frame(frame, &mut self.text);
                at = frame.seq + 1;
            }
            at = at.min(last.seq + 1);
        }
        document.finish(&mut self.text);
        if at < end {
            let (left, limit) = (end - at, self.max_bytes);
            self.say(run, format!("the last {left} frames are left out; the limit is {limit} bytes (--max-bytes)"));
        }
        Ok(())
    }

    /// Says in the document and on stderr that something is missing.
    fn say(&mut self, run: Uuid, what: String) {
        let line = format!("run {run}: {what}");
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.text.push_str(&format!("{gap}> {line}\n\n"));
        self.left_out.push(line);
    }

    /// What is left out, as lines for people.
    pub(super) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
