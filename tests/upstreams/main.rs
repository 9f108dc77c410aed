//! Runners that the proxy starts: fakes that misbehave, and the real ones.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not all helpers shared with the tests of the server are used"
)]

mod acp_agent;
mod acp_modes;
mod acp_services;
mod ag_ui;
mod agent_responses;
mod agent_responses_packages;
mod ai_sdk;
mod approvals;
mod budgets;
mod chat_completions;
mod claude_code_compat;
#[path = "../serve/client.rs"]
mod client;
mod command_line;
mod demo;
mod documented_commands;
mod faults;
mod forms;
mod interrupting;
mod model;
mod obedient;
mod presets;
mod prompt_files;
#[path = "../serve/proxy.rs"]
mod proxy;
#[path = "../examples/react_page.rs"]
mod react_page;
mod real;
mod real_acp;
mod real_clients;
mod real_codex;
mod real_feed;
mod real_history;
mod real_modes;
mod real_packages;
mod real_vendors;
#[path = "../serve/resources.rs"]
mod resources;
mod sessions;
mod started;
mod starting;
mod texts;
#[path = "../serve/verdicts.rs"]
mod verdicts;
