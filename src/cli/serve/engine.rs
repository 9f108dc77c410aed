//! The runs of a proxy and their storage, without the server in front of them.
//!
//! Input: the configuration. Output: the runs, and the background work on them. Never: a connection.

use crate::artifacts::{ArtifactStore, MemoryStore};
use crate::clock::{Clock, Moment};
use crate::config::{self, Config, FsyncKind, LogKind};
use crate::gate::Gate;
#[cfg(feature = "jetstream")]
use crate::log::jetstream::{JetstreamLog, JetstreamOptions, Role, StorageKind};
use crate::log::sqlite::{self, Fsync};
use crate::log::{FrameLog, MemoryLog, SqliteLog};
use crate::runs::{PruningBounds, Runs};
use crate::search;
use crate::webhooks;
use anyhow::anyhow;
use framegate_translators::artifacts::Bounds;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::normalizer::EndHold;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// Where frames and artifacts are kept.
pub(in crate::cli) type Storage = (Arc<dyn FrameLog>, Arc<dyn ArtifactStore>);

/// Opens the storage.
///
/// # Errors
/// The database or the servers cannot be used.
pub(in crate::cli) async fn storage(config: &Config, kind: LogKind) -> anyhow::Result<Storage> {
    let max_artifact_bytes = config.artifacts.max_total_bytes;
    Ok(match kind {
        LogKind::Memory => (
            Arc::new(
                MemoryLog::new(config.log.bytes_in(LogKind::Memory), config.log.max_runs)
                    .with_max_age(max_age(&config.log), Clock::System),
            ),
            Arc::new(MemoryStore::new(max_artifact_bytes)),
        ),
        LogKind::Sqlite => {
            let options = sqlite::Options { max_artifact_bytes, ..log_options(&config.log) };
            let log = Arc::new(SqliteLog::open(options)?);
            (log.clone(), log)
        }
        #[cfg(feature = "jetstream")]
        LogKind::Jetstream => {
            let log = jetstream(config, Role::Proxy).await?;
            (log.clone(), log)
        }
        // A configuration with this kind has been refused before.
        #[cfg(not(feature = "jetstream"))]
        LogKind::Jetstream => return Err(anyhow!("this framegate was built without the feature jetstream")),
    })
}

/// The runs in a storage.
///
/// # Errors
/// The gate cannot be set up.
pub(in crate::cli) fn runs(config: &Config, (log, store): Storage, encoder: &EncoderOptions) -> anyhow::Result<Runs> {
    let runs = Runs::new(log, Gate::new(config.gate.mode).map_err(|error| anyhow!(error))?)
        .with_view_bytes(config.server.view_bytes)
        .with_end_hold(EndHold::Ms(config.ingest.end_hold_ms))
        .with_open_tools(config.ingest.max_open_tools)
        .with_pruning(pruning_bounds(&config.log), encoder.clone());
    let artifacts = &config.artifacts;
    if !artifacts.enabled {
        return Ok(runs);
    }
    let bounds = Bounds {
        inline_bytes: artifacts.inline_bytes,
        preview_bytes: artifacts.preview_bytes,
        max_bytes: artifacts.max_bytes,
        max_open_bytes: artifacts.max_open_bytes,
    };
    Ok(runs.with_artifacts(store, bounds))
}

/// The background work on the runs, until it is dropped.
pub(in crate::cli) struct Upkeep(
    #[expect(dead_code, reason = "dropping the handles ends the tasks")] [AbortOnDropHandle<()>; 6],
);

impl Upkeep {
    /// Starts it. Must be called in a runtime.
    pub(in crate::cli) fn start(runs: &Arc<Runs>) -> Self {
        runs.start_checkpointing();
        let keeping = tokio::spawn(keep(runs.clone()));
        let closing = tokio::spawn({
            let runs = runs.clone();
            async move { runs.close_left_open().await }
        });
        let completing = tokio::spawn({
            let runs = runs.clone();
            async move { runs.complete_older().await }
        });
        let hearing = tokio::spawn({
            let runs = runs.clone();
            async move { runs.hear_on().await }
        });
        let orphans = tokio::spawn({
            let runs = runs.clone();
            async move { runs.close_orphans().await }
        });
        let unattended = tokio::spawn({
            let runs = runs.clone();
            async move { runs.close_unattended().await }
        });
        Self([keeping, closing, completing, hearing, orphans, unattended].map(AbortOnDropHandle::new))
    }
}

/// The options of the search, from the settings; `None` if it is off. Proxies with a log at NATS servers would each read all frames from there,
/// so they only do that if a file is set.
pub(in crate::cli) fn search_options(config: &Config, kind: LogKind) -> Option<search::Options> {
    let settings = &config.search;
    let beside = || {
        let mut name = config.log.path.as_os_str().to_owned();
        name.push("-search");
        PathBuf::from(name)
    };
    let own = (!settings.path.as_os_str().is_empty()).then(|| settings.path.clone());
    let path = match kind {
        // The demo leaves no files.
        LogKind::Memory => None,
        LogKind::Sqlite => Some(own.unwrap_or_else(beside)),
        LogKind::Jetstream => Some(own?),
    };
    let patience = Duration::from_millis(settings.timeout_ms);
    settings.enabled.then_some(search::Options { path, text_bytes: settings.text_bytes, patience })
}

