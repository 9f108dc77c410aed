//! Parses the names of contracts and runners on the command line.
//!
//! An unknown name is an error that suggests the nearest name and lists all of them.

use super::text;
use crate::catalogue::without_user_messages;
use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::runners::{RUNNERS, Runner};
use uuid::Uuid;

/// A contract by its name.
#[derive(Clone, Copy)]
pub(super) struct ContractName(pub(super) &'static Contract);

/// A runner by its name.
#[derive(Clone, Copy)]
pub(super) struct RunnerName(pub(super) &'static Runner);

impl std::fmt::Debug for ContractName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

impl std::fmt::Debug for RunnerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// A contract whose events are JSON with schemas.
pub(super) fn json_contract() -> impl TypedValueParser<Value = ContractName> {
    let known = CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty());
    PossibleValuesParser::new(known.map(|contract| PossibleValue::new(contract.name).help(contract.about)))
        .try_map(|name| framegate_translators::contracts::contract(&name).map(ContractName).context("not registered"))
}

/// The form of the output: the events of a contract, or text.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputName {
    /// The events of this contract.
    Contract(ContractName),
    /// Text for people.
    Text,
}

/// Any contract, or text.
pub(super) fn output() -> impl TypedValueParser<Value = OutputName> {
    let contracts = CONTRACTS.iter().map(|contract| PossibleValue::new(contract.name).help(contract.about));
    let text = PossibleValue::new(text::NAME).help(text::ABOUT);
    PossibleValuesParser::new(contracts.chain([text])).try_map(|name| match &*name {
        text::NAME => anyhow::Ok(OutputName::Text),
        name => {
            let found = framegate_translators::contracts::contract(name).context("not registered")?;
            Ok(OutputName::Contract(ContractName(found)))
        }
    })
}

/// Which runner wrote an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// This runner.
    Runner(RunnerName),
    /// Detected from the input.
    Auto,
}

impl From {
    /// The named runner; `None` for `auto`.
    pub(super) fn runner(self) -> Option<&'static Runner> {
        match self {
            Self::Runner(runner) => Some(runner.0),
            Self::Auto => None,
        }
    }
}

/// A runner, or `auto`.
pub(super) fn runner_or_auto() -> impl TypedValueParser<Value = From> {
    let auto = PossibleValue::new("auto").help("Detect the runner from the input");
    let known = RUNNERS.iter().map(|runner| PossibleValue::new(runner.name).help(runner.about));
    PossibleValuesParser::new(known.chain([auto])).try_map(|name| match name.as_str() {
        "auto" => anyhow::Ok(From::Auto),
        name => {
            let found = framegate_translators::runners::runner(name).context("not registered")?;
            Ok(From::Runner(RunnerName(found)))
        }
    })
}

/// A runner.
pub(super) fn runner() -> impl TypedValueParser<Value = RunnerName> {
    PossibleValuesParser::new(RUNNERS.iter().map(|runner| PossibleValue::new(runner.name).help(runner.about)))
        .try_map(|name| framegate_translators::runners::runner(&name).map(RunnerName).context("not registered"))
}

/// The id of a run or a session.
///
/// # Errors
/// The text is no UUID.
pub(super) fn uuid(text: &str) -> Result<Uuid, String> {
    Uuid::try_parse(text)
        .map_err(|_| "not a whole UUID, as `framegate log list --json` and GET /v1/runs have it".to_owned())
}

/// The help of the option for the user's messages.
pub(super) fn user_messages(verb: &str) -> String {
    let names = without_user_messages("");
    format!("Also {verb} the user's messages in {names}, which leave them out")
}
