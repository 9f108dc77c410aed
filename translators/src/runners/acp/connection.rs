//! What is known about a connection: unanswered requests, the agent, whether the client's lines are there.
//!
//! Input: requests, answers and their ids. Output: what an answer answers. Never: an answer of one side taken for the other
//! side's, if both sides' lines are there.

use super::requests::{AgentRequest, Answered, ClientRequest, Pending};
use super::usage::Counting;
use crate::frame::SharedStr;
use crate::json::{Kind, Object};

/// Requests that only a client sends.
const CLIENT: &[&str] = &["initialize", "authenticate", "logout", "tool_call/cancel", "terminal/cancel"];

/// Families of requests that only a client sends.
const CLIENT_FAMILIES: &[&str] = &["session/", "auth/", "providers/"];

/// Whether a request is one of a client. The protocol's requests of agents have other names.
pub(super) fn is_of_client(method: &str) -> bool {
    !matches!(method, "session/request_permission" | "session/update")
        && (CLIENT.contains(&method) || CLIENT_FAMILIES.iter().any(|family| method.starts_with(family)))
}

/// Whether a message with this name never wants an answer, even if it has the id null.
pub(super) fn is_notification(method: &str) -> bool {
    matches!(method, "session/update" | "session/cancel" | "elicitation/complete" | "initialized")
        || method.starts_with("$/")
        || method.starts_with('_')
}

/// The prefix of the ids of prompts that framegate's own client sends. The answers to them are known by their ids alone.
pub(super) const OWN_PROMPT: &str = "prompt-";

/// The prefixes of the ids with which framegate's own client continues a session.
pub(super) const OWN_LOADS: [&str; 2] = ["load-", "resume-"];

/// Whether an id, as JSON text, is that of a prompt of framegate's own client.
pub(super) fn is_own_prompt(id: &str) -> bool {
    id.strip_prefix('"').is_some_and(|id| id.starts_with(OWN_PROMPT))
}

/// Whether an id, as JSON text, is that of a request with which framegate's own client continues a session.
pub(super) fn is_own_load(id: &str) -> bool {
    id.strip_prefix('"').is_some_and(|id| OWN_LOADS.iter().any(|prefix| id.starts_with(prefix)))
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Whether the input contains the client's lines.
    pub(super) has_client: bool,
    /// Whether the client is framegate's own, which tells what it sends. Then the input has no lines of a client, whatever they say.
    pub(super) is_hosted: bool,
    pub(super) client: Pending<ClientRequest>,
    pub(super) agent: Pending<AgentRequest>,
    pub(super) answered: Answered,
    /// How the agent counts tokens.
    pub(super) counting: Counting,
    /// A session told its state, as in version 2. What the agent claims does not count.
    pub(super) is_v2: bool,
}

/// What an answer answers.
#[derive(Debug)]
pub(super) enum Answers {
    /// A request of the client.
    Client(ClientRequest),
    /// A request of the agent.
    Agent(AgentRequest),
    /// A request that is not in the input; the client's lines are not there.
    Unseen,
    /// No request, or one that was answered already.
    Nothing,
}

impl Connection {
    /// Whether a request of either side with this id is unanswered.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.client.get(id).is_some() || self.agent.get(id).is_some()
    }

    /// Whether a turn may begin without its prompt, because the client's requests are not known.
    pub(super) fn is_alone(&self) -> bool {
        !self.has_client && !self.is_hosted
    }

    /// Finds the request that an answer belongs to.
    pub(super) fn answers(&mut self, id: &SharedStr, fields: &Object<'_>) -> Answers {
        if self.is_hosted {
            return self.client.remove(id).map_or(Answers::Nothing, Answers::Client);
        }
        let both = self.client.get(id).is_some() && self.agent.get(id).is_some();
        let is_agents = match self.agent.get(id) {
            Some(request) if both || !self.has_client => fits(request, fields),
            Some(_) => true,
            None => false,
        };
        if is_agents && let Some(request) = self.agent.remove(id) {
            return Answers::Agent(request);
        }
        if let Some(request) = self.client.remove(id) {
            return Answers::Client(request);
        }
        // An agent that sends requests of a client cannot hide the answers to framegate's own prompts.
        if (self.has_client && !is_own_prompt(id)) || !self.answered.note(id) {
            Answers::Nothing
        } else {
            Answers::Unseen
        }
    }
}

/// Whether an answer may be the client's answer to a request of the agent. An error has no form of its own: clients refuse
/// requests that they do not know, while a question is answered by an outcome.
fn fits(request: &AgentRequest, fields: &Object<'_>) -> bool {
    let Some(result) = fields.get("result") else { return matches!(request, AgentRequest::Silent) };
    let Some(result) = result.object() else { return matches!(request, AgentRequest::Silent) };
    match request {
        AgentRequest::Permission(_) => result.some("outcome").is_some_and(|outcome| outcome.kind() == Kind::Object),
        AgentRequest::Elicitation(_) => result.str("action").is_some(),
        AgentRequest::Terminal { .. } => ["output", "exitCode", "signal"].iter().any(|key| result.get(key).is_some()),
        AgentRequest::Silent => !["stopReason", "sessionId", "protocolVersion", "configOptions", "modes", "messageId"]
            .iter()
            .any(|key| result.get(key).is_some()),
    }
}
