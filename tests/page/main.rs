//! The page of `ui/` in a real browser, against the built proxy.
//!
//! Each test runs one program of this folder with node's test runner. The programs start their proxies themselves, because several
//! of them restart a proxy or cut its connections while the page is open.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a program, and shows what it printed if one of its tests fails.
fn run(program: &str) {
    assert!(std::env::var_os("CHROMIUM").is_some(), "CHROMIUM must be the path of a Chromium");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/page");
    let output = Command::new("node")
        .args(["--test", "--test-reporter=spec", program])
        .current_dir(folder)
        .env("FRAMEGATE", env!("CARGO_BIN_EXE_framegate"))
        .env("NO_PROXY", "*")
        .env_remove("NODE_TEST_CONTEXT")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{program}: {}\n{text}", output.status);
    // A program without a test proves nothing.
    let has_passed = |line: &str| line.trim_start_matches(['ℹ', ' ']).starts_with("pass ") && !line.ends_with(" 0");
    assert!(text.lines().any(has_passed), "{program} ran no test\n{text}");
}

/// One test for each program.
macro_rules! programs {
    ($($test:ident: $program:literal,)*) => {$(
        #[test]
        #[ignore = "needs node, tests/page/node_modules and a browser in CHROMIUM: ./test.sh runs it"]
        fn $test() {
            run($program);
        }
    )*

        /// A program that no test runs would check nothing.
        #[test]
        fn every_program_has_a_test() {
            let mut found: Vec<String> = std::fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/page"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.ends_with(".test.mjs"))
                .collect();
            found.sort();
            let mut known = vec![$($program),*];
            known.sort_unstable();
            assert_eq!(found, known);
        }
    };
}

programs! {
    browsers_page_access: "access.test.mjs",
    browsers_page_accessibility: "accessibility.test.mjs",
    browsers_page_acting: "acting.test.mjs",
    browsers_page_bounds: "bounds.test.mjs",
    browsers_page_conversation: "conversation.test.mjs",
    browsers_page_harness: "harness.test.mjs",
    browsers_page_hostile: "hostile.test.mjs",
    browsers_page_live: "live.test.mjs",
    browsers_page_runs: "runs.test.mjs",
    browsers_page_search: "search.test.mjs",
    browsers_page_timeline: "timeline.test.mjs",
    browsers_page_trace: "trace.test.mjs",
}
