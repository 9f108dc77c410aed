//! Every recording, as if the host had sent the prompt: each runner's first run has it once, before its content.

use crate::support::*;
use framegate_translators::encode::{EncoderOptions, write_ndjson};
use framegate_translators::frame::{Body, Frame, LogLevel};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Translator;
use framegate_translators::redact::{Rules, Settings};
use std::sync::Arc;

const PROMPT: &str = "What the host asked";

fn told(recording: &Recording) -> Vec<Frame> {
    let mut ingest = ingest(recording.runner, Limits::default());
    ingest.expect_prompt(PROMPT, &[]);
    let mut frames: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}

/// The first run, and its messages before its content.
fn first_run(frames: &[Frame]) -> Option<(String, Vec<String>)> {
    let run = frames.iter().find(|frame| matches!(frame.body, Body::SessionStarted { .. }))?;
    let Body::SessionStarted { input } = &run.body else { unreachable!() };
    let of_run = frames.iter().filter(|frame| frame.stream.id == run.stream.id && frame.parent_tool_id.is_none());
    let is_content = |body: &Body| {
        matches!(
            body,
            Body::OutputTextDelta(_) | Body::ReasoningDelta(_) | Body::ToolStarted { .. } | Body::SessionEnded(_)
        )
    };
    let before = of_run.take_while(|frame| !is_content(&frame.body));
    let said = before.filter_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message.text.clone()),
        _ => None,
    });
    Some((input.clone(), said.collect()))
}

#[test]
fn a_run_has_its_prompt_once() {
    let (mut given, mut repeated, mut read) = (0, 0, 0);
    for recording in recordings() {
        let plain = frames(recording.runner, &recording.bytes);
        let told = told(&recording);
        // A run that is read has its prompt from the host that began it.
        if recording.runner.is_of_frames {
            assert_eq!(format!("{told:?}"), format!("{plain:?}"), "{}", recording.name);
            read += 1;
            continue;
        }
        let Some((input, said)) = first_run(&plain) else { continue };
        let (told_input, told_said) = first_run(&told).unwrap();
        assert_eq!(told_input, if input.is_empty() { PROMPT.to_owned() } else { input }, "{}", recording.name);
        if said.is_empty() {
            assert_eq!(told_said, [PROMPT], "{}", recording.name);
            given += 1;
        } else {
            assert_eq!(told_said, said, "{}", recording.name);
            repeated += 1;
        }
        let count = |frames: &[Frame]| frames.iter().filter(|frame| matches!(frame.body, Body::UserMessage(_))).count();
        let more = count(&told) - count(&plain);
        assert_eq!(more, usize::from(said.is_empty()), "{}: another run has the prompt", recording.name);
        well_formed(&told, &recording.name);
    }
    assert!(given > 100 && repeated > 20 && read > 10, "{given} {repeated} {read}");
}

#[test]
fn every_contract_is_clean_with_the_prompt() {
    for recording in recordings() {
        for contract in json_contracts() {
            let mut ingest = ingest(recording.runner, Limits::default());
            ingest.expect_prompt(PROMPT, &[]);
            let options = EncoderOptions { user_messages: true, ..EncoderOptions::default() };
            let (mut translator, mut out) = (Translator::new(ingest, contract, options), Vec::new());
            let mut sink =
                |_: &Frame, events: &mut dyn Iterator<Item = framegate_translators::encode::EventRef<'_>>| {
                    for event in events {
                        write_ndjson(event, &mut out);
                    }
                };
            translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
            translator.finish(EPOCH_MS, &mut sink);
            assert_clean(contract, &out, &recording.name);
        }
    }
}

#[test]
fn secrets_are_removed_from_a_prompt() {
    let recording = recordings().find(|recording| recording.name.contains("bash_ok.partial")).unwrap();
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    let mut ingest = ingest(recording.runner, Limits::default()).redacting(rules);
    ingest.expect_prompt("Use sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-AAAAAAAA", &[]);
    let frames: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
    let (input, said) = first_run(&frames).unwrap();
    assert!(input.starts_with("Use ") && !input.contains("sk-ant-api03-AAAA"), "{input}");
    assert_eq!(said, [input]);
}

