//! `claude-code.v1` on every recording.

mod facts;
mod recordings;
mod round_trip;
