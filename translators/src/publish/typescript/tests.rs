//! The translation of each keyword.

use super::*;
use crate::contracts::{Contract, sse};
use crate::schema::SchemaFile;

fn of(text: &str) -> Result<String, Unsupported> {
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let schemas: &'static [SchemaFile] = Box::leak(Box::new([SchemaFile::new("a.b", text)]));
    typescript(&Contract { schemas, ..sse::V1 })
}

/// The type of a property with that schema.
fn property(schema: &str) -> String {
    let whole =
        of(&format!(r#"{{"type":"object","additionalProperties":false,"properties":{{"p":{schema}}}}}"#)).unwrap();
    let from = whole.find("  p?: ").unwrap() + "  p?: ".len();
    whole[from..].strip_suffix(";\n}\n").unwrap().to_owned()
}

#[test]
fn each_schema_becomes_its_type() {
    for (schema, expected) in [
        ("{}", "unknown"),
        ("true", "unknown"),
        ("false", "never"),
        (r#"{"type":"string","format":"uuid"}"#, "string"),
        (r#"{"type":"integer"}"#, "number"),
        (r#"{"type":["integer","number","null"]}"#, "number | null"),
        (r#"{"const":"x"}"#, "\"x\""),
        (r#"{"type":"string","enum":["x","y",null]}"#, "\"x\" | \"y\" | null"),
        (r#"{"type":"array"}"#, "unknown[]"),
        (r#"{"type":"array","items":{"type":["string","null"]}}"#, "(string | null)[]"),
        (r#"{"type":"object"}"#, "{\n    [key: string]: unknown;\n  }"),
        (r#"{"type":"object","additionalProperties":{"type":"number"}}"#, "{\n    [key: string]: number;\n  }"),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}"#,
            "{\n    a?: string;\n    [key: string]: unknown;\n  }",
        ),
        (
            r#"{"type":["object","null"],"additionalProperties":false,"required":["b-c"],"properties":{"b-c":{"const":1}}}"#,
            "{\n    \"b-c\": 1;\n  } | null",
        ),
        (r#"{"anyOf":[{"type":"string"},{"type":"null"},{"type":"string"}]}"#, "string | null"),
        (r#"{"anyOf":[{"type":"string"},{}]}"#, "unknown"),
        (
            r##"{"allOf":[{"$ref":"#/$defs/x"},{"oneOf":[{"$ref":"#/$defs/y z"},{"type":"null"}]}]}"##,
            "ABEventX & (ABEventYZ | null)",
        ),
        (r#"{"type":"string","not":{"const":"x"}}"#, "string"),
    ] {
        assert_eq!(property(schema), expected, "{schema}");
    }
}

#[test]
fn an_event_is_an_interface_with_doc_comments() {
    let text =
        of(r##"{"description":"What a */ b is.","type":"object","required":["type"],"additionalProperties":false,
            "properties":{"type":{"const":"a.b","description":"Its type."},
                          "n":{"type":"integer","minimum":0,"description":"How\nmany."}},
            "$defs":{"x":{"type":["string","null"],"description":"An x."}}}"##)
        .unwrap();
    let expected = r#"
/** What a *\/ b is. */
export interface ABEvent {
  /** Its type. */
  type: "a.b";
  /**
   * How
   * many.
   * @minimum 0
   */
  n?: number;
}

/** An x. */
export type ABEventX = string | null;
"#;
    assert!(text.ends_with(expected), "{text}");
    assert!(text.contains("export type SseV1Event = SseV1Events[SseV1EventType];"), "{text}");
    assert!(text.contains("export interface SseV1Events {\n  \"a.b\": ABEvent;\n}\n"), "{text}");
}

#[test]
fn shared_properties_are_in_an_envelope() {
    let file = |kind, text| SchemaFile::new(kind, text);
    let schemas: &'static [SchemaFile] = Box::leak(Box::new([
        file(
            "a",
            r#"{"type":"object","additionalProperties":false,"required":["id","n","type"],"properties":
                {"id":{"type":"string"},"n":{"type":"integer"},"m":{"type":"null"},"type":{"const":"a"}}}"#,
        ),
        file(
            "b",
            r#"{"type":"object","additionalProperties":false,"required":["id","type"],"properties":
                {"type":{"const":"b"},"id":{"type":"string"},"n":{"type":"integer"},"m":{"type":"null"}},
                "anyOf":[{"type":"object"}]}"#,
        ),
    ]));
    let text = typescript(&Contract { schemas, ..sse::V1 }).unwrap();
    let expected = r#"
/** The properties that all events of sse.v1 have. */
export interface SseV1Envelope {
  id: string;
  m?: null;
}

export interface AEvent extends SseV1Envelope {
  n: number;
  type: "a";
}

export type BEvent = SseV1Envelope & {
  type: "b";
  n?: number;
} & {
  [key: string]: unknown;
};
"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn unsupported_keywords_are_rejected_with_their_pointer() {
    for (schema, keyword, pointer) in [
        (r#"{"type":"object","patternProperties":{}}"#, "patternProperties", ""),
        (
            r#"{"type":"object","properties":{"a/b":{"type":"array","prefixItems":[]}}}"#,
            "prefixItems",
            "/properties/a~1b",
        ),
        (r#"{"properties":{}}"#, "properties or items without a type", ""),
        (r#"{"$ref":"other.json"}"#, "a $ref to another document", ""),
        (r#"{"const":{}}"#, "const or enum with an array or object", ""),
        (r#"{"type":"strin"}"#, "the type \"strin\"", ""),
        ("3", "a value that is not a schema", ""),
    ] {
        let refused = of(schema).unwrap_err();
        assert_eq!((refused.keyword.as_str(), refused.pointer.as_str()), (keyword, pointer), "{schema}");
    }
}
