//! A user's answers to a runner's question, as text.
//!
//! Input: the arguments of the question, and the answers. Output: text for a frame, without secrets. Never: an answer to a
//! question that is marked as secret, or whose name is a secret key.

use super::KEY_RULE;
use super::Rules;
use super::record::plain;
use crate::frame::RawJson;
use crate::json::{Json, Object};

/// The question, or field of a form, that an answer belongs to.
#[derive(Default)]
struct Wanted {
    /// Which of the fields in [`NAMES`] it has. Answers refer to a question by one of them.
    named_by: [bool; NAMES.len()],
    /// All its names.
    names: Vec<String>,
    /// Whether the question itself is marked as secret.
    is_secret: bool,
}

/// The fields that name a question.
const NAMES: [&str; 3] = ["id", "header", "question"];

/// The chosen or written answers, one line per question. `None` if there is no text. `args` are the known arguments of the
/// question. Without rules, answers to questions that are marked as secret are redacted all the same.
pub fn words_of(rules: Option<&Rules>, args: &[&RawJson], answers: &[Vec<String>]) -> Option<String> {
    let is_one = |wanted: &Wanted| {
        let has = |name: &String| rules.is_some_and(|rules| rules.is_secret_name(name));
        wanted.is_secret || wanted.names.iter().any(has)
    };
    let read: Vec<Vec<bool>> = args.iter().map(|args| wanted(args).iter().map(is_one).collect()).collect();
    // If there are more answers than questions, the question of an extra answer is unknown.
    let beyond: Vec<bool> = read.iter().map(|secrets| secrets.contains(&true)).collect();
    let is_secret = |nth: usize| read.iter().zip(&beyond).any(|(secrets, beyond)| *secrets.get(nth).unwrap_or(beyond));
    let word = |nth: usize, words: &Vec<String>| {
        let answer = words.join(", ");
        match rules {
            _ if !answer.is_empty() && is_secret(nth) => format!("[REDACTED:{KEY_RULE}]"),
            Some(rules) => rules.without_secrets(&answer),
            None => answer,
        }
    };
    let lines: Vec<String> = answers.iter().enumerate().map(|(nth, words)| word(nth, words)).collect();
    let text = lines.join("\n");
    (!text.is_empty()).then_some(text)
}

impl Rules {
    /// Redacts a text that is not part of a record.
    pub fn without_secrets(&self, text: &str) -> String {
        let mut edits = Vec::new();
        plain(self, text.as_bytes(), &mut edits);
        String::from_utf8_lossy(&self.apply(text.as_bytes(), &mut edits)).into_owned()
    }

    /// Whether a name belongs to a secret: a key, or a sentence that ends in one (`Your API key?`).
    fn is_secret_name(&self, name: &str) -> bool {
        self.in_json && self.keys.has(name.trim_matches(|char: char| !char.is_alphanumeric()))
    }
}

/// The questions, or the fields of a form, in order.
fn wanted(args: &RawJson) -> Vec<Wanted> {
    let Some(args) = Json::new(args).object() else { return Vec::new() };
    let questions: Vec<Object<'_>> = args.items("questions").into_iter().filter_map(Json::object).collect();
    if !questions.is_empty() {
        return in_doubt(questions.iter().map(question).collect());
    }
    let schema = args.object("requestedSchema").or_else(|| args.object("requested_schema"));
    let Some(fields) = schema.and_then(|schema| schema.object("properties")) else { return Vec::new() };
    fields.iter().map(|(name, about)| field(name, about.object())).collect()
}

fn question(question: &Object<'_>) -> Wanted {
    let values = NAMES.map(|key| question.str(key));
    Wanted {
        named_by: values.each_ref().map(Option::is_some),
        names: values.into_iter().flatten().map(|name| name.into_owned()).collect(),
        is_secret: ["isSecret", "is_secret"].into_iter().any(|key| question.bool(key) == Some(true)),
    }
}

fn field(name: &str, about: Option<Object<'_>>) -> Wanted {
    let about = about.unwrap_or_default();
    let names = std::iter::once(name.to_owned()).chain(about.str("title").map(|title| title.into_owned()));
    let is_secret = about.str("format").as_deref() == Some("password") || about.bool("writeOnly") == Some(true);
    Wanted { names: names.collect(), is_secret, ..Wanted::default() }
}

