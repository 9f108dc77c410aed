//! Questions whether a tool may run.
//!
//! Input: the options of a question, and an answer. Output: what the answer decides, and the option to answer with. Never: an option
//! chosen by its id: ids are the agent's own words.

use super::super::names::NameSet;
use crate::frame::{Decision, SharedStr};
use crate::json::{Json, Object};

/// The maximum number of options that are read.
const MOST: usize = 64;

/// The ids of the options, with their kinds. A second option with the same id is ignored.
pub(super) fn options(params: &Object<'_>) -> Vec<(String, String)> {
    let mut seen = NameSet::default();
    let read = |option: Json<'_>| {
        let option = option.object()?;
        let id = option.str("optionId")?.into_owned();
        let kind = option.str("kind").unwrap_or_default().into_owned();
        seen.insert(SharedStr::from(id.as_str())).then_some((id, kind))
    };
    params.items("options").into_iter().take(MOST).filter_map(read).collect()
}

/// What an outcome decides, with its scope; `None` if it is no outcome.
pub(super) fn decision(result: &Object<'_>, options: &[(String, String)]) -> Option<(Decision, Option<&'static str>)> {
    let outcome = result.object("outcome")?;
    match outcome.str("outcome").as_deref()? {
        "selected" => {
            let chosen = outcome.str("optionId")?;
            let kind = options.iter().find(|(id, _)| *id == *chosen).map(|(_, kind)| kind.as_str());
            Some(match kind {
                Some("allow_once") => (Decision::Approved, Some("once")),
                Some("allow_always") => (Decision::Approved, Some("always")),
                Some("reject_always") => (Decision::Rejected, Some("always")),
                Some("reject_once") => (Decision::Rejected, None),
                // An option that was not offered, or of an unknown kind, is no approval.
                _ => (Decision::Cancelled, None),
            })
        }
        _ => Some((Decision::Cancelled, None)),
    }
}

/// The option to answer with; `None` if the agent offers none of that kind.
pub(super) fn choose<'o>(options: &'o [(String, String)], decision: Decision, scope: &str) -> Option<&'o str> {
    let find = |wanted: &str| options.iter().find(|(_, kind)| kind == wanted).map(|(id, _)| id.as_str());
    match (decision, scope) {
        (Decision::Approved, "always" | "session") => find("allow_always"),
        (Decision::Approved, _) => find("allow_once"),
        (Decision::Rejected | Decision::TimedOut, _) => find("reject_once"),
        (Decision::Cancelled, _) => None,
    }
}
