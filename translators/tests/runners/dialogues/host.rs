//! A host in a test, and its answers.

use framegate_translators::frame::{ApprovalRequested, ApprovalResolved, Body, Decision, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::host::{Answer, Dialogue, HostMessage, Opening, Outgoing, SendError};
use framegate_translators::pipeline::Ingest;
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// A host: it reads records, answers requests, and keeps what it sent.
pub struct Host {
    pub ingest: Ingest,
    pub dialogue: Box<dyn Dialogue>,
    pub sent: Vec<Outgoing>,
    pub frames: Vec<Frame>,
    pub now_ms: u64,
}

impl Host {
    pub fn new(name: &str) -> Self {
        let runner = runner(name).unwrap();
        let identity = Identity { run_id: Uuid::from_u128(7), session_id: None };
        let ingest = Ingest::new(runner, None, Limits::default(), identity)
            .redacting(Arc::new(Rules::new(Settings::default()).unwrap()));
        let dialogue = runner.dialogue.unwrap()();
        Self { ingest, dialogue, sent: Vec::new(), frames: Vec::new(), now_ms: 1_700_000_000_000 }
    }

    /// Sends what the dialogue wants to send.
    fn pass_on(&mut self) {
        for outgoing in self.dialogue.take() {
            if let Outgoing::Input(line) = &outgoing {
                let frames: Vec<Frame> = self.ingest.sent(line, self.now_ms).collect();
                self.frames.extend(frames);
            }
            self.sent.push(outgoing);
        }
    }

    pub fn open(&mut self, opening: Opening) {
        self.ingest.expect_prompt(&opening.prompt, &opening.files);
        self.dialogue.open(&opening);
        self.pass_on();
    }

    /// Feeds the runner's next bytes; returns the requests in them.
    pub fn receive(&mut self, bytes: &[u8]) -> Vec<ApprovalRequested> {
        self.now_ms += 1;
        let dialogue = &mut self.dialogue;
        let mut ear = |record: &framegate_translators::decode::Record<'_>| dialogue.receive(record);
        let mut frames: Vec<Frame> = self.ingest.feed_heard(bytes, self.now_ms, Some(&mut ear)).collect();
        if let Some(due) = self.ingest.deadline() {
            frames.extend(self.ingest.flush(due));
        }
        let asked = |frame: &Frame| match &frame.body {
            Body::ApprovalRequested(request) => Some((**request).clone()),
            _ => None,
        };
        let asked = frames.iter().filter_map(asked).collect();
        self.frames.extend(frames);
        self.pass_on();
        asked
    }

    pub fn send(&mut self, message: HostMessage) -> Result<(), SendError> {
        self.dialogue.send(None, &message)?;
        self.pass_on();
        Ok(())
    }

    /// Sends an answer, and adds the decision to the frames.
    pub fn answer(&mut self, id: &str, answer: Answer) -> Result<(), SendError> {
        let decision = answer.decision;
        self.send(HostMessage::Answer { approval_id: id.into(), answer })?;
        let asked_on =
            |frame: &&Frame| matches!(&frame.body, Body::ApprovalRequested(request) if *request.approval_id == *id);
        let stream = self.frames.iter().find(asked_on).map(|frame| (frame.stream.kind, frame.stream.id)).unwrap();
        let by = Some("ann".into());
        let resolved = ApprovalResolved { approval_id: id.into(), decision, by, reason: None, scope: None };
        let actual: Vec<Frame> = self.ingest.resolve(stream, resolved, self.now_ms).collect();
        assert_eq!(actual.len(), 1, "one frame tells it");
        self.frames.extend(actual);
        Ok(())
    }

    pub fn finish(&mut self) {
        let frames: Vec<Frame> = self.ingest.finish(self.now_ms).collect();
        self.frames.extend(frames);
    }

    /// The lines and requests that were sent, as JSON.
    pub fn lines(&self) -> Vec<Value> {
        let line = |sending: &Outgoing| match sending {
            Outgoing::Input(bytes) => {
                assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
                serde_json::from_slice(bytes).unwrap()
            }
            Outgoing::EndOfInput => json!("end"),
            Outgoing::Post { path, body } if body.is_empty() => json!([path]),
            Outgoing::Post { path, body } => json!([path, serde_json::from_slice::<Value>(body).unwrap()]),
        };
        self.sent.iter().map(line).collect()
    }

    /// The decisions, and who made them. Fails unless each request has exactly one.
    pub fn decisions(&self) -> Vec<String> {
        let (mut asked, mut actual) = (Vec::new(), Vec::new());
        for frame in &self.frames {
            match &frame.body {
                Body::ApprovalRequested(request) => asked.push(request.approval_id.clone()),
                Body::ApprovalResolved(answer) => {
                    let at = asked.iter().position(|id| *id == answer.approval_id).expect("it was open");
                    asked.remove(at);
                    actual.push(format!(
                        "{} by {}",
                        answer.decision.as_str(),
                        answer.by.as_deref().unwrap_or("runner")
                    ));
                }
                _ => {}
            }
        }
        assert!(asked.is_empty(), "{asked:?} has no end");
        actual
    }
}

pub fn fixture(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/");
    std::fs::read_to_string(format!("{root}{path}")).unwrap()
}

pub fn lines(path: &str) -> Vec<Value> {
    fixture(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn decided(decision: Decision) -> Answer {
    Answer { decision, reason: None, scope: None, answers: Vec::new() }
}

pub fn scoped(scope: &str) -> Answer {
    Answer { scope: Some(scope.into()), ..decided(Decision::Approved) }
}

/// An approval with chosen answers, one list for each question.
pub fn chosen(given: &[&[&str]]) -> Answer {
    let words = |words: &&[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Answer { answers: given.iter().map(words).collect(), ..decided(Decision::Approved) }
}

/// A host with a thread and a running turn.
pub fn codex() -> Host {
    let mut host = Host::new("codex");
    host.open(Opening {
        prompt: "go".into(),
        session: Some("T".into()),
        model: Some("m".into()),
        ..Opening::default()
    });
    host.receive(b"{\"id\":0,\"result\":{}}\n");
    host.receive(b"{\"id\":1,\"result\":{\"thread\":{\"id\":\"T\"}}}\n");
    host.receive(b"{\"id\":2,\"result\":{\"turn\":{\"id\":\"t1\"}}}\n");
    host.receive(b"{\"method\":\"turn/started\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\"}}}\n");
    host
}

pub fn codex_asks(host: &mut Host, id: &Value, method: &str, params: Value) -> Vec<ApprovalRequested> {
    let mut params = params;
    params["threadId"] = json!("T");
    params["itemId"] = json!("i1");
    host.receive(format!("{}\n", json!({"id": id, "method": method, "params": params})).as_bytes())
}
