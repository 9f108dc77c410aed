//! Inputs with a very large number of open items: items beyond the bound are closed in order, no record is lost, and no step
//! depends on the number of open items.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test code"
)]

mod support;

use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use std::process::Command;

fn frames(runner_name: &str, most: usize, input: &str) -> Vec<Frame> {
    let mut ingest = Ingest::new(runner(runner_name).unwrap(), None, Limits::default(), support::identity());
    ingest = ingest.with_open_tools(most);
    let mut frames: Vec<Frame> = ingest.feed(input.as_bytes(), support::EPOCH_MS).collect();
    frames.extend(ingest.finish(support::EPOCH_MS));
    support::well_formed(&frames, runner_name);
    frames
}

/// Calls of Claude Code that never end, optionally followed by their results.
fn claude_calls(calls: usize, results: bool) -> String {
    let mut input = String::from("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    for call in 0..calls {
        input.push_str(&format!(
            "{{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{{\"id\":\"m{call}\",\"model\":\"x\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"c{call}\",\"name\":\"Bash\",\"input\":{{\"command\":\"ls\"}}}}]}}}}\n"
        ));
    }
    for call in (0..calls).filter(|_| results) {
        input.push_str(&format!(
            "{{\"type\":\"user\",\"session_id\":\"s\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"c{call}\",\"content\":\"ok\"}}]}}}}\n"
        ));
    }
    input
}

/// The maximum number of open calls. Checks that each call begins and ends once.
fn open_at_once(frames: &[Frame]) -> usize {
    let (mut open, mut most) = (std::collections::HashSet::new(), 0);
    let mut begun = std::collections::HashSet::new();
    for frame in frames {
        match &frame.body {
            Body::ToolStarted { call, .. } => {
                assert!(begun.insert(call.tool.id), "{} begins twice", call.tool.call_id);
                open.insert(call.tool.id);
                most = most.max(open.len());
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                assert!(open.remove(&tool.id), "{} ends and is not open", tool.call_id);
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
    most
}

#[test]
fn the_oldest_call_is_abandoned_if_too_many_are_open() {
    for results in [false, true] {
        let frames = frames("claude-code", 16, &claude_calls(100, results));
        // One more than the bound for a moment: the new call begins before the oldest is closed.
        assert!(open_at_once(&frames) <= 17);
        let given_up = frames.iter().filter(
            |frame| matches!(&frame.body, Body::ToolFailed { error, .. } if error.contains("ingest.max_open_tools")),
        );
        assert_eq!(given_up.count(), 84);
        let logs = frames.iter().filter(|frame| {
            matches!(&frame.body, Body::LogEmitted { message, .. } if message.contains("ingest.max_open_tools"))
        });
        assert_eq!(logs.count(), 1, "the first time is said");
        let records = frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        assert_eq!(records, if results { 201 } else { 101 }, "no record is lost");
        let ended = frames.iter().filter(|frame| matches!(frame.body, Body::ToolEnded { .. })).count();
        assert_eq!(ended, if results { 16 } else { 0 });
    }
}

#[test]
fn every_contract_closes_abandoned_calls() {
    let input = claude_calls(40, true);
    for contract in support::json_contracts() {
        let ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), support::identity())
            .with_open_tools(16);
        let mut translator = framegate_translators::pipeline::Translator::new(
            ingest,
            contract,
            framegate_translators::encode::EncoderOptions::default(),
        );
        let mut out = Vec::new();
        let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = framegate_translators::encode::EventRef<'_>>| {
            for event in events {
                framegate_translators::encode::write_ndjson(event, &mut out);
            }
        };
        translator.feed(input.as_bytes(), support::EPOCH_MS, &mut sink);
        translator.finish(support::EPOCH_MS, &mut sink);
        support::assert_clean(contract, &out, "calls that are given up");
    }
}

fn opencode_sessions(sessions: usize) -> String {
    (0..sessions)
        .map(|at| {
            format!("{{\"id\":\"e{at}\",\"type\":\"session.status\",\"properties\":{{\"sessionID\":\"s{at}\",\"status\":{{\"type\":\"busy\"}}}}}}\n")
        })
        .collect()
}

fn codex_children(children: usize) -> String {
    let turn = |thread: &str, id: &str| {
        format!(
            "{{\"method\":\"turn/started\",\"params\":{{\"threadId\":\"{thread}\",\"turn\":{{\"id\":\"{id}\",\"rootTurnId\":\"u\"}}}},\"emittedAtMs\":1}}\n"
        )
    };
    let mut input = turn("t", "u");
    (0..children).for_each(|at| input.push_str(&turn(&format!("k{at}"), &format!("v{at}"))));
    input
}

fn open_texts(texts: usize) -> String {
    let mut input = String::from(
        "{\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"in_progress\"}}\n",
    );
    for at in 0..texts {
        input.push_str(&format!(
            "{{\"type\":\"response.output_text.delta\",\"item_id\":\"m{at}\",\"output_index\":{at},\"content_index\":0,\"delta\":\"x\"}}\n"
        ));
    }
    input
}

