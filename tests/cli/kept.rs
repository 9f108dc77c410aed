//! What runners keep on a machine: recorded session files, and where each runner has them.

use framegate_translators::runners::{History, Runner};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder in which a runner keeps files that its decoder reads.
pub fn of_files(runner: &Runner) -> Option<&'static History> {
    runner.history.iter().find(|history| history.database.is_none())
}

/// A file in that folder below a home directory, whose stars are `name`.
pub fn file(home: &Path, history: &History, name: &str) -> PathBuf {
    let path = home.join(history.folder).join(history.files.replace("*.jsonl*", "*.jsonl").replace('*', name));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

/// The recorded session files of a runner, each with the name of the recording. Files of subagents have folders of their own.
pub fn recorded(runner: &Runner) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner.name);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let stem = |name: &str| {
        let stem = match name.strip_prefix("rollout-") {
            Some(rest) => rest.strip_suffix(".jsonl"),
            None => name.strip_suffix(".transcript.jsonl").or_else(|| name.strip_suffix(".session.jsonl")),
        };
        stem.filter(|_| !name.contains(".sub1.")).map(str::to_owned)
    };
    files.into_iter().filter_map(|path| Some((path.clone(), stem(path.file_name()?.to_str()?)?))).collect()
}

/// A listed run without what differs between two imports of the same files. The time of the last frame may be that of a record outside the run.
pub fn comparable(mut run: Value) -> Value {
    for other in ["run_id", "kept_opening", "events_checked", "validation_failures", "ended_at_ms", "updated_at_ms"] {
        run.as_object_mut().unwrap().remove(other);
    }
    run
}
