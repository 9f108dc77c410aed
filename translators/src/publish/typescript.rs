//! TypeScript declarations of a contract's events.
//!
//! Input: a contract's schemas. Output: one module with an interface for each event type, one for their common properties, the
//! union of all types discriminated by the type key, and a map from type to interface. Descriptions become doc comments, and so
//! do constraints that TypeScript cannot express (`@format`, `@minimum`). An object that the schema leaves open has an index
//! signature.
//!
//! Never: a declaration that rejects what the schema accepts. A keyword that can only narrow what is valid may appear just in
//! the comment; one that this generator does not know is an error.

use super::names;
use crate::contracts::Contract;
use crate::json::{Json, Kind, Object};
use std::fmt::Write;

/// A keyword that cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The event type whose schema contains it.
    pub kind: String,
    /// The schema that contains it, as a JSON pointer.
    pub pointer: String,
    /// The keyword, or what is wrong with it.
    pub keyword: String,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the schema of {:?} contains {} at {:?}, which TypeScript cannot express",
            self.kind, self.keyword, self.pointer
        )
    }
}

impl std::error::Error for Unsupported {}

/// Keywords that become part of the type.
const STRUCTURE: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "const",
    "enum",
    "items",
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
];

/// Keywords that become tags of the comment, because they only narrow the type.
const TAGS: &[&str] = &[
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// Keywords without effect on validity, or that only narrow it in ways that a comment would not clarify.
const SILENT: &[&str] = &[
    "$schema",
    "$id",
    "$defs",
    "$comment",
    "title",
    "description",
    "examples",
    "deprecated",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
];

/// The declarations of a contract.
///
/// # Errors
/// The first keyword that has no TypeScript form.
pub fn typescript(contract: &Contract) -> Result<String, Unsupported> {
    let any = names::of_contract(contract.name);
    let mut out = format!(
        "// The events of {name}, from its JSON Schemas. Written by `framegate schema {name} --typescript`; do not edit.\n\n",
        name = contract.name
    );
    comment(&format!("Any event of {}: {}.", contract.name, contract.about), &[], "", &mut out);
    let _ = writeln!(out, "export type {any} = {any}s[{any}Type];\n");
    comment(
        &format!("The event types of {}, the values of `{}`.", contract.name, contract.type_key),
        &[],
        "",
        &mut out,
    );
    let _ = writeln!(out, "export type {any}Type = keyof {any}s;\n");
    comment(&format!("Maps each type of {} to its event.", contract.name), &[], "", &mut out);
    let _ = writeln!(out, "export interface {any}s {{");
    for file in contract.schemas {
        let _ = writeln!(out, "  {}: {};", key(file.kind), names::of_kind(file.kind));
    }
    out.push_str("}\n");
    let envelope = envelope_of(contract)?;
    let envelope_name = format!("{}Envelope", any.trim_end_matches("Event"));
    if let Some(first) = contract.schemas.first().filter(|_| !envelope.is_empty()) {
        let mut location = SchemaLocation { kind: first.kind, pointer: String::new(), envelope: &[] };
        out.push('\n');
        comment(&format!("The properties that all events of {} have.", contract.name), &[], "", &mut out);
        let _ = writeln!(out, "export interface {envelope_name} {{");
        if let Some(schema) = root(first.text(), &location)?.object() {
            members(&schema, |name| envelope.iter().any(|shared| shared == name), &mut location, "  ", &mut out)?;
        }
        out.push_str("}\n");
    }
    for file in contract.schemas {
        let mut location = SchemaLocation { kind: file.kind, pointer: String::new(), envelope: &envelope };
        let schema = root(file.text(), &location)?;
        out.push('\n');
        let base = (!envelope.is_empty()).then_some(envelope_name.as_str());
        declare(&names::of_kind(file.kind), base, schema, &mut location, &mut out)?;
        let definitions = schema.object().and_then(|schema| schema.object("$defs"));
        for (name, definition) in definitions.iter().flat_map(Object::iter) {
            location.pointer = format!("/$defs/{name}");
            out.push('\n');
            declare(&names::of_definition(file.kind, name), None, definition, &mut location, &mut out)?;
        }
    }
    Ok(out)
}

fn root<'s>(text: &'s str, location: &SchemaLocation<'_>) -> Result<Json<'s>, Unsupported> {
    Json::parse(text).map_err(|error| location.refuse(&error.to_string()))
}

/// The properties that have the same schema in every type; empty if there is only one type.
fn envelope_of(contract: &Contract) -> Result<Vec<String>, Unsupported> {
    let mut shared: Option<Vec<(String, String, bool)>> = None;
    for file in contract.schemas {
        let location = SchemaLocation { kind: file.kind, pointer: String::new(), envelope: &[] };
        let Some(schema) = root(file.text(), &location)?.object() else { return Ok(Vec::new()) };
        let properties = schema.object("properties");
        let own: Vec<(String, String, bool)> = properties
            .iter()
            .flat_map(Object::iter)
            .map(|(name, property)| (name.to_owned(), property.text().to_owned(), is_required(&schema, name)))
            .collect();
        match &mut shared {
            None => shared = Some(own),
            Some(shared) => shared.retain(|property| own.contains(property)),
        }
    }
    let shared = shared.filter(|_| contract.schemas.len() > 1).unwrap_or_default();
    Ok(shared.into_iter().map(|(name, ..)| name).collect())
}

fn is_required(schema: &Object<'_>, name: &str) -> bool {
    schema.items("required").iter().any(|other| other.str().is_some_and(|other| other == name))
}

/// The generator's position.
struct SchemaLocation<'k> {
    kind: &'k str,
    pointer: String,
    /// The root's properties that are in the common interface.
    envelope: &'k [String],
}

