//! Streams of recordings with one error in their order. Each change names the expected rule.

use crate::words::*;
use framegate_translators::contracts::contract;
use serde_json::{Value, json};

#[test]
fn a_valid_run_has_no_findings_also_renumbered() {
    for words in ALL {
        let contract = contract(words.contract).unwrap();
        for (name, events) in runs(words) {
            let mut events = events.clone();
            assert_eq!(rules(contract, &events), [], "{name} in {}", words.contract);
            renumber(words, &mut events);
            assert_eq!(rules(contract, &events), [], "{name} in {}, renumbered", words.contract);
        }
    }
}

#[test]
fn the_first_event_must_be_the_documented_one() {
    applies("no first event", &["frames.v1", "frames.v2", "sse.v1", "hecate.v1"], |words, events| {
        if words.first.is_empty() || words.first.iter().any(|first| is(words, &events[1], first)) {
            return None;
        }
        let mut events = events[1..].to_vec();
        renumber(words, &mut events);
        // A `frames.v1` stream does not name its kind: only its end shows that a start is missing.
        let at = if words.contract == "frames.v1" { events.len() as u64 } else { 1 };
        Some(Broken { events, at, rules: &["start.missing"], pointer: String::new() })
    });
    applies("two first events", &["frames.v1", "frames.v2", "sse.v1"], |words, events| {
        if words.first.len() != 1 {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(1, events[0].clone());
        renumber(words, &mut events);
        Some(Broken { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}

#[test]
fn exactly_one_terminal_event_is_last() {
    applies("no end", EVERY, |words, events| {
        let events = events[..events.len() - 1].to_vec();
        // A Pixir log has no ephemeral events, and therefore no terminal marker.
        let is_log = words.contract == "pixir.v1" && events.iter().all(|event| !event["seq"].is_null());
        (!is_log).then(|| Broken { events, at: 0, rules: &["end.missing"], pointer: String::new() })
    });
    applies("two ends", EVERY, |words, events| {
        let mut events = events.to_vec();
        assert!((words.is_last)(events.last().unwrap()), "{} {:?}", words.contract, events.last());
        events.push(events.last().unwrap().clone());
        renumber(words, &mut events);
        let at = events.len() as u64;
        Some(Broken { events, at, rules: &["end.repeat", "end.not_last"], pointer: String::new() })
    });
    applies("something behind the end", EVERY, |words, events| {
        let mut events = events.to_vec();
        let filler = events.iter().find(|event| is(words, event, words.filler))?.clone();
        events.push(filler);
        renumber(words, &mut events);
        let at = events.len() as u64;
        Some(Broken { events, at, rules: &["end.not_last"], pointer: String::new() })
    });
}

#[test]
fn numbers_start_at_0_without_gaps_or_repeats() {
    const NUMBERED: &[&str] = &["frames.v1", "frames.v2", "agent-manager.v1", "pixir.v1", "hecate.v1"];
    let numbered = |words: &Words, events: &[Value]| -> Option<(&'static str, Vec<usize>)> {
        let key = words.number?;
        let places: Vec<usize> = (0..events.len()).filter(|at| !events[*at][key].is_null()).collect();
        (places.len() > 2).then_some((key, places))
    };
    applies("a gap", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events.remove(places[1]);
        Some(Broken { events, at: places[2] as u64, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
    applies("a repeat", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events[places[2]][key] = events[places[1]][key].clone();
        Some(Broken { events, at: places[2] as u64 + 1, rules: &["sequence.repeat"], pointer: format!("/{key}") })
    });
    applies("another start", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        for at in &places {
            events[*at][key] = json!(events[*at][key].as_u64().unwrap() + 1);
        }
        Some(Broken { events, at: places[0] as u64 + 1, rules: &["sequence.start"], pointer: format!("/{key}") })
    });
    applies("two in the wrong order", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events.swap(places[1], places[2]);
        Some(Broken { events, at: places[1] as u64 + 1, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
}

#[test]
fn ids_are_unique_and_sorted_if_documented() {
    applies("an id twice", EVERY, |words, events| {
        let mut events = events.to_vec();
        events[2][words.id] = events[1][words.id].clone();
        let rules = if words.contract == "sse.v1" { &["id.order"][..] } else { &["id.repeat"] };
        Some(Broken { events, at: 3, rules, pointer: format!("/{}", words.id) })
    });
    applies("unsorted ids", &["sse.v1", "hecate.v1"], |words, events| {
        if !["sse.v1", "hecate.v1"].contains(&words.contract) {
            return None;
        }
        let mut events = events.to_vec();
        let (one, two) = (events[1][words.id].clone(), events[2][words.id].clone());
        events[1][words.id] = two;
        events[2][words.id] = one;
        Some(Broken { events, at: 3, rules: &["id.order"], pointer: format!("/{}", words.id) })
    });
}

#[test]
fn ids_of_a_stream_do_not_change() {
    applies("another constant id", &["frames.v2", "sse.v1", "hecate.v1"], |words, events| {
        let key = words.constant.first()?;
        let mut events = events.to_vec();
        let other = if words.contract == "hecate.v1" {
            json!("task_00000000000000000000000000")
        } else {
            json!("00000000-0000-5000-8000-00000000ffff")
        };
        events[1][*key] = other;
        Some(Broken { events, at: 2, rules: &["id.changed", "id.alias"], pointer: format!("/{key}") })
    });
    // An event of another run starts a stream without a beginning, and leaves a gap in its own stream.
    applies("another run", EVERY, |words, events| {
        let key = words.number;
        let at = (1..events.len() - 1).find(|at| key.is_none_or(|key| !events[*at][key].is_null()))?;
        let mut events = events.to_vec();
        events[at][words.run] = match words.contract {
            "hecate.v1" => json!("run_00000000000000000000000000"),
            _ => json!("00000000-0000-5000-8000-00000000ffff"),
        };
        if words.contract == "frames.v2" {
            events[at]["session_id"] = events[at]["stream_id"].clone();
        }
        let is_zero = key.is_some_and(|key| events[at][key] == 0);
        let rules: &[&str] = match key {
            // The first number of a Pixir session may be in the middle of its stream.
            Some(_) if is_zero => &["end.missing", "sequence.start"],
            Some(_) => &["sequence.start"],
            None => &["start.missing"],
        };
        if is_zero {
            return None;
        }
        let pointer = key.map(|key| format!("/{key}")).unwrap_or_default();
        Some(Broken { events, at: at as u64 + 1, rules, pointer })
    });
}

#[test]
fn opened_items_are_closed() {
    const PAIRED: &[&str] = &["frames.v1", "frames.v2", "sse.v1", "pixir.v1", "hecate.v1"];
    for nth in 0..4 {
        let open = |words: &Words, events: &[Value]| {
            let (opens, closes, id) = words.pairs.get(nth)?;
            let from = events.iter().position(|event| is(words, event, opens))?;
            let name = events[from].pointer(id)?.clone();
            let is_end =
                |event: &Value| closes.iter().any(|close| is(words, event, close)) && event.pointer(id) == Some(&name);
            let to = events.iter().position(is_end)?;
            // If the name is used again, the remaining event has a partner.
            let again = events.iter().skip(to + 1).any(|event| event.pointer(id) == Some(&name));
            (!again).then(|| (from, to, (*id).to_owned()))
        };
        let contracts: &[&str] = match nth {
            0 => PAIRED,
            1 => &["frames.v2", "hecate.v1"],
            _ => &["frames.v2"],
        };
        applies("closed and never opened", contracts, |words, events| {
            let (from, _, pointer) = open(words, events)?;
            let name = events[from].pointer(&pointer).cloned();
            let mut events = events.to_vec();
            events.remove(from);
            renumber(words, &mut events);
            // The first event of the object itself: other events may name it before it is opened or after it is closed.
            let speaks = |event: &Value| {
                let kind = event[words.type_key].as_str().unwrap();
                let own = words.pairs[nth].1.contains(&kind)
                    || ["tool_stdout", "tool_stderr"].contains(&kind)
                    || kind.starts_with("tool.");
                own && event.pointer(&pointer).cloned() == name
            };
            let at = events.iter().position(speaks)? as u64 + 1;
            Some(Broken { events, at, rules: &["pair.not_open"], pointer })
        });
        applies("opened and never closed", contracts, |words, events| {
            let (_, to, _) = open(words, events)?;
            let mut events = events.to_vec();
            events.remove(to);
            renumber(words, &mut events);
            let at = if words.contract == "pixir.v1" { 0 } else { events.len() as u64 };
            Some(Broken { events, at, rules: &["pair.left_open"], pointer: String::new() })
        });
        applies("opened twice", contracts, |words, events| {
            let (from, _, pointer) = open(words, events)?;
            let mut events = events.to_vec();
            events.insert(from + 1, events[from].clone());
            renumber(words, &mut events);
            Some(Broken { events, at: from as u64 + 2, rules: &["pair.opened_twice"], pointer })
        });
        applies("closed twice", contracts, |words, events| {
            let (_, to, pointer) = open(words, events)?;
            let mut events = events.to_vec();
            events.insert(to + 1, events[to].clone());
            renumber(words, &mut events);
            Some(Broken { events, at: to as u64 + 2, rules: &["pair.not_open", "turn.not_open"], pointer })
        });
    }
    // A result without a call.
    each("a result without its call", |words, events| {
        if words.contract != "agent-manager.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let at = events.iter().position(|event| is(words, event, "tool_result"))?;
        events[at]["data"]["toolName"] = json!("never called");
        Some(Broken { events, at: at as u64 + 1, rules: &["pair.not_open"], pointer: "/data/toolName".to_owned() })
    });
}

#[test]
fn a_completed_text_equals_its_deltas() {
    const WITH_TEXT: &[&str] = &["frames.v2", "pixir.v1", "hecate.v1"];
    let spoken = |words: &Words, events: &[Value]| {
        let (delta, said, whole, text) = words.text?;
        let at = events.iter().position(|event| is(words, event, delta))?;
        // The completed text for these deltas. In all three contracts it is the next one, if only one text is open at a time.
        let to = at + events[at..].iter().position(|event| is(words, event, whole))?;
        let all: String = events[at..to]
            .iter()
            .filter(|event| is(words, event, delta))
            .map(|event| event.pointer(said).unwrap().as_str().unwrap())
            .collect();
        (events[to].pointer(text)? == all.as_str() && !all.is_empty()).then_some((at, to, said, text))
    };
    applies("a delta says something else", WITH_TEXT, |words, events| {
        let (at, to, said, text) = spoken(words, events)?;
        let mut events = events.to_vec();
        *events[at].pointer_mut(said).unwrap() = json!("something that nobody said");
        Some(Broken { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("a delta comes twice", WITH_TEXT, |words, events| {
        let (at, to, said, text) = spoken(words, events)?;
        if events[at].pointer(said)? == "" {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(at + 1, events[at].clone());
        renumber(words, &mut events);
        Some(Broken { events, at: to as u64 + 2, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("the text says more", WITH_TEXT, |words, events| {
        let (_, to, _, text) = spoken(words, events)?;
        let mut events = events.to_vec();
        let more = format!("{}!", events[to].pointer(text)?.as_str()?);
        *events[to].pointer_mut(text).unwrap() = json!(more);
        Some(Broken { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
}

/// "emitted as the first event of the new run when an agent resumes from a checkpoint".
#[test]
fn a_hecate_run_resumes_only_at_its_beginning() {
    each("resumed in the midst", |words, events| {
        if words.contract != "hecate.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let mut resumed = events[0].clone();
        resumed["type"] = json!("run.resumed_from_event");
        resumed["data"] = json!({"from_run_id": resumed["run_id"], "from_sequence": 1});
        events.insert(1, resumed);
        renumber(words, &mut events);
        Some(Broken { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}
