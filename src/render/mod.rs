//! Runs for people: as text for a terminal, and as a Markdown document.
//!
//! Input: frames, and a width. Output: text. Never: a clock, a file, a terminal, or an environment variable; those belong to the
//! commands. This is neither a contract (it has no schema and no cursor) nor a part of the translators, whose users do not need its
//! dependencies.
//!
//! `conversation` decides what a reader sees and in which order; `terminal` and `markdown` decide how it looks. `blocks` cuts streamed
//! Markdown, `console` reduces output to what a terminal would show. `crate::visible` makes characters visible that would act or hide.

mod blocks;
mod console;
mod conversation;
mod describe;
mod figures;
pub mod markdown;
#[cfg(test)]
mod sample;
mod style;
pub mod terminal;
mod wrap;

pub(crate) use describe::{Question, question as question_of};
