//! Forms of MCP servers: the questions that a server asks a person through the runner.
//!
//! Input: the schema of a form, and the answers that a person gave. Output: the fields in schema order, and the content to send
//! to the server. Never: a form with complex fields accepted as one that can be filled in; content that violates the form's own
//! schema.

use crate::frame::{Decision, RawJson};
use crate::host::{Answer, SendError};
use crate::json::{Json, Kind, Object, to_raw};
use crate::schema::{Validator, Violation, compile_foreign, violations};
use serde_json::Value;

/// The tool name that frames use for such a question.
pub(crate) const TOOL: &str = "mcp_elicitation";

/// The maximum number of fields in a form.
const MOST_FIELDS: usize = 64;

/// A form that takes one answer per field. A form without fields is a yes/no question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    fields: Vec<Field>,
    /// The schema that the whole content is validated against; `None` if the form has no fields.
    schema: Option<Validator>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    holds: Holds,
    /// The permitted values; empty if any value is permitted.
    choices: Vec<String>,
    is_required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Text,
    Number,
    Whole,
    YesOrNo,
    Texts,
}

impl Form {
    /// Reads what a server asks for. In the mode `url` the person only has to open an address, so there are no fields and a
    /// plain yes is enough. Any other mode, known or not, is read as a form.
    ///
    /// # Errors
    /// The reason, as text, why this host cannot fill in the form.
    pub(crate) fn asked(mode: Option<&str>, schema: Option<Json<'_>>) -> Result<Self, String> {
        let schema = schema.filter(|_| mode != Some("url"));
        schema.map_or_else(|| Ok(Self::default()), Self::read)
    }

    fn read(schema: Json<'_>) -> Result<Self, String> {
        let text = schema.text();
        let schema = schema.object().ok_or("its schema is no object")?;
        let Some(properties) = schema.object("properties").filter(|properties| properties.iter().next().is_some())
        else {
            return Ok(Self::default());
        };
        let required: Vec<String> = texts(&schema.items("required"));
        let mut fields = Vec::new();
        for (name, value) in properties.iter() {
            let cannot = |why: &str| format!("its field {name:?} {why}");
            if fields.len() == MOST_FIELDS {
                return Err(format!("it has more than {MOST_FIELDS} fields"));
            }
            let field = value.object().ok_or_else(|| cannot("is not described"))?;
            let holds = match field.str("type").as_deref() {
                Some("string") => Holds::Text,
                Some("number") => Holds::Number,
                Some("integer") => Holds::Whole,
                Some("boolean") => Holds::YesOrNo,
                Some("array") if is_of_texts(&field) => Holds::Texts,
                Some(other) => return Err(cannot(&format!("is of the type {other:?}"))),
                None => return Err(cannot("has no type")),
            };
            let (name, is_required) = (name.to_owned(), required.iter().any(|required| required == name));
            fields.push(Field { name, holds, choices: choices(&field, holds), is_required });
        }
        let schema = compile_foreign(text).map_err(|error| format!("its schema cannot be used: {error}"))?;
        Ok(Self { fields, schema: Some(schema) })
    }

    /// Whether the form has no fields.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Builds the content for the server from one list of answers per field. An optional field without an answer is left out.
    ///
    /// # Errors
    /// An answer does not fit its field, or the content violates the schema.
    pub(crate) fn content(&self, answers: &[Vec<String>]) -> Result<RawJson, SendError> {
        if answers.len() > self.fields.len() {
            let (fields, given) = (self.fields.len(), answers.len());
            return Err(SendError::InvalidAnswer(format!(
                "too many answers: the form has {fields} fields, but {given} answers were given"
            )));
        }
        let none = Vec::new();
        let answers = answers.iter().chain(std::iter::repeat(&none));
        let mut content: Vec<(&str, Value)> = Vec::new();
        for (field, words) in self.fields.iter().zip(answers) {
            if let Some(value) = field.value(words)? {
                content.push((&field.name, value));
            }
        }
        let whole: Value = content.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        // The message leaves out the value, which may be a secret.
        let found = self.schema.as_ref().map(|schema| violations(schema.errors(&whole))).unwrap_or_default();
        if let Some(Violation { pointer, message, .. }) = found.first() {
            let field = pointer.trim_start_matches('/');
            return Err(SendError::InvalidAnswer(format!("the field {field:?} violates its schema: {message}")));
        }
        let values: Vec<(&str, RawJson)> = content.iter().map(|(name, value)| (*name, to_raw(value))).collect();
        Ok(object_of(values.iter().map(|(name, value)| (*name, value.get()))))
    }

