//! Handles the output of a runner in its conversation.
//!
//! Input: the runner's records, and the frames made of them. Output: waiting questions, and the runs and sessions that accept
//! messages. Never: a question left open after the runner resolved it; an answer sent to a settled question.

use super::questions::Question;
use super::{Conversation, MAX_SESSIONS, MessageError, Run, Session, Then};
use crate::ingest::Listener;
use crate::log::{StreamId, stream_id};
use framegate_translators::decode::Record;
use framegate_translators::frame::{
    ApprovalResolved, Body, Decision, EndReason, Frame, StreamKind, is_interrupted_by_person,
};
use framegate_translators::host::SETTLED;
use framegate_translators::pipeline::is_last;
use std::collections::VecDeque;
use std::sync::Arc;

impl Listener for Conversation {
    fn record(&mut self, record: &Record<'_>) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.receive(record);
        }
    }

    /// Registers a run before it becomes visible, so that every client that sees it can send it messages. Also, a runner may
    /// act on an answer before the write of that answer has completed. The runner's frame then becomes that answer.
    fn amend(&mut self, frames: &mut [Frame]) {
        for frame in frames.iter().filter(|frame| matches!(frame.body, Body::SessionStarted { .. })) {
            self.run_began(frame);
        }
        for frame in frames.iter_mut() {
            self.name_interrupter(frame);
        }
        let underway = self.underway.as_ref().and_then(|underway| underway.then.as_ref()?.answered.as_ref());
        let Some((stream, ours)) = underway else { return };
        for frame in frames.iter_mut().filter(|frame| stream_id(frame) == *stream) {
            if let Body::ApprovalResolved(theirs) = &mut frame.body
                && theirs.approval_id == ours.approval_id
                && theirs.by.is_none()
                // What the runner reports is at most inferred from the outcome of the call, so our answer is more precise.
                // A cancellation is the runner's own decision, unless it only means that the question is settled.
                && (theirs.decision != Decision::Cancelled || theirs.reason.as_deref() == Some(SETTLED))
            {
                **theirs = ours.clone();
            }
        }
    }

    fn frames(&mut self, frames: &[Arc<Frame>]) {
        for frame in frames {
            let stream = stream_id(frame);
            match &frame.body {
                Body::UserMessage(message) if frame.parent_tool_id.is_none() => {
                    if let Some(run) = self.runs.iter_mut().find(|run| (StreamKind::Session, run.id) == stream)
                        && std::mem::replace(&mut run.told_prompt, true)
                    {
                        self.prompts.joined(&message.text);
                    }
                }
                Body::ApprovalRequested(request) => {
                    let is_new = self.questions.add(stream, Question::new(request));
                    self.meter.asked(u64::from(is_new));
                }
                Body::ApprovalResolved(answer) => {
                    let is_ours = self.is_underway(stream, answer);
                    if self.questions.settle(stream, &answer.approval_id) {
                        self.meter.answered(answer, is_ours);
                    }
                    self.overtaken(stream, &answer.approval_id);
                }
                _ => {}
            }
            if is_last(frame) {
                self.runs.retain(|run| (StreamKind::Session, run.id) != stream);
                self.prompts.run_ended();
                self.meter.unanswered(self.questions.forget(stream));
            }
        }
        self.meter.frames(frames);
    }
}

impl Conversation {
    /// Says who interrupted a run through the proxy. Runners do not know by whom.
    fn name_interrupter(&self, frame: &mut Frame) {
        let stream = stream_id(frame);
        let Body::SessionEnded(end) = &mut frame.body else { return };
        let run = self.runs.iter().find(|run| (StreamKind::Session, run.id) == stream);
        let is_interrupted = end.error_code.as_deref().is_none_or(is_interrupted_by_person);
        if let Some(by) = run.and_then(|run| run.interrupted_by.as_deref())
            && end.reason == EndReason::Interrupted
            && is_interrupted
        {
            end.message = Some(format!("{by} interrupted the run"));
        }
    }

    fn run_began(&mut self, frame: &Frame) {
        self.prompts.run_began();
        let (id, session) = (frame.stream.id, &frame.stream.session);
        let entered = self.handles.enter(id, self.handle.clone());
        self.runs.push(Run {
            id,
            session: session.name.clone(),
            told_prompt: false,
            interrupted_by: None,
            _entered: entered,
        });
        let known = self.sessions.iter().position(|known| known.id == session.id);
        let entry = match known.and_then(|at| self.sessions.remove(at)) {
            Some(entry) => entry,
            None => {
                let entered = self.handles.enter_session(session.id, self.handle.clone());
                Session { id: session.id, name: session.name.clone(), _entered: entered }
            }
        };
        self.sessions.push_back(entry);
        if self.sessions.len() > MAX_SESSIONS {
            self.sessions.pop_front();
        }
    }

    /// Whether a decision is the one being passed on to the runner.
    fn is_underway(&self, stream: StreamId, answer: &ApprovalResolved) -> bool {
        let ours = self.underway.as_ref().and_then(|underway| underway.then.as_ref()?.answered.as_ref());
        ours.is_some_and(|(of, ours)| {
            let is_same = ours.approval_id == answer.approval_id && ours.by == answer.by;
            *of == stream && is_same && ours.decision == answer.decision
        })
    }

    /// Drops the queued answers to a question that accepts none any more.
    fn overtaken(&mut self, stream: StreamId, approval_id: &str) {
        let is_its =
            |then: &Then| matches!(&then.answered, Some((of, it)) if *of == stream && *it.approval_id == *approval_id);
        let mut kept = VecDeque::with_capacity(self.outbox.len());
        for mut queued in self.outbox.drain(..) {
            match queued.then.take_if(|then| is_its(then)) {
                None => kept.push_back(queued),
                Some(Then { done: Some(done), .. }) => {
                    let _ = done.send(Err(MessageError::Answered(approval_id.to_owned())));
                }
                Some(_) => {}
            }
        }
        self.outbox = kept;
    }
}
