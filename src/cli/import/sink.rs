//! Where imported sessions go: into the log of the configuration, or to a running proxy.
//!
//! Input: a file, or a session of a database. Output: which runs it has, and which of them are new. Never: a file that is held in memory as a whole.

use super::database::Most;
use super::find::{Opened, Session};
use super::pieces::{Pieces, WHOLE_BYTES};
use super::turns::{Place, Sessions};
use crate::cli::bad::{BadRecords, no_run};
use crate::cli::bridge::{Failure, Proxy};
use crate::cli::input::Input;
use crate::cli::recordings::first_time;
use crate::client::{Body, NoAnswer};
use crate::ingest::{Ingest, IngestFactory, Seen, Stopped, pump};
use crate::runs::labels::Labels;
use crate::runs::{Ingested, Runs};
use bytes::Bytes;
use framegate_translators::framing::Limits;
use framegate_translators::runners::runner;
use framegate_translators::when::FirstTime;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::StatusCode;
use hyper::body::Frame;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};
use std::thread;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How many bad records of a file are reported one by one; the rest are counted.
const MOST_REPORTED: u64 = 3;

/// How much of a growing file is searched for its first time.
const FRONT_BYTES: u64 = 256 << 10;

/// How many files are imported at once for each processor. A file waits until its frames are stored, and the writer of the log puts all frames
/// that wait into one transaction: with four files instead of one, an import takes a third less time.
const AT_ONCE_FOR_EACH: usize = 4;

/// How many files are imported at once at most: the thread that writes the log is as fast as three that decode.
const MOST_AT_ONCE: usize = 16;

/// How many pieces of a file may wait to be sent.
const AHEAD: usize = 8;

/// The framegate command, for messages.
const COMMAND: &str = "import";

/// What a file had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// The runner that wrote it.
    pub(super) runner: Option<String>,
    /// How long it was, before decompression.
    pub(super) bytes: u64,
    /// Runs that the log did not have.
    pub(super) new: u64,
    /// Runs that it had.
    pub(super) known: u64,
    /// Runs that replaced shorter ones.
    pub(super) replaced: u64,
    /// Whether it had records, but no run.
    pub(super) is_without_run: bool,
}

impl Taken {
    fn of(runner: Option<String>, runs: usize, known: u64, replaced: u64) -> Self {
        let new = (runs as u64).saturating_sub(known).saturating_sub(replaced);
        Self { runner, bytes: 0, new, known, replaced, is_without_run: runs == 0 }
    }
}

/// Why a file was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// Others may be.
    File(String),
    /// The proxy does not answer, so no others will be.
    Proxy(String),
}

impl From<String> for NotTaken {
    fn from(why: String) -> Self {
        Self::File(why)
    }
}

impl fmt::Display for NotTaken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::File(why) | Self::Proxy(why)) = self;
        out.write_str(why)
    }
}

/// Where sessions go.
pub(super) enum Sink {
    /// `limits` says how much the log keeps, for messages.
    Log {
        factory: IngestFactory,
        runs: Arc<Runs>,
        place: String,
        limits: String,
    },
    Proxy {
        proxy: Box<Proxy>,
        url: String,
    },
}

/// A file that is imported while it grows.
pub(super) enum Stream {
    Log(Box<Ingest>),
    Proxy { pieces: mpsc::Sender<io::Result<Bytes>>, sending: JoinHandle<Result<Value, Failure>> },
}

impl Stream {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// Why no more are taken.
    pub(super) fn feed(&mut self, bytes: &[u8], runtime: &Handle) -> Result<(), String> {
        match self {
            Self::Log(ingest) => runtime.block_on(ingest.feed(bytes)).map_err(|error| error.to_string()),
            Self::Proxy { pieces, .. } => pieces
                .blocking_send(Ok(Bytes::copy_from_slice(bytes)))
                .map_err(|_| "the proxy takes no more of this file".to_owned()),
        }
    }

