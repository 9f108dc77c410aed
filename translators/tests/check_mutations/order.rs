//! Streams of recordings with one error in their order. Each change names the expected rule.

use crate::vocabulary::*;
use framegate_translators::contracts::contract;
use serde_json::{Value, json};

#[test]
fn a_valid_run_has_no_findings_also_renumbered() {
    for vocabulary in ALL {
        let contract = contract(vocabulary.contract).unwrap();
        for (name, events) in runs(vocabulary) {
            let mut events = events.clone();
            assert_eq!(rules(contract, &events), [], "{name} in {}", vocabulary.contract);
            renumber(vocabulary, &mut events);
            assert_eq!(rules(contract, &events), [], "{name} in {}, renumbered", vocabulary.contract);
        }
    }
}

#[test]
fn the_first_event_must_be_the_documented_one() {
    applies("no first event", &["frames.v1", "frames.v2", "sse.v1", "hecate.v1"], |vocabulary, events| {
        if vocabulary.first.is_empty() || vocabulary.first.iter().any(|first| is_kind(vocabulary, &events[1], first)) {
            return None;
        }
        let mut events = events[1..].to_vec();
        renumber(vocabulary, &mut events);
        // A `frames.v1` stream does not name its kind: only its end shows that a start is missing.
        let at = if vocabulary.contract == "frames.v1" { events.len() as u64 } else { 1 };
        Some(Mutation { events, at, rules: &["start.missing"], pointer: String::new() })
    });
    applies("two first events", &["frames.v1", "frames.v2", "sse.v1"], |vocabulary, events| {
        if vocabulary.first.len() != 1 {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(1, events[0].clone());
        renumber(vocabulary, &mut events);
        Some(Mutation { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}

#[test]
fn exactly_one_terminal_event_is_last() {
    applies("no end", EVERY, |vocabulary, events| {
        let events = events[..events.len() - 1].to_vec();
        // A Pixir log has no ephemeral events, and therefore no terminal marker.
        let is_log = vocabulary.contract == "pixir.v1" && events.iter().all(|event| !event["seq"].is_null());
        (!is_log).then(|| Mutation { events, at: 0, rules: &["end.missing"], pointer: String::new() })
    });
    applies("two ends", EVERY, |vocabulary, events| {
        let mut events = events.to_vec();
        assert!((vocabulary.is_last)(events.last().unwrap()), "{} {:?}", vocabulary.contract, events.last());
        events.push(events.last().unwrap().clone());
        renumber(vocabulary, &mut events);
        let at = events.len() as u64;
        Some(Mutation { events, at, rules: &["end.repeat", "end.not_last"], pointer: String::new() })
    });
    applies("an event after the end", EVERY, |vocabulary, events| {
        let mut events = events.to_vec();
        let filler = events.iter().find(|event| is_kind(vocabulary, event, vocabulary.filler))?.clone();
        events.push(filler);
        renumber(vocabulary, &mut events);
        let at = events.len() as u64;
        Some(Mutation { events, at, rules: &["end.not_last"], pointer: String::new() })
    });
}

#[test]
fn numbers_start_at_0_without_gaps_or_repeats() {
    const NUMBERED: &[&str] = &["frames.v1", "frames.v2", "agent-manager.v1", "pixir.v1", "hecate.v1"];
    let numbered = |vocabulary: &Vocabulary, events: &[Value]| -> Option<(&'static str, Vec<usize>)> {
        let key = vocabulary.number?;
        let places: Vec<usize> = (0..events.len()).filter(|at| !events[*at][key].is_null()).collect();
        (places.len() > 2).then_some((key, places))
    };
    applies("a gap", NUMBERED, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events.remove(places[1]);
        Some(Mutation { events, at: places[2] as u64, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
    applies("a repeat", NUMBERED, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events[places[2]][key] = events[places[1]][key].clone();
        Some(Mutation { events, at: places[2] as u64 + 1, rules: &["sequence.repeat"], pointer: format!("/{key}") })
    });
    applies("another start", NUMBERED, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        for at in &places {
            events[*at][key] = json!(events[*at][key].as_u64().unwrap() + 1);
        }
        Some(Mutation { events, at: places[0] as u64 + 1, rules: &["sequence.start"], pointer: format!("/{key}") })
    });
    applies("two in the wrong order", NUMBERED, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events.swap(places[1], places[2]);
        Some(Mutation { events, at: places[1] as u64 + 1, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
}

#[test]
fn ids_are_unique_and_sorted_if_documented() {
    applies("an id twice", EVERY, |vocabulary, events| {
        let mut events = events.to_vec();
        events[2][vocabulary.id] = events[1][vocabulary.id].clone();
        let rules = if vocabulary.contract == "sse.v1" { &["id.order"][..] } else { &["id.repeat"] };
        Some(Mutation { events, at: 3, rules, pointer: format!("/{}", vocabulary.id) })
    });
    applies("unsorted ids", &["sse.v1", "hecate.v1"], |vocabulary, events| {
        if !["sse.v1", "hecate.v1"].contains(&vocabulary.contract) {
            return None;
        }
        let mut events = events.to_vec();
        let (one, two) = (events[1][vocabulary.id].clone(), events[2][vocabulary.id].clone());
        events[1][vocabulary.id] = two;
        events[2][vocabulary.id] = one;
        Some(Mutation { events, at: 3, rules: &["id.order"], pointer: format!("/{}", vocabulary.id) })
    });
}

#[test]
fn ids_of_a_stream_do_not_change() {
    applies("another constant id", &["frames.v2", "sse.v1", "hecate.v1"], |vocabulary, events| {
        let key = vocabulary.constant.first()?;
        let mut events = events.to_vec();
        let other = if vocabulary.contract == "hecate.v1" {
            json!("task_00000000000000000000000000")
        } else {
            json!("00000000-0000-5000-8000-00000000ffff")
        };
        events[1][*key] = other;
        Some(Mutation { events, at: 2, rules: &["id.changed", "id.alias"], pointer: format!("/{key}") })
    });
    // An event of another run starts a stream without a beginning, and leaves a gap in its own stream.
    applies("another run", EVERY, |vocabulary, events| {
        let key = vocabulary.number;
        let at = (1..events.len() - 1).find(|at| key.is_none_or(|key| !events[*at][key].is_null()))?;
        let mut events = events.to_vec();
        events[at][vocabulary.run] = match vocabulary.contract {
            "hecate.v1" => json!("run_00000000000000000000000000"),
            _ => json!("00000000-0000-5000-8000-00000000ffff"),
        };
        if vocabulary.contract == "frames.v2" {
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
        Some(Mutation { events, at: at as u64 + 1, rules, pointer })
    });
}

#[test]
fn opened_items_are_closed() {
    const PAIRED: &[&str] = &["frames.v1", "frames.v2", "sse.v1", "pixir.v1", "hecate.v1"];
    for nth in 0..4 {
        let open = |vocabulary: &Vocabulary, events: &[Value]| {
            let (opens, closes, id) = vocabulary.pairs.get(nth)?;
            let from = events.iter().position(|event| is_kind(vocabulary, event, opens))?;
            let name = events[from].pointer(id)?.clone();
            let is_end = |event: &Value| {
                closes.iter().any(|close| is_kind(vocabulary, event, close)) && event.pointer(id) == Some(&name)
            };
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
        applies("closed and never opened", contracts, |vocabulary, events| {
            let (from, _, pointer) = open(vocabulary, events)?;
            let name = events[from].pointer(&pointer).cloned();
            let mut events = events.to_vec();
            events.remove(from);
            renumber(vocabulary, &mut events);
            // The first event of the object itself: other events may name it before it is opened or after it is closed.
            let speaks = |event: &Value| {
                let kind = event[vocabulary.type_key].as_str().unwrap();
                let own = vocabulary.pairs[nth].1.contains(&kind)
                    || ["tool_stdout", "tool_stderr"].contains(&kind)
                    || kind.starts_with("tool.");
                own && event.pointer(&pointer).cloned() == name
            };
            let at = events.iter().position(speaks)? as u64 + 1;
            Some(Mutation { events, at, rules: &["pair.not_open"], pointer })
        });
        applies("opened and never closed", contracts, |vocabulary, events| {
            let (_, to, _) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.remove(to);
            renumber(vocabulary, &mut events);
            let at = if vocabulary.contract == "pixir.v1" { 0 } else { events.len() as u64 };
            Some(Mutation { events, at, rules: &["pair.left_open"], pointer: String::new() })
        });
        applies("opened twice", contracts, |vocabulary, events| {
            let (from, _, pointer) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.insert(from + 1, events[from].clone());
            renumber(vocabulary, &mut events);
            Some(Mutation { events, at: from as u64 + 2, rules: &["pair.opened_twice"], pointer })
        });
        applies("closed twice", contracts, |vocabulary, events| {
            let (_, to, pointer) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.insert(to + 1, events[to].clone());
            renumber(vocabulary, &mut events);
            Some(Mutation { events, at: to as u64 + 2, rules: &["pair.not_open", "turn.not_open"], pointer })
        });
    }
    each("a result without its call", |vocabulary, events| {
        if vocabulary.contract != "agent-manager.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let at = events.iter().position(|event| is_kind(vocabulary, event, "tool_result"))?;
        events[at]["data"]["toolName"] = json!("never called");
        Some(Mutation { events, at: at as u64 + 1, rules: &["pair.not_open"], pointer: "/data/toolName".to_owned() })
    });
}

#[test]
fn a_completed_text_equals_its_deltas() {
    const WITH_TEXT: &[&str] = &["frames.v2", "pixir.v1", "hecate.v1"];
    let spoken = |vocabulary: &Vocabulary, events: &[Value]| {
        let (delta, said, whole, text) = vocabulary.text?;
        let at = events.iter().position(|event| is_kind(vocabulary, event, delta))?;
        // The completed text for these deltas. In all three contracts it is the next one, if only one text is open at a time.
        let to = at + events[at..].iter().position(|event| is_kind(vocabulary, event, whole))?;
        let all: String = events[at..to]
            .iter()
            .filter(|event| is_kind(vocabulary, event, delta))
            .map(|event| event.pointer(said).unwrap().as_str().unwrap())
            .collect();
        (events[to].pointer(text)? == all.as_str() && !all.is_empty()).then_some((at, to, said, text))
    };
    applies("a delta says something else", WITH_TEXT, |vocabulary, events| {
        let (at, to, said, text) = spoken(vocabulary, events)?;
        let mut events = events.to_vec();
        *events[at].pointer_mut(said).unwrap() = json!("text without a delta");
        Some(Mutation { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("a delta comes twice", WITH_TEXT, |vocabulary, events| {
        let (at, to, said, text) = spoken(vocabulary, events)?;
        if events[at].pointer(said)? == "" {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(at + 1, events[at].clone());
        renumber(vocabulary, &mut events);
        Some(Mutation { events, at: to as u64 + 2, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("the text says more", WITH_TEXT, |vocabulary, events| {
        let (_, to, _, text) = spoken(vocabulary, events)?;
        let mut events = events.to_vec();
        let more = format!("{}!", events[to].pointer(text)?.as_str()?);
        *events[to].pointer_mut(text).unwrap() = json!(more);
        Some(Mutation { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
}

/// "emitted as the first event of the new run when an agent resumes from a checkpoint".
#[test]
fn a_hecate_run_resumes_only_at_its_beginning() {
    each("resumed in the midst", |vocabulary, events| {
        if vocabulary.contract != "hecate.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let mut resumed = events[0].clone();
        resumed["type"] = json!("run.resumed_from_event");
        resumed["data"] = json!({"from_run_id": resumed["run_id"], "from_sequence": 1});
        events.insert(1, resumed);
        renumber(vocabulary, &mut events);
        Some(Mutation { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}
