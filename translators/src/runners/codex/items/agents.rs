//! Subagents: threads started by another thread.
//!
//! Input: items that start agents or report their state; in session files also the outputs of such calls, and notices for the
//! model. Output: one tool call per item, `subagent_started` and
//! `subagent_ended`, and the target of the child's own records. Never: two starts or two ends for one agent.

use super::super::super::names::NameMap;
use super::super::snake;
use super::super::thread_context::ThreadContext;
use super::{Item, Status, outputs::error_text};
use crate::frame::{OutputStream, SharedStr, ToolKind};
use crate::json::{Json, Kind, Object, to_raw};
use crate::normalizer::Target;
use crate::sequence::StreamKey;
use std::borrow::Cow;
use uuid::Uuid;

/// A thread that another one started.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Child {
    /// The call that started it.
    pub(in super::super) tool: Uuid,
    /// The target of that call.
    pub(in super::super) parent: Target,
    /// 1 for a child of the main thread.
    pub(in super::super) depth: u32,
}

/// The known children, by thread id.
#[derive(Debug, Default)]
pub(in super::super) struct Agents {
    children: NameMap<Child>,
    /// The models of children, if the parent's thread named them.
    models: NameMap<SharedStr>,
    /// The calls that are starting agents, oldest first. A child may speak before its call names it.
    spawning: Vec<Spawn>,
}

/// A call that is starting an agent.
#[derive(Debug)]
struct Spawn {
    child: Child,
    prompt: Option<String>,
    /// Whether its child is known, or a thread was taken for it.
    adopted: bool,
}

impl Agents {
    pub(in super::super) fn child(&self, thread: &str) -> Option<Child> {
        self.children.get(thread).copied()
    }

    /// The model of a child, as the thread that started it reports it.
    pub(in super::super) fn model(&self, thread: &str) -> Option<SharedStr> {
        self.models.get(thread).cloned()
    }

    /// Notes the model that an item names for a child. It is "" while the child starts.
    fn note_model(&mut self, item: &Item<'_>, thread: &str) {
        if let Some(model) = item.str("model", "model").filter(|model| !model.is_empty()) {
            self.models.insert(SharedStr::from(thread), SharedStr::from(&*model));
        }
    }

    /// Adopts a thread that no call has named: it is the child of the oldest call in its run that is starting an agent and has no
    /// child yet. Returns the child and its task.
    pub(in super::super) fn adopt(&mut self, thread: &str, run: StreamKey) -> Option<(Child, Option<String>)> {
        let is_free = |spawn: &&mut Spawn| spawn.child.parent.stream == run && !spawn.adopted;
        let spawn = self.spawning.iter_mut().find(is_free)?;
        spawn.adopted = true;
        self.children.insert(SharedStr::from(thread), spawn.child);
        Some((spawn.child, spawn.prompt.clone()))
    }

    /// The task of a child whose call is still starting it.
    pub(in super::super) fn task(&self, child: Child) -> Option<String> {
        let spawn = self.spawning.iter().find(|spawn| spawn.child.tool == child.tool)?;
        spawn.prompt.clone()
    }

