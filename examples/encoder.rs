//! An encoder for a vocabulary of your own: one event for each tool that starts or ends, as NDJSON.
//!
//!     cargo run --example encoder < tests/fixtures/claude-code/bash_ok.ndjson

use framegate_translators::encode::{Encoder, EventId, Events, write_ndjson};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::pipeline::Ingest;
use framegate_translators::sequence::Identity;
use std::io::{Read, Write};

#[derive(Clone)]
struct Tools;

impl Encoder for Tools {
    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let (kind, tool) = match &frame.body {
            Body::ToolStarted { call, .. } => ("began", &call.tool),
            Body::ToolEnded { tool, .. } => ("ended", tool),
            _ => return,
        };
        let event = serde_json::json!({"kind": kind, "call": &*tool.call_id, "at_ms": frame.timestamp_ms});
        out.bytes(kind, EventId::Number(frame.seq), event.to_string().as_bytes());
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }
}

fn main() -> std::io::Result<()> {
    let (mut input, mut events, mut out) = (Vec::new(), Events::default(), Vec::new());
    std::io::stdin().read_to_end(&mut input)?;
    let identity = Identity { run_id: uuid::Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::auto(None, Default::default(), identity, Default::default());
    let frames: Vec<Frame> = ingest.feed(&input, 0).collect();
    frames.into_iter().chain(ingest.finish(0)).for_each(|frame| Tools.frame(&frame, &mut events));
    events.iter().for_each(|event| write_ndjson(event, &mut out));
    std::io::stdout().write_all(&out)
}
