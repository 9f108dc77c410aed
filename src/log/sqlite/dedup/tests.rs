use super::*;
use framegate_translators::frame::StreamKind;
use uuid::Uuid;

const STREAM: StreamId = (StreamKind::Session, Uuid::nil());

/// An append under construction.
struct Appending<'a> {
    dedup: Dedup<'a>,
    bodies: Vec<u8>,
}

impl<'a> Appending<'a> {
    fn new(texts: &'a KnownTexts) -> Self {
        Self { dedup: Dedup::new(texts), bodies: Vec::new() }
    }

    fn of(&mut self, stream: StreamId, seq: u64, body: &str, is_record: bool) -> Option<Hole> {
        let start = self.bodies.len();
        self.bodies.extend_from_slice(body.as_bytes());
        self.dedup.next(stream, seq, start..self.bodies.len(), is_record, &self.bodies)
    }

    fn record(&mut self, seq: u64, body: &str) -> Option<Hole> {
        self.of(STREAM, seq, body, true)
    }

    fn derived(&mut self, seq: u64, body: &str) -> Option<Hole> {
        self.of(STREAM, seq, body, false)
    }

    /// The append is kept, in streams with the key 5.
    fn keep(self, texts: &KnownTexts) {
        for (stream, known) in self.dedup.into_known(&self.bodies) {
            texts.learn(stream, known.map(|known| Known { key: Some(5), ..known }));
        }
    }
}

/// A text of about that length that does not repeat itself at any offset.
fn text(bytes: usize, salt: usize) -> String {
    let words = (0..).map(|nth| format!("{}-{salt} ", nth * nth + salt));
    words.take(bytes / 6).collect::<String>().split_at(bytes / 2).0.repeat(2)
}

