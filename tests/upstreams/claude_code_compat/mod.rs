//! `framegate claude-compat`: an upstream behind the flags and the control protocol of `claude`.

mod calls;
mod client;
mod conversations;
mod ends;
mod place;
mod sdk;

pub use client::{Client, STREAMING};
pub use place::{Place, Ran, before, ran};
