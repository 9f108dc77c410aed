//! Traces: for each frame of a stream the record that it came from, the events that it produced in a contract, and what was noticed
//! about it.
//!
//! Input: a place in the stream, from which encoders are brought up by their checkpoints. Output: a page of frames in order; the
//! events on all pages together are the stream's events, byte for byte. Never: a cost that grows with the stream, where there are
//! checkpoints; an event that the gate withheld; a pruned front that is not announced; a count of checked events (a trace
//! checks events that readers may have got before).

mod findings;
mod rules;
#[cfg(test)]
mod tests;

use super::gap::Gap;
use super::{Reader, View, has_moved, kept_from};
use crate::gate;
use crate::log::{CheckpointAt, LogError};
use crate::runs::Runs;
use crate::runs::checkpoints::{ResumePoint, SharedCheckpoints};
pub use findings::Kind as FindingKind;

use findings::Finding;
use framegate_translators::contracts::{Contract, FRAMES, NUMBERED_RECORDS};
use framegate_translators::encode::{EncoderOptions, EventId, EventRef, Events};
use framegate_translators::frame::{Body, Frame, StreamKind, is_last};
use framegate_translators::gate::{Gate, Verdict};
use framegate_translators::schema::Violation;
use framegate_translators::warnings::Watch;
use rules::RuleCheck;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// How many frames are read from the log at a time.
const AT_ONCE: usize = 128;

/// How many frames go through the encoders between two yields.
const IN_A_ROW: usize = 32;

/// How many frames before the page are watched, so that a warning about a tool's end knows the tool's output.
const LOOK_BACK: u64 = 256;

/// Which frames a trace has.
#[derive(Clone, Copy, Debug)]
pub struct TraceAsk {
    /// The number of the first frame.
    pub from: u64,
    /// Maximum number of frames.
    pub max_frames: usize,
    /// Approximate maximum of bytes of frames and events. At least one frame is always returned.
    pub max_bytes: usize,
}

/// A page of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// The frames in order.
    pub items: Vec<Traced>,
    /// Whether the stream has more frames now.
    pub has_more: bool,
    /// Whether the contract's rules between events were checked on this page.
    pub rules_checked: bool,
}

/// One frame, where it came from, and what came of it.
#[derive(Debug, Serialize)]
pub struct Traced {
    /// The frame's number.
    pub seq: u64,
    /// The frame as an event of `frames.v2`; absent if it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Box<RawValue>>,
    /// The number of the upstream record that it came from, as in `raw`. `None` before the first record, and for a gap.
    pub record: Option<u64>,
    /// The events of the contract that the frame produced.
    pub events: Vec<TracedEvent>,
    /// What was noticed about the frame.
    pub findings: Vec<Finding>,
}

/// One event of the contract.
#[derive(Debug, Serialize)]
pub struct TracedEvent {
    /// Its cursor, as in the `id:` of an event stream; `None` if no client can resume after it.
    pub cursor: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What clients get.
    pub event: Box<RawValue>,
    /// Whether `event` is the stand-in for an event that the gate withheld.
    pub withheld: bool,
    /// The type of the event that was withheld; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld_type: Option<&'static str>,
    /// What is wrong with the event; if it was withheld, with the event that clients did not get.
    pub violations: Vec<Broken>,
}

/// A rule that an event breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// `schema`, or the name of the rule.
    pub rule: &'static str,
    /// `error`, or `warning` if a withheld event explains it.
    pub severity: &'static str,
    /// Where in the event, as a JSON pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl From<Violation> for Broken {
    fn from(violation: Violation) -> Self {
        Self { rule: "schema", severity: "error", path: violation.pointer, message: violation.message }
    }
}

impl Reader {
    /// A page of the trace of the stream in the reader's contract.
    ///
    /// # Errors
    /// The log's error.
    pub async fn trace(&mut self, runs: &Runs, ask: TraceAsk) -> Result<Trace, LogError> {
        let view = self.view.clone();
        loop {
            let gap = view.gap(runs).await?;
            let kept_from = kept_from(gap.as_deref());
            match Tracer::page(&view, runs, gap.as_deref(), ask).await {
                Err(error) if has_moved(&error, kept_from) => tokio::task::yield_now().await,
                page => return page,
            }
        }
    }
}

/// The encoders of a page, each at the next frame.
struct Tracer<'r> {
    view: &'r View,
    runs: &'r Runs,
    events: ResumePoint,
    frames: ResumePoint,
    /// Counts records; `None` if the records before the kept part are unknown.
    records: Option<(SharedCheckpoints, ResumePoint)>,
    watch: Watch,
    rules: Option<RuleCheck<'r>>,
    /// Room for events whose text is not needed.
    unwritten: Events,
    /// The frames and events that were written, in bytes.
    bytes: usize,
}

