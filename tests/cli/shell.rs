//! `framegate completions` and `framegate man`: generated from the command line, for every command.

use std::process::{Command, Output};

fn framegate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_framegate")).args(args).output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = framegate(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const COMMANDS: [&str; 10] =
    ["serve", "translate", "watch", "check", "contracts", "runners", "schema", "health", "completions", "man"];

#[test]
fn completions_for_every_shell_have_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let completions = text(&["completions", shell]);
        for command in COMMANDS {
            assert!(completions.contains(command), "{shell} does not know {command}");
        }
    }
    let wrong = framegate(&["completions", "cmd.exe"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("bash"));
}

#[test]
fn bash_accepts_the_completions() {
    let script = std::env::temp_dir().join(format!("framegate-completions-{}", std::process::id()));
    std::fs::write(&script, text(&["completions", "bash"])).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    std::fs::remove_file(&script).unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn framegate_and_each_command_have_a_man_page() {
    let page = text(&["man"]);
    assert!(page.contains(".TH framegate 1"), "{page}");
    for command in COMMANDS {
        assert!(page.contains(&format!("framegate\\-{command}")), "{command} is not in {page}");
        let own = text(&["man", command]);
        assert!(own.contains(&format!(".TH framegate-{command} 1")), "{own}");
    }
    assert!(text(&["man", "serve"]).contains("\\-\\-config"));
    let wrong = framegate(&["man", "nothing"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("serve"));
    // Also for subcommands of commands.
    let list = text(&["man", "log", "list"]);
    assert!(list.contains(".TH framegate-log-list 1") && list.contains("\\-\\-limit"), "{list}");
    let wrong = framegate(&["man", "log", "nothing"]);
    assert!(
        String::from_utf8(wrong.stderr)
            .unwrap()
            .contains("framegate-log has no subcommand \"nothing\"; use one of list")
    );
    let wrong = framegate(&["man", "serve", "nothing"]);
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("it has no subcommands"));
}

#[test]
fn all_man_pages_can_be_written_at_once_with_the_exit_codes() {
    let dir = std::env::temp_dir().join(format!("framegate-man-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    text(&["man", "--dir", dir.to_str().unwrap()]);
    let mut names: Vec<String> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let page = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    for name in [
        "framegate.1",
        "framegate-serve.1",
        "framegate-run.1",
        "framegate-log.1",
        "framegate-log-list.1",
        "framegate-log-prune.1",
    ] {
        assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
        assert!(page(name).contains(&format!(".TH {} 1", name.trim_end_matches(".1"))), "{name}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    for (name, part) in [("translate", "or has no run"), ("check", "or has no run"), ("run", "130"), ("serve", "78")] {
        // The help text is wrapped.
        let help = text(&[name, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("Exit codes:") && help.contains(part), "{help}");
        assert!(page(&format!("framegate-{name}.1")).contains(part), "{name}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