    /// Nothing was written for a while.
    pub(super) fn wait(&mut self, runtime: &Handle) {
        if let Self::Log(ingest) = self
            && ingest.patience().is_some_and(|patience| patience.is_zero())
            && let Err(error) = runtime.block_on(ingest.flush())
        {
            tracing::warn!(%error, "frames could not be stored");
        }
    }

    /// Ends the file for now.
    ///
    /// # Errors
    /// Why it was not taken to its end.
    pub(super) fn finish(self, runtime: &Handle) -> Result<(), String> {
        match self {
            Self::Log(ingest) => runtime.block_on(ingest.finish()).map(drop).map_err(|error| error.to_string()),
            Self::Proxy { pieces, sending } => {
                drop(pieces);
                match runtime.block_on(sending) {
                    Ok(answer) => answer.map(drop).map_err(|failure| failure.to_string()),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    }
}

impl Sink {
    /// Begins to import a file that grows.
    pub(super) fn open(&self, file: &Session, labels: &Labels, runtime: &Handle) -> Stream {
        match self {
            Self::Log { factory, .. } => {
                let ingest = factory.ingest(file.runner.and_then(runner), None, Arc::default());
                let ingest = ingest.labelled(labels.clone()).of_history();
                let ingest = match time_of_front(file) {
                    Some(unix_ms) => ingest.recorded_at(unix_ms),
                    None => ingest,
                };
                Stream::Log(Box::new(ingest))
            }
            Self::Proxy { proxy, .. } => {
                let (pieces, sending) = send(proxy, file, labels, runtime);
                Stream::Proxy { pieces, sending }
            }
        }
    }

    /// Imports a file. Waits for the file and for its turn on the thread that calls it, which must not be one of the runtime.
    ///
    /// # Errors
    /// Why the file cannot be read, or that no runner wrote it.
    pub(super) fn take(
        &self,
        file: &Session,
        labels: &Labels,
        place: Place<'_>,
        runtime: &Handle,
    ) -> Result<Taken, NotTaken> {
        let cannot_read = |why: &dyn fmt::Display| format!("cannot read {}: {why}", file.name());
        let opened = file.open(self.most(), COMMAND).map_err(|error| cannot_read(&error))?;
        let bytes = file.bytes.or_else(|| opened.input.known_bytes()).unwrap_or_default();
        let taken = match self {
            Self::Log { factory, .. } => {
                into_log(factory, opened, file, (labels, place), runtime).map_err(NotTaken::File)
            }
            Self::Proxy { proxy, .. } => to_proxy(proxy, opened.input, file, labels, runtime),
        };
        taken.map(|taken| Taken { bytes, ..taken }).map_err(|why| match why {
            NotTaken::File(why) => NotTaken::File(cannot_read(&why)),
            gone @ NotTaken::Proxy(_) => gone,
        })
    }

    /// How many files are imported at once. A proxy recognises what it has already, but not what another request is sending, so it gets one.
    pub(super) fn files_at_once(&self) -> usize {
        match self {
            Self::Log { .. } => {
                let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
                processors.saturating_mul(AT_ONCE_FOR_EACH).min(MOST_AT_ONCE)
            }
            Self::Proxy { .. } => 1,
        }
    }

    /// How many bytes a record may have. A proxy does not say; it refuses what is too large for it.
    fn most(&self) -> Most {
        let (limits, name) = match self {
            Self::Log { factory, .. } => (factory.settings().limits, "ingest.max_record_bytes"),
            Self::Proxy { .. } => (Limits::default(), "the default of ingest.max_record_bytes"),
        };
        Most { bytes: limits.record_bytes, name }
    }

    /// Where that is, for messages.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Log { place, .. } => place,
            Self::Proxy { url, .. } => url,
        }
    }

    /// How many runs the log has dropped to stay within its limits, and the limits. A proxy does not say.
    pub(super) fn dropped(&self, runtime: &Handle) -> Option<(u64, &str)> {
        match self {
            Self::Log { runs, limits, .. } => {
                runtime.block_on(async {
                    // The log made room for the last frames before it knew how many runs they are.
                    runs.log().make_room().await;
                    runs.forget_dropped().await;
                });
                Some((runs.dropped_for_room(), limits))
            }
            Self::Proxy { .. } => None,
        }
    }

    /// Ends the import.
    pub(super) async fn close(&self) {
        if let Self::Log { runs, .. } = self {
            runs.keep_counts().await;
            runs.leave_log().await;
        }
    }
}

/// What is needed to import one file into the log.
struct IntoLog<'f> {
    factory: &'f IngestFactory,
    file: &'f Session,
    labels: &'f Labels,
    runtime: &'f Handle,
    /// When its first record was written, in Unix epoch milliseconds.
    first: Option<u64>,
}

