//! A filter: any runner's output in, the assistant's text out, while it arrives.
//!
//!     claude -p "hello" --output-format stream-json --verbose | cargo run --example filter

use framegate_translators::frame::{Body, Frame};
use framegate_translators::pipeline::Ingest;
use framegate_translators::sequence::Identity;
use std::io::{Read, Write};

/// The text that a frame adds to the answer. Subagents' text is not part of it.
fn text(frame: &Frame) -> Option<&str> {
    match &frame.body {
        Body::OutputTextDelta(delta) if !frame.is_subagent() => Some(&delta.delta),
        Body::OutputTextCompleted(_) if !frame.is_subagent() => Some("\n"),
        _ => None,
    }
}

fn main() -> std::io::Result<()> {
    let (mut stdin, mut stdout, mut chunk) = (std::io::stdin().lock(), std::io::stdout().lock(), [0; 8192]);
    let identity = Identity { run_id: uuid::Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::auto(None, Default::default(), identity, Default::default());
    loop {
        let read = stdin.read(&mut chunk)?;
        // The times of the frames do not matter here.
        let frames = if read == 0 { ingest.finish(0) } else { ingest.feed(chunk.get(..read).unwrap_or_default(), 0) };
        for text in frames.as_slice().iter().filter_map(text) {
            stdout.write_all(text.as_bytes())?;
        }
        stdout.flush()?;
        if read == 0 {
            return Ok(());
        }
    }
}
