//! Decides from the shape of an event alone whether it is valid.
//!
//! Input: the keys of an event and the kind of each value, as its writer recorded them. Output: `true` if every event of that shape
//! is valid. Never: `true` if validity depends on a value.

use crate::encode::{Field, Kind};
use crate::schema::rules::{Format, ObjectRules, Rest, Rules, StringRules};
use std::slice::Iter;

/// Whether every event with these fields is valid.
pub(in crate::schema) fn is_always_valid(rules: &Rules, fields: &[Field]) -> bool {
    let mut fields = fields.iter();
    accepts_every_object(rules, &mut fields) && fields.as_slice().is_empty()
}

/// Whether every object with the next fields, up to their end, is valid.
fn accepts_every_object(rules: &Rules, fields: &mut Iter<'_, Field>) -> bool {
    if rules.any {
        skip(fields);
        return true;
    }
    let object = rules.object.as_deref().filter(|_| rules.by_type.is_none());
    object.is_some_and(|object| accepts_all_fields(object, fields))
}

fn accepts_all_fields(object: &ObjectRules, fields: &mut Iter<'_, Field>) -> bool {
    let all = fields.clone();
    let (mut seen, mut word) = (0, None);
    while let Some(field) = fields.next() {
        if let (Kind::Word(of_type), Some(variants)) = (field.kind, &object.variants)
            && field.key.name() == variants.key()
        {
            word = Some(of_type);
        }
        let property = match (field.kind, object.position(field.key.name())) {
            (Kind::End, _) => break,
            (_, None) if matches!(object.rest, Rest::Open) => None,
            (_, None) => return false,
            (_, Some(at)) => {
                seen |= 1 << at;
                object.properties.get(at).map(|(_, rules)| rules)
            }
        };
        let fits = match (field.kind, property) {
            (Kind::Fields | Kind::Items, None) => {
                skip(fields);
                true
            }
            (Kind::Fields, Some(rules)) => accepts_every_object(rules, fields),
            (Kind::Items, Some(rules)) => accepts_every_array(rules, fields),
            (kind, Some(rules)) => accepts_every(rules, kind),
            (_, None) => true,
        };
        if !fits {
            return false;
        }
    }
    // Each key is written once, so the word decides which rules apply.
    let fits_its_type = object.variants.as_ref().is_none_or(|variants| {
        word.is_some_and(|word| variants.of_word(word).all(|rules| accepts_every_object(rules, &mut all.clone())))
    });
    seen & object.required == object.required && fits_its_type
}

/// Whether every array of objects of the next shapes is valid.
fn accepts_every_array(rules: &Rules, shapes: &mut Iter<'_, Field>) -> bool {
    let array = rules.array.as_ref().filter(|array| rules.by_type.is_none() && array.min_items <= 1);
    match array.map(|array| &array.items) {
        _ if rules.any => skip(shapes),
        Some(None) => skip(shapes),
        Some(Some(items)) => {
            while let Some(Field { kind: Kind::Fields, .. }) = shapes.next() {
                if !accepts_every_object(items, shapes) {
                    return false;
                }
            }
        }
        None => return false,
    }
    true
}

/// Whether every value of that kind is valid.
fn accepts_every(rules: &Rules, kind: Kind) -> bool {
    if rules.any {
        return true;
    }
    if rules.by_type.is_some() {
        return false;
    }
    let string = |fits: &dyn Fn(&StringRules) -> bool| rules.string.as_ref().is_some_and(fits);
    match kind {
        Kind::Null => rules.null,
        Kind::Bool => rules.bool,
        Kind::Unsigned => {
            let is_low = rules.minimum.is_none_or(|bound| bound <= 0.0);
            (rules.integer || rules.number) && is_low && rules.maximum.is_none()
        }
        Kind::Integer => {
            let is_low = rules.minimum.is_none_or(|bound| bound <= f64::from(i32::MIN));
            let is_high = rules.maximum.is_none_or(|bound| bound >= f64::from(i32::MAX));
            (rules.integer || rules.number) && is_low && is_high
        }
        Kind::Number => rules.number && rules.minimum.is_none() && rules.maximum.is_none(),
        Kind::Amount => rules.number && rules.minimum.is_none_or(|bound| bound <= 0.0) && rules.maximum.is_none(),
        Kind::Uuid => string(&|rules| accepts_every_string(rules, 36, |format| format.is_uuid())),
        Kind::Time => string(&|rules| accepts_every_string(rules, 20, |format| !format.is_uuid())),
        Kind::Ulid(prefix) => string(&|rules| {
            let is_prefix = rules.ulid.as_deref().is_none_or(|wanted| wanted == prefix);
            let rest = StringRules { ulid: None, ..rules.clone() };
            is_prefix && accepts_every_string(&rest, 26, |_| false)
        }),
        Kind::EmptyText => string(&|rules| rules.is_free() && rules.min_length == 0),
        Kind::Text => string(&|rules| rules.is_free() && rules.min_length <= 1),
        Kind::Word(word) => string(&|rules| rules.accepts_plain(word)),
        Kind::EmptyArray => rules.array.as_ref().is_some_and(|array| array.min_items == 0),
        Kind::Texts => rules.array.as_ref().is_some_and(|array| {
            let accepts_all = |items: &Rules| accepts_every(items, Kind::EmptyText) && accepts_every(items, Kind::Text);
            array.min_items <= 1 && array.items.as_deref().is_none_or(accepts_all)
        }),
        Kind::Object => rules.object.as_deref().is_some_and(ObjectRules::is_free),
        // These are decided by what follows them, which is handled elsewhere.
        Kind::Fields | Kind::Items | Kind::End | Kind::Unknown => false,
    }
}

