//! Artifacts at the servers.
//!
//! Input: artifacts, and which streams refer to them. Output: an artifact by its hash, from any proxy. Never: an artifact removed that
//! another proxy was just referring to; two copies of the same bytes.
//!
//! The content is one message, or several if it is large, on a subject that is named by the hash. A reference is a message without content. The last
//! proxy that removes a reference also removes the content, unless a reference was added meanwhile: that adds a message to the
//! subject of the content, which the removal then does not follow.

use super::append::MESSAGE_BYTES;
use super::note::stream_of;
use super::publish::{Outgoing, Refusal, header};
use super::{ArtifactState, JetstreamLog, publish};
use crate::artifacts::{ArtifactStore, Key, StoreError};
use crate::log::{LogError, StreamId};
use async_trait::async_trait;
use bytes::Bytes;
use framegate_translators::artifacts::{Artifact, ArtifactKind, Patched, id_of};
use framegate_translators::frame::stored::Header;
use framegate_translators::frame::{FileChangeKind, SharedStr};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// The header that describes an artifact.
const ABOUT: &str = "Framegate-Artifact";

/// What is known of an artifact beside its content.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    stream: Header,
    digest: String,
    kind: String,
    mime: String,
    /// Bytes of the stored content.
    bytes: u64,
    bytes_total: u64,
    created_at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patched: Option<(String, String)>,
    messages: u64,
}

impl About {
    fn of(artifact: &Artifact, messages: u64) -> Self {
        Self {
            stream: Header::of(&artifact.stream),
            digest: artifact.id().to_string(),
            kind: artifact.kind.as_str().to_owned(),
            mime: artifact.mime.to_string(),
            bytes: artifact.content.len() as u64,
            bytes_total: artifact.bytes_total,
            created_at_ms: artifact.created_at_ms,
            call_id: artifact.call_id.as_deref().map(str::to_owned),
            patched: artifact.patched.as_ref().map(|one| (one.path.clone(), one.kind.as_str().to_owned())),
            messages,
        }
    }

    fn artifact(self, content: Vec<u8>) -> Option<Artifact> {
        let Some(Key::Digest(digest)) = Key::parse(&self.digest) else { return None };
        let patched = match self.patched {
            Some((path, kind)) => {
                Some(Patched { path, kind: FileChangeKind::ALL.into_iter().find(|known| known.as_str() == kind)? })
            }
            None => None,
        };
        Some(Artifact {
            stream: stream_of(&self.stream)?,
            digest,
            kind: ArtifactKind::ALL.into_iter().find(|known| known.as_str() == self.kind)?,
            mime: SharedStr::from(self.mime),
            content: content.into(),
            bytes_total: self.bytes_total,
            created_at_ms: self.created_at_ms,
            call_id: self.call_id.map(SharedStr::from),
            patched,
        })
    }
}

fn message(subject: String, id: Option<String>, after: Option<u64>, payload: Bytes) -> Outgoing {
    Outgoing { subject, after, id, note: None, headers: Vec::new(), payload }
}

impl JetstreamLog {
    /// Writes the content of an artifact. If it is there, writes that it is still wanted, so that a proxy that is just removing it
    /// notices.
    async fn put_content(&self, artifact: &Artifact) -> Result<(), StoreError> {
        let name = self.engine.names.artifacts_stream();
        let front = Key::Digest(artifact.digest).front();
        let subject = self.engine.names.artifact(front);
        let pieces: Vec<Bytes> = if artifact.content.is_empty() {
            vec![Bytes::new()]
        } else {
            artifact.content.chunks(MESSAGE_BYTES).map(Bytes::copy_from_slice).collect()
        };
        if pieces.len() > publish::MOST_AT_ONCE {
            let limit = (publish::MOST_AT_ONCE * MESSAGE_BYTES) as u64;
            return Err(StoreError::TooLarge { bytes: artifact.content.len() as u64, limit });
        }
        let about = serde_json::to_string(&About::of(artifact, pieces.len() as u64)).unwrap_or_default();
        for _ in 0..ATTEMPTS {
            let failed = |failure| self.engine.error(&failure);
            let last = self.engine.patiently(|| self.engine.last_of(&name, &subject)).await.map_err(failed)?;
            let after = last.as_ref().map_or(0, |last| last.seq);
            let id = publish::new_message_id();
            let is_there = last.is_some() && self.about(front).await?.is_some();
            let messages: Vec<Outgoing> = if is_there {
                // The message says that the content is still wanted.
                vec![message(subject.clone(), Some(id), Some(after), Bytes::new())]
            } else {
                let mut guard = Some((id, after));
                let mut next = |payload: &Bytes| {
                    let first = guard.take();
                    let is_first = first.is_some();
                    let (id, after) = first.unzip();
                    let mut message = message(subject.clone(), id, after, payload.clone());
                    if is_first {
                        message.headers.push((ABOUT, about.clone()));
                    }
                    message
                };
                pieces.iter().map(&mut next).collect()
            };
            let _permit = if messages.len() > 1 { Some(self.batches.acquire().await) } else { None };
            match self.engine.publish(&name, &messages).await {
                Ok(_) => return Ok(()),
                Err(Refusal::Overtaken(_)) => {}
                Err(refusal) => return Err(self.not_written(refusal).into()),
            }
        }
        Err(self.not_written(Refusal::Overtaken(None)).into())
    }

