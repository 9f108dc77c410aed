//! Reads a unified diff.
//!
//! Input: the text of a diff of one file. Output: the lines before and after, for each hunk. Never: a hunk that is not complete.

/// The maximum number of hunks. A diff with more is shown as text.
const MAX_HUNKS: usize = 64;

/// One hunk: the lines before and after the change, with their context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line in the new file where the hunk begins, from 1.
    pub(super) line: u32,
    pub(super) old: String,
    pub(super) new: String,
    /// How many lines are still missing, before and after.
    left: (u32, u32),
}

/// The hunks of a diff; `None` if it is not a unified diff of one file, or a large one.
pub(super) fn hunks(diff: &str) -> Option<Vec<Hunk>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut last = ' ';
    for line in diff.split_inclusive('\n') {
        let is_first = hunks.is_empty();
        let open = hunks.last_mut().filter(|hunk| hunk.left != (0, 0));
        let mark = line.chars().next().unwrap_or('\n');
        match (open, mark) {
            (Some(hunk), _) if mark != '\\' => {
                hunk.add(mark, line)?;
                last = mark;
            }
            (_, '@') if line.starts_with("@@ ") => {
                if hunks.len() == MAX_HUNKS {
                    return None;
                }
                hunks.push(Hunk::of_heading(line)?);
            }
            // `\ No newline at end of file`, about the line before.
            (_, '\\') => hunks.last_mut()?.cut(last),
            _ if is_first || line.trim().is_empty() => {}
            _ => return None,
        }
    }
    let is_whole = hunks.last().is_some_and(|hunk| hunk.left == (0, 0));
    is_whole.then_some(hunks)
}

impl Hunk {
    /// The heading: `@@ -1,3 +1,4 @@`, with anything after it.
    fn of_heading(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        let (_, old) = range(words.next()?.strip_prefix('-')?)?;
        let (line, new) = range(words.next()?.strip_prefix('+')?)?;
        words.next()?.starts_with("@@").then(|| Self { line, left: (old, new), ..Self::default() })
    }

    fn add(&mut self, mark: char, line: &str) -> Option<()> {
        // An empty line of context may have lost its blank.
        let text = if matches!(mark, '\n' | '\r') { line } else { line.get(1..)? };
        let (in_old, in_new) = match mark {
            ' ' | '\n' | '\r' => (true, true),
            '-' => (true, false),
            '+' => (false, true),
            _ => return None,
        };
        if in_old {
            self.left.0 = self.left.0.checked_sub(1)?;
            self.old.push_str(text);
        }
        if in_new {
            self.left.1 = self.left.1.checked_sub(1)?;
            self.new.push_str(text);
        }
        Some(())
    }

    /// The last line, with that mark, has no line end.
    fn cut(&mut self, mark: char) {
        for (text, other) in [(&mut self.old, '+'), (&mut self.new, '-')] {
            if mark != other && text.ends_with('\n') {
                text.pop();
            }
        }
    }
}

/// `start,count`; the count is 1 if it is absent.
fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(diff: &str) -> Option<Vec<(u32, String, String)>> {
        hunks(diff).map(|hunks| hunks.into_iter().map(|hunk| (hunk.line, hunk.old, hunk.new)).collect())
    }

    fn hunk(line: u32, old: &str, new: &str) -> (u32, String, String) {
        (line, old.to_owned(), new.to_owned())
    }

    #[test]
    fn each_hunk_has_the_lines_before_and_after() {
        let diff =
            "--- /a\n+++ /a\n@@ -1,3 +1,3 @@ fn a\n-one\n+two\n same\n--- sign\n+++ sign\n@@ -9 +9,2 @@\n x\n+y\n";
        let expected = [hunk(1, "one\nsame\n-- sign\n", "two\nsame\n++ sign\n"), hunk(9, "x\n", "x\ny\n")];
        assert_eq!(texts(diff).unwrap(), expected);
        let added = "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
        assert_eq!(texts(added).unwrap(), [hunk(1, "", "a\nb")]);
        let both = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file";
        assert_eq!(texts(both).unwrap(), [hunk(1, "a", "b")]);
        assert_eq!(texts("@@ -1,2 +1,3 @@\n a\n\n+b").unwrap(), [hunk(1, "a\n\n", "a\n\nb")]);
    }

    #[test]
    fn other_texts_are_no_diff() {
        for text in [
            "",
            "hello\n",
            "--- a\n+++ b\n",
            "@@ -1,2 +1,2 @@\n a\n",
            "@@ -1 +1 @@\n-a\n+b\n+c\n",
            "@@ -1 +1 @@\n-a\n*b\n",
            "@@ nonsense @@\n",
            "@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert_eq!(texts(text), None, "{text:?}");
        }
        let many = "@@ -1 +1 @@\n-a\n+b\n".repeat(MAX_HUNKS + 1);
        assert_eq!(texts(&many), None);
    }
}
