//! Gemini CLI, Qwen Code, pi and GitHub Copilot CLI, at pinned versions, against a scripted model: their own output, and three of them as
//! ACP agents.

use crate::model::{Model, Say};
use crate::real::{
    continue_session, continue_session_after, decide, decide_ending, decide_two_calls, interrupt_run, order, real,
    send_message, send_messages_during_a_run,
};
use crate::started::Started;
use serde_json::json;

/// For each program, the settings of its upstream, and the environment in which it uses the scripted model at `{address}`.
const NEEDS: &[(&str, &str, &str)] = &[
    (
        "gemini",
        "model = \"gemini-2.5-pro\"\n",
        "GOOGLE_GEMINI_BASE_URL = \"http://{address}\"\nGEMINI_API_KEY = \"test\"\nGEMINI_CLI_TRUST_WORKSPACE = \"true\"\n",
    ),
    ("qwen", "", "OPENAI_BASE_URL = \"http://{address}/v1\"\nOPENAI_API_KEY = \"test\"\nOPENAI_MODEL = \"one\"\n"),
    ("pi", "model = \"scripted/one\"\n", ""),
    (
        "copilot",
        "",
        "COPILOT_OFFLINE = \"true\"\nCOPILOT_PROVIDER_BASE_URL = \"http://{address}/v1\"\n\
         COPILOT_PROVIDER_API_KEY = \"test\"\nCOPILOT_MODEL = \"one\"\n",
    ),
];

/// What a program needs.
pub fn needs(name: &str, model: &Model) -> (&'static str, String) {
    let found = NEEDS.iter().find(|(program, ..)| *program == name);
    let (_, settings, environment) = found.copied().unwrap_or_default();
    (settings, environment.replace("{address}", &model.address.to_string()))
}