    /// What is known of an artifact, and the sequence of its first message; `None` if there is none.
    async fn about(&self, front: u128) -> Result<Option<(u64, About, Vec<u8>)>, LogError> {
        let name = self.engine.names.artifacts_stream();
        let subject = self.engine.names.artifact(front);
        let mut from = 1;
        // The last content counts: what is before a mark of removal is being removed.
        let mut found = None;
        loop {
            let which = json!({"seq": from, "next_by_subj": subject});
            let read = self.engine.patiently(|| self.engine.message(&name, &which)).await;
            let Some((seq, headers, payload)) = read.map_err(|failure| self.engine.error(&failure))? else {
                return Ok(found);
            };
            from = seq + 1;
            if header(&headers, REMOVED).is_some() {
                found = None;
            } else if let Some(about) = header(&headers, ABOUT) {
                let about: Option<About> = serde_json::from_str(&about).ok();
                from += about.as_ref().map_or(0, |about| about.messages.saturating_sub(1));
                found = about.map(|about| (seq, about, payload));
            }
        }
    }

    /// The content of an artifact, of which the first message is known. It is shorter if a message is missing.
    async fn content(&self, first: u64, about: &About, mut content: Vec<u8>) -> Result<Vec<u8>, LogError> {
        let name = self.engine.names.artifacts_stream();
        for nth in 1..about.messages {
            let which = json!({"seq": first + nth});
            let read = self.engine.patiently(|| self.engine.message(&name, &which)).await;
            match read.map_err(|failure| self.engine.error(&failure))? {
                Some((_, _, payload)) => content.extend_from_slice(&payload),
                None => break,
            }
        }
        Ok(content)
    }

    /// The first 128 bits of the hashes of all artifacts.
    ///
    /// # Errors
    /// The servers do not answer.
    pub async fn artifacts(&self) -> Result<Vec<u128>, LogError> {
        let name = self.engine.names.artifacts_stream();
        let subjects = self.engine.subjects(&name, &self.engine.names.artifacts()).await;
        let subjects = subjects.map_err(|failure| self.engine.error(&failure))?;
        Ok(subjects.iter().filter_map(|subject| self.engine.names.artifact_of(subject)).collect())
    }

    /// Compares an artifact with its hash; `None` if it is not kept, or not any more.
    ///
    /// # Errors
    /// The servers do not answer.
    pub async fn artifact_state(&self, front: u128) -> Result<Option<ArtifactState>, LogError> {
        let Some((first, about, head)) = self.about(front).await? else { return Ok(None) };
        let content = self.content(first, &about, head).await?;
        let id = id_of(&Sha256::digest(&content).into());
        let is_whole = id == about.digest && content.len() as u64 == about.bytes;
        // A proxy may have removed it meanwhile.
        if !is_whole && self.about(front).await?.is_none_or(|(seq, ..)| seq != first) {
            return Ok(None);
        }
        let references = self.engine.names.references_to(front);
        let references = self.engine.subjects(&self.engine.names.artifacts_stream(), &references).await;
        let is_referred = !references.map_err(|failure| self.engine.error(&failure))?.is_empty();
        Ok(Some(ArtifactState { id: about.digest, is_whole, is_referred }))
    }

