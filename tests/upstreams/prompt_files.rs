//! Images and files that belong to prompts, over every path that takes prompts.

use crate::acp_agent::Client;
use crate::chat_completions::agent;
use crate::client::{Answer, post};
use crate::started::Started;
use serde_json::{Value, json};

const IMAGE: &str = "data:image/png;base64,aW1hZ2U=";

fn send(started: &Started, path: &str, body: &Value) -> Answer {
    post(started.proxy.address, path, &[], body.to_string().as_bytes())
}

/// The bodies with a prompt and an image, or with another URL, in the words of each protocol.
fn bodies(url: &str) -> Vec<(&'static str, Value)> {
    let text = "Look at it.";
    let (data, media_type) = (url.rsplit(',').next().unwrap(), url.get(5..).unwrap().split(';').next().unwrap());
    vec![
        ("/v1/runs", json!({"upstream": "fake", "prompt": text, "files": [{"url": url}]})),
        (
            "/v1/chat/completions",
            json!({"model": "fake", "messages": [{"role": "user", "content": [
                {"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "fake", "input": [{"role": "user", "content": [
                {"type": "input_text", "text": text}, {"type": "input_image", "image_url": url}]}]}),
        ),
        (
            "/ai-sdk/fake",
            json!({"id": "chat", "trigger": "submit-message", "messages": [{"id": "u", "role": "user", "parts": [
                {"type": "text", "text": text}, {"type": "file", "mediaType": media_type, "url": url}]}]}),
        ),
        (
            "/ag-ui/fake",
            json!({"threadId": "t", "runId": "r", "tools": [], "context": [], "state": {}, "messages": [
                {"id": "u", "role": "user", "content": [{"type": "text", "text": text},
                    {"type": "image", "source": {"type": "data", "value": data, "mimeType": media_type}}]}]}),
        ),
    ]
}

/// The last prompt that the fake got.
fn last_prompt(started: &Started) -> Value {
    let prompts = started.folder.read("prompts");
    let line = prompts.lines().last().unwrap();
    serde_json::from_str(line.split_once(' ').unwrap().1).unwrap()
}

#[test]
fn an_image_reaches_the_runner_over_every_path() {
    let started = agent(&[]);
    let content = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aW1hZ2U="}},
        {"type": "text", "text": "Look at it."},
    ]);
    for (path, body) in bodies(IMAGE) {
        let answer = send(&started, path, &body);
        assert!([200, 201].contains(&answer.status), "{path}: {}", answer.status);
        answer.text();
        assert_eq!(last_prompt(&started)["message"]["content"], content, "{path}");
    }
    // The log has what was attached, but not the content.
    let run =
        started.run_of(&json!({"upstream": "fake", "prompt": "And this?", "files": [{"url": IMAGE, "name": "a.png"}]}));
    started.wait_for_end(&run);
    let frames = started.events(&run, "frames.v2");
    let message = frames.iter().find(|frame| frame["type"] == "user_message").unwrap();
    let attachment = json!({"kind": "image", "mime": "image/png", "artifact_id": null, "name": "a.png", "bytes": 5});
    assert_eq!((&message["text"], &message["attachments"][0]), (&json!("And this?"), &attachment));
    // In an editor.
    let mut client = Client::of_upstream("fake", &started, &[]);
    let session = client.session_in(&started.folder.path(""));
    let prompt = json!([{"type": "text", "text": "Look at it."}, {"type": "image", "mimeType": "image/png", "data": "aW1hZ2U="}]);
    let answer = client.ask("session/prompt", json!({"sessionId": session, "prompt": prompt}));
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(last_prompt(&started)["message"]["content"], content);
    client.leave();
}

#[test]
fn a_file_that_the_runner_does_not_take_starts_nothing() {
    let started = agent(&[]);
    for (path, body) in bodies("data:image/tiff;base64,aW1hZ2U=") {
        let answer = send(&started, path, &body);
        assert_eq!(answer.status, 422, "{path}");
        let text = answer.text();
        assert!(text.contains("takes no files of the type image/tiff"), "{path}: {text}");
    }
    for (files, expected) in [
        (json!([{"url": "file:///etc/passwd", "media_type": "image/png"}]), "files[0] must be an http"),
        (json!([{"media_type": "image/png", "data": "?"}]), "files[0] is not valid base64"),
        (json!(vec![json!({"url": IMAGE}); 101]), "100 files"),
        (json!([{"file": "a"}]), "unknown field"),
    ] {
        let answer = started.start(&json!({"upstream": "fake", "prompt": "x", "files": files}));
        assert_eq!(answer.status, 400);
        let text = answer.text();
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(started.folder.read("prompts"), "");
    // A program without a dialogue.
    let started = Started::fake("echo", "");
    let answer = started.start(&json!({"upstream": "fake", "prompt": "x", "files": [{"url": IMAGE}]}));
    assert_eq!(answer.status, 422);
    assert!(answer.text().contains("takes no files"));
}

#[test]
fn another_image_is_another_request() {
    let started = agent(&[]);
    let run = |url: &str| {
        let (path, body) = bodies(url).remove(1);
        let answer = send(&started, path, &body);
        assert_eq!(answer.status, 200);
        answer.header("framegate-run").to_owned()
    };
    let first = run(IMAGE);
    assert_ne!(run("data:image/png;base64,b3RoZXI="), first);
}
