//! The subagents of a run, and who speaks.
//!
//! Input: the starts and ends of subagents. Output: the speaker of a frame. Never: more than [`SUBAGENTS`] remembered; the one that
//! began first is forgotten beyond that, and its frames are those of a subagent without a name.

use super::part::Speaker;
use framegate_translators::frame::SharedStr;
use std::collections::VecDeque;
use uuid::Uuid;

/// How many subagents are remembered.
const SUBAGENTS: usize = 1024;

/// The name of a subagent without one.
const UNNAMED: &str = "subagent";

#[derive(Debug)]
struct Known {
    subagent_id: SharedStr,
    /// The call that started it.
    tool_id: Option<Uuid>,
    speaker: Speaker,
}

/// The subagents, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Subagents(VecDeque<Known>);

impl Subagents {
    /// A subagent begins.
    pub(super) fn begin(
        &mut self,
        subagent_id: &SharedStr,
        tool_id: Option<Uuid>,
        agent: Option<&SharedStr>,
        depth: u32,
    ) -> Speaker {
        if self.0.len() >= SUBAGENTS {
            self.0.pop_front();
        }
        let name = agent.filter(|name| !name.trim().is_empty()).cloned().unwrap_or_else(|| UNNAMED.into());
        let speaker = Speaker { depth: depth.max(1), name };
        self.0.push_back(Known { subagent_id: subagent_id.clone(), tool_id, speaker: speaker.clone() });
        speaker
    }

    /// A subagent has ended. It stays known, because its call ends later.
    pub(super) fn end(&self, subagent_id: &str) -> Speaker {
        let known = self.0.iter().rfind(|known| &*known.subagent_id == subagent_id);
        known.map_or_else(unnamed, |known| known.speaker.clone())
    }

    /// Whether the call started a subagent that was shown.
    pub(super) fn is_known(&self, tool_id: &Uuid) -> bool {
        self.of(tool_id).is_some()
    }

    /// The speaker of a frame with this parent.
    pub(super) fn speaker(&self, parent: Option<Uuid>) -> Speaker {
        let Some(parent) = parent else { return Speaker::default() };
        self.of(&parent).map_or_else(unnamed, |known| known.speaker.clone())
    }

    fn of(&self, tool_id: &Uuid) -> Option<&Known> {
        self.0.iter().rfind(|known| known.tool_id.as_ref() == Some(tool_id))
    }
}

fn unnamed() -> Speaker {
    Speaker { depth: 1, name: UNNAMED.into() }
}
