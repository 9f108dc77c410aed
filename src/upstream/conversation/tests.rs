//! A conversation with a minimal runner: its questions, the answers, and what is reported about them.

use super::*;
use crate::clock::Clock;
use crate::ingest::Listener;
use crate::policy::Rule;
use crate::telemetry::metrics::Metrics;
use framegate_translators::decode::Record;
use framegate_translators::frame::{
    ApprovalRequested, Body, Frame, Session as FrameSession, SessionEnded, Stream, UserMessage,
};
use framegate_translators::host::OpenQuestion;
use framegate_translators::json::{empty_object, to_raw};
use serde_json::json;
use tokio::sync::oneshot::error::TryRecvError;

/// A protocol in which `ask ID` is a question, and answers and interruptions are lines.
#[derive(Default)]
struct LineProtocol {
    out: Vec<Outgoing>,
    asked: Vec<String>,
    has_interrupt: bool,
}

impl Dialogue for LineProtocol {
    fn open(&mut self, opening: &Opening) {
        self.out.push(Outgoing::Input(opening.prompt.clone().into_bytes()));
    }

    fn receive(&mut self, record: &Record<'_>) {
        if let Some(id) = record.fields.str("ask") {
            self.asked.push(id.into_owned());
        }
    }

    fn send(&mut self, session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        let line = match message {
            HostMessage::Answer { approval_id, answer }
                if approval_id.starts_with('#') && answer.decision == Decision::Approved =>
            {
                return Err(SendError::Unsupported("it can only be rejected"));
            }
            HostMessage::Answer { approval_id, answer } => format!("{approval_id} {}", answer.decision.as_str()),
            HostMessage::Prompt(text) if text.is_empty() => return Err(SendError::Unsupported("no words")),
            HostMessage::Interrupt if !self.has_interrupt => return Err(SendError::Unsupported("no interrupt")),
            other => format!("{other:?} to {session:?}"),
        };
        self.out.push(Outgoing::Input(line.into_bytes()));
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        let wants_answers = approval_id.starts_with('?');
        let args = Some(to_raw(&json!({"command": format!("do {approval_id}")})));
        let unanswerable = approval_id.starts_with('!').then(|| "it is no form".to_owned());
        self.asked.iter().any(|asked| asked == approval_id).then_some(OpenQuestion {
            args,
            wants_answers,
            unanswerable,
        })
    }
}

const RUN: Uuid = Uuid::from_u128(1);
const SESSION: Uuid = Uuid::from_u128(2);
const OF_RUN: StreamId = (StreamKind::Session, RUN);

fn stream(id: Uuid, session: Arc<FrameSession>) -> Arc<Stream> {
    Arc::new(Stream {
        kind: StreamKind::Session,
        id,
        session,
        origin_run: None,
        provider: framegate_translators::runners::runner("claude-code").unwrap().provider,
    })
}

struct TestConversation {
    conversation: Conversation,
    handles: Arc<Handles>,
    stream: Arc<Stream>,
    seq: u64,
}

impl TestConversation {
    fn new(policy: Policy) -> Self {
        let handles = Arc::new(Handles::default());
        let dialogue = Box::new(LineProtocol { has_interrupt: policy.allow_unanswered, ..LineProtocol::default() });
        let setup = Setup {
            dialogue: Some(dialogue),
            upstream: "here".into(),
            policy: Arc::new(policy),
            handles: handles.clone(),
            meter: Metrics::new().upstream("here"),
            redaction: Some(Arc::new(Rules::new(framegate_translators::redact::Settings::default()).expect("rules"))),
        };
        let session = Arc::new(FrameSession { id: SESSION, name: Arc::from("own-name") });
        let stream = stream(RUN, session);
        let (conversation, _) = Conversation::new(setup);
        let mut test = Self { conversation, handles, stream, seq: 0 };
        test.frame(Body::SessionStarted { input: String::new() });
        test
    }

