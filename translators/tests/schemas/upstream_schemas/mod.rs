//! Helpers for the tests of upstream schemas: the compiled schemas of a runner, and the records of its recordings.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic, reason = "test code")]

use framegate_translators::decode::Record;
use framegate_translators::json::{Json, value};
use framegate_translators::runners::{Runner, Surface, runner};
use framegate_translators::schema::Schemas;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The surfaces of one runner with their schemas, each compiled separately.
pub struct Upstream {
    pub runner: &'static Runner,
    surfaces: BTreeMap<&'static str, Compiled>,
}

struct Compiled {
    surface: &'static Surface,
    validators: BTreeMap<&'static str, Validator>,
    examples: BTreeMap<&'static str, Value>,
    /// The crate's own reader of the same files.
    schemas: Schemas,
}

/// One record of a recording.
pub struct Line {
    pub file: String,
    pub surface: &'static str,
    pub text: String,
}

impl Upstream {
    /// Compiles every schema. Fails if one is invalid, or lacks metadata that the others have.
    pub fn compile(name: &str) -> Self {
        let runner = runner(name).unwrap();
        let surfaces = runner.surfaces.iter().map(|surface| (surface.name, Compiled::new(runner, surface))).collect();
        Self { runner, surfaces }
    }

    /// The kind of a record.
    pub fn kind_of(&self, surface: &str, text: &str) -> Option<String> {
        let json = Json::parse(text).unwrap();
        let fields = json.object().unwrap();
        let record = Record { json, fields, event_name: None, index: 0, offset: 0 };
        (self.surfaces[surface].surface.kind_of)(&record).map(std::borrow::Cow::into_owned)
    }

    /// The JSON pointers at which a record breaks the schema of its kind; empty if it is valid.
    pub fn violations(&self, surface: &str, kind: &str, text: &str) -> Vec<String> {
        let compiled = &self.surfaces[surface];
        let Some(validator) = compiled.validators.get(kind) else { panic!("{surface}: no schema of {kind}") };
        let record = value(text.as_bytes()).unwrap();
        let violations: Vec<String> =
            validator.iter_errors(&record).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(violations.is_empty(), compiled.schemas.check_text(kind, text).is_ok(), "{surface} {kind}: {text}");
        violations
    }

    /// Fails unless every record matches its schema. Returns the kinds and surfaces of the records.
    pub fn assert_all_valid(&self, lines: &[Line]) -> BTreeSet<(&'static str, String)> {
        let mut met = BTreeSet::new();
        for line in lines {
            let Line { file, surface, text } = line;
            let kind = self.kind_of(surface, text).unwrap_or_else(|| panic!("{file}: no kind: {text}"));
            let violations = self.violations(surface, &kind, text);
            assert!(violations.is_empty(), "{file}, {kind}: {violations:#?}");
            met.insert((*surface, kind));
        }
        met
    }

    /// Every example has its own kind and matches its schema. It does not match without one of the required fields, or with an
    /// unknown field if the schema is closed.
    pub fn examples_are_strict(&self) {
        for (surface, compiled) in &self.surfaces {
            for (kind, example) in &compiled.examples {
                let text = example.to_string();
                assert_eq!(self.kind_of(surface, &text).as_deref(), Some(*kind), "{surface}");
                assert_eq!(self.violations(surface, kind, &text), Vec::<String>::new(), "{surface} {kind}");
                let schema = compiled.schema(kind);
                let required = schema["required"].as_array().unwrap();
                assert!(!required.is_empty(), "{surface} {kind}: nothing is required");
                for field in required {
                    let mut less = example.clone();
                    less.as_object_mut().unwrap().remove(field.as_str().unwrap()).unwrap();
                    assert!(!self.violations(surface, kind, &less.to_string()).is_empty(), "{surface} {kind}: {field}");
                }
                assert_eq!(schema["additionalProperties"], false, "{surface} {kind}: the outermost object is open");
                let mut more = example.clone();
                more.as_object_mut().unwrap().insert("surprise".to_owned(), Value::Null);
                assert!(!self.violations(surface, kind, &more.to_string()).is_empty(), "{surface} {kind}: surprise");
            }
        }
    }

