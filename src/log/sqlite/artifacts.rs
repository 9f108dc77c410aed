//! Artifacts in the same file as the frames that refer to them. They outlive the process and are dropped together with the
//! frames.
//!
//! Input: artifacts, before their frames. Output: an artifact by its hash, or by the first part of its hash. Never: two copies
//! of the same bytes, more bytes than configured (the oldest are removed first), or an artifact that no stream refers to.

use super::database::failure;
use super::writer::Writer;
use super::{Job, SqliteLog};
use crate::artifacts::{ArtifactStore, Key, StoreError};
use crate::log::{LogError, StreamId};
use async_trait::async_trait;
use framegate_translators::artifacts::{Artifact, ArtifactKind, Patched, id_of};
use framegate_translators::frame::stored::Header;
use framegate_translators::frame::{FileChangeKind, SharedStr, StreamKind};
use framegate_translators::runners::PROVIDERS;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

#[async_trait]
impl ArtifactStore for SqliteLog {
    async fn put(&self, artifact: Arc<Artifact>) -> Result<(), StoreError> {
        self.ask(|done| Job::Put(artifact, done)).await?
    }

    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError> {
        let found = self.readers.clone().with(move |database, path| get(database, path, key)).await?;
        Ok(found.map(Arc::new))
    }

    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError> {
        Ok(self.readers.clone().with(move |database, path| streams(database, path, key)).await?)
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        self.ask(|done| Job::write(done, |writer| writer.artifact_usage())).await.ok()?
    }

    async fn let_go(&self, stream: StreamId, digests: &[[u8; 32]]) -> Result<(), StoreError> {
        let hashes: Vec<String> = digests.iter().map(id_of).collect();
        Ok(self.ask(|done| Job::write(done, move |writer| writer.let_go(stream, &hashes))).await??)
    }

    async fn drop_run(&self, _: StreamId) -> Result<(), StoreError> {
        // They are removed with the stream's frames, in the same transaction.
        Ok(())
    }
}

impl Writer {
    pub(super) fn let_go(&mut self, stream: StreamId, hashes: &[String]) -> Result<(), LogError> {
        let freed =
            let_go(self.database(), stream, hashes).map_err(|error| self.failed("cannot be written", &error))?;
        self.artifacts_went(freed);
        self.give_back();
        Ok(())
    }
}

/// Removes a stream's references to these artifacts, and the artifacts that nothing else refers to. Returns how many bytes were
/// freed.
fn let_go(database: &Connection, (kind, id): StreamId, hashes: &[String]) -> rusqlite::Result<u64> {
    let transaction = database.unchecked_transaction()?;
    let mut freed = 0;
    for hash in hashes {
        transaction
            .prepare_cached(
                "DELETE FROM artifact_references WHERE kind = ?1 AND stream_id = ?2 \
                 AND artifact = (SELECT key FROM artifacts WHERE hash = ?3)",
            )?
            .execute((kind.as_str(), id.to_string(), hash))?;
        let gone: Option<u64> = transaction
            .prepare_cached(
                "DELETE FROM artifacts WHERE hash = ?1 \
                 AND NOT EXISTS (SELECT 1 FROM artifact_references WHERE artifact = artifacts.key) RETURNING bytes",
            )?
            .query_row([hash], |row| row.get(0))
            .optional()?;
        freed += gone.unwrap_or_default();
    }
    transaction.commit()?;
    Ok(freed)
}

/// The size of all artifacts in bytes.
pub(super) fn total(database: &Connection) -> rusqlite::Result<u64> {
    database.prepare_cached("SELECT coalesce(sum(bytes), 0) FROM artifacts")?.query_row([], |row| row.get(0))
}

/// Stores an artifact; `held` is the size of all artifacts. If that exceeds `limit`, the oldest are removed.
pub(super) fn put(database: &Connection, artifact: &Artifact, held: &mut u64, limit: u64) -> rusqlite::Result<()> {
    let transaction = database.unchecked_transaction()?;
    let (hash, mut bytes) = (artifact.id(), *held);
    let known = database
        .prepare_cached("SELECT key FROM artifacts WHERE hash = ?1")?
        .query_row([&*hash], |row| row.get::<_, i64>(0))
        .optional()?;
    let key = match known {
        Some(key) => key,
        None => {
            let more = artifact.content.len() as u64;
            while bytes + more > limit {
                let Some(freed) = remove_oldest(database)? else { break };
                bytes = bytes.saturating_sub(freed);
            }
            bytes += more;
            insert(database, artifact, &hash)?
        }
    };
    database
        .prepare_cached("INSERT OR IGNORE INTO artifact_references (artifact, kind, stream_id) VALUES (?1, ?2, ?3)")?
        .execute((key, artifact.stream.kind.as_str(), artifact.stream.id.to_string()))?;
    transaction.commit()?;
    *held = bytes;
    Ok(())
}

fn insert(database: &Connection, artifact: &Artifact, hash: &str) -> rusqlite::Result<i64> {
    // Serialisation cannot fail: the header consists of ids and names.
    let stream = serde_json::to_string(&Header::of(&artifact.stream)).unwrap_or_default();
    database
        .prepare_cached(
            "INSERT INTO artifacts (hash, kind, media_type, bytes, bytes_total, created_ms, call_id, path, change, stream, \
             content) VALUES (:hash, :kind, :media, :bytes, :total, :ms, :call, :path, :change, :stream, :content)",
        )?
        .insert(named_params! {
            ":hash": hash, ":kind": artifact.kind.as_str(), ":media": &*artifact.mime,
            ":bytes": artifact.content.len(), ":total": artifact.bytes_total,
            ":ms": artifact.created_at_ms.cast_signed(), ":call": artifact.call_id.as_deref(),
            ":path": artifact.patched.as_ref().map(|patched| &patched.path),
            ":change": artifact.patched.as_ref().map(|patched| patched.kind.as_str()),
            ":stream": stream, ":content": &*artifact.content,
        })
}

