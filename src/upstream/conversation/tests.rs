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
use framegate_translators::host::Asked;
use framegate_translators::json::{empty_object, to_raw};
use serde_json::json;
use tokio::sync::oneshot::error::TryRecvError;

/// A protocol in which `ask ID` is a question, and answers and interruptions are lines.
#[derive(Default)]
struct Words {
    out: Vec<Sending>,
    asked: Vec<String>,
    has_interrupt: bool,
}

impl Dialogue for Words {
    fn open(&mut self, opening: &Opening) {
        self.out.push(Sending::Input(opening.prompt.clone().into_bytes()));
    }

    fn hear(&mut self, record: &Record<'_>) {
        if let Some(id) = record.fields.str("ask") {
            self.asked.push(id.into_owned());
        }
    }

    fn say(&mut self, session: Option<&str>, wish: &Wish) -> Result<(), Unsayable> {
        let line = match wish {
            Wish::Answer { approval_id, answer } => format!("{approval_id} {}", answer.decision.as_str()),
            Wish::Prompt(text) if text.is_empty() => return Err(Unsayable::NoWord("no words")),
            Wish::Interrupt if !self.has_interrupt => return Err(Unsayable::NoWord("no interrupt")),
            other => format!("{other:?} to {session:?}"),
        };
        self.out.push(Sending::Input(line.into_bytes()));
        Ok(())
    }

    fn take(&mut self) -> Vec<Sending> {
        std::mem::take(&mut self.out)
    }

    fn asked(&self, approval_id: &str) -> Option<Asked> {
        let wants_answers = approval_id.starts_with('?');
        let args = Some(to_raw(&json!({"command": format!("do {approval_id}")})));
        let unanswerable = approval_id.starts_with('!').then(|| "it is no form".to_owned());
        self.asked.iter().any(|asked| asked == approval_id).then_some(Asked { args, wants_answers, unanswerable })
    }
}

const RUN: Uuid = Uuid::from_u128(1);
const SESSION: Uuid = Uuid::from_u128(2);
const OF_RUN: StreamId = (StreamKind::Session, RUN);

fn stream(id: Uuid, session: Arc<FrameSession>) -> Arc<Stream> {
    Arc::new(Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: "claude-code" })
}

struct Talk {
    conversation: Conversation,
    links: Arc<Links>,
    stream: Arc<Stream>,
    seq: u64,
}

impl Talk {
    fn new(policy: Policy) -> Self {
        let links = Arc::new(Links::default());
        let dialogue = Box::new(Words { has_interrupt: policy.allow_unanswered, ..Words::default() });
        let setup = Setup {
            dialogue: Some(dialogue),
            upstream: "here".into(),
            policy: Arc::new(policy),
            links: links.clone(),
            meter: Metrics::new().upstream("here"),
            redaction: Some(Arc::new(Rules::new(framegate_translators::redact::Settings::default()).expect("rules"))),
        };
        let session = Arc::new(FrameSession { id: SESSION, name: Arc::from("own-name") });
        let stream = stream(RUN, session);
        let (conversation, _) = Conversation::new(setup);
        let mut talk = Self { conversation, links, stream, seq: 0 };
        talk.frame(Body::SessionStarted { input: String::new() });
        talk
    }

