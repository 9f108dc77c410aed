//! The GitHub Action: its scripts, with the variables that GitHub sets.

use crate::packed::{Ran, VERSION, dist, ran, root, target, text};
use crate::proxy::Folder;
use std::fs;
use std::process::Command;

const RECORDING: &str = "tests/fixtures/claude-code/bash_ok.partial.ndjson";

/// What a step did, and what it left for GitHub.
#[derive(Debug)]
struct Step {
    ran: Ran,
    outputs: String,
    summary: String,
    path: String,
}

fn step(script: &str, folder: &Folder, variables: &[(&str, &str)]) -> Step {
    let file = |name: &str| folder.path(name);
    for name in ["output", "summary", "path"] {
        folder.write(name, "");
    }
    let mut command = Command::new(root().join("packaging/action").join(script));
    command
        .env("GITHUB_OUTPUT", file("output"))
        .env("GITHUB_STEP_SUMMARY", file("summary"))
        .env("GITHUB_PATH", file("path"));
    command
        .env("RUNNER_TEMP", file("temp"))
        .env("RUNNER_OS", "Linux")
        .env("FRAMEGATE", env!("CARGO_BIN_EXE_framegate"));
    let ran = ran(command.envs(variables.iter().copied()));
    Step { ran, outputs: folder.read("output"), summary: folder.read("summary"), path: folder.read("path") }
}

fn gate(folder: &Folder, variables: &[(&str, &str)]) -> Step {
    step("gate.sh", folder, variables)
}

#[test]
#[ignore = "needs jq"]
fn action_passes_and_summarises_a_recording() {
    let folder = Folder::new();
    let files = format!("{RECORDING}\n\n  tests/fixtures/codex/exec-*.ndjson  \n");
    let step = gate(&folder, &[("INPUT_FILES", &files), ("INPUT_FROM", "auto"), ("INPUT_CONTRACT", "sse.v1")]);
    assert_eq!(step.ran.code, Some(0), "{step:#?}");
    assert!(step.ran.out.contains("::warning file=tests/fixtures/codex/"), "{step:#?}");
    assert!(
        step.outputs.contains("result=passed\nruns=") && step.outputs.contains("\ncost-usd=0.00192\n"),
        "{step:#?}"
    );
    assert!(step.summary.contains("no findings in `sse.v1`"), "{step:#?}");
    // The figures of tests/fixtures/claude-code/bash_ok.partial.ndjson.
    let row = "| claude-code | claude-opus-5-5 | 1 | 1 | 0 | 0 | 1 | 0 | 220 | 0 | 52 | $0.0019 |";
    assert!(step.summary.lines().any(|line| line == row), "{step:#?}");
    assert!(step.summary.contains("| **all** | |") && step.summary.contains("runs reported no cost."), "{step:#?}");
    let step = gate(&folder, &[("INPUT_FILES", RECORDING), ("INPUT_SUMMARY", "false")]);
    assert!(step.ran.code == Some(0) && step.summary.is_empty(), "{step:#?}");
}

#[test]
#[ignore = "needs jq"]
fn action_fails_if_there_are_findings() {
    let folder = Folder::new();
    let events = folder.write("events.ndjson", "{}\n");
    let step = gate(&folder, &[("INPUT_FILES", &events), ("INPUT_FROM", "")]);
    assert_eq!((step.ran.code, &step.outputs[..]), (Some(1), "result=findings\n"), "{step:#?}");
    assert!(step.ran.out.contains(&format!("::error file={events},line=1,title=start.missing::")), "{step:#?}");
    assert!(step.summary.contains("findings in `sse.v1`") && step.summary.contains("3 errors"), "{step:#?}");
    // What cannot be read fails too. The others are still summarised.
    let noise = folder.write("noise.txt", "no JSON\n");
    let step = gate(&folder, &[("INPUT_FILES", &format!("{noise}\n{RECORDING}"))]);
    assert!(step.ran.code == Some(2) && step.outputs.starts_with("result=unreadable\nruns=1\n"), "{step:#?}");
    // Without a file, nothing would be checked.
    for nothing in ["no/such/*.jsonl", "", " \n"] {
        let step = gate(&folder, &[("INPUT_FILES", nothing)]);
        assert!(step.ran.code == Some(2) && step.ran.out.starts_with("::error title=framegate::"), "{step:#?}");
    }
    let step = gate(&folder, &[("INPUT_FILES", RECORDING), ("INPUT_CONTRACT", "no.v1")]);
    assert!(step.ran.code == Some(2) && step.ran.err.contains("no.v1"), "{step:#?}");
}

#[test]
#[ignore = "needs jq"]
fn action_keeps_texts_of_recordings_out_of_markup() {
    let folder = Folder::new();
    let recorded = text(RECORDING).replace("claude-opus-5-5", "a|<b>`x`[y](z)&#32;");
    let name = "--with spaces [and] $(touch made).ndjson";
    folder.write(name, &recorded);
    let path = folder.path(name);
    let step = gate(&folder, &[("INPUT_FILES", path.to_str().unwrap())]);
    assert_eq!(step.ran.code, Some(0), "{step:#?}");
    let cell = r"| claude-code | a\|&lt;b&gt;\`x\`\[y\](z)&amp;#32; | 1 |";
    assert!(step.summary.contains(cell), "{step:#?}");
    assert!(!root().join("made").exists() && !folder.path("made").exists());
}

