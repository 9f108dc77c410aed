//! A file of events, taken apart: NDJSON lines, server-sent events, or the items of a JSON list.
//!
//! In: bytes in chunks. Out: each event through the contract's checker; what is wrong with the way in which events stand
//! in the file. Never: a guess at bytes that are no text.

use super::place::{LineCounter, Place, line_within};
use super::sse::SseRules;
use framegate_translators::contracts::Contract;
use framegate_translators::framing::{Framing, Limits, Reader, Unit};
use framegate_translators::json::{Front, Json, Kind, front};
use framegate_translators::schema::Schemas;
use framegate_translators::verify::{Checker, Finding, Located};

/// A list is one record, and one that is larger than this is checked as NDJSON instead.
const LIMITS: Limits = Limits { record_bytes: 256 << 20, preview_bytes: 0 };

/// Takes what is found, the text of the event it is about, and the event's place.
type Sink<'s> = dyn FnMut(Located, Option<&str>, Place) + 's;

/// Checks one file.
pub(super) struct EventReader<'c> {
    reader: Reader,
    lines: LineCounter,
    check: Check<'c>,
}

struct Check<'c> {
    contract: &'c Contract,
    checker: Checker<'c>,
    sse: SseRules,
    /// Where the event begins that is looked at.
    line: Option<u64>,
    /// Nothing came yet: what comes may be a list.
    at_start: bool,
    /// A JSON list came: it is the whole file.
    list: bool,
    /// Why the rest of the file is not read.
    stopped: Option<String>,
}

impl<'c> EventReader<'c> {
    /// A reader at the start of its file.
    pub(super) fn new(contract: &'c Contract, schemas: &'c Schemas) -> Self {
        let check = Check {
            contract,
            checker: Checker::new(contract, schemas),
            sse: SseRules::new(contract),
            line: Some(1),
            at_start: true,
            list: false,
            stopped: None,
        };
        Self { reader: Reader::sniffing(LIMITS), lines: LineCounter::new(), check }
    }

    /// How many events came so far.
    pub(super) fn records(&self) -> u64 {
        self.check.checker.records()
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Why the file cannot be read any further.
    pub(super) fn feed(&mut self, chunk: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
        // The framing shows with the first unit at the latest; a document comes with `finish` alone.
        let Self { reader, lines, check } = self;
        lines.feed(chunk);
        reader.feed(chunk, &mut |unit| {
            check.line = lines.at(unit.offset);
            check.unit(&unit, sink);
        });
        self.check.stopped.clone().map_or(Ok(()), Err)
    }

    /// The file is over.
    ///
    /// # Errors
    /// Why the file could not be read to its end.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), String> {
        let is_document = self.reader.framing() == Some(Framing::Document);
        let Self { reader, lines, check } = self;
        reader.finish(&mut |unit| {
            check.line = lines.at(unit.offset);
            if is_document { check.document(&unit, sink) } else { check.unit(&unit, sink) }
        });
        if let Some(why) = self.check.stopped.clone() {
            return Err(why);
        }
        if self.records() == 0 {
            let message = format!("no event of {} in the file: a stream has at least one", self.check.contract.name);
            sink(located(0, None, Finding::error("events.none", "", message)), None, Place::default());
        }
        self.check.checker.end(&mut |located| sink(located, None, Place::default()));
        Ok(())
    }
}