impl SchemaLocation<'_> {
    fn refuse(&self, keyword: &str) -> Unsupported {
        Unsupported { kind: self.kind.to_owned(), pointer: self.pointer.clone(), keyword: keyword.to_owned() }
    }

    /// The type of a schema one level deeper.
    fn within(&mut self, step: &str, schema: Json<'_>, indent: &str) -> Result<Type, Unsupported> {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        let found = type_of(schema, self, indent)?;
        self.pointer.truncate(length);
        Ok(found)
    }
}

/// A type's text, and how tightly it binds, for combining it with others.
struct Type {
    text: String,
    precedence: Precedence,
}

/// How tightly a type binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Union,
    Intersection,
    Alone,
}

impl Type {
    fn alone(text: impl Into<String>) -> Self {
        Self { text: text.into(), precedence: Precedence::Alone }
    }

    /// The text, in brackets if the type binds less tightly than `precedence`.
    fn at_least(self, precedence: Precedence) -> String {
        if self.precedence < precedence { format!("({})", self.text) } else { self.text }
    }

    /// The union of these types.
    fn union(types: Vec<Self>) -> Self {
        let mut texts: Vec<String> = Vec::with_capacity(types.len());
        for text in types.into_iter().map(|one| one.at_least(Precedence::Union)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let precedence = if texts.len() == 1 { Precedence::Alone } else { Precedence::Union };
        // `unknown` includes all the others.
        if texts.iter().any(|text| text == "unknown") {
            Self::alone("unknown")
        } else {
            Self { text: texts.join(" | "), precedence }
        }
    }

    /// The intersection of these types.
    fn intersection(mut types: Vec<Self>) -> Self {
        types.retain(|one| one.text != "unknown");
        match (types.pop(), types.is_empty()) {
            (None, _) => Self::alone("unknown"),
            (Some(only), true) => only,
            (Some(last), false) => {
                types.push(last);
                let texts: Vec<String> = types.into_iter().map(|one| one.at_least(Precedence::Intersection)).collect();
                Self { text: texts.join(" & "), precedence: Precedence::Intersection }
            }
        }
    }
}

/// Writes the declaration of a schema under a name; `base` is the interface with its remaining properties.
fn declare(
    name: &str,
    base: Option<&str>,
    schema: Json<'_>,
    location: &mut SchemaLocation<'_>,
    out: &mut String,
) -> Result<(), Unsupported> {
    let found = type_of(schema, location, "")?;
    if let Some(object) = schema.object() {
        comment(&object.str("description").unwrap_or_default(), &tags(&object), "", out);
    }
    // Only a single object type can be an interface.
    if found.precedence == Precedence::Alone && found.text.starts_with("{\n") {
        let base = base.map(|base| format!(" extends {base}")).unwrap_or_default();
        let _ = writeln!(out, "export interface {name}{base} {}", found.text);
    } else {
        let found = Type::intersection(base.map(Type::alone).into_iter().chain([found]).collect());
        let _ = writeln!(out, "export type {name} = {};", found.text);
    }
    Ok(())
}

fn type_of(schema: Json<'_>, location: &mut SchemaLocation<'_>, indent: &str) -> Result<Type, Unsupported> {
    let Some(object) = schema.object() else {
        return match schema.bool() {
            Some(true) => Ok(Type::alone("unknown")),
            Some(false) => Ok(Type::alone("never")),
            None => Err(location.refuse("a value that is not a schema")),
        };
    };
    let is_known = |keyword: &str| [STRUCTURE, TAGS, SILENT].iter().any(|list| list.contains(&keyword));
    if let Some((keyword, _)) = object.iter().find(|(keyword, _)| !is_known(keyword)) {
        return Err(location.refuse(keyword));
    }
    let mut parts = Vec::new();
    if let Some(value) = object.get("const") {
        parts.push(literal(value, location)?);
    } else if object.get("enum").is_some() {
        let values = object.items("enum").into_iter().map(|value| literal(value, location));
        parts.push(Type::union(values.collect::<Result<_, _>>()?));
    } else {
        parts.push(of_types(&object, location, indent)?);
    }
    if let Some(target) = object.str("$ref") {
        let Some(name) = target.strip_prefix("#/$defs/") else {
            return Err(location.refuse("a $ref to another document"));
        };
        parts.push(Type::alone(names::of_definition(location.kind, name)));
    }
    for (keyword, join) in
        [("anyOf", Type::union as fn(Vec<Type>) -> Type), ("oneOf", Type::union), ("allOf", Type::intersection)]
    {
        if object.get(keyword).is_some() {
            let mut types = Vec::new();
            for (at, part) in object.items(keyword).into_iter().enumerate() {
                types.push(location.within(&format!("{keyword}/{at}"), part, indent)?);
            }
            parts.push(join(types));
        }
    }
    Ok(Type::intersection(parts))
}

/// The type from `type`, `properties` and `items`.
fn of_types(object: &Object<'_>, location: &mut SchemaLocation<'_>, indent: &str) -> Result<Type, Unsupported> {
    let one = object.str("type").map(|name| name.into_owned());
    let mut allowed: Vec<String> = match one {
        Some(name) => vec![name],
        None => object.items("type").into_iter().filter_map(|name| name.str().map(|name| name.into_owned())).collect(),
    };
    if allowed.is_empty() {
        if object.get("properties").is_none() && object.get("items").is_none() {
            return Ok(Type::alone("unknown"));
        }
        // Without `type`, values that are neither objects nor arrays are valid too. Our schemas always have it.
        let missing = "properties or items without a type";
        return Err(location.refuse(missing));
    }
    // Integers are numbers.
    if allowed.iter().any(|name| name == "number") {
        allowed.retain(|name| name != "integer");
    }
    let mut types = Vec::with_capacity(allowed.len());
    for name in &allowed {
        types.push(match name.as_str() {
            "object" => shape(object, location, indent)?,
            "array" => {
                let item = match object.get("items") {
                    Some(items) => location.within("items", items, indent)?,
                    None => Type::alone("unknown"),
                };
                Type::alone(format!("{}[]", item.at_least(Precedence::Alone)))
            }
            "integer" => Type::alone("number"),
            "string" | "number" | "boolean" | "null" => Type::alone(name.as_str()),
            other => return Err(location.refuse(&format!("the type {other:?}"))),
        });
    }
    Ok(Type::union(types))
}

/// The type of an object.
fn shape(object: &Object<'_>, location: &mut SchemaLocation<'_>, indent: &str) -> Result<Type, Unsupported> {
    let inner = format!("{indent}  ");
    let mut text = String::from("{\n");
    let elsewhere = if location.pointer.is_empty() { location.envelope } else { &[] };
    members(object, |name| !elsewhere.iter().any(|shared| shared == name), location, &inner, &mut text)?;
    let is_empty = object.object("properties").is_none_or(|properties| properties.is_empty());
    let rest = match object.get("additionalProperties") {
        None => Some(Type::alone("unknown")),
        Some(schema) => match location.within("additionalProperties", schema, &inner)? {
            Type { text, .. } if text == "never" => None,
            // An index signature must also fit the named properties, so it cannot be exact if there are any.
            found => Some(if is_empty { found } else { Type::alone("unknown") }),
        },
    };
    if let Some(rest) = rest {
        let _ = writeln!(text, "{inner}[key: string]: {};", rest.text);
    }
    let _ = write!(text, "{indent}}}");
    Ok(Type::alone(text))
}

/// The selected properties of an object, one per line.
fn members(
    object: &Object<'_>,
    is_wanted: impl Fn(&str) -> bool,
    location: &mut SchemaLocation<'_>,
    indent: &str,
    out: &mut String,
) -> Result<(), Unsupported> {
    let properties = object.object("properties");
    for (name, schema) in properties.iter().flat_map(Object::iter).filter(|(name, _)| is_wanted(name)) {
        let found = location.within(&format!("properties/{}", pointer_step(name)), schema, indent)?;
        if let Some(schema) = schema.object() {
            comment(&schema.str("description").unwrap_or_default(), &tags(&schema), indent, out);
        }
        let mark = if is_required(object, name) { "" } else { "?" };
        let _ = writeln!(out, "{indent}{}{mark}: {};", key(name), found.text);
    }
    Ok(())
}

/// The literal type of a value.
fn literal(value: Json<'_>, location: &SchemaLocation<'_>) -> Result<Type, Unsupported> {
    match value.kind() {
        // JSON and TypeScript spell plain values in the same way.
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => Ok(Type::alone(value.text())),
        Kind::Array | Kind::Object => Err(location.refuse("const or enum with an array or object")),
    }
}

/// A property's name, quoted if necessary.
fn key(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_bare = name.chars().all(is_word) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_bare { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Constraints that the type cannot express, as tags.
fn tags(schema: &Object<'_>) -> Vec<String> {
    let tags = schema.iter().filter(|(keyword, _)| TAGS.contains(keyword));
    tags.map(|(keyword, value)| {
        let text = value.str();
        format!("@{keyword} {}", text.as_deref().unwrap_or(value.text()))
    })
    .collect()
}

/// Writes a doc comment unless it would be empty.
fn comment(text: &str, tags: &[String], indent: &str, out: &mut String) {
    let lines: Vec<&str> =
        text.lines().chain(tags.iter().map(String::as_str)).filter(|line| !line.trim().is_empty()).collect();
    let safe = |line: &str| line.replace("*/", "*\\/");
    let _ = match lines.as_slice() {
        [] => Ok(()),
        [only] => writeln!(out, "{indent}/** {} */", safe(only)),
        lines => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{indent} * {}", safe(line));
            }
            writeln!(out, "{indent} */")
        }
    };
}

#[cfg(test)]
mod tests;
