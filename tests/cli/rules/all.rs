//! Every contract has a case for each of its rules.

use super::cases::*;
use super::{
    acp, ag_ui, agent_manager, chat_completions, claude_code, frames, hecate, open_responses, pixir, sse,
    ui_message_stream,
};
use framegate_translators::contracts::{CONTRACTS, Contract, contract};
use framegate_translators::verify::RULES;
use serde_json::Value;
use std::collections::BTreeSet;

/// The cases of every contract, from their files.
fn suites() -> impl Iterator<Item = &'static Suite> {
    let of_each = [
        frames::SUITES,
        sse::SUITES,
        agent_manager::SUITES,
        pixir::SUITES,
        hecate::SUITES,
        chat_completions::SUITES,
        open_responses::SUITES,
        ui_message_stream::SUITES,
        ag_ui::SUITES,
        acp::SUITES,
        claude_code::SUITES,
    ];
    of_each.into_iter().flatten()
}

/// The rule about what a client has already, which needs a cursor.
const RESUMED: &str = "resume.repeat";

#[test]
fn every_rule_fires_only_where_it_is_violated() {
    let mut common = BTreeSet::new();
    for listing in CONTRACTS.iter().filter(|contract| !contract.rules.is_empty()) {
        let name = listing.name;
        assert!(
            suites().any(|suite| suite.contract == name),
            "add a file to tests/cli/rules/ with a case for each rule of {name}, and its SUITES to `suites` in all.rs"
        );
        // Contracts that share their verifier share its rules: a rule may fire in one of them only.
        let rules = |contract: &Contract| contract.rules.iter().map(|rule| rule.name).collect::<Vec<_>>();
        let sharing =
            suites().filter(|suite| contract(suite.contract).is_some_and(|other| rules(other) == rules(listing)));
        let mut fired = BTreeSet::new();
        for suite in sharing {
            fired.extend(fire(suite.contract, suite.clean, suite.number, suite.cases));
            if let Some(fires) = fires_for_a_resumed_stream(suite) {
                assert!(fires, "{}: {RESUMED} does not fire", suite.contract);
                fired.insert(RESUMED.to_owned());
            }
        }
        let missing: Vec<&str> =
            listing.rules.iter().map(|rule| rule.name).filter(|rule| !fired.contains(*rule)).collect();
        assert!(missing.is_empty(), "{name}: no case covers these rules: {missing:?}");
        common.extend(fired);
    }
    let missing: Vec<&str> = RULES.iter().map(|rule| rule.name).filter(|rule| !common.contains(*rule)).collect();
    assert!(missing.is_empty(), "no case covers these rules of every contract: {missing:?}");
}

/// Whether an event is reported if the client that resumed has it already; `None` if the contract's events have no cursor.
fn fires_for_a_resumed_stream(suite: &Suite) -> Option<bool> {
    let mut events = (suite.clean)();
    (suite.number)(&mut events);
    let key = (contract(suite.contract).unwrap().verifier)().cursor_key()?;
    // The key may be nested, and in one of several places.
    let within = |at: usize, place: &str| place.split('.').fold(&events[at], |value, key| &value[key]);
    let cursor_of = |at: usize| {
        let mut found = key.split('|').map(|place| within(at, place));
        found.find(|value| !value.is_null()).unwrap_or(&Value::Null)
    };
    let at = (1..events.len()).find(|at| !cursor_of(*at).is_null()).unwrap();
    let cursor = match cursor_of(at) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let found = findings(suite.contract, &events[at..=at], &["--after", &cursor]);
    Some(found.contains(&(1, RESUMED.to_owned())))
}

#[test]
fn no_rule_is_listed_twice() {
    for contract in CONTRACTS {
        let mut names = BTreeSet::new();
        for rule in contract.rules.iter().chain(RULES) {
            assert!(names.insert(rule.name), "{}: {} is listed twice", contract.name, rule.name);
        }
    }
}
