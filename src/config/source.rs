//! One source of settings, and the check of its values.
//!
//! Input: settings from a file, the environment or the command line. Output: the same settings with the types of the defaults,
//! and the values that do not fit. The default's type decides how text is parsed, so that a host name of digits stays text.

use super::error::{Problem, unknown};
use figment::value::{Dict, Map, Num, Tag, Value};
use figment::{Metadata, Profile, Provider};

/// One source of settings.
#[derive(Clone, Debug)]
pub(super) struct Source {
    name: String,
    settings: Dict,
    /// How the source spells a key, for messages.
    spell: fn(name: &str, key: &str) -> String,
}

impl Provider for Source {
    fn metadata(&self) -> Metadata {
        let spell = self.spell;
        let name = self.name.clone();
        Metadata::named(self.name.clone()).interpolater(move |_, keys| spell(&name, &keys.join(".")))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.settings.clone())]))
    }
}

impl Source {
    /// Creates a source from a file's settings.
    pub(super) fn file(name: String, settings: Dict) -> Self {
        Self { name, settings, spell: |name, key| format!("{name}, {key}") }
    }

    /// Creates a source from `FRAMEGATE__SECTION__KEY` variables; other variables are ignored.
    pub(super) fn environment(variables: &[(String, String)], defaults: &Dict) -> Self {
        let settings = variables.iter().filter_map(|(name, text)| {
            let key = name.strip_prefix(super::load::ENV_PREFIX)?;
            Some((key.to_ascii_lowercase().replace("__", "."), text.clone()))
        });
        let spell =
            |_: &str, key: &str| format!("{}{}", super::load::ENV_PREFIX, key.to_ascii_uppercase().replace('.', "__"));
        Self { name: "the environment".to_owned(), settings: nested(settings, defaults), spell }
    }

    /// Creates a source from the settings of the command line, given as `section.key` and text.
    pub(super) fn flags(flags: &[(String, String)], defaults: &Dict) -> Self {
        let settings = nested(flags.iter().cloned(), defaults);
        Self { name: "the command line".to_owned(), settings, spell: |name, key| format!("{name}, {key}") }
    }

    /// Removes and reports everything that the defaults do not have, or have with another type.
    pub(super) fn take_misfits(&mut self, defaults: &Dict, problems: &mut Vec<Problem>) {
        let (name, spell) = (self.name.clone(), self.spell);
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
            let Some(known) = defaults.get(section) else {
                report(section.clone(), unknown("section", section, defaults.keys().map(String::as_str)));
                return false;
            };
            let Value::Dict(_, keys) = value else {
                let known = known.as_dict().into_iter().flat_map(Dict::keys).map(String::as_str);
                report(
                    section.clone(),
                    format!("must be a section with the keys {}", known.collect::<Vec<_>>().join(", ")),
                );
                return false;
            };
            let known = known.as_dict().cloned().unwrap_or_default();
            keys.retain(|key, value| {
                let path = format!("{section}.{key}");
                let Some(default) = known.get(key) else {
                    let what = format!("setting in [{section}]:");
                    report(path, unknown(&what, key, known.keys().map(String::as_str)));
                    return false;
                };
                let Some(message) = misfit(&path, value, default, super::ranges::RANGES) else { return true };
                report(path, message);
                false
            });
            true
        });
    }
}

/// The bounds of a number: key, minimum, maximum.
type Range = (&'static str, u64, u64);

/// The problem with a value, or `None` if it fits. `default` has the right type.
pub(super) fn misfit(path: &str, value: &Value, default: &Value, ranges: &[Range]) -> Option<String> {
    match (default, value) {
        (Value::Num(..), Value::Num(_, number)) if whole(*number).is_some() => {
            let number = whole(*number).unwrap_or_default();
            let (_, least, most) = ranges.iter().find(|(key, ..)| *key == path)?;
            let fits = (i128::from(*least)..=i128::from(*most)).contains(&number);
            (!fits).then(|| format!("{number} is out of range: use a whole number from {least} to {most}"))
        }
        (Value::Num(..), _) => {
            Some(format!("{} is not a whole number; the default is {}", shown(value), shown(default)))
        }
        (Value::String(..), Value::String(..)) | (Value::Bool(..), Value::Bool(..)) => None,
        (Value::String(..), _) => Some(format!("{} is not a string; put it in quotes", shown(value))),
        (Value::Bool(..), _) => Some(format!("{} is neither true nor false", shown(value))),
        (Value::Array(..), Value::Array(_, items)) if items.iter().all(|item| item.as_str().is_some()) => None,
        (Value::Array(..), _) => Some(format!("{} is not a list of strings such as [\"a\", \"b\"]", shown(value))),
        (Value::Dict(..), Value::Dict(_, items)) if items.values().all(|item| item.as_str().is_some()) => None,
        (Value::Dict(..), _) => Some(format!("{} is not a table of strings such as {{ a = \"b\" }}", shown(value))),
        _ => None,
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
fn nested(settings: impl Iterator<Item = (String, String)>, defaults: &Dict) -> Dict {
    let mut sections = Dict::new();
    for (path, text) in settings {
        let (section, key) = path.split_once('.').unwrap_or((&path, ""));
        if key.is_empty() {
            sections.insert(section.to_owned(), Value::from(text));
            continue;
        }
        let default = defaults.get(section).and_then(|section| section.as_dict()?.get(key));
        let value = typed(text, default);
        let entry = sections.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
        if let Value::Dict(_, keys) = entry {
            keys.insert(key.to_owned(), value);
        }
    }
    sections
}

/// Parses text as the default's type. If that fails it stays text, and is reported as a misfit later.
fn typed(text: String, default: Option<&Value>) -> Value {
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

/// The sections of a serialisable value. Empty if it does not serialise to a table; that does not happen.
pub(super) fn sections(value: &impl serde::Serialize) -> Dict {
    match Value::serialize(value) {
        Ok(Value::Dict(_, sections)) => sections,
        Ok(_) | Err(_) => Dict::new(),
    }
}
