//! `framegate stats`: figures over the runs of a running proxy, of a frame log, or of a file of statuses.
//!
//! Input: what makes a group, and which runs count. Output: a table for people on a terminal, tab-separated values in a pipe, JSON or
//! CSV. Never: a control character of a run's text on the terminal; runs that are left out without a note on stderr.

pub(super) mod moment;
mod table;

use super::names::{self, RunnerName};
use super::runs_at::RunsAt;
use super::{EXIT_CLEAN, frame_log, input};
use crate::clock::Clock;
use crate::compression::Decompressing;
use crate::runs::RunStatus;
use crate::runs::filter::RunFilter;
use crate::runs::labels::{Label, Labels};
use crate::stats::{By, MOST_ROWS, Question, Report, Stats, UnpricedRuns, Zone};
use crate::visible;
use anyhow::{Context, anyhow, bail};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = TIMES)]
pub(super) struct Args {
    /// What makes a group, separated by commas: day, runner, model, session, label, directory, repository, branch, tool [default: only the sum]
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true, value_parser = by_list)]
    by: Groups,
    /// Only runs that began then or later
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only runs that began before
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Where days begin: an offset from UTC such as +02:00
    #[arg(long, value_name = "OFFSET", default_value_t = Zone::default(), allow_hyphen_values = true)]
    tz: Zone,
    /// Only runs of this runner
    #[arg(long, value_parser = names::runner())]
    runner: Option<RunnerName>,
    /// Only runs of this session
    #[arg(long, value_name = "UUID", value_parser = names::uuid)]
    session: Option<Uuid>,
    /// Only runs that named this model last
    #[arg(long)]
    model: Option<String>,
    /// Only runs in this working directory
    #[arg(long, value_name = "PATH")]
    directory: Option<String>,
    /// Only runs in this repository, such as github.com/acme/parser
    #[arg(long, value_name = "HOST/PATH")]
    repository: Option<String>,
    /// Only runs on this branch
    #[arg(long)]
    branch: Option<String>,
    /// Only runs with this label; may be given several times
    #[arg(long = "label", value_name = "KEY:VALUE")]
    labels: Vec<Label>,
    /// The form of the output
    #[arg(long, value_name = "FORM", default_value = "text")]
    format: Form,
    #[command(flatten)]
    at: RunsAt,
    /// A file of statuses instead of a database, one per line, as `log list --json` and `run --status-file` write them; - is
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with = "db")]
    from: Option<PathBuf>,
}

/// The forms of a time in `--help`.
const TIMES: &str = "\
Times:
  2026-11-25             the beginning of a day (see --tz)
  2026-11-25T09:30:00Z   a moment, with an offset from UTC
  7d, 12h, 30m, 2w       so long ago
  1795564800000          Unix epoch milliseconds";

/// What makes a group.
#[derive(Clone, Debug)]
struct Groups(Vec<By>);

