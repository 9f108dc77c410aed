//! Checks every fact of every Gemini CLI recording against the frames.

mod calls;
mod case;
mod figures;
mod runs;
mod texts;
