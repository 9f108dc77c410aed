//! The supported runners: one folder and one entry of [`RUNNERS`] each.

use crate::decode::{Decoder, Record};
use crate::frame::Provider;
use crate::framing::Framing;
use crate::host::Dialogue;
use crate::json::Object;
use crate::redact::Pieces;
use crate::schema::SchemaFile;
use std::borrow::Cow;

mod acp;
mod called_agent;
mod claude_code;
mod clock;
mod codex;
mod control_lines;
mod copilot;
mod demo;
mod elicitation;
mod failure;
mod frames;
mod gemini_cli;
mod gemini_parts;
mod history;
mod json_rpc;
mod mode;
mod names;
mod open_responses;
mod opencode;
mod pi;
mod preset;
mod qwen_code;
mod record_kinds;
mod stops;
mod workspace;

pub use demo::{DEMO_COMMAND, DEMO_PRESET, DemoAgent, DemoStart, DemoStep, MakeDemo};
pub use history::{History, SessionDatabase, SubagentFiles, is_match};
pub use mode::{Freedom, Mode, Modes};
pub use preset::{Preset, Start};
pub use workspace::{Workspace, WorkspaceReader};

/// One runner.
pub struct Runner {
    /// The name, as used on the command line and in paths.
    pub name: &'static str,
    /// How its frames name it.
    pub provider: Provider,
    /// The `gen_ai.provider.name` of its spans, as OpenTelemetry spells it: the vendor of its models if it has only one,
    /// otherwise the runner.
    pub genai_provider: &'static str,
    /// A one-line description for users.
    pub about: &'static str,
    /// Whether the output follows a public standard that permits extensions. If so, the schemas permit unknown fields: they are
    /// no violation, but still reported as drift.
    pub extensible: bool,
    /// Whether its records are frames. They are then taken over as they are: a record has no `provider_event` of its own, unless
    /// it is no valid frame or cannot follow the earlier ones.
    pub is_of_frames: bool,
    /// The forms in which its output can arrive.
    pub surfaces: &'static [Surface],
    /// Which record fields carry pieces of longer texts.
    pub pieces: &'static [Pieces],
    /// Reads the timestamp of a record, in Unix epoch milliseconds. An input that was recorded earlier starts at the first
    /// timestamp found in it.
    pub time: fn(&Record<'_>) -> Option<u64>,
    /// Creates a decoder for one input.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Creates the dialogue that sends input to the runner; `None` if the runner accepts nothing but its prompt.
    pub dialogue: Option<fn() -> Box<dyn Dialogue>>,
    /// The modes in which it can work.
    pub modes: Modes,
    /// The built-in ways to start its program, the usual one first. Empty: users name the program and its arguments.
    pub presets: &'static [&'static Preset],
    /// Creates a scripted agent that speaks this runner's protocol; `None` if there is none for it. It needs a dialogue.
    pub demo: Option<MakeDemo>,
    /// Reads the id of a response from one of the first records of a run; `None` if its runs are not responses of the Responses
    /// API.
    pub response_id: Option<fn(&Object<'_>) -> Option<String>>,
    /// Reads where a run works from its first records; `None` if no record says it.
    pub workspace: Option<WorkspaceReader>,
    /// Where it keeps the sessions of a machine, as files that its decoder reads.
    pub history: &'static [History],
    /// A short recording.
    pub sample: Sample,
}

/// A short recording of a runner, for demonstrations and tests. If the runner can ask for approval, it contains a question and
/// the answer.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name of the file in `tests/fixtures/<runner>/`.
    pub file: &'static str,
    /// Its contents.
    pub bytes: &'static [u8],
    /// Its framing.
    pub framing: Framing,
}

/// The sample in a file of the recordings' folder.
macro_rules! sample {
    ($runner:literal, $file:literal, $framing:ident) => {
        crate::runners::Sample {
            file: $file,
            bytes: {
                // A static, because the runner is a constant: its recording is in the program once.
                static BYTES: &[u8] =
                    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/", $runner, "/", $file));
                BYTES
            },
            framing: crate::framing::Framing::$framing,
        }
    };
}
use sample;

