//! Plans.
//!
//! Input: the entries of a plan, or the arguments of a tool that writes one. Output: a plan, if it differs from the last one. Never: an
//! entry without a text.

use super::sessions::Turn;
use crate::frame::{Body, PlanEntry, SharedStr};
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Normalizer, Target};
use std::borrow::Cow;

/// The entries of a list.
pub(super) fn entries(list: Json<'_>) -> Vec<PlanEntry> {
    let read = |entry: Json<'_>| {
        let entry = entry.object()?;
        let content = entry.str("content").or_else(|| entry.str("title")).or_else(|| entry.str("text"))?;
        let word = |key: &str| entry.str(key).map(|word| SharedStr::from(&*word));
        let status = match word("status") {
            Some(done) if *done == *"done" => SharedStr::from("completed"),
            status => status.unwrap_or_else(|| SharedStr::from("pending")),
        };
        Some(PlanEntry { content: Cow::into_owned(content), status, priority: word("priority") })
    };
    list.items().into_iter().filter_map(read).collect()
}

/// The plan that a tool's arguments contain; `None` if they contain none.
pub(super) fn of_args(args: &Object<'_>) -> Option<Vec<PlanEntry>> {
    let list = args.get("todos").filter(|list| list.kind() == Kind::Array)?;
    let entries = entries(list);
    (!entries.is_empty() || list.items().is_empty()).then_some(entries)
}

impl Turn {
    /// Reports a plan, unless it is unchanged. An agent may report the same one as a tool's arguments and on its own.
    pub(super) fn plan(&mut self, target: Target, entries: Vec<PlanEntry>, normalizer: &mut Normalizer) {
        let texts = |plan: &[PlanEntry]| -> Vec<(String, SharedStr)> {
            plan.iter().map(|entry| (entry.content.clone(), entry.status.clone())).collect()
        };
        if texts(&self.plan) != texts(&entries) {
            self.plan.clone_from(&entries);
            normalizer.push(target, Body::PlanUpdated { entries });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_plan_even_if_it_is_empty() {
        let of = |args: &str| of_args(&Object::parse(args).unwrap()).map(|entries| entries.len());
        assert_eq!(of(r#"{"todos":[{"content":"a","status":"pending"},{"title":"b"}]}"#), Some(2));
        assert_eq!(of(r#"{"todos":[]}"#), Some(0));
        for other in ["{}", r#"{"todos":"none"}"#, r#"{"todos":{}}"#, r#"{"todos":[1]}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