    /// The response for the server: its `action`, and the `content` if a form was filled in.
    ///
    /// # Errors
    /// An answer does not fit its field, or an approval has a wider scope than this one question.
    pub(crate) fn response(&self, answer: &Answer) -> Result<(&'static str, Option<RawJson>), SendError> {
        Ok(match answer.decision {
            Decision::Approved if !matches!(answer.scope.as_deref(), None | Some("once")) => {
                return Err(SendError::Unsupported(
                    "a question of an MCP server can only be answered with the scope once",
                ));
            }
            Decision::Approved if self.is_empty() => ("accept", None),
            Decision::Approved => ("accept", Some(self.content(&answer.answers)?)),
            Decision::Cancelled => ("cancel", None),
            Decision::Rejected | Decision::TimedOut => ("decline", None),
        })
    }
}

/// The question as shown to the person: the request without the fields named in `but` and without nulls.
pub(crate) fn args_of(request: &Object<'_>, but: &[&str]) -> RawJson {
    let shown = request.iter().filter(|(key, value)| !but.contains(key) && !value.is_null());
    object_of(shown.map(|(key, value)| (key, value.text())))
}

impl Field {
    fn value(&self, words: &[String]) -> Result<Option<Value>, SendError> {
        let invalid = |wants: &str| SendError::InvalidAnswer(format!("the field {:?} requires {wants}", self.name));
        let is_missing = words.iter().all(String::is_empty);
        if is_missing && !self.is_required {
            return Ok(None);
        }
        // One empty string counts as an answer for a text field. The schema decides whether it may be empty.
        let is_text = self.holds == Holds::Text && !words.is_empty();
        if is_missing && !is_text && self.holds != Holds::Texts {
            return Err(invalid("an answer"));
        }
        if !self.choices.is_empty() && words.iter().any(|word| !self.choices.contains(word)) {
            return Err(invalid(&format!("one of {}", self.choices.join(", "))));
        }
        if self.holds == Holds::Texts {
            return Ok(Some(words.iter().filter(|word| !word.is_empty()).cloned().collect()));
        }
        let [word] = words else { return Err(invalid("exactly one answer")) };
        let number = || word.trim().parse::<serde_json::Number>();
        Ok(Some(match self.holds {
            Holds::Text | Holds::Texts => word.as_str().into(),
            Holds::Number => number().map_err(|_| invalid("a number"))?.into(),
            Holds::Whole => {
                let number = number().ok().filter(|number| number.is_i64() || number.is_u64());
                number.ok_or_else(|| invalid("a whole number"))?.into()
            }
            Holds::YesOrNo => match word.trim() {
                "true" | "yes" => true.into(),
                "false" | "no" => false.into(),
                _ => return Err(invalid("true or false")),
            },
        }))
    }
}

fn texts(items: &[Json<'_>]) -> Vec<String> {
    items.iter().filter_map(|item| Some(item.str()?.into_owned())).collect()
}

/// Whether an array field is a multiple choice among strings.
fn is_of_texts(field: &Object<'_>) -> bool {
    let Some(items) = field.object("items") else { return false };
    let kind = items.str("type");
    kind.as_deref() == Some("string")
        || (kind.is_none() && (items.get("enum").is_some() || items.get("anyOf").is_some()))
}

/// The permitted values, from any of the schema forms that can list them.
fn choices(field: &Object<'_>, holds: Holds) -> Vec<String> {
    let items = field.object("items").filter(|_| holds == Holds::Texts);
    let field = items.as_ref().unwrap_or(field);
    let plain = texts(&field.items("enum"));
    let of = |list: Vec<Json<'_>>| -> Vec<String> {
        list.into_iter().filter_map(|one| Some(one.object()?.str("const")?.into_owned())).collect()
    };
    [plain, of(field.items("oneOf")), of(field.items("anyOf"))]
        .into_iter()
        .find(|list| !list.is_empty())
        .unwrap_or_default()
}

