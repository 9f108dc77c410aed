//! The figures and labels of runs in the database: after a kill, in a database of an older version, beside damage.

use crate::proxy::Proxy;
use crate::restart::start;
use crate::restarts::{FIGURES, UNPRICED, fill, stats, statuses};
use crate::scratch::Scratch;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

fn filled(scratch: &Scratch) -> Proxy {
    let proxy = start(scratch, &[]);
    fill(&proxy);
    proxy
}

/// Runs `framegate stats` on the database; returns the report and what was said on stderr.
fn printed(scratch: &Scratch, args: &[&str]) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args(["stats", "--format", "json", "--db"]).arg(scratch.path()).args(args);
    let output = command.env_remove("FRAMEGATE_LOG").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

/// Makes the stored statuses those of a version without these figures.
fn forget_figures(scratch: &Scratch) -> usize {
    let database = Connection::open(scratch.path()).unwrap();
    let sql = "UPDATE streams SET status = json_remove(status, '$.turns', '$.tools', '$.failed_tool_calls', '$.title', '$.model')";
    database.execute(sql, []).unwrap()
}

#[test]
fn runs_of_an_older_version_get_what_their_frames_tell() {
    let scratch = Scratch::new("figures-old");
    let proxy = filled(&scratch);
    let (before, figures) = (statuses(&proxy), stats(&proxy, "?by=tool"));
    drop(proxy);
    assert!(forget_figures(&scratch) >= FIGURES.len());
    // Without the proxy, what is not known is absent, and a note says so.
    let (report, said) = printed(&scratch, &["--by", "tool"]);
    assert_eq!(report["runs_without_tools"], json!(FIGURES.len()));
    assert_eq!(report["total"]["tool_calls"], figures["total"]["tool_calls"]);
    assert!(report["total"].get("failed_tool_calls").is_none() && report["tools"] == json!([]), "{report:#}");
    assert!(said.contains("the tools and failed tool calls of 4 runs are not known"), "{said}");
    let proxy = start(&scratch, &[]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while stats(&proxy, "").get("runs_without_tools").is_some() {
        assert!(Instant::now() < deadline, "the runs are not completed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((statuses(&proxy), stats(&proxy, "?by=tool")), (before, figures.clone()));
    // They are stored, so that the next start has nothing to compute.
    drop(proxy);
    assert_eq!(printed(&scratch, &["--by", "tool"]), (figures, UNPRICED.to_owned()));
}

#[test]
fn a_damaged_status_is_left_out_with_a_note_and_computed_again_by_the_proxy() {
    let scratch = Scratch::new("figures-damaged");
    let proxy = filled(&scratch);
    let figures = stats(&proxy, "?by=runner");
    drop(proxy);
    let database = Connection::open(scratch.path()).unwrap();
    let sql = "UPDATE streams SET status = ?1 WHERE key = (SELECT min(key) FROM streams WHERE kind = 'session')";
    assert_eq!(database.execute(sql, ["{\"run_id\":"]).unwrap(), 1);
    drop(database);
    let (report, said) = printed(&scratch, &[]);
    assert_eq!(report["total"]["runs"], json!(FIGURES.len() - 1));
    assert!(said.contains("1 runs have no readable status and do not count"), "{said}");
    let proxy = start(&scratch, &[]);
    assert_eq!(stats(&proxy, "?by=runner"), figures);
}
