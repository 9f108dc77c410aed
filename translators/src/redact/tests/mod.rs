//! Tests of redaction as a whole: the prefilter misses nothing, and chunks change nothing.

use super::*;

mod chunking;
mod probes;
