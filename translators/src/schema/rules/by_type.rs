//! Rules by type of value: `type`, with only an `allOf` of branches whose `if` is a type and whose `then` is a schema.
//!
//! Input: such a schema, once; then values. Output: whether a value certainly conforms to the rules for its type. Never: `true` for
//! a type that the list does not name.

use super::compile::Document;
use super::{ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, Rules, STRING};
use crate::json::scan::Scan;
use crate::json::{Json, Kind, Object};

#[derive(Debug)]
pub(in super::super) struct ByType(Vec<(Kind, Rules)>);

impl ByType {
    /// Compiles the schema; `None` if it has another form.
    pub(super) fn compile(map: &Object<'_>, document: Document<'_>) -> Option<Self> {
        let types: Vec<_> = map.get("type")?.items().into_iter().map(Json::str).collect::<Option<_>>()?;
        let mut branches: Vec<(Kind, Rules)> = Vec::new();
        for branch in map.items("allOf") {
            let branch = branch.object().filter(|branch| branch.len() == 2)?;
            let when = branch.object("if").filter(|when| when.len() == 1)?;
            let kind = match &*when.str("type")? {
                "null" => Kind::Null,
                "boolean" => Kind::Bool,
                "string" => Kind::String,
                "array" => Kind::Array,
                "object" => Kind::Object,
                _ => return None,
            };
            if branches.iter().any(|(known, _)| *known == kind) {
                return None;
            }
            branches.push((kind, Rules::within_document(branch.get("then")?, document)?));
        }
        let are_the_types = types.len() == branches.len()
            && types.iter().all(|name| branches.iter().any(|(kind, _)| kind.as_str() == name));
        (!branches.is_empty() && are_the_types).then_some(Self(branches))
    }

    fn of(&self, scan: &mut Scan<'_>) -> Option<&Rules> {
        let kind = match scan.peek()? {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => Kind::Number,
        };
        self.rules(kind)
    }

    /// The rules for values of a type.
    pub(in super::super) fn rules(&self, kind: Kind) -> Option<&Rules> {
        self.0.iter().find(|(known, _)| *known == kind).map(|(_, rules)| rules)
    }

    /// The rules for each type, which is given as a bit.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &Rules)> {
        let bit = |kind: Kind| match kind {
            Kind::Null => NULL,
            Kind::Bool => BOOLEAN,
            Kind::Number => INTEGER | FRACTION,
            Kind::String => STRING,
            Kind::Array => ARRAY,
            Kind::Object => OBJECT,
        };
        self.0.iter().map(move |(kind, rules)| (bit(*kind), rules))
    }

    /// Whether the value at this place conforms to the rules for its type.
    pub(super) fn read(&self, scan: &mut Scan<'_>) -> bool {
        self.of(scan).is_some_and(|rules| rules.reads(scan))
    }
}
