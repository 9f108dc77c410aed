//! The recordings of all runners, as spans.

use super::*;
use crate::telemetry::spans::{content, size_of};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::{RUNNERS, Runner, runner};
use framegate_translators::sequence::Identity;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use std::collections::HashSet;
use std::path::PathBuf;

/// Bounds that no recording reaches, without content.
const WIDE: Bounds = Bounds { spans: 1_000, sampled_per_million: MILLION, content: None };
/// The same with content.
const WITH_CONTENT: Bounds =
    Bounds { content: Some(ContentBounds { attribute_bytes: 1 << 20, all_bytes: 1 << 30 }), ..WIDE };

fn folder(runner: &'static Runner) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner.name)
}

fn frames(runner: &'static Runner, input: &[u8]) -> Vec<Frame> {
    let identity = Identity { run_id: Uuid::from_u128(7), session_id: None };
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity);
    let mut frames: Vec<Frame> = ingest.feed(input, 1_770_000_000_000).collect();
    frames.extend(ingest.finish(1_770_000_000_000));
    frames
}

fn recording(of: &str, name: &str) -> Vec<Frame> {
    let runner = runner(of).unwrap();
    frames(runner, &std::fs::read(folder(runner).join(name)).unwrap())
}

fn spans(frames: &[Frame]) -> Vec<Span> {
    spans_within(WIDE, frames)
}

fn spans_within(bounds: Bounds, frames: &[Frame]) -> Vec<Span> {
    let (mut open, mut done) = (Open::new(bounds), Vec::new());
    frames.iter().for_each(|frame| open.frame(frame, &mut done));
    let left = (open.runs.len(), open.spans, open.held, open.take_refused());
    assert_eq!(left, (0, 0, 0, 0), "no span may stay open");
    done
}

/// The frames of every recording, with its name.
fn recordings() -> impl Iterator<Item = (String, Vec<Frame>)> {
    RUNNERS.iter().flat_map(|runner| {
        let entries = std::fs::read_dir(folder(runner)).unwrap().map(|entry| entry.unwrap().path());
        let is_recording =
            |path: &PathBuf| path.extension().is_some_and(|extension| extension == "ndjson" || extension == "sse");
        entries
            .filter(is_recording)
            .map(|path| (path.display().to_string(), frames(runner, &std::fs::read(&path).unwrap())))
    })
}

fn value<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    span.attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()
}

fn text<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    value(span, key).map(|value| match value {
        Value::StringValue(text) => &**text,
        other => panic!("{key}: {other:?}"),
    })
}

fn number(span: &Span, key: &str) -> Option<i64> {
    value(span, key).map(|value| match value {
        Value::IntValue(number) => *number,
        other => panic!("{key}: {other:?}"),
    })
}

fn has_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

fn of<'s>(spans: &'s [Span], operation: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| text(span, "gen_ai.operation.name") == Some(operation)).collect()
}

/// The messages of an attribute.
fn messages(span: &Span, key: &str) -> Vec<serde_json::Value> {
    text(span, key).map_or_else(Vec::new, |json| serde_json::from_str(json).unwrap())
}

/// The texts of a frame that no span may contain.
fn payloads(body: &Body) -> Vec<&str> {
    match body {
        Body::SessionStarted { input } => vec![input],
        Body::OutputTextDelta(delta) | Body::ReasoningDelta(delta) => vec![&delta.delta],
        Body::ToolStdout { chunk, .. } | Body::ToolStderr { chunk, .. } => vec![chunk],
        Body::ToolStarted { call, .. } => vec![call.args.get()],
        Body::ToolFailed { error, .. } => vec![error],
        Body::ErrorReported(error) => vec![&error.message],
        _ => Vec::new(),
    }
}

