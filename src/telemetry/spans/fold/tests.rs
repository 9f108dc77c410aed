//! The recordings of all runners, as spans.

use super::*;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::{RUNNERS, Runner, runner};
use framegate_translators::sequence::Identity;
use std::path::PathBuf;

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

fn spans(frames: &[Frame]) -> Vec<SpanData> {
    let (mut open, mut done) = (Open::new(1_000), Vec::new());
    frames.iter().for_each(|frame| open.frame(frame, &mut done));
    assert_eq!((open.runs.len(), open.spans, open.take_refused()), (0, 0, 0), "no span may stay open");
    done
}

fn text<'s>(span: &'s SpanData, key: &str) -> Option<Cow<'s, str>> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| attribute.value.as_str())
}

fn number(span: &SpanData, key: &str) -> Option<i64> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| match attribute.value {
        Value::I64(number) => number,
        ref other => panic!("{key}: {other:?}"),
    })
}

fn of<'s>(spans: &'s [SpanData], operation: &str) -> Vec<&'s SpanData> {
    spans.iter().filter(|span| text(span, "gen_ai.operation.name").as_deref() == Some(operation)).collect()
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
    for runner in RUNNERS {
        for entry in std::fs::read_dir(folder(runner)).unwrap() {
            let path = entry.unwrap().path();
            if !path.extension().is_some_and(|extension| extension == "ndjson" || extension == "sse") {
                continue;
            }
            let frames = frames(runner, &std::fs::read(&path).unwrap());
            let spans = spans(&frames);
            let count = |kind: &str| {
                let of_runs = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
                of_runs.filter(|frame| frame.body.kind() == kind).count()
            };
            let name = path.display();
            let roots: Vec<&SpanData> = spans.iter().filter(|span| span.parent_span_id == SpanId::INVALID).collect();
            assert_eq!(roots.len(), count("session_started"), "{name}");
            assert_eq!(of(&spans, "execute_tool").len(), count("tool_started"), "{name}");
            assert_eq!(of(&spans, "chat").len(), count("turn_started"), "{name}");
            assert_eq!(of(&spans, "invoke_agent").len(), roots.len() + count("subagent_started"), "{name}");
            let texts: Vec<&str> = frames.iter().flat_map(|frame| payloads(&frame.body)).collect();
            for span in &spans {
                let keys: std::collections::HashSet<&str> =
                    span.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
                assert_eq!(keys.len(), span.attributes.len(), "{name}: a duplicate key in {span:?}");
                let trace = span.span_context.trace_id();
                let root = roots.iter().find(|root| root.span_context.trace_id() == trace).unwrap();
                assert!(span.start_time >= root.start_time && span.end_time <= root.end_time, "{name}: {span:?}");
                assert!(span.start_time <= span.end_time, "{name}: {span:?}");
                let mut known = spans.iter().map(|span| span.span_context.span_id()).chain([SpanId::INVALID]);
                assert!(known.any(|id| id == span.parent_span_id), "{name}: {span:?} has no parent");
                let shown = format!("{:?}{:?}{:?}{:?}", span.name, span.attributes, span.events, span.status);
                for payload in texts.iter().filter(|payload| payload.len() > 12) {
                    assert!(!shown.contains(*payload), "{name}: {payload:?} is in {shown}");
                }
            }
            let ids: std::collections::HashSet<_> =
                spans.iter().map(|span| (span.span_context.trace_id(), span.span_context.span_id())).collect();
            assert_eq!(ids.len(), spans.len(), "{name}: two spans have the same id");
            runs += roots.len();
            tools += count("tool_started");
            turns += count("turn_started");
        }
    }
    assert!(runs > 200 && tools > 100 && turns > 200, "{runs} runs, {tools} tools, {turns} turns");
}

#[test]
fn a_run_of_claude_code_has_the_expected_spans() {
    let frames = recording("claude-code", "subagent.partial.ndjson");
    let spans = spans(&frames);
    let root = spans.last().unwrap();
    assert_eq!(root.name, "invoke_agent claude-code");
    assert_eq!(root.span_context.trace_id().to_bytes(), *frames[0].stream.id.as_bytes());
    assert_eq!(text(root, "gen_ai.provider.name").as_deref(), Some("anthropic"));
    assert_eq!(text(root, "framegate.run.end_reason").as_deref(), Some("completed"));
    assert_eq!(root.status, Status::Unset);
    assert!(number(root, "gen_ai.usage.input_tokens").is_some_and(|tokens| tokens > 0));
    let chats = of(&spans, "chat");
    assert!(chats.iter().all(|chat| chat.span_kind == SpanKind::Client && chat.name.starts_with("chat claude-")));
    let with_usage = chats.iter().filter(|chat| number(chat, "gen_ai.usage.output_tokens").is_some()).count();
    assert!(with_usage * 2 > chats.len(), "{with_usage} of {} turns have their tokens", chats.len());
    let agent = of(&spans, "execute_tool").into_iter().find(|span| span.name == "execute_tool Agent").unwrap();
    assert_eq!(agent.parent_span_id, root.span_context.span_id());
    let bash = of(&spans, "execute_tool").into_iter().find(|span| span.name == "execute_tool Bash").unwrap();
    assert_eq!(bash.parent_span_id, agent.span_context.span_id(), "the spans of a subagent must be below its tool");
    assert_eq!(number(bash, "framegate.tool.exit_code"), Some(0));
    let sub = of(&spans, "invoke_agent").into_iter().find(|span| span.name == "invoke_agent general-purpose").unwrap();
    assert_eq!(sub.parent_span_id, agent.span_context.span_id());
}

#[test]
fn failures_become_a_status_and_an_error_type() {
    let spans = spans(&recording("claude-code", "bash_fail.ndjson"));
    let bash = of(&spans, "execute_tool")[0];
    assert_eq!(text(bash, "error.type").as_deref(), Some("exit_code"));
    assert!(matches!(&bash.status, Status::Error { .. }));
    let spans = super::tests::spans(&recording("claude-code", "api_400.ndjson"));
    let root = spans.last().unwrap();
    assert!(matches!(&root.status, Status::Error { .. }), "{root:?}");
    assert!(text(root, "error.type").is_some());
    let spans = super::tests::spans(&recording("claude-code", "api_429_then_ok.partial.ndjson"));
    let event = &spans.last().unwrap().events.events[0];
    assert_eq!(event.name, "framegate.error");
}

#[test]
fn open_spans_are_bounded_and_refused_ones_counted() {
    let frames = recording("claude-code", "parallel_tools.partial.ndjson");
    let all = spans(&frames).len();
    for most in 0..4 {
        let (mut open, mut done) = (Open::new(most), Vec::new());
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
