//! How much memory a frame takes.
//!
//! Input: a frame. Output: the approximate number of bytes. Never: a text left out whose length an outside party chose, even if
//! it is shared with other frames.

use framegate_translators::frame::{Body, Frame, ProviderEvent, RawJson, SkillEvent, TaskEvent};
use std::ops::Deref;

/// Size of a frame without its content, including the overhead of its allocations.
const ALONE: usize = size_of::<Frame>() + 96;

/// Approximately how many bytes of memory a frame takes.
pub fn weight(frame: &Frame) -> u64 {
    (ALONE + held(&frame.body)) as u64
}

fn text(text: &Option<impl Deref<Target = str>>) -> usize {
    text.as_deref().map_or(0, str::len)
}

fn texts(texts: &[String]) -> usize {
    texts.iter().map(|text| size_of::<String>() + text.len()).sum()
}

fn json(json: &Option<RawJson>) -> usize {
    json.as_ref().map_or(0, |json| json.get().len())
}

/// How many bytes of text a body holds.
fn held(body: &Body) -> usize {
    match body {
        Body::ProviderEvent(record) => of_record(record),
        Body::SessionStarted { input } => input.len(),
        Body::SessionEnded(end) => text(&end.final_text) + text(&end.error_code) + text(&end.message),
        Body::TurnStarted { model, .. } => text(model),
        Body::TurnEnded { stop_reason, .. } => text(stop_reason),
        Body::UserMessage(message) => {
            let attachments = message.attachments.iter().map(|attached| {
                let name = text(&attached.name) + text(&attached.artifact_id);
                size_of_val(attached) + attached.kind.len() + text(&attached.mime) + name
            });
            message.message_id.len() + message.text.len() + attachments.sum::<usize>()
        }
        Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => block.message_id.len() + block.delta.len(),
        Body::OutputTextCompleted(block) => block.message_id.len() + block.text.len(),
        Body::ReasoningCompleted { block, opaque } => block.message_id.len() + block.text.len() + json(opaque),
        Body::ToolInputDelta { tool, name, delta } => tool.call_id.len() + name.len() + delta.len(),
        Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => {
            call.tool.call_id.len() + call.name.len() + call.args.get().len()
        }
        Body::ToolStdout { tool, chunk }
        | Body::ToolStdoutTail { tool, chunk }
        | Body::ToolStdoutFront { tool, chunk }
        | Body::ToolStderr { tool, chunk } => tool.call_id.len() + chunk.len(),
        Body::ToolEnded { tool, artifacts, .. } => tool.call_id.len() + json(artifacts),
        Body::ToolFailed { tool, error } => tool.call_id.len() + error.len(),
        Body::CheckpointCreated { label, files, tool_name, .. } => label.len() + texts(files) + text(tool_name),
        Body::CheckpointRewound { label, files, .. } => label.len() + texts(files),
        Body::CheckpointFailed { error, .. } => error.len(),
        Body::FileChanged(change) => change.path.len() + text(&change.diff) + text(&change.artifact_id),
        Body::UsageReported(usage) => text(&usage.model),
        Body::ApprovalRequested(asked) => {
            asked.approval_id.len() + asked.tool_name.len() + asked.args.get().len() + text(&asked.reason)
        }
        Body::ApprovalResolved(answer) => {
            answer.approval_id.len() + text(&answer.by) + text(&answer.reason) + text(&answer.scope)
        }
        Body::PlanUpdated { entries } => {
            let entry = |entry: &framegate_translators::frame::PlanEntry| {
                size_of_val(entry) + entry.content.len() + entry.status.len() + text(&entry.priority)
            };
            entries.iter().map(entry).sum()
        }
        Body::StatusChanged { old_status, new_status, reason } => old_status.len() + new_status.len() + text(reason),
        Body::LogEmitted { message, .. } => message.len(),
        Body::ErrorReported(error) => error.code.len() + error.message.len(),
        Body::SubagentStarted { subagent_id, agent, task, .. } => subagent_id.len() + text(agent) + text(task),
        Body::SubagentEnded { subagent_id, status, summary } => subagent_id.len() + status.len() + text(summary),
        Body::HistoryCompacted { trigger, summary, .. } => text(trigger) + text(summary),
        Body::GapDetected { reason, .. } => reason.len(),
        Body::Task(event) => of_task(event),
        Body::ArtifactWritten(artifact) => {
            artifact.artifact_id.len() + artifact.kind.len() + artifact.digest.len() + text(&artifact.preview)
        }
        Body::Skill(event) => of_skill(event),
    }
}

