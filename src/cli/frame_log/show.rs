//! `list` and `show`: summaries of runs.

use super::Database;
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

pub(super) fn list(args: &ListArgs, database: &Database, out: &mut dyn Write) -> anyhow::Result<u8> {
    let limit = i64::try_from(args.limit).unwrap_or(i64::MAX);
    if args.json {
        let sql = "SELECT status FROM streams WHERE kind = 'session' AND status IS NOT NULL ORDER BY key DESC LIMIT ?1";
        let mut statement = database.connection.prepare(sql)?;
        let mut rows = statement.query([limit])?;
        let mut listed = 0;
        while let Some(row) = rows.next()? {
            writeln!(out, "{}", row.get_ref(0)?.as_str()?)?;
            listed += 1;
        }
        out.flush()?;
        tell_more(listed, "status IS NOT NULL", database)?;
        return Ok(EXIT_CLEAN);
    }
    let sql = "SELECT run_id, runner, coalesce(state, ''), frames, started_at, \
               CASE session_name WHEN '' THEN session_id ELSE session_name END FROM runs ORDER BY stream DESC LIMIT ?1";
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([limit])?;
    writeln!(out, "{:36}  {:13}  {:16}  {:>8}  {:24}  SESSION", "RUN", "RUNNER", "STATE", "FRAMES", "STARTED")?;
    let mut listed = 0;
    while let Some(row) = rows.next()? {
        listed += 1;
        let text = |column: usize| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
        let (run, provider, state, frames) = (text(0)?, text(1)?, text(2)?, row.get::<_, i64>(3)?);
        let runner = name_of(&provider);
        let (started, session) = (text(4)?, text(5)?);
        writeln!(out, "{run:36}  {runner:13}  {state:16}  {frames:>8}  {started:24}  {session}")?;
    }
    out.flush()?;
    tell_more(listed, "true", database)?;
    Ok(EXIT_CLEAN)
}

/// Reports on stderr that there are more runs than were listed.
fn tell_more(listed: i64, of: &str, database: &Database) -> anyhow::Result<()> {
    let sql = format!("SELECT count(*) FROM streams WHERE kind = 'session' AND {of}");
    let all: i64 = database.connection.query_row(&sql, [], |row| row.get(0))?;
    if all > listed {
        // If stderr is closed, the hint cannot be delivered.
        let _ = writeln!(
            std::io::stderr(),
            "{listed} of {all} runs are shown, newest first; --limit {all} shows all of them"
        );
    }
    Ok(())
}

pub(super) fn show(args: &ShowArgs, database: &Database, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.to.is_none() {
        args.text.refuse()?;
    }
    let (key, kept) = database.find(&args.run)?;
    if args.to.is_some() {
        let (mut terminal, mut lines) = (Terminal::new(args.text.look(false)), String::new());
        database.whole(key, &kept, &mut |frame| {
            terminal.frame(frame, &mut lines);
            out.write_all(lines.as_bytes())?;
            lines.clear();
            Ok(())
        })?;
        terminal.finish(&mut lines);
        out.write_all(lines.as_bytes())?;
        return Ok(EXIT_CLEAN);
    }
    let text = kept.status.with_context(|| format!("the log has no status for {}", args.run))?;
    let status: Value =
        serde_json::from_str(&text).with_context(|| format!("the status of {} is damaged", args.run))?;
    writeln!(out, "{status:#}")?;
    Ok(EXIT_CLEAN)
}