/// Where deliveries of webhooks go that were given up; `None` if they are only logged.
pub(in crate::cli) fn dead_letters(config: &Config, kind: LogKind) -> Option<webhooks::DeadLetters> {
    let settings = &config.webhooks;
    let folder = match kind {
        _ if !settings.failed_folder.as_os_str().is_empty() => settings.failed_folder.clone(),
        LogKind::Sqlite => {
            let mut name = config.log.path.as_os_str().to_owned();
            name.push("-webhooks");
            PathBuf::from(name)
        }
        LogKind::Memory | LogKind::Jetstream => return None,
    };
    Some(webhooks::DeadLetters::at(&folder, settings.max_failed))
}

/// The options of webhooks, from the settings.
pub(in crate::cli) fn webhook_options(config: &Config, kind: LogKind) -> webhooks::Options {
    let settings = &config.webhooks;
    webhooks::Options {
        dead_letters: dead_letters(config, kind),
        queue_events: settings.queue_events,
        text_bytes: settings.text_bytes,
        stop_timeout: Duration::from_millis(settings.stop_timeout_ms),
    }
}

/// The interval of dropping old frames and of storing the counters of runs.
const KEEP_EVERY: Duration = Duration::from_secs(60);

async fn keep(runs: Arc<Runs>) {
    let start = Moment::now();
    loop {
        tokio::time::sleep(KEEP_EVERY).await;
        runs.drop_aged(start.elapsed(), Clock::System.now_ms()).await;
        runs.forget_dropped().await;
        runs.keep_counts().await;
    }
}

/// The limits beyond which the first frames of a run are pruned, from the settings.
fn pruning_bounds(log: &config::Log) -> PruningBounds {
    let some = |number: u64| Some(number).filter(|number| *number > 0);
    PruningBounds {
        max_frames: some(log.run_max_frames),
        max_bytes: some(log.run_max_bytes),
        max_age: some(log.run_max_age_hours).map(|hours| Duration::from_secs(hours * 3600)),
    }
}

/// Opens the log at NATS servers.
///
/// # Errors
/// The servers cannot be used; there is no log, and the role does not create one.
#[cfg(feature = "jetstream")]
pub(in crate::cli) async fn jetstream(config: &Config, role: Role) -> anyhow::Result<Arc<JetstreamLog>> {
    Ok(JetstreamLog::open(jetstream_options(config, role)).await?)
}

/// The options of a log at NATS servers, from the settings.
#[cfg(feature = "jetstream")]
fn jetstream_options(config: &Config, role: Role) -> JetstreamOptions {
    let log = &config.log;
    let path = |path: &std::path::Path| (!path.as_os_str().is_empty()).then(|| path.to_owned());
    JetstreamOptions {
        role,
        servers: log.servers.clone(),
        credentials_file: path(&log.credentials_file),
        nkey_file: path(&log.nkey_file),
        tls_ca_file: path(&log.tls_ca_file),
        tls_cert_file: path(&log.tls_cert_file),
        tls_key_file: path(&log.tls_key_file),
        prefix: log.prefix.clone(),
        replicas: log.replicas,
        storage: match log.storage {
            config::StorageKind::File => StorageKind::File,
            config::StorageKind::Memory => StorageKind::Memory,
        },
        timeout: Duration::from_millis(log.timeout_ms),
        patience: Duration::from_millis(log.patience_ms),
        lease: Duration::from_millis(log.lease_ms),
        max_stream_bytes: match log.max_stream_bytes {
            0 => log.bytes_in(LogKind::Jetstream).saturating_mul(4),
            bytes => bytes,
        },
        max_bytes: log.bytes_in(LogKind::Jetstream),
        max_runs: log.max_runs,
        max_age: max_age(log),
        max_artifact_bytes: config.artifacts.max_total_bytes,
        recent_bytes: log.recent_bytes,
    }
}

/// How long idle streams are kept; `None` means without limit.
fn max_age(log: &config::Log) -> Option<Duration> {
    (log.max_age_hours > 0).then(|| Duration::from_secs(log.max_age_hours * 3600))
}

/// The options of the database, from the settings.
pub(in crate::cli) fn log_options(log: &config::Log) -> sqlite::Options {
    let at_least_one = |number: usize| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
    sqlite::Options {
        fsync: match log.fsync {
            FsyncKind::Always => Fsync::Always,
            FsyncKind::Interval => Fsync::Interval(Duration::from_millis(log.fsync_interval_ms)),
            FsyncKind::Never => Fsync::Never,
        },
        queue: at_least_one(log.queue_appends),
        readers: at_least_one(log.read_connections),
        max_runs: log.max_runs,
        max_bytes: log.bytes_in(LogKind::Sqlite),
        max_age: max_age(log),
        check: log.check_on_open,
        max_file_bytes: Some(log.max_file_bytes).filter(|bytes| *bytes > 0),
        recent_bytes: log.recent_bytes,
        ..sqlite::Options::new(&log.path)
    }
}
