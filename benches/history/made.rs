//! A made-up history: recorded sessions, many times, each time as other sessions with longer texts.
//!
//! Input: the recordings, and how many bytes are wanted. Output: files where runners keep them. Never: two files of one session; a text that says nothing new
//! for kilobytes in a form that compresses away (sizes are those of the files).

use crate::kept;
use framegate_translators::runners::{History, RUNNERS};
use serde_json::Value;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A string of this length or more is made longer, if it is the longest one of its record.
const PROSE: usize = 40;

/// How long the longest string of a record becomes.
const LENGTHS: [usize; 8] = [200, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/// Writes files of `bytes` in total below a home directory. Returns how many files and bytes they are.
pub fn write(home: &Path, bytes: u64) -> (u64, u64) {
    let with_files = RUNNERS.iter().filter_map(|runner| Some((runner, kept::of_files(runner)?)));
    let recordings: Vec<(&History, PathBuf)> = with_files
        .flat_map(|(runner, history)| kept::recorded(runner).into_iter().map(move |(path, _)| (history, path)))
        .collect();
    let (mut files, mut written) = (0, 0);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for copy in 0_u64.. {
        for (nth, (history, path)) in recordings.iter().enumerate() {
            if written >= bytes {
                return (files, written);
            }
            let target = kept::file(home, history, &format!("{copy}-{nth}"));
            let mut out = BufWriter::new(fs::File::create(&target).unwrap());
            for line in fs::read_to_string(path).unwrap().lines() {
                let mut line = renamed(&longer(line, &mut random), copy, nth);
                line.push('\n');
                out.write_all(line.as_bytes()).unwrap();
                written += line.len() as u64;
            }
            out.flush().unwrap();
            files += 1;
        }
    }
    (files, written)
}

/// The record with its longest string repeated, to one of the lengths.
fn longer(line: &str, random: &mut Random) -> String {
    let length = LENGTHS[random.next() as usize % LENGTHS.len()];
    let Ok(mut record) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let Some(longest) = longest(&mut record).filter(|text| text.len() >= PROSE && text.contains(' ')) else {
        return line.to_owned();
    };
    let part = longest.clone();
    while longest.len() < length {
        longest.push_str(&format!(" [{:x}] ", random.next()));
        longest.push_str(&part);
    }
    record.to_string()
}

fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest).max_by_key(|text| text.len()),
        _ => None,
    }
}

/// The text with other UUIDs: the first group of each is another one for each copy of a recording.
fn renamed(text: &str, copy: u64, nth: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let key = format!("{:08x}", (copy * 10_007 + nth as u64).wrapping_mul(2_654_435_761) as u32).into_bytes();
    let mut at = 0;
    while at + 36 <= bytes.len() {
        if !is_uuid(&bytes[at..at + 36]) {
            at += 1;
            continue;
        }
        for (digit, key) in bytes[at..at + 8].iter_mut().zip(&key) {
            let value = |digit: u8| (digit as char).to_digit(16).unwrap();
            *digit = b"0123456789abcdef"[(value(*digit) ^ value(*key)) as usize];
        }
        at += 36;
    }
    String::from_utf8(bytes).unwrap()
}

fn is_uuid(text: &[u8]) -> bool {
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text[8] == b'-' && text.iter().enumerate().all(is_right)
}

/// The same numbers in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