/// The first time in the front of a file, in Unix epoch milliseconds. `None` if there is none, or the file cannot be read.
fn time_of_front(file: &Session) -> Option<u64> {
    let mut front = Vec::new();
    File::open(&file.path).ok()?.take(FRONT_BYTES).read_to_end(&mut front).ok()?;
    let mut first = FirstTime::new(file.runner.and_then(runner), None, Limits::default());
    first.feed(&front).or_else(|| first.finish())
}

impl IntoLog<'_> {
    fn ingest(&self) -> Ingest {
        let of_runner = self.file.runner.and_then(runner);
        let ingest = self.factory.ingest(of_runner, None, Arc::default()).labelled(self.labels.clone()).of_history();
        match self.first {
            Some(unix_ms) => ingest.recorded_at(unix_ms),
            None => ingest,
        }
    }

    /// Imports a file that is in memory. It is decoded before its turn.
    fn whole(&self, bytes: &[u8], place: Place<'_>) -> (Ingested, Result<Seen, Stopped>) {
        let mut ingest = self.ingest();
        let mut ingested = ingest.ingested();
        let mut decoded = ingest.decode(bytes);
        let _turn = place.turn(Sessions::Known(decoded.sessions()));
        if !decoded.is_current() {
            ingest = self.ingest();
            ingested = ingest.ingested();
            decoded = ingest.decode(bytes);
        }
        (ingested, self.runtime.block_on(decoded.store()).map_err(Stopped::from))
    }

    /// Imports a file that is decoded as it is read, while no other file is stored.
    fn in_pieces(&self, pieces: &mut Pieces<'_>, place: Place<'_>) -> (Ingested, Result<Seen, Stopped>) {
        let _turn = place.turn(Sessions::Unknown);
        let ingest = self.ingest();
        let ingested = ingest.ingested();
        (ingested, self.runtime.block_on(pump(ingest, pieces)))
    }
}

/// Imports a file into the log. It is finished even if it breaks off, so that its runs are closed.
fn into_log(
    factory: &IngestFactory,
    Opened { mut input, origins }: Opened,
    file: &Session,
    (labels, place): (&Labels, Place<'_>),
    runtime: &Handle,
) -> Result<Taken, String> {
    let input = &mut input;
    let of_runner = file.runner.and_then(runner);
    let first = first_time(input, of_runner, factory.settings().limits).map_err(|error| error.to_string())?;
    let import = IntoLog { factory, file, labels, runtime, first };
    let mut bad = BadRecords::new(&file.path, MOST_REPORTED);
    let mut pieces = Pieces::new(input, &file.path, &mut bad);
    let front = pieces.read_up_to(WHOLE_BYTES);
    let (ingested, outcome) = if pieces.is_over {
        import.whole(&front, place)
    } else {
        pieces.next = Some(front);
        import.in_pieces(&mut pieces, place)
    };
    let failed = pieces.failed.take();
    let seen = match outcome {
        Ok(seen) => seen,
        Err(Stopped::Unknown(seen)) => *seen,
        Err(stopped) => return Err(stopped.reason()),
    };
    match origins {
        None => bad.tell(seen.bad.clone()),
        Some(origins) => {
            let origins = origins.lock().unwrap_or_else(PoisonError::into_inner);
            bad.tell_of(seen.bad.clone(), |line| origins.of(line));
        }
    }
    bad.end(&seen.tally);
    if let Some(error) = failed {
        return Err(error.to_string());
    }
    let runs = ingested.runs();
    if seen.is_nothing() || seen.mistaken.is_some() {
        return Err(no_run(input, file.runner, None, &seen.tally, seen.mistaken, bad.first()));
    }
    let runner = runs.first().map(|run| run.status().runner.to_string());
    Ok(Taken::of(runner, runs.len(), ingested.repeated().len() as u64, ingested.replaced()))
}

/// What a proxy answers to an ingest, as far as it matters here.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    repeated_runs: u64,
    #[serde(default)]
    replaced_runs: u64,
}

