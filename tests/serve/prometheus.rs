//! A real Prometheus: it scrapes the proxy, and answers the queries of the dashboard.

use crate::client::get;
use crate::dashboard::{busy, dashboard, walk};
use crate::proxy::Folder;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long Prometheus may take to start, and to scrape.
const PATIENCE: Duration = Duration::from_secs(60);

/// A Prometheus with a folder of its own; killed when dropped.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    /// Starts a Prometheus that scrapes a proxy every second.
    fn scraping(proxy: SocketAddr, folder: &Folder) -> Self {
        let config = format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n  - job_name: framegate\n    static_configs: [{{ targets: [\"{proxy}\"] }}]\n"
        );
        let config = folder.write("prometheus.yml", &config);
        let checked = Command::new("promtool").args(["check", "config", &config]).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new("prometheus")
            .args([
                &format!("--config.file={config}"),
                &format!("--storage.tsdb.path={}", folder.path("data").display()),
                &format!("--web.listen-address={address}"),
            ])
            .stdin(Stdio::null())
            .stderr(File::create(folder.path("prometheus.log")).unwrap())
            .spawn()
            .unwrap();
        let prometheus = Self { child, address };
        let deadline = Instant::now() + PATIENCE;
        // It listens before it has read its data, and answers 503 until then.
        let is_ready = || TcpStream::connect(address).is_ok() && get(address, "/-/ready", &[]).status == 200;
        while !is_ready() {
            assert!(Instant::now() < deadline, "Prometheus is not ready:\n{}", folder.read("prometheus.log"));
            std::thread::sleep(Duration::from_millis(50));
        }
        prometheus
    }

    /// The values of a query now.
    fn query(&self, query: &str) -> Vec<Value> {
        let encoded = utf8_percent_encode(query, NON_ALPHANUMERIC);
        let answer = get(self.address, &format!("/api/v1/query?query={encoded}"), &[]).json();
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        answer["data"]["result"].as_array().unwrap().clone()
    }

    /// The value of a query with one result, once that is `expected`.
    fn wait_for(&self, query: &str, expected: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.query(query);
            if found.len() == 1 && found[0]["value"][1] == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{query} is not {expected}: {found:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs Prometheus: ./test.sh runs it"]
fn prometheus_scrapes_tokens_and_costs_and_answers_every_query_of_the_dashboard() {
    let folder = Folder::new();
    let proxy = busy(&folder);
    let prometheus = Prometheus::scraping(proxy.address, &folder);
    prometheus.wait_for("up{job=\"framegate\"}", "1");
    // The figure of a recording.
    let of_claude = "runner=\"claude-code\",model=\"claude-opus-5-5\",upstream=\"none\"";
    prometheus.wait_for(&format!("framegate_computed_cost_usd_total{{{of_claude}}}"), "0.00192");
    let metrics = get(proxy.address, "/metrics", &[]).text();
    let is_meant = |line: &&str| {
        ["framegate_tokens_total{", "framegate_reported_cost_usd_total{", "framegate_unpriced_runs_total{"]
            .iter()
            .any(|family| line.starts_with(family))
    };
    let series: Vec<(&str, &str)> = metrics.lines().filter(is_meant).filter_map(|line| line.rsplit_once(' ')).collect();
    assert!(series.len() > 8, "{series:?}");
    for (series, value) in series {
        let found = prometheus.query(series);
        let found: f64 = found[0]["value"][1].as_str().unwrap().parse().unwrap();
        assert_eq!(found, value.parse::<f64>().unwrap(), "{series}");
    }

    // A rate needs two scrapes.
    prometheus.wait_for("count_over_time(up{job=\"framegate\"}[1h]) >= bool 3", "1");
    let (mut queries, mut answered) = (0, 0);
    walk(&dashboard(), "", &mut |place, fields| {
        let Some(query) = fields.get("expr").and_then(Value::as_str) else { return };
        let query = query.replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$runner", ".*");
        assert!(!query.contains('$'), "{place}: {query}");
        queries += 1;
        answered += usize::from(!prometheus.query(&query).is_empty());
    });
    assert!(queries > 40, "{queries}");
    // Without failures, losses and clients there is nothing to show in some panels.
    assert!(answered * 10 >= queries * 8, "{answered} of {queries} queries have an answer");
}

#[test]
#[ignore = "needs Prometheus: ./test.sh runs it"]
fn prometheus_s_own_check_finds_nothing_wrong_with_the_metrics() {
    let folder = Folder::new();
    let proxy = busy(&folder);
    let metrics = get(proxy.address, "/metrics", &[]).text();
    let mut check = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    check.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}
