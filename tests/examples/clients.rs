//! The clients in `examples/`, against the upstream of `serve --demo`.

use crate::client::get;
use crate::proxy::Proxy;
use crate::react_page::Page;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn demo() -> Proxy {
    Proxy::with_arguments(&["--demo"], &[])
}

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs a client in its folder with these lines as its input.
fn output(proxy: &Proxy, folder: &str, words: &[&str], input: &str) -> Output {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(root("examples").join(folder));
    command.env("FRAMEGATE_URL", format!("http://{}", proxy.address)).env("NO_PROXY", "*");
    command.env("PYTHONPATH", root("tests/clients/python_modules")).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A client that needs no input may have closed it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// The standard output of a client that succeeds.
fn said(proxy: &Proxy, folder: &str, words: &[&str], input: &str) -> String {
    let output = output(proxy, folder, words, input);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{words:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A client that asks the user about each question: it allows the first one and denies the second one. It fails if its run fails.
fn answers_questions(folder: &str, program: &[&str]) {
    let proxy = demo();
    let with = |prompt| [program, &[prompt]].concat();
    let text = said(&proxy, folder, &with("Write a note and run a command"), "y\nn\n");
    assert_eq!(text.matches("[y/n]").count(), 2, "{text}");
    assert!(text.contains("You allowed Edit") && text.contains("You did not allow Bash"), "{text}");
    let output = output(&proxy, folder, &with("Please fail"), "");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.code() == Some(1) && text.contains("failed: "), "{}: {text}", output.status);
}

#[test]
fn the_clients_have_the_versions_of_the_other_tests() {
    let json = |path: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(root(path)).unwrap()).unwrap() };
    let tested = json("tests/clients/package.json")["devDependencies"].take();
    let mut shared = 0;
    for folder in ["ag-ui", "langchain", "react-chat"] {
        let package = json(&format!("examples/{folder}/package.json"));
        let locked = json(&format!("examples/{folder}/package-lock.json"))["packages"].take();
        for (name, version) in package["dependencies"].as_object().unwrap() {
            assert_eq!(locked[format!("node_modules/{name}")]["version"], *version, "{folder}: {name} is pinned");
            if let Some(tested) = tested.get(name) {
                assert_eq!(tested, version, "{folder}: {name}");
                shared += 1;
            }
        }
    }
    assert_eq!(shared, 4);
    let pinned = std::fs::read_to_string(root("examples/python-openai/requirements.txt")).unwrap();
    let tested = std::fs::read_to_string(root("tests/clients/requirements.txt")).unwrap();
    assert!(tested.contains(&format!("\n{} ", pinned.trim())), "{pinned}");
}

#[test]
#[ignore = "needs node and examples/ag-ui/node_modules: ./test.sh runs it"]
fn npm_ag_ui_answers_questions() {
    answers_questions("ag-ui", &["node", "ask.mjs"]);
    let text = said(&demo(), "ag-ui", &["node", "ask.mjs", "Let me choose"], "Green\n");
    assert!(text.contains("[Red/Blue/Green]") && text.contains("You chose “Green”."), "{text}");
}

