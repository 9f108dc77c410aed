//! Splits a file into events: NDJSON lines, server-sent events, or the items of a JSON list.
//!
//! Input: bytes in chunks. Output: each event, passed to the contract's checker; findings about how the events are framed in
//! the file. Never: a guess at bytes that are not text.

use super::super::lines::LineCounter;
use super::place::{Place, line_within};
use super::sse::SseRules;
use framegate_translators::contracts::Contract;
use framegate_translators::event_kind::kind_in;
use framegate_translators::framing::{Form, Framing, Limits, Reader, Unit};
use framegate_translators::json::{FirstValue, Json, Kind, first_value};
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use framegate_translators::verify::{Checker, Finding, Located, Standard};

/// A list is one record. A list larger than this is checked as NDJSON instead.
const LIMITS: Limits = Limits { record_bytes: 256 << 20, preview_bytes: 0 };

/// How many events are searched for a type that the contract has.
const LOOKED_AT: u64 = 64;

/// Receives a finding, the text of the event it is about, and the event's position.
type Sink<'s> = dyn FnMut(Located, Option<&str>, Place) + 's;

/// Checks one file.
pub(super) struct EventReader<'c> {
    reader: Reader,
    lines: LineCounter,
    /// Detects whether the file contains a runner's own records.
    recogniser: Recogniser,
    check: Check<'c>,
}

struct Check<'c> {
    contract: &'c Contract,
    checker: Checker<'c>,
    is_strict: bool,
    sse: SseRules,
    /// The line at which the current event begins.
    line: Option<u64>,
    /// An event had a type of the contract.
    is_familiar: bool,
    /// No event was read yet, so the next value may be a list.
    at_start: bool,
    /// A JSON list was read; nothing may follow it.
    list: bool,
    /// The reason why the rest of the file is not read.
    stopped: Option<String>,
}

impl<'c> EventReader<'c> {
    /// Creates a reader at the start of its file.
    pub(super) fn new(contract: &'c Contract, standard: Standard<'c>) -> Self {
        let is_strict = matches!(standard, Standard::Emitted(_));
        let check = Check {
            contract,
            checker: Checker::by(contract, standard),
            is_strict,
            sse: SseRules::new(contract, is_strict),
            line: Some(1),
            is_familiar: false,
            at_start: true,
            list: false,
            stopped: None,
        };
        let recogniser = Recogniser::new(None, Limits::default(), Window::default());
        Self { reader: Reader::sniffing(LIMITS), lines: LineCounter::new(), recogniser, check }
    }

    /// Marks the file as streams that a client resumed. The first stream was resumed after the event with the cursor `after`.
    ///
    /// # Errors
    /// `after` is not a cursor of the contract.
    pub(super) fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.check.checker.resume(after)
    }

    /// How many events were read so far.
    pub(super) fn records(&self) -> u64 {
        self.check.checker.records()
    }

    /// Feeds the next bytes.
    ///
    /// # Errors
    /// The reason why the file cannot be read any further.
    pub(super) fn feed(&mut self, chunk: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
        // The framing is known with the first unit at the latest; a document is only returned by `finish`.
        let Self { reader, lines, recogniser, check } = self;
        lines.feed(chunk);
        if !check.is_familiar && !recogniser.is_decided() {
            recogniser.feed(chunk);
        }
        reader.feed(chunk, &mut |unit| {
            check.line = lines.at(unit.offset);
            check.unit(&unit, sink);
        });
        self.check.stopped.clone().map_or(Ok(()), Err)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The reason why the file could not be read to its end.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), String> {
        let is_document = self.reader.framing() == Some(Framing::Document);
        let Self { reader, lines, recogniser, check } = self;
        let verdict = recogniser.finish();
        reader.finish(&mut |unit| {
            check.line = lines.at(unit.offset);
            if is_document { check.document(&unit, sink) } else { check.unit(&unit, sink) }
        });
        if let Some(why) = self.check.stopped.clone() {
            return Err(why);
        }
        if self.records() == 0 {
            let message = format!("no {} events in the file: a stream has at least one", self.check.contract.name);
            sink(located(0, None, Finding::error("events.none", "", message)), None, Place::default());
        }
        if let (false, Verdict::Found(found)) = (self.check.is_familiar, verdict) {
            let name = self.check.contract.name;
            let message = format!(
                "no event has a type of {name}; these look like records of {found}: --from auto translates them first"
            );
            sink(located(0, None, Finding::error("events.of_a_runner", "", message)), None, Place::default());
        }
        self.check.checker.end(&mut |located| sink(located, None, Place::default()));
        Ok(())
    }
}