/// Whether every string of at least this length is valid, if it has the formats that `has` accepts.
fn accepts_every_string(rules: &StringRules, length: usize, has: impl Fn(Format) -> bool) -> bool {
    let unformed = StringRules { format: None, ..rules.clone() };
    unformed.is_free() && rules.min_length <= length && rules.format.is_none_or(has)
}

/// Skips past the end of the current object or array.
fn skip(fields: &mut Iter<'_, Field>) {
    let mut open = 1;
    while open > 0
        && let Some(field) = fields.next()
    {
        match field.kind {
            Kind::Fields | Kind::Items => open += 1,
            Kind::End => open -= 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Key;
    use crate::json::Json;

    #[test]
    fn a_shape_is_not_cached_if_a_value_matters() {
        let schema = r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{
            "a":{"type":"integer","minimum":1},"b":{"type":"string","minLength":2},"c":{"enum":["x"]},
            "d":{"type":"string","format":"date-time"},"e":{"type":"object","required":["f"]},
            "g":{"type":"array","items":{"type":"string","minLength":1}},"h":{"type":"string"},"i":{"type":"number"}}}"#;
        let rules = Rules::compile(Json::parse(schema).unwrap()).unwrap();
        let free = Rules::compile(
            Json::parse(&schema.replace("\"a\":{\"type\":\"integer\",\"minimum\":1}", "\"a\":{\"type\":\"integer\"}"))
                .unwrap(),
        )
        .unwrap();
        let field = |key, kind| Field { key: Box::leak(Box::new(Key::new(key, ""))), kind };
        let a = field("a", Kind::Unsigned);
        assert!(!is_always_valid(&rules, &[a]) && is_always_valid(&free, &[a]));
        for (key, kind, expected) in [
            ("b", Kind::Text, false),
            ("c", Kind::Text, false),
            ("c", Kind::Word("x"), true),
            ("c", Kind::Word("y"), false),
            ("d", Kind::Text, false),
            ("d", Kind::Uuid, false),
            ("e", Kind::Object, false),
            ("g", Kind::Texts, false),
            ("g", Kind::EmptyArray, true),
            ("h", Kind::Text, true),
            ("h", Kind::Uuid, true),
            ("h", Kind::Null, false),
            ("i", Kind::Integer, true),
            ("i", Kind::Number, true),
            ("i", Kind::Unknown, false),
            ("z", Kind::Text, false),
        ] {
            assert_eq!(is_always_valid(&free, &[a, field(key, kind)]), expected, "{key} {kind:?}");
        }
        assert!(!is_always_valid(&free, &[field("h", Kind::Text)]), "a is missing");
    }

    #[test]
    fn the_word_of_the_type_decides_which_rules_apply() {
        let schema = r#"{"type":"object","additionalProperties":false,"required":["type"],
            "properties":{"type":{"enum":["a","b"]},"x":{"type":["string","null"]},"y":{"type":"integer"}},"allOf":[
                {"if":{"required":["type"],"properties":{"type":{"const":"a"}}},"then":{"required":["x"],"properties":{"x":{"type":"string"}}}},
                {"if":{"required":["type"],"properties":{"type":{"const":"b"}}},"then":{"required":["y"],"properties":{"y":true}}}]}"#;
        let rules = Rules::compile(Json::parse(schema).unwrap()).unwrap();
        let field = |key, kind| Field { key: Box::leak(Box::new(Key::new(key, ""))), kind };
        let (x, none, y) = (field("x", Kind::Text), field("x", Kind::Null), field("y", Kind::Integer));
        for (kind, more, expected) in [
            (Kind::Word("a"), &[x][..], true),
            (Kind::Word("a"), &[x, y], true),
            (Kind::Word("a"), &[y], false),
            (Kind::Word("a"), &[none], false),
            (Kind::Word("b"), &[y, none], true),
            (Kind::Word("b"), &[x], false),
            (Kind::Word("c"), &[x, y], false),
            (Kind::Text, &[x, y], false),
        ] {
            let fields: Vec<Field> = [&[field("type", kind)], more].concat();
            assert_eq!(is_always_valid(&rules, &fields), expected, "{kind:?} {more:?}");
        }
        assert!(!is_always_valid(&rules, &[x, y]), "the type is missing");
    }
}
