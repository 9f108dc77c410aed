//! The conversations of an input in JSON-RPC: whose turn an answer ends.
//!
//! Input: every record. Output: the conversation of the prompt that a record answers. Never: a guess, if the input has several
//! conversations and the prompts are not in it.

use super::ends::identity;
use super::pieces::{down, enter_all, top, value_behind};
use crate::hash::HashMap;
use crate::json::Object;
use crate::json::scan::Scan;
use memchr::memmem::Finder;

/// How records name their conversation.
#[derive(Debug)]
pub struct Naming {
    /// The key of the conversation's id in the parameters or the result. The [`identity`] of a conversation is that of this id.
    pub key: &'static str,
    /// The method of requests that begin a turn.
    pub prompt: &'static str,
}

/// The maximum number of prompts without an answer that are known.
const PROMPTS: usize = 256;

/// Whose prompt was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// That of this conversation.
    One(u64),
    /// That of the only conversation.
    TheOnly,
}

/// The conversations so far.
#[derive(Debug)]
pub(super) struct Conversations {
    naming: &'static Naming,
    /// The key in its quotes.
    key: Finder<'static>,
    prompt: Finder<'static>,
    first: Option<Box<[u8]>>,
    are_several: bool,
    /// The conversations of the prompts without an answer, by the id of the request. `None` if the input has no prompts.
    prompts: Option<HashMap<Box<str>, u64>>,
}

impl Conversations {
    pub(super) fn new(naming: &'static Naming) -> Self {
        let finder = |text: &str| Finder::new(&format!("\"{text}\"")).into_owned();
        Self {
            naming,
            key: finder(naming.key),
            prompt: finder(naming.prompt),
            first: None,
            are_several: false,
            prompts: None,
        }
    }

    /// Notes the conversation of a record, and its prompt.
    pub(super) fn note(&mut self, record: &[u8]) {
        let Some(at) = self.key.find(record) else { return };
        // The method is usually before the parameters, so that the rest need not be searched.
        let before = record.get(..at).unwrap_or_default();
        let searched = if memchr::memmem::find(before, b"\"method\"").is_some() { before } else { record };
        if self.prompt.find(searched).is_some() {
            self.note_prompt(record);
        }
        if self.are_several || self.is_first(record, at) {
            return;
        }
        let Some(id) = simdutf8::basic::from_utf8(record).ok().and_then(|record| self.of_part(record)) else { return };
        match &self.first {
            None => self.first = Some(id.as_bytes().into()),
            Some(first) => self.are_several = id.as_bytes() != &**first,
        }
    }

    /// Whether the key at a position is the first one of the parameters and names the first conversation. In a deeper object, such as a
    /// tool's arguments, it names nothing.
    fn is_first(&self, record: &[u8], at: usize) -> bool {
        let before = record.get(..at).unwrap_or_default().trim_ascii_end();
        let is_at_top = before.strip_suffix(b"{").is_some_and(|before| {
            let before = before.trim_ascii_end();
            before.strip_suffix(b":").is_some_and(|before| before.trim_ascii_end().ends_with(b"\"params\""))
        });
        let id = value_behind(record, at + self.key.needle().len());
        is_at_top && id.is_some() && id == self.first.as_deref()
    }

    /// The id in one of the objects at the top of a record, such as the parameters or the result.
    fn of_part<'t>(&self, record: &'t str) -> Option<&'t str> {
        let mut scan = Scan::new(top(record));
        while scan.key().is_some() {
            let mut part = scan;
            if enter_all(&mut part, &[self.naming.key]) {
                return part.value()?.strip_prefix('"')?.strip_suffix('"');
            }
            scan.value()?;
        }
        None
    }

    fn note_prompt(&mut self, record: &[u8]) {
        let Ok(record) = simdutf8::basic::from_utf8(record) else { return };
        // The method may also be a word in a text.
        if down(record, &["method"]).is_none_or(|method| method.trim_matches('"') != self.naming.prompt) {
            return;
        }
        let Some(object) = Object::parse(top(record)) else { return };
        let Some(params) = object.object("params") else { return };
        let (Some(id), Some(conversation)) = (object.some("id"), params.str(self.naming.key)) else { return };
        let prompts = self.prompts.get_or_insert_default();
        // The answer to a prompt that is not known ends nothing.
        if prompts.len() < PROMPTS {
            prompts.insert(id.text().into(), identity(&*conversation));
        }
    }

    /// Whose prompt a record answers. `None` if that is not known.
    pub(super) fn answered(&mut self, answer: &Object<'_>) -> Option<Answered> {
        match &mut self.prompts {
            Some(prompts) => prompts.remove(answer.get("id")?.text()).map(Answered::One),
            None => (!self.are_several).then_some(Answered::TheOnly),
        }
    }
}
