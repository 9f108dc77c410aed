//! Runs for tests: scripted ones, and the recordings.

use framegate_translators::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported, ErrorScope,
    Figures, FileChangeKind, FileChanged, Frame, LogLevel, PlanEntry, Provider, Session, SessionEnded, Stream,
    StreamKind, Tool, ToolCall, ToolKind, Usage, UsageScope, UserMessage,
};
use framegate_translators::framing::Limits;
use framegate_translators::json::to_raw;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::RUNNERS;
use framegate_translators::sequence::Identity;
use framegate_translators::when::FirstTime;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// A run that is made frame by frame.
pub(crate) struct Script {
    pub(crate) frames: Vec<Frame>,
    stream: Arc<Stream>,
    /// The call that the next frames belong to.
    pub(crate) parent: Option<Uuid>,
    next: u128,
}

impl Default for Script {
    fn default() -> Self {
        let session = Arc::new(Session { id: Uuid::from_u128(7), name: "s".into() });
        let provider = Provider { name: "test", title: "Test" };
        let stream =
            Stream { kind: StreamKind::Session, id: Uuid::from_u128(0xabcdef), session, origin_run: None, provider };
        let mut script = Self { frames: Vec::new(), stream: Arc::new(stream), parent: None, next: 100 };
        script.push(Body::SessionStarted { input: String::new() });
        script
    }
}

impl Script {
    pub(crate) fn push(&mut self, body: Body) -> &mut Self {
        let seq = self.frames.len() as u64;
        let frame = Frame {
            stream: self.stream.clone(),
            seq,
            timestamp_ms: 1000 + seq * 100,
            parent_tool_id: self.parent,
            given_id: None,
            body,
        };
        self.frames.push(frame);
        self
    }