impl<'r> Tracer<'r> {
    async fn page(view: &'r View, runs: &'r Runs, gap: Option<&Gap>, ask: TraceAsk) -> Result<Trace, LogError> {
        let (entry, kept) = (&view.entry, kept_from(gap));
        let frames = entry.tail.borrow().frames;
        let from = ask.from.max(kept);
        let none = EncoderOptions::default();
        let of = |contract: &'static Contract| {
            let found = entry.checkpoints(contract.view_name(), contract.name, contract.encoder, &none);
            found.map(|(_, checkpoints)| checkpoints)
        };
        let (Some(of_frames), Some(of_records)) = (of(FRAMES), of(NUMBERED_RECORDS)) else {
            return Ok(Trace::default());
        };
        let mut trace = Trace::default();
        if let Some(gap) = gap.filter(|gap| ask.from < gap.gone.frames) {
            let of_frames = Gap::find(runs, entry, FRAMES, &of_frames, gap.gone).await?;
            trace.items.extend(announced(gap, &of_frames));
        }
        if let Some(gap) = gap {
            // Makes the records' encoder start at the kept part.
            of_records.start_of_kept(runs, entry, gap.gone.frames).await?;
        }
        let rules = RuleCheck::of(view.contract, runs.gate(), from).filter(|_| kept == 0);
        let at = CheckpointAt::Frame(if rules.is_some() { 0 } else { from });
        let events = view.checkpoints.start(runs, entry, &at).await?;
        let frames_point = of_frames.start(runs, entry, &CheckpointAt::Frame(from)).await?;
        let (Some(events), Some(frames_point)) = (events, frames_point) else { return Ok(trace) };
        let records = of_records.start(runs, entry, &CheckpointAt::Frame(from)).await?;
        let records = records.filter(|point| point.frame >= kept).map(|point| (of_records, point));
        let mut tracer = Self {
            view,
            runs,
            events,
            frames: frames_point,
            records,
            watch: Watch::default(),
            rules,
            unwritten: Events::unwritten(),
            bytes: 0,
        };
        if from < frames {
            tracer.bring_up(from, kept).await?;
            tracer.fill(&mut trace, from..frames, ask).await?;
        }
        trace.rules_checked = tracer.rules.is_some();
        Ok(trace)
    }

    /// Brings the encoders to the frame with number `from`.
    async fn bring_up(&mut self, from: u64, kept: u64) -> Result<(), LogError> {
        let of_records = self.records.as_ref().map_or(from, |(_, point)| point.frame);
        let look_back = from.saturating_sub(LOOK_BACK).max(kept);
        let mut at = look_back.min(self.events.frame).min(of_records).min(from);
        let mut written = Events::default();
        let gate = self.runs.gate().of(self.view.contract);
        while at < from {
            let most = usize::try_from(from - at).unwrap_or(AT_ONCE).min(AT_ONCE);
            let frames = self.view.frames(self.runs, at, most).await?;
            for some in frames.chunks(IN_A_ROW) {
                for frame in some {
                    self.watched(frame);
                    if let Some((_, point)) = &mut self.records {
                        point.advance(frame, &mut self.unwritten);
                    }
                    match &mut self.rules {
                        Some(rules) => {
                            self.events.advance(frame, &mut written);
                            for event in written.iter() {
                                passed(gate.as_ref(), frame, event, &mut |sent| rules.pass_over(sent.event.payload));
                            }
                            written.clear();
                        }
                        None => self.events.advance(frame, &mut self.unwritten),
                    }
                }
                tokio::task::yield_now().await;
            }
            let Some(last) = frames.last() else { return Ok(()) };
            at = last.seq + 1;
        }
        if self.rules.as_ref().is_some_and(RuleCheck::is_exhausted) {
            self.rules = None;
        }
        self.view.checkpoints.note(&self.events);
        if let Some((checkpoints, point)) = &self.records {
            checkpoints.note(point);
        }
        Ok(())
    }

    fn watched(&mut self, frame: &Frame) -> Vec<Finding> {
        if frame.stream.kind != StreamKind::Session {
            return Vec::new();
        }
        self.watch.frame(frame).map(Finding::of).collect()
    }

    /// Adds the frames of a range, as many as the page may have.
    async fn fill(&mut self, trace: &mut Trace, range: std::ops::Range<u64>, ask: TraceAsk) -> Result<(), LogError> {
        let mut at = range.start;
        let mut scratch = Events::default();
        // The status of the run may be ahead of the frames of this page.
        let mut is_over = false;
        while at < range.end {
            let frames = self.view.frames(self.runs, at, AT_ONCE).await?;
            if frames.is_empty() {
                break;
            }
            for (nth, frame) in frames.iter().enumerate().filter(|(_, frame)| frame.seq < range.end) {
                let is_full = self.bytes >= ask.max_bytes && self.bytes > 0;
                if trace.items.len() >= ask.max_frames || is_full {
                    trace.has_more = true;
                    return Ok(());
                }
                let item = self.item(frame, frames.get(nth + 1), &mut scratch);
                trace.items.push(item);
                is_over = is_last(frame);
                at = frame.seq + 1;
                if nth % IN_A_ROW == IN_A_ROW - 1 {
                    tokio::task::yield_now().await;
                }
            }
        }
        if let Some(rules) = self.rules.as_mut().filter(|_| is_over) {
            let last = trace.items.iter_mut().rev().find_map(|item| item.events.last_mut());
            last.into_iter().for_each(|event| event.violations.extend(rules.end()));
        }
        Ok(())
    }

    fn item(&mut self, frame: &Arc<Frame>, next: Option<&Arc<Frame>>, scratch: &mut Events) -> Traced {
        let mut findings = self.watched(frame);
        findings.extend(Finding::about(frame));
        let record = self.records.as_mut().and_then(|(_, point)| {
            let before = point.event;
            point.advance(frame, &mut self.unwritten);
            let is_record = |frame: &Frame| matches!(frame.body, Body::ProviderEvent(_));
            // The first frame of a run is made from the record after it.
            let is_first = before == 0 && frame.seq == 0 && next.is_some_and(|next| is_record(next));
            if is_record(frame) || is_first { Some(before) } else { before.checked_sub(1) }
        });
        let (runs, contract) = (self.runs, self.view.contract);
        let mut own = None;
        self.frames.advance(frame, scratch);
        let of_frames = runs.gate().of(FRAMES);
        scratch.iter().for_each(|event| {
            passed(of_frames.as_ref(), frame, event, &mut |sent| own = own.take().or_else(|| json(sent.event.payload)));
        });
        self.events.advance(frame, scratch);
        let gate = runs.gate().of(contract);
        let mut events = Vec::new();
        for event in scratch.iter() {
            passed(gate.as_ref(), frame, event, &mut |Sent { event: sent, violations, withheld }| {
                let Some(text) = json(sent.payload) else { return };
                self.bytes += sent.payload.len();
                let mut broken: Vec<Broken> = violations.iter().cloned().map(Broken::from).collect();
                if let Some(rules) = &mut self.rules {
                    broken.extend(rules.event(sent.payload));
                }
                events.push(TracedEvent {
                    cursor: cursor(sent.id),
                    kind: sent.kind,
                    event: text,
                    withheld,
                    withheld_type: withheld.then_some(event.kind),
                    violations: broken,
                });
            });
        }
        self.bytes += own.as_ref().map_or(0, |own| own.get().len());
        Traced { seq: frame.seq, frame: own, record, events, findings }
    }
}

