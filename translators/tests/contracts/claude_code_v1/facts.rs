//! What a run's frames say, as far as the CLI's messages can express it.

use framegate_translators::frame::{Body, EndReason, Figures, Frame, UsageScope, is_left_by_run};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The facts of one run.
#[derive(Debug, Default, PartialEq)]
pub struct Facts {
    /// The texts of each thread, in order.
    pub texts: BTreeMap<Option<Uuid>, Vec<String>>,
    pub thinking: BTreeMap<Option<Uuid>, Vec<String>>,
    /// The calls by the runner's id.
    pub calls: BTreeMap<String, Call>,
    /// What the run used, tokens that the runner did not report counted as 0, and the price.
    pub used: (Vec<u64>, Option<String>),
    /// What the model calls of the main thread used.
    pub calls_used: Vec<u64>,
    pub end: End,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    pub name: String,
    pub args: Value,
    pub thread: Option<Uuid>,
    pub result: CallResult,
}

/// The output has no white space at its ends; what a tool that did not run says has single spaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CallResult {
    #[default]
    None,
    Ended {
        ok: bool,
        output: String,
    },
    Failed(String),
}

#[derive(Debug, Default, PartialEq)]
pub struct End {
    pub reason: String,
    pub final_text: String,
    pub error_code: String,
    pub message: String,
}

fn tokens(figures: &Figures) -> Vec<u64> {
    let known = |figure: Option<u64>| figure.unwrap_or_default();
    let (read, created) = (known(figures.cache_read_tokens), known(figures.cache_creation_tokens));
    vec![figures.input_tokens, figures.output_tokens, read, created, known(figures.reasoning_tokens)]
}

impl Facts {
    pub fn of(frames: &[Frame]) -> Self {
        let mut this = Self::default();
        let mut calls: BTreeMap<Uuid, String> = BTreeMap::new();
        let mut outputs: BTreeMap<Uuid, [String; 2]> = BTreeMap::new();
        let (mut total, mut sum, mut main) = (None, Figures::default(), Figures::default());
        for frame in frames {
            let thread = frame.parent_tool_id;
            match &frame.body {
                Body::OutputTextCompleted(block) if !block.text.is_empty() => {
                    this.texts.entry(thread).or_default().push(block.text.clone());
                }
                Body::ReasoningCompleted { block, .. } if !block.text.is_empty() => {
                    this.thinking.entry(thread).or_default().push(block.text.clone());
                }
                Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => {
                    let id = call.tool.call_id.to_string();
                    calls.insert(call.tool.id, id.clone());
                    let args = serde_json::from_str(call.args.get()).unwrap();
                    let result = CallResult::None;
                    this.calls.entry(id).or_insert(Call { name: call.name.to_string(), args, thread, result });
                }
                Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                    outputs.entry(tool.id).or_default()[0].push_str(chunk);
                }
                Body::ToolStdoutFront { tool, chunk } => outputs.entry(tool.id).or_default()[0].insert_str(0, chunk),
                Body::ToolStderr { tool, chunk } => outputs.entry(tool.id).or_default()[1].push_str(chunk),
                Body::ToolEnded { tool, exit_code, .. } => {
                    let [stdout, stderr] = outputs.remove(&tool.id).unwrap_or_default();
                    let output = [stdout.trim_end(), stderr.trim_end()].join("\n").trim().to_owned();
                    this.result(calls.get(&tool.id), CallResult::Ended { ok: *exit_code == 0, output });
                }
                Body::ToolFailed { tool, error } => {
                    let [stdout, stderr] = outputs.remove(&tool.id).unwrap_or_default();
                    let error = [&*stdout, &*stderr, error].join("\n");
                    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
                    // A call that is closed by the end of its run has no result.
                    let result = if is_left_by_run(&error) { CallResult::None } else { CallResult::Failed(error) };
                    this.result(calls.get(&tool.id), result);
                }
                Body::UsageReported(usage) if usage.scope == UsageScope::Run => total = Some(usage.figures()),
                Body::UsageReported(usage) => {
                    sum.add(&usage.figures());
                    if thread.is_none() {
                        main.add(&usage.figures());
                    }
                }
                Body::SessionEnded(end) => {
                    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
                    this.end = End {
                        reason: end.reason.as_str().to_owned(),
                        final_text: text(end.final_text.as_deref()),
                        error_code: text(end.error_code.as_deref()),
                        message: text(end.message.as_deref()),
                    };
                    if end.reason == EndReason::Interrupted {
                        // A block that was cut is not the final text, which the CLI's messages do not tell.
                        this.end.final_text.clear();
                    }
                }
                _ => {}
            }
        }
        let used = total.unwrap_or(sum);
        let cost = used.cost_usd.filter(|cost| *cost != 0.0).map(|cost| format!("{cost:.9}"));
        this.used = (tokens(&used), cost);
        this.calls_used = tokens(&main);
        this
    }

    fn result(&mut self, call: Option<&String>, result: CallResult) {
        if let Some(call) = call.and_then(|id| self.calls.get_mut(id)) {
            call.result = result;
        }
    }
}
