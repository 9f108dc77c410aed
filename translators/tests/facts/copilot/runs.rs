//! Runs and their ends, records, sessions, prompts and errors.

use super::case::*;
use framegate_translators::frame::{Body, EndReason, ErrorScope, StreamKind};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_run_ends_as_the_script_says() {
    each(|case| {
        let ends = case.ends();
        let reason = match text(&case.facts["terminal"]) {
            "completed" => EndReason::Completed,
            "error" => EndReason::Failed,
            "interrupted" => EndReason::Interrupted,
            other => panic!("unknown end {other}"),
        };
        let (_, end) = ends.last().unwrap();
        same("reason", &end.reason, &reason)?;
        same("error code", &end.error_code.is_some(), &(reason != EndReason::Completed))?;
        if !case.is_session_file() {
            same("runs", &ends.len(), &1)?;
            let results = case.records.iter().filter(|record| record["type"] == "result");
            same("results", &(results.count() as u64), &case.facts["has_result"].as_u64().unwrap())?;
        }
        Ok(())
    });
}

#[test]
fn an_aborted_run_is_interrupted_although_the_process_reports_success() {
    for (name, code) in [
        ("sigint-tool.jsonl", "interrupted"),
        ("sigint-tool.session.jsonl", "interrupted"),
        ("sigkill-text.jsonl", "stream_ended"),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        assert_eq!(case.ends().last().unwrap().1.error_code.as_deref(), Some(code), "{name}");
    }
}

#[test]
fn every_record_is_kept() {
    each(|case| {
        let kept = case.frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        same("records", &kept, &case.count)
    });
}

#[test]
fn only_session_files_name_the_session_from_the_beginning() {
    each(|case| {
        let runs = case.frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let ours: BTreeSet<&str> = runs.map(|frame| &*frame.stream.session.name).collect();
        let last = case.records.iter().rfind(|record| record["type"] == "result");
        if let Some(result) = last {
            same("id in the result", &result["sessionId"], &case.facts["session_id"])?;
        }
        match case.records[0]["data"]["sessionId"].as_str() {
            Some(id) => same("sessions", &ours, &BTreeSet::from([id])),
            None => same(
                "named by the stream",
                &case.facts["session_id"].as_str().is_some_and(|id| ours.contains(id)),
                &false,
            ),
        }
    });
}

#[test]
fn no_record_is_unknown() {
    each(|case| {
        let errors = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => record.errors.first(),
            _ => None,
        });
        // A record that a signal cut off is none.
        same("errors", &errors.filter(|_| !case.name.starts_with("sigkill")).collect::<Vec<_>>(), &Vec::new())
    });
}

#[test]
fn a_run_has_its_prompt() {
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
        same("prompt", &inputs, &vec![text(&case.facts["prompt"])])?;
        same("messages", &said, &inputs)
    });
}

#[test]
fn an_attached_picture_is_a_reference() {
    let case = cases().into_iter().find(|case| case.name == "prompt-image.jsonl").unwrap();
    let message = case.frames.iter().find_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message),
        _ => None,
    });
    let [file] = &message.unwrap().attachments[..] else { panic!("one attachment") };
    assert_eq!((&*file.kind, file.mime.as_deref(), file.bytes), ("image", Some("image/png"), Some(70)));
}

#[test]
fn errors_of_the_run_are_reported_and_end_it() {
    each(|case| {
        let errors: Vec<(&str, Option<u64>)> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) if error.scope == ErrorScope::Run => {
                    Some((error.message.as_str(), error.http_status.map(u64::from)))
                }
                _ => None,
            })
            .collect();
        if case.facts["errors"].is_null() {
            return Ok(());
        }
        let theirs: Vec<_> = list(&case.facts["errors"])
            .iter()
            .map(|error| (text(&error["message"]), error["statusCode"].as_u64()))
            .collect();
        same("errors", &errors, &theirs)?;
        let message = case.ends().last().unwrap().1.message.as_deref();
        theirs.last().map_or(Ok(()), |(last, _)| same("message of the end", &message, &Some(*last)))
    });
}

#[test]
fn failed_requests_are_reported_with_their_status() {
    each(|case| {
        if case.is_session_file() {
            return Ok(());
        }
        let ours: Vec<Option<u64>> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) if error.scope == ErrorScope::Provider => {
                    Some(error.http_status.map(u64::from))
                }
                _ => None,
            })
            .collect();
        let theirs: Vec<Option<u64>> = list(&case.facts["failed_requests"]).iter().map(Value::as_u64).collect();
        same("statuses", &ours, &theirs)
    });
}

#[test]
fn changes_of_code_are_reported_as_in_the_result() {
    each(|case| {
        let result = case.records.iter().rfind(|record| record["type"] == "result");
        let Some(result) = result else { return Ok(()) };
        same("exit code", &result["exitCode"], &case.facts["exit_code_reported"])?;
        same("changes", &result["usage"]["codeChanges"], &case.facts["code_changes"])
    });
}
