//! Tokens: their scopes and restrictions.

use crate::client::{Answer, Upload, get, post};
use crate::proxy::{Folder, Proxy, recording, refusal};
use serde_json::Value;

const INGEST: &str = "/v1/ingest/claude-code";
/// A recording that names its own session.
const RECORDING: &str = "text_plain.partial.ndjson";

/// A secret of valid length for the token `name`.
pub fn secret(name: &str) -> String {
    format!("{name}-0123456789abcdef")
}

pub fn bearer(name: &str) -> String {
    format!("Bearer {}", secret(name))
}

/// The table of a token whose secret is in a file next to it.
pub fn token(folder: &Folder, name: &str, more: &str) -> String {
    folder.write(name, &format!("{}\n", secret(name)));
    format!("[[token]]\nname = {name:?}\nfile = {name:?}\n{more}\n")
}

fn proxy(folder: &Folder, tokens: &str) -> Proxy {
    Proxy::with(&[
        ("FRAMEGATE__AUTH__TOKENS_FILE", &folder.write("tokens.toml", tokens)),
        // Small enough to turn the output of a recording into an artifact.
        ("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "1024"),
        ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "64"),
    ])
}

fn get_as(proxy: &Proxy, name: &str, path: &str) -> Answer {
    get(proxy.address, path, &[("authorization", &bearer(name))])
}

/// Ingests a recording; returns its run and its session.
fn ingested(proxy: &Proxy, name: &str, recorded: &str) -> (String, String) {
    let bytes = recording("claude-code", recorded);
    let made = post(proxy.address, INGEST, &[("authorization", &bearer(name))], &bytes).json();
    let text = |key: &str| made["runs"][0][key].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned();
    (text("run_id"), text("session_id"))
}

#[test]
fn every_path_requires_its_scope_and_names_it() {
    let folder = Folder::new();
    let scopes = ["ingest", "read", "control", "admin"];
    let tokens: String =
        scopes.iter().map(|scope| token(&folder, scope, &format!("scopes = [{scope:?}]"))).collect::<Vec<_>>().concat();
    let proxy = proxy(&folder, &tokens);
    let run = "01890000-0000-7000-8000-000000000000";
    for (path, method, wanted) in [
        ("/v1/ingest/unknown", "POST", "ingest"),
        ("/v1/runs", "GET", "read"),
        (&format!("/v1/runs/{run}"), "GET", "read"),
        (&format!("/v1/runs/{run}/events"), "GET", "read"),
        (&format!("/api/v1/sessions/{run}/runs/{run}/stream"), "GET", "read"),
        (&format!("/api/v1/runs/{run}"), "GET", "read"),
        (&format!("/v1/sessions/{run}/events"), "GET", "read"),
        ("/v1/events?limit=1", "GET", "read"),
        ("/v1/artifacts/sha256:00", "GET", "read"),
        (&format!("/hecate/v1/tasks/{run}/runs/{run}/events"), "GET", "read"),
        ("/hecate/v1/events/stream", "GET", "read"),
        ("/hecate/v1/artifacts/art_x", "GET", "read"),
        ("/v1/contracts", "GET", "read"),
        ("/schemas/frames.v2.json", "GET", "read"),
    ] {
        let ask = |headers: &[(&str, &str)]| match method {
            "POST" => post(proxy.address, path, headers, b""),
            _ => get(proxy.address, path, headers),
        };
        let none = ask(&[]);
        assert_eq!((none.status, none.header("www-authenticate")), (401, "Bearer realm=\"framegate\""), "{path}");
        for scope in scopes {
            let answer = ask(&[("authorization", &bearer(scope))]);
            if scope == wanted {
                assert!(![401, 403].contains(&answer.status), "{path} with {scope}: {}", answer.status);
                continue;
            }
            assert_eq!(answer.status, 403, "{path} with {scope}");
            let challenge = format!("Bearer realm=\"framegate\", error=\"insufficient_scope\", scope=\"{wanted}\"");
            assert_eq!(answer.header("www-authenticate"), challenge);
            // Native paths have an error form of their own.
            let json = answer.json();
            let detail = json["detail"].as_str().or(json["error"]["message"].as_str()).unwrap();
            assert!(detail.contains(&format!("the token {scope:?} does not have the scope {wanted:?}")), "{detail}");
        }
    }
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200, "probes need no token");
}

