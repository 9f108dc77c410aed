//! The plan: the table `todos` of the session's own database, as far as the model's queries tell.
//!
//! Input: the queries of successful `sql` calls. Output: the whole plan after each change. The runner says only that the plan changed, not what it is.
//! Never: a plan of unbounded size; a plan after a query that cannot be followed, until a later one deletes all rows.

use super::calls::Call;
use super::decoder::Copilot;
use super::sql::{Comparison, Condition, New, OnConflict, Statement, names_plan, statements};
use crate::frame::{Body, PlanEntry, SharedStr};
use crate::json::Object;
use crate::normalizer::Normalizer;

/// The maximum number of entries of a plan; further ones are left out.
const MOST_ENTRIES: usize = 1000;

/// The maximum size of a text in bytes. A longer one is left out; the record still contains it.
const MOST_TEXT: usize = 16 << 10;

/// The rows of the table.
#[derive(Debug, Default)]
pub(super) struct Plan {
    rows: Vec<Row>,
    is_unclear: bool,
}

#[derive(Clone, Debug, Default)]
struct Row {
    id: String,
    title: Option<String>,
    status: Option<String>,
}

/// Whether a query reads or writes the plan.
pub(super) fn is_of_plan(query: &str) -> bool {
    names_plan(query)
}

impl Copilot {
    /// Follows a successful query.
    pub(super) fn plan_queried(&mut self, call: &Call, args: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(query) = args.str("query") else { return };
        if args.str("database").is_some_and(|database| database != "session") {
            return;
        }
        if self.session.plan.follow(&query) {
            let entries = self.session.plan.entries();
            normalizer.push(call.target, Body::PlanUpdated { entries });
        }
    }
}

impl Plan {
    /// Applies a query. Returns whether the plan is known and changed.
    fn follow(&mut self, query: &str) -> bool {
        let mut changed = false;
        for statement in statements(query) {
            changed |= match statement {
                Statement::Insert { columns, rows, on_conflict } => self.insert(&columns, rows, &on_conflict),
                Statement::Update { assigned, condition } => self.update(&assigned, &condition),
                Statement::Delete { condition } => self.delete(&condition),
                Statement::Unclear => {
                    self.is_unclear = true;
                    false
                }
            };
        }
        changed && !self.is_unclear
    }

    fn insert(&mut self, columns: &[String], rows: Vec<Vec<Option<String>>>, on_conflict: &OnConflict) -> bool {
        let mut changed = false;
        for values in rows {
            let mut row = Row { status: Some("pending".to_owned()), ..Row::default() };
            for (column, value) in columns.iter().zip(values) {
                row.set(column, value);
            }
            match self.rows.iter().position(|known| known.id == row.id) {
                Some(at) if *on_conflict == OnConflict::Replace => {
                    self.rows.remove(at);
                }
                Some(at) => {
                    if let (OnConflict::Update(assigned), Some(known)) = (on_conflict, self.rows.get_mut(at)) {
                        changed |= known.update(assigned, &row);
                    }
                    continue;
                }
                None => {}
            }
            if self.rows.len() < MOST_ENTRIES {
                self.rows.push(row);
                changed = true;
            }
        }
        changed
    }

    fn update(&mut self, assigned: &[(String, Option<String>)], condition: &Condition) -> bool {
        let mut changed = false;
        for row in self.rows.iter_mut().filter(|row| row.meets(condition) == Some(true)) {
            for (column, value) in assigned {
                changed |= row.set(column, value.clone());
            }
        }
        self.is_unclear |= self.rows.iter().any(|row| row.meets(condition).is_none());
        changed
    }

    fn delete(&mut self, condition: &Condition) -> bool {
        if *condition == Condition::All {
            self.is_unclear = false;
        }
        let before = self.rows.len();
        self.is_unclear |= self.rows.iter().any(|row| row.meets(condition).is_none());
        self.rows.retain(|row| row.meets(condition) != Some(true));
        self.rows.len() != before
    }

    fn entries(&self) -> Vec<PlanEntry> {
        let entry = |row: &Row| PlanEntry {
            content: row.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| row.id.clone()),
            status: SharedStr::from(match row.status.as_deref() {
                Some("done") => "completed",
                other => other.unwrap_or("pending"),
            }),
            priority: None,
        };
        self.rows.iter().map(entry).collect()
    }
}

impl Row {
    /// Sets a column. Returns whether the plan shows the change.
    fn set(&mut self, column: &str, value: Option<String>) -> bool {
        let value = value.filter(|value| value.len() <= MOST_TEXT);
        match column {
            "id" => self.id = value.unwrap_or_default(),
            "title" => self.title = value,
            "status" => self.status = value,
            _ => return false,
        }
        true
    }

