//! `hecate.v1`: recordings, the mapping of each group from hand-made frames, and the schemas' own examples.

mod examples;
mod harness;
mod mapping;
mod output;
mod recordings;
mod tools;
