//! Checks streams by a contract's rules between events; see [`Verifier`].
//!
//! Input: one stream's events, parsed, in order, from any writer. Output: findings. Never: anything that an event's own schema
//! already checks, or event content in a finding's message. It is not an error if an event's partner was withheld according to
//! the stream.

mod check;
mod excuse;
mod parts;

pub use crate::contract::{Basis, Finding, Rule, Severity, Verifier};
pub use check::{Checker, Located, RULES, Standard};
pub(crate) use parts::{Begin, Ids, Numbering, OneEnd, Pairs};