    fn frame(&mut self, body: Body) {
        let timestamp_ms = Clock::Fixed(0).now_ms();
        let frame = Frame {
            stream: self.stream.clone(),
            seq: self.seq,
            timestamp_ms,
            parent_tool_id: None,
            given_id: None,
            body,
        };
        self.seq += 1;
        let mut frames = [frame];
        self.conversation.amend(&mut frames);
        self.conversation.frames(&frames.map(Arc::new));
    }

    /// The runner asks a question.
    fn ask(&mut self, id: &str) {
        let text = json!({"ask": id}).to_string();
        let json = framegate_translators::json::Json::parse(&text).expect("JSON");
        let fields = json.object().expect("an object");
        self.conversation.record(&Record { json, fields, event_name: None, index: 0, offset: 0 });
        self.frame(Body::ApprovalRequested(Box::new(ApprovalRequested {
            approval_id: id.into(),
            tool_id: None,
            tool_name: "bash".into(),
            args: empty_object(),
            reason: None,
        })));
    }

    fn send(&mut self, message: HostMessage) -> oneshot::Receiver<Result<(), MessageError>> {
        let (done, outcome) = oneshot::channel();
        let envelope = Envelope { message, to: Some(OF_RUN), by: "ann".into(), done };
        assert!(self.conversation.deliver(envelope).is_none(), "no message may come back");
        outcome
    }

    fn answer(&mut self, id: &str, decision: Decision) -> oneshot::Receiver<Result<(), MessageError>> {
        let answer = Answer { decision, reason: None, scope: None, answers: Vec::new() };
        self.send(HostMessage::Answer { approval_id: id.into(), answer })
    }

    /// Sends everything that is queued, and returns it as text.
    fn take_sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(sending) = self.conversation.take_sending() {
            let Outgoing::Input(bytes) = sending else { panic!("{sending:?}") };
            sent.push(String::from_utf8(bytes).expect("text"));
            self.conversation.sent(Ok(Vec::new()));
        }
        sent
    }

    /// The decisions, each with who made it.
    fn resolved(&mut self) -> Vec<String> {
        let lines = self.conversation.take_resolutions().into_iter().map(|(stream, answer)| {
            assert_eq!(stream, OF_RUN);
            let by = answer.by.as_deref().unwrap_or("-").to_owned();
            format!("{} {} by {by}", answer.approval_id, answer.decision.as_str())
        });
        lines.collect()
    }
}

fn patient() -> Policy {
    Policy { timeout_ms: 1_000, ..Policy::default() }
}

fn outcome(mut of: oneshot::Receiver<Result<(), MessageError>>) -> String {
    match of.try_recv() {
        Ok(Ok(())) => "delivered".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(TryRecvError::Empty) => "waits".to_owned(),
        Err(TryRecvError::Closed) => "forgotten".to_owned(),
    }
}

#[test]
fn an_answer_is_reported_once_it_was_sent_and_no_second_one_is_accepted() {
    let mut test = TestConversation::new(patient());
    test.ask("a");
    test.conversation.step(0);
    assert_eq!(test.conversation.deadline(), Some(1_000));
    let first = test.answer("a", Decision::Approved);
    let second = test.answer("a", Decision::Rejected);
    assert!(test.resolved().is_empty(), "the answer is not sent yet");
    assert_eq!(test.take_sent(), ["a approved"]);
    assert_eq!(test.resolved(), ["a approved by ann"]);
    assert_eq!(outcome(first), "delivered");
    assert!(outcome(second).contains("already answered"));
    let third = test.answer("a", Decision::Rejected);
    assert!(outcome(third).contains("already answered"));
    let unknown = test.answer("b", Decision::Rejected);
    assert_eq!(outcome(unknown), "this run has no question \"b\"");
    assert!(test.take_sent().is_empty());
    assert_eq!(test.conversation.deadline(), None);
}

