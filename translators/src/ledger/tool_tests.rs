//! Tools in the ledger: reported once, closed before their turn ends, with outputs in any order.

use super::*;
use crate::frame::{OutputStream, Tool, ToolCall, ToolKind};

fn kinds(ledger: &mut Ledger) -> Vec<&'static str> {
    ledger.take().map(|frame| frame.body.kind()).collect()
}

fn running(call_id: &str) -> (Ledger, StreamKey, Tool) {
    let mut ledger = Ledger::new("codex", Identity { run_id: Uuid::from_u128(1), session_id: None });
    let run = ledger.open_run("");
    ledger.turn_started(run, None);
    let tool = ledger.tool(Uuid::nil(), call_id);
    let call = ToolCall {
        tool: tool.clone(),
        name: Name::from("bash"),
        kind: ToolKind::Shell,
        args: crate::json::empty_object(),
    };
    ledger.tool_started(Place::main(run), call, None);
    (ledger, run, tool)
}

#[test]
fn a_call_is_known_from_its_start_on() {
    let (mut ledger, run, tool) = running("a");
    let other = ledger.tool(Uuid::nil(), "b");
    assert!(ledger.tool_known(run, &tool) && !ledger.tool_known(run, &other));
    ledger.tool_ended(Place::main(run), &tool, 0, None, None);
    assert!(ledger.tool_known(run, &tool) && !ledger.tool_runs(run, &tool));
}

#[test]
fn work_is_closed_before_the_turn_that_ends_for_a_reason() {
    let (mut ledger, run, _) = running("a");
    ledger.close_work(run);
    ledger.turn_ended(run, Some(Name::from("completed")));
    ledger.end_run(run, RunEnd::completed());
    ledger.release_ends();
    assert_eq!(
        kinds(&mut ledger),
        ["session_started", "turn_started", "tool_started", "tool_failed", "turn_ended", "session_ended"]
    );
}

#[test]
fn the_beginning_of_an_output_may_come_late() {
    let (mut ledger, run, tool) = running("a");
    let place = Place::main(run);
    ledger.tool_output(place, &tool, OutputStream::Stdout, "end");
    ledger.tool_output_front(place, &tool, "begin");
    ledger.tool_ended(place, &tool, 0, None, None);
    ledger.tool_output_front(place, &tool, "too late");
    let fronts: Vec<_> = ledger.take().filter(|frame| matches!(frame.body, Body::ToolStdoutFront { .. })).collect();
    assert_eq!(fronts.len(), 1);
}
