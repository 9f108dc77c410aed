//! Skills (`skill_*`).

use super::{RawJson, SharedStr};
use serde::{Deserialize, Serialize};

/// Something that happened to a skill (planned v2 types of the document).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own fields, under its names")]
pub enum SkillEvent {
    CatalogUpdated { count: u64, roots: Vec<String>, collisions: Option<RawJson> },
    Loaded { name: SharedStr, path: String, digest: String, frontmatter: RawJson, warnings: Option<Vec<String>> },
    Invoked { name: SharedStr, args: Option<RawJson>, mode: SkillMode, effective_allowed_tools: Option<Vec<String>> },
    Warning { name: Option<SharedStr>, kind: SharedStr, detail: String },
}

/// Who invoked a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum SkillMode {
    Manual,
    Auto,
}

impl SkillMode {
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}
