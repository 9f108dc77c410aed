//! Streams of recordings with one error in their order. Each change names the expected rule.

use super::vocabulary::*;
use framegate_translators::contracts::contract;
use serde_json::{Value, json};

#[test]
fn a_valid_run_has_no_findings_also_renumbered() {
    for vocabulary in all() {
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
    applies(
        "no first event",
        |vocabulary| !vocabulary.first.is_empty(),
        |vocabulary, events| {
            if vocabulary.first.is_empty()
                || vocabulary.first.iter().any(|first| is_kind(vocabulary, &events[1], first))
            {
                return None;
            }
            let mut events = events[1..].to_vec();
            renumber(vocabulary, &mut events);
            let at = if vocabulary.names_kind { 1 } else { events.len() as u64 };
            Some(Mutation { events, at, rules: &["start.missing"], pointer: String::new() })
        },
    );
    applies(
        "two first events",
        |vocabulary| vocabulary.first.len() == 1,
        |vocabulary, events| {
            if vocabulary.first.len() != 1 {
                return None;
            }
            let mut events = events.to_vec();
            events.insert(1, events[0].clone());
            renumber(vocabulary, &mut events);
            Some(Mutation { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
        },
    );
}

#[test]
fn exactly_one_terminal_event_is_last() {
    applies("no end", every, |vocabulary, events| {
        let events = events[..events.len() - 1].to_vec();
        let is_log = vocabulary.has_log && events.iter().all(|event| !event["seq"].is_null());
        (!is_log).then(|| Mutation { events, at: 0, rules: &["end.missing"], pointer: String::new() })
    });
    applies("two ends", every, |vocabulary, events| {
        let mut events = events.to_vec();
        assert!((vocabulary.is_last)(events.last().unwrap()), "{} {:?}", vocabulary.contract, events.last());
        events.push(events.last().unwrap().clone());
        renumber(vocabulary, &mut events);
        let at = events.len() as u64;
        Some(Mutation { events, at, rules: &["end.repeat", "end.not_last"], pointer: String::new() })
    });
    applies("an event after the end", every, |vocabulary, events| {
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
    let is_numbered = |vocabulary: &Vocabulary| vocabulary.number.is_some();
    let numbered = |vocabulary: &Vocabulary, events: &[Value]| -> Option<(&'static str, Vec<usize>)> {
        let key = vocabulary.number?;
        let places: Vec<usize> = (0..events.len()).filter(|at| !events[*at][key].is_null()).collect();
        (places.len() > 2).then_some((key, places))
    };
    applies("a gap", is_numbered, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events.remove(places[1]);
        Some(Mutation { events, at: places[2] as u64, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
    applies("a repeat", is_numbered, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events[places[2]][key] = events[places[1]][key].clone();
        Some(Mutation { events, at: places[2] as u64 + 1, rules: &["sequence.repeat"], pointer: format!("/{key}") })
    });
    applies("another start", is_numbered, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        for at in &places {
            events[*at][key] = json!(events[*at][key].as_u64().unwrap() + 1);
        }
        Some(Mutation { events, at: places[0] as u64 + 1, rules: &["sequence.start"], pointer: format!("/{key}") })
    });
    applies("two in the wrong order", is_numbered, |vocabulary, events| {
        let (key, places) = numbered(vocabulary, events)?;
        let mut events = events.to_vec();
        events.swap(places[1], places[2]);
        Some(Mutation { events, at: places[1] as u64 + 1, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
}

#[test]
fn ids_are_unique_and_sorted_if_documented() {
    applies("an id twice", every, |vocabulary, events| {
        let mut events = events.to_vec();
        events[2][vocabulary.id] = events[1][vocabulary.id].clone();
        Some(Mutation { events, at: 3, rules: vocabulary.id_twice, pointer: format!("/{}", vocabulary.id) })
    });
    applies(
        "unsorted ids",
        |vocabulary| vocabulary.has_sorted_ids,
        |vocabulary, events| {
            if !vocabulary.has_sorted_ids {
                return None;
            }
            let mut events = events.to_vec();
            let (one, two) = (events[1][vocabulary.id].clone(), events[2][vocabulary.id].clone());
            events[1][vocabulary.id] = two;
            events[2][vocabulary.id] = one;
            Some(Mutation { events, at: 3, rules: &["id.order"], pointer: format!("/{}", vocabulary.id) })
        },
    );
}

#[test]
fn ids_of_a_stream_do_not_change() {
    applies(
        "another constant id",
        |vocabulary| !vocabulary.constant.is_empty(),
        |vocabulary, events| {
            let key = vocabulary.constant.first()?;
            let mut events = events.to_vec();
            events[1][*key] = json!(vocabulary.other_constant);
            Some(Mutation { events, at: 2, rules: &["id.changed", "id.alias"], pointer: format!("/{key}") })
        },
    );
    // An event of another run starts a stream without a beginning, and leaves a gap in its own stream.
    applies("another run", every, |vocabulary, events| {
        let key = vocabulary.number;
        let at = (1..events.len() - 1).find(|at| key.is_none_or(|key| !events[*at][key].is_null()))?;
        let mut events = events.to_vec();
        events[at][vocabulary.run] = json!(vocabulary.other_run);
        if let Some(alias) = vocabulary.alias {
            events[at][alias] = json!(vocabulary.other_run);
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
        let has_pair = |vocabulary: &Vocabulary| vocabulary.pairs.len() > nth;
        applies("closed and never opened", has_pair, |vocabulary, events| {
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
        applies("opened and never closed", has_pair, |vocabulary, events| {
            let (_, to, _) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.remove(to);
            renumber(vocabulary, &mut events);
            let at = if vocabulary.has_log { 0 } else { events.len() as u64 };
            Some(Mutation { events, at, rules: &["pair.left_open"], pointer: String::new() })
        });
        applies("opened twice", has_pair, |vocabulary, events| {
            let (from, _, pointer) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.insert(from + 1, events[from].clone());
            renumber(vocabulary, &mut events);
            Some(Mutation { events, at: from as u64 + 2, rules: &["pair.opened_twice"], pointer })
        });
        applies("closed twice", has_pair, |vocabulary, events| {
            let (_, to, pointer) = open(vocabulary, events)?;
            let mut events = events.to_vec();
            events.insert(to + 1, events[to].clone());
            renumber(vocabulary, &mut events);
            Some(Mutation { events, at: to as u64 + 2, rules: &["pair.not_open", "turn.not_open"], pointer })
        });
    }
}

#[test]
fn a_completed_text_equals_its_deltas() {
    let has_text = |vocabulary: &Vocabulary| vocabulary.text.is_some();
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
    applies("a delta says something else", has_text, |vocabulary, events| {
        let (at, to, said, text) = spoken(vocabulary, events)?;
        let mut events = events.to_vec();
        *events[at].pointer_mut(said).unwrap() = json!("text without a delta");
        Some(Mutation { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("a delta comes twice", has_text, |vocabulary, events| {
        let (at, to, said, text) = spoken(vocabulary, events)?;
        if events[at].pointer(said)? == "" {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(at + 1, events[at].clone());
        renumber(vocabulary, &mut events);
        Some(Mutation { events, at: to as u64 + 2, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("the text says more", has_text, |vocabulary, events| {
        let (_, to, _, text) = spoken(vocabulary, events)?;
        let mut events = events.to_vec();
        let more = format!("{}!", events[to].pointer(text)?.as_str()?);
        *events[to].pointer_mut(text).unwrap() = json!(more);
        Some(Mutation { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
}
