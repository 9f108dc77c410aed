//! A scripted agent that speaks `stream-json` in both directions, as the program of the preset does: partial messages, permission requests,
//! interruptions, further prompts.
//!
//! Input: lines of a host. Output: records, one at a time, with the pause after each. Never: a call without a result; an open
//! message after the end of a turn; more than a bounded number of waiting prompts.

mod records;
mod script;

use super::dialogue::REFUSED;
use super::user::Content;
use crate::json::{Object, value};
use crate::runners::{DemoAgent, DemoStart, DemoStep};
use records::{Block, Ending, Figures, Records, Words};
use script::{Call, Decision, Mode, Script, Stage, words};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The pause after a piece of text in milliseconds.
const PACE_MS: u64 = 25;
/// The same for a slow answer, whose pieces are single words.
const SLOW_MS: u64 = 100;
/// The pause before the result of a call, and before the second try of a request that fails.
const WORK_MS: u64 = 40;
/// The words in a piece.
const PIECE_WORDS: usize = 3;
/// The characters in a piece of a call's arguments.
const PIECE_CHARS: usize = 24;
/// The maximum number of prompts that wait for their turn.
const MAX_PROMPTS: usize = 16;

/// The agent.
#[derive(Debug)]
pub(super) struct Demo {
    records: Records,
    mode: Mode,
    script: Script,
    out: VecDeque<(Value, u64)>,
    prompts: VecDeque<String>,
    turn: Option<Turn>,
    /// Tools that a rule allows from now on.
    allowed: Vec<&'static str>,
    /// The words of the conversation so far, which each message reads.
    conversation: u64,
    has_ended: bool,
}

/// The work on a prompt.
#[derive(Debug, Default)]
struct Turn {
    stages: VecDeque<Stage>,
    acts: VecDeque<Act>,
    open: Option<OpenMessage>,
    /// A call without a result.
    call: Option<PendingCall>,
    figures: Figures,
    answer: String,
}

/// What happens next within a stage.
#[derive(Debug)]
enum Act {
    Begin,
    Block(Block),
    Piece(String, u64),
    EndBlock,
    End(&'static str),
    Call(Stage),
    Retry,
    Fail,
}

#[derive(Debug)]
struct OpenMessage {
    id: String,
    /// The number of blocks that have begun.
    blocks: u32,
    /// The open block, and what was said of it.
    block: Option<(Block, String)>,
    words: Words,
}

#[derive(Debug)]
struct PendingCall {
    call: Call,
    /// The stage and the permission request that waits for its answer.
    asked: Option<(Stage, String)>,
}

impl Demo {
    pub(super) fn new(start: DemoStart) -> Self {
        let mode = Mode::named(start.mode.as_deref().unwrap_or_default());
        Self {
            script: Script::new(start.session.clone(), start.model, mode),
            records: Records::new(start.session, start.cwd, start.seed),
            mode,
            out: VecDeque::new(),
            prompts: VecDeque::new(),
            turn: None,
            allowed: Vec::new(),
            conversation: 0,
            has_ended: false,
        }
    }

    fn write(&mut self, record: Value, pause_ms: u64) {
        if let Some(turn) = &mut self.turn {
            turn.figures.paused_ms += pause_ms;
        }
        self.out.push_back((record, pause_ms));
    }

    fn begin(&mut self, prompt: &str) {
        self.conversation += words(prompt);
        let stages = self.script.begin(prompt).into();
        self.turn = Some(Turn { stages, figures: Figures { turns: 1, ..Figures::default() }, ..Turn::default() });
        let init = self.records.init(self.mode.name());
        self.write(init, 0);
    }

    /// The acts of a stage.
    fn acts(&mut self, stage: Stage) -> VecDeque<Act> {
        if stage == Stage::Fail {
            return [Act::Retry, Act::Fail].into();
        }
        let mut acts = VecDeque::from([Act::Begin]);
        let (thought, text) = (self.script.thought(stage), self.script.text(stage));
        let said = [Block::Thinking(thought), Block::Text(text)];
        let id = format!("toolu_{}", self.records.id().simple());
        let call = self.script.call(stage, id).map(Block::Call);
        let reason = if call.is_some() { "tool_use" } else { "end_turn" };
        let has_call = call.is_some();
        for block in said.into_iter().filter(|block| !block.content().is_empty()).chain(call) {
            let pieces = pieces(&block, stage);
            acts.push_back(Act::Block(block));
            acts.extend(pieces);
            acts.push_back(Act::EndBlock);
        }
        acts.push_back(Act::End(reason));
        if has_call {
            acts.push_back(Act::Call(stage));
        }
        acts
    }

