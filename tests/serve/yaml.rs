//! Reads the part of YAML that the files in `packaging` use: mappings, lists, texts, numbers, anchors and merges. No dependency
//! of the proxy reads YAML.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// The documents of a file.
pub fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n").map(document).collect()
}

/// A file with one document.
pub fn document(text: &str) -> Value {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let lines: Vec<(usize, &str)> =
        lines.map(|line| (line.len() - line.trim_start().len(), line.trim_start())).collect();
    let mut reader = Reader { lines, at: 0, anchors: HashMap::new() };
    let value = reader.block(0);
    assert_eq!(reader.at, reader.lines.len(), "cannot be read: {:?}", reader.lines.get(reader.at));
    value
}

struct Reader<'t> {
    /// The indentation and the rest of each line.
    lines: Vec<(usize, &'t str)>,
    at: usize,
    anchors: HashMap<&'t str, Value>,
}

impl<'t> Reader<'t> {
    /// The next line if it has exactly this indentation.
    fn line(&self, indent: usize) -> Option<&'t str> {
        self.lines.get(self.at).filter(|(found, _)| *found == indent).map(|(_, text)| *text)
    }

    fn block(&mut self, indent: usize) -> Value {
        match self.line(indent) {
            Some(text) if text.starts_with("- ") => self.list(indent),
            Some(text) if entry(text).is_none() => {
                self.at += 1;
                scalar(text)
            }
            _ => self.mapping(indent),
        }
    }

    fn list(&mut self, indent: usize) -> Value {
        let mut items = Vec::new();
        while let Some(item) = self.line(indent).and_then(|text| text.strip_prefix("- ")) {
            // The item begins on the line of its dash.
            self.lines[self.at] = (indent + 2, item);
            items.push(self.block(indent + 2));
        }
        Value::Array(items)
    }

    fn mapping(&mut self, indent: usize) -> Value {
        let (mut fields, mut merged) = (Map::new(), Map::new());
        while let Some(text) = self.line(indent) {
            let (key, rest) = entry(text).unwrap_or_else(|| panic!("no mapping: {text:?}"));
            self.at += 1;
            if key == "<<" {
                let Value::Object(all) = &self.anchors[rest.strip_prefix('*').unwrap()] else { panic!("{text:?}") };
                merged.extend(all.clone());
                continue;
            }
            let anchor = rest.strip_prefix('&');
            let value = match (anchor.is_some() || rest.is_empty(), self.lines.get(self.at)) {
                (false, _) => scalar(rest),
                (true, Some((deeper, _))) if *deeper > indent => self.block(*deeper),
                (true, _) => Value::Null,
            };
            if let Some(name) = anchor {
                self.anchors.insert(name, value.clone());
            }
            assert!(fields.insert(key.to_owned(), value).is_none(), "{key:?} is there twice");
        }
        for (key, value) in merged {
            fields.entry(key).or_insert(value);
        }
        Value::Object(fields)
    }
}

/// The key and the rest of a line of a mapping.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
    (!key.starts_with(['"', '['])).then_some((key, rest.trim()))
}

fn scalar(text: &str) -> Value {
    if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return serde_json::from_str(text)
            .unwrap_or_else(|_| items.split(',').map(|item| scalar(item.trim())).collect());
    }
    assert!(!text.starts_with(['{', '|', '>', '\'', '*', '&', '!']), "not read here: {text:?}");
    // Texts in quotation marks, numbers and booleans are as in JSON.
    serde_json::from_str(text).unwrap_or_else(|_| {
        assert!(!text.contains(['"', '#']), "not read here: {text:?}");
        Value::String(text.to_owned())
    })
}

#[test]
fn the_part_of_yaml_that_is_used_is_read() {
    let text = "# a comment\nx-base: &base\n  image: a:1\n  # another\n  caps: [ALL, one]\n\nservices:\n  web:\n    <<: *base\n    \
                image: b:2\n    ports:\n      - \"80: 81\"\n      - name: x\n        port: 8\n      - y:z\n    none:\nlast: true";
    let base = serde_json::json!({"image": "a:1", "caps": ["ALL", "one"]});
    let web = serde_json::json!({"image": "b:2", "caps": ["ALL", "one"], "ports": ["80: 81", {"name": "x", "port": 8}, "y:z"],
                                 "none": null});
    assert_eq!(document(text), serde_json::json!({"x-base": base, "services": {"web": web}, "last": true}));
    assert_eq!(documents("a: 1\n---\nb: 2").len(), 2);
}
