//! Tools in the normalizer: reported once, closed before their turn ends, with outputs in any order.

use super::calls::MOST_HALVES;
use super::*;
use crate::frame::{OutputStream, Provider, RUN_ENDED_FIRST, RUN_INTERRUPTED_FIRST, Tool, ToolCall, ToolKind};
use crate::json::Utf16Text;

const PROVIDER: Provider = Provider { name: "test", title: "Test" };

fn kinds(normalizer: &mut Normalizer) -> Vec<&'static str> {
    normalizer.take().map(|frame| frame.body.kind()).collect()
}

fn running(call_id: &str) -> (Normalizer, StreamKey, Tool) {
    let mut normalizer = Normalizer::new(PROVIDER, Identity { run_id: Uuid::from_u128(1), session_id: None });
    let run = normalizer.open_run("");
    normalizer.turn_started(run, None);
    let tool = normalizer.tool(Uuid::nil(), call_id);
    let call = ToolCall {
        tool: tool.clone(),
        name: SharedStr::from("bash"),
        kind: ToolKind::Shell,
        args: crate::json::empty_object(),
    };
    normalizer.tool_started(Target::main(run), call, None);
    (normalizer, run, tool)
}

#[test]
fn a_call_is_running_from_its_start() {
    let (mut normalizer, run, tool) = running("a");
    let other = normalizer.tool(Uuid::nil(), "b");
    assert!(normalizer.tool_known(run, &tool) && !normalizer.tool_known(run, &other));
    normalizer.tool_ended(Target::main(run), &tool, 0, None, None);
    assert!(normalizer.tool_known(run, &tool) && !normalizer.tool_runs(run, &tool));
}

#[test]
fn open_work_is_closed_before_a_turn_that_ends_with_a_reason() {
    let (mut normalizer, run, _) = running("a");
    normalizer.close_work(run, &RunEnd::completed());
    normalizer.turn_ended(run, Some(SharedStr::from("completed")));
    normalizer.end_run(run, RunEnd::completed());
    normalizer.release_ends();
    assert_eq!(
        kinds(&mut normalizer),
        ["session_started", "turn_started", "tool_started", "tool_failed", "turn_ended", "session_ended"]
    );
}

#[test]
fn a_call_says_whether_a_person_interrupted_its_run() {
    for (end, error) in [
        (RunEnd::interrupted("interrupted", "x"), RUN_INTERRUPTED_FIRST),
        (RunEnd::interrupted("aborted", "x"), RUN_INTERRUPTED_FIRST),
        (RunEnd::interrupted(STREAM_ENDED, "x"), RUN_ENDED_FIRST),
        (RunEnd::failed("cancelled", "x"), RUN_ENDED_FIRST),
        (RunEnd::completed(), RUN_ENDED_FIRST),
    ] {
        let (mut normalizer, run, _) = running("a");
        normalizer.end_run(run, end);
        let failed = normalizer.take().find_map(|frame| match frame.body {
            Body::ToolFailed { error, .. } => Some(error),
            _ => None,
        });
        assert_eq!(failed.as_deref(), Some(error));
    }
}

#[test]
fn the_beginning_of_an_output_may_arrive_late() {
    let (mut normalizer, run, tool) = running("a");
    let target = Target::main(run);
    normalizer.tool_output(target, &tool, OutputStream::Stdout, "end");
    normalizer.tool_output_front(target, &tool, "begin");
    normalizer.tool_ended(target, &tool, 0, None, None);
    normalizer.tool_output_front(target, &tool, "too late");
    let fronts: Vec<_> = normalizer.take().filter(|frame| matches!(frame.body, Body::ToolStdoutFront { .. })).collect();
    assert_eq!(fronts.len(), 1);
}

#[test]
fn halves_of_surrogate_pairs_wait_for_each_other_up_to_a_bound() {
    let (mut normalizer, run, _) = running("a");
    let name = SharedStr::from("bash");
    let piece = |low: Option<u16>, text: &str, high: Option<u16>| Utf16Text { low, text: text.to_owned(), high };
    let first = |normalizer: &mut Normalizer, call_id: &str| {
        let tool = normalizer.tool(Uuid::nil(), call_id);
        normalizer.tool_input(Target::main(run), &tool, &name, piece(None, "", Some(0xD83D)));
        tool
    };
    let second = |normalizer: &mut Normalizer, tool: &Tool| {
        normalizer.take().for_each(drop);
        normalizer.tool_input(Target::main(run), tool, &name, piece(Some(0xDC4D), "b", None));
        let delta = normalizer.take().find_map(|frame| match frame.body {
            Body::ToolInputDelta { delta, .. } => Some(delta),
            _ => None,
        });
        delta.unwrap()
    };
    let tools: Vec<Tool> = (0..MOST_HALVES).map(|nth| first(&mut normalizer, &nth.to_string())).collect();
    assert_eq!(second(&mut normalizer, &tools[0]), "\u{1F44D}b");
    // The second of these is one too many.
    first(&mut normalizer, "more");
    let last = first(&mut normalizer, "too many");
    assert_eq!(second(&mut normalizer, &tools[1]), "\u{FFFD}b");
    assert_eq!(second(&mut normalizer, &last), "\u{1F44D}b");
}