#[test]
fn an_answer_that_cannot_be_sent_leaves_the_request_open() {
    let mut test = TestConversation::new(patient());
    test.ask("a");
    test.conversation.step(0);
    let answer = test.answer("a", Decision::Approved);
    assert!(test.conversation.take_sending().is_some());
    assert!(test.conversation.take_sending().is_none(), "one at a time");
    test.conversation.sent(Err("broken pipe".into()));
    assert_eq!(outcome(answer), "broken pipe");
    assert!(test.resolved().is_empty());
    assert_eq!(test.conversation.deadline(), Some(1_000), "the deadline must stay");
    let again = test.answer("a", Decision::Rejected);
    assert_eq!(test.take_sent(), ["a rejected"]);
    assert_eq!(outcome(again), "delivered");
}

#[test]
fn a_run_is_interrupted_once() {
    let mut test = TestConversation::new(Policy { allow_unanswered: true, ..patient() });
    let first = test.send(HostMessage::Interrupt);
    assert_eq!(test.take_sent().len(), 1);
    assert_eq!(outcome(first), "delivered");
    let second = test.send(HostMessage::Interrupt);
    assert!(test.take_sent().is_empty(), "it could reach the next run");
    assert_eq!(outcome(second), "delivered");
}

#[test]
fn what_cannot_be_approved_by_the_policy_is_rejected() {
    let mut test = TestConversation::new(Policy { allow_unanswered: true, ..patient() });
    test.ask("#a");
    test.conversation.step(0);
    test.conversation.step(1_000);
    test.conversation.step(1_000);
    assert_eq!(test.take_sent(), ["#a rejected"]);
    assert_eq!(test.resolved(), ["#a rejected by policy:timeout"]);
    assert_eq!(test.conversation.deadline(), None);
}

#[test]
fn unanswered_requests_time_out_as_configured() {
    let mut test = TestConversation::new(patient());
    test.ask("a");
    test.conversation.step(500);
    test.conversation.step(1_499);
    assert!(test.take_sent().is_empty());
    test.conversation.step(1_500);
    assert_eq!(test.take_sent(), ["a timed_out"]);
    assert_eq!(test.resolved(), ["a timed_out by policy:timeout"]);
    let late = test.answer("a", Decision::Approved);
    assert!(outcome(late).contains("already answered"));

    let mut test = TestConversation::new(Policy { allow_unanswered: true, ..patient() });
    test.ask("a");
    test.ask("?b");
    test.conversation.step(0);
    test.conversation.step(1_000);
    assert_eq!(test.take_sent(), ["a approved", "?b timed_out"], "a bare approval does not answer a question");
}

#[test]
fn unanswerable_requests_are_rejected_at_once() {
    let allow = vec![Rule::new("all", Verdict::Allow)];
    let mut test = TestConversation::new(Policy { rules: allow, ..patient() });
    test.ask("!a");
    test.conversation.step(0);
    assert_eq!(test.take_sent(), ["!a rejected"]);
    assert_eq!(test.resolved(), ["!a rejected by policy:unanswerable"]);
}

#[test]
fn a_rule_decides_first_and_is_retried() {
    let rule = |name, pattern, verdict| Rule::new(name, verdict).where_argument("command", pattern).expect("a pattern");
    let rules = vec![
        rule("yes", "do (a|\\?q)", Verdict::Allow),
        rule("no", "do b", Verdict::Deny).because("never"),
        rule("ask", "do c", Verdict::Ask),
    ];
    let mut test = TestConversation::new(Policy { rules, ..patient() });
    for id in ["a", "b", "c", "?q"] {
        test.ask(id);
    }
    test.conversation.step(0);
    // Passing on the first answer fails. Its rule makes the same decision again.
    assert!(test.conversation.take_sending().is_some());
    test.conversation.sent(Err("busy".into()));
    assert_eq!(test.take_sent(), ["b rejected"]);
    test.conversation.step(999);
    assert!(test.take_sent().is_empty());
    test.conversation.step(1_000);
    let sent = test.take_sent();
    assert!(sent.contains(&"a approved".to_owned()), "{sent:?}");
    assert!(sent.contains(&"c timed_out".to_owned()) && sent.contains(&"?q timed_out".to_owned()), "{sent:?}");
    let resolved = test.resolved();
    assert!(resolved.contains(&"a approved by rule:yes".to_owned()), "{resolved:?}");
    assert!(resolved.contains(&"b rejected by rule:no".to_owned()), "{resolved:?}");
}

