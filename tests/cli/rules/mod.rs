//! Every rule of the contracts, through `framegate check`: each rule reports a stream that breaks it, at the right event and
//! without other findings. No rule reports the clean stream.

mod acp;
mod ag_ui;
mod agent_manager;
mod all;
mod cases;
mod chat_completions;
mod claude_code;
mod frames;
mod hecate;
mod open_responses;
mod pixir;
mod sse;
mod ui_message_stream;
