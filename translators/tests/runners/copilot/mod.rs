//! Cases that the format of GitHub Copilot CLI allows and no recording covers: small records written by hand.

mod calls;
mod ends;
mod questions;
mod recordings;
mod records;
mod texts;
mod usage;
