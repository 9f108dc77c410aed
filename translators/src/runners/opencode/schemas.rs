//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: records as OpenCode wrote them. Output: the name of the schema for such a record. The schemas describe the version
//! named in `VERSIONS.md`, which is next to them. Never: a verdict; records of other versions are translated all the same.

use crate::decode::Record;
use crate::schema::{SchemaFile, schema_file};
use std::borrow::Cow;

macro_rules! files {
    ($surface:literal, $($kind:literal),+ $(,)?) => {
        &[$(schema_file!(concat!("runners/opencode/", $surface), $kind)),+]
    };
}

/// The `type` of a line or event.
pub(super) fn type_of<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.str("type")
}

/// The type of the event inside the envelope; `sync` for a duplicate.
pub(super) fn global_event_kind<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.object("payload")?.str("type")
}

/// The kind of the single document, which has no type.
pub(super) fn export_kind<'r>(_: &'r Record<'_>) -> Option<Cow<'r, str>> {
    Some(Cow::Borrowed("export"))
}

/// The surface's own events, followed by those that every feed has.
macro_rules! feed {
    ($surface:literal $(, $own:literal)* $(,)?) => {
        files!(
            $surface,
            $($own,)*
            "catalog.updated",
            "command.executed",
            "file.edited",
            "file.watcher.updated",
            "global.disposed",
            "installation.update-available",
            "installation.updated",
            "integration.connection.updated",
            "integration.updated",
            "lsp.updated",
            "mcp.browser.open.failed",
            "mcp.tools.changed",
            "message.part.delta",
            "message.part.removed",
            "message.part.updated",
            "message.removed",
            "message.updated",
            "models-dev.refreshed",
            "permission.asked",
            "permission.replied",
            "permission.v2.asked",
            "permission.v2.replied",
            "plugin.added",
            "project.directories.updated",
            "project.updated",
            "pty.created",
            "pty.deleted",
            "pty.exited",
            "pty.updated",
            "question.asked",
            "question.rejected",
            "question.replied",
            "question.v2.asked",
            "question.v2.rejected",
            "question.v2.replied",
            "reference.updated",
            "server.connected",
            "session.compacted",
            "session.created",
            "session.deleted",
            "session.diff",
            "session.error",
            "session.idle",
            "session.next.agent.switched",
            "session.next.compaction.delta",
            "session.next.compaction.ended",
            "session.next.compaction.started",
            "session.next.context.updated",
            "session.next.model.switched",
            "session.next.moved",
            "session.next.prompt.admitted",
            "session.next.prompted",
            "session.next.reasoning.delta",
            "session.next.reasoning.ended",
            "session.next.reasoning.started",
            "session.next.retried",
            "session.next.revert.cleared",
            "session.next.revert.committed",
            "session.next.revert.staged",
            "session.next.shell.ended",
            "session.next.shell.started",
            "session.next.step.ended",
            "session.next.step.failed",
            "session.next.step.started",
            "session.next.synthetic",
            "session.next.text.delta",
            "session.next.text.ended",
            "session.next.text.started",
            "session.next.tool.called",
            "session.next.tool.failed",
            "session.next.tool.input.delta",
            "session.next.tool.input.ended",
            "session.next.tool.input.started",
            "session.next.tool.progress",
            "session.next.tool.success",
            "session.status",
            "session.updated",
            "todo.updated",
            "tui.command.execute",
            "tui.prompt.append",
            "tui.session.select",
            "tui.toast.show",
            "vcs.branch.updated",
            "workspace.failed",
            "workspace.ready",
            "workspace.status",
            "worktree.failed",
            "worktree.ready",
        )
    };
}

/// `opencode run --format json`.
pub(super) static RUN: &[SchemaFile] =
    files!("run", "error", "reasoning", "step_finish", "step_start", "text", "tool_use",);

/// `opencode export`.
pub(super) static EXPORT: &[SchemaFile] = files!("export", "export");

/// `GET /event`.
pub(super) static EVENT: &[SchemaFile] = feed!("event", "server.heartbeat", "server.instance.disposed");

/// `GET /global/event`.
pub(super) static GLOBAL_EVENT: &[SchemaFile] =
    feed!("global-event", "server.heartbeat", "server.instance.disposed", "sync");

/// `GET /api/event`, where heartbeats are comments.
pub(super) static NEXT_EVENT: &[SchemaFile] = feed!("next-event");
