//! Events and their bodies, from recordings in a log.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::ingest::{IngestFactory, Settings};
use crate::log::{FrameLog, MemoryLog};
use framegate_translators::runners::{RUNNERS, runner};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs with a finder, and the notes that it queues.
fn watched(queue_events: usize, has_endpoint: bool) -> (Arc<Runs>, mpsc::Receiver<Note>, watch::Sender<Targets>) {
    let log: Arc<dyn FrameLog> = Arc::new(MemoryLog::new(1 << 30, 10_000));
    let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap());
    let options = Options { dead_letters: None, queue_events, text_bytes: 64, stop_timeout: Duration::ZERO };
    let endpoint = Endpoint { name: "ci".to_owned(), url: "http://127.0.0.1:9/".to_owned(), ..Endpoint::default() };
    let targets = if has_endpoint { super::targets(&[endpoint]).unwrap() } else { Vec::new() };
    let (runs, Webhooks { notes, targets, .. }) = Webhooks::of(runs, options, targets);
    (Arc::new(runs), notes, targets)
}

async fn ingest(runs: &Arc<Runs>, name: &str, input: &[u8], is_history: bool) {
    let settings = Settings {
        redaction: crate::config::Redaction::default().rules().unwrap().map(Arc::new),
        ..Settings::default()
    };
    let ingest = IngestFactory::new(runs.clone(), settings).ingest(runner(name), None, Arc::default());
    let mut ingest = if is_history { ingest.of_history() } else { ingest };
    ingest.feed(input).await.unwrap();
    ingest.finish().await.unwrap();
}

fn recordings(runner: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "ndjson" || ending == "sse"));
    files.sort();
    files
}

fn recording(runner: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner).join(name)).unwrap()
}

fn taken(notes: &mut mpsc::Receiver<Note>) -> Vec<Note> {
    std::iter::from_fn(|| notes.try_recv().ok()).collect()
}

fn body(event: &Event) -> Value {
    serde_json::from_slice(&event.body).unwrap()
}

#[tokio::test]
async fn every_run_of_every_recording_has_one_event_at_its_end() {
    let (runs, mut notes, _targets) = watched(100_000, true);
    for runner in RUNNERS {
        for path in recordings(runner.name) {
            let before = runs.newest_first().len();
            ingest(&runs, runner.name, &std::fs::read(&path).unwrap(), false).await;
            let notes = taken(&mut notes);
            let ends: Vec<&Note> = notes.iter().filter(|note| note.approval.is_none()).collect();
            assert_eq!(ends.len(), runs.newest_first().len() - before, "{}", path.display());
            for note in ends {
                let entry = runs.find(note.run).unwrap();
                let status = runs.shown_status(&entry);
                assert_eq!(note.kind.as_str(), format!("run.{}", status.state.as_str()), "{}", path.display());
                let shown = serde_json::to_value(&status).unwrap();
                let event = Event::of(note.clone(), status, Some("lab"), usize::MAX);
                let body = body(&event);
                assert_eq!(body["data"], json!({"run": shown, "upstream": "lab", "is_cut": false}));
                assert_eq!(body["type"], note.kind.as_str());
                assert!(
                    !event.id.contains('.')
                        && event.id == Event::of(note.clone(), runs.shown_status(&entry), None, 0).id
                );
            }
        }
    }
    assert!(runs.newest_first().len() > 100);
}

#[tokio::test]
async fn an_approval_has_its_ids_and_its_tool_but_not_its_arguments() {
    let (runs, mut notes, _targets) = watched(100, true);
    ingest(&runs, "claude-code", &recording("claude-code", "control_permission.ndjson"), false).await;
    let notes = taken(&mut notes);
    let approvals: Vec<&Note> = notes.iter().filter(|note| note.kind == EventKind::ApprovalRequested).collect();
    assert!(!approvals.is_empty());
    let mut ids = std::collections::BTreeSet::new();
    for note in approvals {
        let entry = runs.find(note.run).unwrap();
        let event = Event::of(note.clone(), runs.shown_status(&entry), None, 4096);
        let body = body(&event);
        let approval = body["data"]["approval"].as_object().unwrap();
        let keys: Vec<&str> = approval.keys().map(String::as_str).filter(|key| *key != "reason").collect();
        assert_eq!(keys, ["approval_id", "requested_at_ms", "seq", "tool_name"]);
        assert_eq!(event.approval.as_deref(), approval["approval_id"].as_str());
        assert!(body["data"].get("upstream").is_none());
        ids.insert(event.id);
    }
    assert_eq!(ids.len(), notes.iter().filter(|note| note.approval.is_some()).count(), "each approval has its own id");
}

