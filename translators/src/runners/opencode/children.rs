//! The sessions of subagents in an exported session, as framegate's query of OpenCode's database adds them.
//!
//! Input: the member `children` of the document: sessions in the form of the document itself, with `parentID`. Output: which of them a task
//! call started, and their messages in the order of their times. Never: a message read twice; a message left out because no call names its
//! session.
//!
//! A call names its child in its metadata. A call that was stopped early may not; then the title of the child's session decides, which
//! begins with the description of the call.

use super::super::names::NameMap;
use super::export::Course;
use super::tools;
use crate::frame::SharedStr;
use crate::json::Object;
use crate::sequence::StreamKey;
use std::collections::VecDeque;
use uuid::Uuid;

/// The sessions of subagents of one document.
#[derive(Debug, Default)]
pub(super) struct Children<'d> {
    known: NameMap<Child<'d>>,
    /// Their ids as the document has them: a parent before its children.
    order: Vec<SharedStr>,
}

/// The session of a subagent.
#[derive(Debug, Default)]
pub(super) struct Child<'d> {
    /// The session that started it.
    pub(super) parent: SharedStr,
    title: Option<Box<str>>,
    /// Whether a task call names it.
    is_named: bool,
    /// The messages that were not read yet.
    messages: VecDeque<Object<'d>>,
    /// What was reported of it.
    pub(super) course: Course,
    /// The run in which it last worked, and the call for which it did.
    pub(super) worked_for: Option<(StreamKey, Uuid)>,
}

impl<'d> Children<'d> {
    /// The children of a document.
    pub(super) fn of(document: &Object<'d>) -> Self {
        let mut children = Self::default();
        let sessions: Vec<Object<'d>> = document.objects("children").collect();
        for session in &sessions {
            let info = session.object("info").unwrap_or_default();
            let id = SharedStr::from(&*info.str("id").unwrap_or_default());
            let child = Child {
                parent: SharedStr::from(&*info.str("parentID").unwrap_or_default()),
                title: info.str("title").map(Box::from),
                messages: session.objects("messages").collect(),
                ..Child::default()
            };
            if children.known.insert(id.clone(), child).is_none() {
                children.order.push(id);
            }
        }
        if !children.order.is_empty() {
            for message in
                document.objects("messages").chain(sessions.iter().flat_map(|child| child.objects("messages")))
            {
                for named in message.objects("parts").filter_map(|part| tools::child_of(&part)) {
                    if let Some(child) = children.known.get_mut(&*named) {
                        child.is_named = true;
                    }
                }
            }
        }
        children
    }

    /// The child that a part of a session's message started, if it is a task call.
    pub(super) fn of_call(&self, session: &str, part: &Object<'_>) -> Option<SharedStr> {
        if self.order.is_empty() || !tools::is_task(part) {
            return None;
        }
        if let Some(named) = tools::child_of(part) {
            return self.known.get_key_value(&*named).map(|(id, _)| id.clone());
        }
        let state = part.object("state").unwrap_or_default();
        let call = tools::task_call(Uuid::nil(), &state);
        let end_ms = state.object("time").and_then(|time| time.u64("end"));
        let is_titled = |child: &Child<'_>| child.title.as_deref().is_some_and(|title| call.is_titled(title));
        let is_meant = |child: &Child<'_>| {
            let has_begun = child.messages.front().is_some_and(|message| is_before(message, end_ms));
            has_begun && !child.is_named && child.worked_for.is_none() && *child.parent == *session && is_titled(child)
        };
        self.order.iter().find(|id| self.known.get(*id).is_some_and(is_meant)).cloned()
    }

    pub(super) fn get(&mut self, id: &str) -> Option<&mut Child<'d>> {
        self.known.get_mut(id)
    }

    /// The children with messages that were created before a time, in Unix epoch milliseconds, and not read.
    pub(super) fn waiting(&self, before_ms: Option<u64>) -> Vec<SharedStr> {
        let is_waiting =
            |child: &Child<'_>| child.messages.front().is_some_and(|message| is_before(message, before_ms));
        self.order.iter().filter(|id| self.known.get(*id).is_some_and(is_waiting)).cloned().collect()
    }
}

impl<'d> Child<'d> {
    /// Takes the next message, if it was created before a time, in Unix epoch milliseconds; the next one of all, without a time.
    pub(super) fn next_message(&mut self, before_ms: Option<u64>) -> Option<Object<'d>> {
        self.messages.pop_front_if(|message| is_before(message, before_ms))
    }
}

/// Whether a message was created before a time. A message without a time counts as old.
fn is_before(message: &Object<'_>, before_ms: Option<u64>) -> bool {
    let created_ms = message.object("info").and_then(|info| info.object("time")?.u64("created"));
    created_ms.zip(before_ms).is_none_or(|(created_ms, before_ms)| created_ms < before_ms)
}
