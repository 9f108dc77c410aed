//! One source of settings, and the check of its values.
//!
//! Input: settings from a file, the environment or the command line. Output: the same settings with the types of the defaults,
//! and the values that do not fit. The default's type decides how text is parsed, so that a host name of digits stays text.

use super::SECTIONS;
use super::error::{Problem, unknown};
use super::otel_variables::Standard;
use super::table::{Section, Setting, find, keys, sorted};
use figment::value::{Dict, Map, Num, Tag, Value};
use figment::{Metadata, Profile, Provider};
use std::sync::Arc;

/// One source of settings.
#[derive(Clone)]
pub(super) struct Source {
    name: String,
    settings: Dict,
    /// How the source spells a key, for messages.
    spell: Spell,
}

/// How a source with this name spells a key.
type Spell = Arc<dyn Fn(&str, &str) -> String + Send + Sync>;

impl Provider for Source {
    fn metadata(&self) -> Metadata {
        let (spell, name) = (self.spell.clone(), self.name.clone());
        Metadata::named(self.name.clone()).interpolater(move |_, keys| spell(&name, &keys.join(".")))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.settings.clone())]))
    }
}

impl Source {
    /// Creates a source from a file's settings.
    pub(super) fn file(name: String, settings: Dict) -> Self {
        Self { name, settings, spell: Arc::new(|name, key| format!("{name}, {key}")) }
    }

    /// Creates a source from `FRAMEGATE__SECTION__KEY` variables; other variables are ignored.
    pub(super) fn environment(variables: &[(String, String)]) -> Self {
        let settings = variables.iter().filter_map(|(name, text)| {
            let key = name.strip_prefix(super::load::ENV_PREFIX)?;
            Some((key.to_ascii_lowercase().replace("__", "."), text.clone()))
        });
        Self { name: "the environment".to_owned(), settings: nested(settings), spell: Arc::new(|_, key| variable(key)) }
    }

    /// Creates a source from settings that standard variables name, given as `section.key`, value and variable.
    pub(super) fn standard(given: &[Standard]) -> Self {
        let mut settings = Dict::new();
        for Standard { key, value, .. } in given {
            let Some((section, key)) = key.split_once('.') else { continue };
            let entry = settings.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
            if let Value::Dict(_, keys) = entry {
                keys.insert(key.to_owned(), value.clone());
            }
        }
        let variables: Vec<_> = given.iter().map(|one| (one.key, one.variable)).collect();
        let spell = move |_: &str, key: &str| {
            let found = variables.iter().find(|(known, _)| *known == key);
            found.map_or_else(|| key.to_owned(), |(_, variable)| (*variable).to_owned())
        };
        Self { name: "the standard variables".to_owned(), settings, spell: Arc::new(spell) }
    }

    /// Creates a source from the settings of the command line, given as `section.key` and text.
    pub(super) fn flags(flags: &[(String, String)]) -> Self {
        let settings = nested(flags.iter().cloned());
        Self { name: "the command line".to_owned(), settings, spell: Arc::new(|name, key| format!("{name}, {key}")) }
    }

    /// A text among the settings, if it is set.
    pub(super) fn text(&self, section: &str, key: &str) -> Option<&str> {
        match self.settings.get(section)? {
            Value::Dict(_, settings) => settings.get(key)?.as_str(),
            _ => None,
        }
    }

    /// Removes settings that have their defaults, of those that standard variables set: a file that lists every default must not hide
    /// the variables.
    pub(super) fn leave_defaults_to(&mut self, standard: &[Standard]) {
        for (section, key) in standard.iter().filter_map(|one| one.key.split_once('.')) {
            let known = SECTIONS.iter().find(|known| known.name == section).and_then(|known| find(known.settings, key));
            if let (Some(setting), Some(Value::Dict(_, settings))) = (known, self.settings.get_mut(section))
                && settings.get(key).is_some_and(|value| is_same(value, &(setting.default)()))
            {
                settings.remove(key);
            }
        }
    }

    /// Removes and reports everything that is not a setting, or not a value of its setting.
    pub(super) fn take_misfits(&mut self, problems: &mut Vec<Problem>) {
        let (name, spell) = (self.name.clone(), self.spell.clone());
        let mut report = |key: String, message: String| {
            problems.push(Problem { place: spell(&name, &key), message });
        };
        self.settings.retain(|section, value| {
            if section == super::load::UPSTREAM {
                report(
                    section.clone(),
                    "upstreams can only be set in the configuration file, as tables: [[upstream]]".to_owned(),
                );
                return false;
            }
            let Some(Section { settings: known, .. }) = SECTIONS.iter().find(|known| known.name == section) else {
                let known = SECTIONS.iter().map(|known| known.name).chain([super::load::UPSTREAM]);
                report(section.clone(), unknown("section", section, sorted(known)));
                return false;
            };
            let Value::Dict(_, given) = value else {
                let known = keys(known).collect::<Vec<_>>().join(", ");
                report(section.clone(), format!("must be a section with the keys {known}"));
                return false;
            };
            given.retain(|key, value| {
                let path = format!("{section}.{key}");
                let Some(setting) = find(known, key) else {
                    report(path, unknown(&format!("setting in [{section}]:"), key, keys(known)));
                    return false;
                };
                let Some(message) = misfit(value, setting) else { return true };
                report(path, message);
                false
            });
            true
        });
    }
}

