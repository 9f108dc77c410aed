//! A decoder for a format of your own: `{"say":"..."}` is a piece of the answer, `{"done":true}` the end of the run.
//!
//!     printf '{"say":"Hi"}\n{"done":true}\n' | cargo run -p framegate-translators --example decoder

use framegate_translators::contracts::DEFAULT;
use framegate_translators::decode::{Decoder, Record};
use framegate_translators::encode::write_ndjson;
use framegate_translators::normalizer::{Block, BlockKind, Normalizer, RunEnd, Target};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::runners::Runner;
use framegate_translators::sequence::{Identity, StreamKey};
use std::io::Write;

static ECHO: Runner = Runner::bare("echo", "Echo", || Box::new(Echo(None)));
const ANSWER: Block<'static> = Block { kind: BlockKind::Text, message_id: "answer", index: 0 };
struct Echo(Option<StreamKey>);

impl Decoder for Echo {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        let run = *self.0.get_or_insert_with(|| normalizer.open_run(""));
        match record.fields.get("say").and_then(|say| say.utf16()) {
            Some(piece) => normalizer.delta(Target::main(run), ANSWER, piece),
            None => normalizer.end_run(run, RunEnd::completed()),
        }
    }
}

fn main() -> std::io::Result<()> {
    let (input, mut out) = (std::io::read_to_string(std::io::stdin())?, Vec::new());
    let identity = Identity { run_id: uuid::Uuid::nil(), session_id: None };
    let ingest = Ingest::new(&ECHO, None, Default::default(), identity);
    let mut translator = Translator::new(ingest, DEFAULT, Default::default());
    translator.feed(input.as_bytes(), 0, &mut |_, events| events.for_each(|event| write_ndjson(event, &mut out)));
    translator.finish(0, &mut |_, events| events.for_each(|event| write_ndjson(event, &mut out)));
    std::io::stdout().write_all(&out)
}
