//! The figures of every recording of every runner, compared with what the manifest of its runner says about usage, tools and ends.
//!
//! Each runner's own file reads its manifest. A recording is read into runs of its own, so that no recording changes another one, and all
//! runs together are grouped by runner, day and model.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod acp;
mod claude_code;
mod codex;
mod copilot;
mod costs;
mod gemini_cli;
mod open_responses;
mod opencode;
mod pi;
mod qwen_code;

use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::ingest::{IngestFactory, Settings};
use framegate::log::MemoryLog;
use framegate::runs::{RunStatus, Runs};
use framegate::stats::{By, Question, Stats};
use framegate_translators::runners::{RUNNERS, Runner, runner};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The runners' own readers of manifests.
const READERS: &[Reader] = &[
    claude_code::READER,
    codex::READER,
    opencode::READER,
    open_responses::READER,
    gemini_cli::READER,
    qwen_code::READER,
    pi::READER,
    copilot::READER,
    acp::READER,
];

struct Reader {
    runner: &'static str,
    /// The recordings of the manifest, each with its facts.
    read: fn(&Value) -> Vec<(String, Facts)>,
    /// How many recordings have tokens, calls and ends at least: a manifest that is not understood must not pass.
    least: [usize; 3],
    /// How many recordings have tokens of a model with a price at least.
    least_costs: usize,
    /// Whether the cost that the runner reports in a recording is that of its tokens at list prices.
    is_by_list: fn(&str) -> bool,
}

/// The facts of each entry of `recordings`, which most manifests have.
fn of_recordings(manifest: &Value, facts: impl Fn(&str, &Value) -> Facts) -> Vec<(String, Facts)> {
    let named = |recording: &Value| {
        let name = recording["file"].as_str().unwrap();
        (name.to_owned(), facts(name, recording))
    };
    manifest["recordings"].as_array().unwrap().iter().map(named).collect()
}

/// What the manifest says about a recording. A figure that is `None` must be absent; a figure that is not here is not said.
type Facts = BTreeMap<&'static str, Option<f64>>;

/// The figures whose sums over all recordings of a runner are compared.
const SUMMED: [&str; 12] = [
    "runs",
    "completed",
    "failed",
    "interrupted",
    "tool_calls",
    "failed_tool_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "reasoning_tokens",
    "cost_usd",
];

/// Figures that a runner may leave out instead of reporting 0. The manifests do not tell these apart.
const OR_ABSENT: [&str; 3] = ["cache_read_tokens", "cache_creation_tokens", "reasoning_tokens"];

fn fixtures(runner: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner)
}

/// A number of the manifest.
fn number(fact: &Value) -> Option<f64> {
    fact.as_f64()
}

/// Facts about how runs ended, by the number of runs with each outcome.
fn ends<'e>(outcomes: impl IntoIterator<Item = &'e str>) -> Facts {
    let mut facts: Facts = ["runs", "completed", "failed", "interrupted"].map(|name| (name, Some(0.0))).into();
    for outcome in outcomes {
        for name in ["runs", outcome] {
            *facts.get_mut(name).unwrap_or_else(|| panic!("no outcome {name}")) = facts[name].map(|count| count + 1.0);
        }
    }
    facts
}

/// The runs of a recording.
async fn runs_of(runner: &'static Runner, name: &str) -> Vec<RunStatus> {
    let log = Arc::new(MemoryLog::new(1 << 30, 100_000));
    let runs = Arc::new(Runs::new(log, Gate::new(GateMode::Off).unwrap()));
    let factory = IngestFactory::new(runs.clone(), Settings::default());
    let mut ingest = factory.ingest(Some(runner), None, Arc::default());
    ingest.feed(&std::fs::read(fixtures(runner.name).join(name)).unwrap()).await.unwrap();
    ingest.finish().await.unwrap();
    runs.newest_first().iter().map(|entry| entry.status().clone()).collect()
}

fn report(by: &str, runs: &[RunStatus]) -> Value {
    let mut stats = Stats::new(Question { by: By::list(by).unwrap(), ..Question::default() });
    for run in runs {
        stats.add(run);
    }
    serde_json::to_value(stats.report()).unwrap()
}

fn is_same(figure: &str, ours: Option<f64>, fact: Option<f64>) -> bool {
    let (ours, fact) = match OR_ABSENT.contains(&figure) {
        true => (ours.or(Some(0.0)), fact.or(Some(0.0))),
        false => (ours, fact),
    };
    match (ours, fact) {
        (Some(ours), Some(fact)) => (ours - fact).abs() < 1e-9,
        (ours, fact) => ours.is_none() && fact.is_none(),
    }
}

#[tokio::test]
async fn the_figures_of_every_recording_are_the_facts_of_its_manifest() {
    let with_facts = RUNNERS.iter().filter(|runner| !runner.is_of_frames).count();
    assert_eq!(READERS.len(), with_facts, "add a reader of the manifest to tests/stats_facts/ and to READERS");
    let (mut differing, mut all) = (Vec::new(), Vec::new());
    for reader in READERS {
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(fixtures(reader.runner).join("MANIFEST.json")).unwrap()).unwrap();
        let mut seen = [0; 3];
        let (mut of_runner, mut sums): (Vec<RunStatus>, BTreeMap<&str, f64>) = (Vec::new(), BTreeMap::new());
        for (name, facts) in (reader.read)(&manifest) {
            let runs = runs_of(runner(reader.runner).unwrap(), &name).await;
            let own = report("", &runs)["total"].clone();
            for (figure, fact) in &facts {
                let ours = own.get(*figure).and_then(Value::as_f64);
                if !is_same(figure, ours, *fact) {
                    differing.push(format!("{name}: {figure} is {ours:?} instead of {fact:?}"));
                }
            }
            // What the manifest does not say of a recording counts as it is in the sums.
            for figure in SUMMED {
                let ours = own.get(figure).and_then(Value::as_f64);
                *sums.entry(figure).or_default() += facts.get(figure).copied().unwrap_or(ours).unwrap_or_default();
            }
            for (count, figure) in seen.iter_mut().zip(["output_tokens", "tool_calls", "runs"]) {
                *count += usize::from(facts.get(figure).is_some_and(Option::is_some));
            }
            of_runner.extend(runs);
        }
        assert!(seen.iter().zip(reader.least).all(|(seen, least)| *seen >= least), "{}: {seen:?}", reader.runner);
        let row = report("runner", &of_runner)["data"][0].clone();
        for (figure, sum) in sums {
            let ours = row.get(figure).and_then(Value::as_f64).unwrap_or_default();
            if (ours - sum).abs() > 1e-6 {
                differing.push(format!("{}: {figure} is {ours} instead of {sum}", reader.runner));
            }
        }
        all.extend(of_runner);
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
    groups(&all);
}