fn by_list(text: &str) -> Result<Groups, String> {
    By::list(text).map(Groups)
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A table on a terminal, tab-separated values in a pipe
    Text,
    /// As `GET /v1/stats` answers
    Json,
    /// Comma-separated values with a header
    Csv,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let question = question(args)?;
    let (report, unreadable) = answer(args, question)?;
    let is_terminal = std::io::stdout().is_terminal();
    let text = match args.format {
        Form::Json => serde_json::to_string_pretty(&report)? + "\n",
        Form::Csv => report.csv(),
        Form::Text if is_terminal => table::for_people(&report),
        Form::Text => table::for_programs(&report),
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    for note in notes(&report, unreadable) {
        // If stderr is closed, the note cannot be delivered.
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
    Ok(ExitCode::from(EXIT_CLEAN))
}

fn question(args: &Args) -> anyhow::Result<Question> {
    let now_ms = Clock::System.now_ms();
    let time = |flag: &str, text: &Option<String>| {
        let read = text.as_deref().map(|text| moment::read(text, args.tz, now_ms));
        read.transpose().map_err(|error| anyhow!("{flag}: {error}"))
    };
    let (since_ms, until_ms) = (time("--since", &args.since)?, time("--until", &args.until)?);
    if let (Some(since), Some(until)) = (since_ms, until_ms)
        && since > until
    {
        bail!("--since is after --until, so no run can count");
    }
    Labels::of(args.labels.iter().cloned())?;
    Ok(Question {
        by: args.by.0.clone(),
        zone: args.tz,
        since_ms,
        until_ms,
        runs: RunFilter {
            runner: args.runner.map(|runner| runner.0.name),
            session_id: args.session,
            model: args.model.clone(),
            directory: args.directory.clone(),
            repository: args.repository.clone(),
            branch: args.branch.clone(),
            labels: args.labels.clone(),
        },
    })
}

/// The figures, and how many runs have no readable status.
fn answer(args: &Args, question: Question) -> anyhow::Result<(Report, u64)> {
    if args.from.is_none()
        && let Some((proxy, _)) = args.at.proxy()?
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let report = runtime.block_on(proxy.get(&path(&question)))?;
        return Ok((serde_json::from_value(report).context("the answer is not that of a framegate proxy")?, 0));
    }
    let config = args.at.config()?;
    let mut stats = Stats::with_prices(question, super::prices::of(&config)?);
    let mut unreadable = 0;
    if let Some(file) = &args.from {
        each_line(file, &mut |status| {
            stats.add(&status);
        })?;
    } else {
        frame_log::statuses::each(&*frame_log::open(&config)?, &mut |status| match status {
            Some(status) => {
                stats.add(&status);
            }
            None => unreadable += 1,
        })?;
    }
    Ok((stats.report(), unreadable))
}

/// The path and query that ask a proxy the question.
fn path(question: &Question) -> String {
    let names: Vec<&str> = question.by.iter().map(|by| by.as_str()).collect();
    let mut pairs = vec![("by", names.join(",")), ("tz", question.zone.to_string())];
    pairs.extend(question.since_ms.map(|since| ("since", since.to_string())));
    pairs.extend(question.until_ms.map(|until| ("until", until.to_string())));
    pairs.extend(question.runs.parameters());
    let encoded = pairs.iter().map(|(key, value)| format!("{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    format!("/v1/stats?{}", encoded.collect::<Vec<_>>().join("&"))
}

/// Passes each status of a file to `sink`.
fn each_line(file: &std::path::Path, sink: &mut dyn FnMut(RunStatus)) -> anyhow::Result<()> {
    let source: Box<dyn Read> = if input::is_stdin(file) {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file).with_context(|| format!("cannot read {}", input::shown(file)))?)
    };
    for (number, line) in (1_u64..).zip(BufReader::new(Decompressing::new(source)).lines()) {
        let line = line.with_context(|| format!("cannot read {}", input::shown(file)))?;
        if !line.trim().is_empty() {
            let status = serde_json::from_str(&line);
            sink(status.with_context(|| format!("line {number} of {} is not a run's status", input::shown(file)))?);
        }
    }
    Ok(())
}

/// What the figures do not cover.
fn notes(report: &Report, unreadable: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if unreadable > 0 {
        notes.push(format!(
            "{unreadable} runs have no readable status and do not count; `framegate log verify` looks for damage"
        ));
    }
    if report.runs_without_tools > 0 {
        notes.push(format!(
            "the tools and failed tool calls of {} runs are not known, because an older version stored them",
            report.runs_without_tools
        ));
    }
    let is_cut = report.data.iter().any(|row| row.rest && report.by.iter().all(|by| row.key(*by).is_none()));
    if is_cut {
        notes.push(format!("only {MOST_ROWS} groups have a row of their own; the last row sums all others"));
    }
    if let Some(unpriced) = report.total.unpriced_runs.filter(|runs| *runs > 0) {
        let have = if unpriced == 1 { "run has" } else { "runs have" };
        notes.push(format!("{unpriced} {have} no computed cost: {}", reasons(report)));
    }
    if let Some(approximate) = report.total.runs_with_approximate_cost.filter(|runs| *runs > 0) {
        notes.push(format!(
            "runs whose computed cost is not exact, because their runners do not report every model call with its model: \
             {approximate}; docs/costs.md explains it"
        ));
    }
    notes
}

/// Why runs have no computed cost: the most frequent reasons.
fn reasons(report: &Report) -> String {
    let shown = |unpriced: &UnpricedRuns| {
        let reason = match (&unpriced.model, &*unpriced.reason) {
            (Some(model), _) => format!("no price for {}", visible::line(model)),
            (None, _) if unpriced.rest => "no price for other models".to_owned(),
            (None, "no_usage") => "no usage reported".to_owned(),
            (None, "no_model") => "no model named".to_owned(),
            (None, other) => visible::line(other).into_owned(),
        };
        format!("{reason} ({})", unpriced.runs)
    };
    let mut reasons: Vec<String> = report.unpriced.iter().take(REASONS).map(shown).collect();
    if report.unpriced.len() > REASONS {
        reasons.push("and others (--format json lists all)".to_owned());
    }
    reasons.join(", ")
}

/// How many reasons for which runs have no cost a note names.
const REASONS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_part_of_the_path() {
        let question = Question {
            by: vec![By::Day, By::Label],
            zone: "+02:00".parse().unwrap(),
            since_ms: Some(7),
            runs: RunFilter {
                repository: Some("h/p".to_owned()),
                labels: vec!["url:http://x?a=b&c".parse().unwrap()],
                ..RunFilter::default()
            },
            ..Question::default()
        };
        assert_eq!(
            path(&question),
            "/v1/stats?by=day%2Clabel&tz=%2B02%3A00&since=7&repository=h%2Fp&label=url%3Ahttp%3A%2F%2Fx%3Fa%3Db%26c"
        );
    }
}