/// What clients get for an event.
struct Sent<'e> {
    event: EventRef<'e>,
    /// What is wrong with the event that the encoder wrote.
    violations: &'e [Violation],
    /// Whether `event` stands in for that event.
    withheld: bool,
}

/// Passes an event through the gate.
fn passed(gate: Option<&Gate<'_>>, frame: &Frame, event: EventRef<'_>, sink: &mut dyn FnMut(Sent<'_>)) {
    // The verdict comes after the event, so a stand-in has to wait for it.
    let mut stand_in = Events::default();
    let mut keep = |sent: EventRef<'_>| {
        if !std::ptr::eq(sent.payload, event.payload) {
            stand_in.bytes(sent.kind, sent.id.clone(), sent.payload);
        }
    };
    let (violations, withheld) = match gate::pass(gate, frame, event, &mut keep) {
        Verdict::Kept => (Vec::new(), false),
        Verdict::Broken(violations) => (violations, false),
        Verdict::Withheld(violations) => (violations, true),
    };
    if !withheld {
        return sink(Sent { event, violations: &violations, withheld });
    }
    stand_in.iter().for_each(|event| sink(Sent { event, violations: &violations, withheld }));
}

/// The gap at the front, in place of the frames that are not kept.
fn announced(gap: &Gap, of_frames: &Gap) -> Option<Traced> {
    let seq = gap.gone.frames.checked_sub(1)?;
    let text = |line: &[u8]| json(line.strip_suffix(b"\n").unwrap_or(line));
    let frame = of_frames.event().and_then(|(_, _, line)| text(&line));
    let event = gap.event().and_then(|(id, kind, line)| {
        let event = text(&line)?;
        let (cursor, violations) = (cursor(id), Vec::new());
        Some(TracedEvent { cursor, kind, event, withheld: false, withheld_type: None, violations })
    });
    let findings = vec![Finding::pruned(seq)];
    Some(Traced { seq, frame, record: None, events: event.into_iter().collect(), findings })
}

/// The text of an event, exactly as it is; `None` if it is not JSON (cannot happen).
fn json(text: &[u8]) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8_lossy(text).into_owned()).ok()
}

fn cursor(id: &EventId) -> Option<String> {
    match id {
        EventId::None => None,
        EventId::Number(number) => Some(number.to_string()),
        EventId::Text(text) => Some(text.clone()),
        EventId::Closing(number) => Some(format!("{number}{}", EventId::CLOSING_SUFFIX)),
    }
}
