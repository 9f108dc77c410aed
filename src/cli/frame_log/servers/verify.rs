//! `verify`: checks that a log at NATS servers is complete and consistent.
//!
//! Input: a log that is opened for reading, while proxies may write to it. Output: one line for each finding. Never: a payload; a finding
//! because a proxy has dropped something meanwhile.

use super::Servers;
use crate::cli::frame_log::verify::Seen;
use crate::cli::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::log::{KeptStream, LogError};
use std::io::Write;

/// Where the number of a stream's frames and its end are stored.
const RECORD: &str = "last message";

pub(super) fn run(servers: &Servers, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (mut findings, mut frames) = (Vec::new(), 0);
    for kept in &servers.streams {
        frames += stream(servers, kept, &mut findings)?;
        checkpoint(servers, kept, &mut findings)?;
    }
    let unread = servers.log.unread();
    if unread > 0 {
        findings
            .push(format!("{unread} messages cannot be read, or belong to a runner that this version does not know"));
    }
    let unreferenced = artifacts(servers, &mut findings)?;
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "{} streams, {frames} frames, {} findings", servers.streams.len(), findings.len())?;
    if unreferenced > 0 {
        writeln!(
            out,
            "{unreferenced} artifacts have no stream that refers to them: they stay until they are the oldest"
        )?;
    }
    Ok(if findings.is_empty() { EXIT_CLEAN } else { EXIT_FINDINGS })
}

/// Checks one stream; returns how many frames were read.
fn stream(servers: &Servers, kept: &KeptStream, findings: &mut Vec<String>) -> anyhow::Result<u64> {
    let (mut seen, mut own, mut count) = (Seen::of(kept), Vec::new(), 0);
    let mut at = kept.first();
    if kept.runs.is_empty() && servers.front(kept)? == Some(at) {
        // The last frame of a stream is never dropped alone.
        findings.push(format!("{}: the frames after the first {at} are missing", seen.name));
        return Ok(0);
    }
    while at < kept.frames {
        match servers.read(kept, at) {
            Ok(frames) => {
                // A proxy has dropped all of them meanwhile.
                let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return Ok(count) };
                if first.seq > at {
                    // A proxy has dropped the front meanwhile.
                    seen.next = first.seq;
                }
                at = last.seq + 1;
                count += frames.len() as u64;
                frames.iter().for_each(|frame| seen.frame(frame, &mut own));
            }
            Err(error) => match servers.front(kept)? {
                // A proxy has dropped the stream, or what there was of it, meanwhile.
                None => return Ok(0),
                Some(front) if front >= kept.frames => return Ok(count),
                Some(front) if front > at => (at, seen.next) = (front, front),
                Some(_) => {
                    let is_missing = matches!(error, LogError::Lacking { .. });
                    if !is_missing {
                        // An error without damage is one of the connection.
                        error.damage().ok_or(error.clone())?;
                        own.push(format!("{}: {error}", seen.name));
                    }
                    // Behind the gap, or the append that cannot be read.
                    let Some(next) = kept.runs.iter().find(|run| run.seq > at) else { break };
                    at = next.seq;
                    if !is_missing {
                        seen.next = at;
                    }
                }
            },
        }
    }
    if own.is_empty() && kept.status.is_some() {
        seen.compare(kept, RECORD, &mut own);
    } else if own.is_empty() && seen.next != kept.frames {
        own.push(format!("{}: has {} frames, but its {RECORD} says {}", seen.name, seen.next, kept.frames));
    }
    findings.append(&mut own);
    Ok(count)
}

/// Checks that a stream without its first frames has the states of encoders after them.
fn checkpoint(servers: &Servers, kept: &KeptStream, findings: &mut Vec<String>) -> anyhow::Result<()> {
    let first = kept.first();
    if first == 0 || !servers.log.views_at(kept.id(), first).is_empty() {
        return Ok(());
    }
    if servers.front(kept)? == Some(first) {
        findings.push(format!(
            "{} {}: its first frames were dropped, but there is no checkpoint at the position after them",
            kept.stream.kind.as_str(),
            kept.stream.id
        ));
    }
    Ok(())
}

/// Checks that each artifact matches its hash. Returns how many of them no stream refers to: that is no damage, because the servers drop
/// the oldest messages, and a reference is older than its artifact.
fn artifacts(servers: &Servers, findings: &mut Vec<String>) -> anyhow::Result<usize> {
    let mut unreferenced = 0;
    for front in servers.runtime.block_on(servers.log.artifacts())? {
        let Some(state) = servers.runtime.block_on(servers.log.artifact_state(front))? else { continue };
        if !state.is_whole {
            findings.push(format!("artifact {}: its content does not match its hash", state.id));
        }
        unreferenced += usize::from(!state.is_referred);
    }
    Ok(unreferenced)
}

impl Servers {
    /// The number of the first frame that is kept of a stream now; `None` if the stream is not kept any more.
    fn front(&self, kept: &KeptStream) -> Result<Option<u64>, LogError> {
        self.runtime.block_on(self.log.front(kept.id()))
    }
}
