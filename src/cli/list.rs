//! `framegate contracts`, `runners` and `schema`: what the registries hold.

use super::names::{self, ContractName};
use crate::nearest::nearest;
use anyhow::bail;
use framegate_translators::contracts::{CONTRACTS, SseStyle};
use framegate_translators::runners::{RUNNERS, Surface};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct TableArgs {
    /// Print a JSON list instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// The contract
    #[arg(value_parser = names::json_contract())]
    contract: ContractName,
    /// The event type; without it, all schemas as one object from type to schema
    #[arg(value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Serialize)]
struct ContractEntry {
    name: &'static str,
    about: &'static str,
    /// How its events stand on an SSE stream: `bare`, `named` (with `event:`) or `raw`.
    sse: &'static str,
    /// Whether it has a log form.
    log: bool,
    types: Vec<&'static str>,
}

#[derive(Serialize)]
struct RunnerEntry {
    name: &'static str,
    about: &'static str,
    provider: &'static str,
    surfaces: Vec<SurfaceEntry>,
}

#[derive(Serialize)]
struct SurfaceEntry {
    name: &'static str,
    source: &'static str,
}

pub(super) fn contracts(args: &TableArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        let list = CONTRACTS.iter().map(|contract| {
            let sse = match contract.sse {
                SseStyle::Bare => "bare",
                SseStyle::Named => "named",
                SseStyle::Raw => "raw",
            };
            let types = contract.schemas.iter().map(|file| file.kind).collect();
            ContractEntry { name: contract.name, about: contract.about, sse, log: contract.log.is_some(), types }
        });
        return print_json(&list.collect::<Vec<_>>());
    }
    print_table(CONTRACTS.iter().map(|contract| (contract.name, contract.about)))
}

pub(super) fn runners(args: &TableArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        let list = RUNNERS.iter().map(|runner| {
            let surfaces = runner.surfaces.iter();
            RunnerEntry {
                name: runner.name,
                about: runner.about,
                provider: runner.provider,
                surfaces: surfaces.map(|&Surface { name, source, .. }| SurfaceEntry { name, source }).collect(),
            }
        });
        return print_json(&list.collect::<Vec<_>>());
    }
    print_table(RUNNERS.iter().map(|runner| (runner.name, runner.about)))
}

pub(super) fn schema(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let contract = args.contract.0;
    let mut out = io::stdout().lock();
    if let Some(kind) = &args.kind {
        let Some(file) = contract.schemas.iter().find(|file| file.kind == kind) else {
            let known: Vec<&str> = contract.schemas.iter().map(|file| file.kind).collect();
            let hint = nearest(kind, known.iter().copied()).map(|name| format!(", did you mean {name:?}?"));
            bail!(
                "{} has no event type {kind:?}{} (known: {})",
                contract.name,
                hint.unwrap_or_default(),
                known.join(", ")
            );
        };
        writeln!(out, "{}", file.text.trim_end())?;
    } else {
        // The documents as they are written, so that no key changes its place.
        let mut lead = "{";
        for file in contract.schemas {
            write!(out, "{lead}\n{}: {}", Value::from(file.kind), file.text.trim_end())?;
            lead = ",";
        }
        writeln!(out, "\n}}")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(list: &impl Serialize) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string_pretty(list)?)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print_table(rows: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> anyhow::Result<ExitCode> {
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut out = io::stdout().lock();
    for (name, about) in rows {
        writeln!(out, "{name:width$}  {about}")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
