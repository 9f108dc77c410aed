//! Upstreams of kind `command`: one program for each run, or for each session if the program accepts several prompts.
//!
//! Input: what to start a run with. Output: the run's id, its frames through an ingest, and how the program ended. Never: a
//! shell; more programs than the limit; a program that outlives its run; a run without an end.

mod argv;
mod environment;
mod lingering;
mod process;
mod shutdown;
mod stderr;
mod supervisor;
mod writer;

pub use supervisor::Exit;

use super::services::{self, Services};
use super::{Claim, Conversation, Host, MessageError, Modes, Setup, StartError, Upstream, files};
use crate::auth::Restriction;
use crate::config::upstream::{Command, Upstream as Configured};
use crate::runs::labels::Labels;
use crate::runs::{Ingested, RunStatus};
use argv::{Input, invocation, invocation_without_prompt};
use async_trait::async_trait;
use framegate_translators::host::{HostMessage, Opening, Outgoing};
use framegate_translators::runners::{Runner, runner};
use framegate_translators::sequence::session_id_of;
use lingering::Lingering;
use process::Program;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use supervisor::Supervisor;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tracing::Instrument;
use uuid::Uuid;
use writer::Writer;

/// An upstream of kind `command`.
pub struct CommandUpstream {
    name: String,
    runner: &'static Runner,
    settings: Arc<Command>,
    max_runs: usize,
    modes: Modes,
    relays_stderr: bool,
    may_lack_prompt: bool,
    places: Arc<Semaphore>,
    lingering: Arc<Lingering>,
    host: Host,
}

/// A program that was started.
pub struct Launched {
    /// The streams that its ingest creates; they can be followed from the beginning.
    pub ingested: Ingested,
    /// Receives the first run as soon as there is one, or why there will be none.
    pub run: oneshot::Receiver<Result<Uuid, StartError>>,
    /// Receives how the program ended.
    pub exit: oneshot::Receiver<Exit>,
}

impl CommandUpstream {
    /// Creates a configured upstream; `None` if the configured runner does not exist.
    pub fn new(configured: &Configured, settings: Command, host: Host) -> Option<Self> {
        let runner = runner(&configured.runner)?;
        Some(Self {
            name: configured.name.clone(),
            runner,
            modes: Modes::new(&configured.modes, runner),
            settings: Arc::new(settings),
            max_runs: configured.max_runs,
            relays_stderr: false,
            may_lack_prompt: false,
            places: Arc::new(Semaphore::new(configured.max_runs)),
            lingering: Arc::default(),
            host,
        })
    }

    /// Warns of what is missing for runs of this upstream. It may be there before the first run.
    pub fn warn_of_missing(&self) {
        for missing in environment::missing(&self.settings, std::env::vars_os()) {
            tracing::warn!(upstream = self.name, missing, "runs of this upstream cannot start yet");
        }
    }

    /// Passes the standard error of its programs to the standard error of this process.
    #[must_use]
    pub fn relaying_stderr(self) -> Self {
        Self { relays_stderr: true, ..self }
    }

    /// Starts its program also without a prompt.
    #[must_use]
    pub fn without_prompt(self) -> Self {
        Self { may_lack_prompt: true, ..self }
    }

