//! Commands that outlive the call that started them.
//!
//! Input: outputs that say that a command still runs, and the calls that write to it. Output: the command's end with its whole
//! output, once a later output has its exit code. Never: a command ended that an item has ended; output without a bound.

use super::super::items::end_command;
use super::super::thread_context::ThreadContext;
use super::report::Report;
use crate::frame::{OutputStream, SharedStr};
use crate::json::Object;
use std::borrow::Cow;

/// How many bytes of a running command's output are kept. More is reported at once.
const KEPT: usize = 1 << 18;

/// The sessions of a turn.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The running commands, oldest first.
    commands: Vec<Command>,
    /// Calls that write to a session and await their output, oldest first: the call's id, and the session.
    writes: Vec<(SharedStr, String)>,
}

#[derive(Debug)]
struct Command {
    session: String,
    call_id: SharedStr,
    /// What it wrote so far. It is reported with the end, because an item may have the whole output.
    output: String,
}

impl Command {
    fn append(&mut self, piece: &str, context: &mut ThreadContext<'_>) {
        self.output.push_str(piece);
        if self.output.len() > KEPT {
            context.stream(&self.call_id, &std::mem::take(&mut self.output));
        }
    }

    /// Reports the output of a command whose end is not known, unless an item has ended it.
    fn give_up(self, context: &mut ThreadContext<'_>) {
        if context.runs(&self.call_id) {
            context.output(&self.call_id, OutputStream::Stdout, self.output);
        }
    }
}

impl Sessions {
    /// Notes that a call's command still runs.
    pub(super) fn yielded(&mut self, session: &str, call_id: &str, output: &str, context: &mut ThreadContext<'_>) {
        self.commands.retain(|command| command.session != session);
        if self.commands.len() >= context.normalizer.most_open() {
            self.commands.remove(0).give_up(context);
        }
        let mut command =
            Command { session: session.to_owned(), call_id: SharedStr::from(call_id), output: String::new() };
        command.append(output, context);
        self.commands.push(command);
    }

    /// Notes a call that writes to a session; `arguments` is its JSON.
    pub(super) fn written(&mut self, call_id: &str, arguments: &str, context: &ThreadContext<'_>) {
        let session = Object::parse(arguments)
            .and_then(|fields| fields.some("session_id").map(|id| id.text().trim_matches('"').to_owned()));
        let Some(session) = session else { return };
        if self.writes.len() >= context.normalizer.most_open() {
            self.writes.remove(0);
        }
        self.writes.push((SharedStr::from(call_id), session));
    }

    /// Handles the output of a call that wrote to a session. It may have the end of the session's command.
    pub(super) fn answered(&mut self, call_id: &str, report: &Report<'_>, context: &mut ThreadContext<'_>) {
        let Some(at) = self.writes.iter().position(|(write, _)| **write == *call_id) else { return };
        let (_, session) = self.writes.remove(at);
        let Some(at) = self.commands.iter().position(|command| command.session == session) else { return };
        match report {
            Report::Running { output, .. } => {
                if let Some(command) = self.commands.get_mut(at) {
                    command.append(output, context);
                }
            }
            Report::Exited { code, output, .. } => {
                let mut command = self.commands.remove(at);
                if context.runs(&command.call_id) {
                    command.append(output, context);
                    context.output(&command.call_id, OutputStream::Stdout, command.output);
                    end_command(context, &command.call_id, Cow::Borrowed(""), None, Some(*code), None);
                }
            }
            Report::Other => {}
        }
    }

    /// Handles the end of the turn: reports what the commands wrote that still run.
    pub(super) fn end_of_turn(&mut self, context: &mut ThreadContext<'_>) {
        self.writes.clear();
        for command in self.commands.drain(..) {
            command.give_up(context);
        }
    }
}
