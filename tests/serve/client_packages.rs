//! The client packages in `clients/`: each is generated from the published schemas, installed as its users install it, checked by the
//! compiler of its language, and run against a proxy.
//!
//! `FRAMEGATE_BLESS=1` rewrites `clients/api.json`, from which the packages have the types of the API's own objects. Their scripts
//! rewrite the rest.

use crate::client::get;
use crate::proxy::{Folder, Proxy};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOKEN: &str = "reads-0123456789abcdef";

/// The name of each type of the packages, and its schema in `/openapi.json`: a component, or a part of an operation.
const TYPES: &[(&str, &str)] = &[
    ("ApprovalAnswer", "answerApproval/requestBody/content/application~1json/schema"),
    ("ApprovalDecision", "answerApproval/responses/200/content/application~1json/schema/properties/decision"),
    ("ApprovalResult", "answerApproval/responses/200/content/application~1json/schema"),
    ("ApprovalScope", "answerApproval/requestBody/content/application~1json/schema/properties/scope"),
    ("Catalogue", "/components/schemas/Catalogue"),
    ("ComputedCost", "/components/schemas/ComputedCost"),
    ("IngestResult", "/components/schemas/Made"),
    ("InterruptAccepted", "interruptRun/responses/202/content/application~1json/schema"),
    ("MessageAccepted", "sendMessage/responses/202/content/application~1json/schema"),
    ("ModelFigures", "/components/schemas/ModelFigures"),
    ("ModelTotal", "/components/schemas/ModelTotal"),
    ("Problem", "/components/schemas/Problem"),
    ("RawRecord", "getRunEvents/responses/200/content/application~1x-ndjson; contract=raw/schema/contentSchema"),
    ("RunPage", "/components/schemas/RunList"),
    ("RunState", "/components/schemas/RunStatus/properties/state"),
    ("RunStatus", "/components/schemas/RunStatus"),
    ("Runner", "/components/schemas/RunStatus/properties/runner"),
    ("StartRun", "startRun/requestBody/content/application~1json/schema"),
    ("Stats", "/components/schemas/Stats"),
    ("StatsFigures", "/components/schemas/StatsFigures"),
    ("StatsGroup", "/components/schemas/Stats/properties/by/items"),
    ("StatsRow", "/components/schemas/StatsRow"),
    ("ToolFigures", "/components/schemas/ToolFigures"),
    ("UpstreamList", "listUpstreams/responses/200/content/application~1json/schema"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn clients() -> PathBuf {
    root().join("tests/clients")
}

/// A schema of the document, by the pointer of a component or by an operation and a pointer within it.
fn schema<'d>(document: &'d Value, place: &str) -> &'d Value {
    let found = if place.starts_with('/') {
        document.pointer(place)
    } else {
        let (id, pointer) = place.split_once('/').unwrap();
        let mut operations =
            document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let operation =
            operations.find(|operation| operation["operationId"] == id).unwrap_or_else(|| panic!("no {id}"));
        operation.pointer(&format!("/{pointer}"))
    };
    found.unwrap_or_else(|| panic!("the document has no {place}"))
}

/// The schema with its references to components under the packages' names.
fn renamed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| match value.as_str().filter(|_| key == "$ref") {
                None => (key.clone(), renamed(value)),
                Some(target) => {
                    let name = TYPES.iter().find(|(_, place)| target == format!("#{place}"));
                    let (name, _) = name.unwrap_or_else(|| panic!("{target} needs a name"));
                    (key.clone(), json!(format!("#/$defs/{name}")))
                }
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(renamed).collect()),
        other => other.clone(),
    }
}

#[test]
fn the_types_of_the_api_are_those_of_its_document() {
    let proxy = Proxy::start();
    let document = get(proxy.address, "/openapi.json", &[]).json();
    let types: Map<String, Value> =
        TYPES.iter().map(|(name, place)| ((*name).to_owned(), renamed(schema(&document, place)))).collect();
    let expected = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "The parts of GET /openapi.json for which the client packages have types.",
        "$defs": types,
    });
    let path = root().join("clients/api.json");
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&expected).unwrap() + "\n").unwrap();
    }
    let kept: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        kept, expected,
        "FRAMEGATE_BLESS=1 rewrites clients/api.json; then run the generate scripts in clients/*/scripts"
    );
}

