//! How a table of settings is declared: once, with `settings!`.
//!
//! Input: for each setting its text, key, type, default and range, and whether a running proxy can change it. Output: a struct
//! with the values, and [`Table::SETTINGS`], from which everything else about settings is derived: the check of values, the
//! names that errors suggest, what a reload changes, `config.toml` and the reference in `docs`. Never: a second list of
//! settings.

use figment::value::{Empty, Tag, Value};
use serde::Serialize;
use std::ops::RangeInclusive;

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its key. The end of the key is the unit of a number: `_ms`, `_seconds`, `_hours`, `_bytes`.
    pub key: &'static str,
    /// The lines of its text, each with a space at the front. Documents have the names of all presets for `{presets}`.
    pub text: &'static [&'static str],
    /// Its default. A value in a source must have the same type.
    pub default: fn() -> Value,
    /// The range of a number.
    pub range: Option<RangeInclusive<u64>>,
    /// Whether a running proxy can change it. If not, a change needs a restart.
    pub reloads: bool,
}

/// A table of settings.
pub trait Table {
    /// The settings, in the order in which they are documented.
    const SETTINGS: &'static [Setting];
    /// The text about the part of the table that is not a setting, such as a list of tables.
    const NOTE: &'static [&'static str];

    /// Replaces the settings that a running proxy can change with those of `new`.
    fn take_reloaded(&mut self, new: Self);
}

/// A section of the configuration, such as `[server]`.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Its settings, in the order in which they are documented.
    pub settings: &'static [Setting],
    /// The text about the part of the section that is not a setting.
    pub note: &'static [&'static str],
}

/// The setting with this key.
pub(super) fn find(settings: &'static [Setting], key: &str) -> Option<&'static Setting> {
    settings.iter().find(|setting| setting.key == key)
}

/// The keys in alphabetical order, as messages list them.
pub(super) fn keys(settings: &'static [Setting]) -> impl Iterator<Item = &'static str> + Clone {
    sorted(settings.iter().map(|setting| setting.key))
}

/// Names in alphabetical order.
pub(super) fn sorted(names: impl Iterator<Item = &'static str>) -> impl Iterator<Item = &'static str> + Clone {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.into_iter()
}

/// A default as a value of the configuration. A default that is absent, or cannot be written, is empty.
pub(super) fn value<T: Serialize>(default: T) -> Value {
    Value::serialize(default).unwrap_or(Value::Empty(Tag::Default, Empty::None))
}

/// Declares a table of settings:
///
/// ```text
/// settings! {
///     /// The frame log.
///     pub struct Log {
///         /// Maximum number of runs that are kept.
///         max_runs: usize = 10_000, in 1..=100_000_000;
///         /// Maximum number of readers. 0: no limit.
///         max_readers: usize = 0, in 0..=1_000 => reloads;
///     }
/// }
/// ```
///
/// The comment of a setting is its text in `config.toml` and in the reference. `in` is the range, which every number needs.
/// `read by` names a function that deserialises the value. `reloads` marks what a running proxy can change. After the struct,
/// `with name: Type;` adds a field that is not a setting and is filled in separately.
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        $visible:vis struct $table:ident {
            $(
                $(#[doc = $text:literal])+
                $key:ident: $type:ty = $default:expr $(, in $range:expr)? $(, read by $read:literal)? $(=> $reloads:ident)?;
            )+
        }
        $($(#[doc = $note:literal])+ with $extra:ident: $extra_type:ty;)?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[allow(rustdoc::bare_urls, reason = "the texts are also comments of config.toml, which is not Markdown")]
        $visible struct $table {
            $($(#[doc = $text])+ $(#[serde(deserialize_with = $read)])? pub $key: $type,)+
            $($(#[doc = $note])+ #[serde(skip)] pub $extra: $extra_type,)?
        }

        impl Default for $table {
            fn default() -> Self {
                Self { $($key: $default,)+ $($extra: <$extra_type>::default())? }
            }
        }

        impl $crate::config::table::Table for $table {
            const SETTINGS: &'static [$crate::config::table::Setting] = &[$($crate::config::table::Setting {
                key: stringify!($key),
                text: &[$($text),+],
                default: || $crate::config::table::value::<$type>($default),
                range: settings!(@range $($range)?),
                reloads: settings!(@flag $($reloads)?),
            }),+];
            const NOTE: &'static [&'static str] = &[$($($note),+)?];

            fn take_reloaded(&mut self, new: Self) {
                let _ = &new;
                $($(settings!(@take $reloads self.$key, new.$key);)?)+
            }
        }
    };
    (@range) => { None };
    (@range $range:expr) => { Some($range) };
    (@flag) => { false };
    (@flag reloads) => { true };
    (@take reloads $old:expr, $new:expr) => { $old = $new };
}
pub(super) use settings;

/// Declares `Config`: its sections in the order in which they are documented, and the list of upstreams.
macro_rules! sections {
    ($($name:ident: $table:ty;)+ $(#[doc = $note:literal])+ with $list:ident: $list_type:ty;) => {
        /// All settings.
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Config {
            $(#[doc = concat!("The section `[", stringify!($name), "]`.")] pub $name: $table,)+
            $(#[doc = $note])+
            #[serde(skip)]
            pub $list: $list_type,
        }

        /// The sections, in the order in which they are documented.
        pub const SECTIONS: &[Section] = &[$(Section {
            name: stringify!($name),
            settings: <$table as Table>::SETTINGS,
            note: <$table as Table>::NOTE,
        }),+];

        /// The text about the list of upstreams.
        #[cfg(test)]
        const NOTE: &[&str] = &[$($note),+];

        impl Config {
            /// Replaces the settings that a running proxy can change with those of `new`.
            fn take_reloaded(&mut self, new: Self) {
                $(self.$name.take_reloaded(new.$name);)+
            }
        }
    };
}
pub(super) use sections;
