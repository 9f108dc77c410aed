//! Whose output it is: the runner and the surface, told from the first records.
//!
//! In: records, or bytes as they come. Out: the runner, the surface, and why. Never: a guess between two runners, more
//! than [`Window`] allows held or looked at.

use crate::decode::Record;
use crate::framing::{Framing, Limits, Reader};
use crate::json::{Json, Kind};
use crate::records::{self, Part};
use crate::runners::{RUNNERS, Runner, Surface};

/// A runner that was recognised.
#[derive(Clone, Copy)]
pub struct Recognised {
    /// The runner.
    pub runner: &'static Runner,
    /// The form of its output.
    pub surface: &'static Surface,
    /// What the record has that only such a record has.
    pub reason: &'static str,
    /// Which record it was, counted from 0.
    pub record: u64,
}

impl std::fmt::Debug for Recognised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}: {} (record {})", self.reason, self.record)
    }
}

/// As people are told: `codex (exec)`.
impl std::fmt::Display for Recognised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.runner.name, self.surface.name)
    }
}

/// How far an input is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many records.
    pub records: u64,
    /// How many bytes. A first record that is larger is read to its end all the same, up to the largest record.
    pub bytes: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { records: 64, bytes: 1 << 20 }
    }
}

/// So many items of a list are looked at.
const ITEMS: usize = 16;

/// Whose record it is; `None` where no runner recognises it, or more than one.
pub fn recognise(record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let mut all = RUNNERS.iter().filter_map(|runner| recognise_as(runner, record, framing));
    let found = all.next()?;
    all.next().is_none().then_some(found)
}

/// Whether, and as what, one runner recognises a record, or an item of a list.
pub fn recognise_as(runner: &'static Runner, record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let found = surface_of(runner, record, framing);
    if found.is_some() || record.json.kind() != Kind::Array {
        return found;
    }
    let items = record.json.items().into_iter().take(ITEMS);
    items.filter_map(|json| item_of(record, json)).find_map(|item| surface_of(runner, &item, framing))
}

/// An item of a list, as a record of its own.
pub(crate) fn item_of<'r>(list: &Record<'r>, json: Json<'r>) -> Option<Record<'r>> {
    let fields = json.object()?;
    Some(Record { json, fields, event_name: list.event_name, index: list.index, offset: list.offset })
}

fn surface_of(runner: &'static Runner, record: &Record<'_>, framing: Option<Framing>) -> Option<Recognised> {
    let known = |surface: &'static Surface| (surface.recognise)(record).map(|reason| (surface, reason));
    // Where surfaces differ in their framing alone, one has its name.
    let framed = framing.and_then(|framing| runner.surfaces.iter().find(|surface| surface.name == framing.as_str()));
    let (surface, reason) = framed.and_then(known).or_else(|| runner.surfaces.iter().find_map(known))?;
    Some(Recognised { runner, surface, reason, record: record.index })
}

/// What a [`Recogniser`] has come to.
#[derive(Clone, Copy, Debug)]
pub enum Verdict {
    /// It needs more.
    Undecided,
    /// It knows.
    Found(Recognised),
    /// The window is over, or the input, and nothing was recognised.
    Unknown,
}

/// Recognises an input from its bytes.
#[derive(Debug)]
pub struct Recogniser {
    reader: Reader,
    framing: Option<Framing>,
    window: Window,
    /// So many bytes are the most that one record and the window have together.
    most: u64,
    bytes: u64,
    records: u64,
    verdict: Verdict,
}

impl Recogniser {
    /// A recogniser at the start of its input. Without `framing`, the first bytes tell it.
    pub fn new(framing: Option<Framing>, limits: Limits, window: Window) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        let most = window.bytes.saturating_add(limits.record_bytes as u64);
        Self { reader, framing, window, most, bytes: 0, records: 0, verdict: Verdict::Undecided }
    }

    /// Takes the next bytes.
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

    /// The input is over.
    pub fn finish(&mut self) -> Verdict {
        self.read(|reader, sink| reader.finish(sink));
        if matches!(self.verdict, Verdict::Undecided) {
            self.verdict = Verdict::Unknown;
        }
        self.verdict
    }

    /// How many records were looked at.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn read(&mut self, step: impl FnOnce(&mut Reader, &mut crate::framing::UnitSink<'_>)) {
        let Self { reader, framing, window, records, verdict, .. } = self;
        let known = *framing;
        let mut sink = |unit: crate::framing::Unit<'_>| {
            let is_sse = !std::ptr::eq(unit.bytes, unit.payload);
            let framing = known.or(Some(if is_sse { Framing::Sse } else { Framing::Ndjson }));
            records::read(&unit, &mut |part| {
                if !matches!(verdict, Verdict::Undecided) || *records >= window.records {
                    return;
                }
                let index = *records;
                *records += 1;
                let Part::Value { json, fields, .. } = part else { return };
                let record = Record { json, fields, event_name: unit.event_name, index, offset: unit.offset };
                if let Some(found) = recognise(&record, framing) {
                    *verdict = Verdict::Found(found);
                }
            });
        };
        step(reader, &mut sink);
    }
}

/// Notices that an input is another runner's than was said.
#[derive(Debug)]
pub(crate) struct Doubt {
    runner: &'static str,
    left: u64,
}

impl Doubt {
    /// It was said to be this runner's.
    pub(crate) fn new(runner: &Runner) -> Self {
        Self { runner: runner.name, left: Window::default().records }
    }

    /// Looks at the next record; gives the other runner, once.
    pub(crate) fn record(&mut self, record: &Record<'_>) -> Option<Recognised> {
        self.left = self.left.checked_sub(1)?;
        let ours = RUNNERS.iter().find(|runner| runner.name == self.runner);
        if ours.is_some_and(|runner| recognise_as(runner, record, None).is_some()) {
            self.left = 0;
            return None;
        }
        let other = recognise(record, None)?;
        self.left = 0;
        Some(other)
    }
}