#[test]
fn the_proxys_own_answers_are_retried_a_bounded_number_of_times() {
    let mut test = TestConversation::new(Policy { rules: vec![Rule::new("yes", Verdict::Allow)], ..patient() });
    test.ask("a");
    let mut tries = 0;
    for now in (0..20_000).step_by(500) {
        test.conversation.step(now);
        while test.conversation.take_sending().is_some() {
            tries += 1;
            test.conversation.sent(Err("down".into()));
        }
    }
    assert_eq!(tries, MAX_TRIES);
    assert_eq!(test.conversation.deadline(), None);
    let person = test.answer("a", Decision::Approved);
    assert_eq!(test.take_sent(), ["a approved"]);
    assert_eq!(outcome(person), "delivered");
}

#[test]
fn a_request_that_the_runner_settles_accepts_no_answer() {
    let settle = |test: &mut TestConversation, decision| {
        let approval_id = "a".into();
        let answer = ApprovalResolved { approval_id, decision, by: None, reason: None, scope: None };
        test.frame(Body::ApprovalResolved(Box::new(answer)));
    };
    let mut test = TestConversation::new(patient());
    test.ask("a");
    test.conversation.step(0);
    let queued = test.answer("a", Decision::Approved);
    settle(&mut test, Decision::Cancelled);
    assert!(outcome(queued).contains("already answered"));
    assert!(test.take_sent().is_empty(), "a withdrawn request must not be answered");
    assert_eq!(test.conversation.deadline(), None);
    assert!(outcome(test.answer("a", Decision::Approved)).contains("already answered"));
    // A question that is asked again waits again.
    test.ask("a");
    test.conversation.step(5_000);
    assert_eq!(test.conversation.deadline(), Some(6_000));
    assert_eq!(outcome(test.answer("a", Decision::Approved)), "waits");
}

#[test]
fn a_resolution_before_the_write_completes_is_attributed_to_the_answer() {
    for (ours, theirs, by) in [
        (Decision::Approved, Decision::Approved, Some("ann")),
        (Decision::TimedOut, Decision::Rejected, Some("ann")),
        (Decision::Rejected, Decision::Approved, Some("ann")),
        (Decision::Approved, Decision::Cancelled, None),
    ] {
        let mut test = TestConversation::new(patient());
        test.ask("a");
        test.conversation.step(0);
        let first = test.answer("a", ours);
        assert!(test.conversation.take_sending().is_some());
        let answer =
            ApprovalResolved { approval_id: "a".into(), decision: theirs, by: None, reason: None, scope: None };
        let body = Body::ApprovalResolved(Box::new(answer));
        let mut frames = [Frame {
            stream: test.stream.clone(),
            seq: test.seq,
            timestamp_ms: 0,
            parent_tool_id: None,
            given_id: None,
            body,
        }];
        test.conversation.amend(&mut frames);
        let Body::ApprovalResolved(resolved) = &frames[0].body else { panic!("{:?}", frames[0].body) };
        assert_eq!(resolved.by.as_deref(), by);
        assert_eq!(resolved.decision, if by.is_some() { ours } else { theirs });
        test.conversation.frames(&frames.map(Arc::new));
        test.conversation.sent(Ok(Vec::new()));
        assert_eq!(outcome(first), "delivered");
        assert!(test.resolved().is_empty(), "the decision was already reported");
    }
}

#[test]
fn a_run_can_be_addressed_before_it_is_visible() {
    let mut test = TestConversation::new(patient());
    let next = Uuid::from_u128(77);
    let stream = stream(next, test.stream.session.clone());
    let body = Body::SessionStarted { input: String::new() };
    let mut frames = [Frame { stream, seq: 0, timestamp_ms: 0, parent_tool_id: None, given_id: None, body }];
    test.conversation.amend(&mut frames);
    assert!(test.handles.find(next).is_some(), "the run must be registered before its frames are stored");
    test.conversation.frames(&frames.map(Arc::new));
    assert_eq!(test.conversation.open_runs(), 2, "the run must be counted once");
}

