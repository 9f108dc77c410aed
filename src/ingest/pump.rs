//! Feeds an ingest from a source of bytes.
//!
//! Input: a source of chunks. Output: what the input was, or why it stopped before the end. Never: an ingest left open,
//! whatever happens to its source.

use super::pipelined_append::PipelinedAppend;
use super::{Beyond, Ingest, IngestError, Seen, unknown};
use crate::log::LogError;
use framegate_translators::foreign::Foreign;
use hyper::body::Bytes;
use std::future::Future;

/// A source of an ingest's bytes.
pub trait Source: Send {
    /// The next bytes; `None` at the end. Cancel-safe: no bytes are lost if the future is dropped.
    ///
    /// # Errors
    /// Why there are no more bytes before the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, Stopped>> + Send;
}

/// Why an ingest stopped before the end of its input.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The connection to the source broke.
    Broken(String),
    /// The source was silent for too long. Names the setting of the timeout.
    Idle(&'static str),
    /// The input has more than this many bytes.
    TooLarge(u64),
    /// The compressed input is damaged or truncated.
    Undecodable(String),
    /// The compressed input expands to more than is allowed.
    TooDense(String),
    /// The input's charset is not supported.
    Charset(String),
    /// The log rejected an append.
    Log(LogError),
    /// The input exceeded a limit.
    Beyond(Beyond),
    /// The runner was not recognised.
    Unknown(Box<Seen>),
    /// The input has a format that no runner writes.
    Foreign(Foreign),
    /// The proxy is stopping.
    Stopping,
    /// An internal error that should be impossible.
    Inside,
}

impl Stopped {
    /// The reason, for people.
    pub fn reason(&self) -> String {
        match self {
            Self::Broken(how) | Self::Undecodable(how) | Self::TooDense(how) | Self::Charset(how) => how.clone(),
            Self::Idle(setting) => format!("the client was silent for too long ({setting})"),
            Self::TooLarge(limit) => format!("the body has more than {limit} bytes (server.max_body_bytes)"),
            Self::Log(error) => error.to_string(),
            Self::Beyond(beyond) => beyond.to_string(),
            Self::Unknown(seen) => format!("{} ({}); name the runner in the path", unknown(), seen.summary()),
            Self::Foreign(foreign) => format!("the body is {foreign}"),
            Self::Stopping => "the proxy is stopping".to_owned(),
            Self::Inside => "internal error".to_owned(),
        }
    }

    /// The code of the reason, for metrics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Broken(_) => "connection_broken",
            Self::Idle(_) => "idle",
            Self::TooLarge(_) | Self::TooDense(_) => "too_large",
            Self::Undecodable(_) => "undecodable",
            Self::Charset(_) => "charset",
            Self::Log(_) => "log",
            Self::Beyond(Beyond::NotYours) => "not_allowed",
            Self::Beyond(_) => "limit",
            Self::Unknown(_) => "unknown_runner",
            Self::Foreign(_) => "foreign",
            Self::Stopping => "proxy_stopping",
            Self::Inside => "internal",
        }
    }
}

impl From<IngestError> for Stopped {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Beyond(beyond) => Self::Beyond(beyond),
            IngestError::Log(error) => Self::Log(error),
        }
    }
}

/// Feeds the whole input, then closes what is still open. Returns what the input was.
///
/// # Errors
/// Why it stopped before the end.
pub async fn pump(ingest: Ingest, source: &mut impl Source) -> Result<Seen, Stopped> {
    let mut pipelined = PipelinedAppend::of(ingest);
    let outcome = loop {
        // On an error the ingest has already closed its runs.
        match pipelined.while_waiting(source.next()).await? {
            None => continue,
            Some(Ok(None)) => break Ok(()),
            // Time blocked on the log does not count toward the sender's idle timeout.
            Some(Err(Stopped::Idle(_))) if pipelined.is_busy() => pipelined.settle().await?,
            Some(Err(stopped)) => break Err(stopped),
            Some(Ok(Some(chunk))) => pipelined.take(&chunk).await?,
        }
        if pipelined.ingest().is_unknown() {
            break Ok(());
        }
    };
    let mut ingest = pipelined.into_ingest().await?;
    if matches!(outcome, Err(Stopped::Stopping)) {
        ingest.cut_by_stop();
    }
    let seen = ingest.finish_seen().await?;
    outcome.and_then(|()| known(seen))
}

/// Feeds until the runner is recognised; `None` if the input ends first.
///
/// # Errors
/// Why it stopped first, or that the runner was not recognised.
pub async fn until_known(mut ingest: Ingest, source: &mut impl Source) -> Result<Option<Ingest>, Stopped> {
    loop {
        if ingest.is_known() {
            return Ok(Some(ingest));
        }
        match source.next().await? {
            None => return ingest.finish_seen().await.map_err(Stopped::from).and_then(known).map(|_| None),
            Some(chunk) => {
                ingest.feed(&chunk).await?;
                if ingest.is_unknown() {
                    return ingest.finish_seen().await.map_err(Stopped::from).and_then(known).map(|_| None);
                }
            }
        }
    }
}

fn known(seen: Seen) -> Result<Seen, Stopped> {
    if seen.is_unknown { Err(Stopped::Unknown(Box::new(seen))) } else { Ok(seen) }
}
