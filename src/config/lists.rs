//! Lists of tables: `[[section.key]]`.
//!
//! Input: the tables in the file, and how one is checked. Output: the valid ones, in the order of the file. Never: a table that is silently left
//! out; a problem without the place of its table.

use super::error::{Problem, unknown};
use super::source::misfit;
use super::table::{Table, find, keys};
use super::upstream::is_name;
use figment::value::{Dict, Value};
use serde::de::DeserializeOwned;

/// A kind of list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// The section that has the tables.
    pub(super) section: &'static str,
    /// Their key in it.
    pub(super) key: &'static str,
    /// What messages call one table, and several.
    pub(super) one: &'static str,
    pub(super) several: &'static str,
    /// How many tables there may be.
    pub(super) most: usize,
    /// Whether each table has a name of its own.
    pub(super) has_names: bool,
    /// The settings that each table must have, with what would be right.
    pub(super) required: &'static [(&'static str, &'static str)],
}

impl List {
    /// Removes the tables from the file, because they are no setting of their section.
    pub(super) fn take(&self, file: &mut Dict) -> Option<Value> {
        match file.get_mut(self.section) {
            Some(Value::Dict(_, settings)) => settings.remove(self.key),
            _ => None,
        }
    }
}

/// Reads all tables. `check` reports what is wrong with the settings of one. Problems are added to `problems`; `spell` formats the position
/// of a key.
pub(super) fn read_all<T: Table + DeserializeOwned>(
    list: &List,
    tables: &Value,
    spell: &dyn Fn(&str) -> String,
    problems: &mut Vec<Problem>,
    check: impl Fn(&T, &mut dyn FnMut(&str, String)),
) -> Vec<T> {
    let place = format!("{}.{}", list.section, list.key);
    let mut report = |key: &str, message: String| problems.push(Problem { place: spell(key), message });
    let Value::Array(_, tables) = tables else {
        report(&place, format!("must be a list of tables: write [[{place}]]"));
        return Vec::new();
    };
    if tables.len() > list.most {
        report(&place, format!("has {} {}; the maximum is {}", tables.len(), list.several, list.most));
        return Vec::new();
    }
    let (mut read, mut names) = (Vec::new(), Vec::new());
    for (at, table) in tables.iter().enumerate() {
        let name = table.as_dict().and_then(|table| table.get("name")?.as_str()).unwrap_or_default();
        let which = if name.is_empty() { format!("{} {}", list.one, at + 1) } else { format!("{} {name:?}", list.one) };
        let mut fits = true;
        let mut report = |key: &str, message: String| {
            fits = false;
            let comma = if key.is_empty() { "" } else { ", " };
            report(&format!("{}, {which}{comma}{key}", list.section), message);
        };
        let Value::Dict(_, table) = table else {
            report("", format!("must be a table: write [[{place}]]"));
            continue;
        };
        if let Some(one) = one::<T>(list, table, &mut report) {
            if list.has_names && !is_name(name) {
                report(
                    "name",
                    format!("invalid name {name:?}: use at most 64 letters, digits, \"-\", \"_\" and \".\""),
                );
            } else if list.has_names && names.contains(&name) {
                report("name", format!("another {} has the same name", list.one));
            }
            names.push(name);
            check(&one, &mut report);
            if fits {
                read.push(one);
            }
        }
    }
    read
}

/// Reads one table; `None` if a problem was reported.
fn one<T: Table + DeserializeOwned>(list: &List, table: &Dict, report: &mut dyn FnMut(&str, String)) -> Option<T> {
    let mut fits = true;
    for (key, value) in table {
        let message = match find(T::SETTINGS, key) {
            None => Some(unknown(&format!("setting of {} {}", article(list.one), list.one), key, keys(T::SETTINGS))),
            Some(setting) => misfit(value, setting),
        };
        if let Some(message) = message {
            report(key, message);
            fits = false;
        }
    }
    for (key, right) in list.required.iter().filter(|(key, _)| !table.contains_key(*key)) {
        report(key, format!("is missing; {right}"));
        fits = false;
    }
    match Value::from(table.clone()).deserialize::<T>() {
        Ok(read) => fits.then_some(read),
        Err(errors) => {
            // What does not fit was reported above.
            for error in errors.into_iter().filter(|_| fits) {
                let key = error.path.join(".");
                report(&key, super::load::message_of(&key, &error.kind));
            }
            None
        }
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