/// The prompts of all runs that have one, in order.
fn prompts(frames: &[Frame]) -> Vec<&str> {
    let said = |frame: &&Frame| frame.parent_tool_id.is_none();
    let texts = frames.iter().filter(said).filter_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message.text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn warnings(frames: &[Frame]) -> Vec<&str> {
    let messages = frames.iter().filter_map(|frame| match &frame.body {
        Body::LogEmitted { level: LogLevel::Warn, message } => Some(message.as_str()),
        _ => None,
    });
    messages.collect()
}

#[test]
fn a_run_that_breaks_off_says_which_prompts_its_runner_did_not_answer() {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w","tools":[]}"#;
    let long = "ü".repeat(2000);
    let mut ingest = ingest(runner, Limits::default());
    ingest.expect_prompt("first", &[]);
    ingest.expect_prompt(&long, &[]);
    (0..20).for_each(|nth| ingest.expect_prompt(&format!("later {nth}"), &[]));
    let mut told: Vec<Frame> = ingest.feed(format!("{init}\n").as_bytes(), EPOCH_MS).collect();
    told.extend(ingest.finish(EPOCH_MS));
    let lost = warnings(&told);
    assert_eq!(lost.len(), 17);
    assert_eq!(lost[0], format!("the runner ended before it answered this prompt: {}…", &long[..1024]));
    assert_eq!(lost[1], "the runner ended before it answered this prompt: later 0");
    assert_eq!(lost[16], "the runner ended before it answered 5 more prompts");
    let of_run = told.iter().filter(|frame| matches!(frame.body, Body::LogEmitted { .. } | Body::SessionEnded(_)));
    let streams: std::collections::HashSet<_> = of_run.map(|frame| frame.stream.id).collect();
    assert_eq!(streams.len(), 1, "the warnings are in the run");
    well_formed(&told, "unanswered prompts");
    // At the bounds, nothing is left out.
    let mut full = self::ingest(runner, Limits::default());
    full.expect_prompt("first", &[]);
    (0..16).for_each(|_| full.expect_prompt(&long[..1024], &[]));
    let mut told: Vec<Frame> = full.feed(format!("{init}\n").as_bytes(), EPOCH_MS).collect();
    told.extend(full.finish(EPOCH_MS));
    let whole = format!("the runner ended before it answered this prompt: {}", &long[..1024]);
    assert_eq!(warnings(&told), vec![whole; 16]);
    // If no run began, the answer to the host's request says so.
    let mut unanswered = self::ingest(runner, Limits::default());
    unanswered.expect_prompt("first", &[]);
    assert_eq!(unanswered.finish(EPOCH_MS).count(), 0);
}

#[test]
fn prompts_that_wait_begin_the_next_runs_in_their_order() {
    let runner = framegate_translators::runners::runner("qwen-code").unwrap();
    let mut several = 0;
    for recording in recordings_of(runner) {
        let plain = frames(runner, &recording.bytes);
        let runs = plain.iter().filter(|frame| matches!(frame.body, Body::SessionStarted { .. })).count();
        if runs < 2 || !prompts(&plain).is_empty() {
            continue;
        }
        several += 1;
        let all: Vec<String> = (1..=runs + 1).map(|number| format!("prompt {number}")).collect();
        let mut ingest = ingest(runner, Limits::default());
        all.iter().for_each(|prompt| ingest.expect_prompt(prompt, &[]));
        let mut told: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
        told.extend(ingest.finish(EPOCH_MS));
        assert_eq!(prompts(&told), all[..runs], "{}", recording.name);
        let lost = format!("the runner ended before it answered this prompt: prompt {}", runs + 1);
        assert_eq!(warnings(&told), [lost], "{}", recording.name);
        well_formed(&told, &recording.name);
    }
    assert!(several > 0, "some recording has several runs");
}

#[test]
fn a_prompt_that_joins_a_run_begins_no_other_one() {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let user = |text: &str, uuid: u32| {
        format!(
            r#"{{"type":"user","isReplay":true,"uuid":"00000000-0000-4000-8000-{uuid:012}","session_id":"s","message":{{"role":"user","content":"{text}"}},"parent_tool_use_id":null}}"#
        )
    };
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w","tools":[]}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","uuid":"r"}"#;
    let lines = [init, &user("first", 1), &user("second", 2), end, init, end, ""].join("\n");
    let mut ingest = ingest(runner, Limits::default());
    for prompt in ["first", "second", "third"] {
        ingest.expect_prompt(prompt, &[]);
    }
    let mut told: Vec<Frame> = ingest.feed(lines.as_bytes(), EPOCH_MS).collect();
    told.extend(ingest.finish(EPOCH_MS));
    assert_eq!(prompts(&told), ["first", "second", "third"]);
    well_formed(&told, "a joined prompt");
}

