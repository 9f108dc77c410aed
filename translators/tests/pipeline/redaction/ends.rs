//! Where the text that a secret belongs to ends: the next text is read on its own, and what comes in between ends nothing else.

use super::harness::{RULES, redacting};
use crate::support::{EPOCH_MS, Recording, identity, recordings};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::{Runner, runner};
use std::sync::Arc;

const SECRET: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const MARK: &str = "[REDACTED:anthropic-key]";

fn frames(mut ingest: Ingest, bytes: &[u8]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = ingest.feed(bytes, EPOCH_MS).collect();
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}

/// A block, and its text.
type Text = (Arc<str>, u32, String);

/// The texts that the deltas add up to, in the order in which they begin.
fn texts(frames: &[Frame]) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    for frame in frames {
        let (Body::OutputTextDelta(delta) | Body::ReasoningDelta(delta)) = &frame.body else { continue };
        let id: Arc<str> = (&*delta.message_id).into();
        match texts.iter_mut().find(|text| text.0 == id && text.1 == delta.block_index) {
            Some(text) => text.2.push_str(&delta.delta),
            None => texts.push((id, delta.block_index, delta.delta.clone())),
        }
    }
    texts
}

/// The lines after which another block follows and this one has no more text, each with the end of its text there.
fn last_pieces(runner: &'static Runner, lines: &[&[u8]]) -> Vec<(usize, String)> {
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity());
    let mut deltas = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        for frame in ingest.feed(line, EPOCH_MS) {
            if let Body::OutputTextDelta(delta) | Body::ReasoningDelta(delta) = &frame.body {
                deltas.push((nth, (Arc::<str>::from(&*delta.message_id), delta.block_index), delta.delta.clone()));
            }
        }
    }
    let is_last = |at: usize| deltas.iter().skip(at + 1).all(|(_, block, _)| *block != deltas[at].1);
    let has_next = |at: usize| deltas.get(at + 1).is_some_and(|next| next.0 > deltas[at].0);
    let found = (0..deltas.len()).filter(|at| has_next(*at) && is_last(*at));
    found.map(|at| (deltas[at].0, deltas[at].2.clone())).collect()
}

/// A line in which something follows a piece of text. `None` if the piece is not in one place of the line.
fn with_more(line: &[u8], piece: &str, more: &str) -> Option<Vec<u8>> {
    let quoted = serde_json::Value::from(piece).to_string();
    let inner = quoted.get(1..quoted.len() - 1).filter(|inner| !inner.is_empty())?;
    let line = std::str::from_utf8(line).ok()?;
    let end = format!("{inner}\"");
    (line.matches(&end).count() == 1).then(|| line.replace(&end, &format!("{inner} {more}\"")).into_bytes())
}

/// The recordings, with a secret at the end of each text that another one follows.
#[test]
fn a_secret_at_the_end_of_a_text_takes_nothing_of_the_next_one() {
    let mut planted = std::collections::BTreeMap::<&str, usize>::new();
    // The answer to a prompt does not name its session, so it ends no text if the input has several sessions.
    let has_one_session = |recording: &Recording| !recording.name.starts_with("two_sessions");
    for recording in recordings().filter(|recording| recording.bytes.len() < 300_000 && has_one_session(recording)) {
        let lines: Vec<&[u8]> = recording.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (line, piece) in last_pieces(recording.runner, &lines).into_iter().take(12) {
            let with = |more: &str| {
                let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
                lines[line] = with_more(&lines[line], &piece, more)?;
                Some(lines.concat())
            };
            let (Some(secret), Some(mark)) = (with(SECRET), with(MARK)) else { continue };
            let told = texts(&frames(redacting(recording.runner, &RULES), &secret));
            let expected = texts(&frames(Ingest::new(recording.runner, None, Limits::default(), identity()), &mark));
            assert_eq!(told, expected, "{}: {} line {}", recording.runner.name, recording.name, line + 1);
            *planted.entry(recording.runner.name).or_default() += 1;
        }
    }
    assert!(planted.len() > 7, "{planted:?}");
}

fn update(session: &str, kind: &str, rest: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"{kind}"{rest}}}}}}}"#
    )
}

