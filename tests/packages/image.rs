//! The Dockerfile, as far as it can be read without Docker: what it copies exists, its stages fit together, and both images start the
//! proxy in the same way.

use crate::packed::{root, text};
use std::collections::{BTreeMap, BTreeSet};

/// The instructions of each stage, with continued lines joined. Instructions before the first stage have the name "".
fn stages() -> BTreeMap<String, Vec<(String, String)>> {
    let dockerfile = text("packaging/Dockerfile").replace("\\\n", " ");
    let mut stages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::from([(String::new(), Vec::new())]);
    let mut stage = String::new();
    for line in dockerfile.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (name, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no instruction: {line}"));
        if name == "FROM" {
            stage = rest.split_once(" AS ").unwrap_or_else(|| panic!("a stage without a name: {line}")).1.to_owned();
        }
        let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        stages.entry(stage.clone()).or_default().push((name.to_owned(), rest));
    }
    stages
}

fn all<'s>(stage: &'s [(String, String)], name: &str) -> Vec<&'s str> {
    stage.iter().filter(|(found, _)| found == name).map(|(_, rest)| rest.as_str()).collect()
}

#[test]
fn what_is_copied_exists() {
    let stages = stages();
    // Of the caller: `--build-context packages=DIR`.
    let mut known: BTreeSet<&str> = stages.keys().map(String::as_str).collect();
    known.insert("packages");
    let mut copied = 0;
    for (stage, instructions) in &stages {
        for words in all(instructions, "COPY").iter().map(|rest| rest.split(' ').collect::<Vec<_>>()) {
            let from = words.iter().find_map(|word| word.strip_prefix("--from="));
            let paths: Vec<&&str> = words.iter().filter(|word| !word.starts_with("--")).collect();
            for path in &paths[..paths.len() - 1] {
                copied += 1;
                match from {
                    Some(from) => assert!(known.contains(from), "{stage}: {from}"),
                    None => assert!(root().join(path).exists(), "{stage}: {path}"),
                }
            }
        }
    }
    assert!(copied > 15, "{copied}");
    let sources: Vec<&str> = all(&stages[""], "ARG");
    assert_eq!(sources, ["SOURCE=build"]);
    assert!(stages["binary"][0].1.starts_with("${SOURCE} "));
}

#[test]
fn the_compiler_is_that_of_the_workspace_and_the_binary_is_stripped() {
    let build = &stages()["build"];
    let manifest = text("Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    assert!(build[0].1.starts_with(&format!("rust:{version}-alpine")), "{}", build[0].1);
    assert!(all(build, "RUN").iter().any(|run| run.contains("strip -o /framegate target/release/framegate")));
}

#[test]
fn both_images_start_the_proxy_in_the_same_way() {
    let stages = stages();
    let (proxy, agents) = (&stages["proxy"], &stages["agents"]);
    for name in ["ENV", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "USER", "WORKDIR", "CMD"] {
        assert_eq!(all(proxy, name).len(), 1, "{name}");
        assert_eq!(all(proxy, name), all(agents, name), "{name}");
    }
    assert_eq!(all(proxy, "ENTRYPOINT"), ["[\"/usr/bin/framegate\"]"]);
    assert_eq!(all(agents, "ENTRYPOINT"), ["[\"/usr/bin/tini\", \"--\", \"/usr/bin/framegate\"]"]);
    // A build without `--target` makes the last stage.
    let dockerfile = text("packaging/Dockerfile");
    assert!(dockerfile.rsplit("\nFROM ").next().unwrap().starts_with("scratch AS proxy\n"));
    let install = all(agents, "RUN").join(" ");
    assert!(agents[0].1.starts_with("node:") && install.contains(" git "), "{install}");
}