/// The folder of a release as its URL has it: `v1.2.3` with an archive and its checksum.
fn released(folder: &Folder) -> (String, String) {
    let name = format!("framegate-{VERSION}-{}-unknown-linux-musl.tar.gz", std::env::consts::ARCH);
    let archive = fs::read_dir(dist()).unwrap().map(|entry| entry.unwrap().path());
    let archive =
        archive.into_iter().find(|path| path.to_str().unwrap().ends_with(&format!("{}.tar.gz", target()))).unwrap();
    // The archive has the name of the target in its paths, so it is packed again as the released one.
    let releases = folder.path("releases").join(format!("v{VERSION}"));
    fs::create_dir_all(&releases).unwrap();
    let inner = name.trim_end_matches(".tar.gz");
    let script = "cd \"$1\" && tar -xzf \"$2\" && mv framegate-*/ \"$3\" && tar -czf \"$3.tar.gz\" \"$3\" && rm -r \"$3\" && sha256sum *.gz > SHA256SUMS";
    let made =
        ran(Command::new("sh").args(["-c", script, "sh"]).arg(&releases).arg(archive).arg(inner).env("GZIP", "-1"));
    assert_eq!(made.code, Some(0), "{made:#?}");
    (format!("file://{}", folder.path("releases").display()), name)
}

#[test]
#[ignore = "needs curl"]
fn action_installs_a_release_whose_checksum_is_right() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("temp")).unwrap();
    let (releases, name) = released(&folder);
    let cpu = if std::env::consts::ARCH == "aarch64" { "ARM64" } else { "X64" };
    let install = |more: &[(&str, &str)]| {
        let variables = [("FRAMEGATE_RELEASES", &releases[..]), ("RUNNER_ARCH", cpu)];
        step("install.sh", &folder, &[&variables[..], more].concat())
    };
    // A damaged archive is not unpacked.
    let archive = folder.path("releases").join(format!("v{VERSION}")).join(&name);
    let whole = fs::read(&archive).unwrap();
    fs::write(&archive, [&whole[..], b"more"].concat()).unwrap();
    let step = install(&[]);
    assert!(step.ran.code == Some(2) && step.ran.out.contains("and the release lists"), "{step:#?}");
    assert!(step.outputs.is_empty() && step.path.is_empty(), "{step:#?}");
    fs::write(&archive, whole).unwrap();
    // The version is that of the action, with its repository beside it.
    let step = install(&[]);
    assert_eq!(step.ran.code, Some(0), "{step:#?}");
    assert!(step.ran.out.contains(&format!("framegate {VERSION}\n")), "{step:#?}");
    let binary = step.outputs.strip_prefix("binary=").unwrap().trim();
    assert_eq!(binary, format!("{}/framegate", step.path.trim()));
    let step = gate(&folder, &[("FRAMEGATE", binary), ("INPUT_FILES", RECORDING)]);
    assert_eq!(step.ran.code, Some(0), "{step:#?}");

    for (variables, message) in [
        (&[("INPUT_VERSION", "99.0.0")][..], "is 99.0.0 a released version?"),
        (&[("INPUT_VERSION", "../../x")], "use a version such as 0.1.0"),
        (&[("RUNNER_OS", "Windows")], "no binary for Windows"),
        (&[("INPUT_BINARY", "no/such/file")], "no executable file"),
    ] {
        let step = install(variables);
        assert!(step.ran.code == Some(2) && step.ran.out.contains(message), "{message}: {step:#?}");
    }
    let step = install(&[("INPUT_BINARY", env!("CARGO_BIN_EXE_framegate"))]);
    assert_eq!(step.outputs, format!("binary={}\n", env!("CARGO_BIN_EXE_framegate")), "{step:#?}");
}

#[test]
fn the_action_passes_each_input_to_its_scripts() {
    let action = text("action.yml");
    let inputs = action.split("\ninputs:\n").nth(1).unwrap().split("\noutputs:\n").next().unwrap();
    let names: Vec<&str> = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':')).collect();
    assert!(names.len() >= 7, "{names:?}");
    let scripts = text("packaging/action/gate.sh") + &text("packaging/action/install.sh");
    for name in names {
        let variable = format!("INPUT_{}", name.to_uppercase());
        assert!(action.contains(&format!("        {variable}: ${{{{ inputs.{name} }}}}\n")), "{name}");
        assert!(scripts.contains(&format!("${{{variable}")), "{variable}");
    }
    // A value of a caller within the text of a script could be a command.
    for line in action.lines().filter(|line| line.trim_start().starts_with("run:")) {
        assert!(!line.contains("${{"), "{line}");
        let script = line.split("$GITHUB_ACTION_PATH/").nth(1).unwrap().split('"').next().unwrap();
        assert!(root().join(script).exists(), "{script}");
    }
    for output in ["result", "runs", "cost-usd"] {
        assert!(action.contains(&format!("steps.gate.outputs.{output} ")), "{output}");
    }
}
