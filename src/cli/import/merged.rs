//! The lines of a session's file and of its subagents' files, in the order of their times.
//!
//! Input: the files, which may grow. Output: whole lines; from which file and line each of them came. A line without a time follows the one before it
//! in its file. Never: a line of one file inside a line of another; a line without an end that the runner may still be writing; more of a file in
//! memory than a chunk and a long line.

use super::tail::{Change, Tail};
use crate::cli::input::shown;
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::runners::Runner;
use framegate_translators::when::FirstTime;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of a file are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The length from which a line is passed on in parts. Its time is not known then, so it follows the line before it.
const LONG_BYTES: usize = 16 << 20;

/// Files whose lines are merged.
pub(super) struct Merged {
    parts: Vec<Part>,
    /// Whose lines they are, if there is more than one file.
    runner: Option<&'static Runner>,
    origins: Arc<Mutex<Origins>>,
    /// How many lines were passed on.
    lines: u64,
    /// The length from which a line is passed on in parts.
    long_bytes: usize,
}

struct Part {
    tail: Tail,
    /// What was read of the file, and not passed on.
    buffer: Vec<u8>,
    /// How much of it was passed on.
    passed: usize,
    /// The length and the time of its next line.
    next: Option<(usize, u64)>,
    /// How much of the rest has no line end.
    searched: usize,
    /// The time of the line before.
    time: u64,
    /// Whether the front of its line was passed on.
    is_inside: bool,
    /// How many lines of it were passed on.
    lines: u64,
}

/// Where the lines of the output came from.
#[derive(Debug, Default)]
pub(super) struct Origins {
    files: Vec<PathBuf>,
    /// The first of several lines that follow each other in one file: its number in the output, the file, and its number there.
    runs: Vec<(u64, usize, u64)>,
}

impl Origins {
    /// The file and the line in it, from 1.
    pub(super) fn of(&self, line: u64) -> Option<(&Path, u64)> {
        let after = self.runs.partition_point(|(first, ..)| *first <= line);
        let (first, file, number) = self.runs.get(after.checked_sub(1)?)?;
        Some((self.files.get(*file)?, number + (line - first)))
    }
}

impl Merged {
    /// The session's file, and those of its subagents, whose lines are this runner's.
    pub(super) fn new(session: &Path, subagents: &[PathBuf], runner: Option<&'static Runner>) -> Self {
        let parts = [session].into_iter().chain(subagents.iter().map(PathBuf::as_path)).map(Part::new).collect();
        let mut merged = Self { parts, runner, origins: Arc::default(), lines: 0, long_bytes: LONG_BYTES };
        merged.name_files();
        merged
    }

    /// Adds the files that are new.
    pub(super) fn add(&mut self, subagents: &[PathBuf], runner: Option<&'static Runner>) {
        for path in subagents {
            if self.parts.iter().all(|part| part.tail.path() != path) {
                self.parts.push(Part::new(path));
            }
        }
        self.runner = self.runner.or(runner);
        self.name_files();
    }

    fn name_files(&mut self) {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        origins.files = self.parts.iter().map(|part| part.tail.path().to_owned()).collect();
    }

    /// Where lines came from.
    pub(super) fn origins(&self) -> Arc<Mutex<Origins>> {
        self.origins.clone()
    }

    /// Looks whether a file was written.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn look(&mut self) -> io::Result<Change> {
        let mut change = Change::Nothing;
        for part in &mut self.parts {
            match part.tail.look().map_err(|error| part.named(&error))? {
                Change::Nothing => {}
                Change::Written => change = Change::Written,
                Change::Replaced => return Ok(Change::Replaced),
            }
        }
        Ok(change)
    }

    /// Appends the next lines, about `most` bytes; nothing if no file has a whole line. With `is_over`, a last line without an end counts, if it is whole.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn next(&mut self, most: usize, is_over: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let is_merged = self.parts.len() > 1;
        let end = out.len() + most;
        while out.len() < end {
            let inside = self.parts.iter().position(|part| part.is_inside);
            let runner = self.runner.filter(|_| is_merged);
            for (at, part) in self.parts.iter_mut().enumerate() {
                if inside.is_none_or(|inside| inside == at) {
                    part.fill(runner, self.long_bytes, is_over)?;
                }
            }
            let waiting = self.parts.iter().enumerate().filter(|(at, _)| inside.is_none_or(|inside| inside == *at));
            let first = waiting.filter_map(|(at, part)| Some((part.next?.1, at))).min();
            let Some((_, at)) = first else { break };
            let Some(part) = self.parts.get_mut(at) else { break };
            let number = part.lines;
            if part.pass(out) {
                if is_merged {
                    let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
                    let goes_on = matches!(origins.runs.last(), Some((first, file, line)) if *file == at
                        && line + (self.lines + 1 - first) == number + 1);
                    if !goes_on {
                        origins.runs.push((self.lines + 1, at, number + 1));
                    }
                }
                self.lines += 1;
            }
        }
        Ok(())
    }
}

