//! The work that is counted: a fixed set of recordings through each stage, and sessions of two lengths.

use crate::sessions::{self, Shape};
use crate::stages::{self, Counts, Encoders};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::Events;
use framegate_translators::frame::Frame;
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::{RUNNERS, Runner};
use framegate_translators::schema::Schemas;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

/// Parts of the names of stages: a name is the runner, then the work.
pub(crate) const WHOLE: &str = " whole path ";
pub(crate) const MORE: &str = " one more contract ";
pub(crate) const SHORT: &str = ", short";
pub(crate) const LONG: &str = ", long";

/// The number of pieces in a short session, and the factor for a long one.
const SHORT_PIECES: usize = 500;
const TIMES: usize = 12;

/// The recordings: typical output of runners, some tens of kilobytes. They are listed by name, so that new recordings do not
/// change the counts. For a runner without a row, its sample is counted.
const RECORDINGS: &[(&str, &[&str])] = &[
    (
        "claude-code",
        &[
            "bash_ok.partial.ndjson",
            "parallel_tools.partial.ndjson",
            "subagent.partial.ndjson",
            "task_tools.ndjson",
            "compact_manual.ndjson",
        ],
    ),
    (
        "codex",
        &[
            "appserver-mixed.ndjson",
            "appserver-subagent.ndjson",
            "appserver-two-turns.ndjson",
            "exec-command-ok.ndjson",
            "exec-mixed-session.ndjson",
            "exec-parallel-commands.ndjson",
            "exec-reasoning-text.ndjson",
        ],
    ),
    (
        "opencode",
        &["event-subagent.sse", "event-tools.sse", "event-text.sse", "run-parallel.ndjson", "run-edit.ndjson"],
    ),
    (
        "open-responses",
        &[
            "aimock__mixed.sse",
            "azure-agentserver__parallel.sse",
            "hf-responses-js__texttool.sse",
            "litellm__texttool.sse",
            "ogx__reasoning.sse",
            "scripted__parallel-interleaved.sse",
            "scripted__reasoning-summary.sse",
        ],
    ),
    (
        "gemini-cli",
        &[
            "many-turns.jsonl",
            "parallel.jsonl",
            "thought-tool.jsonl",
            "edit.jsonl",
            "text-between.jsonl",
            "subagent.jsonl",
            "resume.3.session.jsonl",
            "todos.session.jsonl",
            "parallel.session.jsonl",
        ],
    ),
    (
        "qwen-code",
        &[
            "many-turns.partial.jsonl",
            "parallel.partial.jsonl",
            "subagent-background.partial.jsonl",
            "todos.partial.jsonl",
            "in-two-prompts.partial.jsonl",
            "resume.3.session.jsonl",
        ],
    ),
    ("pi", &["many-turns.jsonl", "parallel.jsonl", "thought-tool.jsonl", "rpc-steer.jsonl", "edit.session.jsonl"]),
    (
        "copilot",
        &["parallel.jsonl", "task-explore.jsonl", "bash-ok.jsonl", "responses.jsonl", "many-turns.session.jsonl"],
    ),
    (
        "acp",
        &[
            "question.both.ndjson",
            "bash_large.codex.jsonl",
            "parallel.codex.jsonl",
            "bash.opencode.jsonl",
            "edit.opencode.jsonl",
            "thoughts.kimi.jsonl",
            "v2_tools.claude.jsonl",
        ],
    ),
    (
        "frames",
        &[
            "claude-code.v2.ndjson",
            "codex.v2.ndjson",
            "opencode.v2.ndjson",
            "open-responses.v2.ndjson",
            "acp.v2.ndjson",
        ],
    ),
];

/// One unit of work that is counted.
pub(crate) struct Stage<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
    /// Whether it runs once before it is counted, so that work that is done only once (compiling schemas, checking shapes) is
    /// excluded.
    pub(crate) warm: bool,
    pub(crate) run: &'a mut dyn FnMut() -> Counts,
}

