//! `framegate demo-agent`: a scripted agent on standard input and output, which `serve --demo` starts for each run.
//!
//! Input: the protocol of the agent's runner, line by line. Output: its records, with pauses. Never: a line that waits for the end of a pause
//! to be read; a line of unlimited length.

use super::{EXIT_CLEAN, EXIT_FAILED};
use framegate_translators::framing::{Framing, Limits, Reader};
use framegate_translators::runners::{DemoAgent, DemoStart, DemoStep, demo};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session to continue
    #[arg(long, value_name = "SESSION")]
    resume: Option<String>,
    /// The model that was asked for; the agent has none
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The mode to work in
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
}

/// The maximum length of a line in bytes.
const LIMITS: Limits = Limits { record_bytes: 16 << 20, preview_bytes: 0 };

/// The lines that may wait for the agent.
const WAITING: usize = 16;

/// A line, or its length in bytes if it is too long.
type Line = Result<Vec<u8>, u64>;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some((_, agent)) = demo() else { return Ok(ExitCode::from(EXIT_FAILED)) };
    let mut agent = agent(DemoStart {
        session: args.resume.clone(),
        model: args.model.clone(),
        mode: args.mode.clone(),
        cwd: std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default(),
        seed: Uuid::now_v7(),
    });
    let (sender, lines) = sync_channel(WAITING);
    // Not joined: it may wait for input that never comes.
    std::thread::spawn(move || read(std::io::stdin().lock(), &sender));
    converse(&mut *agent, &lines, &mut std::io::stdout().lock())?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// Reads lines until the input or the agent ends.
fn read(mut input: impl Read, lines: &SyncSender<Line>) {
    let mut reader = Reader::new(Framing::Ndjson, LIMITS);
    let mut chunk = vec![0; 64 << 10];
    let mut is_heard = true;
    while is_heard {
        let count = match input.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // Input that cannot be read is over.
            Err(_) => 0,
        };
        let mut pass = |unit: framegate_translators::framing::Unit<'_>| {
            let line = unit.oversized.map_or_else(|| Ok(unit.payload.to_vec()), Err);
            is_heard &= lines.send(line).is_ok();
        };
        match chunk.get(..count).filter(|bytes| !bytes.is_empty()) {
            Some(bytes) => reader.feed(bytes, &mut pass),
            None => {
                reader.finish(&mut pass);
                return;
            }
        }
    }
}

/// Does what the agent wants until it exits.
fn converse(agent: &mut dyn DemoAgent, lines: &Receiver<Line>, out: &mut impl Write) -> std::io::Result<()> {
    let mut has_input = true;
    loop {
        match agent.step() {
            DemoStep::Exit => return Ok(()),
            DemoStep::Line { line, pause_ms } => {
                out.write_all(&line)?;
                out.flush()?;
                let pause = Duration::from_millis(pause_ms);
                match lines.recv_timeout(pause) {
                    Ok(line) => take(agent, line),
                    // Without a sender, the channel does not wait.
                    Err(RecvTimeoutError::Disconnected) => {
                        end(agent, &mut has_input);
                        std::thread::sleep(pause);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            DemoStep::Wait => match lines.recv() {
                Ok(line) => take(agent, line),
                Err(_) => end(agent, &mut has_input),
            },
        }
    }
}

fn take(agent: &mut dyn DemoAgent, line: Line) {
    let problem = match line {
        Ok(line) => agent.receive(&line).err(),
        Err(bytes) => Some(format!("a line has {bytes} bytes, but at most {} are allowed", LIMITS.record_bytes)),
    };
    if let Some(problem) = problem {
        // If stderr is closed, the problem cannot be reported.
        let _ = writeln!(std::io::stderr(), "{problem}");
    }
}

/// Reports the end of the input once.
fn end(agent: &mut dyn DemoAgent, has_input: &mut bool) {
    if std::mem::take(has_input) {
        agent.end_of_input();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_to_the_end_and_long_ones_are_only_counted() {
        let (sender, lines) = sync_channel(WAITING);
        let mut input = b"one\n".to_vec();
        input.resize(input.len() + LIMITS.record_bytes + 1, b'x');
        input.extend(b"\ntwo");
        read(&input[..], &sender);
        drop(sender);
        let lines: Vec<Line> = lines.iter().collect();
        assert_eq!(lines, [Ok(b"one".to_vec()), Err(LIMITS.record_bytes as u64 + 1), Ok(b"two".to_vec())]);
    }
}