/// A proxy with the fake agent as `claude` and a runner with a question as `asks`, and one with a token; and what a client needs to know of them.
struct Proxies {
    folder: Folder,
    plan: Value,
    _proxies: [Proxy; 2],
}

fn proxies() -> Proxies {
    let folder = Folder::new();
    let work = folder.path("").canonicalize().unwrap();
    let upstream = |name: &str, program: &str, more: &str| {
        format!(
            "[[upstream]]\nname = \"{name}\"\nkind = \"command\"\npreset = \"claude-code\"\nmax_runs = 64\n\
             program = \"{}/tests/upstreams/fake/{program}\"\ndirectories = [\"{}\"]\n{more}\n",
            root().display(),
            work.display()
        )
    };
    let config = upstream("claude", "agent.sh", "")
        + &upstream("asks", "claude.sh", "environment = { PLAY = \"question\" }")
        + "[server]\nheartbeat_ms = 300\nsse_retry_ms = 50\n[artifacts]\ninline_bytes = 1000\npreview_bytes = 100\n";
    let agent = Proxy::configured_by(&folder.write("config.toml", &config), &folder.path("log"));
    folder.write("reads", TOKEN);
    let tokens = folder.write("tokens.toml", "[[token]]\nname = \"reads\"\nfile = \"reads\"\nscopes = [\"read\"]\n");
    let guarded = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let plan = json!({
        "base_url": format!("http://{}", agent.address),
        "tokens_url": format!("http://{}", guarded.address),
        "tokens": {"reads": TOKEN},
        "fixtures": root().join("tests/fixtures"),
    });
    Proxies { folder, plan, _proxies: [agent, guarded] }
}

/// Runs a program, which must succeed; returns its standard output.
fn output_of(command: &mut Command) -> String {
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output =
        command.env("NO_PROXY", "*").env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// The code blocks of a README in that language, with the address of the proxy.
fn examples(readme: &Path, language: &str, plan: &Value) -> Vec<String> {
    let text = std::fs::read_to_string(readme).unwrap();
    let blocks = text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix(&format!("{language}\n")));
    blocks.map(|block| block.replace("http://127.0.0.1:8080", plan["base_url"].as_str().unwrap())).collect()
}