impl Part {
    fn new(path: &Path) -> Self {
        Self {
            tail: Tail::new(path.to_owned()),
            buffer: Vec::new(),
            passed: 0,
            next: None,
            searched: 0,
            time: 0,
            is_inside: false,
            lines: 0,
        }
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", shown(self.tail.path())))
    }

    /// Reads until the next line is whole, or the file has no more.
    fn fill(&mut self, runner: Option<&'static Runner>, long_bytes: usize, is_over: bool) -> io::Result<()> {
        while self.next.is_none() {
            let rest = self.buffer.get(self.passed..).unwrap_or_default();
            let unsearched = rest.get(self.searched..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', unsearched) {
                let length = self.searched + end + 1;
                let own = runner.filter(|_| !self.is_inside);
                let time = own.and_then(|runner| time_of(rest.get(..length)?, runner)).unwrap_or(self.time);
                (self.time, self.next, self.searched) = (time, Some((length, time)), 0);
                break;
            }
            self.searched = rest.len();
            if rest.len() >= long_bytes {
                self.next = Some((rest.len(), self.time));
                self.searched = 0;
                break;
            }
            self.buffer.drain(..self.passed);
            self.passed = 0;
            let start = self.buffer.len();
            self.buffer.resize(start + CHUNK_BYTES, 0);
            let read = self.tail.read(self.buffer.get_mut(start..).unwrap_or_default());
            self.buffer.truncate(start + *read.as_ref().unwrap_or(&0));
            if read.map_err(|error| self.named(&error))? == 0 {
                let is_whole = |line: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                // The end of a line whose front was passed on must not be the front of another file's line.
                if !is_over || !(self.is_inside || is_whole(&self.buffer)) {
                    break;
                }
                self.buffer.push(b'\n');
            }
        }
        Ok(())
    }

    /// Passes on its next line, or a part of a long one. Returns whether a line began.
    fn pass(&mut self, out: &mut Vec<u8>) -> bool {
        let Some((length, _)) = self.next.take() else { return false };
        let line = self.buffer.get(self.passed..self.passed + length).unwrap_or_default();
        out.extend_from_slice(line);
        let began = !self.is_inside;
        self.is_inside = !line.ends_with(b"\n");
        self.passed += length;
        self.lines += u64::from(began);
        began
    }
}

/// The time of a line, in Unix epoch milliseconds.
fn time_of(line: &[u8], runner: &'static Runner) -> Option<u64> {
    let mut time = FirstTime::new(Some(runner), Some(Framing::Ndjson), Limits::default());
    time.feed(line)
}

/// Files that do not grow any more, as one text.
pub(super) struct Text {
    merged: Merged,
    pending: Vec<u8>,
    given: usize,
}

impl Text {
    pub(super) fn new(merged: Merged) -> Self {
        Self { merged, pending: Vec::new(), given: 0 }
    }
}

impl Read for Text {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.given == self.pending.len() {
            self.given = 0;
            self.pending.clear();
            self.merged.next(CHUNK_BYTES, true, &mut self.pending)?;
        }
        let mut rest = self.pending.get(self.given..).unwrap_or_default();
        let read = rest.read(chunk)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::runners::runner;
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    /// Files of one test.
    struct Files(PathBuf);

