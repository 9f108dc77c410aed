//! Approvals, interrupts and prompts that reach another proxy than the one that drives the runner.

use crate::client::{get, post};
use crate::proxies::{configured, proxy};
use crate::proxy::{Folder, Proxy};
use crate::reading::{same_run, status, wait_for, wait_until_alike};
use crate::servers::Servers;
use serde_json::{Value, json};
use std::thread;

/// A proxy that drives a fake runner of Claude Code's protocol, which plays the scenario, and two proxies without runners.
fn with_runner(servers: &Servers, folder: &Folder, play: &str) -> [Proxy; 3] {
    let config = config(folder, play);
    [configured(servers, "proxy-0", &config), proxy(servers, "proxy-1", &[]), proxy(servers, "proxy-2", &[])]
}

/// A configuration with the fake runner, which works in the folder.
fn config(folder: &Folder, play: &str) -> String {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/claude.sh");
    let directory = folder.path("");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = {program:?}\n\
         directories = [{directory:?}]\nenvironment = {{ PLAY = {play:?} }}\nlinger_ms = 60000\ninterrupt_grace_ms = 20000\n"
    );
    folder.write("config.toml", &table)
}

fn post_json(proxy: &Proxy, path: &str, body: &Value) -> (u16, Value) {
    let answer = post(proxy.address, path, &[("content-type", "application/json")], body.to_string().as_bytes());
    (answer.status, answer.json())
}

fn start(proxy: &Proxy) -> String {
    let (status, run) = post_json(proxy, "/v1/runs", &json!({"upstream": "fake", "prompt": "go"}));
    assert_eq!(status, 201, "{run:#}");
    run["run_id"].as_str().unwrap().to_owned()
}

/// Waits until every proxy says that a run asks this question.
fn wait_for_question(proxies: &[Proxy], run: &str, id: &str) {
    for proxy in proxies {
        wait_for(&format!("{id} is not asked"), || {
            let status = status(proxy, run);
            status["pending_approvals"].as_array().unwrap().contains(&json!(id)).then_some(())
        });
    }
}