impl Check<'_> {
    /// Checks a line, or a server-sent event.
    fn unit(&mut self, unit: &Unit<'_>, sink: &mut Sink<'_>) {
        let Some(text) = self.text(unit, sink) else { return };
        // Comments at the end of an event stream are not an event.
        if unit.form == Form::Rest {
            return;
        }
        self.behind_list(sink);
        let is_sse = !std::ptr::eq(unit.bytes, unit.payload);
        if is_sse {
            self.event(text, sink);
            let inner = self.wrapped(text);
            for finding in self.sse.event(unit, inner.unwrap_or(text), inner.is_some()) {
                let kind = self.sse.kind().map(str::to_owned);
                sink(located(self.checker.records(), kind, finding), Some(text), self.place());
            }
        } else if std::mem::take(&mut self.at_start) {
            match list_of(text) {
                Some(items) => self.items(text, &items, sink),
                None => self.event(text, sink),
            }
        } else {
            self.event(text, sink);
        }
    }

    /// Checks JSON that spans lines: a list, or events one after the other.
    fn document(&mut self, unit: &Unit<'_>, sink: &mut Sink<'_>) {
        let Some(whole) = self.text(unit, sink) else { return };
        let (mut rest, first_line) = (whole, self.line);
        loop {
            match first_value(rest) {
                FirstValue::Blank => return,
                FirstValue::Value { json, rest: tail, .. } => {
                    self.behind_list(sink);
                    let first = std::mem::take(&mut self.at_start);
                    self.line = line_within(whole, first_line, json.text());
                    match list_of(json.text()).filter(|_| first) {
                        Some(items) => self.items(json.text(), &items, sink),
                        None => self.event(json.text(), sink),
                    }
                    rest = tail;
                }
                FirstValue::Invalid(_) => {
                    self.behind_list(sink);
                    self.line = line_within(whole, first_line, rest.trim_start());
                    self.event(rest, sink);
                    return;
                }
            }
        }
    }

    /// Reports content after a list.
    fn behind_list(&mut self, sink: &mut Sink<'_>) {
        if std::mem::take(&mut self.list) {
            let message = "there is data after the JSON list: the list must be the whole file";
            sink(located(0, None, Finding::error("list.not_all", "", message)), None, self.place());
        }
    }

    fn items(&mut self, list: &str, items: &[Json<'_>], sink: &mut Sink<'_>) {
        self.list = true;
        let mut rest = list;
        for item in items {
            // Counted from the previous item, because a list may be long.
            self.line = line_within(rest, self.line, item.text());
            let start = (item.text().as_ptr() as usize).saturating_sub(rest.as_ptr() as usize);
            rest = rest.get(start..).unwrap_or(rest);
            self.event(item.text(), sink);
        }
    }

    fn place(&self) -> Place {
        Place { line: self.line, ..Place::default() }
    }

    fn event(&mut self, text: &str, sink: &mut Sink<'_>) {
        let place = self.place();
        let text = self.wrapped(text).unwrap_or(text);
        if !self.is_familiar && self.checker.records() < LOOKED_AT {
            let kind = Json::parse(text).ok().and_then(|json| kind_in(self.contract.type_key, &json.object()?));
            self.is_familiar = kind.is_some_and(|kind| self.contract.schemas.iter().any(|file| file.kind == kind));
        }
        self.checker.event(text.as_bytes(), &mut |located| sink(located, Some(text), place));
    }

    /// Unwraps `{"object":"event","data":…}`, in which some servers wrap the events of a feed.
    fn wrapped<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.is_strict || !text.contains("\"event\"") {
            return None;
        }
        let fields = Json::parse(text).ok().and_then(Json::object)?;
        let data = fields.get("data").filter(|data| data.kind() == Kind::Object)?;
        let is_wrapper =
            fields.str("object").as_deref() == Some("event") && kind_in(self.contract.type_key, &fields).is_none();
        is_wrapper.then(|| data.text())
    }

    /// The text of a unit, if it is valid UTF-8 and not too large. Otherwise reports the problem.
    fn text<'u>(&mut self, unit: &Unit<'u>, sink: &mut Sink<'_>) -> Option<&'u str> {
        if self.stopped.is_some() {
            return None;
        }
        if let Some(size) = unit.oversized {
            let message = format!("the event has {size} bytes; at most {} are checked", LIMITS.record_bytes);
            let place = self.place();
            self.checker.event(b"", &mut |empty| {
                sink(located(empty.record, None, Finding::error("record.size", "", message.clone())), None, place);
            });
            return None;
        }
        match (std::str::from_utf8(unit.bytes), std::str::from_utf8(unit.payload)) {
            (Ok(_), Ok(text)) => Some(text.strip_prefix('\u{FEFF}').filter(|_| unit.offset == 0).unwrap_or(text)),
            (Err(error), _) | (_, Err(error)) => {
                self.stopped =
                    Some(format!("not valid UTF-8 (near byte {})", unit.offset + error.valid_up_to() as u64));
                None
            }
        }
    }
}