fn data(text: &str) -> String {
    format!(r#"{{"provider_event":{{"data":{{"text":"{text}","b":1}}}}}}"#)
}

fn delta(text: &str) -> String {
    format!(r#"{{"output_text_delta":{{"id":"m","delta":"{text}"}}}}"#)
}

#[test]
fn a_text_is_found_in_its_record_and_in_later_frames() {
    let texts = KnownTexts::default();
    let mut append = Appending::new(&texts);
    let long = text(5_000, 1);
    let record = format!(r#"{{"provider_event":{{"a":"\\","data":{{"text":"{long}","b":1}}}}}}"#);
    let at = record.find(&long).unwrap();
    assert_eq!(append.record(0, &record), None);
    let delta = delta(&long);
    let part = delta.find(&long).unwrap();
    let hole = Hole { part: part..part + long.len(), source: 0, source_at: at, key: None };
    assert_eq!(append.derived(1, &delta), Some(hole.clone()));
    assert_eq!(append.derived(2, &delta), Some(hole));
    // In a later append: the next record, and the end.
    append.keep(&texts);
    let mut append = Appending::new(&texts);
    let result = format!(r#"{{"provider_event":{{"data":{{"result":"{long}"}}}}}}"#);
    let part = result.find(&long).unwrap();
    let hole = Hole { part: part..part + long.len(), source: 0, source_at: at, key: Some(5) };
    assert_eq!(append.record(3, &result), Some(hole));
    let end = append.derived(4, &delta).unwrap();
    // Not a reference to record 3, which lacks that part.
    assert_eq!((end.source, end.source_at), (0, at));
}

#[test]
fn a_text_without_a_record_becomes_the_source_of_later_frames() {
    let texts = KnownTexts::default();
    let mut append = Appending::new(&texts);
    let long = text(3_000, 2);
    let completed = format!(r#"{{"output_text_completed":{{"text":"{long}"}}}}"#);
    assert_eq!(append.derived(7, &completed), None);
    let hole = append.record(8, &data(&long)).unwrap();
    assert_eq!((hole.source, hole.source_at), (7, completed.find(&long).unwrap()));
}

#[test]
fn streams_in_one_append_are_independent_and_continue() {
    let texts = KnownTexts::default();
    let mut append = Appending::new(&texts);
    let other = (StreamKind::Task, Uuid::nil());
    let (one, two) = (text(2_000, 1), text(2_000, 2));
    assert_eq!(append.record(0, &data(&one)), None);
    assert_eq!(append.of(other, 0, &data(&two), true), None);
    // Neither stream refers to the other's text.
    assert_eq!(append.of(other, 1, &delta(&one), false), None);
    assert_eq!(append.derived(1, &delta(&one)).map(|hole| hole.source), Some(0));
    assert_eq!(append.of(other, 2, &delta(&two), false).map(|hole| hole.source), Some(0));
    // An ended stream leaves no text for later appends, not even an older one.
    append.dedup.is_over(other);
    append.keep(&texts);
    assert!(texts.of(STREAM).is_some() && texts.of(other).is_none());
}

#[test]
fn short_or_merely_similar_texts_are_stored_unchanged() {
    let texts = KnownTexts::default();
    let mut append = Appending::new(&texts);
    // One byte less than the minimum, and exactly the minimum.
    for (bytes, is_worth) in [(LEAST - 1, false), (LEAST, true)] {
        let text = &text(LEAST * 4, bytes)[..bytes];
        append.record(0, &data(text));
        assert_eq!(append.derived(1, &delta(text)).is_some(), is_worth, "{bytes}");
    }
    let long = text(LEAST * 2, 4);
    append.record(4, &data(&format!("{long}x")));
    assert_eq!(append.derived(5, &delta(&format!("{long}y"))), None);
}

#[test]
fn a_frequent_beginning_is_compared_a_bounded_number_of_times() {
    let texts = KnownTexts::default();
    let front = "x".repeat(FRONT);
    let wanted = format!("{front}{}", text(LEAST, 1));
    for (before, is_found) in [(TRIES - 1, true), (TRIES, false)] {
        let mut append = Appending::new(&texts);
        let alike = format!("{front} no. ").repeat(before);
        append.record(0, &format!(r#"{{"data":["{alike}","{wanted}"]}}"#));
        assert_eq!(append.derived(1, &delta(&wanted)).is_some(), is_found, "after {before} similar ones");
    }
}

#[test]
fn only_the_latest_records_are_searched() {
    let texts = KnownTexts::default();
    for (behind, is_found) in [(RECORDS - 1, true), (RECORDS, false)] {
        let mut append = Appending::new(&texts);
        let long = text(2_000, 0);
        append.record(0, &data(&long));
        for nth in 1..=behind {
            append.record(nth as u64, &data(&text(2_000, nth)));
        }
        assert_eq!(append.derived(9, &delta(&long)).is_some(), is_found, "{behind} records after it");
    }
}

#[test]
fn a_body_much_larger_than_the_text_is_not_a_source() {
    let texts = KnownTexts::default();
    let long = text(2_000, 1);
    // The largest body that may contain any text, and one that is larger; then the body that would lack it; and a text of
    // exactly a sixteenth.
    let padded = |bytes: usize, text: &str| {
        let body = format!(r#"{{"a":"{text}","b":[]}}"#);
        let mut body = body.replace("[]", &format!("[{}]", "0,".repeat((bytes - body.len()) / 2)));
        body.push_str(&" ".repeat(bytes - body.len()));
        body
    };
    for (bytes, is_worth) in [(LARGE, true), (LARGE + 1, false)] {
        let mut append = Appending::new(&texts);
        append.record(0, &padded(bytes, &long));
        assert_eq!(append.derived(1, &delta(&long)).is_some(), is_worth, "in {bytes}");
        // The next body refers to the one that had to store the text.
        assert_eq!(append.derived(2, &delta(&long)).map(|hole| hole.source), Some(u64::from(!is_worth)));
        // A body that would lack the text.
        assert_eq!(append.record(3, &padded(bytes, &long)).is_some(), is_worth, "of {bytes}");
        assert_eq!(append.derived(4, &padded(bytes, &long)).is_some(), is_worth, "of {bytes}");
    }
    let mut append = Appending::new(&texts);
    let share = text(LARGE / SHARE * 2, 2);
    append.record(0, &padded(share.len() * SHARE, &share));
    assert!(append.derived(1, &delta(&share)).is_some());
    append.record(2, &padded((share.len() + 3) * SHARE, &text(share.len(), 3)));
    assert!(append.derived(3, &delta(&text(share.len(), 3))).is_none());
}

#[test]
fn parts_of_one_body_do_not_overlap() {
    let texts = KnownTexts::default();
    let mut append = Appending::new(&texts);
    let long = text(8_000, 1).split_off(4_000);
    append.record(0, &format!(r#"{{"a":"{long}","b":"{long}"}}"#));
    let (front, back) = (&long[..2_000], &long[1_500..]);
    let holes: Vec<_> = [&*long, front, back, &*long, front]
        .iter()
        .zip(1..)
        .map(|(text, seq)| append.derived(seq, &delta(text)).map(|hole| (hole.source, hole.source_at, hole.part.len())))
        .collect();
    // The front of the text is found in the second copy. The back overlaps both references.
    let (at, second) = (6, 6 + long.len() + 7);
    assert_eq!(holes[..3], [Some((0, at, long.len())), Some((0, second, front.len())), None]);
    assert_eq!(holes[3..], [holes[0], holes[1]]);
}

/// Puts `count` texts into one record, followed by each text twice. Returns the number of holes, and how many bytes were
/// searched for each byte.
fn search_cost(count: usize, is_there: impl Fn(usize) -> bool) -> (usize, f64) {
    let known = KnownTexts::default();
    let mut append = Appending::new(&known);
    let texts: Vec<String> = (0..count).map(|nth| text(1_100, nth * 7 + 1)).collect();
    let spelled = |nth: usize| if is_there(nth) { texts[nth].clone() } else { texts[nth].replace('-', "\\u002d") };
    let record: Vec<String> = (0..count).map(|nth| format!(r#"{{"text":"{}"}}"#, spelled(nth))).collect();
    append.record(0, &format!(r#"{{"data":[{}]}}"#, record.join(",")));
    let mut holes = 0;
    for (nth, text) in texts.iter().enumerate() {
        for twice in 0..2 {
            holes += usize::from(append.derived((nth * 2 + twice) as u64 + 1, &delta(text)).is_some());
        }
    }
    let (scanned, bytes) = (append.dedup.search.scanned, append.bodies.len());
    assert!(scanned <= BESIDES + PER_BYTE * bytes + BLOCK + FRONT, "{scanned} of {bytes}");
    (holes, scanned as f64 / bytes as f64)
}

#[test]
fn the_search_is_proportional_to_the_append() {
    // A record of nearly 1 MiB with all of its texts: each is found at the first try, where the last match ended.
    let (holes, per_byte) = search_cost(900, |_| true);
    assert_eq!(holes, 1800);
    assert!(per_byte < 2.0, "{per_byte}");
    // Some are escaped differently: the others are still found.
    let (holes, per_byte) = search_cost(700, |nth| nth % 20 != 0);
    assert_eq!(holes, 1400 - 35);
    assert!(per_byte < 9.0, "{per_byte}");
    // None of them is there: the search gives up.
    let (holes, per_byte) = search_cost(600, |_| false);
    assert_eq!(holes, 600);
    assert!(per_byte < 9.5, "{per_byte}");
    // A record that is large in proportion to its texts is not searched at all.
    let (holes, per_byte) = search_cost(3_000, |_| true);
    assert_eq!(holes, 3_000);
    assert!(per_byte < 0.1, "{per_byte}");
}

#[test]
fn compared_bytes_count_as_searched() {
    // Many places match the text almost to its end.
    let known = KnownTexts::default();
    let mut append = Appending::new(&known);
    append.record(0, &format!(r#"{{"data":"{}"}}"#, " ".repeat(900_000)));
    for seq in 1..100 {
        let alike = format!("{}{seq}", " ".repeat(450_000));
        assert_eq!(append.derived(seq, &delta(&alike)), None);
        let (scanned, bytes) = (append.dedup.search.scanned, append.bodies.len());
        assert!(scanned <= BESIDES + PER_BYTE * bytes + BLOCK + FRONT, "{scanned} of {bytes}");
    }
}

#[test]
fn the_longest_string_ends_at_its_own_quote() {
    let longest = |json: &str| json[longest_string(json.as_bytes())].to_owned();
    assert_eq!(longest(r#"{"a":"b\"cd","ef":1}"#), r#"b\"cd"#);
    assert_eq!(longest(r#"{"a":"b\\","cd":"e"}"#), r"b\\");
    assert_eq!(longest("{}"), "");
    assert_eq!(longest(r#"{"a":"never ends"#), "a");
}

#[test]
fn a_text_over_the_limit_is_not_remembered() {
    for (bytes, is_remembered) in [(REMEMBERED, true), (REMEMBERED + 1, false)] {
        let texts = KnownTexts::default();
        let mut append = Appending::new(&texts);
        append.derived(0, &format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes)));
        append.keep(&texts);
        assert_eq!(texts.of(STREAM).is_some(), is_remembered);
    }
}