/// Calls `sink` with each part, always in the same order. `only` is a runner or a session; `None` means all of them.
pub(crate) fn each(only: Option<&str>, sink: &mut dyn FnMut(Stage<'_>)) {
    let is_wanted = |name: &str| only.is_none_or(|only| only == name);
    for runner in RUNNERS.iter().filter(|runner| is_wanted(runner.name)) {
        stages_of(runner, sink);
    }
    for session in sessions::all().filter(|session| is_wanted(session.name)) {
        length_of(session, sink);
    }
}

fn stages_of(runner: &'static Runner, sink: &mut dyn FnMut(Stage<'_>)) {
    let sample = [runner.sample.file];
    let names = RECORDINGS.iter().find(|(name, _)| *name == runner.name).map_or(&sample[..], |row| row.1);
    let all: HashMap<String, Vec<u8>> = stages::recordings(runner).into_iter().collect();
    let inputs: Vec<&Vec<u8>> = names.iter().map(|name| &all[*name]).collect();
    let bytes = inputs.iter().map(|input| input.len() as u64).sum();
    let frames: Vec<Vec<Frame>> = inputs.iter().map(|input| stages::decode(stages::ingest(runner), input)).collect();
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    let redacting = || stages::ingest(runner).redacting(rules.clone());
    // Large enough never to grow. Growth would be counted in whichever stage it happens.
    let mut out = Vec::with_capacity(4 << 20);
    let mut stage = |name: &str, run: &mut dyn FnMut() -> Counts| {
        sink(Stage { name: &format!("{}{name}", runner.name), bytes, warm: true, run });
    };
    stage(" floor, Value round trip", &mut || inputs.iter().map(|input| stages::round_trip(input, &mut out)).sum());
    stage(" floor, typed and raw", &mut || inputs.iter().map(|input| stages::typed(input, &mut out)).sum());
    let counted = |frames: Vec<Frame>| Counts { events: frames.len() as u64, bytes_out: 0 };
    stage(" decode", &mut || inputs.iter().map(|input| counted(stages::decode(stages::ingest(runner), input))).sum());
    stage(" redact and decode", &mut || inputs.iter().map(|input| counted(stages::decode(redacting(), input))).sum());
    for contract in CONTRACTS {
        let schemas = (!contract.schemas.is_empty()).then(|| Schemas::compile(contract.schemas).unwrap());
        let schemas = schemas.as_ref();
        stage(&format!("{WHOLE}{}", contract.name), &mut || {
            inputs.iter().map(|input| stages::whole(redacting(), input, contract, schemas, &mut out)).sum()
        });
        stage(&format!("{MORE}{}", contract.name), &mut || {
            frames.iter().map(|frames| stages::encode(frames, contract, schemas, &mut out)).sum()
        });
    }
}

/// Runs a session in two lengths: decoded, and decoded and encoded in every contract at once.
fn length_of(session: &sessions::Session, sink: &mut dyn FnMut(Stage<'_>)) {
    let runner = RUNNERS.iter().find(|runner| runner.name == session.runner).unwrap();
    let pieces = if session.shape == Shape::Output { SHORT_PIECES / 10 } else { SHORT_PIECES };
    for (length, pieces) in [(SHORT, pieces), (LONG, pieces * TIMES)] {
        let input = session.bytes(pieces);
        let mut stage = |what: &str, run: &mut dyn FnMut() -> Counts| {
            sink(Stage {
                name: &format!("{} {what}{length}", session.name),
                bytes: input.len() as u64,
                warm: false,
                run,
            });
        };
        let mut said = 0;
        stage("decode", &mut || {
            let mut counts = Counts::default();
            stages::decode_into(stages::ingest(runner), &input, &mut |frame| {
                counts.events += 1;
                said += usize::from(frame.body.kind() == session.gives);
                black_box(&frame);
            });
            counts
        });
        assert_eq!(said, pieces, "{}: each piece must produce one {}", session.name, session.gives);
        stage("every contract", &mut || {
            let mut counts = Counts::default();
            let mut encoders: Vec<Encoders> = CONTRACTS.iter().map(Encoders::new).collect();
            let mut events = Events::default();
            stages::decode_into(stages::ingest(runner), &input, &mut |frame| {
                counts.events += 1;
                for encoder in &mut encoders {
                    events.clear();
                    encoder.frame(&frame, &mut events);
                    counts.bytes_out += events.iter().map(|event| event.payload.len() as u64).sum::<u64>();
                }
            });
            counts
        });
    }
}
