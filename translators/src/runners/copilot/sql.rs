//! The few SQL statements with which the model keeps its plan.
//!
//! Input: the text of a query. Output: the statements that write to the table `todos`, if they are simple enough to follow: rows of values,
//! assignments of values, and conditions that compare columns with values. Never: a guess at a statement that computes, except for the time
//! of a change, which is no part of the plan.

/// The maximum number of tokens of a query that are read.
const MOST_TOKENS: usize = 20_000;

/// A statement that writes to the plan.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// New rows: the columns and the values of each.
    Insert { columns: Vec<String>, rows: Vec<Vec<Option<String>>>, on_conflict: OnConflict },
    /// Changed columns of the rows that meet the condition.
    Update { assigned: Vec<(String, Option<String>)>, condition: Condition },
    /// Deleted rows.
    Delete { condition: Condition },
    /// A statement that cannot be followed.
    Unclear,
}

/// What happens to a row whose id exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OnConflict {
    Fail,
    Ignore,
    Replace,
    /// Its columns are changed.
    Update(Vec<(String, New)>),
}

/// What a column of a row gets whose id exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum New {
    Value(Option<String>),
    /// What the new row has in a column.
    Column(String),
}

/// Which rows a statement is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    All,
    /// All comparisons of one of these groups hold.
    Any(Vec<Vec<Comparison>>),
}

/// A column has one of these values, or none of them if `negated`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) column: String,
    pub(super) values: Vec<String>,
    pub(super) negated: bool,
}

/// Columns with the time of a change.
const TIMES: [&str; 2] = ["created_at", "updated_at"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A keyword or a name, in lower case.
    Word(String),
    /// What is in double quotes: a name, or a text where no name can be.
    Quoted(String),
    Text(String),
    Number(String),
    Mark(char),
}

/// The statements of a query that write to the plan, in order.
pub(super) fn statements(query: &str) -> Vec<Statement> {
    if !query.to_ascii_lowercase().contains("todos") {
        return Vec::new();
    }
    let Some(tokens) = tokens(query) else { return vec![Statement::Unclear] };
    let parts = tokens.split(|token| *token == Token::Mark(';')).filter(|part| is_about_plan(part));
    parts.filter_map(|part| Reader { tokens: part }.statement()).collect()
}

/// Whether a query names the table of the plan.
pub(super) fn names_plan(query: &str) -> bool {
    tokens(query).is_some_and(|tokens| is_about_plan(&tokens))
}

fn is_about_plan(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.is("todos"))
}

impl Token {
    /// Whether it is this keyword or name.
    fn is(&self, word: &str) -> bool {
        match self {
            Self::Word(own) => own == word,
            Self::Quoted(own) => own.eq_ignore_ascii_case(word),
            Self::Text(_) | Self::Number(_) | Self::Mark(_) => false,
        }
    }
}

/// The tokens; `None` if there are too many, or a text does not end.
fn tokens(query: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() == MOST_TOKENS {
            return None;
        }
        let after = rest.get(first.len_utf8()..)?;
        rest = match first {
            '-' if after.starts_with('-') => after.split_once('\n').map_or("", |(_, next)| next),
            '/' if after.starts_with('*') => after.split_once("*/").map_or("", |(_, next)| next),
            '\'' => {
                let (text, next) = quoted(after, '\'')?;
                tokens.push(Token::Text(text));
                next
            }
            '"' => {
                let (name, next) = quoted(after, first)?;
                tokens.push(Token::Quoted(name));
                next
            }
            '`' => {
                let (name, next) = quoted(after, first)?;
                tokens.push(Token::Word(name.to_lowercase()));
                next
            }
            letter if letter.is_alphanumeric() || letter == '_' => {
                let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
                let (word, next) = rest.split_at_checked(end)?;
                let is_number = letter.is_ascii_digit();
                tokens.push(if is_number { Token::Number(word.to_owned()) } else { Token::Word(word.to_lowercase()) });
                next
            }
            mark => {
                tokens.push(Token::Mark(mark));
                after
            }
        }
        .trim_start();
    }
    Some(tokens)
}

