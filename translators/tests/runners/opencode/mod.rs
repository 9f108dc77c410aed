//! OpenCode's behaviour: cases from the recordings, and cases that only small hand-written records show.

mod children;
mod ends;
mod export;
mod later;
mod recordings;
mod records;
mod run;
mod shapes;
mod subagents;
mod tools;
