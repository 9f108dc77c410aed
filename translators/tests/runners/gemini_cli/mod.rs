//! Cases that Gemini CLI's format allows and no recording covers: small records written by hand.

mod chat_files;
mod ends;
mod hostile;
mod recognition;
mod records;
mod snapshot;
mod texts;
