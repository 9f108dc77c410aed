//! Cases that Qwen Code's format allows and no recording covers: small records written by hand.

mod children;
mod ends;
mod figures;
mod hostile;
mod recognition;
mod records;
mod session_files;
mod snapshot;
mod texts;
