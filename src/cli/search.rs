//! `framegate search`: texts of runs that have the words of a query.
//!
//! Input: words, and which texts count. Output: the texts with their runs, newest first, as lines for people or as JSON. Never: a character of a text
//! that a terminal would obey; a database that a proxy has open (the proxy is asked instead).

use super::names::{self, RunnerName};
use super::runs_at::RunsAt;
use super::serve::engine;
use super::stats::moment;
use super::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::clock::Clock;
use crate::config::LogKind;
use crate::search::{Kind, PAGE, Page, Question, Search, Segment, cursor};
use crate::stats::Zone;
use crate::visible;
use anyhow::{Context, anyhow, bail};
use framegate_translators::encode::EncoderOptions;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = QUERIES)]
pub(super) struct Args {
    /// The words, as one query
    #[arg(value_name = "WORD", required = true, num_args = 1.., allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<String>,
    /// Only texts of these kinds, separated by commas: prompt, answer, reasoning, tool_input, tool_output, error
    #[arg(long, value_name = "LIST", value_parser = kinds)]
    kind: Option<Kinds>,
    /// Only texts of this runner's runs
    #[arg(long, value_parser = names::runner())]
    runner: Option<RunnerName>,
    /// Only texts of this session
    #[arg(long, value_name = "UUID", value_parser = names::uuid)]
    session: Option<Uuid>,
    /// Only texts of this run
    #[arg(long, value_name = "UUID", value_parser = names::uuid)]
    run: Option<Uuid>,
    /// Only texts of this time or later, such as 7d or 2026-11-25
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only texts before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// How many texts are printed
    #[arg(long, value_name = "COUNT", default_value_t = PAGE.0)]
    limit: usize,
    /// Where the page before ended: its `next`
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
    /// Print the page as `GET /v1/search` answers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: RunsAt,
}

/// The forms of a query in `--help`.
const QUERIES: &str = "\
Options stand before the words. Queries:
  parser error      texts that have both words
  '\"parser error\"'  texts with the words one after the other
  'pars*'           words that begin so
  parser -test      texts without the other word";

#[derive(Clone, Debug)]
struct Kinds(Vec<Kind>);

fn kinds(text: &str) -> Result<Kinds, String> {
    Kind::list(text).map(Kinds)
}

/// What is read of a page.
#[derive(Deserialize)]
struct Answer {
    data: Vec<Text>,
    next: Option<String>,
    is_complete: bool,
}

#[derive(Deserialize)]
struct Text {
    kind: String,
    run_id: Option<Uuid>,
    runner: String,
    title: Option<String>,
    timestamp_ms: i64,
    excerpt: Vec<Segment>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.limit == 0 || args.limit > PAGE.1 {
        bail!("--limit is {}; use 1 to {}", args.limit, PAGE.1);
    }
    if let Some(option) = args.words.iter().find(|word| word.starts_with("--")) {
        bail!("{option} follows the words: put options before them, or write '\"{option}\"' to search for it");
    }
    let page = super::threads::runtime(1)?.block_on(answer(args))?;
    let answer = Answer::deserialize(&page).context("the proxy has sent an answer of another form")?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&page)? + "\n",
        false => lines(&answer, std::io::stdout().is_terminal()),
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    for note in notes(&answer) {
        // If stderr is closed, the note cannot be delivered.
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
    Ok(ExitCode::from(if answer.data.is_empty() { EXIT_FINDINGS } else { EXIT_CLEAN }))
}

async fn answer(args: &Args) -> anyhow::Result<Value> {
    let time = |text: &Option<String>| {
        let read = |text: &String| moment::read(text, Zone::default(), Clock::System.now_ms());
        text.as_ref().map(read).transpose().map_err(|wrong| anyhow!(wrong))
    };
    let question = Question {
        words: args.words.join(" "),
        kinds: args.kind.as_ref().map(|kinds| kinds.0.clone()).unwrap_or_default(),
        runner: args.runner.map(|runner| runner.0.name),
        session: args.session,
        run: args.run,
        since_ms: time(&args.since)?,
        until_ms: time(&args.until)?,
        limit: args.limit,
        after: args.after.as_deref().map(cursor).transpose().map_err(|wrong| anyhow!(wrong))?,
    };
    if let Some((proxy, _)) = args.at.proxy()? {
        return Ok(proxy.get(&path(&question)).await?);
    }
    let mut config = args.at.config()?;
    if config.log.kind != LogKind::Sqlite {
        bail!("the log of the configuration is no database: name the proxy, framegate search --url URL");
    }
    if !config.log.path.exists() {
        bail!("there is no database {}; --db names one, --url names a proxy", config.log.path.display());
    }
    config.search.enabled = true;
    let in_use = "the log cannot be opened; if a proxy has it open, name the proxy: framegate search --url URL";
    let storage = engine::storage(&config, config.log.kind).await.context(in_use)?;
    let runs = Arc::new(engine::runs(&config, storage, &EncoderOptions::default())?);
    runs.recover(Clock::System.now_ms()).await?;
    let options = engine::search_options(&config, config.log.kind).context("the search is off")?;
    let search = Search::up_to_date(runs.clone(), &options).await?;
    let found = search.find(&question, &|_| true).await?;
    let page = serde_json::to_value(Page::of(found, &runs))?;
    runs.leave_log().await;
    Ok(page)
}

/// The request to a proxy.
fn path(question: &Question) -> String {
    let kinds: Vec<&str> = question.kinds.iter().map(|kind| kind.as_str()).collect();
    let parameters = [
        ("q", Some(question.words.clone())),
        ("limit", Some(question.limit.to_string())),
        ("kind", Some(kinds.join(",")).filter(|kinds| !kinds.is_empty())),
        ("runner", question.runner.map(str::to_owned)),
        ("session_id", question.session.map(|id| id.to_string())),
        ("run_id", question.run.map(|id| id.to_string())),
        ("since", question.since_ms.map(|ms| ms.to_string())),
        ("until", question.until_ms.map(|ms| ms.to_string())),
        ("after", question.after.map(|next| format!("{next:x}"))),
    ];
    let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let parts: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))).collect();
    format!("/v1/search?{}", parts.join("&"))
}

/// Each text on a line of its own, with a line about its run before it.
fn lines(page: &Answer, is_terminal: bool) -> String {
    let (bold, plain) = if is_terminal { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let mut out = String::new();
    for text in &page.data {
        let time = jiff::Timestamp::from_millisecond(text.timestamp_ms).ok();
        let time = time.map_or_else(|| "-".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string());
        let run = text.run_id.map_or_else(|| "-".to_owned(), |run| run.to_string());
        let (runner, kind) = (visible::line(&text.runner), visible::line(&text.kind));
        let title = visible::line(text.title.as_deref().unwrap_or_default());
        out.push_str(&format!("{time}  {run}  {runner}  {kind}  {title}\n  "));
        for segment in &text.excerpt {
            let shown = visible::line(&segment.text);
            match segment.is_match {
                true => out.extend([bold, &shown, plain]),
                false => out.push_str(&shown),
            }
        }
        out.push('\n');
    }
    out
}

fn notes(page: &Answer) -> Vec<String> {
    let next = page.next.as_ref().map(|next| format!("there may be more: --after {next}"));
    let behind = (!page.is_complete).then(|| "the proxy has not indexed all texts yet".to_owned());
    next.into_iter().chain(behind).collect()
}