    fn id(&mut self) -> Uuid {
        self.next += 1;
        Uuid::from_u128(self.next)
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Self {
        let message = UserMessage { message_id: "u".into(), text: text.to_owned(), attachments: Vec::new() };
        self.push(Body::UserMessage(Box::new(message)))
    }

    pub(crate) fn say(&mut self, text: &str) -> &mut Self {
        self.say_in_pieces(&[text])
    }

    pub(crate) fn say_in_pieces(&mut self, pieces: &[&str]) -> &mut Self {
        let message_id: Arc<str> = self.id().to_string().into();
        for piece in pieces {
            let delta = BlockDelta { message_id: message_id.clone(), block_index: 0, delta: (*piece).to_owned() };
            self.push(Body::OutputTextDelta(delta));
        }
        self.push(Body::OutputTextCompleted(BlockText { message_id, block_index: 0, text: pieces.concat() }))
    }

    pub(crate) fn think(&mut self, text: &str) -> &mut Self {
        let block = BlockText { message_id: "t".into(), block_index: 0, text: text.to_owned() };
        self.push(Body::ReasoningCompleted { block, opaque: None })
    }

    pub(crate) fn start(&mut self, kind: ToolKind, name: &str, args: &serde_json::Value) -> Tool {
        let id = self.id();
        let tool = Tool { id, call_id: id.to_string().into() };
        let call = ToolCall { tool: tool.clone(), name: name.into(), kind, args: to_raw(args) };
        self.push(Body::ToolStarted { call: Box::new(call), timeout_ms: None });
        tool
    }

    pub(crate) fn call(
        &mut self,
        kind: ToolKind,
        name: &str,
        args: &serde_json::Value,
        output: &str,
        exit_code: i32,
    ) -> &mut Self {
        let tool = self.start(kind, name, args);
        self.push(Body::ToolStdout { tool: tool.clone(), chunk: output.to_owned() });
        self.push(Body::ToolEnded { tool, exit_code, duration_ms: 1234, artifacts: None })
    }

    pub(crate) fn question(&mut self, text: &str) -> &mut Self {
        let request = ApprovalRequested {
            approval_id: "q".into(),
            tool_id: None,
            tool_name: text.into(),
            args: to_raw(&serde_json::json!({"questions": [{"question": text, "options": [{"label": text}]}]})),
            reason: Some(text.to_owned()),
        };
        self.push(Body::ApprovalRequested(Box::new(request)));
        self.push(Body::ApprovalResolved(Box::new(ApprovalResolved {
            approval_id: "q".into(),
            decision: Decision::Approved,
            by: Some(text.into()),
            reason: Some(text.to_owned()),
            scope: Some(text.into()),
        })))
    }

    pub(crate) fn error(&mut self, text: &str) -> &mut Self {
        self.push(Body::ErrorReported(Box::new(ErrorReported {
            scope: ErrorScope::Provider,
            code: text.into(),
            message: text.to_owned(),
            retryable: true,
            attempt: Some(1),
            max_attempts: Some(3),
            http_status: Some(529),
        })))
    }

    /// A subagent that says this and ends.
    pub(crate) fn subagent(&mut self, text: &str) -> &mut Self {
        let (outer, id) = (self.parent, self.id());
        self.push(Body::SubagentStarted {
            subagent_id: id.to_string().into(),
            tool_id: Some(id),
            agent: Some(text.into()),
            task: Some(text.to_owned()),
            depth: 1,
        });
        self.parent = Some(id);
        self.say(text);
        self.parent = outer;
        self.push(Body::SubagentEnded {
            subagent_id: id.to_string().into(),
            status: "completed".into(),
            summary: Some(text.to_owned()),
        })
    }

    pub(crate) fn usage(&mut self) -> &mut Self {
        let figures = Figures {
            input_tokens: 1234,
            output_tokens: 567,
            cache_read_tokens: Some(89_000),
            cost_usd: Some(0.0123),
            ..Figures::default()
        };
        self.push(Body::UsageReported(Box::new(Usage::of(UsageScope::Turn, Some("model-1".into()), &figures))))
    }

    pub(crate) fn complete(&mut self) -> &mut Self {
        self.end(EndReason::Completed, None)
    }

    pub(crate) fn fail(&mut self, message: &str) -> &mut Self {
        self.end(EndReason::Failed, Some(message))
    }

    fn end(&mut self, reason: EndReason, message: Option<&str>) -> &mut Self {
        self.push(Body::SessionEnded(Box::new(SessionEnded {
            reason,
            final_text: None,
            error_code: message.map(Into::into),
            message: message.map(str::to_owned),
        })))
    }
}

/// A run that says this text wherever it can.
pub(crate) fn everywhere(text: &str) -> Vec<Frame> {
    let mut script = Script::default();
    script.prompt(text).say(text).think(text);
    script.call(ToolKind::Shell, "sh", &serde_json::json!({"command": text}), text, 1);
    script.call(ToolKind::Mcp, text, &serde_json::json!({"x": text}), text, 0);
    script.push(Body::FileChanged(Box::new(FileChanged {
        tool_id: None,
        path: text.to_owned(),
        kind: FileChangeKind::Modify,
        diff: Some(format!("+{text}")),
        artifact_id: None,
    })));
    script.push(Body::PlanUpdated {
        entries: vec![PlanEntry { content: text.to_owned(), status: text.into(), priority: None }],
    });
    script.push(Body::LogEmitted { level: LogLevel::Warn, message: text.to_owned() });
    script.push(Body::GapDetected { first_seq: Some(1), last_seq: Some(2), reason: text.to_owned() });
    script.question(text).error(text).subagent(text).fail(text);
    script.frames
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn frames(runner: &'static framegate_translators::runners::Runner, bytes: &[u8]) -> Vec<Frame> {
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity);
    // As if it had come when it was recorded.
    let now_ms = FirstTime::new(Some(runner), None, Limits::default()).feed(bytes).unwrap_or(1_700_000_000_000);
    let mut frames: Vec<Frame> = ingest.feed(bytes, now_ms).collect();
    frames.extend(ingest.finish(now_ms));
    frames
}

/// The recordings of every runner, with their names.
pub(crate) fn recordings() -> Vec<(String, Vec<Frame>)> {
    let mut all = Vec::new();
    for runner in RUNNERS {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(fixtures().join(runner.name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file() && !path.ends_with("MANIFEST.json"))
            .collect();
        paths.sort();
        for path in paths {
            let name = format!("{}/{}", runner.name, path.file_name().unwrap().to_str().unwrap());
            all.push((name, frames(runner, &std::fs::read(path).unwrap())));
        }
    }
    all
}

/// One sample of each runner, by its name.
pub(crate) fn shown() -> Vec<(&'static str, Vec<Frame>)> {
    RUNNERS.iter().map(|runner| (runner.name, frames(runner, runner.sample.bytes))).collect()
}
