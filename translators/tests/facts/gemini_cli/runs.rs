//! Sessions, models, errors, and how runs end.

use super::case::*;
use framegate_translators::frame::{Body, EndReason};

/// Recordings whose result says `success`, although the run was stopped. Each of them is completed, with a code.
const STOPPED: &[(&str, &str)] = &[
    ("loop-text.jsonl", "loop_detected"),
    ("json-loop.json", "loop_detected"),
    ("hook-block-prompt.jsonl", "stopped_by_hook"),
    ("hook-stop-agent.jsonl", "no_answer"),
];

/// The chat file of an interrupted run that ends with a whole reply: the call that was interrupted is not in it.
const LOOKS_WHOLE: &str = "sigint-tool.session.jsonl";

#[test]
fn every_run_ends_as_it_did() {
    each(|case| {
        let ends = case.ends();
        if case.count == 0 {
            return same("ends", &ends.len(), &0);
        }
        let Some((_, end)) = ends.last() else { return Err("no end".to_owned()) };
        let theirs = match text(&case.facts["terminal"]) {
            "completed" => EndReason::Completed,
            _ if case.name == LOOKS_WHOLE => EndReason::Completed,
            // A chat file has no record for an error.
            "error" if !case.is_chat_file() => EndReason::Failed,
            _ => EndReason::Interrupted,
        };
        same("reason", &end.reason, &theirs)?;
        if let Some((_, code)) = STOPPED.iter().find(|(name, _)| *name == case.name) {
            return same("code", &end.error_code.as_deref(), &Some(*code));
        }
        same("code", &end.error_code.is_none(), &(theirs == EndReason::Completed))?;
        if theirs == EndReason::Completed && !case.is_chat_file() {
            let ours = end.final_text.as_deref().unwrap_or_default();
            // The manifest has no final text of a reply without usage.
            let last = list(&case.facts["texts"]).last().unwrap_or(&case.facts["final_text"]);
            let fact = if case.facts["final_text"].is_null() { last } else { &case.facts["final_text"] };
            same(&format!("final text {ours:?}"), &is_text(ours, fact), &true)?;
        }
        Ok(())
    });
}

#[test]
fn errors_are_reported_with_their_messages() {
    each(|case| {
        let frames = case.own_frames();
        let reported: Vec<&str> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some(error.message.as_str()),
                _ => None,
            })
            .collect();
        let mut theirs: Vec<&str> = list(&case.facts["errors"]).iter().map(|error| text(&error["message"])).collect();
        theirs.extend(list(&case.facts["warnings"]).iter().map(text));
        theirs.extend(case.facts["error"]["message"].as_str());
        same("errors", &reported, &theirs)?;
        let part = case.facts["error_contains"].as_str().filter(|_| !case.is_chat_file()).unwrap_or_default();
        let message = case.ends().last().and_then(|(_, end)| end.message.clone()).unwrap_or_default();
        same(&format!("{part:?} in {message:?}"), &message.contains(part), &true)
    });
}

#[test]
fn sessions_and_models_are_those_of_the_runner() {
    each(|case| {
        for frame in case.own_frames() {
            same("session", &&*frame.stream.session.name, &text(&case.facts["session_id"]))?;
            if let (Body::TurnStarted { model, .. }, Some(fact)) = (&frame.body, case.facts["model"].as_str()) {
                same("model", &model.as_deref(), &Some(fact))?;
            }
        }
        Ok(())
    });
}

#[test]
fn every_record_is_kept_and_known() {
    for case in cases() {
        let records: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ProviderEvent(record) => Some(record),
                _ => None,
            })
            .collect();
        assert_eq!(records.len(), case.count, "{}", case.name);
        assert!(records.iter().all(|record| record.errors.is_empty()), "{}", case.name);
    }
}

#[test]
fn a_status_is_reported_if_the_message_has_the_servers_answer() {
    each(|case| {
        let statuses: Vec<Option<u16>> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some(error.http_status),
                _ => None,
            })
            .collect();
        let last = list(&case.facts["http_errors"]).last().and_then(serde_json::Value::as_u64);
        let Some(message) = case.facts["error"]["message"].as_str().filter(|_| last.is_some()) else {
            // An error that the runner asked again after is on no record.
            return same("none", &statuses.iter().any(Option::is_some), &false);
        };
        let given = last.filter(|status| message.contains(&format!("\"code\":{status}")));
        same("status", &statuses, &vec![given.and_then(|status| u16::try_from(status).ok())])
    });
}

#[test]
fn http_errors_have_the_servers_status() {
    let status = |name: &str| {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let error = case.frames.iter().find_map(|frame| match &frame.body {
            Body::ErrorReported(error) => Some((error.code.to_string(), error.http_status)),
            _ => None,
        });
        error.unwrap()
    };
    assert_eq!(status("api-400.jsonl"), ("invalid_request".to_owned(), Some(400)));
    assert_eq!(status("api-401.jsonl"), ("authentication_failed".to_owned(), Some(401)));
    assert_eq!(status("api-403.jsonl"), ("authentication_failed".to_owned(), Some(403)));
    assert_eq!(status("api-429-exhausted.jsonl"), ("rate_limit".to_owned(), None));
    assert_eq!(status("stream-reset.jsonl"), ("api_error".to_owned(), None));
    assert_eq!(status("safety.jsonl"), ("content_filter".to_owned(), None));
    assert_eq!(status("empty-answer.jsonl"), ("invalid_stream".to_owned(), None));
}
