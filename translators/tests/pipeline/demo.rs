//! Conversations of a host with the scripted agent: through the runner's dialogue in one direction, and its decoder in the other.

use crate::support::*;
use framegate_translators::decode::Record;
use framegate_translators::frame::{ApprovalRequested, Body, Decision, Frame, SessionEnded, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::host::{Answer, Dialogue, HostMessage, Opening, Outgoing};
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::{DemoAgent, DemoStart, DemoStep, Runner, demo};
use framegate_translators::warnings::Watch;
use uuid::Uuid;

/// A conversation, with the agent's output as bytes and as frames.
struct Conversation {
    runner: &'static Runner,
    agent: Box<dyn DemoAgent>,
    dialogue: Box<dyn Dialogue>,
    ingest: Ingest,
    output: Vec<u8>,
    frames: Vec<Frame>,
    now_ms: u64,
    is_over: bool,
}

impl Conversation {
    fn new(prompt: &str, session: Option<&str>) -> Self {
        let (runner, agent) = demo().unwrap();
        let session = session.map(str::to_owned);
        let start = DemoStart {
            mode: None,
            session: session.clone(),
            model: None,
            cwd: "/work".to_owned(),
            seed: Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0042),
        };
        let mut this = Self {
            runner,
            agent: agent(start),
            dialogue: runner.dialogue.unwrap()(),
            ingest: ingest(runner, Limits::default()).watching_drift(),
            output: Vec::new(),
            frames: Vec::new(),
            now_ms: EPOCH_MS,
            is_over: false,
        };
        this.dialogue.open(&Opening { prompt: prompt.to_owned(), session, ..Opening::default() });
        this.pass_on();
        this
    }

    fn pass_on(&mut self) {
        for outgoing in self.dialogue.take() {
            match outgoing {
                Outgoing::Input(line) => self.agent.receive(line.trim_ascii_end()).unwrap(),
                Outgoing::EndOfInput => self.agent.end_of_input(),
                Outgoing::Post { .. } => panic!("the agent has no server"),
            }
        }
    }

    fn send(&mut self, message: &HostMessage) {
        self.dialogue.send(None, message).unwrap();
        self.pass_on();
    }

    /// Lets the agent write one line. Returns false if it waits for input, or is gone.
    fn step(&mut self) -> bool {
        let DemoStep::Line { line, pause_ms } = self.agent.step() else { return false };
        self.now_ms += pause_ms;
        let dialogue = &mut self.dialogue;
        let mut ear = |record: &Record<'_>| dialogue.receive(record);
        self.frames.extend(self.ingest.feed_heard(&line, self.now_ms, Some(&mut ear)));
        self.output.extend(line);
        self.pass_on();
        true
    }

    /// Lets the agent work until it waits.
    fn work(&mut self) {
        while self.step() {}
        if let Some(due) = self.ingest.deadline() {
            self.frames.extend(self.ingest.flush(due));
        }
    }

    /// The newest question.
    fn question(&self) -> ApprovalRequested {
        let asked = self.frames.iter().rev().find_map(|frame| match &frame.body {
            Body::ApprovalRequested(asked) => Some((**asked).clone()),
            _ => None,
        });
        asked.unwrap_or_else(|| panic!("the agent asks nothing"))
    }

    fn answer(&mut self, decision: Decision, reason: Option<&str>, scope: Option<&str>) {
        let (reason, scope) = (reason.map(str::to_owned), scope.map(Into::into));
        self.give(Answer { decision, reason, scope, answers: Vec::new() });
    }

    fn give(&mut self, answer: Answer) {
        let asked = self.question();
        self.send(&HostMessage::Answer { approval_id: asked.approval_id, answer });
        self.work();
    }

    /// The texts of the agent so far.
    fn text(&self) -> String {
        let said = self.frames.iter().filter_map(|frame| match &frame.body {
            Body::OutputTextDelta(piece) => Some(piece.delta.as_str()),
            _ => None,
        });
        said.collect()
    }

    /// The ends of the runs.
    fn ends(&self) -> Vec<&SessionEnded> {
        let ends = self.frames.iter().filter_map(|frame| match &frame.body {
            Body::SessionEnded(end) => Some(&**end),
            _ => None,
        });
        ends.collect()
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.frames.iter().map(|frame| frame.body.kind()).collect()
    }

    /// Ends the conversation, and checks all that was written: it fits the schemas, nothing in it is unknown, no warning applies, and each
    /// contract's events are valid.
    fn close(&mut self) {
        self.send(&HostMessage::Close);
        self.work();
        assert_eq!(self.agent.step(), DemoStep::Exit);
        self.frames.extend(self.ingest.finish(self.now_ms));
        self.is_over = true;
        assert_eq!(self.ingest.take_drift(), []);
        assert_eq!(self.ingest.take_bad(), []);
        well_formed(&self.frames, "the agent");
        let mut watches = std::collections::HashMap::new();
        for frame in &self.frames {
            let watch: &mut Watch = watches.entry(frame.stream.id).or_default();
            assert_eq!(watch.frame(frame).collect::<Vec<_>>(), [], "{:?}", frame.body);
            if let Body::ProviderEvent(record) = &frame.body {
                assert!(record.errors.is_empty(), "{record:?}");
            }
        }
        for contract in json_contracts() {
            assert_clean(contract, &translate(self.runner, contract, &self.output), "the agent");
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        assert!(self.is_over || std::thread::panicking(), "close the conversation, which checks it");
    }
}

#[test]
fn a_plain_prompt_is_answered_with_reasoning_a_tool_and_text() {
    let mut talk = Conversation::new("Hello there", None);
    talk.work();
    let kinds = talk.kinds();
    for kind in
        ["reasoning_delta", "tool_started", "tool_stdout", "tool_ended", "output_text_completed", "usage_reported"]
    {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
    assert!(kinds.iter().filter(|kind| **kind == "output_text_delta").count() > 5);
    assert!(talk.text().contains("You said: “Hello there”.") && talk.text().contains("no model was asked"));
    assert_eq!(talk.ends()[0].reason.as_str(), "completed");
    let (mut read, mut written) = (0, 0);
    for frame in &talk.frames {
        let Body::UsageReported(usage) = &frame.body else { continue };
        match usage.scope.as_str() {
            "turn" => {
                read += usage.input_tokens;
                written += usage.output_tokens;
            }
            _ => assert_eq!((usage.input_tokens, usage.output_tokens), (read, written), "the run's are the sum"),
        }
    }
    // What was read last is all that was said before: the prompt, the first message, and the tool's output.
    let words = |text: &str| text.split_whitespace().count() as u64;
    assert!(written >= words(&talk.text()) && read > 2 * 2, "{read} {written}");
    talk.close();
}

#[test]
fn an_allowed_change_and_a_denied_command() {
    let mut talk = Conversation::new("Plan it, write a note and run the command", None);
    talk.work();
    assert_eq!(&*talk.question().tool_name, "Edit");
    talk.answer(Decision::Approved, None, None);
    assert_eq!(&*talk.question().tool_name, "Bash");
    talk.answer(Decision::Rejected, Some("not today"), None);
    let text = talk.text();
    assert!(text.contains("You allowed Edit") && text.contains("You did not allow Bash (not today)"), "{text}");
    let kinds = talk.kinds();
    for (kind, count) in [("file_changed", 1), ("plan_updated", 2), ("approval_requested", 2), ("tool_failed", 1)] {
        assert_eq!(kinds.iter().filter(|other| **other == kind).count(), count, "{kind} in {kinds:?}");
    }
    let diff = talk.frames.iter().find_map(|frame| match &frame.body {
        Body::FileChanged(change) => change.diff.clone(),
        _ => None,
    });
    assert!(diff.unwrap().contains("\n+- asked for “Plan it, write a note and run the command”"));
    assert_eq!(talk.ends()[0].reason.as_str(), "completed");
    talk.close();
}

#[test]
fn a_choice_is_answered_with_a_text() {
    let mut talk = Conversation::new("Let me choose", None);
    talk.work();
    let asked = talk.question();
    assert!(talk.dialogue.question(&asked.approval_id).unwrap().wants_answers);
    let choice = vec![vec!["Blue".to_owned()]];
    talk.give(Answer { decision: Decision::Approved, reason: None, scope: None, answers: choice });
    assert!(talk.text().contains("You chose “Blue”."), "{}", talk.text());
    talk.send(&HostMessage::Prompt("choose again".to_owned()));
    talk.work();
    talk.answer(Decision::Rejected, Some("no colour"), None);
    assert!(talk.text().contains("(no colour), so I left it out"), "{}", talk.text());
    talk.close();
}

#[test]
fn a_rule_for_the_session_answers_the_next_question() {
    let mut talk = Conversation::new("write", None);
    talk.work();
    talk.answer(Decision::Approved, None, Some("session"));
    talk.send(&HostMessage::Prompt("write again".to_owned()));
    talk.work();
    assert_eq!(talk.kinds().iter().filter(|kind| **kind == "approval_requested").count(), 1);
    assert_eq!(talk.ends().len(), 2);
    talk.close();
}

#[test]
fn further_prompts_are_remembered_and_a_new_process_says_that_it_cannot() {
    let mut talk = Conversation::new("My colour is blue", None);
    // A prompt that arrives early waits for its turn.
    talk.send(&HostMessage::Prompt("What did I say earlier?".to_owned()));
    talk.work();
    assert!(talk.text().contains("Earlier you said: “My colour is blue”."), "{}", talk.text());
    let sessions: std::collections::HashSet<_> = talk
        .frames
        .iter()
        .filter(|frame| frame.stream.kind == StreamKind::Session)
        .map(|frame| frame.stream.session.id)
        .collect();
    assert_eq!((talk.ends().len(), sessions.len()), (2, 1));
    talk.close();
    let mut talk = Conversation::new("What did I say earlier?", Some("0198aaaa-0000-7000-8000-000000000001"));
    talk.work();
    let text = talk.text();
    assert!(text.contains("continues the session 0198aaaa-0000-7000-8000-000000000001"), "{text}");
    assert!(String::from_utf8_lossy(&talk.output).contains(r#""session_id":"0198aaaa-0000-7000-8000-000000000001""#));
    talk.close();
}

#[test]
fn a_failure_is_the_providers() {
    let mut talk = Conversation::new("Please fail", None);
    talk.send(&HostMessage::Prompt("and go on".to_owned()));
    talk.work();
    let ends = talk.ends();
    assert_eq!((ends[0].reason.as_str(), ends[1].reason.as_str()), ("failed", "completed"));
    assert!(ends[0].message.as_deref().unwrap().contains("no provider was asked"), "{ends:?}");
    assert!(talk.kinds().contains(&"error_reported"));
    talk.close();
}

/// The number of lines before the agent waits for an answer or for the next prompt.
fn lines_of(prompt: &str) -> usize {
    let mut talk = Conversation::new(prompt, None);
    let mut count = 0;
    while talk.step() {
        count += 1;
    }
    talk.close();
    count
}

#[test]
fn a_turn_can_be_interrupted_after_each_line() {
    for (prompt, waits_for_an_answer) in [("plan slowly", false), ("write", true)] {
        // The first line answers the host, the second one begins the run. The last one ends it, unless it is a question.
        let end = lines_of(prompt) + usize::from(waits_for_an_answer);
        assert!(end > 30, "{prompt}: {end}");
        for lines in 2..end {
            let mut talk = Conversation::new(prompt, None);
            for _ in 0..lines {
                assert!(talk.step(), "{prompt}: {lines}");
            }
            talk.send(&HostMessage::Interrupt);
            talk.work();
            let ends = talk.ends();
            assert_eq!(ends.len(), 1, "{prompt}, after {lines} lines");
            assert_eq!(ends[0].reason.as_str(), "interrupted", "{prompt}, after {lines} lines: {:?}", ends[0]);
            talk.send(&HostMessage::Prompt("hello".to_owned()));
            talk.work();
            assert_eq!(talk.ends().len(), 2, "the agent goes on");
            assert_eq!(talk.ends()[1].reason.as_str(), "completed");
            talk.close();
        }
    }
}

#[test]
fn an_answer_that_cancels_interrupts_the_turn() {
    let mut talk = Conversation::new("run it", None);
    talk.work();
    talk.answer(Decision::Cancelled, None, None);
    assert_eq!(talk.ends()[0].reason.as_str(), "interrupted");
    talk.close();
}

#[test]
fn a_host_that_leaves_gets_the_rest_of_the_turn() {
    let mut talk = Conversation::new("run it", None);
    talk.work();
    talk.close();
    assert!(talk.text().contains("You did not allow Bash (the input ended before an answer)"), "{}", talk.text());
    assert_eq!(talk.ends()[0].reason.as_str(), "completed");
}

#[test]
fn other_input_is_refused_and_the_agent_goes_on() {
    let mut talk = Conversation::new("hello", None);
    let long = "9".repeat(100_000);
    for line in ["", "{", "[]", "\u{0}", r#"{"type":"nothing"}"#, r#"{"type":"control_request"}"#, &long] {
        assert!(talk.agent.receive(line.as_bytes()).is_err(), "{line:?}");
    }
    assert!(talk.agent.receive(&[0xff]).is_err());
    for line in [
        r#"{"type":"control_response","response":{"request_id":"x","response":{"behavior":"allow"}}}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"set_model"}}"#,
    ] {
        talk.agent.receive(line.as_bytes()).unwrap();
    }
    talk.work();
    assert_eq!(talk.ends()[0].reason.as_str(), "completed");
    let waiting = (0..1000)
        .filter(|_| talk.agent.receive(br#"{"type":"user","message":{"role":"user","content":"more"}}"#).is_ok());
    assert_eq!(waiting.count(), 16, "the prompts that wait are bounded");
    talk.work();
    assert_eq!(talk.ends().len(), 17);
    talk.close();
}