    /// Removes references, and the artifacts to which nothing refers any more.
    async fn release(&self, stream: StreamId, fronts: &[u128]) -> Result<(), LogError> {
        let name = self.engine.names.artifacts_stream();
        let failed = |failure| self.engine.error(&failure);
        for front in fronts {
            let subject = self.engine.names.artifact(*front);
            let last = self.engine.patiently(|| self.engine.last_of(&name, &subject)).await.map_err(failed)?;
            self.engine.purge(&name, &self.engine.names.reference(stream, *front), None).await.map_err(failed)?;
            let others = self.engine.subjects(&name, &self.engine.names.references_to(*front)).await.map_err(failed)?;
            let Some(last) = last.filter(|_| others.is_empty()) else { continue };
            let id = publish::new_message_id();
            let mut mark = message(subject.clone(), Some(id), Some(last.seq), Bytes::new());
            mark.headers.push((REMOVED, "1".to_owned()));
            match self.engine.publish(&name, &[mark]).await {
                Ok(seq) => self.engine.purge(&name, &subject, Some(seq + 1)).await.map_err(failed)?,
                // Another stream refers to it now.
                Err(Refusal::Overtaken(_)) => {}
                Err(refusal) => return Err(self.not_written(refusal)),
            }
        }
        Ok(())
    }
}

/// How often an artifact is written again if another proxy writes or removes it meanwhile.
const ATTEMPTS: u32 = 8;

/// The header of the message that marks an artifact as removed.
const REMOVED: &str = "Framegate-Removed";

#[async_trait]
impl ArtifactStore for JetstreamLog {
    async fn put(&self, artifact: Arc<Artifact>) -> Result<(), StoreError> {
        let name = self.engine.names.artifacts_stream();
        let stream = (artifact.stream.kind, artifact.stream.id);
        let reference = self.engine.names.reference(stream, Key::Digest(artifact.digest).front());
        let mut message = message(reference, None, None, Bytes::new());
        message.headers.push((ABOUT, artifact.id().to_string()));
        self.engine.publish(&name, &[message]).await.map_err(|refusal| self.not_written(refusal))?;
        self.put_content(&artifact).await
    }

    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError> {
        let Some((first, about, head)) = self.about(key.front()).await? else { return Ok(None) };
        let content = self.content(first, &about, head).await?;
        if content.len() as u64 != about.bytes {
            return Ok(None);
        }
        let artifact = about.artifact(content).filter(|artifact| key.fits(&artifact.digest));
        Ok(artifact.map(Arc::new))
    }

    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError> {
        let name = self.engine.names.artifacts_stream();
        let is_there = self.about(key.front()).await?.is_some_and(
            |(_, about, _)| matches!(Key::parse(&about.digest), Some(Key::Digest(digest)) if key.fits(&digest)),
        );
        if !is_there {
            return Ok(Vec::new());
        }
        let subjects = self.engine.subjects(&name, &self.engine.names.references_to(key.front())).await;
        let subjects = subjects.map_err(|failure| self.engine.error(&failure))?;
        let found: HashSet<StreamId> =
            subjects.iter().filter_map(|subject| Some(self.engine.names.reference_of(subject)?.0)).collect();
        Ok(found.into_iter().collect())
    }

    async fn let_go(&self, stream: StreamId, digests: &[[u8; 32]]) -> Result<(), StoreError> {
        let fronts: Vec<u128> = digests.iter().map(|digest| Key::Digest(*digest).front()).collect();
        Ok(self.release(stream, &fronts).await?)
    }

    async fn drop_run(&self, stream: StreamId) -> Result<(), StoreError> {
        let name = self.engine.names.artifacts_stream();
        let subjects = self.engine.subjects(&name, &self.engine.names.references_of(stream)).await;
        let subjects = subjects.map_err(|failure| self.engine.error(&failure))?;
        let fronts: Vec<u128> =
            subjects.iter().filter_map(|subject| Some(self.engine.names.reference_of(subject)?.1)).collect();
        Ok(self.release(stream, &fronts).await?)
    }
}
