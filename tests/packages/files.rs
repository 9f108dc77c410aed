//! The workflows and scripts of a release: names, versions and targets of different files agree.

use crate::packed::{root, text};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];

fn words(text: &str, begin: &str) -> BTreeSet<String> {
    let values = text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(begin));
    values.map(|value| value.trim().to_owned()).collect()
}

#[test]
fn actions_are_pinned_and_permissions_are_small() {
    for name in WORKFLOWS {
        let workflow = text(name);
        let used = words(&workflow, "uses: ");
        assert!(!used.is_empty(), "{name}");
        for action in used.iter().filter(|action| !action.starts_with("./")) {
            let (_, version) = action.split_once('@').unwrap_or_else(|| panic!("{name}: {action}"));
            let is_full = version
                .strip_prefix('v')
                .is_some_and(|version| version.split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3);
            let is_commit = version.len() == 40 && version.chars().all(|char| char.is_ascii_hexdigit());
            assert!(is_full || is_commit, "{name}: {action}");
        }
        // Nothing is written unless a job asks for it, and no job leaves a token in its files.
        assert!(workflow.contains("\npermissions:\n  contents: read\n"), "{name}");
        assert!(!workflow.contains("write-all") && !workflow.contains("secrets."), "{name}");
        assert_eq!(
            workflow.matches("actions/checkout@").count(),
            workflow.matches("persist-credentials: false").count(),
            "{name}"
        );
        // Each job ends, and names its machine.
        assert_eq!(workflow.matches("runs-on: ").count(), workflow.matches("timeout-minutes: ").count(), "{name}");
        assert!(!workflow.contains("-latest"), "{name}");
    }
}

#[test]
fn scripts_that_workflows_run_exist() {
    let all: String = WORKFLOWS.iter().map(|name| text(name)).collect();
    let scripts: BTreeSet<&str> = all
        .split_whitespace()
        .filter(|word| word.starts_with("packaging/") && word.ends_with(".sh") || *word == ".ci/run")
        .collect();
    assert_eq!(scripts.len(), 5, "{scripts:?}");
    for script in scripts {
        let mode =
            fs::metadata(root().join(script)).unwrap_or_else(|error| panic!("{script}: {error}")).permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{script} is not executable");
    }
}

#[test]
fn the_release_builds_what_packages_need() {
    let workflow = text(WORKFLOWS[1]);
    let binaries = workflow.split("\n  binaries:\n").nth(1).unwrap().split("\n  packages:\n").next().unwrap();
    let built = words(binaries, "target: ");
    let formula = text("packaging/release.sh");
    let formula = formula.lines().find_map(|line| line.strip_prefix("FORMULA=\"")?.strip_suffix('"')).unwrap();
    assert_eq!(built, formula.split(' ').map(str::to_owned).collect());
    let tried = workflow.split("\n  try:\n").nth(1).unwrap().split("\n  image:\n").next().unwrap();
    assert_eq!(words(tried, "target: "), built);
    let install = text("packaging/action/install.sh");
    assert!(built.iter().all(|target| install.contains(&format!("target={target} "))), "the action installs {built:?}");
    for name in WORKFLOWS {
        let version = text("Cargo.toml");
        let version =
            version.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"')).unwrap();
        let workflow = text(name);
        let used = words(&workflow, "run: rustup toolchain install ");
        assert!(used.iter().all(|used| used.starts_with(&format!("{version} "))), "{name}: {used:?}");
    }
}

#[test]
fn the_flake_has_the_features_of_the_release() {
    let flake = text("flake.nix");
    let build = text("packaging/build.sh");
    let features = build.lines().find_map(|line| line.strip_prefix("FEATURES=${FEATURES-")?.strip_suffix('}')).unwrap();
    for feature in features.split(',') {
        assert!(flake.contains(&format!("\"{feature}\"")), "{feature}");
        assert!(text("Cargo.toml").contains(&format!("\n{feature} = [")), "{feature}");
    }
    let notices = text("packaging/notices.py");
    assert!(notices.contains(&format!("default=\"{features}\"")), "the licences are those of other features");
}
