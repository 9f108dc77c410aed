//! The diff that versions without `details.patch` show: lines with their numbers, and `...` between the changes.
//!
//! Input: the diff and the path of the file. Output: the same as a unified diff. Never: a diff if a line has another form.

use std::fmt::Write;

/// A change with the lines around it.
#[derive(Default)]
struct Hunk {
    /// The number of its first line before and after the change.
    start: Option<(u64, u64)>,
    /// The number of its lines before and after the change.
    lines: (u64, u64),
    text: String,
}

impl Hunk {
    /// Adds a line. Only added lines have the numbers of the new file. `grown` is by how many lines the file has grown before.
    fn push(&mut self, marker: char, number: u64, text: &str, grown: i64) {
        let start = match marker {
            '+' => (number.saturating_add_signed(grown.saturating_neg()), number),
            _ => (number, number.saturating_add_signed(grown)),
        };
        self.start.get_or_insert(start);
        self.lines.0 += u64::from(marker != '+');
        self.lines.1 += u64::from(marker != '-');
        let _ = writeln!(self.text, "{marker}{text}");
    }

    /// Writes it, and returns by how many lines the file grows.
    fn write(&self, out: &mut String) -> i64 {
        let Some((old, new)) = self.start else { return 0 };
        // Without lines, the number is that of the line before.
        let at = |start: u64, lines: u64| if lines == 0 { start.saturating_sub(1) } else { start };
        let (before, after) = self.lines;
        let _ = write!(out, "@@ -{},{before} +{},{after} @@\n{}", at(old, before), at(new, after), self.text);
        after.cast_signed() - before.cast_signed()
    }
}

/// The unified diff; `None` if it cannot be told from these lines.
pub(super) fn unified(path: &str, numbered: &str) -> Option<String> {
    let mut out = format!("--- {path}\n+++ {path}\n");
    let (mut hunk, mut grown) = (Hunk::default(), 0);
    for line in numbered.lines() {
        let mut letters = line.chars();
        let marker = letters.next().filter(|marker| matches!(marker, ' ' | '+' | '-'))?;
        let rest = letters.as_str().trim_start_matches(' ');
        if rest == "..." {
            grown += hunk.write(&mut out);
            hunk = Hunk::default();
            continue;
        }
        let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
        hunk.push(marker, number.parse().ok()?, text, grown);
    }
    hunk.start?;
    hunk.write(&mut out);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_lines_become_hunks() {
        let one = " 1 import os\n-2 print('a')\n+2 print('b')";
        let expected = "--- app.py\n+++ app.py\n@@ -1,2 +1,2 @@\n import os\n-print('a')\n+print('b')\n";
        assert_eq!(unified("app.py", one).as_deref(), Some(expected));
        let two = "     ...\n   8 \n+  9 new\n   9 old\n     ...\n- 99 gone\n 100 last";
        let expected = "--- a\n+++ a\n@@ -8,2 +8,3 @@\n \n+new\n old\n@@ -99,2 +100,1 @@\n-gone\n last\n";
        assert_eq!(unified("a", two).as_deref(), Some(expected));
        assert_eq!(unified("a", "+1 only").as_deref(), Some("--- a\n+++ a\n@@ -0,0 +1,1 @@\n+only\n"));
        for other in ["", "words", "+x y", " ...", "@@ -1 +1 @@"] {
            assert_eq!(unified("a", other), None, "{other:?}");
        }
    }
}
