//! Copies the artifacts of another proxy's runs.
//!
//! Input: the frames that name artifacts, after they are stored; the answers of that proxy. Output: the artifacts in the store of
//! this one. Never: bytes whose hash is not the artifact's id; a request for what the store has; more than one request at a time;
//! a frame that waits for its artifact.

use super::Settings;
use crate::artifacts::Key;
use crate::client::{Client, full};
use crate::runs::Runs;
use bytes::Bytes;
use framegate_translators::artifacts::{Artifact, ArtifactKind};
use framegate_translators::frame::{ArtifactWritten, Body, Frame, SharedStr, Stream};
use http_body_util::{BodyExt, Limited};
use hyper::header::CONTENT_TYPE;
use hyper::{Request, StatusCode};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// How many artifacts may wait. Those beyond it are not copied.
const WAITING: usize = 4096;

/// How often an artifact is asked for.
const ATTEMPTS: u32 = 3;

/// An artifact that a frame named.
#[derive(Clone)]
struct Wanted {
    stream: Arc<Stream>,
    written: ArtifactWritten,
    created_at_ms: u64,
    attempts: u32,
}

type Copying = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// The artifacts that are still to be copied.
#[derive(Default)]
pub(super) struct Copies {
    waiting: VecDeque<Wanted>,
    under_way: Option<(Wanted, Copying)>,
}

impl Copies {
    /// Notes the artifacts that these frames name.
    pub(super) fn note(&mut self, frames: &[Arc<Frame>]) {
        for frame in frames {
            let Body::ArtifactWritten(written) = &frame.body else { continue };
            let (stream, written, created_at_ms) = (frame.stream.clone(), (**written).clone(), frame.timestamp_ms);
            if self.waiting.len() >= WAITING {
                tracing::warn!(run = %stream.id, artifact = &*written.artifact_id, "too many artifacts wait to be copied");
                continue;
            }
            self.waiting.push_back(Wanted { stream, written, created_at_ms, attempts: 0 });
        }
    }

    /// Begins to copy the next artifact, if none is being copied.
    pub(super) fn begin(&mut self, settings: &Arc<Settings>, client: &Client, runs: &Arc<Runs>) {
        if self.under_way.is_none()
            && let Some(wanted) = self.waiting.pop_front()
        {
            let copying = copy(wanted.clone(), settings.clone(), client.clone(), runs.clone());
            self.under_way = Some((wanted, Box::pin(copying)));
        }
    }

    /// Waits until an artifact is copied, or cannot be. Cancel-safe.
    pub(super) async fn next(&mut self) {
        let Some((_, copying)) = &mut self.under_way else { return std::future::pending().await };
        let outcome = copying.await;
        let Some((mut wanted, _)) = self.under_way.take() else { return };
        let Err(error) = outcome else { return };
        wanted.attempts += 1;
        if wanted.attempts < ATTEMPTS {
            self.waiting.push_back(wanted);
            return;
        }
        let (run, artifact) = (wanted.stream.id, &*wanted.written.artifact_id);
        tracing::warn!(%run, artifact, error, "an artifact could not be copied from the other proxy");
    }
}

/// Copies one artifact into the store. If another run's bytes are the same, the store already has them, and only notes that they
/// belong to this run too.
async fn copy(wanted: Wanted, settings: Arc<Settings>, client: Client, runs: Arc<Runs>) -> Result<(), String> {
    let (Some(store), Some(bounds)) = (runs.artifacts(), runs.artifact_bounds()) else { return Ok(()) };
    let Wanted { stream, written, created_at_ms, .. } = wanted;
    let id = &written.artifact_id;
    let kind = ArtifactKind::ALL.into_iter().find(|kind| kind.as_str() == &*written.kind);
    let (Some(key @ Key::Digest(digest)), Some(kind)) = (Key::parse(id), kind) else {
        return Err("it is not one of framegate's".to_owned());
    };
    let run = (stream.kind, stream.id);
    let artifact = match store.get(key).await.map_err(|error| error.to_string())? {
        Some(held) => {
            if store.streams(key).await.map_err(|error| error.to_string())?.contains(&run) {
                return Ok(());
            }
            Artifact { stream, created_at_ms, ..Artifact::clone(&held) }
        }
        None => {
            let (mime, content) = fetch(&settings, &client, id, bounds.max_bytes).await?;
            if <[u8; 32]>::from(Sha256::digest(&content)) != digest {
                return Err("its bytes are not those that the frame names".to_owned());
            }
            let mime = kind.mime(Some(mime));
            let bytes_total = content.len() as u64;
            let content = content.to_vec().into();
            Artifact { stream, digest, kind, mime, content, bytes_total, created_at_ms, call_id: None, patched: None }
        }
    };
    // The run may have been dropped meanwhile, with its artifacts.
    if runs.find(run).is_some() {
        runs.store(vec![artifact]).await;
    }
    Ok(())
}

/// Asks the other proxy for the bytes of an artifact. Returns them with their media type.
async fn fetch(settings: &Settings, client: &Client, id: &str, most: usize) -> Result<(SharedStr, Bytes), String> {
    let (url, timeout) = (&settings.url, settings.answer_timeout);
    // A reverse proxy may add a prefix to the paths.
    let prefix = url.path().split_once("/v1/").map_or("", |(prefix, _)| prefix);
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let uri = format!("{}://{authority}{prefix}/v1/artifacts/{id}", url.scheme_str().unwrap_or("http"));
    let request = Request::get(uri).body(full(Bytes::new())).map_err(|error| error.to_string())?;
    let answer = client.send(settings.authorized(request), timeout).await.map_err(|error| error.to_string())?;
    if answer.status() != StatusCode::OK {
        return Err(format!("the other proxy answers {}", answer.status()));
    }
    let mime = answer.headers().get(CONTENT_TYPE).and_then(|mime| mime.to_str().ok());
    let mime = SharedStr::from(mime.unwrap_or("application/octet-stream"));
    let read = tokio::time::timeout(timeout, Limited::new(answer.into_body(), most).collect());
    match read.await {
        Ok(Ok(body)) => Ok((mime, body.to_bytes())),
        Ok(Err(error)) => Err(format!("the answer cannot be read: {error}")),
        Err(_) => Err("the answer took too long".to_owned()),
    }
}