#[tokio::test]
async fn long_texts_are_cut_at_a_character() {
    let (runs, mut notes, _targets) = watched(100, true);
    ingest(&runs, "claude-code", &recording("claude-code", "long_text_200k.ndjson"), false).await;
    let note = taken(&mut notes).pop().unwrap();
    let mut status = runs.shown_status(&runs.find(note.run).unwrap());
    assert!(status.final_text.as_ref().unwrap().len() > 1000);
    status.message = Some("é".repeat(100));
    let event = Event::of(note, status, None, 65);
    let body = body(&event);
    assert_eq!(body["data"]["run"]["final_text"].as_str().unwrap().len(), 65);
    assert_eq!(body["data"]["run"]["message"].as_str().unwrap(), "é".repeat(32));
    assert_eq!(body["data"]["is_cut"], true);
    assert!(event.body.len() < 4096, "{}", event.body.len());
}

#[tokio::test]
async fn history_and_endpoints_that_do_not_exist_queue_nothing_and_a_full_queue_is_counted() {
    let input = recording("codex", "exec-command-ok.ndjson");
    let (runs, mut notes, _targets) = watched(100, true);
    ingest(&runs, "codex", &input, true).await;
    assert!(taken(&mut notes).is_empty() && !runs.newest_first().is_empty());
    let (runs, mut notes, targets) = watched(1, false);
    ingest(&runs, "codex", &input, false).await;
    assert!(taken(&mut notes).is_empty());
    let endpoint = Endpoint { name: "a".to_owned(), url: "http://127.0.0.1:9/".to_owned(), ..Endpoint::default() };
    targets.send_replace(shared(super::targets(&[endpoint]).unwrap()));
    for _ in 0..3 {
        ingest(&runs, "codex", &input, false).await;
    }
    assert_eq!(taken(&mut notes).len(), 1);
    let metrics = String::from_utf8(runs.scrape().await).unwrap();
    assert!(metrics.contains("framegate_webhook_events_lost_total 2"), "{metrics}");
}

#[tokio::test]
async fn all_filters_of_an_endpoint_must_admit_a_run() {
    let (runs, mut notes, _targets) = watched(100, true);
    ingest(&runs, "codex", &recording("codex", "exec-command-ok.ndjson"), false).await;
    let note = taken(&mut notes).pop().unwrap();
    let mut status = runs.shown_status(&runs.find(note.run).unwrap());
    let label = crate::runs::labels::Label::new("team", "web").unwrap();
    status.labels = crate::runs::labels::Labels::of([label]).unwrap();
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    for (events, upstreams, runners, label, expected) in [
        (&[][..], &[][..], &[][..], None, true),
        (&["run.completed"], &[], &[], None, true),
        (&["run.failed", "approval.requested"], &[], &[], None, false),
        (&["run.completed"], &["lab"], &["codex"], Some("web"), true),
        (&["run.completed"], &["other"], &["codex"], Some("web"), false),
        (&["run.completed"], &["lab"], &["claude-code"], Some("web"), false),
        (&["run.completed"], &["lab"], &["codex"], Some("api"), false),
    ] {
        let endpoint = Endpoint {
            url: "http://h/".to_owned(),
            events: texts(events),
            upstreams: texts(upstreams),
            runners: texts(runners),
            labels: label.map(|value| ("team".to_owned(), value.to_owned())).into_iter().collect(),
            ..Endpoint::default()
        };
        let target = Target::read(&endpoint).unwrap();
        assert_eq!(target.wants(&note, &status, Some("lab")), expected, "{endpoint:?}");
        assert_eq!(target.wants(&note, &status, None), expected && upstreams.is_empty(), "{endpoint:?}");
    }
}

#[test]
fn an_error_names_the_endpoint_and_not_the_secret() {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("framegate-secret-{}", Clock::System.new_id()));
    std::fs::write(&path, "whsec_c2hvcnQ=").unwrap();
    let missing = folder.join("no-such-file");
    for (files, variables, expected) in [
        (vec![path.clone()], vec![], "must be whsec_ and 24 to 64 bytes in base64"),
        (vec![missing], vec![], "secret_files: cannot read"),
        (vec![], vec!["NO_SUCH_VARIABLE".to_owned()], "secret_env: there is no environment variable NO_SUCH_VARIABLE"),
    ] {
        let (url, name) = ("http://h/".to_owned(), "ci".to_owned());
        let endpoint = Endpoint { name, url, secret_files: files, secret_env: variables, ..Endpoint::default() };
        let error = Target::read(&endpoint).unwrap_err().to_string();
        assert!(error.starts_with("webhooks, endpoint \"ci\", ") && error.contains(expected), "{error}");
        assert!(!error.contains("c2hvcnQ"), "{error}");
    }
    std::fs::remove_file(path).unwrap();
}
