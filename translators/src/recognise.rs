//! Detects the runner and the surface from the first records.
//!
//! Input: records, or bytes as they arrive. Output: the runner, the surface, and the reason. Never: a guess between two
//! runners, or more held or inspected than [`Window`] allows.

use crate::decode::Record;
use crate::framing::{Form, Framing, Limits, Reader};
use crate::json::{Json, Kind};
use crate::records::{self, UnitPart};
use crate::runners::{RUNNERS, Runner, Surface};
use crate::tally::{BadKind, Counting};

/// A runner that was recognised.
#[derive(Clone, Copy)]
pub struct Recognised {
    /// The runner.
    pub runner: &'static Runner,
    /// The format of its output.
    pub surface: &'static Surface,
    /// The feature by which the record was recognised.
    pub reason: &'static str,
    /// Which record it was, from 0.
    pub record: u64,
}

impl std::fmt::Debug for Recognised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}: {} (record {})", self.reason, self.record)
    }
}

/// The form for people: `codex (exec)`.
impl std::fmt::Display for Recognised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.runner.name, self.surface.name)
    }
}

/// How much of an input is inspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Maximum number of records.
    pub records: u64,
    /// Maximum number of bytes. A larger first record is still read to its end, up to the record limit.
    pub bytes: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { records: 64, bytes: 1 << 20 }
    }
}

/// How many items of a list are inspected.
const ITEMS: usize = 16;

/// The runner of a record; `None` if no runner, or more than one, recognises it.
pub fn recognise(record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let mut all = RUNNERS.iter().filter_map(|runner| recognise_as(runner, record, framing));
    let found = all.next()?;
    all.next().is_none().then_some(found)
}

/// Whether one runner recognises a record, or an item of a list, and as which surface.
pub fn recognise_as(runner: &'static Runner, record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let found = surface_of(runner, record, framing);
    if found.is_some() || record.json.kind() != Kind::Array {
        return found;
    }
    let items = record.json.items().into_iter().take(ITEMS);
    items.filter_map(|json| item_of(record, json)).find_map(|item| surface_of(runner, &item, framing))
}

/// An item of a list as a separate record.
pub(crate) fn item_of<'r>(list: &Record<'r>, json: Json<'r>) -> Option<Record<'r>> {
    let fields = json.object()?;
    Some(Record { json, fields, event_name: list.event_name, index: list.index, offset: list.offset })
}

fn surface_of(runner: &'static Runner, record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let known = |surface: &'static Surface| (surface.recognise)(record).map(|reason| (surface, reason));
    // If surfaces differ only in their framing, one of them has the framing's name.
    let framed = framing.and_then(|framing| runner.surfaces.iter().find(|surface| surface.name == framing.as_str()));
    let (surface, reason) = framed.and_then(known).or_else(|| runner.surfaces.iter().find_map(known))?;
    Some(Recognised { runner, surface, reason, record: record.index })
}

/// The state of a [`Recogniser`].
#[derive(Clone, Copy, Debug)]
pub enum Verdict {
    /// More input is needed.
    Undecided,
    /// The runner is recognised.
    Found(Recognised),
    /// The window or the input is over, and no runner was recognised.
    Unknown,
}

/// Recognises an input from its bytes.
///
/// ```
/// use framegate_translators::framing::Limits;
/// use framegate_translators::recognise::{Recogniser, Verdict, Window};
///
/// let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
/// recogniser.feed(br#"{"type":"thread.started","thread_id":"t"}"#);
/// let Verdict::Found(found) = recogniser.finish() else { panic!("no runner writes this") };
/// assert_eq!((found.runner.name, found.surface.name), ("codex", "exec"));
/// ```
#[derive(Debug)]
pub struct Recogniser {
    reader: Reader,
    framing: Option<Framing>,
    window: Window,
    /// The maximum bytes of the window plus one record.
    most: u64,
    bytes: u64,
    records: u64,
    counting: Counting,
    verdict: Verdict,
}

