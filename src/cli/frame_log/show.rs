//! `list` and `show`: summaries of runs.

use super::Source;
use super::source::Listed;
use crate::cli::EXIT_CLEAN;
use crate::cli::text::{self, TextArgs};
use crate::render::terminal::Terminal;
use anyhow::Context;
use framegate_translators::runners::name_of;
use serde_json::Value;
use std::io::Write;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// The maximum number of runs to list
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Print each run's status as JSON, one per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The run: its id, or a prefix of it that no other id has
    #[arg(value_name = "RUN")]
    run: String,
    /// Print the run itself instead of its status: text, as a conversation
    #[arg(long, value_name = "FORM", value_parser = [text::NAME])]
    to: Option<String>,
    #[command(flatten)]
    text: TextArgs,
}

pub(super) fn list(args: &ListArgs, log: &dyn Source, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut listed = 0;
    if args.json {
        log.list_statuses(args.limit, &mut |status| {
            listed += 1;
            Ok(writeln!(out, "{status}")?)
        })?;
    } else {
        writeln!(out, "{:36}  {:13}  {:16}  {:>8}  {:24}  SESSION", "RUN", "RUNNER", "STATE", "FRAMES", "STARTED")?;
        log.list(args.limit, &mut |Listed { run, provider, state, frames, started, session }| {
            listed += 1;
            let runner = name_of(provider);
            Ok(writeln!(out, "{run:36}  {runner:13}  {state:16}  {frames:>8}  {started:24}  {session}")?)
        })?;
    }
    out.flush()?;
    tell_more(listed, log.count(args.json)?);
    Ok(EXIT_CLEAN)
}

/// Reports on stderr that there are more runs than were listed.
fn tell_more(listed: usize, all: usize) {
    if all > listed {
        // If stderr is closed, the hint cannot be delivered.
        let _ = writeln!(
            std::io::stderr(),
            "{listed} of {all} runs are shown, newest first; --limit {all} shows all of them"
        );
    }
}

pub(super) fn show(args: &ShowArgs, log: &dyn Source, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.to.is_none() {
        args.text.refuse()?;
    }
    let found = log.find(&args.run)?;
    if args.to.is_some() {
        let (mut terminal, mut lines) = (Terminal::new(args.text.look(false)), String::new());
        log.whole(&found, &mut |frame| {
            terminal.frame(frame, &mut lines);
            out.write_all(lines.as_bytes())?;
            lines.clear();
            Ok(())
        })?;
        terminal.finish(&mut lines);
        out.write_all(lines.as_bytes())?;
        return Ok(EXIT_CLEAN);
    }
    let text = log.status(&found)?.with_context(|| format!("the log has no status for {}", args.run))?;
    let status: Value =
        serde_json::from_str(&text).with_context(|| format!("the status of {} is damaged", args.run))?;
    writeln!(out, "{status:#}")?;
    Ok(EXIT_CLEAN)
}
