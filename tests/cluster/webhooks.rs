//! Webhooks of proxies that share a log: each run is notified by one of them.

use crate::client::{get, post};
use crate::proxies::{Live, configured, kill};
use crate::proxy::another;
use crate::reading::wait_for;
use crate::scripted::{Upstream, whole};
use crate::servers::Servers;
use serde_json::Value;
use std::time::Duration;

/// The events that a receiver got, as kind and run.
fn received(receiver: &Upstream) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let event = |body: Value| (text(&body["type"]), text(&body["data"]["run"]["run_id"]));
    receiver.requests().iter().map(|request| event(serde_json::from_slice(&request.body).unwrap())).collect()
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn only_the_proxy_that_writes_a_run_notifies_of_it() {
    let receiver = Upstream::start(|_, stream| whole(stream, "200 OK", "", b""));
    let servers = Servers::three();
    let secret = servers.log("secret");
    std::fs::write(&secret, "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz").unwrap();
    let config = servers.log("config.toml");
    let settings = format!(
        "[log]\nlease_ms = 5000\n[[webhooks.endpoint]]\nname = \"ci\"\nurl = \"http://{}/\"\nsecret_files = [{secret:?}]\n",
        receiver.address
    );
    std::fs::write(&config, settings).unwrap();
    let mut proxies = ["proxy-0", "proxy-1"].map(|name| configured(&servers, name, config.to_str().unwrap()));
    let mut expected = Vec::new();
    for proxy in &proxies {
        let answer = post(proxy.address, "/v1/ingest/codex", &[], &another("codex", "exec-command-ok.ndjson")).json();
        let run = answer["runs"][0]["run_id"].as_str().unwrap().to_owned();
        for other in &proxies {
            wait_for("a proxy does not know the run", || {
                (get(other.address, &format!("/v1/runs/{run}"), &[]).status == 200).then_some(())
            });
        }
        expected.push(("run.completed".to_owned(), run));
        wait_for("the run did not arrive", || (received(&receiver) == expected).then_some(()));
    }
    // The proxy that closes the run of a lost one notifies of its end.
    let live = Live::streaming(&proxies[0], "parallel_tools.partial.ndjson");
    kill(&mut proxies[0]);
    expected.push(("run.interrupted".to_owned(), live.run.clone()));
    wait_for("the interruption did not arrive", || (received(&receiver).len() == 3).then_some(()));
    // A proxy that starts reads the log again.
    proxies[0] = configured(&servers, "proxy-0-again", config.to_str().unwrap());
    wait_for("a proxy does not know the run", || {
        (get(proxies[0].address, &format!("/v1/runs/{}", live.run), &[]).status == 200).then_some(())
    });
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(received(&receiver), expected);
}