    /// Starts the program. Its runs get the labels.
    ///
    /// # Errors
    /// Why the program was not started.
    pub fn launch(
        &self,
        opening: Opening,
        restriction: Arc<Restriction>,
        labels: &Labels,
    ) -> Result<Launched, StartError> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| StartError::Full(self.max_runs))?;
        self.launch_as(opening, restriction, labels, place, None)
    }

    /// Like [`Self::launch`], with the claim to the session that continues. The claim is held until there is a run.
    fn launch_as(
        &self,
        mut opening: Opening,
        restriction: Arc<Restriction>,
        labels: &Labels,
        place: OwnedSemaphorePermit,
        claim: Option<Claim>,
    ) -> Result<Launched, StartError> {
        let settings = &self.settings;
        if self.host.shutdown.is_draining() {
            return Err(StartError::Busy("the proxy is stopping".to_owned()));
        }
        opening.mode = self.modes.choose(opening.mode)?;
        if opening.model.is_none() && !settings.model.is_empty() {
            opening.model = Some(settings.model.clone());
        }
        let directory = environment::directory(settings, opening.cwd.as_deref()).map_err(StartError::Refused)?;
        opening.cwd = directory.as_ref().map(|path| path.display().to_string());
        let invoke = if self.may_lack_prompt { invocation_without_prompt } else { invocation };
        let invocation = invoke(settings, &opening).map_err(StartError::Refused)?;
        // A protocol may require the absolute path even of the directory in which the program starts anyway.
        let own_directory = || std::env::current_dir().ok().map(|path| path.display().to_string());
        opening.cwd = opening.cwd.or_else(own_directory);
        let dialogue = self.runner.dialogue.filter(|_| invocation.input == Input::Dialogue).map(|make| make());
        files::check(dialogue.as_deref(), &opening.files)?;
        let ingest_place = self.host.ingests.clone().try_acquire_owned();
        let ingest_place = ingest_place
            .map_err(|_| StartError::Busy("the maximum number of ingests is open (ingest.max_open)".to_owned()))?;
        let variables = environment::variables(settings, std::env::vars_os()).map_err(StartError::Failed)?;
        let agent = settings.agent.as_deref();
        let offer = agent.map(services::offer).transpose().map_err(StartError::Failed)?;
        let served = match (agent, &opening.cwd) {
            (Some(agent), Some(cwd)) => {
                let cannot = |error| StartError::Failed(format!("cannot open the directory {cwd}: {error}"));
                Some(Services::new(agent, Path::new(cwd), variables.clone()).map_err(cannot)?)
            }
            _ => None,
        };
        let program = Program {
            name: environment::program(settings).to_owned(),
            arguments: invocation.arguments,
            directory,
            variables,
            takes_input: invocation.input != Input::None,
            stderr_bounds: (settings.stderr_line_bytes, settings.stderr_bytes),
            relays_stderr: self.relays_stderr,
        };
        let span = tracing::info_span!("upstream", name = self.name);
        let started = span.in_scope(|| process::start(&program)).map_err(|error| {
            StartError::Failed(format!("{:?} cannot be started: {}", program.name, not_started(&error)))
        })?;
        let has_dialogue = dialogue.is_some();
        let (mut conversation, inbox) = Conversation::new(Setup {
            dialogue,
            upstream: self.name.clone(),
            policy: self.host.policy.clone(),
            handles: self.host.handles.clone(),
            meter: self.host.runs.metrics().upstream(&self.name),
            redaction: self.host.factory.settings().redaction.clone(),
        });
        if let Some(offer) = offer {
            conversation.offer(offer);
        }
        conversation.open(&opening);
        let ingest = self.host.factory.ingest(Some(self.runner), None, restriction);
        let mut ingest = ingest.labelled(labels.clone()).of_upstream(&self.name);
        if !opening.prompt.is_empty() || !opening.files.is_empty() {
            ingest.expect_prompt(&opening.prompt, &opening.files);
        }
        let mut writer = Writer::new(started.input);
        if invocation.input == Input::Prompt {
            writer.send(Outgoing::Input(opening.prompt.into_bytes()));
            writer.close();
        }
        let ingested = ingest.ingested();
        let (run_begins, run) = oneshot::channel();
        let (exits, exit) = oneshot::channel();
        let meter = self.host.runs.metrics().ingest(self.runner.name);
        let supervisor = Supervisor::new(supervisor::Parts {
            settings: settings.clone(),
            runs: self.host.runs.clone(),
            ingest,
            conversation,
            has_dialogue,
            services: served,
            inbox,
            writer,
            process: started.process,
            output: started.output,
            phase: self.host.shutdown.phase(),
            run_begins,
            claim,
            lingerer: self.lingering.program(),
        });
        let driven = async move {
            let (exit, reason) = supervisor.run(&meter).await;
            meter.end(reason);
            drop((place, ingest_place));
            let _ = exits.send(exit);
        };
        tokio::spawn(driven.instrument(span));
        Ok(Launched { ingested, run, exit })
    }
}