    fn act(&mut self, act: Act) {
        let Some(turn) = &mut self.turn else { return };
        match act {
            Act::Begin => {
                let (id, read) = (format!("msg_{}", self.records.id().simple()), self.conversation);
                let words = Words { read, written: 0 };
                let records = [self.records.requesting(), self.records.message_start(&id, words)];
                turn.open = Some(OpenMessage { id, blocks: 0, block: None, words });
                self.out.extend(records.map(|record| (record, 0)));
            }
            Act::Block(block) => {
                let Some(open) = &mut turn.open else { return };
                let record = self.records.block_start(open.blocks, &block);
                open.block = Some((block, String::new()));
                open.blocks += 1;
                self.write(record, 0);
            }
            Act::Piece(piece, pause_ms) => {
                let Some(open) = &mut turn.open else { return };
                let Some((block, said)) = &mut open.block else { return };
                let record = self.records.delta(open.blocks - 1, block, &piece);
                said.push_str(&piece);
                self.write(record, pause_ms);
            }
            Act::EndBlock => self.end_block(),
            Act::End(reason) => {
                let Some(open) = turn.open.take() else { return };
                self.conversation += open.words.written;
                turn.figures.words.read += open.words.read;
                turn.figures.words.written += open.words.written;
                self.out.extend(self.records.message_end(Some(reason), open.words).map(|record| (record, 0)));
            }
            Act::Call(stage) => self.call(stage),
            Act::Retry => {
                let record = self.records.retry(WORK_MS);
                self.write(record, WORK_MS);
            }
            Act::Fail => {
                let record = self.records.failure();
                self.write(record, 0);
                self.end(&Ending::Failed);
            }
        }
    }

    fn end_block(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        let Some(open) = &mut turn.open else { return };
        let Some((block, _)) = open.block.take() else { return };
        let records = [
            self.records.assistant(&open.id, &block, open.words, false),
            self.records.block_stop(open.blocks.saturating_sub(1)),
        ];
        self.out.extend(records.map(|record| (record, 0)));
        open.words.written += words(&block.content());
        match block {
            Block::Text(text) => turn.answer = text,
            Block::Call(call) => turn.call = Some(PendingCall { call, asked: None }),
            Block::Thinking(_) => {}
        }
    }

    /// Runs the call, or asks for permission first.
    fn call(&mut self, stage: Stage) {
        let Some(pending) = self.turn.as_mut().and_then(|turn| turn.call.as_mut()) else { return };
        let is_allowed =
            self.allowed.contains(&pending.call.name) || (self.mode == Mode::AcceptEdits && stage == Stage::Change);
        match stage.question().filter(|_| !is_allowed) {
            None => self.run(stage, false),
            Some(_) if self.mode == Mode::DontAsk => self.refuse("the permission mode dontAsk denies it"),
            Some(reason) => {
                let request_id = self.records.id().to_string();
                let record = self.records.ask(&request_id, &pending.call, reason);
                pending.asked = Some((stage, request_id));
                self.write(record, 0);
            }
        }
    }

    fn run(&mut self, stage: Stage, was_asked: bool) {
        let Some(turn) = &mut self.turn else { return };
        let Some(PendingCall { call, .. }) = turn.call.take() else { return };
        turn.figures.turns += 1;
        let (text, result) = self.script.pretend(stage, &call);
        if stage.question().is_some() {
            self.script.allowed(stage, &call);
        }
        self.conversation += words(&text);
        let record = self.records.tool_result(&call, &text, &result, was_asked);
        self.write(record, WORK_MS);
    }

    /// The answer to a permission request.
    fn answered(&mut self, response: &Object<'_>) {
        let request_id = response.str("request_id").unwrap_or_default();
        let pending = self.turn.as_mut().and_then(|turn| turn.call.as_mut());
        let Some(pending) = pending else { return };
        let Some((stage, _)) = pending.asked.take_if(|(_, asked)| **asked == *request_id) else { return };
        let (tool, answer) = (pending.call.name, response.object("response").unwrap_or_default());
        if answer.str("behavior").as_deref() == Some("allow") {
            if !answer.items("updatedPermissions").is_empty() {
                self.allowed.push(tool);
            }
            // The choices are in the input that the host returns.
            if let Some(input) = answer.get("updatedInput").filter(|_| stage == Stage::Choose)
                && let Ok(input) = value(input.text().as_bytes())
            {
                pending.call.input = input;
            }
            return self.run(stage, true);
        }
        if answer.bool("interrupt") == Some(true) {
            return self.interrupt();
        }
        let message = answer.str("message").or_else(|| response.str("error"));
        self.refuse(&message.unwrap_or_default());
    }

    fn refuse(&mut self, why: &str) {
        let Some(turn) = &mut self.turn else { return };
        let Some(PendingCall { call, .. }) = turn.call.take() else { return };
        turn.figures.turns += 1;
        turn.figures.denials.push(call.clone());
        let text = if why.is_empty() { REFUSED } else { why };
        let reason = if text == REFUSED { String::new() } else { why.chars().take(200).collect() };
        self.script.decided(call.name, Decision::Denied(reason));
        self.conversation += words(text);
        let record = self.records.tool_refused(&call, text, false);
        self.write(record, 0);
    }