/// Removes the oldest artifact. Returns its size.
fn remove_oldest(database: &Connection) -> rusqlite::Result<Option<u64>> {
    let oldest = database
        .prepare_cached("SELECT key, bytes FROM artifacts ORDER BY key LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?)))
        .optional()?;
    let Some((key, bytes)) = oldest else { return Ok(None) };
    database.prepare_cached("DELETE FROM artifact_references WHERE artifact = ?1")?.execute([key])?;
    database.prepare_cached("DELETE FROM artifacts WHERE key = ?1")?.execute([key])?;
    Ok(Some(bytes))
}

/// Removes the artifacts that only the stream with that key refers to. Part of the caller's transaction. Returns how many bytes
/// were freed.
pub(super) fn remove_of_stream(database: &Connection, key: i64) -> rusqlite::Result<u64> {
    let (kind, id): (String, String) = database
        .prepare_cached("SELECT kind, id FROM streams WHERE key = ?1")?
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let referred: Vec<i64> = database
        .prepare_cached("SELECT artifact FROM artifact_references WHERE kind = ?1 AND stream_id = ?2")?
        .query_map([&kind, &id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    database
        .prepare_cached("DELETE FROM artifact_references WHERE kind = ?1 AND stream_id = ?2")?
        .execute([&kind, &id])?;
    let mut remove = database.prepare_cached(
        "DELETE FROM artifacts WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM artifact_references WHERE artifact = ?1) \
         RETURNING bytes",
    )?;
    let mut freed = 0;
    for key in referred {
        freed += remove.query_row([key], |row| row.get::<_, u64>(0)).optional()?.unwrap_or_default();
    }
    Ok(freed)
}

pub(super) fn get(database: &Connection, path: &Path, key: Key) -> Result<Option<Artifact>, LogError> {
    let front = format!("sha256:{:032x}", key.front());
    let sql = "SELECT hash, kind, media_type, bytes_total, created_ms, call_id, path, change, stream, content \
               FROM artifacts WHERE hash >= ?1 AND hash < ?1 || 'g'";
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([&front]).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else { return Ok(None) };
    Ok(Some(artifact_of(row, path)?).filter(|artifact| key.fits(&artifact.digest)))
}

/// All stream kinds.
const STREAMS: [StreamKind; 4] = [StreamKind::Session, StreamKind::Task, StreamKind::Thread, StreamKind::Artifact];

pub(super) fn streams(database: &Connection, path: &Path, key: Key) -> Result<Vec<StreamId>, LogError> {
    let front = format!("sha256:{:032x}", key.front());
    let sql = "SELECT artifacts.hash, artifact_references.kind, stream_id FROM artifact_references \
               JOIN artifacts ON artifacts.key = artifact WHERE hash >= ?1 AND hash < ?1 || 'g'";
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let rows = statement
        .query_map([&front], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)))
        .map_err(failed)?;
    let mut found = Vec::new();
    for row in rows {
        let (hash, kind, id) = row.map_err(failed)?;
        let damaged = || LogError::Damaged { path: path.to_owned(), detail: format!("a reference to artifact {hash}") };
        let Some(Key::Digest(digest)) = Key::parse(&hash) else { return Err(damaged()) };
        let kind = STREAMS.into_iter().find(|known| known.as_str() == kind).ok_or_else(damaged)?;
        if key.fits(&digest) {
            found.push((kind, Uuid::try_parse(&id).map_err(|_| damaged())?));
        }
    }
    Ok(found)
}

fn artifact_of(row: &Row<'_>, path: &Path) -> Result<Artifact, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let hash: String = row.get(0).map_err(failed)?;
    let damaged = || LogError::Damaged { path: path.to_owned(), detail: format!("the row of artifact {hash}") };
    let text = |column: usize| row.get::<_, Option<String>>(column).map_err(failed);
    let word = |column: usize| text(column)?.ok_or_else(damaged);
    let Some(Key::Digest(digest)) = Key::parse(&hash) else { return Err(damaged()) };
    let kind = word(1)?;
    let patched = match (text(6)?, text(7)?) {
        (Some(path), Some(change)) => {
            let kind = FileChangeKind::ALL.into_iter().find(|known| known.as_str() == change).ok_or_else(damaged)?;
            Some(Patched { path, kind })
        }
        _ => None,
    };
    let header: Header = serde_json::from_str(&word(8)?).map_err(|_| damaged())?;
    Ok(Artifact {
        stream: Arc::new(header.into_stream(PROVIDERS).map_err(|_| damaged())?),
        digest,
        kind: ArtifactKind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or_else(damaged)?,
        mime: SharedStr::from(word(2)?),
        content: row.get::<_, Vec<u8>>(9).map_err(failed)?.into(),
        bytes_total: row.get(3).map_err(failed)?,
        created_at_ms: row.get::<_, i64>(4).map_err(failed)?.cast_unsigned(),
        call_id: text(5)?.map(SharedStr::from),
        patched,
    })
}