fn says(session: &str, kind: &str, text: &str, message: &str) -> String {
    let name = if message.is_empty() { String::new() } else { format!(r#","messageId":"{message}""#) };
    update(session, kind, &format!(r#","content":{{"type":"text","text":"{text}"}}{name}"#))
}

/// The texts of an agent's records.
fn of_agent(records: &[String]) -> Vec<String> {
    let head = [
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    ];
    let bytes = [&head.map(str::to_owned)[..], records].concat().join("\n") + "\n";
    let frames = frames(redacting(runner("acp").unwrap(), &RULES), bytes.as_bytes());
    texts(&frames).into_iter().map(|text| text.2).collect()
}

const MESSAGE: &str = "agent_message_chunk";

#[test]
fn a_text_is_read_on_after_records_that_do_not_end_it() {
    let (front, back) = SECRET.split_at(24);
    let usage = update("s", "usage_update", r#","used":10,"size":100,"cost":{"amount":1,"currency":"USD"}"#);
    let commands = update("s", "available_commands_update", r#","availableCommands":[]"#);
    let unknown = update("s", "weather_update", r#","sky":{"is":"blue"}"#);
    let answer = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#.to_owned();
    let error = r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32603,"message":"no"}}"#.to_owned();
    let other = says("t", MESSAGE, "Hello.", "");
    let end_of_other = r#"{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#.to_owned();
    let both = [other.clone(), end_of_other];
    for between in [&[usage][..], &[commands], &[unknown], &[answer], &[error], &[other], &both] {
        let mut records = vec![says("s", MESSAGE, &format!("It is {front}"), "")];
        records.extend(between.iter().cloned());
        records.push(says("s", MESSAGE, &format!("{back} now."), ""));
        let told = of_agent(&records);
        assert_eq!(told[0], format!("It is {MARK} now."), "{between:?}");
    }
    // A message with a name goes on after a call; one without a name ends.
    let call = update("s", "tool_call", r#","toolCallId":"c","title":"read","kind":"read","status":"pending""#);
    for (name, expected) in
        [("m", vec![format!("It is {MARK} now.")]), ("", vec![format!("It is {MARK}"), format!("{back} now.")])]
    {
        let told = of_agent(&[
            says("s", MESSAGE, &format!("It is {front}"), name),
            call.clone(),
            says("s", MESSAGE, &format!("{back} now."), name),
        ]);
        assert_eq!(told, expected, "{name:?}");
    }
}

#[test]
fn the_next_text_of_an_agent_is_read_on_its_own() {
    let secret = format!("It is {SECRET}");
    let end = r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#.to_owned();
    let call = update("s", "tool_call", r#","toolCallId":"c","title":"read","kind":"read","status":"pending""#);
    let plan = update("s", "plan", r#","entries":[]"#);
    for (between, second) in [
        (None, says("s", "agent_thought_chunk", "Everything fine.", "")),
        (None, says("s", MESSAGE, "Everything fine.", "m2")),
        (Some(end), says("s", MESSAGE, "Everything fine.", "")),
        (Some(call), says("s", MESSAGE, "Everything fine.", "")),
        (Some(plan), says("s", MESSAGE, "Everything fine.", "")),
    ] {
        let mut records = vec![says("s", MESSAGE, &secret, "")];
        records.extend(between.clone());
        records.push(second);
        assert_eq!(of_agent(&records), [format!("It is {MARK}"), "Everything fine.".to_owned()], "{between:?}");
    }
}

const ELSEWHERE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"_meta":{"sessionId":"s"},"sessionId":"t","update":{"sessionUpdate":"plan","entries":[]}}}"#;

/// Records that a decoder does not read as a text, or as the end of one.
#[test]
fn records_that_look_like_an_end_are_none() {
    let (front, back) = SECRET.split_at(24);
    let image = r#","content":{"type":"image","text":"a cat","data":"","mimeType":"image/png"}"#;
    let chunk = says("s", MESSAGE, "", "");
    let end = r#"{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#;
    for between in [
        vec![says("s", "agent_thought_chunk", "", "")],
        vec![says("s", MESSAGE, "", "other")],
        vec![says("s", "user_message_chunk", "", "")],
        vec![says("s", "weather_chunk", "blue", "")],
        vec![says("s", "compaction_summary_chunk", "short", "")],
        vec![says("s", "agent_thought_chunk", "hm", "").replace("session/update", "_vendor/update")],
        vec![update("s", "agent_thought_chunk", image)],
        vec![update("s", "plan", "")],
        vec![update("s", "tool_call", r#","title":"x""#)],
        vec![update("s", "tool_call_update", r#","status":"completed""#)],
        vec![update("s", "tool_call", r#","toolCallId":"c","title":"#)],
        vec![chunk.replace(r#""update":{"#, r#""update":{"_meta":{"claudeCode":{"parentToolUseId":null}},"#)],
        vec![chunk.replace(MESSAGE, r"agent\u005fmessage_chunk")],
        vec![ELSEWHERE.to_owned(), end.to_owned()],
    ] {
        let mut records = vec![says("s", MESSAGE, &format!("It is {front}"), "")];
        records.extend(between.iter().cloned());
        // The spelling of a kind or a session does not matter.
        records.push(says("s", MESSAGE, &format!("{back} now."), "").replace(r#""s""#, r#""\u0073""#));
        let told = of_agent(&records);
        assert_eq!(told[0], format!("It is {MARK} now."), "{between:?}");
    }
}

/// With the client's lines, it is known whose turn an answer ends.
#[test]
fn an_answer_ends_the_turn_of_its_prompt() {
    let (front, back) = SECRET.split_at(24);
    let prompt = |id: u32, session: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"go"}}]}}}}"#
        )
    };
    let end = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
    let error = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"no"}}}}"#);
    let reads_file = r#"{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}"#;
    for between in [
        vec![prompt(4, "s")],
        vec![says("s", "user_message_chunk", "go", "")],
        vec![end(9)],
        vec![prompt(4, "t"), end(4)],
        vec![prompt(4, "t"), error(4)],
        // The client's answer to a request of the agent that has the same id.
        vec![reads_file.to_owned(), error(3)],
    ] {
        let mut records = vec![prompt(3, "s"), says("s", MESSAGE, &format!("It is {front}"), "")];
        records.extend(between.iter().cloned());
        records.push(says("s", MESSAGE, &format!("{back} now."), ""));
        assert_eq!(of_agent(&records)[0], format!("It is {MARK} now."), "{between:?}");
    }
    for between in [vec![end(3)], vec![error(3), end(3)], vec![says("t", MESSAGE, "Hello.", ""), end(3)]] {
        let mut records = vec![prompt(2, "t"), prompt(3, "s"), says("s", MESSAGE, &format!("It is {SECRET}"), "")];
        records.extend(between.iter().cloned());
        records.extend([prompt(5, "s"), says("s", MESSAGE, "Everything fine.", "")]);
        let told = of_agent(&records);
        assert!(told.contains(&format!("It is {MARK}")) && told.contains(&"Everything fine.".to_owned()), "{told:?}");
    }
}

/// The answer to a prompt beyond the most that are known ends nothing.
#[test]
fn as_many_prompts_without_an_answer_are_known_as_documented() {
    let prompt = |id: usize, session: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[]}}}}"#
        )
    };
    for (others, second) in [(255, "Everything fine."), (256, " fine.")] {
        let mut records: Vec<String> = (0..others).map(|id| prompt(id, "t")).collect();
        records.push(prompt(1000, "s"));
        records.push(says("s", MESSAGE, &format!("It is {SECRET}"), ""));
        records.push(r#"{"jsonrpc":"2.0","id":1000,"result":{"stopReason":"end_turn"}}"#.to_owned());
        records.push(prompt(1001, "s"));
        records.push(says("s", MESSAGE, "Everything fine.", ""));
        let told = of_agent(&records);
        assert_eq!(told, [format!("It is {MARK}"), second.to_owned()], "{others}");
    }
}