    impl Files {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("framegate-merged-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn append(&self, name: &str, text: &str) {
            let mut file = OpenOptions::new().create(true).append(true).open(self.0.join(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn merged(&self, subagents: &[&str]) -> Merged {
            let subagents: Vec<PathBuf> = subagents.iter().map(|name| self.0.join(name)).collect();
            Merged::new(&self.0.join("main"), &subagents, Some(runner("claude-code").unwrap()))
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A line of a second, or without a time.
    fn line(text: &str, second: Option<u8>) -> String {
        let time =
            second.map(|second| format!(r#","timestamp":"2026-01-02T03:04:{second:02}.000Z""#)).unwrap_or_default();
        format!("{{\"type\":\"user\",\"text\":\"{text}\"{time}}}\n")
    }

    /// What the lines say, in their order; the bytes of each call are as few as possible.
    fn texts(merged: &mut Merged, is_over: bool) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let before = all.len();
            merged.next(1, is_over, &mut all).unwrap();
            if all.len() == before {
                break;
            }
        }
        let text = String::from_utf8(all).unwrap();
        let said = |line: &str| line.split('"').nth(7).map_or_else(|| line.to_owned(), str::to_owned);
        text.lines().map(said).collect()
    }

    fn origins(merged: &Merged) -> Vec<(String, u64)> {
        let origins = merged.origins();
        let origins = origins.lock().unwrap();
        let named = |(path, line): (&Path, u64)| (path.file_name().unwrap().to_str().unwrap().to_owned(), line);
        (1..=merged.lines).filter_map(|line| origins.of(line)).map(named).collect()
    }

    #[test]
    fn lines_are_in_the_order_of_their_times_and_one_without_a_time_follows_its_predecessor() {
        let files = Files::new("order");
        files.append("main", &[line("a", Some(1)), line("b", None), line("e", Some(5)), line("f", None)].concat());
        files.append("one", &[line("c", Some(2)), line("d", Some(4))].concat());
        // At equal times, the session's line is the first.
        files.append("two", &[line("c2", Some(3)), line("e2", Some(5))].concat());
        let mut merged = files.merged(&["one", "two"]);
        assert_eq!(texts(&mut merged, true), ["a", "b", "c", "c2", "d", "e", "f", "e2"]);
        let named = |name: &str, line| (name.to_owned(), line);
        let expected = [
            named("main", 1),
            named("main", 2),
            named("one", 1),
            named("two", 1),
            named("one", 2),
            named("main", 3),
            named("main", 4),
            named("two", 2),
        ];
        assert_eq!(origins(&merged), expected);
    }

    #[test]
    fn what_is_written_later_follows_and_a_line_without_an_end_waits() {
        let files = Files::new("growing");
        files.append("main", &line("a", Some(1)));
        let mut merged = files.merged(&[]);
        assert_eq!(merged.look().unwrap(), Change::Written);
        assert_eq!(texts(&mut merged, false), ["a"]);
        assert_eq!(merged.look().unwrap(), Change::Nothing);
        let (c, b) = (line("c", Some(3)), line("b", Some(2)));
        let (front, rest) = c.split_at(12);
        files.append("main", front);
        files.append("one", &b);
        merged.add(&[files.0.join("one")], runner("claude-code"));
        merged.add(&[files.0.join("one")], runner("claude-code"));
        assert_eq!(merged.look().unwrap(), Change::Written);
        assert_eq!(texts(&mut merged, false), ["b"]);
        files.append("main", rest.trim_end());
        assert_eq!(texts(&mut merged, false), Vec::<String>::new());
        assert_eq!(texts(&mut merged, true), ["c"]);
        assert_eq!(texts(&mut merged, true), Vec::<String>::new());
        fs::write(files.0.join("one"), "{}\n").unwrap();
        assert_eq!(merged.look().unwrap(), Change::Replaced);
    }

    #[test]
    fn a_long_line_is_passed_on_in_parts_and_no_line_comes_between_them() {
        let files = Files::new("long");
        let long = line(&"x".repeat(3 * CHUNK_BYTES), Some(1));
        files.append("main", &long);
        files.append("main", &line("z", Some(9)));
        files.append("one", &line("b", Some(2)));
        let mut merged = files.merged(&["one"]);
        merged.long_bytes = CHUNK_BYTES;
        let mut first = Vec::new();
        merged.next(1, false, &mut first).unwrap();
        assert!(first.len() < long.len() && long.as_bytes().starts_with(&first));
        let rest = texts(&mut merged, false);
        assert_eq!(rest[1..], ["b", "z"]);
        assert_eq!(first.len() + rest[0].len() + 1, long.len());
        assert_eq!(origins(&merged).len(), 3);
    }

    #[test]
    fn a_long_line_that_was_cut_ends_before_the_lines_of_another_file() {
        let files = Files::new("cut");
        files.append("main", line(&"x".repeat(3 * CHUNK_BYTES), Some(1)).trim_end_matches("}\n"));
        files.append("one", &line("b", Some(2)));
        let mut merged = files.merged(&["one"]);
        merged.long_bytes = CHUNK_BYTES;
        let said = texts(&mut merged, true);
        assert_eq!((said.len(), said[1].as_str()), (2, "b"));
    }
}
