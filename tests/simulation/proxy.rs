//! One simulated proxy: the product's runs on the simulated log, with the same tasks beside them as in `framegate serve`.
//!
//! Input: recordings, as a runner sends them. Output: its runs. Never: anything after it was killed.

use crate::log::SimulatedLog;
use crate::servers::Servers;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::ingest::{Ingest, IngestFactory, Settings};
use framegate::log::StreamId;
use framegate::runs::Runs;
use framegate_translators::frame::Frame;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest as Pipeline;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

/// The session's id in the recording, which each run replaces by its own.
const SESSION: &str = "01a1ffcb-5e32-77e0-8436-bd252a60c14f";

const RECORDING: &str = include_str!("../fixtures/codex/exec-mixed-session.ndjson");

/// One message more.
const MESSAGE: &str = concat!(
    r#"{"type":"item.completed","item":{"id":"more_NUMBER","type":"agent_message","text":"Message NUMBER of many."}}"#,
    "\n"
);

/// How many records arrive at once.
const AT_ONCE: usize = 8;

/// The frames of the recording, as one run, if it arrives at `now_ms`.
pub fn frames(now_ms: u64) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(7), session_id: Some(Uuid::from_u128(8)) };
    let mut ingest = Pipeline::new(runner("codex").unwrap(), None, Limits::default(), identity);
    let mut frames: Vec<Frame> = ingest.feed(RECORDING.as_bytes(), now_ms).collect();
    frames.extend(ingest.finish(now_ms));
    frames.into_iter().map(Arc::new).collect()
}

pub struct Proxy {
    pub runs: Arc<Runs>,
    pub log: Arc<SimulatedLog>,
    ingests: IngestFactory,
    tasks: JoinSet<()>,
}

impl Proxy {
    /// Starts a proxy, the `number`th.
    pub async fn start(servers: &Arc<Servers>, number: u32, lease: Duration) -> Self {
        let log = Arc::new(SimulatedLog::new(servers.clone(), Uuid::from_u128(u128::from(number) + 1), lease));
        let runs = Arc::new(Runs::new(log.clone(), Gate::new(GateMode::Off).unwrap()));
        runs.recover(0).await.unwrap();
        let mut tasks = JoinSet::new();
        let (hearing, closing, late, keeping) = (runs.clone(), runs.clone(), runs.clone(), log.clone());
        tasks.spawn(async move { hearing.hear_on().await });
        tasks.spawn(async move { closing.close_orphans().await });
        tasks.spawn(async move { late.close_unattended().await });
        tasks.spawn(async move { keeping.keep_lease().await });
        let ingests = IngestFactory::new(runs.clone(), Settings::default());
        Self { runs, log, ingests, tasks }
    }

    /// Ingests the records of a run in a session of its own, with more messages at its end, and leaves it open.
    pub async fn open_run(&self, session: u128, messages: usize) -> (Ingest, StreamId) {
        let mut ingest = self.ingests.ingest(runner("codex"), None, Arc::default());
        let input = RECORDING.replace(SESSION, &Uuid::from_u128(session).to_string());
        let mut lines: Vec<String> = input.split_inclusive('\n').map(String::from).collect();
        lines.pop();
        lines.extend((0..messages).map(|number| MESSAGE.replace("NUMBER", &number.to_string())));
        for records in lines.chunks(AT_ONCE) {
            ingest.feed(records.concat().as_bytes()).await.unwrap();
        }
        let id = ingest.ingested().first_run().unwrap().id();
        (ingest, id)
    }

    /// Kills it: nothing of it runs any more, and its lease lapses by itself.
    pub async fn kill(mut self) {
        self.tasks.shutdown().await;
    }
}