    /// Handles a call that manages agents: start, message, wait or close.
    pub(super) fn collab(&mut self, context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
        let tool = item.str("tool", "tool").map(|tool| snake(&tool)).unwrap_or_default();
        context.begin(&item.id, "collab_tool_call", ToolKind::Subagent, || args(item, &tool));
        let spawns = tool.starts_with("spawn");
        let receivers = item.get("receiver_thread_ids", "receiverThreadIds").map(Json::items).unwrap_or_default();
        if spawns {
            // The call's own word about its children replaces what was assumed.
            for receiver in receivers.iter().filter_map(|receiver| receiver.str()) {
                let child = child_of(context, &item.id);
                self.children.insert(SharedStr::from(&*receiver), child);
                self.note_model(item, &receiver);
            }
        }
        if !done {
            if spawns {
                self.spawns(context, item, !receivers.is_empty());
            }
            return;
        }
        if spawns {
            let tool = context.tool(&item.id).id;
            self.spawning.retain(|spawn| spawn.child.tool != tool);
            let prompt = item.str("prompt", "prompt").map(Cow::into_owned);
            for receiver in receivers.into_iter().filter_map(Json::str) {
                let agent = nickname(item, &receiver);
                self.started(context, &item.id, &receiver, agent, prompt.clone());
            }
        }
        let states = item.get("agents_states", "agentsStates");
        if let Some(states) = states.filter(|states| states.object().is_some_and(|states| !states.is_empty())) {
            context.output(&item.id, OutputStream::Stdout, states.text());
            for (thread, state) in states.object().unwrap_or_default().iter() {
                stood(context, thread, state);
            }
        }
        if let Some(error) = item.get("error", "error") {
            context.output(&item.id, OutputStream::Stderr, error_text(error));
        }
        match item.status() {
            Some(Status::Declined) => context.fail(&item.id, "declined"),
            Some(Status::Interrupted) => context.fail(&item.id, "interrupted"),
            status => context.end(&item.id, i32::from(status == Some(Status::Failed)), item.duration_ms()),
        }
    }

    /// Notes a call that is starting an agent; `is_named` if it says which thread that is.
    fn spawns(&mut self, context: &mut ThreadContext<'_>, item: &Item<'_>, is_named: bool) {
        let child = child_of(context, &item.id);
        if let Some(spawn) = self.spawning.iter_mut().find(|spawn| spawn.child.tool == child.tool) {
            spawn.adopted |= is_named;
            return;
        }
        let prompt = item.str("prompt", "prompt").filter(|prompt| !prompt.is_empty()).map(Cow::into_owned);
        self.note_spawn(Spawn { child, prompt, adopted: is_named }, context.normalizer.most_open());
    }

    fn note_spawn(&mut self, spawn: Spawn, most: usize) {
        if self.spawning.len() >= most {
            self.spawning.remove(0);
        }
        self.spawning.push(spawn);
    }

    /// Handles an agent's activity, for versions whose calls have no item.
    pub(super) fn activity(&mut self, context: &mut ThreadContext<'_>, item: &Item<'_>) {
        let thread = item.str("agent_thread_id", "agentThreadId").unwrap_or_default();
        match &*item.str("kind", "kind").unwrap_or_default() {
            "started" => {
                // If the model's call is reported too, its output ends it.
                if !context.runs(&item.id) {
                    context.begin(&item.id, &item.word, ToolKind::Subagent, || item.rest(&[]));
                    context.end(&item.id, 0, item.duration_ms());
                }
                let agent = item.str("agent_path", "agentPath").map(|path| SharedStr::from(&*path));
                self.note_model(item, &thread);
                self.started(context, &item.id, &thread, agent, None);
            }
            kind @ ("completed" | "interrupted") => {
                context.normalizer.subagent_ended(context.target.stream, &thread, kind, None);
            }
            _ => {}
        }
    }

    /// Notes a call of the model that starts an agent, as session files have it. An item or the call's output names the agent.
    pub(in super::super) fn asked(&mut self, context: &mut ThreadContext<'_>, call_id: &str, prompt: Option<String>) {
        let child = child_of(context, call_id);
        self.note_spawn(Spawn { child, prompt, adopted: false }, context.normalizer.most_open());
    }

    /// Handles the output of a call that manages agents. In files without items for such calls, only the outputs name the agents
    /// and report their states.
    pub(in super::super) fn answered(&mut self, context: &mut ThreadContext<'_>, call_id: &str, output: &str) {
        let tool = context.tool(call_id).id;
        let spawn = self.spawning.iter().position(|spawn| spawn.child.tool == tool).map(|at| self.spawning.remove(at));
        let Some(fields) = Object::parse(output) else { return };
        if let (Some(spawn), Some(thread)) = (spawn, fields.str("agent_id")) {
            let agent = fields.str("nickname").map(|name| SharedStr::from(&*name));
            self.started(context, call_id, &thread, agent, spawn.prompt);
        }
        for (thread, state) in fields.object("status").unwrap_or_default().iter() {
            self.reported(context, thread, state);
        }
    }

