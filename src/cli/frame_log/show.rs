//! `list` and `show`: summaries of runs.

use super::Source;
use super::source::Listed;
use crate::cli::EXIT_CLEAN;
use crate::cli::text::{self, TextArgs};
use crate::prices::{Prices, Usd};
use crate::render::terminal::Terminal;
use crate::runs::RunStatus;
use anyhow::Context;
use framegate_translators::runners::name_of;
use serde_json::Value;
use std::borrow::Cow;
use std::io::Write;

/// The name of the computed cost in a status.
const COMPUTED_COST: &str = "computed_cost";

/// The decimals of a cost in a list.
const COST_DECIMALS: usize = 4;

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

pub(super) fn list(args: &ListArgs, log: &dyn Source, prices: &Prices, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut listed = 0;
    if args.json {
        log.list_statuses(args.limit, &mut |status| {
            listed += 1;
            Ok(writeln!(out, "{}", with_cost(status, prices))?)
        })?;
    } else {
        writeln!(
            out,
            "{:36}  {:13}  {:16}  {:>8}  {:24}  {:>10}  {:>10}  SESSION",
            "RUN", "RUNNER", "STATE", "FRAMES", "STARTED", "COST", "COMPUTED"
        )?;
        log.list(args.limit, &mut |Listed { run, provider, state, frames, started, session, status }| {
            listed += 1;
            let runner = name_of(provider);
            let (cost, computed) = costs(status.as_deref(), prices);
            Ok(writeln!(
                out,
                "{run:36}  {runner:13}  {state:16}  {frames:>8}  {started:24}  {cost:>10}  {computed:>10}  {session}"
            )?)
        })?;
    }
    out.flush()?;
    tell_more(listed, log.count(args.json)?);
    Ok(EXIT_CLEAN)
}

/// The cost that the runner reported, and the computed one, in US dollars; "-" if there is none.
fn costs(status: Option<&str>, prices: &Prices) -> (String, String) {
    let status: Option<RunStatus> = status.and_then(|status| serde_json::from_str(status).ok());
    let dollars = |cost: Option<f64>| cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.COST_DECIMALS$}"));
    let reported = status.as_ref().and_then(|status| status.usage.cost_usd);
    let computed = status.and_then(|status| status.cost(prices).usd());
    (dollars(reported), dollars(computed.map(Usd::to_f64)))
}

/// A stored status with the computed cost, if it can be read.
fn with_cost<'s>(status: &'s str, prices: &Prices) -> Cow<'s, str> {
    let cost =
        serde_json::from_str(status).ok().and_then(|read: RunStatus| serde_json::to_string(&read.cost(prices)).ok());
    match (status.trim_end().strip_suffix('}'), cost) {
        (Some(fields), Some(cost)) => Cow::Owned(format!("{fields},\"{COMPUTED_COST}\":{cost}}}")),
        _ => Cow::Borrowed(status),
    }
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

pub(super) fn show(args: &ShowArgs, log: &dyn Source, prices: &Prices, out: &mut dyn Write) -> anyhow::Result<u8> {
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
    let status: Value = serde_json::from_str(&with_cost(&text, prices))
        .with_context(|| format!("the status of {} is damaged", args.run))?;
    writeln!(out, "{status:#}")?;
    Ok(EXIT_CLEAN)
}
