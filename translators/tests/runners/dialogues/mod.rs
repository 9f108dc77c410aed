//! What a host sends to a runner, compared with what the hosts in the recordings sent and what the runner accepted.

mod acp;
mod claude_code;
mod codex;
mod forms;
mod host;
mod opencode;
mod pi;
mod qwen_code;