/// Clients skip questions without a name, but differ in the field that they use as the name. If the questions do not all have
/// the same fields, it is unknown which answer belongs to which question. Each answer then counts as one to all of them.
fn in_doubt(wanted: Vec<Wanted>) -> Vec<Wanted> {
    let first = wanted.first().map(|wanted| wanted.named_by);
    if wanted.iter().all(|wanted| Some(wanted.named_by) == first) {
        return wanted;
    }
    let is_secret = wanted.iter().any(|wanted| wanted.is_secret);
    let names = wanted.into_iter().flat_map(|wanted| wanted.names).collect();
    vec![Wanted { names, is_secret, ..Wanted::default() }]
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;
    use crate::json::to_raw;
    use serde_json::{Value, json};

    fn redacted(args: &Value, answers: &[&[&str]]) -> Option<String> {
        told_by(Some(&Rules::new(Settings::default()).unwrap()), args, answers)
    }

    fn told_by(rules: Option<&Rules>, args: &Value, answers: &[&[&str]]) -> Option<String> {
        let answers: Vec<Vec<String>> =
            answers.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect();
        words_of(rules, &[&to_raw(args)], &answers)
    }

    #[test]
    fn answers_to_secret_questions_are_redacted() {
        let args = json!({"questions": [{"id": "who", "isSecret": false}, {"id": "pin", "isSecret": true}]});
        let answers: &[&[&str]] = &[&["ann"], &["hunter two"]];
        assert_eq!(redacted(&args, answers).unwrap(), "ann\n[REDACTED:key]");
        assert_eq!(told_by(None, &args, answers).unwrap(), "ann\n[REDACTED:key]", "without rules too");
        assert_eq!(redacted(&args, &[&["ann"], &[""]]).unwrap(), "ann\n", "nothing was written there");
        assert_eq!(redacted(&args, &[&["ann"], &["x"], &["y"]]).unwrap(), "ann\n[REDACTED:key]\n[REDACTED:key]");
        let form = json!({"requestedSchema": {"properties": {
            "pin": {"type": "string", "format": "password"}, "code": {"type": "string", "writeOnly": true}}}});
        assert_eq!(told_by(None, &form, &[&["1"], &["2"]]).unwrap(), "[REDACTED:key]\n[REDACTED:key]");
    }

    #[test]
    fn answers_to_questions_with_secret_names_are_redacted() {
        for schema in ["requestedSchema", "requested_schema"] {
            let form = json!({schema: {"properties": {
                "area": {"type": "string"}, "dbApiKey": {}, "one": {"title": "API token"}, "password": {"type": "string"}}}});
            let answers: &[&[&str]] = &[&["here"], &["h2"], &["h3"], &["hunter two"]];
            let mark = "[REDACTED:key]";
            assert_eq!(redacted(&form, answers).unwrap(), format!("here\n{mark}\n{mark}\n{mark}"));
            assert_eq!(told_by(None, &form, answers).unwrap(), "here\nh2\nh3\nhunter two");
            let rules = Rules::new(Settings { disabled: vec!["key".to_owned()], ..Settings::default() }).unwrap();
            assert_eq!(told_by(Some(&rules), &form, answers).unwrap(), "here\nh2\nh3\nhunter two");
        }
        for question in ["What is the API key?", "Your database password:"] {
            let args = json!({"questions": [{"question": question}, {"question": "Which colour?"}]});
            assert_eq!(redacted(&args, &[&["hunter"], &["Red", "Blue"]]).unwrap(), "[REDACTED:key]\nRed, Blue");
        }
    }

    #[test]
    fn answers_are_redacted_if_their_questions_are_unknown() {
        let args = json!({"questions": [{"header": "who"}, {"id": "pin", "header": "pin", "isSecret": true}]});
        assert_eq!(redacted(&args, &[&["hunter"]]).unwrap(), "[REDACTED:key]");
        let args = json!({"questions": [{"header": "who"}, {"id": "what", "header": "what"}]});
        assert_eq!(redacted(&args, &[&["me"]]).unwrap(), "me");
        // Both questions have two names, but not the same ones. It depends on the client which of them is skipped.
        let args = json!({"questions": [
            {"header": "a", "question": "b"}, {"id": "pin", "header": "c", "isSecret": true}]});
        assert_eq!(redacted(&args, &[&["hunter"]]).unwrap(), "[REDACTED:key]");
        assert_eq!(redacted(&args, &[&["hunter"], &["two"]]).unwrap(), "[REDACTED:key]\n[REDACTED:key]");
    }

    #[test]
    fn many_ambiguous_questions_are_read_once() {
        let mut questions = vec![json!({"header": "a"})];
        questions.resize(40_000, json!({"id": "b"}));
        let text = redacted(&json!({"questions": questions}), &vec![&["x"] as &[&str]; 40_000]).unwrap();
        assert_eq!(text.lines().filter(|line| *line == "x").count(), 40_000);
    }

    #[test]
    fn a_secret_format_in_an_answer_is_redacted_anywhere() {
        let secret = "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX";
        for args in [json!({}), json!({"questions": [{"id": "what"}]}), json!([]), json!({"questions": 1})] {
            let answer = format!("it is {secret}, and {secret}");
            let mark = "[REDACTED:github-token]";
            assert_eq!(redacted(&args, &[&["a", &answer]]).unwrap(), format!("a, it is {mark}, and {mark}"));
            assert_eq!(redacted(&args, &[&["DB_PASSWORD=q7ZkVx2m9pp"]]).unwrap(), "DB_PASSWORD=[REDACTED:assignment]");
            assert_eq!(redacted(&args, &[&["plain \u{e9} \\n text"]]).unwrap(), "plain \u{e9} \\n text");
            assert_eq!(redacted(&args, &[&[], &[""]]).as_deref(), Some("\n"));
            assert_eq!(redacted(&args, &[]), None);
        }
    }
}
