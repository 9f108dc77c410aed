//! The written facts about each recording of Open Responses, checked against the frames.

mod case;
mod records;
mod runs;
mod texts;
