//! The tool calls of a run, by tool.
//!
//! Input: the beginnings and ends of tool calls. Output: for each tool its calls, its failures and the time they took. Never: more
//! than [`MOST_TOOLS`] tools by name, whatever names a runner invents (further ones are summed in an entry that says so); a
//! duration of calls whose duration is not known.

use framegate_translators::frame::{SharedStr, Tool, ToolCall, ToolKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// How many tools of a run have figures of their own.
pub const MOST_TOOLS: usize = 64;

/// The name in the entry of all further tools.
pub const OTHER: &str = "other";

/// How many characters of a tool's name are kept.
const NAME_CHARS: usize = 120;

/// How many running calls are stored with a status. They are only needed for a run whose first frames are no longer kept.
const STORED_CALLS: usize = 256;

/// The calls of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFigures {
    /// The tool's name as the runner spells it, cut after 120 characters; "" if the runner gave none.
    pub name: SharedStr,
    /// How a UI displays the tool.
    pub kind: ToolKind,
    /// Calls that began.
    pub calls: u64,
    /// Calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0.
    pub failed: u64,
    /// The sum of the durations of `timed_calls`, in milliseconds; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Calls that ran to their end, successfully or not, and whose duration is known.
    #[serde(default)]
    pub timed_calls: u64,
    /// Whether this is the sum of all tools beyond the limit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rest: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl ToolFigures {
    /// No calls of a tool.
    pub fn of(name: SharedStr, kind: ToolKind) -> Self {
        Self { name, kind, calls: 0, failed: 0, duration_ms: None, timed_calls: 0, rest: false }
    }

    /// No calls of the tools beyond a limit.
    pub fn of_rest() -> Self {
        Self { rest: true, ..Self::of(OTHER.into(), ToolKind::Other) }
    }

    /// Adds the calls of another run.
    pub fn add(&mut self, more: &Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.failed = self.failed.saturating_add(more.failed);
        self.timed_calls = self.timed_calls.saturating_add(more.timed_calls);
        self.add_duration(more.duration_ms);
    }

    fn add_duration(&mut self, more_ms: Option<u64>) {
        if let Some(more_ms) = more_ms {
            self.duration_ms = Some(self.duration_ms.unwrap_or_default().saturating_add(more_ms));
        }
    }
}

/// The tool calls of a run. A copy is cheap: statuses are copied for every append.
#[derive(Clone, Debug, Default)]
pub struct RunTools(Arc<Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    /// In the order in which they were first called; the entry of further tools is the last one.
    tools: Vec<ToolFigures>,
    /// Running calls. The ingest bounds their number (`ingest.max_open_tools`).
    open: BTreeMap<Uuid, OpenCall>,
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    /// The place of its tool.
    place: usize,
    /// The number of the record with which it began; `None` if that was before the status was stored.
    record: Option<u64>,
}

impl RunTools {
    /// The figures, in the order in which the tools were first called.
    pub fn figures(&self) -> &[ToolFigures] {
        &self.0.tools
    }

    /// A call begins with the record of that number.
    pub(super) fn began(&mut self, call: &ToolCall, record: u64) {
        let known = Arc::make_mut(&mut self.0);
        let place = known.place(call);
        if let Some(tool) = known.tools.get_mut(place) {
            tool.calls += 1;
        }
        known.open.insert(call.tool.id, OpenCall { place, record: Some(record) });
    }

    /// A call is over with the record of that number. `duration_ms` is `None` if it did not run to its end.
    pub(super) fn ended(&mut self, tool: &Tool, is_failure: bool, duration_ms: Option<u64>, record: u64) {
        let known = Arc::make_mut(&mut self.0);
        let Some(call) = known.open.remove(&tool.id) else { return };
        // One record that has the whole call, without its duration, has one time for its beginning and its end.
        let is_timed = |ms: &u64| *ms > 0 || call.record != Some(record);
        let duration_ms = duration_ms.filter(is_timed);
        if let Some(figures) = known.tools.get_mut(call.place) {
            figures.failed += u64::from(is_failure);
            figures.timed_calls += u64::from(duration_ms.is_some());
            figures.add_duration(duration_ms);
        }
    }

    /// The running calls in the form in which they are stored; empty if there are none.
    pub(super) fn stored_calls(&self) -> Vec<(Uuid, usize)> {
        self.0.open.iter().map(|(id, call)| (*id, call.place)).take(STORED_CALLS).collect()
    }

    /// Takes running calls from their stored form.
    pub(super) fn restore_calls(&mut self, stored: Vec<(Uuid, usize)>) {
        if !stored.is_empty() {
            let calls = stored.into_iter().map(|(id, place)| (id, OpenCall { place, record: None }));
            Arc::make_mut(&mut self.0).open = calls.collect();
        }
    }
}