    /// Handles the notice by which the runner tells the model how an agent ended.
    pub(in super::super) fn notified(&mut self, context: &mut ThreadContext<'_>, notice: &str) {
        let Some(fields) = Object::parse(notice) else { return };
        if let (Some(thread), Some(state)) = (fields.str("agent_path"), fields.some("status")) {
            self.reported(context, &thread, state);
        }
    }

    /// Reports the state of an agent, if the thread is a known one: texts for the model also have other names in these places.
    fn reported(&self, context: &mut ThreadContext<'_>, thread: &str, state: Json<'_>) {
        if self.child(thread).is_some() {
            stood(context, thread, state);
        }
    }

    fn started(
        &mut self,
        context: &mut ThreadContext<'_>,
        call_id: &str,
        thread: &str,
        agent: Option<SharedStr>,
        task: Option<String>,
    ) {
        let child = *self.children.entry(SharedStr::from(thread)).or_insert_with(|| child_of(context, call_id));
        context.normalizer.subagent_started(context.target, thread, Some(child.tool), agent, task, child.depth);
    }
}

fn child_of(context: &mut ThreadContext<'_>, call_id: &str) -> Child {
    Child { tool: context.tool(call_id).id, parent: context.target, depth: context.depth + 1 }
}

fn args(item: &Item<'_>, tool: &str) -> crate::frame::RawJson {
    let mut args = serde_json::Map::new();
    args.insert("tool".to_owned(), tool.into());
    for key in ["prompt", "model"] {
        if let Some(text) = item.str(key, key).filter(|text| !text.is_empty()) {
            args.insert(key.to_owned(), text.into_owned().into());
        }
    }
    let receivers = item.get("receiver_thread_ids", "receiverThreadIds").map(Json::items).unwrap_or_default();
    if !receivers.is_empty() {
        let receivers = receivers.into_iter().filter_map(Json::str).map(Cow::into_owned);
        args.insert("receiver_thread_ids".to_owned(), receivers.collect());
    }
    to_raw(&args)
}

fn nickname(item: &Item<'_>, thread: &str) -> Option<SharedStr> {
    let agents = item.get("receiver_agents", "receiverAgents").map(Json::items).unwrap_or_default();
    let agent = agents
        .into_iter()
        .filter_map(Json::object)
        .find(|agent| agent.str("thread_id").or_else(|| agent.str("threadId")).is_some_and(|id| id == thread))?;
    let name = ["agent_role", "agentRole", "agent_nickname", "agentNickname"].iter().find_map(|key| agent.str(key))?;
    Some(SharedStr::from(&*name))
}

/// Reports an agent's state: a word, `{status, message}`, or `{word: message}`.
fn stood(context: &mut ThreadContext<'_>, thread: &str, state: Json<'_>) {
    let (word, message) = match state.kind() {
        Kind::String => (state.str(), None),
        _ => {
            let fields = state.object().unwrap_or_default();
            match fields.str("status") {
                Some(word) => (Some(word), fields.str("message").map(Cow::into_owned)),
                None => {
                    let first = fields.iter().next();
                    let message = first.and_then(|(_, message)| message.str()).map(Cow::into_owned);
                    (first.map(|(word, _)| Cow::Owned(word.to_owned())), message)
                }
            }
        }
    };
    let status = match snake(&word.unwrap_or_default()).as_str() {
        "completed" => "completed",
        "errored" | "failed" | "not_found" => "failed",
        "interrupted" => "interrupted",
        "shutdown" => "cancelled",
        _ => return,
    };
    context.normalizer.subagent_ended(context.target.stream, thread, status, message);
}
