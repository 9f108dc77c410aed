//! Windows.

pub(crate) mod allocator;
pub(crate) mod browsers;
pub(crate) mod contained;
pub(crate) mod exit;
pub(crate) mod files;
pub(crate) mod hangup;
pub(crate) mod identity;
pub(crate) mod input;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod paths;
pub(crate) mod permissions;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod signals;
pub(crate) mod stderr;
pub(crate) mod suspension;
pub(crate) mod terminal;
pub(crate) mod variables;
