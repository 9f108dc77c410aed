//! Every contract has a case for each of its rules.

use crate::agent_manager::*;
use crate::cases::*;
use crate::frames::*;
use crate::hecate::*;
use crate::pixir::*;
use crate::sse::*;
use crate::ui_message_stream::*;
use framegate_translators::contracts::{CONTRACTS, Contract, contract};
use framegate_translators::verify::RULES;
use serde_json::Value;
use std::collections::BTreeSet;

/// The cases of one contract.
struct Suite {
    contract: &'static str,
    clean: fn() -> Vec<Value>,
    number: fn(&mut [Value]),
    cases: &'static [Case],
}

const SUITES: &[Suite] = &[
    Suite { contract: "frames.v1", clean: frames_v1, number: number_frames, cases: FRAMES_V1 },
    Suite { contract: "frames.v2", clean: frames_v2, number: number_frames, cases: FRAMES_V2 },
    Suite { contract: "sse.v1", clean: sse_v1, number: number_sse, cases: SSE_V1 },
    Suite { contract: "agent-manager.v1", clean: agent_manager_v1, number: number_manager, cases: AGENT_MANAGER_V1 },
    Suite { contract: "pixir.v1", clean: pixir_v1, number: number_pixir, cases: PIXIR_V1 },
    Suite { contract: "hecate.v1", clean: hecate_v1, number: number_hecate, cases: HECATE_V1 },
    Suite {
        contract: "ui-message-stream.v1",
        clean: ui_message_stream_v1,
        number: number_ui_message_stream,
        cases: UI_MESSAGE_STREAM_V1,
    },
];

/// The rule about what a client has already, which needs a cursor.
const RESUMED: &str = "resume.repeat";

#[test]
fn every_rule_fires_only_where_it_is_violated() {
    let mut common = BTreeSet::new();
    for listing in CONTRACTS.iter().filter(|contract| !contract.rules.is_empty()) {
        let name = listing.name;
        assert!(
            SUITES.iter().any(|suite| suite.contract == name),
            "add tests/cli_rules/ cases for {name}, and their line to SUITES"
        );
        // Contracts that share their verifier share its rules: a rule may fire in one of them only.
        let rules = |contract: &Contract| contract.rules.iter().map(|rule| rule.name).collect::<Vec<_>>();
        let sharing =
            SUITES.iter().filter(|suite| contract(suite.contract).is_some_and(|other| rules(other) == rules(listing)));
        let mut fired = BTreeSet::new();
        for suite in sharing {
            fired.extend(fire(suite.contract, suite.clean, suite.number, suite.cases));
            assert!(fires_for_a_resumed_stream(suite), "{}: {RESUMED} does not fire", suite.contract);
            fired.insert(RESUMED.to_owned());
        }
        let missing: Vec<&str> =
            listing.rules.iter().map(|rule| rule.name).filter(|rule| !fired.contains(*rule)).collect();
        assert!(missing.is_empty(), "{name}: no case covers these rules: {missing:?}");
        common.extend(fired);
    }
    let missing: Vec<&str> = RULES.iter().map(|rule| rule.name).filter(|rule| !common.contains(*rule)).collect();
    assert!(missing.is_empty(), "no case covers these rules of every contract: {missing:?}");
}

/// Whether an event is reported if the client that resumed has it already.
fn fires_for_a_resumed_stream(suite: &Suite) -> bool {
    let mut events = (suite.clean)();
    (suite.number)(&mut events);
    let key = (contract(suite.contract).unwrap().verifier)().cursor_key().unwrap();
    let at = (1..events.len()).find(|at| events[*at].get(key).is_some_and(|cursor| !cursor.is_null())).unwrap();
    let cursor = match &events[at][key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let found = findings(suite.contract, &events[at..=at], &["--after", &cursor]);
    found.contains(&(1, RESUMED.to_owned()))
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