#[test]
#[ignore = "needs node and examples/langchain/node_modules: ./test.sh runs it"]
fn npm_langchain_answers_questions() {
    answers_questions("langchain", &["node", "ask.mjs"]);
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_openai_answers_questions() {
    answers_questions("python-openai", &["python3", "ask.py"]);
}

#[test]
#[ignore = "needs curl: ./test.sh runs it"]
fn curl_starts_follows_answers_and_interrupts() {
    let proxy = demo();
    let text = said(&proxy, "curl", &["sh", "tour.sh"], "");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for expected in ["asks: The demo wants to pretend to change a file.", "answered: approved", "ended: completed"] {
        assert!(lines.contains(&expected), "no {expected:?} in {text}");
    }
    // The script interrupts the second run at its tenth piece; a few more may be on their way.
    let pieces =
        lines.iter().find_map(|line| line.strip_prefix("ended after ")?.strip_suffix(" pieces of text: interrupted"));
    let pieces: usize = pieces.unwrap_or_else(|| panic!("no interrupted run in {text}")).parse().unwrap();
    assert!((10..60).contains(&pieces), "{text}");
    for run in lines.iter().filter_map(|line| line.strip_prefix("run ")) {
        let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
        assert!(["completed", "interrupted"].contains(&status["state"].as_str().unwrap()), "{status}");
    }
}

#[test]
#[ignore = "needs node and examples/react-chat/node_modules: ./test.sh runs it"]
fn npm_react_page_passes_on_only_its_own_requests() {
    let proxy = demo();
    let page = Page::start(proxy.address);
    let address = page.url.replace("http://localhost:", "127.0.0.1:").parse().unwrap();
    let host = page.url.trim_start_matches("http://");
    let body = br#"{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"hello"}]}]}"#;
    for (headers, status) in [
        (vec![("origin", "http://example.com")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", page.url.as_str()), ("host", "example.com")], 403),
        (vec![("origin", page.url.as_str()), ("host", host)], 200),
    ] {
        let mut headers = headers;
        if !headers.iter().any(|(name, _)| *name == "host") {
            headers.push(("host", host));
        }
        assert_eq!(send(address, "POST /ai-sdk/demo", &headers, body), status, "{headers:?}");
    }
    let runs = get(proxy.address, "/v1/runs", &[]).json();
    // The demo also plays recordings.
    let own = runs["data"].as_array().unwrap().iter().filter(|run| run["title"] == "hello");
    assert_eq!(own.count(), 1, "{runs:#}");
}

/// The status of a request with exactly these headers.
fn send(address: SocketAddr, line: &str, headers: &[(&str, &str)], body: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "{line} HTTP/1.1\r\n{headers}content-length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "needs node, examples/react-chat/node_modules, tests/clients/node_modules and a browser in CHROMIUM: ./test.sh runs it"]
fn browsers_chat_in_react() {
    assert!(std::env::var_os("CHROMIUM").is_some(), "CHROMIUM must be the path of a Chromium");
    let proxy = demo();
    let page = Page::start(proxy.address);
    let plan = json!({"url": page.url}).to_string();
    let text = said(&proxy, "../tests/clients", &["node", "react_chat.mjs", &plan], "");
    let steps: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let script = "This answer is a script's: no model was asked.";
    let note = "You said: “Make a plan, then write a note”.";
    let hint = "Try a prompt with one of these words: plan, choose, write, run, slow, fail, remember.";
    let numbers: Vec<String> = (1..=60).map(|number: u32| number.to_string()).collect();
    assert_eq!(
        steps[..5],
        [
            json!({"text": format!("You said: “Hello there”. {hint} {script}"), "reasoning": 1, "tools": ["Read"]}),
            json!({"answer": "Approve", "plan": 3, "questions": 0,
                "text": format!("{note} You allowed Edit, so I pretended to use it. {script}")}),
            json!({"answer": "Deny", "plan": 3, "questions": 0,
                "text": format!("{note} You did not allow Edit, so I left it out. {script}")}),
            json!({"text": format!("You said: “Let me choose”. You chose “Blue”. {script}")}),
            json!({"reloaded": "question",
                "text": format!("You said: “Run a command”. You allowed Bash, so I pretended to use it. {script}")}),
        ]
    );
    // The run that went on has each text once.
    assert_eq!((&steps[5]["reloaded"], &steps[5]["articles"]), (&json!("run"), &json!(2)));
    assert_eq!(steps[5]["texts"].as_array().unwrap().len(), 2, "{}", steps[5]);
    let counted = steps[5]["texts"][1].as_str().unwrap();
    assert!(counted.contains(&numbers.join(" ")), "{counted}");
    assert_eq!(steps[6], json!({"stopped": true}));
    let error = "API Error: 529 Overloaded. (The prompt asks the demo to fail; no provider was asked.)";
    assert_eq!(steps[7..], [json!({"error": error, "errors": []})]);
    let interrupted = get(proxy.address, "/v1/runs?limit=100", &[]).json();
    let runs = interrupted["data"].as_array().unwrap();
    let count = runs.iter().filter(|run| run["state"] == "interrupted").count();
    assert_eq!(count, 1, "stopping the page interrupts the run: {interrupted:#}");
}
