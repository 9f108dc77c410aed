//! The ledger: any order of costs gives the same accounts, each mark is reported once, and only runs of spent accounts are stopped.

use super::ledger::{Facts, Ledger, Mark, Outcome};
use crate::config::budgets::{Action, Budget, Limit, Share};
use crate::prices::Usd;
use jiff::civil::date;
use proptest::prelude::*;
use std::collections::HashMap;
use uuid::Uuid;

fn usd(text: &str) -> Usd {
    Usd::parse(text).unwrap()
}

fn budget(per: &[&str], limit: &str, action: Action) -> Budget {
    let per = per.iter().map(|share| share.parse().unwrap()).collect();
    Budget { name: "b".to_owned(), per, limit: usd(limit), warn_percent: 80, action }
}

/// How many accounts the ledgers of these tests have.
const MOST: usize = 1000;

fn empty(budgets: Vec<Budget>) -> Ledger {
    Ledger::new(budgets, MOST)
}

fn facts(run: u128, session: u128, label: &str, day: i8) -> Facts {
    Facts {
        run: Some(Uuid::from_u128(run)),
        session: Some(Uuid::from_u128(session)),
        labels: (!label.is_empty()).then(|| label.parse().unwrap()).into_iter().collect(),
        day: date(2026, 11, day),
    }
}

/// The marks that were passed, with their amounts and accounts.
fn passed(ledger: &mut Ledger, facts: &Facts, cost: &str, has_ended: bool) -> Vec<(Mark, String, String)> {
    let outcome = ledger.set(facts, usd(cost), has_ended);
    outcome.passed.into_iter().map(|one| (one.mark, one.spent.to_string(), one.account)).collect()
}

#[test]
fn each_mark_is_passed_once() {
    let mut ledger = empty(vec![budget(&["day"], "10", Action::Warn)]);
    let day = "2026-11-01".to_owned();
    assert_eq!(passed(&mut ledger, &facts(1, 1, "", 1), "7.99", false), []);
    let warning = [(Mark::Warning, "8".to_owned(), day.clone())];
    assert_eq!(passed(&mut ledger, &facts(1, 1, "", 1), "8", false), warning);
    assert_eq!(passed(&mut ledger, &facts(1, 1, "", 1), "8.5", true), []);
    let limit = [(Mark::Limit, "10".to_owned(), day)];
    assert_eq!(passed(&mut ledger, &facts(2, 2, "", 1), "1.5", false), limit);
    assert_eq!(passed(&mut ledger, &facts(2, 2, "", 1), "20", true), []);
    // Another day has its own account, which can pass both marks at once.
    let both = [Mark::Warning, Mark::Limit].map(|mark| (mark, "11".to_owned(), "2026-11-02".to_owned()));
    assert_eq!(passed(&mut ledger, &facts(3, 1, "", 2), "11", true), both);
}

