//! `GET /v1/artifacts/{artifact_id}`: the bytes of an artifact.
//!
//! Input: `sha256:` and the digest, the digest alone, or a Hecate id. Output: the bytes with their type, and an `ETag` with
//! their hash. Never: content that a browser executes. The output of an agent is untrusted: only images without scripts and
//! plain text are displayed, anything else is a download without a specific type, and everything is sandboxed.

use super::etag::is_known;
use super::problem::Problem;
use super::reply::{Body, empty, full};
use super::route::Call;
use super::shared::Shared;
use crate::artifacts::{Key, StoreError};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::Stream;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use std::sync::Arc;

/// Image types that cannot contain scripts.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/// Text types that framegate itself produces, with the `Content-Type` to send.
const TEXTS: &[(&str, &str)] =
    &[("text/plain", "text/plain; charset=utf-8"), ("text/x-diff", "text/x-diff; charset=utf-8")];

/// The bytes of an artifact, shared by all requests for it.
struct Content(Arc<Artifact>);

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0.content
    }
}

/// Responds with the bytes, or with 304 if the client has them.
pub(super) async fn content(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [artifact_id] = path.get()?;
    let artifact_id = artifact_id.replace("%3A", ":").replace("%3a", ":");
    let wrong = "an artifact id is either sha256: followed by 64 hex digits, or art_ followed by a ULID";
    let key = Key::parse(&artifact_id).ok_or_else(|| Problem::bad_request(wrong))?;
    if shared.runs.artifacts().is_none() {
        return Err(Problem::not_found("artifacts are disabled (artifacts.enabled)"));
    }
    let found = find(key, &shared).await.map_err(|error| unreadable(&error))?;
    let unknown = || Problem::not_found(format!("there is no artifact {artifact_id}, or it is no longer stored"));
    let artifact = found.ok_or_else(unknown)?.artifact;
    let etag = format!("\"{}\"", artifact.id());
    let has_it = is_known(request.headers(), etag.as_bytes());
    let body = if has_it { empty() } else { full(Bytes::from_owner(Content(artifact.clone()))) };
    let mut response = Response::new(body);
    if has_it {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    // The bytes of a hash never change. The permission to read them may, hence `private`.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"),
    );
    if !has_it {
        let (media_type, disposition) = shown_as(&artifact);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        if let Ok(disposition) = HeaderValue::from_str(&disposition) {
            headers.insert(header::CONTENT_DISPOSITION, disposition);
        }
    }
    Ok(response)
}

/// An artifact, with a stream that refers to it and that the caller may see.
pub(super) struct Found {
    pub(super) artifact: Arc<Artifact>,
    pub(super) seen_in: Arc<Stream>,
}

/// 500 if the store fails. The store's error is logged and not shown to the client.
pub(super) fn unreadable(error: &StoreError) -> Problem {
    tracing::error!(%error, "an artifact could not be read");
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the artifact could not be read; see the proxy's log for the reason",
    )
}

/// Finds an artifact by key; `None` if there is none, or none that the caller may see. Identical bytes are stored once, so
/// any stream that refers to them grants access.
pub(super) async fn find(key: Key, shared: &Shared) -> Result<Option<Found>, StoreError> {
    let Some(store) = shared.runs.artifacts() else { return Ok(None) };
    let Some(artifact) = store.get(key).await? else { return Ok(None) };
    let restriction = &shared.caller.restriction;
    if restriction.admits(&artifact.stream) {
        return Ok(Some(Found { seen_in: artifact.stream.clone(), artifact }));
    }
    let others = store.streams(key).await?;
    let seen = others.into_iter().find_map(|(kind, id)| shared.find(kind, id));
    Ok(seen.map(|entry| Found { seen_in: entry.stream.clone(), artifact }))
}

/// The type that is safe to send, and whether the content is displayed or downloaded.
fn shown_as(artifact: &Artifact) -> (&'static str, String) {
    let mime = artifact.mime.to_ascii_lowercase();
    if let Some(picture) = PICTURES.iter().find(|picture| **picture == mime) {
        return (picture, "inline".to_owned());
    }
    if let Some((_, text)) = TEXTS.iter().find(|(name, _)| *name == mime) {
        return (text, "inline".to_owned());
    }
    let digest = artifact.id();
    let name = digest.rsplit(':').next().unwrap_or_default();
    ("application/octet-stream", format!("attachment; filename=\"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::artifacts::ArtifactKind;
    use framegate_translators::frame::{Session, SharedStr, StreamKind};
    use uuid::Uuid;

    fn headers_for(mime: &str) -> (&'static str, String) {
        let session = Arc::new(Session { id: Uuid::nil(), name: "s".into() });
        let stream = Stream {
            kind: StreamKind::Session,
            id: Uuid::nil(),
            session,
            origin_run: None,
            provider: framegate_translators::runners::runner("codex").unwrap().provider,
        };
        shown_as(&Artifact {
            stream: Arc::new(stream),
            digest: [1; 32],
            kind: ArtifactKind::ToolResultBlob,
            mime: SharedStr::from(mime),
            content: Box::default(),
            bytes_total: 0,
            created_at_ms: 0,
            call_id: None,
            patched: None,
        })
    }

    #[test]
    fn content_that_a_browser_executes_is_never_inline() {
        for mime in
            ["text/html", "image/svg+xml", "IMAGE/SVG+XML", "application/xhtml+xml", "text/xml", "application/pdf", ""]
        {
            let (media_type, disposition) = headers_for(mime);
            assert_eq!(media_type, "application/octet-stream", "{mime}");
            assert_eq!(disposition, format!("attachment; filename=\"{}\"", "01".repeat(32)), "{mime}");
        }
        assert_eq!(headers_for("image/PNG"), ("image/png", "inline".to_owned()));
        assert_eq!(headers_for("text/x-diff").0, "text/x-diff; charset=utf-8");
    }
}