impl Check<'_> {
    /// A line, or a server-sent event.
    fn unit(&mut self, unit: &Unit<'_>, sink: &mut Sink<'_>) {
        let Some(text) = self.text(unit, sink) else { return };
        self.behind_list(sink);
        let is_sse = !std::ptr::eq(unit.bytes, unit.payload);
        if is_sse {
            self.event(text, sink);
            for finding in self.sse.event(unit, text) {
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

    /// JSON over several lines: a list, or events one after the other.
    fn document(&mut self, unit: &Unit<'_>, sink: &mut Sink<'_>) {
        let Some(whole) = self.text(unit, sink) else { return };
        let (mut rest, first_line) = (whole, self.line);
        loop {
            match front(rest) {
                Front::Blank => return,
                Front::Value { json, rest: tail, .. } => {
                    self.behind_list(sink);
                    let first = std::mem::take(&mut self.at_start);
                    self.line = line_within(whole, first_line, json.text());
                    match list_of(json.text()).filter(|_| first) {
                        Some(items) => self.items(json.text(), &items, sink),
                        None => self.event(json.text(), sink),
                    }
                    rest = tail;
                }
                Front::Invalid(_) => {
                    self.behind_list(sink);
                    self.line = line_within(whole, first_line, rest.trim_start());
                    self.event(rest, sink);
                    return;
                }
            }
        }
    }

    /// Something comes where nothing may.
    fn behind_list(&mut self, sink: &mut Sink<'_>) {
        if std::mem::take(&mut self.list) {
            let message = "something stands behind the JSON list: the list is the whole file";
            sink(located(0, None, Finding::error("list.not_all", "", message)), None, self.place());
        }
    }

    fn items(&mut self, list: &str, items: &[Json<'_>], sink: &mut Sink<'_>) {
        self.list = true;
        let mut rest = list;
        for item in items {
            // Counted from item to item: a list may be long.
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
        self.checker.event(text.as_bytes(), &mut |located| sink(located, Some(text), place));
    }

    /// The text of a unit that is one and that is not too large.
    fn text<'u>(&mut self, unit: &Unit<'u>, sink: &mut Sink<'_>) -> Option<&'u str> {
        if self.stopped.is_some() {
            return None;
        }
        if let Some(size) = unit.oversized {
            let message = format!("{size} bytes are more than the {} that are checked", LIMITS.record_bytes);
            let place = self.place();
            self.checker.event(b"", &mut |empty| {
                sink(located(empty.record, None, Finding::error("record.size", "", message.clone())), None, place);
            });
            return None;
        }
        match (std::str::from_utf8(unit.bytes), std::str::from_utf8(unit.payload)) {
            (Ok(_), Ok(text)) => Some(text.strip_prefix('\u{FEFF}').filter(|_| unit.offset == 0).unwrap_or(text)),
            (Err(error), _) | (_, Err(error)) => {
                self.stopped = Some(format!("not UTF-8 (near byte {})", unit.offset + error.valid_up_to() as u64));
                None
            }
        }
    }
}

fn located(record: u64, kind: Option<String>, finding: Finding) -> Located {
    Located { record, kind, finding }
}

/// The items of `[…]` or of `{"object":"list","data":[…]}`.
fn list_of(text: &str) -> Option<Vec<Json<'_>>> {
    // An event is an object too, and by far the more usual one.
    let may_be = text.trim_start().starts_with('[') || text.contains("\"list\"");
    let json = Json::parse(text).ok().filter(|_| may_be)?;
    if json.kind() == Kind::Array {
        return Some(json.items());
    }
    let fields = json.object()?;
    let data = fields.get("data").filter(|data| data.kind() == Kind::Array)?;
    (fields.str("object").as_deref() == Some("list")).then(|| data.items())
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::sse::V1;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas::compile(V1.schemas).unwrap());

    fn check<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Located>, Result<(), String>) {
        let mut reader = EventReader::new(&V1, &SCHEMAS);
        let mut found = Vec::new();
        let mut sink = |located: Located, _: Option<&str>, _: Place| found.push(located);
        let fed = chunks.into_iter().try_for_each(|chunk| reader.feed(chunk, &mut sink));
        let read = fed.and_then(|()| reader.finish(&mut sink));
        (found, read)
    }

    #[test]
    fn nothing_stands_behind_a_list() {
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
        fn the_cuts_between_chunks_do_not_matter_and_nothing_panics(
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
