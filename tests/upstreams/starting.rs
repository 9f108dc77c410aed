//! Runs that are started, and orders that are refused.

use crate::chat_completions::agent_with;
use crate::client::{get, post};
use crate::proxy::{Folder, Proxy};
use crate::started::{Started, table};
use serde_json::{Value, json};

#[test]
fn a_run_is_started_and_read_in_several_contracts() {
    let started = Started::fake("well", "");
    let run = started.run();
    let status = started.wait_for_end(&run);
    assert_eq!((status["state"].as_str(), status["runner"].as_str()), (Some("completed"), Some("codex")), "{status}");
    for (contract, last) in [("frames.v2", "session_ended"), ("sse.v1", "run_completed"), ("hecate.v1", "run.finished")]
    {
        let events = started.events(&run, contract);
        assert!(events.len() > 3, "{contract}: {events:?}");
        assert!(events.last().unwrap()["type"].as_str().is_some(), "{contract}");
        assert!(events.last().unwrap().to_string().contains(last), "{contract}: {:?}", events.last());
    }
    started.wait_for_no_process();
}

#[test]
fn a_runner_gets_only_its_configured_environment() {
    let more =
        "pass_environment = [\"PATH\"]\nenvironment = { ONE = \"1\" }\nsecret_files = { KEY = \"{folder}/key\" }";
    let started = Started::fake("echo", more);
    let refused = started.start(&json!({"upstream": "fake", "prompt": "x"}));
    assert_eq!(refused.status, 502);
    assert!(refused.json()["detail"].as_str().unwrap().contains("the secret KEY"), "a run needs its secret file");
    started.folder.write("key", "k3y\n");
    std::fs::create_dir(started.folder.path("deep")).unwrap();
    let place = started.folder.path("deep").canonicalize().unwrap();
    let order = json!({"upstream": "fake", "prompt": "two words; $HOME", "cwd": place});
    let run = started.run_of(&order);
    let status = started.wait_for_end(&run);
    let text = status["final_text"].as_str().unwrap();
    // PATH, ONE, KEY, and the variables that the shell itself sets: PWD, OLDPWD or SHLVL, _.
    let variables: usize = text.rsplit('|').next().unwrap().trim().parse().unwrap();
    assert!((3..=7).contains(&variables), "{text}");
    let expected = format!("two words; $HOME|{}|1-k3y|", place.display());
    assert!(text.starts_with(&expected), "{text}");
    assert!(!started.folder.read("log").contains("k3y"), "the log contains a secret");
}