    /// Changes its columns, partly to those of a row that could not be inserted. Returns whether the plan shows the change.
    fn update(&mut self, assigned: &[(String, New)], new: &Self) -> bool {
        let mut changed = false;
        for (column, value) in assigned {
            let value = match value {
                New::Value(value) => value.clone(),
                New::Column(of) => new.get(of).and_then(|value| value.cloned()),
            };
            changed |= self.set(column, value);
        }
        changed
    }

    /// The value of a column, which may be null; `None` if the column is not followed.
    fn get(&self, column: &str) -> Option<Option<&String>> {
        match column {
            "id" => Some(Some(&self.id)),
            "title" => Some(self.title.as_ref()),
            "status" => Some(self.status.as_ref()),
            _ => None,
        }
    }

    /// Whether it meets a condition; `None` if that depends on a column that is not followed.
    fn meets(&self, condition: &Condition) -> Option<bool> {
        let Condition::Any(groups) = condition else { return Some(true) };
        let all = |group: &Vec<Comparison>| {
            let mut known = group.iter().map(|comparison| self.compares(comparison));
            if known.clone().any(|one| one == Some(false)) { Some(false) } else { known.try_fold(true, |_, one| one) }
        };
        let mut known = groups.iter().map(all);
        if known.clone().any(|one| one == Some(true)) { Some(true) } else { known.try_fold(false, |_, one| one) }
    }

    fn compares(&self, comparison: &Comparison) -> Option<bool> {
        let own = self.get(&comparison.column)?;
        // A column that is null meets no comparison.
        Some(own.is_some_and(|own| comparison.values.contains(own) != comparison.negated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(plan: &Plan) -> Vec<String> {
        plan.entries().iter().map(|entry| format!("{} {}", entry.status, entry.content)).collect()
    }

    #[test]
    fn queries_change_the_plan() {
        let mut plan = Plan::default();
        assert!(
            plan.follow(
                "INSERT INTO todos (id, title, status) VALUES ('a', 'A', 'in_progress'), ('b', 'B', 'pending');"
            )
        );
        assert!(plan.follow("INSERT INTO todos (id, title) VALUES ('c', 'C')"));
        assert_eq!(shown(&plan), ["in_progress A", "pending B", "pending C"]);
        assert!(plan.follow(
            "UPDATE todos SET status = 'done' WHERE id = 'a'; UPDATE todos SET status='in_progress' WHERE id='b'"
        ));
        assert!(plan.follow("DELETE FROM todos WHERE id IN ('c')"));
        assert_eq!(shown(&plan), ["completed A", "in_progress B"]);
        assert!(!plan.follow("SELECT * FROM todos"));
        assert!(!plan.follow("UPDATE todos SET status = 'done' WHERE id = 'unknown'"));
    }

    #[test]
    fn conditions_are_combined_and_rows_that_exist_are_updated() {
        let mut plan = Plan::default();
        assert!(
            plan.follow("INSERT INTO todos (id, title, created_at) VALUES ('a', 'A', datetime('now')), ('b', 'B', 1)")
        );
        assert!(plan.follow("UPDATE todos SET status = 'done' WHERE id = 'a' AND status = 'pending'"));
        assert!(!plan.follow("UPDATE todos SET status = 'in_progress' WHERE id = 'a' AND status = 'pending'"));
        assert_eq!(shown(&plan), ["completed A", "pending B"]);
        assert!(plan.follow(
            "INSERT INTO todos (id, title) VALUES ('b', 'B2'), ('c', 'C') ON CONFLICT(id) DO UPDATE SET title = excluded.title"
        ));
        assert_eq!(shown(&plan), ["completed A", "pending B2", "pending C"]);
        assert!(plan.follow("DELETE FROM todos WHERE status = 'done' OR id = 'c'"));
        assert_eq!(shown(&plan), ["pending B2"]);
        // The other comparison decides, although the column of the first one is not followed.
        assert!(!plan.follow("UPDATE todos SET status = 'done' WHERE description = 'x' AND id = 'z'"));
        assert!(plan.follow("UPDATE todos SET status = 'done' WHERE description = 'x' OR id = 'b'"));
    }

    #[test]
    fn a_plan_that_cannot_be_followed_is_not_shown_until_it_is_empty() {
        let mut plan = Plan::default();
        assert!(plan.follow("INSERT INTO todos (id, title) VALUES ('a', 'A')"));
        assert!(!plan.follow("UPDATE todos SET status = 'done' WHERE description = 'x'"));
        assert!(!plan.follow("UPDATE todos SET status = 'done'"));
        assert!(plan.follow("DELETE FROM todos; INSERT INTO todos (id, title) VALUES ('b', 'B')"));
        assert_eq!(shown(&plan), ["pending B"]);
    }

    #[test]
    fn the_size_is_bounded() {
        let mut plan = Plan::default();
        for at in 0..2 * MOST_ENTRIES {
            plan.follow(&format!("INSERT INTO todos (id) VALUES ('{at}')"));
        }
        assert_eq!(plan.entries().len(), MOST_ENTRIES);
    }
}
