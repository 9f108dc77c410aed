//! The decoder: tells the surfaces apart and passes each record to the module for its type.
//!
//! Input: records. Output: each record assigned to its run, or to its session's thread stream. Never: a record of an unknown type
//! treated as an error of the stream; it is kept, with a note.

use super::chat::{self, Chat};
use super::run::Run;
use super::{document, time_of};
use crate::decode::{Decoder, Record};
use crate::json::Kind;
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;

/// Decodes all surfaces of Gemini CLI.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    /// The run of the records. An input has only one open run: no record of the stream says to which run it belongs.
    run: Option<Run>,
    /// What a chat file has said so far.
    pub(super) chat: Chat,
}

impl Decoder for Gemini {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        if let Some(ms) = time_of(record) {
            normalizer.set_time(ms);
        }
        if record.json.kind() == Kind::Object {
            let fields = &record.fields;
            if chat::is_entry(fields) {
                self.entry(fields, normalizer);
            } else if document::is_document(fields) {
                self.document(fields, normalizer);
            } else {
                self.stream_record(fields, normalizer);
            }
        }
        let stream = self.run(normalizer).map(|run| run.key).unwrap_or_else(|| normalizer.thread());
        normalizer.record_on(stream);
    }

    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        if self.run.as_ref().is_some_and(|open| open.key == run) {
            self.end_run(end, normalizer);
        } else {
            normalizer.end_run(run, end);
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        if self.run(normalizer).is_some_and(|run| run.is_of_file) {
            self.end_file_run(normalizer);
        } else {
            self.cut_text(normalizer);
        }
    }
}

impl Gemini {
    /// The open run.
    pub(super) fn run(&mut self, normalizer: &Normalizer) -> Option<&mut Run> {
        if self.run.as_ref().is_some_and(|run| !normalizer.is_open(run.key)) {
            self.run = None;
        }
        self.run.as_mut()
    }

    /// The open run; opens one if there is none, because the input begins late.
    pub(super) fn ensure(&mut self, normalizer: &mut Normalizer) -> &mut Run {
        if self.run(normalizer).is_none() {
            self.begin("", normalizer);
        }
        self.run.get_or_insert_with(|| Run::new(normalizer.open_run("")))
    }

    /// Begins a run. An open one ends first: its end was lost.
    pub(super) fn begin(&mut self, input: &str, normalizer: &mut Normalizer) {
        let before = self.run(normalizer).map(|run| (run.key, run.is_of_file));
        let key = normalizer.open_run(input);
        normalizer.record_on(key);
        match before {
            Some((_, true)) => self.end_file_run(normalizer),
            Some(_) => {
                let end =
                    RunEnd::interrupted(STREAM_ENDED, "another run began before the runner said how this one ended");
                self.end_run(end, normalizer);
            }
            None => {}
        }
        self.run = Some(Run::new(key));
    }

    /// The main thread of the open run.
    pub(super) fn main(&mut self, normalizer: &mut Normalizer) -> Target {
        Target::main(self.ensure(normalizer).key)
    }

    /// Ends the open run and forgets its state. Text that is still open was cut off.
    pub(super) fn end_run(&mut self, end: RunEnd, normalizer: &mut Normalizer) {
        self.cut_text(normalizer);
        if let Some(run) = self.run.take() {
            normalizer.end_run(run.key, end);
        }
    }
}