/// Why a program was not started, with advice.
fn not_started(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such program; use a name that is in PATH, or a path".to_owned(),
        _ => error.to_string(),
    }
}

impl CommandUpstream {
    /// Claims a session once no other runner writes to it. A program that still waits for prompts of the session is closed
    /// first.
    async fn take_over(&self, session: &str) -> Result<Claim, StartError> {
        let id = session_id_of(self.runner.provider.name, session);
        let being_started = || StartError::Conflict("another run of this session is being started".to_owned());
        let claim = self.host.handles.claim(id).ok_or_else(being_started)?;
        let handle = self.host.handles.find_session(id);
        let at_work = || {
            let how = format!("POST /v1/sessions/{id}/messages sends it a message, if its runner accepts messages");
            StartError::Conflict(format!("a run of this session is open; {how}"))
        };
        let goes_on = |status: &RunStatus| status.session_id == id && status.ended_at_ms.is_none();
        if !self.host.runs.list(&goes_on, 0, 1).is_empty() {
            return Err(at_work());
        }
        let Some(handle) = handle else { return Ok(claim) };
        match handle.send(HostMessage::Close, "proxy").await {
            // A prompt arrived first.
            Err(MessageError::AtWork) => return Err(at_work()),
            // A runner that cannot be asked to close is not a program of this kind.
            Err(MessageError::SendError(_)) => return Ok(claim),
            // The runner agreed to exit, or has already gone.
            _ => {}
        }
        let left = async {
            while self.host.handles.find_session(id).is_some() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let left = tokio::time::timeout(self.leaving(), left).await;
        left.map_err(|_| StartError::Conflict("the runner of this session does not exit".to_owned()))?;
        Ok(claim)
    }
}

impl CommandUpstream {
    /// A place for another program. If there is none, the program that has waited longest for a further prompt makes way.
    async fn place(&self) -> Result<OwnedSemaphorePermit, StartError> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Ok(place);
        }
        let full = || StartError::Full(self.max_runs);
        if !self.lingering.ask_one() {
            return Err(full());
        }
        let freed = tokio::time::timeout(self.leaving(), self.places.clone().acquire_owned()).await;
        freed.ok().and_then(Result::ok).ok_or_else(full)
    }

    /// How long a program that was asked to leave may take.
    fn leaving(&self) -> Duration {
        Duration::from_millis(self.settings.exit_grace_ms + self.settings.signal_grace_ms + LEAVING_MS)
    }
}

/// How long a killed program may take to exit, in milliseconds.
const LEAVING_MS: u64 = 5000;

#[async_trait]
impl Upstream for CommandUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        if self.settings.agent.is_some() { self.runner.name } else { "command" }
    }

    fn runner(&self) -> &'static Runner {
        self.runner
    }

    fn takes_images(&self) -> bool {
        self.takes_messages() && files::takes_images(self.runner)
    }

    fn modes(&self) -> &Modes {
        &self.modes
    }

    fn takes_messages(&self) -> bool {
        let of_preset = self.settings.preset.built_in().is_some_and(|preset| preset.has_dialogue);
        (of_preset || self.settings.agent.is_some()) && self.runner.dialogue.is_some()
    }

    fn starts_within(&self) -> Duration {
        // Another program may have to leave, both for its session and for its place.
        Duration::from_millis(self.settings.start_timeout_ms) + 2 * self.leaving()
    }

    async fn start(&self, opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError> {
        // Before the program of the session is closed.
        self.modes.choose(opening.mode.clone())?;
        let claim = match &opening.session {
            Some(session) => Some(self.take_over(session).await?),
            None => None,
        };
        let launched = self.launch_as(opening, restriction, &Labels::default(), self.place().await?, claim)?;
        let gone = || StartError::Failed("lost control of the runner".to_owned());
        launched.run.await.unwrap_or_else(|_| Err(gone()))
    }
}
