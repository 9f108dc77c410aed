//! `framegate contracts`, `runners`, `schema` and `rules`: print the contents of the registries.

use super::names::{self, ContractName};
use crate::catalogue;
use crate::suggest::nearest;
use anyhow::anyhow;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::publish::{bundle, document_of, typescript};
use framegate_translators::redact::rule_names;
use framegate_translators::runners::RUNNERS;
use serde::Serialize;
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
    /// The event type; without it, one schema of all types, with each type's own under `$defs`
    #[arg(value_name = "TYPE")]
    kind: Option<String>,
    /// Print TypeScript declarations of all types
    #[arg(long, conflicts_with = "kind")]
    typescript: bool,
    /// Print what the contract's document allows for events of any producer, instead of what framegate writes
    #[arg(long, conflicts_with = "typescript")]
    document: bool,
}

pub(super) fn contracts(args: &TableArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        return print_json(&catalogue::contracts());
    }
    print_table(CONTRACTS.iter().map(|contract| (contract.name, contract.about)))
}

pub(super) fn runners(args: &TableArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        return print_json(&catalogue::runners());
    }
    print_table(RUNNERS.iter().map(|runner| (runner.name, runner.about)))
}

pub(super) fn rules(args: &TableArgs) -> anyhow::Result<ExitCode> {
    if !args.json {
        return print_table(rule_names());
    }
    #[derive(Serialize)]
    struct Rule {
        name: &'static str,
        finds: Vec<&'static str>,
    }
    // Several formats can share a name. They form one rule, because they are switched off together.
    let mut rules: Vec<Rule> = Vec::new();
    for (name, about) in rule_names() {
        match rules.iter_mut().find(|rule| rule.name == name) {
            Some(rule) => rule.finds.push(about),
            None => rules.push(Rule { name, finds: vec![about] }),
        }
    }
    print_json(&rules)
}

pub(super) fn schema(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let contract = args.contract.0;
    let mut out = io::stdout().lock();
    if let Some(document) = contract.document_schema.filter(|_| args.document) {
        let text = match &args.kind {
            None => document.text().to_owned(),
            Some(kind) => document_of(document, contract.type_key, kind)
                .map_err(|known| unknown_type(contract.name, kind, &known))?,
        };
        writeln!(out, "{}", text.trim_end())?;
    } else if let Some(kind) = &args.kind {
        let Some(file) = contract.schemas.iter().find(|file| file.kind == kind) else {
            let known: Vec<String> = contract.schemas.iter().map(|file| file.kind.to_owned()).collect();
            return Err(unknown_type(contract.name, kind, &known));
        };
        writeln!(out, "{}", file.text().trim_end())?;
    } else if args.typescript {
        out.write_all(typescript(contract)?.as_bytes())?;
    } else {
        out.write_all(bundle(contract).as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn unknown_type(contract: &str, kind: &str, known: &[String]) -> anyhow::Error {
    let hint = nearest(kind, known.iter().map(String::as_str)).map(|name| format!(", did you mean {name:?}?"));
    anyhow!("{contract} has no event type {kind:?}{} (known: {})", hint.unwrap_or_default(), known.join(", "))
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
