//! What is found, and what is not: over the recordings of all runners, while runs grow, after drops and restarts.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::ingest::{IngestFactory, Settings};
use crate::log::{FrameLog, MemoryLog};
use framegate_translators::runners::{RUNNERS, runner};
use proptest::prelude::*;
use std::path::Path;

const INPUT: &[u8] = include_bytes!("../../tests/fixtures/claude-code/parallel_tools.partial.ndjson");

fn runs() -> Arc<Runs> {
    let log: Arc<dyn FrameLog> = Arc::new(MemoryLog::new(1 << 30, 10_000));
    Arc::new(Runs::new(log, Gate::new(GateMode::Off).unwrap()))
}

fn options(path: Option<PathBuf>) -> Options {
    Options { path, text_bytes: 64 << 10, patience: Duration::from_secs(60) }
}

async fn ingest(runs: &Arc<Runs>, name: &str, input: &[u8]) -> Arc<Entry> {
    let settings = Settings {
        redaction: crate::config::Redaction::default().rules().unwrap().map(Arc::new),
        ..Settings::default()
    };
    let mut ingest = IngestFactory::new(runs.clone(), settings).ingest(runner(name), None, Arc::default());
    let ingested = ingest.ingested();
    ingest.feed(input).await.unwrap();
    ingest.finish().await.unwrap();
    ingested.runs()[0].clone()
}

fn question(words: &str) -> Question {
    Question { words: words.to_owned(), limit: 100, ..Question::default() }
}

async fn hits(search: &Search, question: &Question) -> Vec<Hit> {
    search.find(question, &|_| true).await.unwrap().hits
}

/// The places of all texts, in a form that can be compared.
fn places(search: &Search) -> Vec<(Uuid, Kind, u64, u64)> {
    let all = Kind::ALL.map(kind_tag).join(" OR ");
    let found = search.index.find(&format!("tags : ({all})"), (0, i64::MAX), usize::MAX >> 1, Duration::from_secs(60));
    let mut places: Vec<_> =
        found.unwrap().into_iter().map(|place| (place.stream.1, place.kind, place.first, place.last)).collect();
    places.sort_unstable();
    places
}

#[tokio::test]
async fn the_prompt_and_the_answer_of_every_recording_are_found() {
    let runs = runs();
    let mut sent = Vec::new();
    for runner in RUNNERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner.name);
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files.into_iter().filter(|file| file.is_file() && !file.ends_with("MANIFEST.json")).step_by(4) {
            let mut ingest =
                IngestFactory::new(runs.clone(), Settings::default()).ingest(Some(runner), None, Arc::default());
            let ingested = ingest.ingested();
            let _ = ingest.feed(&std::fs::read(&file).unwrap()).await;
            let _ = ingest.finish().await;
            sent.extend(ingested.runs().into_iter().map(|run| (file.clone(), run)));
        }
    }
    let search = Search::up_to_date(runs.clone(), &options(None)).await.unwrap();
    let mut compared = [0, 0];
    for (file, run) in sent {
        let status = run.status().clone();
        // A text that is not said in the run itself may be that of its result alone.
        for (at, text, kinds) in [
            (0, status.title.as_deref().map(str::to_owned), [Kind::Prompt, Kind::Prompt]),
            (1, status.final_text.clone(), [Kind::Answer, Kind::Error]),
        ] {
            let words: Vec<String> = text
                .unwrap_or_default()
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|word| word.len() > 2)
                .take(3)
                .map(str::to_owned)
                .collect();
            if words.is_empty() {
                continue;
            }
            let asked = Question { run: Some(status.run_id), kinds: kinds.to_vec(), ..question(&words.join(" ")) };
            if !hits(&search, &asked).await.is_empty() {
                compared[at] += 1;
            } else if at == 0 {
                panic!("{}: {words:?}", file.display());
            }
        }
    }
    assert!(compared[0] > 80 && compared[1] > 200, "{compared:?}");
}

