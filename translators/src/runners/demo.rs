//! Scripted agents, with which users try the proxy without a coding agent.
//!
//! Input: lines in a runner's protocol, as its host sends them. Output: the lines of the runner, and the pauses between them. Never: a model, a
//! file, a command or the network; a clock (the caller waits for the pauses).

use super::Preset;
use uuid::Uuid;

/// The subcommand of framegate that runs such an agent.
pub const DEMO_COMMAND: &str = "demo-agent";

/// How framegate starts itself as such an agent.
pub const DEMO_PRESET: Preset = Preset {
    name: "demo",
    aliases: &[],
    program: "framegate",
    has_dialogue: true,
    environment: &[],
    mode_options: &["--mode"],
    arguments: |start| {
        let options = [("--resume", start.session), ("--model", start.model), ("--mode", start.mode)];
        start.arguments(&[DEMO_COMMAND], &options)
    },
};

/// What an agent is started with.
#[derive(Clone, Debug)]
pub struct DemoStart {
    /// The session to continue.
    pub session: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The mode that was asked for.
    pub mode: Option<String>,
    /// The working directory, which the agent only mentions.
    pub cwd: String,
    /// All ids of the agent are derived from it.
    pub seed: Uuid,
}

/// Creates a scripted agent.
pub type MakeDemo = fn(DemoStart) -> Box<dyn DemoAgent>;

/// What the agent does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoStep {
    /// It writes a line, and continues after a pause. Input that arrives meanwhile is passed on at once.
    Line {
        /// The line, with its end.
        line: Vec<u8>,
        /// The pause in milliseconds.
        pause_ms: u64,
    },
    /// It waits for input.
    Wait,
    /// It exits.
    Exit,
}

/// A scripted agent.
pub trait DemoAgent: Send {
    /// Processes a line of its standard input.
    ///
    /// # Errors
    /// Why the line has no effect. The agent goes on.
    fn receive(&mut self, line: &[u8]) -> Result<(), String>;

    /// Processes the end of its standard input: it exits when it is done.
    fn end_of_input(&mut self);

    /// What it does next.
    fn step(&mut self) -> DemoStep;
}
