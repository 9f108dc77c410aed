//! Runs and their ends, records, sessions and retries.

use super::case::*;
use framegate_translators::frame::{Body, EndReason, StreamKind};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_result_ends_a_run() {
    each(|case| {
        let ends = case.ends();
        let reason = match text(&case.facts["terminal"]) {
            "completed" => EndReason::Completed,
            "error" => EndReason::Failed,
            "interrupted" => EndReason::Interrupted,
            other => panic!("unknown end {other}"),
        };
        same("reason", &ends.last().unwrap().1.reason, &reason)?;
        same("error code", &ends.last().unwrap().1.error_code.is_some(), &(reason != EndReason::Completed))?;
        if case.is_session_file() {
            return Ok(());
        }
        let results = list(&case.facts["results"]);
        same("results", &(results.len() as u64), &case.facts["n_results"].as_u64().unwrap())?;
        same("runs", &ends.len(), &results.len().max(1))?;
        for ((_, end), result) in ends.iter().zip(results) {
            same("error", &(end.reason != EndReason::Completed), &result["is_error"].as_bool().unwrap())?;
        }
        if results.is_empty() {
            same("code", &ends[0].1.error_code.as_deref(), &Some("stream_ended"))?;
        }
        Ok(())
    });
}

#[test]
fn every_record_is_kept_and_every_session_has_a_name() {
    each(|case| {
        let kept = case.frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        same("records", &kept, &case.count)?;
        let runs = case.frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let ours: BTreeSet<&str> = runs.map(|frame| &*frame.stream.session.name).collect();
        let theirs = case.facts["session_id"].as_str().or_else(|| case.records[0]["sessionId"].as_str());
        same("sessions", &ours, &theirs.into_iter().collect())
    });
}

#[test]
fn no_record_is_unknown() {
    each(|case| {
        let errors = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => record.errors.first(),
            _ => None,
        });
        // The list of all records is marked as one, and a record that a signal cut off is none.
        let is_marked = case.name.ends_with(".json") || case.name.starts_with("sigkill");
        same("errors", &errors.filter(|_| !is_marked).collect::<Vec<_>>(), &Vec::new())
    });
}

#[test]
fn only_session_files_have_the_prompt() {
    each(|case| {
        let own = case.own_frames();
        let inputs: Vec<&str> = own
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::SessionStarted { input } => Some(input.as_str()),
                _ => None,
            })
            .collect();
        let said: Vec<&str> = own
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::UserMessage(message) => Some(message.text.as_str()),
                _ => None,
            })
            .collect();
        if !case.is_session_file() {
            return same("prompts", &(inputs.iter().all(|input| input.is_empty()), said), &(true, vec![]));
        }
        same("messages", &said, &inputs)?;
        match &case.facts["prompt"] {
            Value::String(prompt) => same("prompt", &inputs.last().copied(), &Some(prompt.as_str())),
            Value::Array(prompts) => same("prompts", &inputs, &prompts.iter().map(text).collect()),
            _ => Ok(()),
        }
    });
}

#[test]
fn retries_are_reported() {
    each(|case| {
        let ours: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) if &*error.code == "retry" => Some((error.attempt, error.max_attempts)),
                _ => None,
            })
            .collect();
        let retries = case.records.iter().filter(|record| record["subtype"] == "retry");
        let small = |value: &Value| value.as_u64().map(|number| u32::try_from(number).unwrap());
        let theirs = retries.map(|retry| (small(&retry["data"]["attempt"]), small(&retry["data"]["maxRetries"])));
        same("retries", &ours, &theirs.collect())
    });
}

#[test]
fn failed_requests_have_their_status() {
    each(|case| {
        let statuses: BTreeSet<u64> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => error.http_status.map(u64::from),
                _ => None,
            })
            .collect();
        let failed = list(&case.facts["failed_requests"]).iter().filter_map(Value::as_u64);
        let is_told = case.facts["terminal"] == "error";
        same("statuses", &statuses, &failed.filter(|_| is_told).chain(told_by_file(&case.name)).collect())
    });
}

/// A session file has the failed request, of which its facts say nothing.
fn told_by_file(name: &str) -> Option<u64> {
    (name == "api-400.session.jsonl").then_some(400)
}