/// Rows have the runs whose statuses say so.
fn groups(runs: &[RunStatus]) {
    let mut expected: BTreeMap<Group<'_>, [u64; 4]> = BTreeMap::new();
    let mut tools: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for run in runs {
        let sums = expected.entry((run.runner, run.started_at_ms / 86_400_000, run.model.as_deref())).or_default();
        let figures = [1, run.usage.output_tokens.unwrap_or_default(), run.tool_calls, run.failed_tool_calls.unwrap()];
        sums.iter_mut().zip(figures).for_each(|(sum, more)| *sum += more);
        for tool in run.tools.as_ref().unwrap().figures() {
            let sums = tools.entry(tool.name.to_string()).or_default();
            sums.iter_mut().zip([tool.calls, tool.failed]).for_each(|(sum, more)| *sum += more);
        }
        let calls = |of: fn(&framegate::runs::tool_figures::ToolFigures) -> u64| -> u64 {
            run.tools.as_ref().unwrap().figures().iter().map(of).sum()
        };
        let (all, failed) = (calls(|tool| tool.calls), calls(|tool| tool.failed));
        assert_eq!(
            (all, Some(failed)),
            (run.tool_calls, run.failed_tool_calls),
            "{}: the tools are all calls",
            run.run_id
        );
    }
    let number = |row: &Value, key: &str| row.get(key).and_then(Value::as_u64).unwrap_or_default();
    let whole = report("runner,day,model", runs);
    let rows = whole["data"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, ((runner, day, model), sums)) in rows.iter().zip(sorted(&expected)) {
        assert_eq!((row["runner"].as_str(), row["model"].as_str()), (Some(*runner), *model), "day {day}");
        let figures = ["runs", "output_tokens", "tool_calls", "failed_tool_calls"].map(|figure| number(row, figure));
        assert_eq!(figures, *sums, "{runner} {day} {model:?}");
    }
    for figure in [
        "runs",
        "completed",
        "failed",
        "interrupted",
        "turns",
        "tool_calls",
        "input_tokens",
        "output_tokens",
        "warnings",
    ] {
        let sum: u64 = rows.iter().map(|row| number(row, figure)).sum();
        assert_eq!(number(&whole["total"], figure), sum, "{figure}");
    }
    let by_tool = report("tool", runs);
    let rows = by_tool["data"].as_array().unwrap().iter();
    let rows: BTreeMap<String, [u64; 2]> = rows
        .map(|row| {
            (row["tool"].as_str().unwrap().to_owned(), ["tool_calls", "failed_tool_calls"].map(|key| number(row, key)))
        })
        .collect();
    assert_eq!(rows, tools);
    by_workspace(runs);
    assert!(rows.len() > 20 && expected.len() > 8, "{} {}", rows.len(), expected.len());
}

/// All recordings were made in one directory, and on one branch if in a repository.
fn by_workspace(runs: &[RunStatus]) {
    for (by, value, own) in [
        ("directory", "/workspace", (|run| run.workspace.directory.as_deref()) as fn(&RunStatus) -> Option<&str>),
        ("branch", "main", |run| run.workspace.branch.as_deref()),
    ] {
        let report = report(by, runs);
        let rows: Vec<(Option<&str>, u64, u64)> = report["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row[by].as_str(), row["runs"].as_u64().unwrap(), row["output_tokens"].as_u64().unwrap()))
            .collect();
        let sums = |is_known: bool| {
            let of = runs.iter().filter(|run| own(run).is_some() == is_known);
            of.fold((0, 0), |(runs, tokens), run| (runs + 1, tokens + run.usage.output_tokens.unwrap_or_default()))
        };
        let ((known, tokens), (unknown, others)) = (sums(true), sums(false));
        assert_eq!(rows, [(Some(value), known, tokens), (None, unknown, others)], "{by}");
    }
    // A runner without a reader of it reports no directory; the others do on some of their surfaces.
    for runner in RUNNERS.iter().filter(|runner| !runner.is_of_frames) {
        let known = runs.iter().filter(|run| run.runner == runner.name && run.workspace.directory.is_some()).count();
        assert!(if runner.workspace.is_some() { known >= 15 } else { known == 0 }, "{}: {known}", runner.name);
    }
}

/// A runner, the number of a day, and a model.
type Group<'r> = (&'r str, u64, Option<&'r str>);

/// The groups in the order of the rows: those without a model come last.
fn sorted<'e>(groups: &'e BTreeMap<Group<'e>, [u64; 4]>) -> Vec<(&'e Group<'e>, &'e [u64; 4])> {
    let mut sorted: Vec<_> = groups.iter().collect();
    sorted.sort_by_key(|((runner, day, model), _)| (*runner, *day, model.is_none(), *model));
    sorted
}