    /// Every file in the folders is in the list.
    pub fn every_file_is_listed(&self) {
        for (name, compiled) in &self.surfaces {
            let root = schemas_dir(self.runner.name).join(name);
            let mut found = BTreeSet::new();
            let mut folders = vec![root.clone()];
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(&folder).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                    } else {
                        let relative = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                        found.insert(relative.strip_suffix(".schema.json").unwrap().to_owned());
                    }
                }
            }
            let listed: BTreeSet<String> = compiled.validators.keys().map(|kind| (*kind).to_owned()).collect();
            assert_eq!(found, listed, "{name}");
        }
    }

    /// Fails unless the renaming of any field in any record is detected. `open` lists the places whose fields may have any
    /// name: the surface, the start of the kind, and the end of the path. `/**` at the end includes deeper places.
    pub fn renamed_fields_are_seen(&self, lines: &[Line], open: &[(&str, &str, &str)]) {
        let (mut seen, mut used) = (BTreeSet::new(), BTreeSet::new());
        for Line { file, surface, text } in lines {
            let kind = self.kind_of(surface, text).unwrap();
            let record = value(text.as_bytes()).unwrap();
            let mut places = Vec::new();
            places_of(&record, "", &kind, &mut places);
            for (pointer, shape) in places {
                let parent = pointer.rsplit_once('/').unwrap().0;
                let is_open = |(of, beginning, place): &&(&str, &str, &str)| {
                    let inside = match place.strip_suffix("/**") {
                        Some(place) => pointer.contains(&format!("{place}/")),
                        None => parent.ends_with(place),
                    };
                    of == surface && kind.starts_with(beginning) && inside
                };
                if let Some(place) = open.iter().find(is_open) {
                    used.insert(place);
                } else if seen.insert((*surface, shape)) {
                    let mut renamed = record.clone();
                    Change::Renamed.apply(&mut renamed, &pointer);
                    let text = renamed.to_string();
                    // The kind then differs or is missing, which is also detected.
                    if self.kind_of(surface, &text).as_ref() == Some(&kind) {
                        assert!(!self.violations(surface, &kind, &text).is_empty(), "{file}, {kind}: {pointer}");
                    }
                }
            }
        }
        assert_eq!(used.len(), open.len(), "open places that no record has; used are {used:?}");
    }

    /// Fails unless each change makes the first record of that kind that has the place break its schema there.
    pub fn changes_are_seen(&self, lines: &[Line], changes: &[(&'static str, &str, &str, Change)]) {
        for (surface, kind, pointer, change) in changes {
            let what = format!("{surface} {kind} {pointer} {change:?}");
            let mut record = lines
                .iter()
                .filter(|line| line.surface == *surface)
                .filter(|line| self.kind_of(surface, &line.text).as_deref() == Some(*kind))
                .map(|line| value(line.text.as_bytes()).unwrap())
                .find(|record| record.pointer(pointer).is_some())
                .unwrap_or_else(|| panic!("{what}: no such place"));
            change.apply(&mut record, pointer);
            let violations = self.violations(surface, kind, &record.to_string());
            assert!(!violations.is_empty(), "{what}");
        }
    }
}

impl Compiled {
    fn new(runner: &'static Runner, surface: &'static Surface) -> Self {
        let (mut validators, mut examples) = (BTreeMap::new(), BTreeMap::new());
        for file in surface.schemas {
            let what = format!("{} {} {}", runner.name, surface.name, file.kind);
            let schema: Value = serde_json::from_str(file.text()).unwrap();
            let id = format!(
                "https://framegate.dev/schemas/runners/{}/{}/{}.schema.json",
                runner.name, surface.name, file.kind
            );
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{what}");
            assert_eq!(schema["$id"], id, "{what}");
            for words in ["title", "description"] {
                assert!(schema[words].as_str().is_some_and(|text| text.len() > 8), "{what}: {words}");
            }
            let [example] = schema["examples"].as_array().unwrap().as_slice() else { panic!("{what}: one example") };
            assert!(examples.insert(file.kind, example.clone()).is_none(), "{what} is there twice");
            let options = jsonschema::draft202012::options().should_validate_formats(false);
            validators.insert(file.kind, options.build(&schema).unwrap_or_else(|error| panic!("{what}: {error}")));
        }
        assert!(!validators.is_empty(), "{} {} has schemas", runner.name, surface.name);
        Self { surface, validators, examples, schemas: Schemas::compile(surface.schemas).unwrap() }
    }

    fn schema(&self, kind: &str) -> Value {
        let file = self.surface.schemas.iter().find(|file| file.kind == kind).unwrap();
        serde_json::from_str(file.text()).unwrap()
    }
}

/// The pointers of all fields, each with its shape: the path without indices, and the types of the objects around it.
fn places_of(value: &Value, pointer: &str, shape: &str, places: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            let types = ["type", "role", "status", "name"].map(|key| fields.get(key).and_then(Value::as_str));
            let shape = format!("{shape}{types:?}");
            for (key, field) in fields {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                let shape = format!("{shape}/{key}");
                places.push((pointer.clone(), shape.clone()));
                places_of(field, &pointer, &shape, places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places_of(item, &format!("{pointer}/{index}"), &format!("{shape}/*"), places);
            }
        }
        _ => {}
    }
}

/// A change that a newer version of a runner might make to a record.
#[derive(Debug)]
pub enum Change {
    /// The field is renamed.
    Renamed,
    /// The field is removed.
    Gone,
    /// The field has this value instead.
    Is(Value),
    /// The field contains an additional unknown field.
    Wider,
}

impl Change {
    fn apply(&self, record: &mut Value, pointer: &str) {
        if let Self::Wider = self {
            let place = record.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            place.insert("surprise".to_owned(), Value::Bool(true));
            return;
        }
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let field = &field.replace("~1", "/").replace("~0", "~");
        let object = record.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let was = object.remove(field).unwrap();
        match self {
            Self::Renamed => drop(object.insert(format!("new_{field}"), was)),
            Self::Is(new) => {
                assert_ne!(&was, new, "{pointer}: no change");
                object.insert(field.clone(), new.clone());
            }
            Self::Gone | Self::Wider => {}
        }
    }
}

pub fn fixtures_dir(runner: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(runner)
}

fn schemas_dir(runner: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/runners").join(runner)
}

/// The records of a folder's recordings, from files for which `surface_of` returns a surface.
pub fn lines(folder: &Path, surface_of: impl Fn(&str) -> Option<&'static str>) -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(surface) = surface_of(&file).filter(|_| path.is_file()) else { continue };
        let text = std::fs::read_to_string(&path).unwrap();
        let records: Vec<&str> = match file.rsplit('.').next() {
            Some("json") => vec![&text],
            Some("sse") => text.split('\n').filter_map(|line| line.strip_prefix("data:")).collect(),
            _ => text.split('\n').filter(|line| !line.trim().is_empty()).collect(),
        };
        assert!(text.is_empty() || !records.is_empty(), "{file} has records");
        lines.extend(records.into_iter().map(|text| Line {
            file: file.clone(),
            surface,
            text: text.trim().to_owned(),
        }));
    }
    lines
}