#[test]
fn an_invalid_order_is_refused_and_starts_nothing() {
    let started = Started::fake("well", "max_prompt_bytes = 10");
    let cases = [
        (json!({"upstream": "fake"}), 400, "missing field `prompt`"),
        (json!({"upstream": "fake", "prompt": 1}), 400, "invalid type"),
        (json!({"upstream": "fake", "prompt": "x", "shell": true}), 400, "unknown field `shell`"),
        (json!({"upstream": "fak", "prompt": "x"}), 404, "did you mean \"fake\""),
        (json!({"upstream": "fake", "prompt": " "}), 422, "empty"),
        (json!({"upstream": "fake", "prompt": "12345678901"}), 422, "upstream.max_prompt_bytes"),
        (json!({"upstream": "fake", "prompt": "x", "cwd": "/"}), 422, "upstream.directories"),
        (json!({"upstream": "fake", "prompt": "x", "cwd": "."}), 422, "absolute"),
        (json!({"upstream": "fake", "prompt": "x", "session_id": "a"}), 422, "cannot continue sessions"),
        (json!({"upstream": "fake", "prompt": "x", "model": "--evil"}), 422, "model"),
        (json!({"upstream": "fake", "prompt": "x", "mode": "plan"}), 422, "choose no modes (upstream.modes)"),
        (json!([]), 400, "upstream"),
    ];
    for (order, status, expected) in cases {
        let answer = started.start(&order);
        assert_eq!(answer.status, status, "{order}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(expected), "{order}: {detail}");
    }
    let not_json = post(started.proxy.address, "/v1/runs", &[], b"{");
    assert_eq!(not_json.status, 400);
    assert_eq!(get(started.proxy.address, "/v1/runs", &[]).json()["data"], json!([]));
    let listed = get(started.proxy.address, "/v1/upstreams", &[]).json();
    assert_eq!(
        listed,
        json!({"upstreams": [{"name": "fake", "kind": "command", "runner": "codex", "path": "/v1/runs",
            "takes_prompts": true, "takes_messages": false, "takes_images": false, "modes": []}]})
    );
}

#[test]
fn a_request_chooses_a_mode_that_the_settings_list_on_every_path() {
    let started = agent_with("modes = [\"default\", \"plan\"]\nmode = \"default\"", &[]);
    let listed = get(started.proxy.address, "/v1/upstreams", &[]).json()["upstreams"][0].clone();
    let names: Vec<&str> =
        listed["modes"].as_array().unwrap().iter().map(|mode| mode["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "plan"]);
    assert_eq!(listed["mode"], "default");
    assert!(listed["modes"][1]["about"].as_str().unwrap().contains("plan"));
    let order = |mode: &str| json!({"upstream": "fake", "prompt": "x", "mode": mode});
    let run = started.run_of(&order("plan"));
    started.wait_for_end(&run);
    started.wait_for_end(&started.run_of(&json!({"upstream": "fake", "prompt": "x"})));
    let chat = json!({"model": "fake", "messages": [{"role": "user", "content": "x"}]});
    let response = json!({"model": "fake", "input": "y"});
    let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "z"}]});
    let sdk = json!({"id": "chat", "messages": [message], "mode": "plan"});
    let message = json!({"id": "m", "role": "user", "content": "x"});
    let ag_ui = json!({"threadId": "t", "runId": "r", "messages": [message], "tools": [], "context": [], "state": {},
        "forwardedProps": {"mode": "plan"}});
    let bypassing = |mut body: Value| {
        for place in ["/mode", "/forwardedProps/mode"] {
            if let Some(mode) = body.pointer_mut(place) {
                *mode = json!("bypassPermissions");
            }
        }
        body
    };
    for (path, body) in
        [("/v1/chat/completions", chat), ("/v1/responses", response), ("/ai-sdk/fake", sdk), ("/ag-ui/fake", ag_ui)]
    {
        let send = |mode: &str, body: Value| {
            post(started.proxy.address, path, &[("Framegate-Mode", mode)], body.to_string().as_bytes())
        };
        let refused = send("bypassPermissions", bypassing(body.clone()));
        let (status, text) = (refused.status, refused.text());
        assert_eq!(status, 422, "{path}: {text}");
        assert!(text.contains("bypassPermissions") && text.contains("it offers default, plan"), "{path}: {text}");
        let answer = send("plan", body);
        let (status, text) = (answer.status, answer.text());
        assert_eq!(status, 200, "{path}: {text}");
    }
    assert_eq!(started.start(&order("bypassPermissions")).status, 422);
    let modes = started.folder.read("modes");
    assert_eq!(modes.lines().collect::<Vec<_>>(), ["plan", "default", "plan", "plan", "plan", "plan"]);
    // A mode that is refused does not end the program that waits for the next prompt of its session.
    let session = started.status(&run)["session_id"].clone();
    let mut again = order("bypassPermissions");
    again["session_id"] = session.clone();
    assert_eq!(started.start(&again).status, 422);
    let path = format!("/v1/sessions/{}/messages", session.as_str().unwrap());
    assert_eq!(post(started.proxy.address, &path, &[], br#"{"prompt": "more"}"#).status / 100, 2);
}

#[test]
fn every_kind_of_upstream_is_listed_with_its_path_and_capabilities() {
    let tables = format!(
        "{}\n[[upstream]]\nname = \"code\"\nkind = \"sse\"\nurl = \"http://127.0.0.1:1/event\"\n\
         [[upstream]]\nname = \"feed\"\nkind = \"sse\"\nrunner = \"open-responses\"\nurl = \"http://127.0.0.1:1/event\"\n\
         [[upstream]]\nname = \"lab\"\nkind = \"responses\"\nurl = \"http://127.0.0.1:1/v1\"\n\
         [[upstream]]\nname = \"client\"\nkind = \"responses\"\nurl = \"http://127.0.0.1:1/v1\"\n\
         authorization = \"passthrough\"\n\
         [[upstream]]\nname = \"other\"\nkind = \"command\"\npreset = \"claude-code\"\n",
        table("well", "")
    );
    let started = Started::with(&tables, &[]);
    let listed = get(started.proxy.address, "/v1/upstreams", &[]).json();
    let listed: Vec<String> = listed["upstreams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let word = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
            let path = word("path");
            let takes = format!("{} {}", one["takes_prompts"], one["takes_messages"]);
            format!("{} {} {} {path} {takes}", word("name"), word("kind"), word("runner"))
        })
        .collect();
    assert_eq!(
        listed,
        [
            "fake command codex /v1/runs true false",
            "other command claude-code /v1/runs true true",
            "code sse opencode /v1/runs true true",
            "feed sse open-responses - false false",
            "lab responses open-responses /v1/responses?upstream=lab true false",
            "client responses open-responses /v1/responses?upstream=client false false",
        ]
    );
    // Each listed path exists.
    let refused = |more: Value| {
        let mut order = json!({"upstream": "lab", "prompt": "x"});
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = started.start(&order);
        (answer.status, answer.json()["detail"].as_str().unwrap().to_owned())
    };
    for (more, status, expected) in [
        (json!({}), 422, "a response needs a model: set model"),
        (json!({"model": "m", "prompt": " "}), 422, "the prompt is empty"),
        (json!({"model": "m", "cwd": "/tmp"}), 422, "omit cwd"),
        (json!({"model": "m", "upstream": "client"}), 422, "the credentials of their client"),
        (json!({"model": "m"}), 502, "cannot connect: "),
    ] {
        let (found, detail) = refused(more);
        assert_eq!(found, status, "{detail}");
        assert!(detail.contains(expected), "{detail}");
    }
    assert_eq!(post(started.proxy.address, "/v1/responses?upstream=lab", &[], b"{}").status, 502);
    assert_eq!(started.start(&json!({"upstream": "feed", "prompt": "x"})).status, 422);
}