/// Builds an object from fields whose values are already JSON text. Keeps their order.
pub(crate) fn object_of<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> RawJson {
    let entries: Vec<String> = fields.map(|(name, value)| format!("{}:{value}", to_raw(name))).collect();
    let text = format!("{{{}}}", entries.join(","));
    Json::parse(&text)
        .ok()
        .filter(|json| json.kind() == Kind::Object)
        .map_or_else(crate::json::empty_object, Json::to_raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form(schema: &Value) -> Result<Form, String> {
        form_of(&schema.to_string())
    }

    fn form_of(schema: &str) -> Result<Form, String> {
        Form::asked(Some("form"), Some(Json::parse(schema).unwrap()))
    }

    fn filled(form: &Form, answers: &[&[&str]]) -> Result<Value, String> {
        let answers: Vec<Vec<String>> =
            answers.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect();
        let content = form.content(&answers).map_err(|error| error.to_string())?;
        Ok(serde_json::from_str(content.get()).unwrap())
    }

    #[test]
    fn each_field_accepts_values_of_its_type() {
        let schema = r#"{"properties": {
            "zone": {"type": "string"}, "count": {"type": "integer"}, "share": {"type": "number"},
            "sure": {"type": "boolean"}, "size": {"type": "string", "enum": ["S", "L"]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}},
            "required": ["zone", "sure"]}"#;
        let form = form_of(schema).unwrap();
        let whole = filled(&form, &[&["here"], &["3"], &["0.5"], &["yes"], &["L"], &["a", "b"]]).unwrap();
        assert_eq!(
            whole,
            json!({"zone": "here", "count": 3, "share": 0.5, "sure": true, "size": "L", "tags": ["a", "b"]})
        );
        assert_eq!(filled(&form, &[&["x"], &[], &[""], &["no"]]).unwrap(), json!({"zone": "x", "sure": false}));
        for (answers, expected) in [
            (&[&["x"][..]][..], "the field \"sure\" requires an answer"),
            (&[&[][..], &[], &[], &["true"]], "the field \"zone\" requires an answer"),
            (&[&["x"], &["1.5"], &[], &["true"]], "the field \"count\" requires a whole number"),
            (&[&["x"], &[], &["much"], &["true"]], "the field \"share\" requires a number"),
            (&[&["x"], &[], &[], &["perhaps"]], "the field \"sure\" requires true or false"),
            (&[&["x"], &[], &[], &["true"], &["M"]], "the field \"size\" requires one of S, L"),
            (&[&["x"], &[], &[], &["true"], &[], &["a", "c"]], "the field \"tags\" requires one of a, b"),
            (&[&["x", "y"], &[], &[], &["true"]], "the field \"zone\" requires exactly one answer"),
            (
                &[&[], &[], &[], &[], &[], &[], &["more"]],
                "too many answers: the form has 6 fields, but 7 answers were given",
            ),
        ] {
            assert_eq!(filled(&form, answers).unwrap_err(), expected);
        }
    }

    #[test]
    fn only_forms_of_simple_fields_can_be_filled_in() {
        for (property, expected) in [
            (json!({"type": "object"}), "its field \"a\" is of the type \"object\""),
            (json!({"type": "array", "items": {"type": "object"}}), "its field \"a\" is of the type \"array\""),
            (json!({}), "its field \"a\" has no type"),
            (json!(true), "its field \"a\" is not described"),
        ] {
            assert_eq!(form(&json!({"properties": {"a": property}})).unwrap_err(), expected);
        }
        let many = |count: usize| -> serde_json::Map<String, Value> {
            (0..count).map(|nth| (nth.to_string(), json!({"type": "string"}))).collect()
        };
        assert!(form(&json!({"properties": many(MOST_FIELDS)})).is_ok());
        assert_eq!(form(&json!({"properties": many(MOST_FIELDS + 1)})).unwrap_err(), "it has more than 64 fields");
        assert!(form(&json!({})).unwrap().is_empty() && Form::asked(None, None).unwrap().is_empty());
        assert_eq!(form(&json!("text")).unwrap_err(), "its schema is no object");
        let text = json!({"properties": {"a": {"type": "string"}}}).to_string();
        let of_mode = |mode| Form::asked(mode, Some(Json::parse(&text).unwrap())).unwrap().is_empty();
        assert!(of_mode(Some("url")));
        assert!(!of_mode(None) && !of_mode(Some("form")) && !of_mode(Some("wizard")));
    }

    #[test]
    fn the_content_is_checked_by_the_whole_schema() {
        let of = |field: Value| form(&json!({"properties": {"a": field}, "required": ["a"]})).unwrap();
        for (field, words, expected) in [
            (json!({"type": "integer", "maximum": 5}), &["99"][..], "maximum of 5"),
            (json!({"type": "integer", "enum": [1, 2]}), &["7"], "1 or 2"),
            (json!({"type": "string", "maxLength": 2}), &["abc"], "longer than 2 characters"),
            (json!({"type": "string", "pattern": "^[a-z]+$"}), &["A"], "does not match"),
            (json!({"type": "string", "format": "email"}), &["nobody"], "\"email\""),
            (json!({"type": "string", "minLength": 1}), &[""], "shorter than 1 character"),
            (json!({"type": "array", "items": {"type": "string"}, "minItems": 1}), &[], "less than 1 item"),
            (json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}), &["x", "x"], "non-unique"),
        ] {
            let error = filled(&of(field), &[words]).unwrap_err();
            assert!(error.starts_with("the field \"a\" violates its schema: ") && error.contains(expected), "{error}");
            assert!(
                words.iter().all(|word| word.len() < 2 || !error.contains(word)),
                "the value may be a secret: {error}"
            );
        }
        assert_eq!(filled(&of(json!({"type": "string"})), &[&[""]]).unwrap(), json!({"a": ""}));
        assert_eq!(filled(&of(json!({"type": "string", "enum": ["", "x"]})), &[&[""]]).unwrap(), json!({"a": ""}));
        // Forms in other JSON Schema drafts work too. A schema that is invalid or needs remote references is rejected.
        let old =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"type": "string"}}});
        assert_eq!(filled(&form(&old).unwrap(), &[&["x"]]).unwrap(), json!({"a": "x"}));
        for field in [
            json!({"type": "string", "pattern": "("}),
            json!({"type": "string", "minLength": "many"}),
            json!({"type": "string", "allOf": [{"$ref": "https://example.com/other.json"}]}),
        ] {
            let error = form(&json!({"properties": {"a": field}})).unwrap_err();
            assert!(error.starts_with("its schema cannot be used: "), "{error}");
        }
        let nested = format!("{}{{}}{}", "{\"allOf\":[".repeat(100_000), "]}".repeat(100_000));
        let deep = format!(r#"{{"properties":{{"a":{{"type":"string","not":{nested}}}}}}}"#);
        assert!(Json::parse(&deep).map_or(true, |deep| Form::asked(None, Some(deep)).is_err()));
    }

    #[test]
    fn choices_with_titles_are_chosen_by_their_values() {
        let schema = json!({"properties": {
            "one": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
            "some": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}}});
        let form = form(&schema).unwrap();
        assert_eq!(filled(&form, &[&["r"], &["x"]]).unwrap(), json!({"one": "r", "some": ["x"]}));
        assert!(filled(&form, &[&["Red"]]).is_err());
    }
}
