//! The decoder of Quill: what each record means.
//!
//! Input: records of four kinds. Output: one run from `start` to `end`. Never: a record of an unknown kind dropped; it is kept and
//! counted.

use framegate_translators::decode::{Decoder, Record};
use framegate_translators::frame::{OutputStream, SharedStr, ToolCall, ToolKind};
use framegate_translators::json::{Json, Object};
use framegate_translators::normalizer::{Block, BlockKind, Normalizer, RunEnd, Target};
use framegate_translators::sequence::StreamKey;
use uuid::Uuid;

/// Quill has one message for each run.
const MESSAGE: Block<'static> = Block { kind: BlockKind::Text, message_id: "answer", index: 0 };

#[derive(Default)]
pub(crate) struct Quill {
    run: Option<StreamKey>,
}

impl Decoder for Quill {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        let fields = &record.fields;
        match fields.str("type").as_deref() {
            Some("start") => self.start(fields, normalizer),
            Some("text") => {
                let target = Target::main(self.run(normalizer));
                if let Some(piece) = fields.get("text").and_then(Json::utf16) {
                    normalizer.delta(target, MESSAGE, piece);
                }
            }
            Some("tool") => self.tool(fields, normalizer),
            Some("end") => self.end_of_run(fields, normalizer),
            other => {
                normalizer.unknown(format!("unknown record type {other:?}"));
                normalizer.record_on_current();
            }
        }
    }
}

impl Quill {
    fn start(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        normalizer.set_session(&fields.str("session").unwrap_or_default());
        let run = normalizer.open_run(fields.str("prompt").unwrap_or_default());
        normalizer.turn_started(run, fields.str("model").map(|model| SharedStr::from(&*model)));
        self.run = Some(run);
    }

    /// The open run. An input may begin in the middle of one.
    fn run(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        *self.run.get_or_insert_with(|| normalizer.open_run(""))
    }

    fn tool(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.run(normalizer));
        let scope = normalizer.stream(target.stream).map_or(Uuid::nil(), |stream| stream.id);
        let tool = normalizer.tool(scope, &fields.str("id").unwrap_or_default());
        let name = fields.str("name").unwrap_or_default();
        let call = ToolCall {
            tool: tool.clone(),
            name: SharedStr::from(&*name),
            kind: if name == "shell" { ToolKind::Shell } else { ToolKind::Other },
            args: fields.get("input").map_or_else(framegate_translators::json::empty_object, Json::to_raw),
        };
        normalizer.tool_started(target, call, None);
        normalizer.tool_output(target, &tool, OutputStream::Stdout, fields.str("output").unwrap_or_default());
        let exit_code = fields.i64("exit_code").and_then(|code| i32::try_from(code).ok()).unwrap_or_default();
        normalizer.tool_ended(target, &tool, exit_code, None, None);
    }

    fn end_of_run(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let run = self.run(normalizer);
        self.run = None;
        normalizer.complete(Target::main(run), MESSAGE, None, None);
        normalizer.turn_ended(run, None);
        let end = match fields.str("error") {
            Some(error) => RunEnd::failed("quill_error", error),
            None => RunEnd::completed(),
        };
        normalizer.end_run(run, end);
    }
}
