//! What a terminal shows after some bytes. It knows only what framegate may send, and fails at anything else.

/// The rows so far, and the cursor.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    pub fn of(bytes: &[u8]) -> Self {
        let mut screen = Self::default();
        let text = String::from_utf8_lossy(bytes);
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            match char {
                '\n' => screen.row += 1,
                '\r' => screen.column = 0,
                '\x1b' => screen.sequence(&mut chars),
                // The terminal's own echo of Ctrl-C.
                _ if char.is_control() => panic!("{char:?} in {text:?}"),
                _ => screen.put(char),
            }
        }
        screen
    }

    fn sequence(&mut self, chars: &mut std::str::Chars<'_>) {
        let rest = chars.as_str();
        let Some(body) = rest.strip_prefix('[') else { panic!("an escape sequence: {rest:?}") };
        let end = body.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(body.len());
        let (number, last) = (&body[..end], body[end..].chars().next());
        match last {
            Some('m') => {}
            Some('A') => self.row = self.row.checked_sub(number.parse().unwrap()).expect("above the first row"),
            Some('J') if number.is_empty() => {
                self.rows.truncate(self.row + 1);
                if let Some(row) = self.rows.get_mut(self.row) {
                    row.truncate(self.column);
                }
            }
            // Cut off by the test.
            None => {}
            other => panic!("the escape sequence {number:?}{other:?}"),
        }
        *chars = body.get(end + 1..).unwrap_or_default().chars();
    }

    fn put(&mut self, char: char) {
        if self.rows.len() <= self.row {
            self.rows.resize(self.row + 1, Vec::new());
        }
        let row = &mut self.rows[self.row];
        if row.len() <= self.column {
            row.resize(self.column + 1, ' ');
        }
        row[self.column] = char;
        self.column += 1;
    }

    /// The rows as text.
    pub fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}