/// A run whose output is too large for an event, as the examples send it in.
fn session_with_an_artifact() -> String {
    let output = "0123456789".repeat(200);
    let records = [
        json!({"type": "system", "subtype": "init", "session_id": "s-2", "model": "m", "tools": [], "cwd": "/"}),
        json!({"type": "assistant", "session_id": "s-2", "message": {"id": "m1", "role": "assistant", "model": "m",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}]}}),
        json!({"type": "user", "session_id": "s-2", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s-2", "result": "done"}),
    ];
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Every case of a program in `tests/clients` must have been run and hold.
fn check_cases(program: &str, said: &str) {
    let text = std::fs::read_to_string(clients().join(program)).unwrap();
    let is_case =
        |name: &&str| text.contains(&format!("async {name}() {{")) || text.contains(&format!("def {name}():"));
    let held: Vec<&str> = said.lines().filter(is_case).collect();
    assert!(held.len() >= 16 && held.len() == said.lines().count(), "{program}: {said}");
}

#[test]
#[ignore = "needs node and clients/typescript/node_modules: ./test.sh runs it"]
fn npm_framegate_client_keeps_what_its_readme_says() {
    let package = root().join("clients/typescript");
    output_of(Command::new("node").arg(package.join("scripts/generate.mjs")).arg("--check"));
    let proxies = proxies();
    let folder = &proxies.folder;
    // The package as it would be published, with its only dependency.
    let mut pack = Command::new("npm");
    let packed =
        output_of(pack.args(["pack", "--silent", "--pack-destination"]).arg(folder.path("")).current_dir(&package));
    let modules = folder.path("node_modules");
    std::fs::create_dir_all(modules.join("framegate-client")).unwrap();
    output_of(
        Command::new("tar")
            .args(["--extract", "--gzip", "--strip-components=1", "--file"])
            .arg(folder.path(packed.lines().last().unwrap()))
            .arg("--directory")
            .arg(modules.join("framegate-client")),
    );
    std::os::unix::fs::symlink(package.join("node_modules/eventsource-parser"), modules.join("eventsource-parser"))
        .unwrap();

    for name in ["framegate_package.mjs", "framegate_package_types.ts"] {
        std::fs::copy(clients().join(name), folder.path(name)).unwrap();
    }
    let readme = examples(&package.join("README.md"), "ts", &proxies.plan);
    for (at, example) in readme.iter().enumerate() {
        folder.write(&format!("example{at}.ts"), example);
    }
    // What the examples need of Node's own types.
    folder.write(
        "node.d.ts",
        "declare module \"node:fs\" { export function createReadStream(path: string): AsyncIterable<Uint8Array>; }\n",
    );
    folder.write("package.json", "{\"type\": \"module\"}");
    let options = json!({"compilerOptions": {
        "strict": true, "exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "skipLibCheck": false, "types": [],
        "target": "ES2022", "module": "NodeNext", "lib": ["ES2022", "DOM", "DOM.AsyncIterable"],
    }});
    folder.write("tsconfig.json", &options.to_string());
    let mut compile = Command::new("node");
    output_of(
        compile.arg(package.join("node_modules/typescript/bin/tsc")).arg("--project").arg(folder.path("tsconfig.json")),
    );

    let run = |name: &str| {
        let mut node = Command::new("node");
        output_of(node.arg(folder.path(name)).arg(proxies.plan.to_string()).current_dir(folder.path("")))
    };
    check_cases("framegate_package.mjs", &run("framegate_package.mjs"));
    folder.write("session.ndjson", &session_with_an_artifact());
    let expected =
        ["done: Answer 1.", "run.finished", "completed", "command_output 2000", "claude-code: ", "no such run"];
    assert_eq!(readme.len(), expected.len());
    for (at, words) in expected.iter().enumerate() {
        let said = run(&format!("example{at}.js"));
        assert!(said.contains(words), "{}\nsays: {said}", readme[at]);
    }
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_framegate_client_keeps_what_its_readme_says() {
    let package = root().join("clients/python");
    output_of(Command::new("python3").arg(package.join("scripts/generate.py")).arg("--check"));
    let proxies = proxies();
    let folder = &proxies.folder;
    let (modules, site) = (clients().join("python_modules"), folder.path("site"));
    let python = |path: &[&Path]| {
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", std::env::join_paths(path).unwrap()).current_dir(folder.path(""));
        command
    };
    let mut install = python(&[&modules]);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore"]);
    install.args(["--no-index", "--no-deps", "--no-build-isolation", "--target"]).arg(&site).arg(&package);
    output_of(&mut install);

    let readme = examples(&package.join("README.md"), "python", &proxies.plan);
    let mut check = python(&[&site, &modules]);
    check.args(["-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir"]).arg(folder.path("mypy"));
    check.arg(site.join("framegate_client")).arg(package.join("scripts/generate.py"));
    check.arg(clients().join("framegate_package_types.py"));
    for (at, example) in readme.iter().enumerate() {
        check.arg(folder.write(&format!("example{at}.py"), example));
    }
    output_of(&mut check);

    let run = |program: &Path| output_of(python(&[&site, &modules]).arg(program).arg(proxies.plan.to_string()));
    check_cases("framegate_package.py", &run(&clients().join("framegate_package.py")));
    folder.write("session.ndjson", &session_with_an_artifact());
    let expected =
        ["done: Answer 1.", "[", "run.finished", "completed", "command_output 2000", "claude-code: ", "no such run"];
    assert_eq!(readme.len(), expected.len());
    for (at, words) in expected.iter().enumerate() {
        let said = run(&folder.path(&format!("example{at}.py")));
        assert!(said.contains(words), "{}\nsays: {said}", readme[at]);
    }
}