#[test]
fn a_token_counts_only_in_a_single_authorization_header() {
    let folder = Folder::new();
    let proxy = proxy(&folder, &token(&folder, "ui", "scopes = [\"read\"]"));
    let good = bearer("ui");
    assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", &good)]).status, 200);
    for headers in [
        &[("authorization", "Bearer wrong-0123456789abcdef")][..],
        &[("authorization", &format!("Basic {}", secret("ui")))],
        &[("authorization", &secret("ui"))],
        &[("authorization", &good[..good.len() - 1])],
        &[("authorization", &good), ("authorization", &good)],
        &[("cookie", &format!("access_token={}", secret("ui")))],
    ] {
        let answer = get(proxy.address, "/v1/runs", headers);
        assert_eq!(answer.status, 401, "{headers:?}");
    }
    let wrong = get(proxy.address, "/v1/runs", &[("authorization", "Bearer wrong")]);
    assert_eq!(wrong.header("www-authenticate"), "Bearer realm=\"framegate\", error=\"invalid_token\"");
    let in_url = get(proxy.address, &format!("/v1/runs?access_token={}", secret("ui")), &[]);
    assert_eq!(in_url.status, 401);
    assert!(!in_url.text().contains(&secret("ui")));
}

#[test]
fn runs_outside_a_tokens_restriction_do_not_exist_for_it() {
    let folder = Folder::new();
    // The sessions of the recordings are the runner's own, so their ids are known in advance.
    let all = proxy(&folder, &token(&folder, "all", "scopes = [\"ingest\", \"read\"]"));
    let (_, session) = ingested(&all, "all", RECORDING);
    let (_, other_session) = ingested(&all, "all", "bash_large.ndjson");
    assert_ne!(session, other_session);
    drop(all);
    let tokens = [
        token(&folder, "all", "scopes = [\"ingest\", \"read\"]"),
        token(&folder, "mine", &format!("scopes = [\"read\"]\nsessions = [{session:?}]")),
        token(&folder, "codex", "scopes = [\"read\"]\nrunners = [\"codex\"]"),
    ];
    let proxy = proxy(&folder, &tokens.concat());
    let (run, _) = ingested(&proxy, "all", RECORDING);
    let (other, _) = ingested(&proxy, "all", "bash_large.ndjson");
    let ids = |name: &str| {
        let runs = get_as(&proxy, name, "/v1/runs").json();
        runs["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("all"), [other.clone(), run.clone()]);
    assert_eq!(ids("mine"), [&*run]);
    assert_eq!(ids("codex"), [""; 0]);
    // An invisible run gets the same answer as a run that never existed.
    let never = "01890000-0000-7000-8000-000000000000";
    for path in [
        "/v1/runs/RUN",
        "/v1/runs/RUN/events",
        "/v1/runs/RUN/events?contract=raw",
        "/api/v1/runs/RUN",
        "/api/v1/sessions/SESSION/runs/RUN/stream",
        "/hecate/v1/tasks/SESSION/runs/RUN/events",
        "/v1/sessions/SESSION/events?limit=5",
    ] {
        let path_of = |run: &str, session: &str| path.replace("RUN", run).replace("SESSION", session);
        assert_eq!(get_as(&proxy, "mine", &path_of(&run, &session)).status, 200, "{path}");
        let hidden = get_as(&proxy, "mine", &path_of(&other, &other_session));
        let unknown = get_as(&proxy, "mine", &path_of(never, never));
        assert_eq!((hidden.status, unknown.status), (404, 404), "{path}");
        let without_ids =
            |answer: Answer| answer.text().replace(&other, "ID").replace(&other_session, "ID").replace(never, "ID");
        assert_eq!(without_ids(hidden), without_ids(unknown), "{path}");
        assert_eq!(get_as(&proxy, "all", &path_of(&other, &other_session)).status, 200, "{path}");
    }
    // Feeds contain the visible runs, and nothing of the others.
    let page = |name: &str, path: &str| {
        let authorization = bearer(name);
        get(proxy.address, path, &[("authorization", &authorization), ("accept", "application/json")]).json()
    };
    let streams = |page: &Value| {
        let mut ids: Vec<String> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| frame["stream_id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let mine = page("mine", "/v1/events?limit=500");
    assert_eq!(streams(&mine), [&*run]);
    assert_eq!(page("mine", &format!("/v1/events?limit=5&session_id={other_session}"))["data"], serde_json::json!([]));
    assert_eq!(streams(&page("all", "/v1/events?limit=500")).len(), 2);
    // The visible artifacts are those of the visible runs.
    let frames = page("all", &format!("/v1/runs/{other}/events?limit=500"));
    let written = frames["data"].as_array().unwrap().iter().find(|frame| frame["type"] == "artifact_written").unwrap();
    let id = written["artifact_id"].as_str().unwrap_or_else(|| panic!("{written:#}"));
    for path in [format!("/v1/artifacts/{id}"), format!("/hecate/v1/artifacts/{id}")] {
        assert_eq!(get_as(&proxy, "all", &path).status, 200, "{path}");
        assert_eq!(get_as(&proxy, "mine", &path).status, 404, "{path}");
    }
}

#[test]
fn a_token_creates_only_runs_within_its_restriction() {
    let folder = Folder::new();
    let tokens = [
        token(&folder, "reader", "scopes = [\"read\"]"),
        token(&folder, "codex", "scopes = [\"ingest\"]\nrunners = [\"codex\"]"),
        token(&folder, "chat", "scopes = [\"ingest\"]\nsessions = [\"another\"]"),
    ];
    let proxy = proxy(&folder, &tokens.concat());
    let bytes = recording("claude-code", RECORDING);
    for (name, path) in [("codex", INGEST), ("codex", "/v1/ingest/auto"), ("chat", INGEST)] {
        let answer = post(proxy.address, path, &[("authorization", &bearer(name))], &bytes);
        assert_eq!(answer.status, 403, "{name} {path}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("restricted to other sessions or runners"), "{detail}");
    }
    assert_eq!(get_as(&proxy, "reader", "/v1/runs").json()["data"], serde_json::json!([]), "nothing must be stored");
    // Records outside of runs that name no session are in no other session.
    let lines = String::from_utf8(recording("claude-code", "control_permission.ndjson")).unwrap();
    let session = lines.lines().find_map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["session_id"].as_str().map(str::to_owned)
    });
    assert!(lines.lines().next().unwrap().contains("control_response"));
    let own = token(&folder, "own", &format!("scopes = [\"ingest\", \"read\"]\nsessions = [{:?}]", session.unwrap()));
    folder.write("tokens.toml", &[&tokens.concat(), own.as_str()].concat());
    proxy.signal("HUP");
    let sent = || post(proxy.address, INGEST, &[("authorization", &bearer("own"))], lines.as_bytes());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut answer = sent();
    while answer.status == 401 && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(50));
        answer = sent();
    }
    assert_eq!(answer.status, 201);
    assert_eq!(get_as(&proxy, "own", "/v1/runs").json()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_live_stream_breaks_off_when_its_token_is_revoked() {
    let folder = Folder::new();
    let tokens = [token(&folder, "in", "scopes = [\"ingest\"]"), token(&folder, "out", "scopes = [\"read\"]")];
    let file = folder.write("tokens.toml", &tokens.concat());
    let log = folder.path("log");
    let proxy = Proxy::logging_to(&log, &[("FRAMEGATE__AUTH__TOKENS_FILE", &file)]);
    let bytes = recording("claude-code", RECORDING);
    let mut upload = Upload::start(proxy.address, INGEST, &[("authorization", &bearer("in"))]);
    upload.send(&bytes[..bytes.len() / 2]);
    let mut stream = get_as(&proxy, "out", "/v1/events");
    assert!(stream.event().is_some());
    folder.write("tokens.toml", &tokens[0]);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    // The response is cut off and does not end in order: more events follow, but not for this reader.
    assert!(!stream.rest().1);
    assert_eq!(get_as(&proxy, "out", "/v1/runs").status, 401);
    // The ingest of the other token continues.
    upload.send(&bytes[bytes.len() / 2..]);
    assert_eq!(upload.finish().status, 201);
}

#[test]
fn unusable_tokens_prevent_the_start() {
    let folder = Folder::new();
    let file = folder.write("tokens.toml", "[[token]]\nname = \"ui\"\nenv = \"NOT_THERE\"\nscopes = [\"read\"]\n");
    let said = refusal(&[("FRAMEGATE__AUTH__TOKENS_FILE", &file)]);
    assert!(said.contains("auth.tokens_file") && said.contains("token \"ui\"") && said.contains("NOT_THERE"), "{said}");
    let said = refusal(&[("FRAMEGATE__SERVER__TOKEN_FILE", &folder.write("empty", "\n"))]);
    assert!(said.contains("server.token_file") && said.contains("is empty"), "{said}");
}
