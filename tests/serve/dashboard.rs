//! The Grafana dashboard in `packaging/grafana`: its queries ask for metrics and labels that `GET /metrics` exposes.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, recording};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Labels that Prometheus adds to what it scrapes.
const OF_SCRAPES: [&str; 2] = ["instance", "job"];

/// The dashboard's document.
pub fn dashboard() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/grafana/framegate.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Passes every object of the document to `visit`, with its place.
pub fn walk(value: &Value, place: &str, visit: &mut dyn FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(place, fields);
            fields.iter().for_each(|(key, value)| walk(value, &format!("{place}/{key}"), visit));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| walk(item, &format!("{place}/{at}"), visit));
        }
        _ => {}
    }
}

/// The labels of each exposed metric. A histogram is exposed under the names of its parts.
fn exposed(proxy: &Proxy) -> BTreeMap<String, BTreeSet<String>> {
    let mut metrics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in get(proxy.address, "/metrics", &[]).text().lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
        let labels = rest.split("=\"").filter_map(|part| part.rsplit(['{', ',']).next());
        let labels = labels.map(str::trim).filter(|label| is_name(label)).map(str::to_owned);
        metrics.entry(name.to_owned()).or_default().extend(labels);
    }
    metrics
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The words of a query that begin with `framegate_`.
fn metrics_in(query: &str) -> Vec<&str> {
    let words = query.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("framegate_")).collect()
}

/// The labels that a query selects or groups by.
fn labels_in(query: &str) -> Vec<&str> {
    let selected = query.split('{').skip(1).filter_map(|part| part.split('}').next());
    let selected = selected.flat_map(|part| part.split(',')).filter_map(|one| one.split(['=', '!']).next());
    let grouped =
        query.split("by (").skip(1).filter_map(|part| part.split(')').next()).flat_map(|part| part.split(','));
    selected.chain(grouped).map(str::trim).collect()
}

/// A proxy in which every family of metrics has a series.
pub fn busy(folder: &Folder) -> Proxy {
    // Nothing listens there: the feed is not connected, and requests fail.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let agent = format!("{}/tests/upstreams/fake/agent.sh", env!("CARGO_MANIFEST_DIR"));
    let work = folder.path("").canonicalize().unwrap();
    let config = format!(
        "[ingest]\ndrift = true\n\
         [[upstream]]\nname = \"agent\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = {agent:?}\ndirectories = [{work:?}]\n\
         [[upstream]]\nname = \"feed\"\nkind = \"sse\"\nurl = \"http://{closed}/event\"\nrequired = false\n\
         [[upstream]]\nname = \"api\"\nkind = \"responses\"\nurl = \"http://{closed}/v1\"\n"
    );
    let proxy = Proxy::configured_by(&folder.write("config.toml", &config), &folder.path("log"));
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let lines = String::from_utf8(recording("codex", "exec-text-plain.ndjson")).unwrap();
    let odd = lines
        .replace("Second paragraph", &secret)
        .replace("\"type\":\"turn.started\"", "\"type\":\"turn.started\",\"odd\":1");
    let made = post(proxy.address, "/v1/ingest/codex", &[], odd.as_bytes()).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    assert_eq!(get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).status, 200);
    let priced = recording("claude-code", "bash_ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &priced).status, 201);
    let order = json!({"upstream": "agent", "prompt": "say hello"});
    assert_eq!(post(proxy.address, "/v1/runs", &[], order.to_string().as_bytes()).status, 201);
    let request = json!({"model": "m", "input": "hello"});
    let answer = post(proxy.address, "/v1/responses?upstream=api", &[], request.to_string().as_bytes());
    assert!(answer.status >= 500, "{}", answer.status);
    proxy
}

#[test]
fn every_metric_and_label_of_the_dashboard_is_exposed() {
    let folder = Folder::new();
    let proxy = busy(&folder);
    let document = dashboard();
    let mut queries: Vec<(String, String)> = Vec::new();
    walk(&document, "", &mut |place, fields| {
        for key in ["expr", "definition", "query"] {
            if let Some(text) = fields.get(key).and_then(Value::as_str).filter(|text| text.contains("framegate_")) {
                queries.push((format!("{place}/{key}"), text.to_owned()));
            }
        }
    });
    assert!(queries.len() > 40, "{}", queries.len());
    let all: BTreeSet<&str> = queries.iter().flat_map(|(_, query)| metrics_in(query)).collect();
    // The connection to a feed is reported some time after the start.
    let deadline = Instant::now() + Duration::from_secs(20);
    let exposed = loop {
        let exposed = exposed(&proxy);
        let missing: Vec<&&str> = all.iter().filter(|name| !exposed.contains_key(**name)).collect();
        if missing.is_empty() {
            break exposed;
        }
        assert!(Instant::now() < deadline, "the dashboard asks for metrics that /metrics does not expose: {missing:?}");
        std::thread::sleep(Duration::from_millis(50));
    };
    for (place, query) in &queries {
        let known: BTreeSet<&str> = metrics_in(query)
            .into_iter()
            .flat_map(|name| exposed[name].iter().map(String::as_str))
            .chain(OF_SCRAPES)
            .collect();
        for label in labels_in(query) {
            assert!(known.contains(label), "{place}: no metric of {query:?} has the label {label:?}: {known:?}");
        }
        assert_eq!(query.matches('(').count(), query.matches(')').count(), "{place}: {query}");
    }
    // The documentation lists them all.
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md")).unwrap();
    for name in all {
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
        let is_listed = documented.contains(&format!("`{family}`"))
            || ["framegate_upstream_", "framegate_approvals_"].iter().any(|group| family.starts_with(group));
        assert!(is_listed, "docs/operations.md does not list {family}");
    }
}

#[test]
fn the_dashboard_can_be_imported_with_any_data_source() {
    let document = dashboard();
    // The version of the format that Grafana 11 writes; later ones migrate it.
    assert_eq!(document["schemaVersion"], 39);
    assert_eq!((&document["title"], &document["uid"]), (&json!("framegate"), &json!("framegate")));
    assert!(document.get("id").is_none(), "an id belongs to one installation");
    let variables = document["templating"]["list"].as_array().unwrap();
    let source = variables.iter().find(|variable| variable["type"] == "datasource").unwrap();
    assert_eq!((&source["name"], &source["query"]), (&json!("datasource"), &json!("prometheus")));
    let names: BTreeSet<&str> = variables.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    let mut sources = 0;
    walk(&document, "", &mut |place, fields| {
        if let Some(source) = fields.get("datasource") {
            assert_eq!(source, &json!({"type": "prometheus", "uid": "${datasource}"}), "{place}");
            sources += 1;
        }
        for variable in
            fields.get("expr").and_then(Value::as_str).into_iter().flat_map(|query| query.split("=~\"$").skip(1))
        {
            let name = variable.split('"').next().unwrap();
            assert!(names.contains(name), "{place}: {name}");
        }
    });
    assert!(sources > 40, "{sources}");
    let panels = document["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    let mut taken = BTreeSet::new();
    for panel in panels {
        assert!(panel["type"] == "row" || !panel["targets"].as_array().unwrap().is_empty(), "{panel:#}");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(x + w <= 24, "{panel:#}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(cell), "two panels are at {cell:?}: {}", panel["title"]);
        }
    }
}