/// The output of an agent's calls.
fn outputs(records: &[String]) -> Vec<String> {
    let mut lines = vec![
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}"#.to_owned(),
    ];
    for session in ["s", "t"] {
        lines.push(says(session, MESSAGE, "Look.", ""));
        lines.push(update(
            session,
            "tool_call",
            r#","toolCallId":"c","title":"x","kind":"execute","status":"in_progress""#,
        ));
    }
    lines.extend(records.iter().cloned());
    let bytes = lines.join("\n") + "\n";
    let frames = frames(redacting(runner("acp").unwrap(), &RULES), bytes.as_bytes());
    let mut outputs: Vec<(uuid::Uuid, String)> = Vec::new();
    for frame in &frames {
        let Body::ToolStdout { chunk, .. } = &frame.body else { continue };
        match outputs.iter_mut().find(|(stream, _)| *stream == frame.stream.id) {
            Some((_, text)) => text.push_str(chunk),
            None => outputs.push((frame.stream.id, chunk.clone())),
        }
    }
    outputs.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_output_of_a_call_is_read_as_one_text() {
    let (front, back) = SECRET.split_at(24);
    let terminal = |session: &str, text: &str| {
        let rest =
            format!(r#","toolCallId":"c","_meta":{{"terminal_output_delta":{{"terminal_id":"c","data":"{text}"}}}}"#);
        update(session, "tool_call_update", &rest)
    };
    let content = |session: &str, text: &str| {
        let rest =
            format!(r#","toolCallId":"c","content":{{"type":"content","content":{{"type":"text","text":"{text}"}}}}"#);
        update(session, "tool_call_content_chunk", &rest)
    };
    let expected = [format!("It is {MARK} now."), "Everything fine.".to_owned()];
    for say in [&terminal as &dyn Fn(&str, &str) -> String, &content] {
        let told = outputs(&[
            say("s", &format!("It is {front}")),
            say("t", "Everything fine."),
            says("s", MESSAGE, "Still at it.", ""),
            update("s", "usage_update", r#","used":10,"size":100,"cost":{"amount":1,"currency":"USD"}"#),
            say("s", &format!("{back} now.")),
        ]);
        assert_eq!(told, expected);
        let told = outputs(&[say("s", &format!("It is {SECRET}")), say("t", "Everything fine.")]);
        assert_eq!(told, [format!("It is {MARK}"), "Everything fine.".to_owned()]);
    }
}

#[test]
fn the_texts_of_a_run_without_ids_end_as_its_decoder_ends_them() {
    let (front, back) = SECRET.split_at(24);
    let says = |text: &str, rest: &str| format!(r#"{{"type":"message","role":"assistant","content":"{text}"{rest}}}"#);
    let delta = |text: &str| says(text, r#","delta":true"#);
    let told = |records: &[String]| -> Vec<String> {
        let init = r#"{"type":"init","session_id":"s","model":"m"}"#.to_owned();
        let bytes = [&[init][..], records].concat().join("\n") + "\n";
        texts(&frames(redacting(runner("gemini-cli").unwrap(), &RULES), bytes.as_bytes()))
            .into_iter()
            .map(|text| text.2)
            .collect()
    };
    for between in [
        r#"{"type":"thought","content":"hm"}"#,
        r#"{"type":"message","role":"system","content":"hm"}"#,
        r#"{"role":"assistant","content":"hm"}"#,
        r#"{"type":"status","tool_id":"x"}"#,
        r#"{"type":"tool_use","tool_name":"x","parameters":{"#,
        r#"{"type":"message","role":"user","content":"hm""#,
    ] {
        let records = [delta(&format!("It is {front}")), between.to_owned(), delta(&format!("{back} now."))];
        assert_eq!(told(&records), [format!("It is {MARK} now.")], "{between}");
    }
    let secret = format!("It is {SECRET}");
    for records in [
        [says(&secret, ""), says("Everything fine.", "")].to_vec(),
        [
            delta(&secret),
            r#"{"type":"tool_use","tool_name":"x","tool_id":"c","parameters":{}}"#.to_owned(),
            delta("Everything fine."),
        ]
        .to_vec(),
    ] {
        assert_eq!(told(&records), [format!("It is {MARK}"), "Everything fine.".to_owned()], "{records:?}");
    }
}
