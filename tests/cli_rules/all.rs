//! All rules of all contracts.

use crate::agent_manager::*;
use crate::cases::*;
use crate::frames::*;
use crate::hecate::*;
use crate::pixir::*;
use crate::sse::*;
use framegate_translators::warnings::Warning;
use std::collections::BTreeSet;

#[test]
fn every_rule_fires_only_where_it_is_violated() {
    let mut fired = fire("frames.v2", frames_v2, number_frames, FRAMES_V2);
    fired.extend(fire("frames.v1", frames_v1, number_frames, FRAMES_V1));
    fired.extend(fire("sse.v1", sse_v1, number_sse, SSE_V1));
    fired.extend(fire("agent-manager.v1", agent_manager_v1, number_manager, AGENT_MANAGER_V1));
    fired.extend(fire("pixir.v1", pixir_v1, number_pixir, PIXIR_V1));
    fired.extend(fire("hecate.v1", hecate_v1, number_hecate, HECATE_V1));
    fired.insert(rule_of_resumed_streams());
    let missing: Vec<String> = rules().difference(&fired).cloned().collect();
    assert!(missing.is_empty(), "no case covers these rules: {missing:?}");
}

/// The rule for resumed streams, which needs a cursor.
fn rule_of_resumed_streams() -> String {
    let mut events = sse_v1();
    number_sse(&mut events);
    let mut found = findings("sse.v1", &events[1..2], &["--after", "evt_0001"]);
    found.retain(|(at, _)| *at == 1);
    assert_eq!(found, [(1, "resume.repeat".to_owned())]);
    found.remove(0).1
}

#[test]
fn every_rule_of_a_contract_fires_in_it() {
    for (source, fired) in [
        (include_str!("../../translators/src/contracts/frames/rules.rs"), expected(FRAMES_V2)),
        (include_str!("../../translators/src/contracts/sse/rules.rs"), expected(SSE_V1)),
        (include_str!("../../translators/src/contracts/agent_manager/rules.rs"), expected(AGENT_MANAGER_V1)),
        (include_str!("../../translators/src/contracts/pixir/rules.rs"), expected(PIXIR_V1)),
        (include_str!("../../translators/src/contracts/hecate/rules.rs"), expected(HECATE_V1)),
    ] {
        let missing: Vec<String> = rules_in(source).difference(&fired).cloned().collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// Every rule that the code can report, so that a new rule without a case fails here.
fn rules() -> BTreeSet<String> {
    let mut rules: BTreeSet<String> = Warning::ALL.iter().map(|warning| warning.code().to_owned()).collect();
    for source in [
        include_str!("../../translators/src/verify/parts.rs"),
        include_str!("../../translators/src/verify/check.rs"),
        include_str!("../../translators/src/contracts/frames/rules.rs"),
        include_str!("../../translators/src/contracts/frames/checkpoints.rs"),
        include_str!("../../translators/src/contracts/sse/rules.rs"),
        include_str!("../../translators/src/contracts/sse/order.rs"),
        include_str!("../../translators/src/contracts/agent_manager/rules.rs"),
        include_str!("../../translators/src/contracts/pixir/rules.rs"),
        include_str!("../../translators/src/contracts/hecate/rules.rs"),
    ] {
        rules.extend(rules_in(source));
    }
    rules
}

/// The rules named in a source: `group.rule` in quotes, and the two rules that have no group.
fn rules_in(source: &str) -> BTreeSet<String> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    // Event types with dots are not rules; neither are the old types of runs and approvals.
    let is_type = |text: &str| {
        let hecate = framegate_translators::contracts::hecate::V1.schemas;
        text.starts_with("run.") || text.starts_with("approval.") || hecate.iter().any(|file| file.kind == text)
    };
    let is_rule = |text: &&str| {
        !is_type(text) && text.split_once('.').is_some_and(|(group, rule)| is_word(group) && is_word(rule))
    };
    let mut rules: BTreeSet<String> = source.split('"').skip(1).step_by(2).filter(is_rule).map(str::to_owned).collect();
    for alone in ["schema", "json"] {
        if source.contains(&format!("Finding::error(\"{alone}\"")) {
            rules.insert(alone.to_owned());
        }
    }
    rules
}