/// The text up to the closing quote, where a doubled quote stands for one.
fn quoted(mut rest: &str, quote: char) -> Option<(String, &str)> {
    let mut text = String::new();
    loop {
        let (part, next) = rest.split_once(quote)?;
        text.push_str(part);
        match next.strip_prefix(quote) {
            Some(further) => {
                text.push(quote);
                rest = further;
            }
            None => return Some((text, next)),
        }
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
}

impl Reader<'_> {
    /// Reads one statement; `None` if it does not write to the plan.
    fn statement(mut self) -> Option<Statement> {
        let Some(Token::Word(verb)) = self.token() else { return Some(Statement::Unclear) };
        let table = match verb.as_str() {
            "insert" | "replace" => self.word_after("into"),
            "delete" => self.word_after("from"),
            "update" => self.tokens.first(),
            // The table exists already.
            "select" | "pragma" | "explain" | "create" => return None,
            _ => return Some(Statement::Unclear),
        };
        if matches!(table, Some(table @ (Token::Word(_) | Token::Quoted(_))) if !table.is("todos")) {
            return None;
        }
        let read = match verb.as_str() {
            "update" => self.update(),
            "delete" => self.delete(),
            verb => self.insert(verb == "replace"),
        };
        Some(read.unwrap_or(Statement::Unclear))
    }

    /// The token after a keyword.
    fn word_after(&self, keyword: &str) -> Option<&Token> {
        let at = self.tokens.iter().position(|token| token.is(keyword))?;
        self.tokens.get(at + 1)
    }

    fn insert(&mut self, replaces: bool) -> Option<Statement> {
        let mut on_conflict = if replaces { OnConflict::Replace } else { OnConflict::Fail };
        if self.takes("or") {
            on_conflict = match self.word()?.as_str() {
                "replace" => OnConflict::Replace,
                "ignore" => OnConflict::Ignore,
                _ => OnConflict::Fail,
            };
        }
        self.expects("into")?;
        self.expects("todos")?;
        let mut columns = Vec::new();
        self.mark('(')?;
        loop {
            columns.push(self.word()?);
            if !self.takes_mark(',') {
                break;
            }
        }
        self.mark(')')?;
        self.expects("values")?;
        let mut rows = Vec::new();
        loop {
            self.mark('(')?;
            let mut row = Vec::new();
            loop {
                let is_time = columns.get(row.len()).is_some_and(|column| TIMES.contains(&&**column));
                row.push(if is_time { self.skip_expression() } else { self.value()? });
                if !self.takes_mark(',') {
                    break;
                }
            }
            self.mark(')')?;
            if row.len() != columns.len() {
                return None;
            }
            rows.push(row);
            if !self.takes_mark(',') {
                break;
            }
        }
        if self.takes("on") {
            on_conflict = self.conflict()?;
        }
        self.tokens.is_empty().then_some(Statement::Insert { columns, rows, on_conflict })
    }

    /// Reads `CONFLICT … DO …`.
    fn conflict(&mut self) -> Option<OnConflict> {
        self.expects("conflict")?;
        if self.takes_mark('(') {
            self.word()?;
            self.mark(')')?;
        }
        self.expects("do")?;
        if self.takes("nothing") {
            return Some(OnConflict::Ignore);
        }
        self.expects("update")?;
        self.assignments().map(OnConflict::Update)
    }

    /// Reads `SET …`. The time of a change is computed, and no part of the plan.
    fn assignments(&mut self) -> Option<Vec<(String, New)>> {
        self.expects("set")?;
        let mut assigned = Vec::new();
        loop {
            let column = self.word()?;
            self.mark('=')?;
            if TIMES.contains(&&*column) {
                self.skip_expression();
            } else if self.takes("excluded") {
                self.mark('.')?;
                assigned.push((column, New::Column(self.word()?)));
            } else {
                assigned.push((column, New::Value(self.value()?)));
            }
            if !self.takes_mark(',') {
                return Some(assigned);
            }
        }
    }

    fn update(&mut self) -> Option<Statement> {
        self.expects("todos")?;
        let known = |(column, new)| match new {
            New::Value(value) => Some((column, value)),
            // There is no other row.
            New::Column(_) => None,
        };
        let assigned = self.assignments()?.into_iter().map(known).collect::<Option<Vec<_>>>()?;
        let condition = self.condition()?;
        Some(Statement::Update { assigned, condition })
    }

    fn delete(&mut self) -> Option<Statement> {
        self.expects("from")?;
        self.expects("todos")?;
        let condition = self.condition()?;
        Some(Statement::Delete { condition })
    }

    /// Reads the condition up to the end of the statement.
    fn condition(&mut self) -> Option<Condition> {
        if self.tokens.is_empty() {
            return Some(Condition::All);
        }
        self.expects("where")?;
        let mut groups = vec![Vec::new()];
        loop {
            let comparison = self.comparison()?;
            groups.last_mut()?.push(comparison);
            if self.takes("or") {
                groups.push(Vec::new());
            } else if !self.takes("and") {
                return self.tokens.is_empty().then_some(Condition::Any(groups));
            }
        }
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let column = self.word()?;
        let negated = self.takes("not") || (self.takes_mark('!') || self.takes_both('<', '>'));
        let values = if self.takes("in") {
            self.mark('(')?;
            let mut values = Vec::new();
            loop {
                values.push(self.value()??);
                if !self.takes_mark(',') {
                    break;
                }
            }
            self.mark(')')?;
            values
        } else {
            let has_mark = self.takes_mark('=');
            if !has_mark && !negated {
                return None;
            }
            vec![self.value()??]
        };
        Some(Comparison { column, values, negated })
    }

    fn token(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.clone())
    }

    fn takes_token(&mut self, token: &Token) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn takes(&mut self, word: &str) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if first.is(word) => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn takes_mark(&mut self, mark: char) -> bool {
        self.takes_token(&Token::Mark(mark))
    }

    fn takes_both(&mut self, one: char, two: char) -> bool {
        let is_it = matches!(self.tokens, [Token::Mark(a), Token::Mark(b), ..] if (*a, *b) == (one, two));
        is_it && self.takes_mark(one) && self.takes_mark(two)
    }

    fn expects(&mut self, word: &str) -> Option<()> {
        self.takes(word).then_some(())
    }

    fn mark(&mut self, mark: char) -> Option<()> {
        self.takes_mark(mark).then_some(())
    }

    fn word(&mut self) -> Option<String> {
        match self.token()? {
            Token::Word(word) => Some(word),
            Token::Quoted(name) => Some(name.to_lowercase()),
            _ => None,
        }
    }

    /// Reads a literal; the inner `None` is SQL's NULL.
    fn value(&mut self) -> Option<Option<String>> {
        match self.token()? {
            Token::Text(text) | Token::Quoted(text) | Token::Number(text) => Some(Some(text)),
            Token::Word(word) if word == "null" => Some(None),
            _ => None,
        }
    }

    /// Skips an expression, up to a comma or the end of a list outside its own parentheses, or the condition. Its value is not known.
    fn skip_expression(&mut self) -> Option<String> {
        let mut depth = 0_usize;
        while let Some((first, rest)) = self.tokens.split_first() {
            match first {
                Token::Mark('(') => depth += 1,
                Token::Mark(',' | ')') if depth == 0 => break,
                Token::Mark(')') => depth -= 1,
                Token::Word(word) if word == "where" && depth == 0 => break,
                _ => {}
            }
            self.tokens = rest;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(column: &str, values: &[&str], negated: bool) -> Condition {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        Condition::Any(vec![vec![Comparison { column: column.to_owned(), values, negated }]])
    }

    #[test]
    fn rows_of_values_are_read() {
        let read = statements(
            "-- plan\nINSERT OR IGNORE INTO \"todos\" (id, title) VALUES ('a', 'It''s; here'), ('b', NULL);",
        );
        let rows = vec![vec![Some("a".to_owned()), Some("It's; here".to_owned())], vec![Some("b".to_owned()), None]];
        let columns = vec!["id".to_owned(), "title".to_owned()];
        assert_eq!(read, [Statement::Insert { columns, rows, on_conflict: OnConflict::Ignore }]);
    }

    #[test]
    fn conditions_are_read() {
        let done = || vec![("status".to_owned(), Some("done".to_owned()))];
        for (text, condition) in [
            ("", Condition::All),
            (" WHERE id = 'a'", is("id", &["a"], false)),
            (" WHERE id IN ('a', 'b')", is("id", &["a", "b"], false)),
            (" WHERE id NOT IN ('a')", is("id", &["a"], true)),
            (" WHERE status != 'done'", is("status", &["done"], true)),
            (" WHERE status <> 'done'", is("status", &["done"], true)),
        ] {
            let update = format!("UPDATE todos SET status = 'done', updated_at = datetime('now', 'x'){text}");
            assert_eq!(statements(&update), [Statement::Update { assigned: done(), condition }], "{text}");
        }
        assert_eq!(statements("delete from todos"), [Statement::Delete { condition: Condition::All }]);
    }

    #[test]
    fn the_time_of_a_change_is_no_value_and_a_text_may_be_in_double_quotes() {
        let read = statements(
            r#"INSERT INTO todos (id, created_at, title) VALUES ("a", datetime('now', '-1 day'), "It's A")
               ON CONFLICT(id) DO UPDATE SET title = excluded.title, status = 'done', updated_at = CURRENT_TIMESTAMP"#,
        );
        let text = |text: &str| Some(text.to_owned());
        let rows = vec![vec![text("a"), None, text("It's A")]];
        let columns = ["id", "created_at", "title"].map(str::to_owned).to_vec();
        let assigned = vec![
            ("title".to_owned(), New::Column("title".to_owned())),
            ("status".to_owned(), New::Value(text("done"))),
        ];
        assert_eq!(read, [Statement::Insert { columns, rows, on_conflict: OnConflict::Update(assigned) }]);
    }

    #[test]
    fn what_computes_is_unclear_and_what_only_reads_is_nothing() {
        for unclear in [
            "UPDATE todos SET status = 'done' WHERE (id = 'a')",
            "UPDATE todos SET status = 'done' WHERE id = 'a' AND",
            "INSERT INTO todos VALUES ('a', 'A', 'pending')",
            "INSERT INTO todos (id) VALUES ('a') ON CONFLICT (id) DO UPDATE SET title = title || 'x'",
            "UPDATE todos SET title = title || 'x'",
            "UPDATE todos SET title = excluded.title",
            "INSERT INTO todos SELECT * FROM old",
            "INSERT INTO todos (id, title) VALUES ('a')",
            "DROP TABLE todos",
            "UPDATE todos SET title = 'never ends",
        ] {
            assert_eq!(statements(unclear), [Statement::Unclear], "{unclear}");
        }
        assert_eq!(statements("SELECT * FROM todos; INSERT INTO other SELECT id FROM todos"), []);
        assert!(names_plan("select * from Todos") && !names_plan("select 'todos'"));
    }
}
