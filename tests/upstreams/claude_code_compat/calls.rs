//! Single calls, as of `claude -p`.

use super::{Place, ran};
use crate::started::{framegate, table};
use serde_json::{Value, json};

#[test]
fn a_call_prints_the_answer_in_the_form_that_it_asks_for() {
    let place = Place::alone();
    let text = place.run(&["-p", "hello"]);
    assert_eq!((text.code, text.out.as_str()), (Some(0), "Answer 1.\n"), "{}", text.err);
    assert_eq!(text.err, "");
    let result = place.run(&["hello", "--print", "--output-format=json"]).json();
    assert_eq!(
        (&result["type"], &result["result"], &result["is_error"]),
        (&json!("result"), &json!("Answer 1."), &json!(false))
    );
    let all = place.run(&["-p", "secretly", "--output-format", "json", "--verbose"]).json();
    let kinds: Vec<&str> = all.as_array().unwrap().iter().map(|message| message["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "assistant", "result"]);
    let stream = place.run(&["-p", "secretly", "--output-format", "stream-json", "--include-partial-messages"]);
    let messages: Vec<Value> = stream.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(messages.iter().any(|message| message["event"]["delta"]["text"] == "Answer 1."), "{}", stream.out);
    let cwd = place.folder.path("").canonicalize().unwrap();
    assert_eq!((&messages[0]["subtype"], messages[0]["cwd"].as_str()), (&json!("init"), cwd.to_str()));
    let sessions: Vec<&Value> = messages.iter().map(|message| &message["session_id"]).collect();
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{}", stream.out);
    // The prompt may be piped, alone or with that of the command line before it.
    assert_eq!(place.run_with(&["-p"], "hello").out, "Answer 1.\n");
    assert_eq!(place.run_with(&["-p", "first words"], "last words\n").code, Some(0));
    let prompts = place.folder.read("prompts");
    assert!(prompts.contains(r"first words\nlast words"), "{prompts}");
    let version = place.run(&["--version"]);
    assert_eq!((version.code, version.out.as_str()), (Some(0), "2.1.330 (Claude Code)\n"));
}

#[test]
fn a_failed_run_is_exit_code_1() {
    let place = Place::alone();
    let text = place.run(&["-p", "badly"]);
    assert_eq!(text.code, Some(1), "{}", text.err);
    assert!(text.out.contains("it broke"), "{}", text.out);
    let result = place.run(&["-p", "badly", "--output-format", "json"]);
    assert_eq!((result.code, &result.json()["is_error"]), (Some(1), &json!(true)));
    // A runner that exits before it begins a run.
    let place = Place::configured(&table("nothing", ""));
    let result = place.run(&["-p", "hello", "--output-format", "json"]);
    let failure = result.json();
    assert_eq!((result.code, &failure["subtype"]), (Some(1), &json!("error_during_execution")), "{failure:#}");
    assert!(failure["errors"][0].as_str().unwrap().contains("exited with status 4"), "{failure:#}");
}

#[test]
fn sessions_continue_in_later_processes() {
    let place = Place::alone();
    let first = place.run(&["-p", "hello", "--output-format", "json"]).json();
    let session = first["session_id"].as_str().unwrap();
    let second = place.run(&["-p", "hello", "--output-format", "json", "--resume", session]).json();
    assert_eq!((&second["result"], &second["session_id"]), (&json!("Answer 2."), &first["session_id"]));
    assert_eq!(place.run(&["-c", "-p", "hello"]).out, "Answer 3.\n");
    // An id of the client.
    let own = "018f0000-0000-7000-8000-00000000000a";
    let named = place.run(&["-p", "hello", "--output-format", "json", "--verbose", "--session-id", own]).json();
    assert!(named.as_array().unwrap().iter().all(|message| message["session_id"] == own), "{named:#}");
    let again = place.run(&["-p", "hello", "--output-format", "json", &format!("--resume={own}")]).json();
    assert_eq!((&again["result"], &again["session_id"]), (&json!("Answer 2."), &json!(own)));
    let taken = place.run(&["-p", "hello", "--session-id", own]);
    assert_eq!(taken.code, Some(1));
    assert!(taken.err.contains("already in use"), "{}", taken.err);
    // Another directory has no last session; an unremembered one is not the last.
    let quiet = place.run(&["-p", "hello", "--no-session-persistence"]);
    assert!(quiet.code == Some(0) && quiet.err.contains("the upstream stores its sessions"), "{}", quiet.err);
    assert_eq!(place.run(&["-c", "-p", "hello"]).out, "Answer 3.\n");
    let elsewhere = Place::alone();
    let none = elsewhere.run(&["-c", "-p", "hello"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert!(none.err.contains("No conversation found to continue"), "{}", none.err);
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_starts() {
    let place = Place::alone();
    for (arguments, expected) in [
        (&["-p", "hello", "--disallowedTools", "Bash"][..], "--disallowedTools is not supported"),
        (&["-p", "hello", "--permission-mode", "plan"], "plan is not supported"),
        (&["-p", "hello", "--modle", "x"], "Did you mean --model?"),
        (&["-p", "hello", "--system-prompt-file", "/no/such/file"], "/no/such/file"),
        (&["-p"], "Input must be provided"),
        (&["-p", "", "--output-format", "xml"], "Allowed choices are text, json, stream-json"),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
    assert!(!place.folder.path("prompts").exists());
    let unknown = ran(place.command("fame", &["-p", "hello"]), "");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.err.contains("did you mean \"fake\"?"), "{}", unknown.err);
    let none = ran(place.command("", &["-p", "hello"]), "");
    assert!(none.code == Some(1) && none.err.contains("FRAMEGATE_UPSTREAM"), "{}", none.err);
    let mut command = place.command("", &["hello", "-p"]);
    command.env("FRAMEGATE_UPSTREAM", "fake");
    assert_eq!(ran(command, "").out, "Answer 1.\n");
    // Where nothing is lost, standard error says what has no effect.
    let ignored =
        place.run(&["-p", "hello", "--effort", "high", "--permission-mode", "acceptEdits", "--setting-sources="]);
    assert_eq!((ignored.code, ignored.err.lines().count()), (Some(0), 2), "{}", ignored.err);
}

#[test]
fn flags_decide_questions_without_a_user() {
    for (arguments, is_allowed) in [
        (&["-p", "carefully"][..], false),
        (&["-p", "carefully", "--permission-mode", "dontAsk"], false),
        (&["-p", "carefully", "--allowedTools", "Read,Write"], false),
        (&["-p", "carefully", "--allowedTools", "Bash(git *)"], false),
        (&["-p", "carefully", "--allowedTools", "Bash", "Read"], true),
        (&["-p", "carefully", "--dangerously-skip-permissions"], true),
        (&["-p", "carefully", "--permission-mode", "bypassPermissions"], true),
    ] {
        let place = Place::alone();
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Answer 1.\n"), "{arguments:?}: {}", ran.err);
        let answers = place.folder.read("answers");
        assert_eq!(answers.contains("\"allow\""), is_allowed, "{arguments:?}: {answers}");
        assert_eq!(answers.lines().count(), 1);
    }
    let place = Place::alone();
    let result = place.run(&["-p", "carefully", "--output-format", "json"]).json();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[test]
fn instructions_and_the_model_reach_the_runner() {
    let place = Place::alone();
    place.folder.write("more", "And kind.");
    let flags = ["--system-prompt", "Be brief.", "--append-system-prompt-file", "more", "--model", "large"];
    let all = place.run(&[&["-p", "hello", "--output-format", "json", "--verbose"], &flags[..]].concat()).json();
    assert_eq!(all[0]["model"], "large");
    let again = all[0]["session_id"].as_str().unwrap();
    place.run(&[&["-p", "more", "--resume", again], &flags[..]].concat());
    let prompts = place.folder.read("prompts");
    let lines: Vec<&str> = prompts.lines().collect();
    assert!(lines[0].contains(r"Be brief.\n\nAnd kind.\n\nhello") && !lines[1].contains("brief"), "{prompts}");
}

#[test]
fn a_run_with_too_many_turns_ends() {
    let place = Place::alone();
    let one = place.run(&["-p", "hello", "--max-turns", "1", "--output-format", "json"]).json();
    assert_eq!((&one["subtype"], &one["result"]), (&json!("success"), &json!("Answer 1.")));
    let ran =
        place.run(&["-p", "carefully twice", "--max-turns", "1", "--output-format", "json", "--allowedTools", "Bash"]);
    let result = ran.json();
    assert_eq!((ran.code, &result["subtype"]), (Some(1), &json!("error_max_turns")), "{result:#}");
    assert_eq!(result["errors"], json!(["Reached maximum number of turns (1)"]));
}

/// The directory may be that of another's project: its files start nothing.
#[test]
fn the_configuration_is_the_users_and_not_that_of_the_directory() {
    let place = Place::alone();
    let own = place.folder.read("config.toml");
    let call = |config: &str| {
        let mut command = framegate();
        command.args(["claude-compat", "fake", "-p", "hello"]).current_dir(place.folder.path(""));
        command.env("XDG_STATE_HOME", place.folder.path("state")).env("XDG_CONFIG_HOME", place.folder.path(config));
        ran(command, "")
    };
    let ignored = call("none");
    assert_eq!((ignored.code, ignored.out.as_str()), (Some(1), ""), "{}", ignored.err);
    assert!(ignored.err.contains("unknown upstream or preset \"fake\""), "{}", ignored.err);
    assert!(!place.folder.path("prompts").exists());
    std::fs::create_dir_all(place.folder.path("own/framegate")).unwrap();
    place.folder.write("own/framegate/config.toml", &own);
    assert_eq!(call("own").out, "Answer 1.\n");
}
