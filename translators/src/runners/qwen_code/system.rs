//! The runner's own notices: `system` records.
//!
//! Input: `system` records by subtype. Output: the beginning of a run, retries, background work, log lines. All but `init` have their
//! fields in `data`. Never: a text that a retry made void taken for the answer.

use super::decoder::Qwen;
use super::reply::Fate;
use super::runs::lost;
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

impl Qwen {
    pub(super) fn system(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let subtype = fields.str("subtype").unwrap_or_default();
        let data = fields.object("data").unwrap_or_default();
        if !matches!(&*subtype, "init" | "retry") {
            let target = self.runs.main(normalizer);
            self.settle(target, Fate::Complete, normalizer);
        }
        match &*subtype {
            "init" => self.init(fields, normalizer),
            "retry" => self.retry(&data, normalizer),
            "task_started" => self.task_started(&data, normalizer),
            "task_notification" => self.task_notified(&data, normalizer),
            "model_fallback" => {
                let name = |key: &str| data.str(key).unwrap_or_default();
                let line = format!("{} gave way to {}", name("fromModel"), name("toModel"));
                self.log(LogLevel::Warn, &line, normalizer);
            }
            "worktree_started" | "vision_routing" | "vision_bridge" | "vision_bridge_failed" => {
                self.log(LogLevel::Info, &data.str("notice").unwrap_or_default(), normalizer);
            }
            "worktree_restored" => {
                let line = format!("worktree {} restored", data.str("slug").unwrap_or_default());
                self.log(LogLevel::Info, &line, normalizer);
            }
            "continue_turn_failed" => self.log(LogLevel::Warn, &data.str("error").unwrap_or_default(), normalizer),
            "session_recording_degraded" => {
                self.log(LogLevel::Warn, &data.str("message").unwrap_or_default(), normalizer);
            }
            // The beginning and end of the program, which is not that of a run.
            "session_start" | "session_end" => {}
            "" => normalizer.unknown("a system record without a subtype"),
            other => normalizer.unknown(format!("unknown system subtype {other:?}")),
        }
    }

    /// Begins a run: the runner announces each prompt. An announcement within a run that has no content repeats its own.
    fn init(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let before = self.runs.current(normalizer).map(|run| (run.key, run.has_content));
        if let Some((before, true)) = before {
            // Its result was lost. The record belongs to the run that it begins.
            let end = lost("the next prompt began before the runner said how the run ended");
            self.end_earlier_run(before, end, normalizer);
        }
        self.runs.ensure(normalizer);
        for server in fields.items("mcp_servers").into_iter().filter_map(Json::object) {
            if matches!(server.str("status").as_deref(), Some("failed" | "disconnected")) {
                let name = server.str("name").unwrap_or_default();
                self.log(LogLevel::Warn, &format!("MCP server {name} is not connected"), normalizer);
            }
        }
    }

    /// Reports an attempt that is made again. Its text stays if the runner says so, and is otherwise void.
    fn retry(&mut self, data: &Object<'_>, normalizer: &mut Normalizer) {
        let stream = self.runs.ensure(normalizer);
        if let Some(run) = self.runs.run(stream) {
            run.has_content = true;
        }
        let target = Target::main(stream);
        if data.bool("preserveText") == Some(true) {
            self.settle(target, Fate::Complete, normalizer);
        } else {
            self.leave(target, Fate::Cut, normalizer);
        }
        let small = |key: &str| data.u64(key).and_then(|number| u32::try_from(number).ok());
        let reason = data.str("reason").filter(|reason| !reason.is_empty());
        let message = match data.u64("delayMs") {
            Some(delay) => format!("the model request is made again; next attempt in {delay} ms"),
            None => "the model request is made again".to_owned(),
        };
        let report = ErrorReported {
            scope: ErrorScope::Provider,
            code: SharedStr::from(reason.as_deref().unwrap_or("retry")),
            message,
            retryable: true,
            attempt: small("attempt"),
            max_attempts: small("maxRetries"),
            http_status: None,
        };
        normalizer.push(target, Body::ErrorReported(Box::new(report)));
    }
}