    /// Ends the turn before it is done.
    fn interrupt(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        let call = turn.call.take();
        let in_call = call.is_some();
        let mut records = Vec::new();
        if let Some(open) = turn.open.take() {
            let block = open.block.as_ref();
            if let Some(cut) = block.and_then(|(block, said)| block.cut(said).filter(|_| !said.is_empty())) {
                records.push(self.records.assistant(&open.id, &cut, open.words, true));
            }
            if block.is_some() {
                records.push(self.records.block_stop(open.blocks.saturating_sub(1)));
            }
            records.extend(self.records.message_end(None, open.words));
        }
        if let Some(PendingCall { call, asked }) = call {
            turn.figures.turns += 1;
            records.extend(asked.map(|(_, request_id)| self.records.cancel(&request_id)));
            records.push(self.records.tool_refused(&call, "interrupted", true));
        }
        records.push(self.records.interruption(in_call));
        self.out.extend(records.into_iter().map(|record| (record, 0)));
        self.end(&Ending::Interrupted { in_call });
    }

    fn end(&mut self, ending: &Ending) {
        let Some(turn) = self.turn.take() else { return };
        let record = self.records.result(ending, &turn.figures);
        self.out.push_back((record, 0));
    }

    /// Does the next thing. Returns false if there is nothing to do before input arrives.
    fn advance(&mut self) -> bool {
        let Some(turn) = &mut self.turn else {
            let next = self.prompts.pop_front();
            next.iter().for_each(|prompt| self.begin(prompt));
            return next.is_some();
        };
        if turn.call.as_ref().is_some_and(|pending| pending.asked.is_some()) {
            if self.has_ended {
                self.refuse("the input ended before an answer");
            }
            return self.has_ended;
        }
        if let Some(act) = turn.acts.pop_front() {
            self.act(act);
        } else if let Some(stage) = turn.stages.pop_front() {
            let acts = self.acts(stage);
            if let Some(turn) = &mut self.turn {
                turn.acts = acts;
            }
        } else {
            let ending = Ending::Answered(std::mem::take(&mut turn.answer));
            self.end(&ending);
        }
        true
    }
}

impl DemoAgent for Demo {
    fn receive(&mut self, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|error| format!("a line is not UTF-8: {error}"))?;
        let fields = Object::parse(text).ok_or("a line is not a JSON object")?;
        match fields.str("type").as_deref() {
            Some("user") => {
                if self.prompts.len() == MAX_PROMPTS {
                    return Err(format!("more than {MAX_PROMPTS} prompts wait for their turn"));
                }
                let message = fields.object("message").unwrap_or_default();
                self.prompts.push_back(Content::read(message.get("content")).text);
            }
            Some("control_request") => {
                let id = fields.str("request_id").ok_or("a control request has no request_id")?;
                let request = fields.object("request").unwrap_or_default();
                match &*request.str("subtype").unwrap_or_default() {
                    "initialize" => {
                        let record = self.records.respond(&id, &json!({}));
                        self.out.push_back((record, 0));
                    }
                    "interrupt" => {
                        let record = self.records.respond(&id, &json!({"still_queued": []}));
                        self.out.push_back((record, 0));
                        self.interrupt();
                    }
                    other => {
                        let record = self.records.refuse(&id, &format!("the demo does not support {other:?}"));
                        self.out.push_back((record, 0));
                    }
                }
            }
            Some("control_response") => self.answered(&fields.object("response").unwrap_or_default()),
            other => {
                return Err(format!("the demo does not support lines of the type {:?}", other.unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn end_of_input(&mut self) {
        self.has_ended = true;
    }

    fn step(&mut self) -> DemoStep {
        loop {
            if let Some((record, pause_ms)) = self.out.pop_front() {
                return DemoStep::Line { line: format!("{record}\n").into_bytes(), pause_ms };
            }
            if !self.advance() {
                return if self.has_ended { DemoStep::Exit } else { DemoStep::Wait };
            }
        }
    }
}

/// The pieces in which a block is said.
fn pieces(block: &Block, stage: Stage) -> Vec<Act> {
    let content = block.content();
    let (size, pause_ms) = if stage == Stage::Slow { (1, SLOW_MS) } else { (PIECE_WORDS, PACE_MS) };
    let parts: Vec<String> = match block {
        Block::Thinking(_) | Block::Text(_) => {
            content.split_inclusive(' ').collect::<Vec<_>>().chunks(size).map(<[&str]>::concat).collect()
        }
        Block::Call(_) => {
            let letters: Vec<char> = content.chars().collect();
            letters.chunks(PIECE_CHARS).map(|part| part.iter().collect()).collect()
        }
    };
    parts.into_iter().map(|part| Act::Piece(part, pause_ms)).collect()
}