#[test]
fn without_upstreams_no_run_can_be_started() {
    let proxy = Proxy::start();
    let answer = post(proxy.address, "/v1/runs", &[], json!({"upstream": "a", "prompt": "x"}).to_string().as_bytes());
    assert_eq!(answer.status, 404);
    assert!(answer.json()["detail"].as_str().unwrap().contains("no upstream that starts runs is configured"));
    assert_eq!(get(proxy.address, "/v1/upstreams", &[]).json(), json!({"upstreams": []}));
}

#[test]
fn an_upstream_limits_its_concurrent_runs() {
    let started = Started::fake("hang", "max_runs = 2\nsignal_grace_ms = 200");
    let first = started.run();
    started.run();
    let refused = started.start(&json!({"upstream": "fake", "prompt": "x"}));
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("upstream.max_runs"));
    assert_eq!(started.status(&first)["state"], json!("running"));
    // The end of the run frees its slot.
    let begin = std::time::Instant::now();
    while !started.processes().is_empty() {
        started.kill("sleep");
        assert!(begin.elapsed() < crate::started::PATIENCE, "{:?}", started.processes());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    started.wait_for_end(&first);
    let again = started.run();
    assert_ne!(again, first);
    assert_eq!(started.interrupt(&again), 202);
    started.wait_for_no_process();
}

#[test]
fn a_program_that_waits_for_a_prompt_makes_way_for_a_new_run() {
    let started = crate::chat_completions::agent_with("max_runs = 2", &[]);
    let run = |prompt: &str| {
        let answer = started.start(&json!({"upstream": "fake", "prompt": prompt}));
        (answer.status, answer.json())
    };
    let sessions: Vec<String> = (0..4)
        .map(|_| {
            let (status, begun) = run("hello");
            assert_eq!(status, 201, "{begun}");
            started.wait_for_end(begun["run_id"].as_str().unwrap());
            begun["session_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let tell = |session: &str, prompt: &str| {
        let path = format!("/v1/sessions/{session}/messages");
        post(started.proxy.address, &path, &[], json!({"prompt": prompt}).to_string().as_bytes()).status
    };
    // Those that waited longest have left.
    assert_eq!([tell(&sessions[0], "more"), tell(&sessions[1], "more")], [409, 409]);
    assert_eq!([tell(&sessions[2], "slowly"), tell(&sessions[3], "slowly")], [202, 202]);
    // Those that are at work stay.
    let (status, refused) = run("hello");
    assert!(status == 503 && refused["detail"].as_str().unwrap().contains("upstream.max_runs"), "{refused}");
    started.folder.write("end", "");
}

#[test]
fn starting_a_run_needs_the_control_scope_and_an_allowed_runner() {
    let folder = Folder::new();
    let tokens = "[[token]]\nname = \"reads\"\nscopes = [\"read\"]\nfile = \"{f}/reads\"\n\
         [[token]]\nname = \"controls\"\nscopes = [\"read\", \"control\"]\nfile = \"{f}/controls\"\n\
         [[token]]\nname = \"other\"\nscopes = [\"read\", \"control\"]\nrunners = [\"opencode\"]\nfile = \"{f}/other\"\n\
         [[token]]\nname = \"one\"\nscopes = [\"read\", \"control\"]\nruns = [\"01a1ffc9-90a9-7072-b240-f837ac957f3f\"]\nfile = \"{f}/one\"\n";
    for name in ["reads", "controls", "other", "one"] {
        folder.write(name, &format!("{name}-{}", "t0k3n".repeat(8)));
    }
    let place = folder.path("").display().to_string();
    let tokens = folder.write("tokens.toml", &tokens.replace("{f}", place.trim_end_matches('/')));
    let started = Started::with(&table("well", ""), &[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let order = json!({"upstream": "fake", "prompt": "go"}).to_string();
    let with = |name: &str| {
        let token = format!("Bearer {name}-{}", "t0k3n".repeat(8));
        post(started.proxy.address, "/v1/runs", &[("authorization", &token)], order.as_bytes())
    };
    assert_eq!(with("unknown").status, 401);
    assert_eq!(with("reads").status, 403);
    assert_eq!(with("other").status, 403);
    assert_eq!(with("one").status, 403);
    let answer = with("controls");
    assert_eq!(answer.status, 201);
    let run: Value = answer.json();
    assert_eq!(run["runner"], json!("codex"));
}
