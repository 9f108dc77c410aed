//! `verify`: checks that a database is complete and consistent.
//!
//! Input: a snapshot of a database. Output: one line for each finding. Never: a payload.

use super::file::Database;
use super::source::{Found, Source as _};
use crate::cli::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::log::KeptStream;
use crate::log::sqlite::{Row, integrity, marked};
use framegate_translators::artifacts::id_of;
use framegate_translators::contracts::rfc3339_millis;
use framegate_translators::frame::Frame;
use framegate_translators::pipeline::is_last;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Write;

pub(super) fn run(database: &Database, out: &mut dyn Write) -> anyhow::Result<u8> {
    // Read this before the snapshot, so that frames that a proxy commits in between do not count as missing.
    let marked = marked(&database.path, &Row::read(&database.connection)?.database);
    // All reads see one snapshot, also while a proxy writes.
    let _moment = database.connection.unchecked_transaction()?;
    let mut findings = integrity(&database.connection, "integrity_check")?;
    losses(database, marked, &mut findings)?;
    let (mut frames, mut streams) = (0, 0);
    match database.streams() {
        Err(error) => findings.push(error.to_string()),
        Ok(kept) => {
            streams = kept.len();
            for found in kept {
                frames += stream(&found, database, &mut findings);
            }
        }
    }
    let orphans: i64 = database.connection.query_row(
        "SELECT count(*) FROM frames WHERE stream NOT IN (SELECT key FROM streams)",
        [],
        |row| row.get(0),
    )?;
    if orphans > 0 {
        findings.push(format!("{orphans} frames belong to no stream"));
    }
    let dangling: i64 = database.connection.query_row(
        "SELECT count(*) FROM frames f LEFT JOIN frames s ON s.stream = f.stream AND s.seq = f.source \
         WHERE f.source IS NOT NULL AND (s.seq IS NULL OR s.seq >= f.seq OR s.source IS NOT NULL)",
        [],
        |row| row.get(0),
    )?;
    if dangling > 0 {
        findings.push(format!("{dangling} frames refer to a text that no earlier frame has"));
    }
    artifacts(database, &mut findings)?;
    checkpoints(database, &mut findings)?;
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "{streams} streams, {frames} frames, {} findings", findings.len())?;
    let unchecked: i64 =
        database.connection.query_row("SELECT count(*) FROM frames WHERE checksum IS NULL", [], |row| row.get(0))?;
    if unchecked > 0 {
        writeln!(
            out,
            "{unchecked} frames come from an older layout without checksums: changes to them cannot be detected"
        )?;
    }
    Ok(if findings.is_empty() { EXIT_CLEAN } else { EXIT_FINDINGS })
}

/// Checks that everything that was committed is present.
fn losses(database: &Database, marked: Option<u64>, findings: &mut Vec<String>) -> anyhow::Result<()> {
    let next = Row::read(&database.connection)?.next_position;
    if let Some(lost) = marked.and_then(|marked| marked.checked_sub(next)).filter(|lost| *lost > 0) {
        findings.push(format!("{lost} frames were committed after position {next} and are missing"));
    }
    let mut statement =
        database.connection.prepare("SELECT noticed_ms, position, frames FROM losses ORDER BY position")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (at, position, frames): (u64, u64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        findings.push(format!(
            "{frames} frames that were committed from position {position} on were missing when framegate started at {}",
            rfc3339_millis(at)
        ));
    }
    Ok(())
}

/// Checks that the checkpoints of pruned streams are consistent.
fn checkpoints(database: &Database, findings: &mut Vec<String>) -> anyhow::Result<()> {
    let orphans: i64 = database.connection.query_row(
        "SELECT count(*) FROM marks WHERE stream NOT IN (SELECT key FROM streams)",
        [],
        |row| row.get(0),
    )?;
    if orphans > 0 {
        findings.push(format!("{orphans} checkpoints belong to no stream"));
    }
    let sql = "SELECT kind, id FROM streams WHERE pruned_frames > 0 AND NOT EXISTS \
               (SELECT 1 FROM marks WHERE marks.stream = streams.key AND frame = pruned_frames)";
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, id): (String, String) = (row.get(0)?, row.get(1)?);
        findings.push(format!(
            "{kind} {id}: its first frames were dropped, but there is no checkpoint at the position after them"
        ));
    }
    Ok(())
}