fn located(record: u64, kind: Option<String>, finding: Finding) -> Located {
    Located { record, kind, finding }
}

/// The items of `[…]` or of `{"object":"list","data":[…]}`, whatever the value of `object` is.
fn list_of(text: &str) -> Option<Vec<Json<'_>>> {
    // A cheap test first: most values are events, which are objects too.
    let may_be = text.trim_start().starts_with('[') || text.contains("\"object\"");
    let json = Json::parse(text).ok().filter(|_| may_be)?;
    if json.kind() == Kind::Array {
        return Some(json.items());
    }
    let fields = json.object()?;
    let data = fields.get("data").filter(|data| data.kind() == Kind::Array)?;
    fields.str("object").map(|_| data.items())
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::sse::V1;
    use framegate_translators::schema::Schemas;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas::compile(V1.schemas).unwrap());

    fn check<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Located>, Result<(), String>) {
        let mut reader = EventReader::new(&V1, Standard::Emitted(&SCHEMAS));
        let mut found = Vec::new();
        let mut sink = |located: Located, _: Option<&str>, _: Place| found.push(located);
        let fed = chunks.into_iter().try_for_each(|chunk| reader.feed(chunk, &mut sink));
        let read = fed.and_then(|()| reader.finish(&mut sink));
        (found, read)
    }

    #[test]
    fn anything_after_a_list_is_a_finding() {
        for text in ["[]\n{}\n", "[\n]\n{}", "[{}]\n\n[{}]", "[\n{}\n]\nnope"] {
            let (found, _) = check([text.as_bytes()]);
            let count = found.iter().filter(|located| located.finding.rule == "list.not_all").count();
            assert_eq!(count, 1, "{text:?}: {found:?}");
        }
        for text in ["[{}]\n\n", "[\n{}\n]\n \n", "{}\n[]\n"] {
            let (found, _) = check([text.as_bytes()]);
            assert!(found.iter().all(|located| located.finding.rule != "list.not_all"), "{text:?}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter_and_nothing_panics(
            text in "([\\[\\]{},: \n\r\"]|data: |id: 1|event: x|\"data\":|\"object\":\"list\"|\"type\":\"run_started\"|1|\u{FEFF}|é){0,30}",
            raw in prop::collection::vec(any::<u8>(), 0..4),
            cuts in prop::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = [text.as_bytes(), &raw].concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(check(chunks), check([&bytes[..]]));
        }
    }
}