#[test]
fn shares_are_combined_and_runs_without_the_label_do_not_count() {
    let mut ledger = empty(vec![budget(&["label:team", "day"], "1", Action::Stop)]);
    let limit = |account: &str| {
        vec![Mark::Warning, Mark::Limit]
            .into_iter()
            .map(|mark| (mark, "1".to_owned(), account.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(passed(&mut ledger, &facts(1, 1, "team:web", 1), "1", true), limit("team:web, 2026-11-01"));
    assert_eq!(passed(&mut ledger, &facts(2, 1, "team:web", 2), "1", true), limit("team:web, 2026-11-02"));
    assert_eq!(passed(&mut ledger, &facts(3, 1, "team:api", 1), "1", true), limit("team:api, 2026-11-01"));
    for other in [facts(4, 1, "", 1), facts(5, 1, "env:team", 1)] {
        assert_eq!(passed(&mut ledger, &other, "5", true), []);
        assert!(ledger.forbids(&other).is_none());
    }
    let new_run = |label: &str, day: i8| Facts { run: None, session: None, ..facts(0, 0, label, day) };
    assert_eq!(ledger.forbids(&new_run("team:web", 1)).unwrap().1, "team:web, 2026-11-01");
    assert!(ledger.forbids(&new_run("team:web", 3)).is_none());
}

#[test]
fn a_spent_account_stops_each_of_its_open_runs_once() {
    let mut ledger = empty(vec![budget(&["session"], "1", Action::Stop), budget(&["day"], "100", Action::Stop)]);
    let stopped = |ledger: &mut Ledger, run: u128, session: u128, cost: &str, has_ended: bool| -> Vec<u128> {
        let outcome = ledger.set(&facts(run, session, "", 1), usd(cost), has_ended);
        outcome.stop.into_iter().map(|(run, _)| run.as_u128()).collect()
    };
    assert_eq!(stopped(&mut ledger, 1, 1, "0.4", false), []);
    assert_eq!(stopped(&mut ledger, 2, 1, "0.4", false), []);
    assert_eq!(stopped(&mut ledger, 3, 2, "0.4", false), []);
    assert_eq!(stopped(&mut ledger, 2, 1, "0.6", false), [1, 2]);
    assert_eq!(stopped(&mut ledger, 1, 1, "0.5", false), []);
    // A run that began before its session was spent is stopped when it costs something.
    assert_eq!(stopped(&mut ledger, 4, 1, "0.1", false), [4]);
    // A run that is over is not stopped.
    assert_eq!(stopped(&mut ledger, 5, 1, "0.1", true), []);
    let in_session = |session: u128| Facts { run: None, ..facts(0, session, "", 1) };
    assert!(ledger.forbids(&in_session(1)).is_some() && ledger.forbids(&in_session(2)).is_none());
}

#[test]
fn a_learned_run_is_not_reported_and_its_end_counts_once() {
    let mut ledger = empty(vec![budget(&["session"], "1", Action::Stop)]);
    ledger.learn(&facts(1, 1, "", 1), usd("0.7"), true);
    ledger.learn(&facts(2, 1, "", 1), usd("0.4"), false);
    ledger.learn(&facts(3, 3, "", 1), usd("2"), true);
    ledger.end_learning(None);
    assert_eq!(
        ledger.set(&facts(4, 3, "", 1), usd("1"), true),
        Outcome::default(),
        "its session passed the limit silently"
    );
    // The news of a run that had ended when it was learned.
    assert_eq!(ledger.set(&facts(1, 1, "", 1), usd("0.7"), true), Outcome::default());
    assert_eq!(ledger.spent(&facts(1, 1, "", 1)), usd("1.1"));
    // An account with an open run reports its marks.
    let outcome = ledger.set(&facts(2, 1, "", 1), usd("0.5"), false);
    assert_eq!((outcome.passed.len(), outcome.stop), (2, vec![(Uuid::from_u128(2), 0)]));
    assert_eq!(ledger.set(&facts(2, 1, "", 1), usd("0.6"), true), Outcome::default());
    assert_eq!(ledger.spent(&facts(1, 1, "", 1)), usd("1.3"));
}

#[test]
fn budgets_that_a_reload_leaves_as_they_were_report_nothing_again() {
    let (same, before) = (budget(&["session"], "1", Action::Stop), budget(&["day"], "10", Action::Stop));
    let after = Budget { limit: usd("2"), ..before.clone() };
    let mut earlier = empty(vec![same.clone(), before]);
    let run = facts(1, 1, "", 1);
    assert_eq!(earlier.set(&run, usd("3"), false).stop, [(Uuid::from_u128(1), 0)]);
    let mut ledger = empty(vec![after, same]);
    ledger.learn(&facts(2, 2, "", 1), usd("0.5"), true);
    ledger.learn(&run, usd("3"), false);
    ledger.end_learning(Some(earlier));
    let outcome = ledger.set(&run, usd("3"), false);
    let marks: Vec<_> = outcome.passed.iter().map(|one| (one.budget, one.mark, one.spent)).collect();
    assert_eq!(marks, [(0, Mark::Warning, usd("3.5")), (0, Mark::Limit, usd("3.5"))]);
    assert_eq!(outcome.stop, [(Uuid::from_u128(1), 0)], "the changed budget stops the run, the other one did");
    assert_eq!(ledger.set(&run, usd("3"), false), Outcome::default());
}

#[test]
fn a_run_that_was_dropped_keeps_its_last_cost() {
    let mut ledger = empty(vec![budget(&["day"], "1", Action::Stop)]);
    ledger.set(&facts(1, 1, "", 1), usd("0.9"), false);
    ledger.end(Uuid::from_u128(1));
    let outcome = ledger.set(&facts(2, 1, "", 1), usd("0.1"), false);
    assert_eq!((outcome.passed.len(), outcome.stop), (1, vec![(Uuid::from_u128(2), 0)]), "only an open run is stopped");
}

#[test]
fn a_run_that_a_longer_one_replaces_does_not_count() {
    let mut ledger = empty(vec![budget(&["session"], "1", Action::Stop)]);
    let (short, long) = (facts(1, 9, "", 1), facts(2, 9, "", 1));
    assert_eq!(passed(&mut ledger, &short, "0.9", true).len(), 1);
    ledger.take_back(&short, usd("0.9"), true);
    assert_eq!(ledger.spent(&short), usd("0"));
    // The warning is reported again, because the account was before it.
    let marks: Vec<Mark> = passed(&mut ledger, &long, "1.1", true).into_iter().map(|(mark, ..)| mark).collect();
    assert_eq!(marks, [Mark::Warning, Mark::Limit]);
    assert_eq!(ledger.spent(&long), usd("1.1"));
    assert!(ledger.forbids(&facts(3, 9, "", 1)).is_some());
    ledger.take_back(&long, usd("1.1"), true);
    assert!(ledger.forbids(&facts(3, 9, "", 1)).is_none());
    // A run whose end was not set is open, or was not counted.
    passed(&mut ledger, &short, "0.5", false);
    ledger.take_back(&short, usd("0.5"), false);
    ledger.take_back(&long, usd("1.1"), false);
    assert_eq!(ledger.spent(&short), usd("0"));
}

#[test]
fn the_account_of_a_run_ends_with_it() {
    let mut ledger = empty(vec![budget(&["run"], "1", Action::Stop)]);
    for run in 0..5_000 {
        let outcome = ledger.set(&facts(run, run, "", 1), usd("2"), true);
        assert_eq!((outcome.passed.len(), outcome.stop.len()), (2, 0));
    }
    assert_eq!(ledger.accounts(), 0);
    let mut sessions = empty(vec![budget(&["session"], "1", Action::Stop)]);
    sessions.set(&facts(1, 1, "", 1), usd("2"), false);
    for run in 2..5_000 {
        sessions.set(&facts(run, run, "", 1), usd("2"), true);
        assert!(sessions.accounts() <= MOST + 1);
    }
    let of_session = |session: u128| Facts { run: None, ..facts(0, session, "", 1) };
    assert!(sessions.forbids(&of_session(1)).is_some(), "an account with an open run is not forgotten");
    assert!(sessions.forbids(&of_session(4_999)).is_some() && sessions.forbids(&of_session(2)).is_none());
}

proptest! {
    /// Whatever the order in which costs become known, an account has the sum of the last cost of each run.
    #[test]
    fn the_sum_does_not_depend_on_the_order(
        costs in prop::collection::vec((0_u128..6, 0_u128..3, 0_u32..200), 1..60),
    ) {
        let mut ledger = empty(vec![budget(&["session"], "1000000", Action::Warn)]);
        let mut last: HashMap<(u128, u128), u32> = HashMap::new();
        for (run, session, cents) in costs {
            // A run belongs to one session.
            let run = session * 10 + run;
            last.insert((session, run), cents);
            ledger.set(&facts(run, session, "", 1), usd(&format!("{}.{:02}", cents / 100, cents % 100)), false);
        }
        for session in 0..3 {
            let cents: u32 = last.iter().filter(|((of, _), _)| *of == session).map(|(_, cents)| cents).sum();
            let expected = usd(&format!("{}.{:02}", cents / 100, cents % 100));
            prop_assert_eq!(ledger.spent(&facts(0, session, "", 1)), expected);
        }
    }
}

#[test]
fn a_budget_that_no_run_can_have_is_refused() {
    let limit =
        |per: &str| Limit { name: "b".to_owned(), per: vec![per.to_owned()], usd: "1".to_owned(), ..Limit::default() };
    assert_eq!(super::of(&[limit("label:team"), limit("day")]).unwrap().len(), 2);
    let error = super::of(&[limit("day"), limit("label:the team")]).unwrap_err().to_string();
    assert!(error.starts_with("budgets, budget \"b\", per: ") && error.contains("the team"), "{error}");
}

#[test]
fn shares_and_actions_have_names() {
    for (text, share) in [("run", Share::Run), ("session", Share::Session), ("day", Share::Day)] {
        assert_eq!(text.parse(), Ok(share));
    }
    assert_eq!("label:a".parse(), Ok(Share::Label("a".to_owned())));
    for action in Action::ALL {
        assert_eq!(Action::find(action.as_str()), Some(action));
    }
    assert_eq!(Action::find("kill"), None);
}