    fn frame(&mut self, body: Body) {
        let timestamp_ms = Clock::Fixed(0).now_ms();
        let frame = Frame { stream: self.stream.clone(), seq: self.seq, timestamp_ms, parent_tool_id: None, body };
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

    fn say(&mut self, wish: Wish) -> oneshot::Receiver<Result<(), SayError>> {
        let (done, outcome) = oneshot::channel();
        let said = Said { wish, to: Some(OF_RUN), by: "ann".into(), done };
        assert!(self.conversation.said(said).is_none(), "nothing comes back");
        outcome
    }

    fn answer(&mut self, id: &str, decision: Decision) -> oneshot::Receiver<Result<(), SayError>> {
        let answer = Answer { decision, reason: None, scope: None, answers: Vec::new() };
        self.say(Wish::Answer { approval_id: id.into(), answer })
    }

    /// Sends everything that is queued, and returns it as text.
    fn send(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(sending) = self.conversation.take_sending() {
            let Sending::Input(bytes) = sending else { panic!("{sending:?}") };
            sent.push(String::from_utf8(bytes).expect("text"));
            self.conversation.sent(Ok(Vec::new()));
        }
        sent
    }

    /// The decisions, each with who made it.
    fn resolved(&mut self) -> Vec<String> {
        let told = self.conversation.take_resolutions().into_iter().map(|(stream, answer)| {
            assert_eq!(stream, OF_RUN);
            let by = answer.by.as_deref().unwrap_or("nobody").to_owned();
            format!("{} {} by {by}", answer.approval_id, answer.decision.as_str())
        });
        told.collect()
    }
}

fn patient() -> Policy {
    Policy { timeout_ms: 1_000, ..Policy::default() }
}

fn outcome(mut of: oneshot::Receiver<Result<(), SayError>>) -> String {
    match of.try_recv() {
        Ok(Ok(())) => "said".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(TryRecvError::Empty) => "waits".to_owned(),
        Err(TryRecvError::Closed) => "forgotten".to_owned(),
    }
}

#[test]
fn an_answer_is_told_once_it_was_passed_on_and_no_second_one_is_taken() {
    let mut talk = Talk::new(patient());
    talk.ask("a");
    talk.conversation.step(0);
    assert_eq!(talk.conversation.deadline(), Some(1_000));
    let first = talk.answer("a", Decision::Approved);
    let second = talk.answer("a", Decision::Rejected);
    assert!(talk.resolved().is_empty(), "it is not passed on yet");
    assert_eq!(talk.send(), ["a approved"]);
    assert_eq!(talk.resolved(), ["a approved by ann"]);
    assert_eq!(outcome(first), "said");
    assert!(outcome(second).contains("already answered"));
    let third = talk.answer("a", Decision::Rejected);
    assert!(outcome(third).contains("already answered"));
    let unknown = talk.answer("b", Decision::Rejected);
    assert!(outcome(unknown).contains("no open question \"b\""));
    assert!(talk.send().is_empty());
    assert_eq!(talk.conversation.deadline(), None);
}

#[test]
fn an_answer_that_cannot_be_passed_on_leaves_the_question_open() {
    let mut talk = Talk::new(patient());
    talk.ask("a");
    talk.conversation.step(0);
    let answer = talk.answer("a", Decision::Approved);
    assert!(talk.conversation.take_sending().is_some());
    assert!(talk.conversation.take_sending().is_none(), "one at a time");
    talk.conversation.sent(Err("broken pipe".into()));
    assert_eq!(outcome(answer), "broken pipe");
    assert!(talk.resolved().is_empty());
    assert_eq!(talk.conversation.deadline(), Some(1_000), "it waits as before");
    let again = talk.answer("a", Decision::Rejected);
    assert_eq!(talk.send(), ["a rejected"]);
    assert_eq!(outcome(again), "said");
}

#[test]
fn what_nobody_answers_in_time_is_decided_as_configured() {
    let mut talk = Talk::new(patient());
    talk.ask("a");
    talk.conversation.step(500);
    talk.conversation.step(1_499);
    assert!(talk.send().is_empty());
    talk.conversation.step(1_500);
    assert_eq!(talk.send(), ["a timed_out"]);
    assert_eq!(talk.resolved(), ["a timed_out by policy:timeout"]);
    let late = talk.answer("a", Decision::Approved);
    assert!(outcome(late).contains("already answered"));

    let mut talk = Talk::new(Policy { allow_unanswered: true, ..patient() });
    talk.ask("a");
    talk.ask("?b");
    talk.conversation.step(0);
    talk.conversation.step(1_000);
    assert_eq!(talk.send(), ["a approved", "?b timed_out"], "a bare yes is no answer to a question");
}

#[test]
fn what_nobody_can_answer_is_refused_at_once_and_told() {
    let allow = vec![Rule::new("all", Verdict::Allow)];
    let mut talk = Talk::new(Policy { rules: allow, ..patient() });
    talk.ask("!a");
    talk.conversation.step(0);
    assert_eq!(talk.send(), ["!a rejected"]);
    assert_eq!(talk.resolved(), ["!a rejected by policy:unanswerable"]);
}

#[test]
fn a_rule_decides_before_anybody_is_asked_and_is_tried_again() {
    let rule = |name, pattern, verdict| Rule::new(name, verdict).where_argument("command", pattern).expect("a pattern");
    let rules = vec![
        rule("yes", "do (a|\\?q)", Verdict::Allow),
        rule("no", "do b", Verdict::Deny).because("never"),
        rule("ask", "do c", Verdict::Ask),
    ];
    let mut talk = Talk::new(Policy { rules, ..patient() });
    for id in ["a", "b", "c", "?q"] {
        talk.ask(id);
    }
    talk.conversation.step(0);
    // Passing on the first answer fails. Its rule makes the same decision again.
    assert!(talk.conversation.take_sending().is_some());
    talk.conversation.sent(Err("busy".into()));
    assert_eq!(talk.send(), ["b rejected"]);
    talk.conversation.step(999);
    assert!(talk.send().is_empty());
    talk.conversation.step(1_000);
    let told = talk.send();
    assert!(told.contains(&"a approved".to_owned()), "{told:?}");
    assert!(told.contains(&"c timed_out".to_owned()) && told.contains(&"?q timed_out".to_owned()), "{told:?}");
    let resolved = talk.resolved();
    assert!(resolved.contains(&"a approved by rule:yes".to_owned()), "{resolved:?}");
    assert!(resolved.contains(&"b rejected by rule:no".to_owned()), "{resolved:?}");
}

#[test]
fn an_answer_of_the_proxys_own_is_not_tried_for_ever() {
    let mut talk = Talk::new(Policy { rules: vec![Rule::new("yes", Verdict::Allow)], ..patient() });
    talk.ask("a");
    let mut tries = 0;
    for now in (0..20_000).step_by(500) {
        talk.conversation.step(now);
        while talk.conversation.take_sending().is_some() {
            tries += 1;
            talk.conversation.sent(Err("down".into()));
        }
    }
    assert_eq!(tries, MAX_TRIES);
    assert_eq!(talk.conversation.deadline(), None);
    let person = talk.answer("a", Decision::Approved);
    assert_eq!(talk.send(), ["a approved"]);
    assert_eq!(outcome(person), "said");
}

#[test]
fn a_question_that_the_runner_settles_itself_takes_no_answer_any_more() {
    let settle = |talk: &mut Talk, decision| {
        let approval_id = "a".into();
        let answer = ApprovalResolved { approval_id, decision, by: None, reason: None, scope: None };
        talk.frame(Body::ApprovalResolved(Box::new(answer)));
    };
    let mut talk = Talk::new(patient());
    talk.ask("a");
    talk.conversation.step(0);
    let queued = talk.answer("a", Decision::Approved);
    settle(&mut talk, Decision::Cancelled);
    assert!(outcome(queued).contains("already answered"));
    assert!(talk.send().is_empty(), "what was withdrawn is not answered");
    assert_eq!(talk.conversation.deadline(), None);
    assert!(outcome(talk.answer("a", Decision::Approved)).contains("already answered"));
    // A question that is asked again waits again.
    talk.ask("a");
    talk.conversation.step(5_000);
    assert_eq!(talk.conversation.deadline(), Some(6_000));
    assert_eq!(outcome(talk.answer("a", Decision::Approved)), "waits");
}

#[test]
fn a_runner_that_is_faster_than_its_pipe_does_what_somebody_said() {
    for (ours, theirs, by) in [
        (Decision::Approved, Decision::Approved, Some("ann")),
        (Decision::TimedOut, Decision::Rejected, Some("ann")),
        (Decision::Rejected, Decision::Approved, Some("ann")),
        (Decision::Approved, Decision::Cancelled, None),
    ] {
        let mut talk = Talk::new(patient());
        talk.ask("a");
        talk.conversation.step(0);
        let said = talk.answer("a", ours);
        assert!(talk.conversation.take_sending().is_some());
        let answer =
            ApprovalResolved { approval_id: "a".into(), decision: theirs, by: None, reason: None, scope: None };
        let body = Body::ApprovalResolved(Box::new(answer));
        let mut frames =
            [Frame { stream: talk.stream.clone(), seq: talk.seq, timestamp_ms: 0, parent_tool_id: None, body }];
        talk.conversation.amend(&mut frames);
        let Body::ApprovalResolved(told) = &frames[0].body else { panic!("{:?}", frames[0].body) };
        assert_eq!(told.by.as_deref(), by);
        assert_eq!(told.decision, if by.is_some() { ours } else { theirs });
        talk.conversation.frames(&frames.map(Arc::new));
        talk.conversation.sent(Ok(Vec::new()));
        assert_eq!(outcome(said), "said");
        assert!(talk.resolved().is_empty(), "it was told already");
    }
}

#[test]
fn a_run_can_be_spoken_to_before_it_can_be_seen() {
    let mut talk = Talk::new(patient());
    let next = Uuid::from_u128(77);
    let stream = stream(next, talk.stream.session.clone());
    let body = Body::SessionStarted { input: String::new() };
    let mut frames = [Frame { stream, seq: 0, timestamp_ms: 0, parent_tool_id: None, body }];
    talk.conversation.amend(&mut frames);
    assert!(talk.links.find(next).is_some(), "its frames are not kept yet");
    talk.conversation.frames(&frames.map(Arc::new));
    assert_eq!(talk.conversation.open_runs(), 2, "it is counted once");
}

#[test]
fn the_end_of_a_run_closes_its_questions_and_its_link() {
    let mut talk = Talk::new(patient());
    assert!(talk.links.find(RUN).is_some() && talk.links.find_session(SESSION).is_some());
    talk.ask("a");
    talk.conversation.step(0);
    let end = SessionEnded {
        reason: framegate_translators::frame::EndReason::Interrupted,
        final_text: None,
        error_code: None,
        message: None,
    };
    talk.frame(Body::SessionEnded(Box::new(end)));
    assert_eq!((talk.conversation.open_runs(), talk.conversation.deadline()), (0, None));
    assert!(talk.links.find(RUN).is_none(), "nobody speaks to a run that is over");
    assert!(talk.links.find_session(SESSION).is_some(), "its session may have more of them");
    assert!(outcome(talk.answer("a", Decision::Approved)).contains("it has ended"));
    let links = talk.links.clone();
    drop(talk);
    assert!(links.find_session(SESSION).is_none());
}

#[test]
fn what_the_protocol_has_no_word_for_comes_back() {
    let mut talk = Talk::new(patient());
    let (done, _outcome) = oneshot::channel();
    let said = Said { wish: Wish::Interrupt, to: Some(OF_RUN), by: "ann".into(), done };
    assert!(talk.conversation.said(said).is_some_and(|said| said.wish == Wish::Interrupt));

    let mut talk = Talk::new(Policy { allow_unanswered: true, ..patient() });
    let interrupted = talk.say(Wish::Interrupt);
    assert_eq!(talk.send(), ["Interrupt to Some(\"own-name\")"]);
    assert_eq!(outcome(interrupted), "said");
}

#[test]
fn questions_beyond_the_bound_are_refused() {
    let mut talk = Talk::new(patient());
    for nth in 0..1_000 {
        talk.ask(&format!("q{nth}"));
    }
    talk.conversation.step(0);
    let refused = talk.send();
    assert_eq!(refused.len(), 256);
    assert!(refused.iter().all(|line| line.ends_with("rejected")), "{:?}", refused.first());
    assert_eq!(talk.resolved().len(), 256);
}

#[test]
fn a_run_is_due_for_each_prompt_that_was_passed_on() {
    let mut talk = Talk::new(patient());
    assert_eq!(outcome(talk.say(Wish::Prompt(String::new()))), "no words");
    assert_eq!(talk.conversation.due_runs(), 0, "it was refused");
    let lost = talk.say(Wish::Prompt("lost".into()));
    assert_eq!(talk.conversation.due_runs(), 1, "it is on its way");
    assert!(talk.conversation.take_sending().is_some());
    talk.conversation.sent(Err("broken pipe".into()));
    assert_eq!((outcome(lost), talk.conversation.due_runs()), ("broken pipe".to_owned(), 0));
    for prompt in ["one", "two", "three"] {
        drop(talk.say(Wish::Prompt(prompt.into())));
    }
    assert_eq!(talk.send().len(), 3);
    assert_eq!(talk.conversation.due_runs(), 3);
    let turns = talk.conversation.turns();
    talk.frame(Body::SessionStarted { input: String::new() });
    assert_eq!(talk.conversation.due_runs(), 2);
    assert_ne!(talk.conversation.turns(), turns);
}

#[test]
fn a_prompt_that_joins_a_run_has_none_of_its_own() {
    let mut talk = Talk::new(patient());
    let told = |text: &str| {
        let message = UserMessage { message_id: "u".into(), text: text.to_owned(), attachments: Vec::new() };
        Body::UserMessage(Box::new(message))
    };
    drop(talk.say(Wish::Prompt("go".into())));
    // The prompt that the run began with.
    talk.frame(told("go"));
    assert_eq!(talk.conversation.due_runs(), 1);
    talk.frame(told("go"));
    assert_eq!(talk.conversation.due_runs(), 0);
    drop(talk.say(Wish::Prompt("on".into())));
    talk.conversation.forget_due_runs();
    assert_eq!(talk.conversation.due_runs(), 0);
}