/// The runner, and a function that makes an input of a given size.
type Input = (&'static str, fn(usize) -> String);

/// The allocations while an input is read: their number and their bytes.
fn cost(runner: &str, input: &str) -> [u64; 2] {
    let info = allocation_counter::measure(|| assert!(!frames(runner, 10_000, input).is_empty()));
    [info.count_total, info.bytes_total]
}

/// The inputs, one for each runner.
const INPUTS: [Input; 4] = [
    ("opencode", opencode_sessions),
    ("codex", codex_children),
    ("claude-code", |calls| claude_calls(calls, true)),
    ("open-responses", open_texts),
];

/// Four times the input allocates four times as much if no step copies what is open, and up to sixteen times if each step does.
/// Allocations are counted, so a loaded machine does not matter.
#[test]
fn no_step_copies_the_open_state() {
    for (runner, input) in INPUTS {
        // Lazily created data exists after this.
        cost(runner, &input(10));
        let (few, many) = (cost(runner, &input(2_000)), cost(runner, &input(8_000)));
        for (few, many) in few.into_iter().zip(many) {
            let ratio = many as f64 / few as f64;
            assert!((3.5..4.6).contains(&ratio), "{runner}: {few}, and {many} for four times as much: {ratio:.2}");
        }
    }
}

/// The variable that selects the input of [`an_input_to_be_counted`]: the runner, and the number of open items.
const COUNTED: &str = "FRAMEGATE_MANY_OPEN";

#[test]
#[ignore = "run by another test, under valgrind"]
fn an_input_to_be_counted() {
    let said = std::env::var(COUNTED).unwrap();
    let (name, size) = said.split_once(' ').unwrap();
    let (_, input) = INPUTS.iter().find(|(runner, _)| *runner == name).unwrap();
    let input = input(size.parse().unwrap());
    let mut ingest = Ingest::new(runner(name).unwrap(), None, Limits::default(), support::identity());
    let frames = ingest.feed(input.as_bytes(), support::EPOCH_MS).count();
    assert!(frames + ingest.finish(support::EPOCH_MS).count() > 0);
}

/// The number of instructions for reading that input; `None` if valgrind is not installed.
fn instructions(runner: &str, size: usize) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "an_input_to_be_counted", "--test-threads=1"])
        .env(COUNTED, format!("{runner} {size}"))
        .output()
        .ok()?;
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let counted = said.lines().find_map(|line| line.split_once("Collected : ")).unwrap_or_else(|| panic!("{said}"));
    Some(counted.1.trim().parse().unwrap())
}

/// Equal increments of the input take equal numbers of instructions, however many items are open. If each step searched the
/// open items, the second increment would take up to twice as many. Instructions are counted, so a loaded machine does not
/// matter. All three sizes are beyond the bounds at which the oldest items are closed.
#[test]
fn the_cost_of_a_step_does_not_depend_on_the_open_state() {
    let mut more = Vec::new();
    for (runner, _) in INPUTS {
        let [Some(few), Some(some), Some(many)] = [1_500, 4_000, 6_500].map(|size| instructions(runner, size)) else {
            eprintln!("not tested: valgrind is missing");
            return;
        };
        more.push((runner, some - few, (many - some) / (some - few)));
    }
    assert!(more.iter().all(|(.., ratio)| *ratio < 1.07), "{more:?}");
    eprintln!("{more:?}");
}

fn claude_sessions(sessions: usize) -> String {
    (0..sessions)
        .map(|at| {
            format!(
                "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s{at}\",\"model\":\"m\",\"tools\":[]}}\n"
            )
        })
        .collect()
}

fn codex_threads(threads: usize) -> String {
    let record = |at: usize, method: &str, status: &str| {
        format!(
            "{{\"method\":\"{method}\",\"params\":{{\"threadId\":\"t{at}\",\"turn\":{{\"id\":\"u{at}\"{status}}}}},\"emittedAtMs\":1}}\n"
        )
    };
    (0..threads)
        .map(|at| record(at, "turn/started", "") + &record(at, "turn/completed", ",\"status\":\"completed\""))
        .collect()
}

/// A feed that names more and more sessions: the oldest runs are ended, each run has one end, and none begins twice.
#[test]
fn too_many_sessions_end_the_oldest_runs() {
    let inputs: [(Input, usize); 3] = [
        (("opencode", opencode_sessions), 1024),
        (("claude-code", claude_sessions), 256),
        (("codex", codex_threads), 1),
    ];
    for ((runner, input), most) in inputs {
        let (mut open, mut at_once, mut begun) = (std::collections::HashSet::new(), 0, 0);
        for frame in frames(runner, 10_000, &input(20_000)) {
            match &frame.body {
                Body::SessionStarted { .. } => {
                    begun += 1;
                    assert!(open.insert(frame.stream.id));
                    at_once = at_once.max(open.len());
                }
                Body::SessionEnded(_) => assert!(open.remove(&frame.stream.id)),
                _ => {}
            }
        }
        assert_eq!((begun, open.len()), (20_000, 0), "{runner}");
        // Ends are held for a while for records that still belong to their runs.
        assert!(at_once <= most + 65, "{runner}: {at_once}");
    }
}