fn answer(proxy: &Proxy, run: &str, id: &str, answer: &Value) -> (u16, Value) {
    post_json(proxy, &format!("/v1/runs/{run}/approvals/{id}"), answer)
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_question_is_answered_once_whichever_proxies_are_asked() {
    let (servers, folder) = (Servers::one(), Folder::new());
    let proxies = with_runner(&servers, &folder, "two");
    let run = start(&proxies[0]);
    wait_for_question(&proxies, &run, "ask-one");
    assert_eq!(answer(&proxies[1], &run, "unknown", &json!({"decision": "approved"})).0, 404);
    let scoped = answer(&proxies[1], &run, "ask-one", &json!({"decision": "approved", "scope": "always"}));
    assert_eq!(scoped.0, 422, "{:#}", scoped.1);
    let answers: Vec<(u16, Value)> = thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|client: usize| {
                let (proxy, run) = (&proxies[client % proxies.len()], &run);
                let decision = json!({"decision": "approved", "reason": format!("client {client}")});
                scope.spawn(move || answer(proxy, run, "ask-one", &decision))
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let (given, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|(status, _)| *status == 200);
    assert_eq!(given.len(), 1, "{answers:#?}");
    assert!(refused.iter().all(|(status, _)| *status == 409), "{answers:#?}");
    wait_for_question(&proxies, &run, "ask-two");
    assert_eq!(answer(&proxies[2], &run, "ask-two", &json!({"decision": "deny", "reason": "not that one"})).0, 200);
    let listed = wait_until_alike(&proxies);
    assert_eq!((listed.len(), &listed[0]["state"]), (1, &json!("completed")));
    let frames = get(proxies[1].address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]).events();
    let frames: Vec<Value> = frames.iter().map(crate::client::Event::json).collect();
    let resolved: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "approval_resolved").collect();
    assert_eq!(resolved.len(), 2, "{resolved:#?}");
    assert_eq!((&resolved[0]["decision"], &resolved[1]["decision"]), (&json!("approved"), &json!("rejected")));
    // The run has ended.
    assert_eq!(answer(&proxies[1], &run, "ask-two", &json!({"decision": "approved"})).0, 409);
    same_run(&proxies, &run);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn interrupts_and_prompts_reach_the_proxy_of_the_runner() {
    let (servers, folder) = (Servers::one(), Folder::new());
    let proxies = with_runner(&servers, &folder, "long");
    let run = start(&proxies[0]);
    wait_for("the run is not known", || {
        (get(proxies[1].address, &format!("/v1/runs/{run}"), &[]).status == 200).then_some(())
    });
    let interrupt = |proxy: &Proxy| post(proxy.address, &format!("/v1/runs/{run}/interrupt"), &[], b"").status;
    assert_eq!(interrupt(&proxies[1]), 202);
    let ended = wait_for("the run does not end", || {
        let status = status(&proxies[2], &run);
        status["ended_at_ms"].is_u64().then_some(status)
    });
    assert_eq!(ended["state"], "interrupted", "{ended:#}");
    assert_eq!(interrupt(&proxies[2]), 409);
    let session = ended["session_id"].as_str().unwrap();
    let prompt = json!({"prompt": "go on"}).to_string();
    let message =
        |proxy: &Proxy| post(proxy.address, &format!("/v1/sessions/{session}/messages"), &[], prompt.as_bytes()).status;
    assert_eq!(message(&proxies[2]), 202);
    let second = wait_for("there is no second run", || {
        let runs = get(proxies[1].address, &format!("/v1/runs?session_id={session}"), &[]).json();
        let runs = runs["data"].as_array().unwrap();
        runs.iter().find(|other| other["run_id"] != json!(run) && other["ended_at_ms"].is_u64()).cloned()
    });
    assert_eq!(
        (&second["state"], &second["final_text"]),
        (&json!("completed"), &json!("and on it goes")),
        "{second:#}"
    );
    assert_eq!(wait_until_alike(&proxies).len(), 2);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_message_to_a_run_that_was_sent_in_is_refused_everywhere() {
    let servers = Servers::one();
    let proxies = [proxy(&servers, "proxy-0", &[]), proxy(&servers, "proxy-1", &[])];
    let live = crate::proxies::Live::streaming(&proxies[0], "parallel_tools.partial.ndjson");
    for proxy in &proxies {
        let refused = post(proxy.address, &format!("/v1/runs/{}/interrupt", live.run), &[], b"");
        let (status, problem) = (refused.status, refused.json());
        assert_eq!(status, 409, "{problem:#}");
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_session_goes_on_at_the_proxy_that_has_it_whichever_proxy_is_asked() {
    let servers = Servers::one();
    // The runner of each proxy works in a folder of its own, and takes down its last prompt there.
    let folders = [Folder::new(), Folder::new()];
    let [mut owner, other] = [0, 1].map(|nth| {
        folders[nth].write("end", "");
        configured(&servers, &format!("proxy-{nth}"), &config(&folders[nth], "turns"))
    });
    let prompt = |nth: usize| std::fs::read_to_string(folders[nth].path("prompt")).unwrap_or_default();
    let is_over = |run: &str| {
        wait_for("the run does not end", || {
            let status = status(&other, run);
            status["ended_at_ms"].is_u64().then_some(status)
        })
    };
    let first = start(&owner);
    wait_for("the run is not known", || {
        (get(other.address, &format!("/v1/runs/{first}"), &[]).status == 200).then_some(())
    });
    let session = is_over(&first)["session_id"].clone();

    let order = json!({"upstream": "fake", "prompt": "second", "session_id": session, "labels": {"team": "web"}});
    let (code, second) = post_json(&other, "/v1/runs", &order);
    assert_eq!((code, &second["labels"]), (201, &json!({"team": "web"})), "{second:#}");
    assert!(prompt(0).contains("second") && prompt(1).is_empty(), "{}, {}", prompt(0), prompt(1));
    let second = is_over(second["run_id"].as_str().unwrap());
    assert_eq!((&second["session_id"], &second["state"]), (&session, &json!("completed")));

    // The Responses API names a session by its last response.
    let previous = format!("resp_{}", second["run_id"].as_str().unwrap().replace('-', ""));
    let ask = json!({"model": "fake", "input": "third", "previous_response_id": previous});
    let (code, third) = post_json(&other, "/v1/responses", &ask);
    assert_eq!((code, &third["status"]), (200, &json!("completed")), "{third:#}");
    assert!(prompt(0).contains("third") && prompt(1).is_empty(), "{}, {}", prompt(0), prompt(1));

    // Why a run is not started is the answer of the proxy that has the session.
    let misplaced = json!({"upstream": "fake", "prompt": "x", "session_id": session, "cwd": folders[1].path("")});
    let (code, problem) = post_json(&other, "/v1/runs", &misplaced);
    assert_eq!(code, 422, "{problem:#}");
    assert!(problem["detail"].as_str().unwrap().contains("directories"), "{problem:#}");

    // Without that proxy, the one that is asked starts the runner, as soon as it knows that the other one has left.
    owner.terminate();
    let order = json!({"upstream": "fake", "prompt": "fourth", "session_id": session});
    wait_for("the other proxy does not take over", || match post_json(&other, "/v1/runs", &order) {
        (201, _) => Some(()),
        (503, _) => None,
        other => panic!("{other:?}"),
    });
    assert!(prompt(1).contains("fourth"), "{}", prompt(1));
}