impl Known {
    /// The place of a call's tool, which is added if it is new.
    fn place(&mut self, call: &ToolCall) -> usize {
        let name = short(&call.name);
        let is_it = |tool: &ToolFigures| !tool.rest && tool.kind == call.kind && *tool.name == *name;
        if let Some(place) = self.tools.iter().position(is_it) {
            return place;
        }
        if self.tools.last().is_some_and(|last| last.rest) {
            return self.tools.len() - 1;
        }
        let is_full = self.tools.len() == MOST_TOOLS;
        self.tools.push(if is_full { ToolFigures::of_rest() } else { ToolFigures::of(name, call.kind) });
        self.tools.len() - 1
    }
}

/// A name that may be arbitrarily long, cut.
fn short(name: &SharedStr) -> SharedStr {
    match name.char_indices().nth(NAME_CHARS) {
        None => name.clone(),
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or_default()).into(),
    }
}

impl Serialize for RunTools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.tools.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tools = Vec::deserialize(deserializer)?;
        Ok(Self(Arc::new(Known { tools, open: BTreeMap::new() })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::RawJson;
    use serde_json::value::RawValue;

    fn call(id: u128, name: &str) -> ToolCall {
        let tool = Tool { id: Uuid::from_u128(id), call_id: "c".into() };
        let args = RawJson::from(RawValue::from_string("{}".to_owned()).unwrap());
        ToolCall { tool, name: name.into(), kind: ToolKind::Shell, args }
    }

    #[test]
    fn names_beyond_the_limit_are_summed_and_announced() {
        let mut tools = RunTools::default();
        for nth in 0..200u128 {
            let call = call(nth, &format!("tool {nth}"));
            tools.began(&call, 1);
            tools.ended(&call.tool, nth % 2 == 0, (nth % 3 == 0).then_some(10), 2);
        }
        let figures = tools.figures();
        assert_eq!(figures.len(), MOST_TOOLS + 1);
        assert!(figures[..MOST_TOOLS].iter().all(|tool| tool.calls == 1 && !tool.rest));
        let rest = &figures[MOST_TOOLS];
        assert_eq!((&*rest.name, rest.rest, rest.calls), (OTHER, true, 200 - MOST_TOOLS as u64));
        let of_rest = (MOST_TOOLS as u64)..200;
        assert_eq!(rest.failed, of_rest.clone().filter(|nth| nth % 2 == 0).count() as u64);
        let timed = of_rest.filter(|nth| nth % 3 == 0).count() as u64;
        assert_eq!((rest.timed_calls, rest.duration_ms), (timed, Some(timed * 10)));
        // A tool with a name of its own keeps it, and a tool that is called `other` is not the rest.
        let again = call(1000, "tool 0");
        tools.began(&again, 1);
        assert_eq!((tools.figures().len(), tools.figures()[0].calls), (MOST_TOOLS + 1, 2));
    }

    #[test]
    fn an_end_without_a_beginning_changes_nothing_and_an_open_call_has_no_duration() {
        let mut tools = RunTools::default();
        tools.ended(&call(7, "").tool, true, Some(5), 2);
        assert!(tools.figures().is_empty());
        tools.began(&call(1, "bash"), 1);
        tools.ended(&call(2, "bash").tool, true, None, 2);
        let bash = &tools.figures()[0];
        assert_eq!((bash.calls, bash.failed, bash.timed_calls, bash.duration_ms), (1, 0, 0, None));
        let text = serde_json::to_string(&tools).unwrap();
        assert_eq!(text, r#"[{"name":"bash","kind":"shell","calls":1,"failed":0,"timed_calls":0}]"#);
    }

    #[test]
    fn a_call_in_one_record_has_a_duration_only_if_the_record_gives_it() {
        let mut tools = RunTools::default();
        let mut duration = |ms: u64, end: u64| {
            tools.began(&call(1, "bash"), 1);
            tools.ended(&call(1, "bash").tool, false, Some(ms), end);
            (tools.figures()[0].timed_calls, tools.figures()[0].duration_ms)
        };
        assert_eq!(duration(0, 1), (0, None));
        assert_eq!(duration(0, 2), (1, Some(0)), "it took less than a millisecond");
        assert_eq!(duration(7, 1), (2, Some(7)));
    }

    #[test]
    fn running_calls_outlive_the_stored_form() {
        let mut tools = RunTools::default();
        tools.began(&call(1, "bash"), 1);
        let mut read: RunTools = serde_json::from_str(&serde_json::to_string(&tools).unwrap()).unwrap();
        read.restore_calls(tools.stored_calls());
        read.ended(&call(1, "").tool, true, Some(3), 2);
        assert_eq!((read.figures()[0].failed, read.figures()[0].duration_ms), (1, Some(3)));
        assert!(read.stored_calls().is_empty());
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let mut tools = RunTools::default();
        let long = "ä".repeat(1 << 20);
        tools.began(&call(1, &long), 1);
        tools.began(&call(2, &format!("{long}!")), 1);
        let figures = tools.figures();
        assert_eq!((figures.len(), figures[0].calls), (1, 2));
        assert_eq!(figures[0].name.chars().count(), NAME_CHARS + 1);
    }
}
