//! `framegate export --html`: one file with the page and the runs.

use crate::client::post;
use crate::program::{Ran, Scratch, bytes, path, run};
use crate::proxy::{Proxy, recording};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The text between two marks.
fn between<'t>(text: &'t str, open: &str, close: &str) -> &'t str {
    let (_, rest) = text.split_once(open).unwrap_or_else(|| panic!("no {open}"));
    rest.split_once(close).unwrap_or_else(|| panic!("no {close}")).0
}

/// The data of an exported file.
fn data(html: &str) -> Value {
    let text = between(html, "<script type=\"application/json\" id=\"framegate-export\">", "</script>");
    assert!(!text.contains('<'));
    serde_json::from_str(text).unwrap()
}

fn exported(args: &[&str]) -> (Ran, Value) {
    let ran = run(&[&["export", "--html", "-"], args].concat(), "");
    let data = data(&ran.out);
    (ran, data)
}

#[test]
fn a_file_has_the_runs_of_recordings_of_every_runner() {
    let scratch = Scratch::new("export-all");
    for runner in RUNNERS {
        let file = scratch.file(runner.name, runner.sample.bytes);
        // Frames keep the runner of their run, which the name of the recording contains.
        let of_frames = runner.sample.file.split('.').next().unwrap();
        let of_runs = if runner.is_of_frames { of_frames } else { runner.name };
        let (ran, data) = exported(&[&file, "--contract", "sse.v1"]);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{}", runner.name);
        assert_eq!(data["format"], "framegate.export.v1");
        assert_eq!(data["generator"], format!("framegate {}", env!("CARGO_PKG_VERSION")));
        let translated =
            run(&["translate", "--from", runner.name, "--to", "frames.v2", "--redact", &file], "").exits(0);
        let translated = translated.events();
        let count = |frames: &[Value], kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
        let runs = data["runs"].as_array().unwrap();
        let frames: Vec<Value> = runs.iter().flat_map(|run| run["frames"].as_array().unwrap()).cloned().collect();
        for kind in ["session_started", "session_ended", "provider_event", "tool_started", "output_text_delta"] {
            let in_runs: Vec<Value> =
                translated.iter().filter(|frame| frame["stream_kind"] == "session").cloned().collect();
            assert_eq!(count(&frames, kind), count(&in_runs, kind), "{} {kind}", runner.name);
        }
        for run in runs {
            let frames = run["frames"].as_array().unwrap();
            assert_eq!((&run["left_out_frames"], &run["status"]["runner"]), (&json!(0), &json!(of_runs)));
            assert_eq!(run["status"]["frames"], frames.len());
            let items = run["trace"]["items"].as_array().unwrap();
            assert_eq!((items.len(), &run["trace"]["contract"]), (frames.len(), &json!("sse.v1")));
            for (item, frame) in items.iter().zip(frames) {
                assert_eq!((&item["seq"], item.get("frame")), (&frame["seq"], None));
            }
            assert!(items.iter().any(|item| item["events"][0]["type"] == "run_started"), "{}", runner.name);
        }
    }
}

