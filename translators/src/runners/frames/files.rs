//! The frames of files, checkpoints, artifacts and skills.

use super::fields::{Fields, Read};
use crate::frame::{ArtifactWritten, Body, FileChanged, SkillEvent};

/// The body of such a frame; `None` if the type is unknown.
pub(super) fn read(kind: &str, fields: Fields<'_, '_>) -> Read<Option<Body>> {
    Ok(Some(match kind {
        "checkpoint_created" => Body::CheckpointCreated {
            checkpoint_id: fields.id("checkpoint_id")?,
            label: fields.text("label")?,
            created_at_ms: fields.number("created_at_ms")?,
            files: fields.texts("files")?,
            auto: fields.flag("auto")?,
            tool_name: fields.nullable_name("tool_name")?,
        },
        "checkpoint_rewound" => Body::CheckpointRewound {
            checkpoint_id: fields.id("checkpoint_id")?,
            label: fields.text("label")?,
            files: fields.texts("files")?,
        },
        "checkpoint_failed" => {
            Body::CheckpointFailed { action: fields.word("action", "create or rewind")?, error: fields.text("error")? }
        }
        "file_changed" => Body::FileChanged(Box::new(FileChanged {
            tool_id: fields.nullable_tool_id("tool_id")?,
            path: fields.text("path")?,
            kind: fields.word("kind", "add, modify, delete or move")?,
            diff: fields.nullable_text("diff")?,
            artifact_id: fields.nullable_name("artifact_id")?,
        })),
        "artifact_written" => Body::ArtifactWritten(Box::new(ArtifactWritten {
            artifact_id: fields.filled("artifact_id")?,
            kind: fields.name("kind")?,
            bytes: fields.number("bytes")?,
            digest: fields.name("digest")?,
            preview: fields.nullable_text("preview")?,
        })),
        _ => match skill(kind, fields)? {
            Some(event) => Body::Skill(Box::new(event)),
            None => return Ok(None),
        },
    }))
}

fn skill(kind: &str, fields: Fields<'_, '_>) -> Read<Option<SkillEvent>> {
    Ok(Some(match kind {
        "skill_catalog_updated" => SkillEvent::CatalogUpdated {
            count: fields.number("count")?,
            roots: fields.texts("roots")?,
            collisions: fields.nullable_record("collisions")?,
        },
        "skill_loaded" => SkillEvent::Loaded {
            name: fields.name("name")?,
            path: fields.text("path")?,
            digest: fields.text("digest")?,
            frontmatter: fields.record("frontmatter")?,
            warnings: fields.nullable_texts("warnings")?,
        },
        "skill_invoked" => SkillEvent::Invoked {
            name: fields.name("name")?,
            args: fields.nullable_args("args")?,
            mode: fields.word("mode", "manual or auto")?,
            effective_allowed_tools: fields.nullable_texts("effective_allowed_tools")?,
        },
        "skill_warning" => SkillEvent::Warning {
            name: fields.nullable_name("name")?,
            kind: fields.name("kind")?,
            detail: fields.text("detail")?,
        },
        _ => return Ok(None),
    }))
}