/// The environment variable of a setting.
pub(super) fn variable(path: &str) -> String {
    format!("{}{}", super::load::ENV_PREFIX, path.to_ascii_uppercase().replace('.', "__"))
}

/// The problem with a value of a setting, or `None` if it fits. The default has the right type.
pub(super) fn misfit(value: &Value, setting: &Setting) -> Option<String> {
    let default = (setting.default)();
    match (&default, value) {
        (Value::Num(..), Value::Num(_, number)) if whole(*number).is_some() => {
            let number = whole(*number).unwrap_or_default();
            let (least, most) = setting.range.clone()?.into_inner();
            let fits = (i128::from(least)..=i128::from(most)).contains(&number);
            (!fits).then(|| format!("{number} is out of range: use a whole number from {least} to {most}"))
        }
        (Value::Num(..), _) => {
            Some(format!("{} is not a whole number; the default is {}", shown(value), shown(&default)))
        }
        (Value::String(..), Value::String(..)) | (Value::Bool(..), Value::Bool(..)) => None,
        (Value::String(..), _) => {
            Some(format!("{} is not a string; put it in quotes, such as {}", shown(value), shown(&default)))
        }
        (Value::Bool(..), _) => Some(format!("{} is neither true nor false", shown(value))),
        // A list has no default if it replaces a list that depends on other settings.
        (Value::Array(..) | Value::Empty(..), Value::Array(_, items))
            if items.iter().all(|item| item.as_str().is_some()) =>
        {
            None
        }
        (Value::Array(..) | Value::Empty(..), _) => {
            Some(format!("{} is not a list of strings such as [\"a\", \"b\"]", shown(value)))
        }
        (Value::Dict(..), Value::Dict(_, items)) if items.values().all(|item| item.as_str().is_some()) => None,
        (Value::Dict(..), _) => Some(format!("{} is not a table of strings such as {{ a = \"b\" }}", shown(value))),
        _ => None,
    }
}

/// Whether two values are the same. A number in a file may have another type than the default.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Num(_, one), Value::Num(_, other)) => whole(*one) == whole(*other),
        _ => one == other,
    }
}

fn whole(number: Num) -> Option<i128> {
    number.to_i128().or_else(|| number.to_u128().and_then(|number| i128::try_from(number).ok()))
}

/// A value for a message: short, and without the contents of tables and lists.
fn shown(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("{:?}", text.chars().take(64).collect::<String>()),
        Value::Char(_, letter) => format!("{letter:?}"),
        Value::Bool(_, is) => is.to_string(),
        Value::Num(_, number) => whole(*number)
            .map(|number| number.to_string())
            .or_else(|| number.to_f64().map(|number| number.to_string()))
            .unwrap_or_else(|| "a number".to_owned()),
        Value::Empty(..) => "nothing".to_owned(),
        Value::Dict(..) => "a table".to_owned(),
        Value::Array(..) => "a list".to_owned(),
    }
}

/// Converts texts under dotted keys to sections whose values have the types of the defaults.
fn nested(settings: impl Iterator<Item = (String, String)>) -> Dict {
    let mut sections = Dict::new();
    for (path, text) in settings {
        let (section, key) = path.split_once('.').unwrap_or((&path, ""));
        if key.is_empty() {
            sections.insert(section.to_owned(), Value::from(text));
            continue;
        }
        let known = SECTIONS.iter().find(|known| known.name == section).and_then(|known| find(known.settings, key));
        let value = typed(text, known.map(|setting| (setting.default)()));
        let entry = sections.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
        if let Value::Dict(_, keys) = entry {
            keys.insert(key.to_owned(), value);
        }
    }
    sections
}

/// Parses text as the default's type. If that fails it stays text, and is reported as a misfit later.
fn typed(text: String, default: Option<Value>) -> Value {
    match default {
        Some(Value::Num(..)) => text.trim().parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        Some(Value::Bool(..)) => text.trim().parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
        Some(Value::Array(..)) => list(&text),
        _ => Value::from(text),
    }
}

/// Parses a list: `a, b` or `["a", "b"]`.
fn list(text: &str) -> Value {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let items = inner.split(',').map(|item| item.trim().trim_matches(['"', '\''])).filter(|item| !item.is_empty());
    Value::Array(Tag::Default, items.map(Value::from).collect())
}