#[tokio::test]
async fn what_was_dropped_or_pruned_is_not_found() {
    let runs = runs();
    let (search, _indexing) = Search::start(runs.clone(), &options(None)).unwrap();
    let run = ingest(&runs, "claude-code", INPUT).await;
    let until = async |wanted: &dyn Fn(usize) -> bool| {
        let begin = crate::clock::Moment::now();
        let asked = Question { run: Some(run.stream.id), ..question("b*") };
        loop {
            let found = search.find(&asked, &|_| true).await.unwrap();
            if found.is_complete && wanted(found.hits.len()) {
                return found.hits.len();
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{}", found.hits.len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let all = until(&|hits| hits > 1).await;
    let before = places(&search).len();
    let half = run.status().frames / 2;
    runs.prune(&run, half, 1).await.unwrap();
    until(&|hits| hits < all).await;
    let kept = async |most: usize| {
        let begin = crate::clock::Moment::now();
        while places(&search).len() > most {
            assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", places(&search));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    kept(before - 1).await;
    runs.drop_stream(&run).await.unwrap();
    kept(0).await;
}

#[tokio::test]
async fn what_redaction_removed_is_not_found() {
    let runs = runs();
    let secret = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let input = String::from_utf8(INPUT.to_vec())
        .unwrap()
        .replace("session_id\":\"", &format!("note\":\"{secret}\",\"session_id\":\""));
    let input = format!(
        "{input}{}\n",
        serde_json::json!({"type": "user", "session_id": "other", "message": {"role": "user", "content": format!("my token is {secret}, keep it")}})
    );
    ingest(&runs, "claude-code", input.as_bytes()).await;
    let search = Search::up_to_date(runs.clone(), &options(None)).await.unwrap();
    assert!(hits(&search, &question(&secret)).await.is_empty());
    assert!(hits(&search, &question("ghp*")).await.is_empty());
    assert_eq!(hits(&search, &question("\"my token is\"")).await.len(), 1);
}

#[tokio::test]
async fn a_caller_finds_what_it_may_see_page_by_page() {
    let runs = runs();
    let (one, other) = (ingest(&runs, "claude-code", INPUT).await, ingest(&runs, "claude-code", INPUT).await);
    assert_ne!(one.stream.id, other.stream.id);
    let search = Search::up_to_date(runs.clone(), &options(None)).await.unwrap();
    let asked = question("b*");
    let all_a = hits(&search, &asked).await;
    assert!(all_a.len() > 4 && all_a.is_sorted_by(|one, two| one.timestamp_ms >= two.timestamp_ms), "{}", all_a.len());
    let mine = search.find(&asked, &|entry| entry.stream.id == one.stream.id).await.unwrap().hits;
    assert!(
        !mine.is_empty() && mine.len() < all_a.len() && mine.iter().all(|hit| hit.entry.stream.id == one.stream.id)
    );
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let found = search.find(&Question { limit: 2, after, ..asked.clone() }, &|_| true).await.unwrap();
        assert!(found.hits.len() <= 2);
        paged.extend(found.hits.iter().map(|hit| (hit.entry.stream.id, hit.kind, hit.first_frame)));
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    let whole: Vec<_> = all_a.iter().map(|hit| (hit.entry.stream.id, hit.kind, hit.first_frame)).collect();
    assert_eq!(paged, whole);
    // Each filter alone.
    let of_session = Question { session: Some(one.stream.session.id), ..asked.clone() };
    assert!(!hits(&search, &of_session).await.is_empty());
    assert!(hits(&search, &Question { session: Some(Uuid::nil()), ..asked.clone() }).await.is_empty());
    assert!(hits(&search, &Question { runner: Some("codex"), ..asked.clone() }).await.is_empty());
    assert_eq!(hits(&search, &Question { runner: Some("claude-code"), ..asked.clone() }).await.len(), whole.len());
    let newest = all_a[0].timestamp_ms;
    assert!(hits(&search, &Question { since_ms: Some(newest + 1), ..asked.clone() }).await.is_empty());
    let (early, late) =
        (Question { until_ms: Some(newest), ..asked.clone() }, Question { since_ms: Some(newest), ..asked });
    assert_eq!(hits(&search, &early).await.len() + hits(&search, &late).await.len(), whole.len());
}

#[tokio::test]
async fn a_file_is_taken_up_again_or_made_again() {
    let folder = std::env::temp_dir().join(format!("framegate-search-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("log.db-search");
    let _ = std::fs::remove_file(&file);
    let runs = runs();
    ingest(&runs, "claude-code", INPUT).await;
    let search = Search::up_to_date(runs.clone(), &options(Some(file.clone()))).await.unwrap();
    let all = places(&search);
    assert!(all.len() > 4);
    let error = Search::open(runs.clone(), &options(Some(file.clone()))).err().unwrap().to_string();
    assert!(error.contains("in use"), "{error}");
    drop(search);
    // Another run, while the index is closed.
    let later = ingest(&runs, "codex", include_bytes!("../../tests/fixtures/codex/exec-text-plain.ndjson")).await;
    let search = Search::up_to_date(runs.clone(), &options(Some(file.clone()))).await.unwrap();
    assert!(places(&search).len() > all.len());
    drop(search);
    // A run that is dropped while the index is closed.
    runs.drop_stream(&later).await.unwrap();
    let search = Search::up_to_date(runs.clone(), &options(Some(file.clone()))).await.unwrap();
    assert_eq!(places(&search), all);
    drop(search);
    // A damaged file is made again.
    let mut bytes = std::fs::read(&file).unwrap();
    let end = bytes.len().min(4096);
    bytes[100..end].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let search = Search::up_to_date(runs.clone(), &options(Some(file.clone()))).await.unwrap();
    assert_eq!(places(&search), all);
    drop(search);
    // Another program's file is not touched.
    let other = folder.join("other.db");
    let _ = std::fs::remove_file(&other);
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let error = format!("{:#}", Search::up_to_date(runs, &options(Some(other))).await.err().unwrap());
    assert!(error.contains("another program"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_text_is_indexed_up_to_a_bound() {
    let runs = runs();
    let prompt = |end: usize, word: &str| format!("{} {word}", "x".repeat(end - word.len() - 1));
    for (session, text) in [("at", prompt(1024, "inside")), ("beyond", prompt(1025, "outside"))] {
        let record =
            serde_json::json!({"type": "user", "session_id": session, "message": {"role": "user", "content": text}});
        ingest(&runs, "claude-code", format!("{record}\n").as_bytes()).await;
    }
    let search = Search::up_to_date(runs, &Options { text_bytes: 1024, ..options(None) }).await.unwrap();
    assert_eq!(hits(&search, &question("inside")).await.len(), 1);
    assert!(hits(&search, &question("outside")).await.is_empty());
}

#[tokio::test]
async fn a_wrong_query_says_what_is_wrong() {
    let search = Search::up_to_date(runs(), &options(None)).await.unwrap();
    for wrong in ["", "-a", "!!"] {
        assert!(matches!(search.find(&question(wrong), &|_| true).await, Err(SearchError::Query(_))), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A run that is indexed while it grows has the same texts in the index as one that is indexed as a whole, and so has one whose indexer was
    /// started again in between.
    #[test]
    fn the_index_of_a_run_does_not_depend_on_when_it_was_indexed(
        cuts in prop::collection::vec((0..INPUT.len(), any::<bool>()), 0..6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = std::env::temp_dir().join(format!("framegate-search-cuts-{}", Uuid::now_v7()));
            std::fs::create_dir_all(&folder).unwrap();
            let file = Some(folder.join("index"));
            let runs = runs();
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut ingest = IngestFactory::new(runs.clone(), Settings::default()).ingest(runner("claude-code"), None, Arc::default());
            let mut opened = Some(Search::open(runs.clone(), &options(file.clone())).unwrap());
            let mut begin = 0;
            for (at, is_restart) in cuts {
                ingest.feed(&INPUT[begin..at]).await.unwrap();
                begin = at;
                if is_restart {
                    drop(opened.take());
                    opened = Some(Search::open(runs.clone(), &options(file.clone())).unwrap());
                }
                opened.as_mut().unwrap().1.catch_up().await.unwrap();
            }
            ingest.feed(&INPUT[begin..]).await.unwrap();
            ingest.finish().await.unwrap();
            let (search, mut indexer) = opened.unwrap();
            indexer.catch_up().await.unwrap();
            let whole = Search::up_to_date(runs, &options(None)).await.unwrap();
            assert_eq!(places(&search), places(&whole));
            drop((search, indexer));
            std::fs::remove_dir_all(folder).unwrap();
        });
    }
}