impl Recogniser {
    /// A recogniser at the start of its input. If `framing` is `None`, it is detected from the first bytes.
    pub fn new(framing: Option<Framing>, limits: Limits, window: Window) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        let most = window.bytes.saturating_add(limits.record_bytes as u64);
        let (counting, verdict) = (Counting::default(), Verdict::Undecided);
        Self { reader, framing, window, most, bytes: 0, records: 0, counting, verdict }
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Verdict {
        self.read(|reader, sink| reader.feed(chunk, sink));
        self.bytes += chunk.len() as u64;
        let is_over = self.records >= self.window.records
            || (self.bytes >= self.window.bytes && self.records > 0)
            || self.bytes > self.most;
        if is_over && matches!(self.verdict, Verdict::Undecided) {
            self.verdict = Verdict::Unknown;
        }
        self.verdict
    }

    /// Whether more input would not change the verdict.
    pub fn is_decided(&self) -> bool {
        !matches!(self.verdict, Verdict::Undecided)
    }

    /// The input is over.
    pub fn finish(&mut self) -> Verdict {
        self.read(|reader, sink| reader.finish(sink));
        if matches!(self.verdict, Verdict::Undecided) {
            self.verdict = Verdict::Unknown;
        }
        self.verdict
    }

    /// The counts of the inspected records.
    pub(crate) fn into_counting(self) -> Counting {
        self.counting
    }

    /// The number of inspected records.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn read(&mut self, step: impl FnOnce(&mut Reader, &mut crate::framing::UnitSink<'_>)) {
        let Self { reader, framing, window, records, counting, verdict, .. } = self;
        let known = *framing;
        let mut sink = |unit: crate::framing::Unit<'_>| {
            let is_line = unit.form == Form::Line;
            let framing = known.or(Some(if is_line { Framing::Ndjson } else { Framing::Sse }));
            records::read(&unit, &mut |part| {
                if !matches!(verdict, Verdict::Undecided) || *records >= window.records {
                    return;
                }
                let index = *records;
                *records += 1;
                let (json, fields) = match part {
                    UnitPart::Value { json, fields, .. } => (json, fields),
                    UnitPart::Done => return counting.marker(),
                    // Comments and event names identify no runner, and are not errors.
                    UnitPart::Rest => return,
                    UnitPart::Invalid { error, .. } => return counting.bad(BadKind::Invalid, unit.offset, &error),
                };
                let record = Record { json, fields, event_name: unit.event_name, index, offset: unit.offset };
                match recognise(&record, framing) {
                    Some(found) => *verdict = Verdict::Found(found),
                    None => counting.bad(BadKind::Unknown, unit.offset, &unfamiliar(&record)),
                }
            });
        };
        step(reader, &mut sink);
    }
}

/// Describes an unrecognised record: by its type or its first keys.
fn unfamiliar(record: &Record<'_>) -> String {
    if record.json.kind() != Kind::Object {
        return format!("not a JSON object but {}", record.json.kind().as_str());
    }
    // The record is not redacted yet, so possible secrets must not appear here.
    let is_word = |text: &str| {
        text.len() <= 40 && text.chars().all(|letter| letter.is_ascii_alphabetic() || "._-/".contains(letter))
    };
    match record.fields.str("type").or_else(|| record.fields.str("method")) {
        Some(kind) if is_word(&kind) => format!("an object of the unknown type {kind:?}"),
        Some(_) => "an object of an unknown type".to_owned(),
        None => {
            let keys = record.fields.iter().filter(|(key, _)| is_word(key));
            let keys: Vec<String> = keys.take(4).map(|(key, _)| format!("{key:?}")).collect();
            format!("an object without a type (its first keys: {})", keys.join(", "))
        }
    }
}

/// Notices that an input is from another runner than specified.
#[derive(Debug)]
pub(crate) struct MismatchDetector {
    runner: &'static Runner,
    left: u64,
}

impl MismatchDetector {
    /// `runner` is the specified one.
    pub(crate) fn new(runner: &'static Runner) -> Self {
        Self { runner, left: Window::default().records }
    }

    /// Inspects the next record; returns the actual runner, once.
    pub(crate) fn record(&mut self, record: &Record<'_>) -> Option<Recognised> {
        self.left = self.left.checked_sub(1)?;
        if recognise_as(self.runner, record, None).is_some() {
            self.left = 0;
            return None;
        }
        let other = recognise(record, None)?;
        self.left = 0;
        Some(other)
    }
}