/// Checks that each artifact matches its hash, and that a stream refers to it.
fn artifacts(database: &Database, findings: &mut Vec<String>) -> anyhow::Result<()> {
    let sql = "SELECT hash, bytes, content, \
               EXISTS (SELECT 1 FROM artifact_references WHERE artifact = artifacts.key) FROM artifacts";
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (hash, bytes): (String, usize) = (row.get(0)?, row.get(1)?);
        let content = row.get_ref(2)?.as_blob()?;
        if content.len() != bytes || id_of(&Sha256::digest(content).into()) != hash {
            findings.push(format!("artifact {hash}: its content does not match its hash"));
        }
        if !row.get::<_, bool>(3)? {
            findings.push(format!("artifact {hash}: no stream refers to it"));
        }
    }
    Ok(())
}

/// Checks one stream; returns how many frames it has.
fn stream(found: &Found, database: &Database, findings: &mut Vec<String>) -> u64 {
    let (mut seen, before) = (Seen::of(&found.kept), findings.len());
    let read = database.frames(found, &mut |frame| {
        seen.frame(frame, findings);
        Ok(())
    });
    if let Err(error) = read {
        findings.push(format!("{}: {error:#}", seen.name));
    } else if findings.len() == before {
        seen.compare(&found.kept, "row", findings);
    }
    seen.next - found.kept.first()
}

/// What the frames of a stream say, as far as they were read.
pub(super) struct Seen {
    pub(super) name: String,
    /// The number that the next frame must have.
    pub(super) next: u64,
    last_ms: u64,
    ended: bool,
}

impl Seen {
    /// A stream whose frames have not been read yet.
    pub(super) fn of(kept: &KeptStream) -> Self {
        Self {
            name: format!("{} {}", kept.stream.kind.as_str(), kept.stream.id),
            next: kept.first(),
            last_ms: kept.gone.map_or(0, |gone| gone.last_ms),
            ended: false,
        }
    }

    /// Takes the next frame.
    pub(super) fn frame(&mut self, frame: &Frame, findings: &mut Vec<String>) {
        let Self { name, next, last_ms, .. } = self;
        if frame.seq != *next {
            findings.push(format!("{name}: frame {} follows after {next} frames", frame.seq));
        }
        if frame.timestamp_ms < *last_ms {
            findings.push(format!("{name}: time runs backwards at frame {}", frame.seq));
        }
        (self.next, self.last_ms, self.ended) = (frame.seq + 1, frame.timestamp_ms, is_last(frame));
    }

    /// Compares the frames with what is stored about the stream. `record` names where it is stored.
    pub(super) fn compare(&self, kept: &KeptStream, record: &str, findings: &mut Vec<String>) {
        let Self { name, next, ended, .. } = self;
        if *next != kept.frames {
            findings.push(format!("{name}: has {next} frames, but its {record} says {}", kept.frames));
        }
        if *ended != kept.ended {
            let said = |ended| if ended { "has ended" } else { "is open" };
            findings.push(format!(
                "{name}: according to its frames it {}, but according to its {record} it {}",
                said(*ended),
                said(kept.ended)
            ));
        }
        let status: Value = kept.status.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        match status.pointer("/frames").and_then(Value::as_u64) {
            None => findings.push(format!("{name}: its status cannot be read")),
            Some(stated) if stated != *next => {
                findings.push(format!("{name}: has {next} frames, but its status says {stated}"))
            }
            Some(_) => {}
        }
    }
}