#[test]
fn the_document_allows_only_its_own_script_and_refers_to_nothing() {
    let (ran, _) = exported(&[&path("bash_ok.partial.ndjson")]);
    let html = ran.out;
    let policy = between(&html, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let script = between(&html, "<script type=\"module\">", "</script>");
    let style = between(&html, "<style>", "</style>");
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    );
    assert_eq!(policy, expected);
    let rest = html.replace(script, "").replace(style, "");
    let data = between(&rest, "id=\"framegate-export\">", "</script>").to_owned();
    let rest = rest.replace(&data, "");
    for wrong in [" src=", "/app.", "url(", "@import", "<base", "<iframe"] {
        assert!(!rest.contains(wrong), "{wrong}: {rest}");
    }
    // Only the icon may be a link, and it is inside.
    for link in rest.split(" href=\"").skip(1) {
        assert!(link.starts_with("data:image/"), "{link}");
    }
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn hostile_text_stays_text() {
    let scratch = Scratch::new("export-hostile");
    let hostile =
        "</script><img src=x onerror=alert(1)><!--<script>alert(2)</script>--></SCRIPT >\u{2028}&lt;</style>]]>";
    let session = "5d3c1a6e-0d0e-4d47-9d0c-222222222222";
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": session, "model": hostile, "tools": [hostile]}),
        json!({"type": "user", "session_id": session, "message": {"role": "user", "content": hostile}}),
        json!({"type": "assistant", "session_id": session, "message": {"id": hostile, "role": "assistant",
            "content": [{"type": "text", "text": hostile}, {"type": "tool_use", "id": "t", "name": hostile, "input": {hostile: hostile}}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": hostile, "session_id": session}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = scratch.file("hostile.ndjson", format!("{text}{hostile}\n"));
    let (ran, data) = exported(&[&file, "--contract", "hecate.v1"]);
    let (plain, _) = exported(&[&path("text_plain.ndjson")]);
    // The same elements as with a harmless recording.
    let lower = |text: &str| text.to_ascii_lowercase();
    for mark in ["<script", "</script", "<!--", "<img", "<style", "</style", "<link", "<body", "</body>"] {
        let count = |html: &str| lower(html).matches(mark).count();
        assert_eq!(count(&ran.out), count(&plain.out), "{mark}");
    }
    let run = &data["runs"][0];
    assert_eq!(run["status"]["title"].as_str().unwrap(), hostile.replace('\u{2028}', " "));
    let frames = run["frames"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame["type"] == "output_text_completed" && frame["text"] == hostile), "{run:#}");
}

#[test]
fn secrets_are_redacted_unless_that_is_unwanted() {
    let scratch = Scratch::new("export-secret");
    let secret = format!("ghp_{}", &"A1b2C3d4E5f6G7h8I9j0".repeat(2)[..36]);
    let text = String::from_utf8(bytes("text_plain.ndjson")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let session = serde_json::from_str::<Value>(first).unwrap()["session_id"].clone();
    let message = json!({"type": "assistant", "session_id": session, "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": format!("the token is {secret} ")}]}});
    let file = scratch.file("secret.ndjson", format!("{first}\n{message}\n{rest}"));
    let off = scratch.file("config.toml", "[redaction]\nenabled = false\n");
    for args in [vec![&*file], vec![&file, "--config", &off]] {
        let (ran, _) = exported(&args);
        assert!(ran.out.contains("[REDACTED:") && !ran.out.contains(&secret), "{args:?}");
    }
    assert!(exported(&[&file, "--no-redact"]).0.out.contains(&secret));
}

#[test]
fn a_file_is_replaced_only_with_force() {
    let scratch = Scratch::new("export-force");
    let out = scratch.file("out.html", "mine");
    let args = ["export", &path("text_plain.ndjson"), "--html", &out];
    run(&args, "").exits(2).says(&["out.html exists; --force replaces it"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    run(&[&args[..], &["--force"]].concat(), "").exits(0);
    assert_eq!(data(&std::fs::read_to_string(&out).unwrap())["runs"].as_array().unwrap().len(), 1);
    let new = scratch.missing();
    run(&["export", &path("text_plain.ndjson"), "--html", &new], "").exits(0);
    assert!(Path::new(&new).exists());
    let nowhere = format!("{}/no/folder.html", scratch.missing());
    run(&["export", &path("text_plain.ndjson"), "--html", &nowhere], "").exits(2).says(&["cannot write"]);
    run(&["export", &path("text_plain.ndjson"), "--md", "/dev/null"], "").exits(0);
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_links_and_pipes_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let scratch = Scratch::new("export-kinds");
    let secret = scratch.file("secret.md", "mine");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let link = scratch.missing();
    symlink(&secret, &link).unwrap();
    let recording = path("text_plain.ndjson");
    run(&["export", &recording, "--md", &link, "--force"], "").exits(0);
    assert!(Path::new(&link).is_symlink());
    assert!(std::fs::read_to_string(&secret).unwrap().contains("# Claude Code"));
    assert_eq!(std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let pipe = format!("{link}.pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    run(&["export", &recording, "--md", &pipe], "").exits(0);
    assert!(reader.join().unwrap().contains("# Claude Code"));
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn the_name_of_a_file_cannot_act_on_the_terminal() {
    let scratch = Scratch::new("export-name");
    let odd = scratch.file("a\nb\u{1b}[2J.md", "mine");
    let ended = run(&["export", &path("text_plain.ndjson"), "--md", &odd], "").exits(2).says(&["a⏎b␛[2J.md exists"]);
    assert!(!ended.err.contains('\u{1b}'));
    let ended = run(&["export", &odd, "--md", "-"], "").exits(2);
    assert!(!ended.err.contains('\u{1b}') && ended.err.contains("a⏎b␛[2J.md"), "{}", ended.err);
}

#[test]
fn what_exceeds_the_limit_is_counted_in_the_file_and_on_stderr() {
    let file = path("bash_ok.partial.ndjson");
    let all = exported(&[&file]).1["runs"][0]["frames"].as_array().unwrap().len();
    let (ran, data) = exported(&[&file, "--max-bytes", "6000", "--contract", "sse.v1"]);
    let run = &data["runs"][0];
    let (kept, left) = (run["frames"].as_array().unwrap().len(), run["left_out_frames"].as_u64().unwrap());
    assert!(kept > 0 && left > 0 && kept as u64 + left == all as u64, "{kept} {left} {all}");
    let items = run["trace"]["items"].as_array().unwrap().len() as u64;
    assert_eq!(items + run["trace"]["left_out_items"].as_u64().unwrap(), kept as u64);
    ran.exits(0).says(&[&format!("the last {left} frames are left out; the limit is 6000 bytes (--max-bytes)")]);
}

#[test]
fn artifacts_are_in_the_file_or_named_as_left_out() {
    let file = path("read_image.ndjson");
    let (ran, data) = exported(&[&file]);
    ran.exits(0);
    let artifacts = data["artifacts"].as_object().unwrap();
    assert!(!artifacts.is_empty());
    assert_eq!(data["left_out_artifacts"], json!([]));
    for (id, artifact) in artifacts {
        let content = STANDARD.decode(artifact["base64"].as_str().unwrap()).unwrap();
        assert_eq!(*id, format!("sha256:{:x}", Sha256::digest(&content)));
        assert!(artifact["mime_type"].as_str().unwrap().contains('/'), "{artifact}");
    }
    let frames = data["runs"][0]["frames"].as_array().unwrap();
    let bytes: usize = frames.iter().map(|frame| frame.to_string().len()).sum();
    let (ran, data) = exported(&[&file, "--max-bytes", &(bytes + 64).to_string()]);
    assert_eq!(data["runs"][0]["left_out_frames"], 0);
    assert_eq!(
        (&data["artifacts"], data["left_out_artifacts"].as_array().unwrap().len()),
        (&json!({}), artifacts.len())
    );
    ran.exits(0).says(&["artifacts are left out"]);
}

#[test]
fn runs_of_a_log_are_written_while_a_proxy_writes_to_it() {
    let scratch = Scratch::new("export-log");
    let db = format!("{}.db", scratch.missing());
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    let mut ids = Vec::new();
    for (runner, name) in [("claude-code", "read_image.ndjson"), ("codex", "exec-text-plain.ndjson")] {
        let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name)).json();
        ids.push(made["runs"][0]["run_id"].as_str().unwrap().to_owned());
    }
    let (ran, data) = exported(&[&ids[0], &ids[1][..35], "--db", &db, "--contract", "hecate.v1"]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    for (run_data, id) in data["runs"].as_array().unwrap().iter().zip(&ids) {
        assert_eq!(run_data["status"]["run_id"], **id);
        assert_eq!(run_data["status"]["state"], "completed");
        let items = run_data["trace"]["items"].as_array().unwrap();
        let traced = items.iter().flat_map(|item| item["events"].as_array().unwrap());
        let traced: Vec<Value> = traced.map(|event| event["event"].clone()).collect();
        let frames = run_data["frames"].as_array().unwrap().clone();
        for (found, contract) in [(frames, "frames.v2"), (traced, "hecate.v1")] {
            let listed = run(&["log", "--db", &db, "export", id, "--to", contract], "").exits(0).events();
            assert_eq!(found, listed, "{contract}");
        }
    }
    assert!(!data["artifacts"].as_object().unwrap().is_empty());
    run(&["export", "ffffffff", "--html", "-", "--db", &db], "").exits(2).says(&["there is no run ffffffff"]);
    run(&["export", "no such thing", "--html", "-", "--db", &db], "").exits(2).says(&["there is no file"]);
    let mixed = ["export", "--html", "-", "--db", &db, "ffffffff", &ids[1]];
    let ran = run(&mixed, "").exits(2);
    assert_eq!(self::data(&ran.out)["runs"].as_array().unwrap().len(), 1, "the other run is written");
}

#[test]
fn an_input_that_is_not_understood_leaves_no_file() {
    let scratch = Scratch::new("export-odd");
    let odd = scratch.file("odd.txt", "hello\n");
    let out = scratch.missing();
    run(&["export", &odd, "--html", &out], "").exits(2).says(&["odd.txt", "no run was found"]);
    assert!(!Path::new(&out).exists());
    run(&["export", "-", "--html", &out], bytes("text_plain.ndjson")).exits(0);
    assert!(Path::new(&out).exists());
    run(&["export", &odd], "").exits(2).says(&["--html"]);
}

#[test]
fn a_document_in_markdown_has_the_conversations() {
    let scratch = Scratch::new("export-md");
    let (html, md) = (scratch.missing(), format!("{}.md", scratch.missing()));
    let file = path("bash_ok.partial.ndjson");
    run(&["export", &file, &path("text_plain.ndjson"), "--html", &html, "--md", &md], "").exits(0);
    let text = std::fs::read_to_string(&md).unwrap();
    assert_eq!(data(&std::fs::read_to_string(&html).unwrap())["runs"].as_array().unwrap().len(), 2);
    let (ran, _) = exported(&[&file]);
    let status = &data(&ran.out)["runs"][0]["status"];
    let answer = status["final_text"].as_str().unwrap();
    assert!(text.contains(answer.lines().next().unwrap()), "{answer}: {text}");
    run(&["export", &file, "--md", &md], "").exits(2).says(&["--force replaces it"]);
    run(&["export", &file, "--md", "-", "--html", "-"], "").exits(2).says(&["only one of --html and --md"]);
    let long = path("long_text_200k.ndjson");
    let short = run(&["export", &long, "--md", "-", "--max-bytes", "2048"], "").exits(0);
    assert!(short.out.contains("frames are left out; the limit is 2048 bytes (--max-bytes)"), "{}", short.out);
    assert!(short.err.contains("frames are left out"), "{}", short.err);
    run(&["export", &file], "").exits(2).says(&["--html", "--md"]);
}