/// One form in which a runner's output can arrive.
pub struct Surface {
    /// Its name.
    pub name: &'static str,
    /// The command or file that produces it.
    pub source: &'static str,
    /// Returns the reason why a record must belong to this surface; `None` if it may belong to another surface or to none.
    pub recognise: fn(&Record<'_>) -> Option<&'static str>,
    /// The kind of a record, which is also the name of its schema: `assistant`, `system.init`, …; `None` if the record has no
    /// type.
    pub kind_of: for<'r> fn(&'r Record<'_>) -> Option<Cow<'r, str>>,
    /// The schemas of the known record kinds, one for each kind.
    pub schemas: &'static [SchemaFile],
}

impl Runner {
    /// A runner with a decoder and nothing else, for a program that has its own runner: no schemas, no recognition, no pieces of
    /// text that are redacted as one. [`RUNNERS`] has none of these.
    pub const fn bare(name: &'static str, title: &'static str, decoder: fn() -> Box<dyn Decoder>) -> Self {
        Self {
            name,
            provider: Provider { name, title },
            genai_provider: name,
            about: title,
            extensible: false,
            is_of_frames: false,
            surfaces: &[],
            pieces: &[],
            time: |_| None,
            decoder,
            dialogue: None,
            modes: Modes::NONE,
            presets: &[],
            demo: None,
            response_id: None,
            workspace: None,
            history: &[],
            sample: Sample { file: "", bytes: b"", framing: Framing::Ndjson },
        }
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every runner, in the order of `--help` and of the documentation.
pub static RUNNERS: &[Runner] = &[
    claude_code::RUNNER,
    codex::RUNNER,
    opencode::RUNNER,
    open_responses::RUNNER,
    gemini_cli::RUNNER,
    qwen_code::RUNNER,
    pi::RUNNER,
    copilot::RUNNER,
    acp::RUNNER,
    frames::RUNNER,
];

/// The runner whose output upstreams of the kind `acp` have.
pub const AGENTS: &Runner = &acp::RUNNER;

/// The runner whose output upstreams of the kind `responses` have.
pub const RESPONSES: &Runner = &open_responses::RUNNER;

/// The runner whose output upstreams of the kind `sse` have if the settings name no other one.
pub const FEED: &Runner = &opencode::RUNNER;

/// The runner whose output is frames: what upstreams of the kind `sse` have if they follow another framegate.
pub const FRAMES: &Runner = &frames::RUNNER;

/// The provider in notices that are about no run, whose events must name one all the same.
pub const OF_NOTICES: Provider = claude_code::RUNNER.provider;

/// The provider of every runner, by which stored frames are read.
pub const PROVIDERS: &[Provider] = &providers();

#[allow(clippy::indexing_slicing, reason = "evaluated at compile time, where an index out of bounds is an error")]
const fn providers() -> [Provider; RUNNERS.len()] {
    let mut providers = [RUNNERS[0].provider; RUNNERS.len()];
    let mut at = 0;
    while at < RUNNERS.len() {
        providers[at] = RUNNERS[at].provider;
        at += 1;
    }
    providers
}

/// The runner whose frames have this `provider`.
pub fn of_provider(provider: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.provider.name == provider)
}

/// The name of the runner whose frames have this `provider`. Only frames use `provider`; everything else uses the runner's name.
pub fn name_of(provider: &str) -> &str {
    of_provider(provider).map_or(provider, |runner| runner.name)
}

/// Every preset, in the order of the runners.
pub fn presets() -> impl Iterator<Item = (&'static Runner, &'static Preset)> {
    RUNNERS.iter().flat_map(|runner| runner.presets.iter().map(move |preset| (runner, *preset)))
}

/// The runner with a scripted agent, and what creates the agent.
pub fn demo() -> Option<(&'static Runner, MakeDemo)> {
    RUNNERS.iter().find_map(|runner| Some((runner, runner.demo?)))
}

/// Finds a runner by name.
pub fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let (mut names, mut providers, mut titles) = (HashSet::new(), HashSet::new(), HashSet::new());
        for Runner { name, provider, .. } in RUNNERS {
            assert!(names.insert(*name), "two runners have the name {name}");
            assert!(providers.insert(provider.name), "two runners have the provider {}", provider.name);
            assert!(titles.insert(provider.title), "two runners have the title {}", provider.title);
        }
        let mut names = HashSet::from(["none"]);
        assert!(demo().is_some_and(|(runner, _)| runner.dialogue.is_some()));
        for (runner, preset) in presets().chain(demo().map(|(runner, _)| (runner, &DEMO_PRESET))) {
            for name in [preset.name].iter().chain(preset.aliases) {
                assert!(names.insert(*name), "two presets have the name {name}");
            }
            assert!(
                !preset.has_dialogue || runner.dialogue.is_some(),
                "{} lacks a dialogue for {preset:?}",
                runner.name
            );
        }
    }
}