#[derive(Deserialize)]
struct Run {
    runner: String,
}

/// Begins a request whose body is sent in pieces.
fn send(
    proxy: &Proxy,
    file: &Session,
    labels: &Labels,
    runtime: &Handle,
) -> (mpsc::Sender<io::Result<Bytes>>, JoinHandle<Result<Value, Failure>>) {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let labels: String = labels.iter().map(|label| format!("&label={}", encoded(&label.to_string()))).collect();
    let path = format!("/v1/ingest/{}?history=1{labels}", file.runner.unwrap_or("auto"));
    let (pieces, received) = mpsc::channel::<io::Result<Bytes>>(AHEAD);
    let body = stream::unfold(received, |mut received| async move {
        let piece = received.recv().await?;
        Some((piece.map(Frame::data), received))
    });
    let body: Body = BodyExt::boxed_unsync(StreamBody::new(body).map_err(Into::into));
    let proxy = proxy.clone();
    (pieces, runtime.spawn(async move { proxy.ingest(&path, body).await }))
}

fn to_proxy(
    proxy: &Proxy,
    mut input: Input,
    file: &Session,
    labels: &Labels,
    runtime: &Handle,
) -> Result<Taken, NotTaken> {
    let (pieces, sending) = send(proxy, file, labels, runtime);
    loop {
        match input.next() {
            Ok([]) => break,
            // The request ends early if the proxy refuses it.
            Ok(chunk) => {
                if pieces.blocking_send(Ok(Bytes::copy_from_slice(chunk))).is_err() {
                    break;
                }
            }
            Err(error) => {
                let why = error.to_string();
                let _ = pieces.blocking_send(Err(error));
                return Err(why.into());
            }
        }
    }
    drop(pieces);
    let answer = match runtime.block_on(sending).map_err(|error| error.to_string())? {
        Ok(answer) => answer,
        Err(failure) if runtime.block_on(is_gone(proxy, &failure)) => return Err(NotTaken::Proxy(failure.to_string())),
        Err(failure) => return Err(failure.to_string().into()),
    };
    let Answer { runs, repeated_runs, replaced_runs } = serde_json::from_value(answer)
        .map_err(|error| format!("the answer is not that of a framegate proxy: {error}"))?;
    let runner = runs.first().map(|run| run.runner.clone());
    Ok(Taken::of(runner, runs.len(), repeated_runs, replaced_runs))
}

/// Whether a request failed because there is no proxy any more, or because it takes no request of this command.
async fn is_gone(proxy: &Proxy, failure: &Failure) -> bool {
    match failure {
        Failure::NoAnswer(NoAnswer::Unreachable(_)) => true,
        Failure::Refused { status: StatusCode::UNAUTHORIZED, .. } => true,
        // The proxy may have ended the connection because of the file.
        Failure::NoAnswer(NoAnswer::Broken(_)) | Failure::Lost(_) => {
            matches!(proxy.get("/healthz").await, Err(Failure::NoAnswer(_)))
        }
        _ => false,
    }
}
