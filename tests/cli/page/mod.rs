//! `framegate view` and `framegate export`: recordings in a browser, and in one file.

mod export;
mod view;