#[test]
fn a_prompt_that_the_runner_took_up_unnoticed_is_not_that_of_a_later_run() {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let user = |text: &str| {
        format!(
            r#"{{"type":"user","isReplay":true,"session_id":"s","message":{{"role":"user","content":"{text}"}},"parent_tool_use_id":null}}"#
        )
    };
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w","tools":[]}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","uuid":"r"}"#;
    let lines = [init, &user("first"), end, init, &user("third"), end, init, end, ""].join("\n");
    let mut ingest = ingest(runner, Limits::default());
    for prompt in ["first", "second", "third", "fourth"] {
        ingest.expect_prompt(prompt, &[]);
    }
    let told: Vec<Frame> = ingest.feed(lines.as_bytes(), EPOCH_MS).collect();
    assert_eq!(prompts(&told), ["first", "third", "fourth"]);
}

#[test]
fn prompts_that_are_forgotten_begin_no_run() {
    let recording = recordings().find(|recording| recording.name.contains("bash_ok.partial")).unwrap();
    let mut ingest = ingest(recording.runner, Limits::default());
    ingest.expect_prompt(PROMPT, &[]);
    ingest.forget_prompts();
    let mut told: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
    told.extend(ingest.finish(EPOCH_MS));
    assert_eq!(prompts(&told), Vec::<&str>::new());
}

/// The text of a reply may be held, because a secret could begin with it. The agent's answer waits behind it, and the next prompt does too.
#[test]
fn a_line_of_the_host_follows_the_records_that_arrived_before_it() {
    let runner = framegate_translators::runners::runner("acp").unwrap();
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    let mut ingest = ingest(runner, Limits::default()).redacting(rules);
    let prompt = |number: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"prompt-{number}","method":"session/prompt","params":{{"sessionId":"s","prompt":[]}}}}"#
        )
    };
    let reply = |number: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"T{number}."}}}}}}}}
{{"jsonrpc":"2.0","id":"prompt-{number}","result":{{"stopReason":"end_turn"}}}}
"#
        )
    };
    let mut told = Vec::new();
    for number in 1..=3 {
        ingest.expect_prompt(&format!("prompt {number}"), &[]);
        told.extend(ingest.sent(prompt(number).as_bytes(), EPOCH_MS));
        told.extend(ingest.feed(reply(number).as_bytes(), EPOCH_MS));
    }
    assert!(ingest.deadline().is_some(), "nothing is held, so the test shows nothing");
    told.extend(ingest.finish(EPOCH_MS));
    let ends = told.iter().filter_map(|frame| match &frame.body {
        Body::SessionEnded(end) => end.final_text.as_deref(),
        _ => None,
    });
    let answers: Vec<&str> = ends.collect();
    assert_eq!(answers, ["T1.", "T2.", "T3."]);
    assert_eq!(prompts(&told), ["prompt 1", "prompt 2", "prompt 3"]);
    well_formed(&told, "a hosted agent");
}
