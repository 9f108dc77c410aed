//! A runner of its own, outside framegate's source: the fictitious Quill, whose output has four kinds of records.
//!
//! `cargo run -p framegate-translators --example new_runner` translates its recording into every contract. CONTRIBUTING.md walks
//! through the same steps for a runner inside the source.

mod decoder;

use framegate_translators::contracts::CONTRACTS;
use framegate_translators::decode::Record;
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson};
use framegate_translators::frame::{Frame, Provider};
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::redact::{Order, Pieces};
use framegate_translators::runners::{Modes, Runner, Sample, Surface};
use framegate_translators::schema::SchemaFile;
use framegate_translators::sequence::Identity;
use std::io::Write;
use uuid::Uuid;

/// The schema of one kind of records.
macro_rules! schema {
    ($kind:literal) => {
        SchemaFile::new($kind, include_str!(concat!("schemas/", $kind, ".schema.json")))
    };
}

/// The runner: everything that framegate knows about it.
static QUILL: Runner = Runner {
    name: "quill",
    provider: Provider { name: "quill", title: "Quill" },
    genai_provider: "quill",
    about: "Quill, a fictitious runner",
    extensible: false,
    is_of_frames: false,
    surfaces: &[Surface {
        name: "ndjson",
        source: "quill --json",
        recognise: |record| {
            let is_start = record.fields.str("type")? == "start" && record.fields.get("session").is_some();
            is_start.then_some("a start record with a session")
        },
        kind_of: |record: &Record<'_>| record.fields.str("type"),
        schemas: &[schema!("start"), schema!("text"), schema!("tool"), schema!("end")],
    }],
    pieces: &[Pieces { parent: &[], leaves: &[&["text"]], above: &[], order: Order::Parallel }],
    time: |_| None,
    decoder: || Box::<decoder::Quill>::default(),
    dialogue: None,
    modes: Modes::NONE,
    presets: &[],
    demo: None,
    response_id: None,
    workspace: None,
    history: &[],
    sample: Sample { file: "recording.ndjson", bytes: include_bytes!("recording.ndjson"), framing: Framing::Ndjson },
};

fn identity() -> Identity {
    Identity { run_id: Uuid::from_u128(1), session_id: None }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        writeln!(out, "{}:", contract.name)?;
        let mut lines = Vec::new();
        let ingest = Ingest::new(&QUILL, None, Limits::default(), identity());
        let mut translator = Translator::new(ingest, contract, EncoderOptions::default());
        let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
            events.for_each(|event| write_ndjson(event, &mut lines));
        };
        translator.feed(QUILL.sample.bytes, 0, &mut sink);
        translator.finish(0, &mut sink);
        out.write_all(&lines)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "test code")]
mod tests {
    use super::*;
    use framegate_translators::frame::{Body, EndReason, ProviderStatus};
    use framegate_translators::redact::{Rules, Settings};
    use std::sync::Arc;

    fn bodies(ingest: Ingest, bytes: &[u8]) -> Vec<Body> {
        let mut ingest = ingest;
        let mut bodies: Vec<Body> = ingest.feed(bytes, 0).map(|frame| frame.body).collect();
        bodies.extend(ingest.finish(0).map(|frame| frame.body));
        bodies
    }

    fn ingest() -> Ingest {
        Ingest::new(&QUILL, None, Limits::default(), identity())
    }

    #[test]
    fn the_recording_is_one_completed_run_without_drift() {
        let bodies = bodies(ingest().watching_drift(), QUILL.sample.bytes);
        let records: Vec<_> = bodies
            .iter()
            .filter_map(|body| if let Body::ProviderEvent(record) = body { Some(record) } else { None })
            .collect();
        assert_eq!(records.len(), 12);
        assert!(records.iter().all(|record| record.drift.is_empty() && record.status == ProviderStatus::Event));
        let Some(Body::SessionEnded(end)) = bodies.last() else { panic!("{bodies:#?}") };
        assert_eq!(
            (end.reason, end.final_text.as_deref()),
            (EndReason::Completed, Some("I will look. There is one file of 7 lines."))
        );
    }

    #[test]
    fn a_new_field_is_drift() {
        let record = b"{\"type\":\"start\",\"session\":\"s\",\"model\":\"m\",\"prompt\":\"\",\"more\":1}\n";
        let bodies = bodies(ingest().watching_drift(), record);
        assert!(bodies.iter().any(|body| matches!(body, Body::ProviderEvent(record) if !record.drift.is_empty())));
    }

    #[test]
    fn a_secret_in_two_pieces_is_redacted() {
        let rules = Arc::new(Rules::new(Settings::default()).unwrap());
        let (one, two) = ("ghp_q7ZkVx2mT4bN8c", "WfR1sLp0JdYhE6uGaXoi");
        let text: String =
            [one, two].iter().map(|piece| format!("{{\"type\":\"text\",\"text\":\"{piece}\"}}\n")).collect();
        let bodies = format!("{:?}", bodies(ingest().redacting(rules), text.as_bytes()));
        assert!(bodies.contains("REDACTED") && !bodies.contains(two), "{bodies}");
    }
}