#[test]
fn every_recording_becomes_complete_traces_without_payloads() {
    let (mut runs, mut tools, mut turns) = (0, 0, 0);
    for (name, frames) in recordings() {
        let spans = spans(&frames);
        let count = |kind: &str| {
            let of_runs = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
            of_runs.filter(|frame| frame.body.kind() == kind).count()
        };
        let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
        assert_eq!(roots.len(), count("session_started"), "{name}");
        assert_eq!(of(&spans, "execute_tool").len(), count("tool_started"), "{name}");
        assert_eq!(of(&spans, "chat").len(), count("turn_started"), "{name}");
        assert_eq!(of(&spans, "invoke_agent").len(), roots.len() + count("subagent_started"), "{name}");
        let texts: Vec<&str> = frames.iter().flat_map(|frame| payloads(&frame.body)).collect();
        for span in &spans {
            let keys: HashSet<&str> = span.attributes.iter().map(|attribute| &*attribute.key).collect();
            assert_eq!(keys.len(), span.attributes.len(), "{name}: a duplicate key in {span:?}");
            assert!(text(span, "session.id").is_some_and(|id| !id.is_empty()), "{name}: {span:?}");
            let root = roots.iter().find(|root| root.trace_id == span.trace_id).unwrap();
            let (begin, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
            assert!(begin >= root.start_time_unix_nano && end <= root.end_time_unix_nano, "{name}: {span:?}");
            assert!(begin <= end, "{name}: {span:?}");
            let is_known = spans.iter().any(|other| other.span_id == span.parent_span_id);
            assert!(is_known || span.parent_span_id.is_empty(), "{name}: {span:?} has no parent");
            let shown = format!("{span:?}");
            for payload in texts.iter().filter(|payload| payload.len() > 12) {
                assert!(!shown.contains(*payload), "{name}: {payload:?} is in {shown}");
            }
        }
        let ids: HashSet<_> = spans.iter().map(|span| (&span.trace_id, &span.span_id)).collect();
        assert_eq!(ids.len(), spans.len(), "{name}: two spans have the same id");
        runs += roots.len();
        tools += count("tool_started");
        turns += count("turn_started");
    }
    assert!(runs > 200 && tools > 100 && turns > 200, "{runs} runs, {tools} tools, {turns} turns");
}

#[test]
fn a_run_of_claude_code_has_the_expected_spans() {
    let frames = recording("claude-code", "subagent.partial.ndjson");
    let spans = spans(&frames);
    let root = spans.last().unwrap();
    assert_eq!(root.name, "invoke_agent claude-code");
    assert_eq!(root.trace_id, frames[0].stream.id.as_bytes());
    assert_eq!(text(root, "gen_ai.provider.name"), Some("anthropic"));
    assert_eq!(text(root, "framegate.run.end_reason"), Some("completed"));
    assert_eq!(root.status, None);
    assert!(number(root, "gen_ai.usage.input_tokens").is_some_and(|tokens| tokens > 0));
    let chats = of(&spans, "chat");
    assert!(chats.iter().all(|chat| chat.kind() == SpanKind::Client && chat.name.starts_with("chat claude-")));
    let with_usage = chats.iter().filter(|chat| number(chat, "gen_ai.usage.output_tokens").is_some()).count();
    assert!(with_usage * 2 > chats.len(), "{with_usage} of {} turns have their tokens", chats.len());
    let agent = of(&spans, "execute_tool").into_iter().find(|span| span.name == "execute_tool Agent").unwrap();
    assert_eq!(agent.parent_span_id, root.span_id);
    let bash = of(&spans, "execute_tool").into_iter().find(|span| span.name == "execute_tool Bash").unwrap();
    assert_eq!(bash.parent_span_id, agent.span_id, "the spans of a subagent must be below its tool");
    assert_eq!(number(bash, "framegate.tool.exit_code"), Some(0));
    let sub = of(&spans, "invoke_agent").into_iter().find(|span| span.name == "invoke_agent general-purpose").unwrap();
    assert_eq!(sub.parent_span_id, agent.span_id);
}

#[test]
fn failures_become_a_status_and_an_error_type() {
    let spans = spans(&recording("claude-code", "bash_fail.ndjson"));
    let bash = of(&spans, "execute_tool")[0];
    assert_eq!(text(bash, "error.type"), Some("exit_code"));
    assert!(has_failed(bash));
    let spans = super::tests::spans(&recording("claude-code", "api_400.ndjson"));
    let root = spans.last().unwrap();
    assert!(has_failed(root), "{root:?}");
    assert!(text(root, "error.type").is_some());
    let spans = super::tests::spans(&recording("claude-code", "api_429_then_ok.partial.ndjson"));
    let event = &spans.last().unwrap().events[0];
    assert_eq!(event.name, "framegate.error");
}

#[test]
fn open_spans_are_bounded_and_refused_ones_counted() {
    let frames = recording("claude-code", "parallel_tools.partial.ndjson");
    let all = spans(&frames).len();
    for most in 0..4 {
        let (mut open, mut done) = (Open::new(Bounds { spans: most, ..WIDE }), Vec::new());
        for frame in &frames {
            open.frame(frame, &mut done);
            assert!(open.spans <= most);
            let held: usize = open.runs.values().map(|run| 1 + run.parts.len()).sum();
            assert_eq!(held, open.spans);
        }
        let refused = open.take_refused();
        assert!(refused > 0 && open.spans == 0, "{most}: {refused} refused");
        // If the bound leaves no span for the run itself, no spans within it are requested.
        assert!(most == 0 || done.len() as u64 + refused == all as u64, "{most}: {} and {refused}", done.len());
    }
}

#[test]
fn a_run_s_id_decides_whether_it_is_sampled() {
    let share = |per_million: u64| {
        let bounds = Bounds { sampled_per_million: per_million, ..WIDE };
        // Ids whose last bytes differ evenly.
        (0..1_000_u128).filter(|run| bounds.samples(Uuid::from_u128(run * ((1_u128 << 56) / 1_000)))).count()
    };
    assert_eq!([share(0), share(1_000_000)], [0, 1_000]);
    assert!((249..=251).contains(&share(250_000)), "{}", share(250_000));
    let last = Bounds { sampled_per_million: MILLION, ..WIDE };
    assert!(last.samples(Uuid::from_u128(u128::MAX)));
    let none = Bounds { sampled_per_million: 0, ..WIDE };
    assert!(spans_within(none, &recording("claude-code", "bash_ok.ndjson")).is_empty());
}

#[test]
fn content_of_a_run_with_a_tool() {
    let spans = spans_within(WITH_CONTENT, &recording("claude-code", "bash_ok.partial.ndjson"));
    let answer = &messages(spans.last().unwrap(), "gen_ai.output.messages")[0];
    assert_eq!((&answer["role"], &answer["finish_reason"]), (&"assistant".into(), &"stop".into()), "{answer}");
    assert_eq!(answer["parts"][0]["type"], "text");
    let bash = of(&spans, "execute_tool")[0];
    let arguments: serde_json::Value = serde_json::from_str(text(bash, "gen_ai.tool.call.arguments").unwrap()).unwrap();
    assert!(arguments["command"].is_string(), "{arguments}");
    // The turn that requested the tool has the call, and the next one reads the result.
    let [first, second] = &*of(&spans, "chat") else { panic!("{spans:#?}") };
    let id = text(bash, "gen_ai.tool.call.id").unwrap();
    let called = &messages(first, "gen_ai.output.messages")[0];
    assert_eq!(called["finish_reason"], "tool_call", "{called}");
    let call = called["parts"].as_array().unwrap().last().unwrap();
    assert_eq!(call, &serde_json::json!({"type": "tool_call", "id": id, "name": "Bash", "arguments": arguments}));
    let read = &messages(second, "gen_ai.input.messages")[0];
    let result = text(bash, "gen_ai.tool.call.result").unwrap();
    let response = serde_json::json!({"type": "tool_call_response", "id": id, "response": result});
    assert_eq!(read, &serde_json::json!({"role": "tool", "parts": [response]}));
    assert_eq!(messages(second, "gen_ai.output.messages")[0]["parts"], answer["parts"]);
}

#[test]
fn content_of_a_subagent_is_its_task_and_its_report() {
    let spans = spans_within(WITH_CONTENT, &recording("claude-code", "subagent.partial.ndjson"));
    let sub = of(&spans, "invoke_agent").into_iter().find(|span| span.name == "invoke_agent general-purpose").unwrap();
    let content = |key: &str| messages(sub, key)[0]["parts"][0]["content"].as_str().unwrap().to_owned();
    assert!(content("gen_ai.input.messages").contains("SUBTASK-ALPHA"), "{sub:?}");
    assert!(!content("gen_ai.output.messages").is_empty(), "{sub:?}");
}

#[test]
fn content_of_every_recording_has_the_form_of_the_conventions() {
    let (mut with_input, mut with_output, mut calls) = (0, 0, 0);
    for (name, frames) in recordings() {
        for span in spans_within(WITH_CONTENT, &frames) {
            assert_eq!(number(&span, "framegate.content.omitted_bytes"), None, "{name}");
            let input = messages(&span, "gen_ai.input.messages");
            let output = messages(&span, "gen_ai.output.messages");
            assert!(output.len() <= 1, "{name}: {output:?}");
            assert!(output.iter().all(|message| message["finish_reason"].is_string()), "{name}: {output:?}");
            assert!(input.iter().all(|message| message.get("finish_reason").is_none()), "{name}: {input:?}");
            for message in input.iter().chain(&output) {
                let role = message["role"].as_str().unwrap();
                assert!(["user", "assistant", "tool"].contains(&role), "{name}: {message}");
                let parts = message["parts"].as_array().unwrap();
                assert!(!parts.is_empty(), "{name}: {message}");
                for part in parts {
                    let has = |key: &str| part[key].is_string();
                    let is_right = match part["type"].as_str().unwrap() {
                        "text" | "reasoning" => has("content"),
                        "tool_call" => has("id") && has("name") && (part["arguments"].is_object() || has("arguments")),
                        "tool_call_response" => has("id") && has("response"),
                        "file" => has("modality") && has("file_id"),
                        _ => false,
                    };
                    assert!(is_right, "{name}: {part}");
                }
                calls += parts.iter().filter(|part| part["type"] == "tool_call").count();
            }
            with_input += usize::from(!input.is_empty());
            with_output += usize::from(!output.is_empty());
        }
    }
    assert!(with_input > 200 && with_output > 400 && calls > 100, "{with_input}, {with_output}, {calls}");
}

#[test]
fn content_is_bounded_for_each_attribute_and_for_all_runs() {
    let largest = |spans: &[Span]| spans.iter().map(size_of).max().unwrap_or(0);
    let mut cut = 0;
    for (name, frames) in recordings() {
        let bare = largest(&spans(&frames));
        for (attribute_bytes, all_bytes) in [(256, 1 << 30), (1 << 20, 700), (300, 0)] {
            let bounds = Bounds { content: Some(ContentBounds { attribute_bytes, all_bytes }), ..WIDE };
            let (mut open, mut done) = (Open::new(bounds), Vec::new());
            for frame in &frames {
                open.frame(frame, &mut done);
                let held: usize = open.runs.values().map(Run::held).sum();
                assert_eq!(held, open.held, "{name}");
                assert!(held <= all_bytes, "{name}: {held} bytes are held");
            }
            assert_eq!((open.runs.len(), open.held), (0, 0), "{name}");
            if attribute_bytes < 1_000 {
                // Escapes may lengthen a text sixfold.
                let most = bare + 2 * (6 * attribute_bytes + 1_000);
                assert!(largest(&done) <= most, "{name}: {} bytes", largest(&done));
            }
            cut += done.iter().filter(|span| number(span, "framegate.content.omitted_bytes").is_some()).count();
            for span in &done {
                for key in ["gen_ai.input.messages", "gen_ai.output.messages"] {
                    messages(span, key);
                }
            }
        }
    }
    assert!(cut > 200, "{cut} spans were cut");
    assert!(content::matters(&Body::ToolStderr { tool: tool("a"), chunk: String::new() }));
}

fn tool(call_id: &str) -> framegate_translators::frame::Tool {
    framegate_translators::frame::Tool { id: Uuid::from_u128(1), call_id: call_id.into() }
}
