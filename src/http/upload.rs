//! The body of an ingest: read at the client's rate, decompressed, and converted to UTF-8.
//!
//! Input: the body of a request. Output: a runner's output, in pieces. Never: an unbounded wait; more memory for a compressed
//! body than for an uncompressed one.

use super::charset;
use super::coding::{self, coding_of};
use super::digest::Digest;
use super::limits::Meter;
use super::live::Control;
use super::problem::Problem;
use super::settings::Settings;
use super::shared::Shared;
use super::silent::Seat;
use crate::compression::{Bounds, Decoder, Undecodable};
use crate::ingest::{Ingest, Source, Stopped};
use crate::shutdown::Phase;
use crate::telemetry::metrics::IngestMeter;
use framegate_translators::foreign::ForeignDetector;
use framegate_translators::when::FirstTime;
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Bytes, Incoming};
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The longest wait before an ingest checks the rates again, because they may have changed.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Chunks up to this size, in bytes, are copied. This releases the connection's buffer, which is many times as large, for the
/// next chunk.
const COPIED: usize = 2 << 10;

/// How far a body is read ahead to find its first time: at most this many bytes, for at most this long.
const LOOK_AHEAD: (usize, Duration) = (1 << 20, Duration::from_millis(250));

/// The encoding of a body.
pub(super) struct Form {
    decoder: Option<Decoder>,
    charset: charset::Reader,
}

impl Form {
    /// The encoding that the headers name.
    ///
    /// # Errors
    /// 415: an unsupported coding or charset.
    pub(super) fn of(headers: &HeaderMap, settings: &Settings) -> Result<Self, Problem> {
        let bytes = [settings.max_decompressed, settings.max_body_bytes].into_iter().flatten().min();
        let bounds = Bounds { bytes, ratio: settings.max_compression, window: coding::WINDOW };
        let decoder = coding_of(headers)?.map(|coding| Decoder::new(coding, bounds));
        Ok(Self { decoder, charset: charset::Reader::of(headers)? })
    }
}

/// The body of an ingest.
pub(super) struct Upload {
    body: Incoming,
    form: Form,
    seat: Seat,
    start: Option<Duration>,
    idle: Option<Duration>,
    max_bytes: Option<u64>,
    taken: u64,
    /// Whether the body has been received completely.
    is_over: bool,
    /// Whether all of its text has been returned.
    is_given: bool,
    /// What was read ahead.
    ahead: VecDeque<Result<Option<Bytes>, Stopped>>,
    front: ForeignDetector,
    /// The digest of the text so far; `None` if none was requested.
    digest: Option<Sha256>,
    phase: watch::Receiver<Phase>,
    meter: IngestMeter,
    rates: Arc<Meter>,
    control: Control,
}

impl Upload {
    pub(super) fn new(body: Incoming, form: Form, seat: Seat, meter: IngestMeter, shared: &Shared) -> Self {
        Self {
            body,
            form,
            seat,
            start: shared.settings.ingest_start,
            idle: shared.settings.ingest_idle,
            max_bytes: shared.settings.max_body_bytes,
            taken: 0,
            is_over: false,
            is_given: false,
            ahead: VecDeque::new(),
            front: ForeignDetector::default(),
            digest: None,
            phase: shared.shutdown.phase(),
            meter,
            rates: shared.meters.of(&shared.caller.name),
            control: shared.control.clone(),
        }
    }

    /// Computes a digest of the text as it is read.
    #[must_use]
    pub(super) fn digesting(self) -> Self {
        Self { digest: Some(Sha256::new()), ..self }
    }

    /// The digest of the text read so far; zeros if none was requested.
    pub(super) fn digest(&self) -> Digest {
        self.digest.clone().map(|digest| digest.finalize().into()).unwrap_or_default()
    }

    /// Reads the rest, and returns the digest.
    ///
    /// # Errors
    /// Why the body cannot be read to its end.
    pub(super) async fn read_out(&mut self) -> Result<Digest, Stopped> {
        while self.next().await?.is_some() {}
        Ok(self.digest())
    }

    /// Ends the metering of the ingest.
    pub(super) fn end(self, stopped: Option<&Stopped>) {
        self.meter.end(stopped.map_or(FINISHED, Stopped::code));
    }

    /// Sets the time at which the ingest's input began, if `first_time` is given and finds one.
    pub(super) async fn dated(&mut self, ingest: Ingest, first_time: Option<FirstTime>) -> Ingest {
        let Some(mut first_time) = first_time else { return ingest };
        let deadline = tokio::time::Instant::now() + LOOK_AHEAD.1;
        let (mut read, mut found) = (0, None);
        while found.is_none() && read < LOOK_AHEAD.0 {
            let Ok(next) = tokio::time::timeout_at(deadline, self.read()).await else { break };
            let is_over = !matches!(next, Ok(Some(_)));
            found = match &next {
                Ok(Some(chunk)) => {
                    read += chunk.len();
                    first_time.feed(chunk)
                }
                Ok(None) => first_time.finish(),
                Err(_) => None,
            };
            self.ahead.push_back(next);
            if is_over {
                break;
            }
        }
        match found {
            Some(unix_ms) => ingest.recorded_at(unix_ms),
            None => ingest,
        }
    }