#[test]
fn the_end_of_a_run_closes_its_requests_and_its_handle() {
    let mut test = TestConversation::new(patient());
    assert!(test.handles.find(RUN).is_some() && test.handles.find_session(SESSION).is_some());
    test.ask("a");
    test.conversation.step(0);
    let end = SessionEnded {
        reason: framegate_translators::frame::EndReason::Interrupted,
        final_text: None,
        error_code: None,
        message: None,
    };
    test.frame(Body::SessionEnded(Box::new(end)));
    assert_eq!((test.conversation.open_runs(), test.conversation.deadline()), (0, None));
    assert!(test.handles.find(RUN).is_none(), "a run that has ended must have no handle");
    assert!(test.handles.find_session(SESSION).is_some(), "its session may have more runs");
    assert!(outcome(test.answer("a", Decision::Approved)).contains("it has ended"));
    let handles = test.handles.clone();
    drop(test);
    assert!(handles.find_session(SESSION).is_none());
}

#[test]
fn a_message_that_the_protocol_cannot_express_is_returned() {
    let mut test = TestConversation::new(patient());
    let (done, _outcome) = oneshot::channel();
    let envelope = Envelope { message: HostMessage::Interrupt, to: Some(OF_RUN), by: "ann".into(), done };
    assert!(test.conversation.deliver(envelope).is_some_and(|envelope| envelope.message == HostMessage::Interrupt));

    let mut test = TestConversation::new(Policy { allow_unanswered: true, ..patient() });
    let interrupted = test.send(HostMessage::Interrupt);
    assert_eq!(test.take_sent(), ["Interrupt to Some(\"own-name\")"]);
    assert_eq!(outcome(interrupted), "delivered");
}

#[test]
fn requests_beyond_the_bound_are_rejected() {
    let mut test = TestConversation::new(patient());
    for nth in 0..1_000 {
        test.ask(&format!("q{nth}"));
    }
    test.conversation.step(0);
    let refused = test.take_sent();
    assert_eq!(refused.len(), 256);
    assert!(refused.iter().all(|line| line.ends_with("rejected")), "{:?}", refused.first());
    assert_eq!(test.resolved().len(), 256);
}

#[test]
fn a_run_is_due_for_each_prompt_that_was_sent() {
    let mut test = TestConversation::new(patient());
    assert_eq!(outcome(test.send(HostMessage::Prompt(String::new()))), "no words");
    assert_eq!(test.conversation.due_runs(), 0, "the prompt was refused");
    let lost = test.send(HostMessage::Prompt("lost".into()));
    assert_eq!(test.conversation.due_runs(), 1, "the prompt is being sent");
    assert!(test.conversation.take_sending().is_some());
    test.conversation.sent(Err("broken pipe".into()));
    assert_eq!((outcome(lost), test.conversation.due_runs()), ("broken pipe".to_owned(), 0));
    for prompt in ["one", "two", "three"] {
        drop(test.send(HostMessage::Prompt(prompt.into())));
    }
    assert_eq!(test.take_sent().len(), 3);
    assert_eq!(test.conversation.due_runs(), 3);
    let turns = test.conversation.turns();
    test.frame(Body::SessionStarted { input: String::new() });
    assert_eq!(test.conversation.due_runs(), 2);
    assert_ne!(test.conversation.turns(), turns);
}

#[test]
fn a_prompt_that_joins_a_run_is_due_no_other() {
    let mut test = TestConversation::new(patient());
    let user_message = |text: &str| {
        let message = UserMessage { message_id: "u".into(), text: text.to_owned(), attachments: Vec::new() };
        Body::UserMessage(Box::new(message))
    };
    drop(test.send(HostMessage::Prompt("go".into())));
    // The prompt that the run began with.
    test.frame(user_message("go"));
    assert_eq!(test.conversation.due_runs(), 1);
    test.frame(user_message("go"));
    assert_eq!(test.conversation.due_runs(), 0);
    drop(test.send(HostMessage::Prompt("on".into())));
    test.conversation.forget_due_runs();
    assert_eq!(test.conversation.due_runs(), 0);
}
