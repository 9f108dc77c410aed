//! Streams of each runner with a given text, and shortcuts from them to redacted output.

use crate::secrets::quoted;
use crate::support::{EPOCH_MS, identity};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson, write_raw};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::Runner;
use std::sync::{Arc, LazyLock};

pub static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::new(Settings::default()).unwrap()));

pub fn redacting(runner: &'static Runner, rules: &Arc<Rules>) -> Ingest {
    Ingest::new(runner, None, Limits::default(), identity()).redacting(rules.clone())
}

pub fn run(ingest: Ingest, contract: &'static Contract, chunks: &[&[u8]], flushes: bool) -> Vec<u8> {
    let mut translator =
        Translator::new(ingest, contract, EncoderOptions { experimental: true, ..EncoderOptions::default() });
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            if contract.name == framegate_translators::contracts::RECORDS.name {
                write_raw(event, &mut out)
            } else {
                write_ndjson(event, &mut out)
            }
        }
    };
    for chunk in chunks {
        translator.feed(chunk, EPOCH_MS, &mut sink);
        if flushes {
            translator.flush(u64::MAX, &mut sink);
        }
    }
    translator.finish(EPOCH_MS, &mut sink);
    out
}

pub fn redacted(runner: &'static Runner, contract: &'static Contract, bytes: &[u8]) -> Vec<u8> {
    run(redacting(runner, &RULES), contract, &[bytes], false)
}

pub fn has(text: &[u8], what: &str) -> bool {
    memchr::memmem::find(text, what.as_bytes()).is_some()
}

/// A stream of one runner with these pieces of one text, as records; the whole text is repeated at the end.
pub fn stream(name: &str, pieces: &[&str]) -> Vec<String> {
    let whole = quoted(&pieces.concat());
    let mut lines: Vec<String> = Vec::new();
    match name {
        "claude-code" => {
            lines.push(
                r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/","tools":[],"model":"m","uuid":"u"}"#
                    .into(),
            );
            let event = |event: &str| {
                format!(
                    r#"{{"type":"stream_event","event":{event},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}}"#
                )
            };
            lines.push(event(r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#));
            lines.push(event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#));
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(event(&format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{piece}}}}}"#
                )));
            }
            lines.push(format!(r#"{{"type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":{whole}}}],"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#));
            lines.push(event(r#"{"type":"content_block_stop","index":0}"#));
            lines.push(event(r#"{"type":"message_stop"}"#));
            lines.push(format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":{whole},"session_id":"s","uuid":"u","usage":{{"input_tokens":1,"output_tokens":1}}}}"#));
        }
        "codex" => {
            lines.push(r#"{"method":"thread/started","params":{"thread":{"id":"t"}}}"#.into());
            lines.push(r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress","items":[]}}}"#.into());
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(format!(r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"t","turnId":"u","itemId":"i","delta":{piece}}}}}"#));
            }
            lines.push(format!(r#"{{"method":"item/completed","params":{{"threadId":"t","turnId":"u","item":{{"type":"agentMessage","id":"i","text":{whole}}}}}}}"#));
            lines.push(r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed","items":[]}}}"#.into());
        }
        "opencode" => {
            let data = |data: &str| format!("data: {data}\n");
            lines.push(data(r#"{"type":"server.connected","properties":{}}"#));
            lines.push(data(r#"{"type":"message.updated","properties":{"info":{"id":"m0","sessionID":"s","role":"user","time":{"created":1}}}}"#));
            lines.push(data(r#"{"type":"message.updated","properties":{"info":{"id":"m1","sessionID":"s","role":"assistant","parentID":"m0","time":{"created":2}}}}"#));
            lines.push(data(r#"{"type":"message.part.updated","properties":{"part":{"id":"p","sessionID":"s","messageID":"m1","type":"text","text":""}}}"#));
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(data(&format!(r#"{{"type":"message.part.delta","properties":{{"sessionID":"s","messageID":"m1","partID":"p","field":"text","delta":{piece}}}}}"#)));
            }
            lines.push(data(&format!(r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"p","sessionID":"s","messageID":"m1","type":"text","text":{whole},"time":{{"start":1,"end":2}}}}}}}}"#)));
            lines.push(data(r#"{"type":"session.idle","properties":{"sessionID":"s"}}"#));
        }
        _ => {
            let data = |data: &str| format!("data: {data}\n");
            lines.push(data(r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#));
            lines.push(data(r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","status":"in_progress","content":[]}}"#));
            for (at, piece) in pieces.iter().enumerate() {
                let (piece, number) = (quoted(piece), at + 2);
                lines.push(data(&format!(r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"i","output_index":0,"content_index":0,"delta":{piece},"logprobs":[{{"token":{piece},"logprob":-0.1,"bytes":[1]}}]}}"#)));
            }
            lines.push(data(&format!(r#"{{"type":"response.output_text.done","sequence_number":90,"item_id":"i","output_index":0,"content_index":0,"text":{whole}}}"#)));
            lines.push(data(&format!(r#"{{"type":"response.completed","sequence_number":91,"response":{{"id":"r","object":"response","status":"completed","output":[{{"id":"i","type":"message","role":"assistant","status":"completed","content":[{{"type":"output_text","text":{whole},"annotations":[]}}]}}]}}}}"#)));
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

pub fn input(name: &str, pieces: &[&str]) -> Vec<u8> {
    stream(name, pieces).concat().into_bytes()
}

/// The text of a run's deltas.
pub fn run_text(frames: &[Frame]) -> String {
    frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextDelta(block) => Some(block.delta.as_str()),
            _ => None,
        })
        .collect()
}

pub fn frames_of(runner: &'static Runner, bytes: &[u8]) -> Vec<Frame> {
    let mut ingest = redacting(runner, &RULES);
    let mut frames: Vec<Frame> = ingest.feed(bytes, EPOCH_MS).collect();
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}
