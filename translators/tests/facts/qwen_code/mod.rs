//! Checks every fact of every Qwen Code recording against the frames.

mod calls;
mod case;
mod figures;
mod runs;
mod texts;
