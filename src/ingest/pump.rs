//! Feeds an ingest from wherever its bytes come.
//!
//! In: a source of chunks. Out: the number of records, or why it stopped before the end. Never: an ingest that is left open,
//! whatever becomes of its source.

use super::ahead::Ahead;
use super::{Beyond, Ingest, IngestError, unknown};
use crate::log::LogError;
use hyper::body::Bytes;
use std::future::Future;

/// Where an ingest's bytes come from.
pub trait Source: Send {
    /// The next bytes; `None` at the end. Where the future is dropped before it gives any, none are lost.
    ///
    /// # Errors
    /// Why there are none although it is not over.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, Stopped>> + Send;
}

/// Why an ingest stopped before its input's end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The connection to its source broke.
    Broken(String),
    /// Its source said nothing for too long, by the setting of that name.
    Idle(&'static str),
    /// It is longer than that many bytes.
    TooLarge(u64),
    /// The log took nothing more.
    Log(LogError),
    /// It made what it may not.
    Beyond(Beyond),
    /// Nobody knows whose output it is.
    Unknown,
    /// The proxy stops.
    Stopping,
    /// Something went wrong that cannot.
    Inside,
}

impl Stopped {
    /// The reason, for people.
    pub fn reason(&self) -> String {
        match self {
            Self::Broken(how) => how.clone(),
            Self::Idle(setting) => format!("the other side was silent for too long ({setting})"),
            Self::TooLarge(limit) => format!("the body has more than {limit} bytes (server.max_body_bytes)"),
            Self::Log(error) => error.to_string(),
            Self::Beyond(beyond) => beyond.to_string(),
            Self::Unknown => format!("{}; name the runner in the path", unknown()),
            Self::Stopping => "the proxy is stopping".to_owned(),
            Self::Inside => "an internal error".to_owned(),
        }
    }

    /// A short word for metrics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Broken(_) => "connection_broken",
            Self::Idle(_) => "idle",
            Self::TooLarge(_) => "too_large",
            Self::Log(_) => "log",
            Self::Beyond(Beyond::NotYours) => "not_allowed",
            Self::Beyond(_) => "limit",
            Self::Unknown => "unknown_runner",
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

/// Feeds everything, and closes what is open behind it; gives the number of records.
///
/// # Errors
/// Why it stopped before the end.
pub async fn pump(ingest: Ingest, source: &mut impl Source) -> Result<u64, Stopped> {
    let mut ahead = Ahead::of(ingest);
    let outcome = loop {
        // On failure the ingest has closed its runs already.
        match ahead.while_waiting(source.next()).await? {
            None => continue,
            Some(Ok(None)) => break Ok(()),
            // Who is silent while the log is busy may be waiting for it: his time begins when it is through.
            Some(Err(Stopped::Idle(_))) if ahead.is_busy() => ahead.settle().await?,
            Some(Err(stopped)) => break Err(stopped),
            Some(Ok(Some(chunk))) => ahead.take(&chunk).await?,
        }
        if ahead.ingest().is_unknown() {
            return Err(Stopped::Unknown);
        }
    };
    let mut ingest = ahead.into_ingest().await?;
    if matches!(outcome, Err(Stopped::Stopping)) {
        ingest.cut_by_stop();
    }
    let records = ingest.finish().await?;
    outcome.and_then(|()| records.ok_or(Stopped::Unknown))
}

/// Feeds until it is known whose output it is; `None` where it is over by then.
///
/// # Errors
/// Why it stopped before, or that nobody knows.
pub async fn until_known(mut ingest: Ingest, source: &mut impl Source) -> Result<Option<Ingest>, Stopped> {
    loop {
        if ingest.is_known() {
            return Ok(Some(ingest));
        }
        match source.next().await? {
            None => return ingest.finish().await?.map(|_| None).ok_or(Stopped::Unknown),
            Some(chunk) => {
                ingest.feed(&chunk).await?;
                if ingest.is_unknown() {
                    return Err(Stopped::Unknown);
                }
            }
        }
    }
}