    /// Receives the next bytes as sent; `None` at the end. Dropping the future loses nothing.
    async fn sent(&mut self) -> Result<Option<Bytes>, Stopped> {
        let is_silent = self.taken == 0;
        let (limit, setting) = match is_silent {
            true => (self.start, "ingest.start_timeout_ms"),
            false => (self.idle, "ingest.idle_timeout_ms"),
        };
        loop {
            let next = async {
                match limit {
                    None => Ok(self.body.frame().await),
                    Some(limit) => tokio::time::timeout(limit, self.body.frame()).await,
                }
            };
            let frame = tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| *phase >= Phase::Cutting) => return Err(Stopped::Stopping),
                () = self.seat.lost(), if is_silent => return Err(Stopped::Idle(DISPLACED)),
                frame = next => frame.map_err(|_| Stopped::Idle(setting))?,
            };
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(Stopped::Broken("the client's connection broke".to_owned())),
                Some(Ok(frame)) => {
                    let Ok(chunk) = frame.into_data() else { continue };
                    if chunk.is_empty() {
                        continue;
                    }
                    if is_silent && !self.seat.keep() {
                        return Err(Stopped::Idle(DISPLACED));
                    }
                    self.taken += chunk.len() as u64;
                    self.meter.bytes(chunk.len());
                    self.rates.took(chunk.len(), &self.control.live().rates);
                    return match self.max_bytes.filter(|limit| self.taken > *limit) {
                        Some(limit) => Err(Stopped::TooLarge(limit)),
                        None => Ok(Some(chunk)),
                    };
                }
            }
        }
    }

    /// Text that is available without further input: from the decoder, or at the end of the body.
    fn ready(&mut self) -> Result<Option<Bytes>, Stopped> {
        if self.is_given {
            return Ok(None);
        }
        if let Some(decoder) = &mut self.form.decoder {
            let mut out = decoder.pull().map_err(undecodable)?;
            if out.is_none() && self.is_over {
                self.is_given = true;
                out = decoder.finish().map_err(undecodable)?;
            }
            return match out {
                Some(out) => self.text(out.into()).map(Some),
                None if self.is_given => self.text(Bytes::new()).map(Some),
                None => Ok(None),
            };
        }
        if !self.is_over {
            return Ok(None);
        }
        self.is_given = true;
        self.text(Bytes::new()).map(Some)
    }

    fn text(&mut self, bytes: Bytes) -> Result<Bytes, Stopped> {
        let text = self.form.charset.read(&bytes, self.is_given);
        let text = text.map_err(|error| Stopped::Charset(error.to_string()))?.map_or(bytes, Bytes::from);
        match self.front.feed(&text) {
            Some(foreign) => Err(Stopped::Foreign(foreign)),
            None => Ok(text),
        }
    }

    /// The next piece of text; `None` at its end. Dropping the future loses nothing.
    async fn read(&mut self) -> Result<Option<Bytes>, Stopped> {
        let text = self.read_text().await?;
        if let (Some(digest), Some(text)) = (&mut self.digest, &text) {
            digest.update(text);
        }
        Ok(text)
    }

    async fn read_text(&mut self) -> Result<Option<Bytes>, Stopped> {
        // Pay the debt of the rate limit before reading more. Other ingests of the client may add to the debt meanwhile.
        while let Some(wait) = self.rates.ingest_wait(&self.control.live().rates) {
            tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| *phase >= Phase::Cutting) => return Err(Stopped::Stopping),
                () = tokio::time::sleep(wait.min(LONGEST_WAIT)) => {}
            }
        }
        loop {
            while let Some(bytes) = self.ready()? {
                if !bytes.is_empty() {
                    return Ok(Some(bytes));
                }
            }
            if self.is_over {
                return Ok(None);
            }
            let Some(chunk) = self.sent().await? else {
                self.is_over = true;
                continue;
            };
            if let Some(decoder) = &mut self.form.decoder {
                decoder.push(&chunk);
                continue;
            }
            let length = chunk.len();
            let text = self.text(chunk)?;
            if text.len() == length && length <= COPIED {
                return Ok(Some(Bytes::copy_from_slice(&text)));
            }
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

impl Source for Upload {
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        match self.ahead.pop_front() {
            Some(read) => read,
            None => self.read().await,
        }
    }
}

fn undecodable(error: Undecodable) -> Stopped {
    match error {
        Undecodable::Damaged(..) | Undecodable::Cut(_) => Stopped::Undecodable(error.to_string()),
        Undecodable::TooLarge(_) | Undecodable::TooDense(_) => Stopped::TooDense(error.to_string()),
    }
}

/// The reason why a silent ingest lost its permits.
const DISPLACED: &str = "the ingest had sent nothing, and another ingest needed its place: ingest.max_open, \
                         limits.max_ingests_per_client, limits.max_ingests_per_address";

/// The outcome label of an ingest whose input ended normally.
const FINISHED: &str = "finished";