/// The settings files of the programs.
pub fn write_settings(started: &Started, model: &Model) {
    let gemini = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": true},
        "privacy": {"usageStatisticsEnabled": false}});
    let qwen = json!({"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false}});
    let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
    let one = json!({"id": "one", "name": "One", "contextWindow": 100_000, "maxTokens": 8_000, "input": ["text"],
        "reasoning": false, "cost": cost});
    let base = format!("http://{}/v1", model.address);
    let provider = json!({"baseUrl": base, "api": "openai-completions", "apiKey": "test", "models": [one]});
    let pi = json!({"providers": {"scripted": provider}});
    for (folder, file, content) in
        [(".gemini", "settings.json", gemini), (".qwen", "settings.json", qwen), (".pi/agent", "models.json", pi)]
    {
        let folder = started.folder.path(&format!("home/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), content.to_string()).unwrap();
    }
}

/// Both commands of `decide_two_calls`, in the words of Gemini CLI and of Qwen Code.
fn shell(command: &str) -> Say {
    Say::Tool("run_shell_command", json!({"command": command, "description": "a file", "is_background": false}))
}

/// A program that is killed in the middle of a turn: its run fails, and nothing of it is left.
fn die(preset: &str, name: &str) {
    let never = std::path::PathBuf::from("/no/such/file");
    let model = Model::with_script(vec![vec![Say::Text("I begin."), Say::Until(never)]]);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("Talk."));
    started.wait_for(&run, "the model gets no request", |_| !model.requests().is_empty());
    started.kill("node");
    started.kill(name);
    let status = started.wait_for_end(&run);
    assert_eq!(status["state"], json!("failed"), "{status}\n{}", started.folder.read("log"));
    started.leaves_nothing();
}

/// Gemini CLI names the file of a session by the minute. A process that loads a session within the minute in which it began first
/// empties its file, and then does not find it.
fn next_minute() {
    let seconds = framegate::clock::Clock::System.now_ms() / 1000;
    std::thread::sleep(std::time::Duration::from_secs(61 - seconds % 60));
}

/// Copilot names its session only at the end of a run, so the name is in its last record.
fn continue_by_name() {
    let model = Model::with_script(vec![vec![Say::Text("The first answer.")], vec![Say::Text("The second answer.")]]);
    let started = real("copilot", "copilot", &model, "");
    let run = started.run_of(&order("The first question."));
    assert_eq!(started.wait_for_end(&run)["state"], json!("completed"));
    let records = started.events(&run, "raw");
    let name = records.iter().rev().find_map(|record| record["data"]["sessionId"].as_str()).unwrap();
    let mut again = order("The second question.");
    again["session_id"] = json!(name);
    let second = started.wait_for_end(&started.run_of(&again));
    assert_eq!(second["final_text"], json!("The second answer."), "{second}");
    let last = model.requests().pop().unwrap().to_string();
    assert!(last.contains("The first question.") && last.contains("The first answer."), "{last}");
}

macro_rules! real {
    ($($test:ident: $check:expr;)+) => {
        $(
            #[test]
            #[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
            fn $test() {
                let _ = $check;
            }
        )+
    };
}

real! {
    gemini_cli_continues_a_session: continue_session("gemini-cli", "gemini");
    gemini_cli_is_interrupted: interrupt_run("gemini-cli", "gemini", true, "");
    gemini_cli_dies: die("gemini-cli", "gemini");
    gemini_cli_acp_continues_a_session: continue_session_after("gemini-cli-acp", "gemini", next_minute);
    gemini_cli_acp_is_interrupted: interrupt_run("gemini-cli-acp", "gemini", true, "");
    gemini_cli_acp_takes_messages: send_message("gemini-cli-acp", "gemini");
    gemini_cli_acp_takes_messages_during_a_run: send_messages_during_a_run("gemini-cli-acp", "gemini", shell("touch a.txt"));
    gemini_cli_acp_asks_before_it_acts: decide_two_calls("gemini-cli-acp", "gemini", shell);
    gemini_cli_acp_dies: die("gemini-cli-acp", "gemini");

    qwen_code_continues_a_session: continue_session("qwen-code", "qwen");
    qwen_code_is_interrupted: interrupt_run("qwen-code", "qwen", true, "");
    qwen_code_takes_messages: send_message("qwen-code", "qwen");
    qwen_code_takes_messages_during_a_run: send_messages_during_a_run("qwen-code", "qwen", shell("touch a.txt"));
    qwen_code_asks_before_it_acts: decide_two_calls("qwen-code", "qwen", shell);
    qwen_code_dies: die("qwen-code", "qwen");
    qwen_code_acp_continues_a_session: continue_session("qwen-code-acp", "qwen");
    qwen_code_acp_is_interrupted: interrupt_run("qwen-code-acp", "qwen", true, "");
    qwen_code_acp_takes_messages: send_message("qwen-code-acp", "qwen");
    qwen_code_acp_takes_messages_during_a_run: send_messages_during_a_run("qwen-code-acp", "qwen", shell("touch a.txt"));
    qwen_code_acp_asks_before_it_acts: decide_two_calls("qwen-code-acp", "qwen", shell);
    qwen_code_acp_dies: die("qwen-code-acp", "qwen");

    pi_continues_a_session: continue_session("pi", "pi");
    pi_is_interrupted: interrupt_run("pi", "pi", true, "");
    pi_takes_messages: send_message("pi", "pi");
    pi_dies: die("pi", "pi");

    copilot_continues_a_session: continue_by_name();
    copilot_is_interrupted: interrupt_run("copilot", "copilot", true, "");
    copilot_dies: die("copilot", "copilot");
    copilot_acp_continues_a_session: continue_session("copilot-acp", "copilot");
    copilot_acp_is_interrupted: interrupt_run("copilot-acp", "copilot", true, "");
    copilot_acp_takes_messages: send_message("copilot-acp", "copilot");
    copilot_acp_asks_before_it_acts: decide("copilot-acp", "copilot", |command| {
        Say::Tool("bash", json!({"command": command, "description": "a file"}))
    });
    copilot_acp_dies: die("copilot-acp", "copilot");

    codex_acp_continues_a_session: continue_session("codex-acp", "codex-acp");
    codex_acp_is_interrupted: interrupt_run("codex-acp", "codex-acp", true, "");
    codex_acp_takes_messages: send_message("codex-acp", "codex-acp");
    // A denied command ends the turn.
    codex_acp_asks_before_it_acts: decide_ending("interrupted", "codex-acp", "codex-acp", |command| {
        let why = "May this be done?";
        Say::Tool(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}),
        )
    });
    codex_acp_dies: die("codex-acp", "codex-acp");

    claude_agent_acp_continues_a_session: continue_session("claude-agent-acp", "claude-agent-acp");
    claude_agent_acp_is_interrupted: interrupt_run("claude-agent-acp", "claude-agent-acp", true, "");
    claude_agent_acp_takes_messages: send_message("claude-agent-acp", "claude-agent-acp");
    claude_agent_acp_asks_before_it_acts: decide_two_calls("claude-agent-acp", "claude-agent-acp", |command| {
        Say::Tool("Bash", json!({"command": command, "description": "a file"}))
    });
    claude_agent_acp_dies: die("claude-agent-acp", "claude-agent-acp");
}