fn of_record(record: &ProviderEvent) -> usize {
    let bytes = |bytes: &Option<Box<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
    let notes = texts(&record.errors) + texts(&record.response_errors) + texts(&record.redacted_paths);
    text(&record.event_name)
        + text(&record.data)
        + bytes(&record.raw)
        + bytes(&record.block)
        + notes
        + record
            .ends_run
            .as_ref()
            .map_or(0, |end| size_of_val(&**end) + text(&end.final_text) + text(&end.error_code) + text(&end.message))
        + size_of_val(&*record.drift)
}

fn of_task(event: &TaskEvent) -> usize {
    match event {
        TaskEvent::Spawned { tool_name, args, cwd, title, artifacts, .. } => {
            tool_name.len() + args.get().len() + text(cwd) + text(title) + json(artifacts)
        }
        TaskEvent::Status { artifacts, error, .. } => json(artifacts) + text(error),
        TaskEvent::CancelRequested { reason, .. } | TaskEvent::Cancelled { reason, .. } => reason.len(),
        TaskEvent::OutputDelta { chunk, artifacts, .. } => chunk.len() + json(artifacts),
        TaskEvent::StdinWritten { chunk_b64, .. } => chunk_b64.len(),
        TaskEvent::Resized { .. } => 0,
        TaskEvent::Signalled { signal, .. } => signal.len(),
    }
}

fn of_skill(event: &SkillEvent) -> usize {
    match event {
        SkillEvent::CatalogUpdated { roots, collisions, .. } => texts(roots) + json(collisions),
        SkillEvent::Loaded { name, path, digest, frontmatter, warnings } => {
            let warnings = warnings.as_deref().map_or(0, texts);
            name.len() + path.len() + digest.len() + frontmatter.get().len() + warnings
        }
        SkillEvent::Invoked { name, args, effective_allowed_tools, .. } => {
            name.len() + json(args) + effective_allowed_tools.as_deref().map_or(0, texts)
        }
        SkillEvent::Warning { name, kind, detail } => text(name) + kind.len() + detail.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::stored::read_frame;
    use framegate_translators::frame::stored::{read_body, write_body};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Collects the JSON pointer of every value in it.
    fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_owned());
        match value {
            Value::Array(values) => {
                values.iter().enumerate().for_each(|(nth, value)| pointers(value, &format!("{at}/{nth}"), out));
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| pointers(value, &format!("{at}/{name}"), out));
            }
            _ => {}
        }
    }

    #[test]
    fn every_long_value_of_a_frame_adds_to_its_weight() {
        let long = "x".repeat(100_000);
        let values = [json!(long), json!([long]), json!({ "long": long })];
        let (mut kinds, mut heavy) = (BTreeSet::new(), BTreeSet::new());
        for line in include_str!("../../translators/tests/stored/v1.ndjson").lines() {
            let frame = read_frame(line.as_bytes(), framegate_translators::runners::PROVIDERS).unwrap();
            let kind = frame.body.kind();
            let mut stored = Vec::new();
            write_body(&frame.body, &mut stored);
            // Half of a surrogate pair: frames keep it unchanged, but `Value` does not allow it.
            let stored = String::from_utf8(stored).unwrap().replace("\\ud83d", "");
            let stored: Value = serde_json::from_str(&stored).unwrap();
            kinds.insert(kind);
            let mut all = Vec::new();
            pointers(&stored, "", &mut all);
            for place in all {
                for value in &values {
                    let mut changed = stored.clone();
                    *changed.pointer_mut(&place).unwrap() = value.clone();
                    // Some fields accept only known names or ids.
                    let Ok(body) = read_body(changed.to_string().as_bytes()) else { continue };
                    let mut bytes = Vec::new();
                    write_body(&body, &mut bytes);
                    // Some fields accept any value, and are written only if it is meaningful.
                    if bytes.len() < long.len() {
                        continue;
                    }
                    heavy.insert(kind);
                    let weight = weight(&Frame { stream: Arc::clone(&frame.stream), body, ..frame });
                    assert!(weight * 2 >= bytes.len() as u64, "{kind} {place}: {weight} of {}", bytes.len());
                }
            }
        }
        let light: Vec<_> = kinds.difference(&heavy).collect();
        assert_eq!(light, [&"tool_task_resized"]);
        assert!(kinds.len() == 45, "{}", kinds.len());
    }
}
