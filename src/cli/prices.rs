//! `framegate prices`: checks a file of prices, and lists prices.
//!
//! Input: a file, or the table of the program with the file of the configuration. Output: what is wrong with the file; a table of prices, or JSON.
//! Never: a control character of the file on the terminal.

use super::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::clock::Clock;
use crate::config::{Config, Sources};
use crate::prices::{Entry, PriceError, Prices, Rates};
use crate::stats::Zone;
use crate::visible;
use anyhow::anyhow;
use jiff::civil::Date;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check a file of prices (exit code 1 if it cannot be used)
    Check(CheckArgs),
    /// List prices in US dollars per million tokens
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only the price that applies to this model (exit code 1 if there is none)
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only prices that are valid on this day, in UTC [default with --model: today]
    #[arg(long, value_name = "DATE", value_parser = day)]
    at: Option<Date>,
    /// Print a JSON list instead of a table
    #[arg(long)]
    json: bool,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "must be a day such as 2026-11-25".to_owned())
}

/// The prices of a configuration.
///
/// # Errors
/// Everything that is wrong with the file that the configuration names.
pub(super) fn of(config: &Config) -> anyhow::Result<Prices> {
    Prices::load(&config.prices.file).map_err(|error| unusable(&error))
}

/// The error of a configuration whose prices cannot be used.
fn unusable(error: &PriceError) -> anyhow::Error {
    anyhow!("prices.file, {error}")
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Check(check) => self::check(check),
        Command::List(list) => self::list(list),
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match Prices::load(&args.file) {
        Ok(prices) => {
            let own = prices.entries().iter().filter(|entry| !entry.is_built_in).count();
            writeln!(out, "{}: {own} prices, no problems", visible::line(&args.file.display().to_string()))?;
            Ok(ExitCode::from(EXIT_CLEAN))
        }
        Err(error) => {
            for problem in &error.problems {
                writeln!(out, "{}", visible::line(problem))?;
            }
            Ok(ExitCode::from(EXIT_FINDINGS))
        }
    }
}

fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let prices = of(&Sources::new(args.config.clone(), std::env::vars_os())?.load()?)?;
    let entries = match &args.model {
        None => {
            let is_valid = |entry: &Entry| args.at.is_none_or(|day| entry.valid_from.is_none_or(|first| first <= day));
            prices.entries().into_iter().filter(is_valid).collect()
        }
        Some(model) => {
            let day = args.at.unwrap_or_else(|| Zone::default().day(Clock::System.now_ms()));
            let found = prices.find(model, day, |found| found.map(|found| found.entry.clone()));
            if found.is_none() {
                // If stderr is closed, the note cannot be delivered.
                let _ = writeln!(std::io::stderr(), "no price for {} on {day}", visible::line(model));
            }
            Vec::from_iter(found)
        }
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&entries)?)?;
    } else if !entries.is_empty() {
        out.write_all(table(&entries).as_bytes())?;
    } else if let (None, Some(day)) = (&args.model, args.at) {
        let _ = writeln!(std::io::stderr(), "no prices are valid on {day}");
    }
    out.flush()?;
    Ok(ExitCode::from(if args.model.is_some() && entries.is_empty() { EXIT_FINDINGS } else { EXIT_CLEAN }))
}

/// The heads of the columns of numbers, and then of texts.
const HEADS: [&str; 11] = [
    "INPUT",
    "OUTPUT",
    "CACHE READ",
    "CACHE WRITE",
    "FOR 1 H",
    "REASONING",
    "ABOVE",
    "VALID FROM",
    "KNOWN ON",
    "VENDOR",
    "MODELS",
];

/// How many of the columns are numbers.
const NUMBERS: usize = 7;

/// The entries as an aligned table; the prices for larger inputs follow the others of their entry.
fn table(entries: &[Entry]) -> String {
    let numbers = |rates: &Rates, above: u64| {
        let Rates { input, output, cache_read, cache_write, cache_write_1h, reasoning } = rates;
        let above = if above == 0 { String::new() } else { above.to_string() };
        let prices = [input, output, cache_read, cache_write, cache_write_1h, reasoning];
        prices.map(ToString::to_string).into_iter().chain([above])
    };
    let mut lines: Vec<Vec<String>> = vec![HEADS.map(str::to_owned).to_vec()];
    for entry in entries {
        let date = |day: Option<Date>| day.map_or_else(|| "-".to_owned(), |day| day.to_string());
        let vendor = match (&entry.vendor, entry.is_built_in) {
            (Some(vendor), true) => vendor.clone(),
            (Some(vendor), false) => format!("{} (file)", visible::line(vendor)),
            (None, _) => "(file)".to_owned(),
        };
        let models = visible::line(&entry.models.join(", ")).into_owned();
        let texts = [date(entry.valid_from), date(entry.known_on), vendor, models];
        lines.push(numbers(&entry.rates, 0).chain(texts).collect());
        lines.extend(entry.tiers.iter().map(|tier| numbers(&tier.rates, tier.above_input_tokens).collect()));
    }
    let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..HEADS.len()).map(|at| width(at).unwrap_or_default()).collect();
    let mut out = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells
            .map(|(at, (cell, &wide))| if at < NUMBERS { format!("{cell:>wide$}") } else { format!("{cell:wide$}") });
        out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}
