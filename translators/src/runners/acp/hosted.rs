//! An agent whose client is framegate.
//!
//! Input: the lines of the client. Output: runs that begin with their prompts, and the requests that answers belong to. Never: a run that
//! begins or ends because the agent writes what only a client may send. The answers to questions come from the host otherwise.

use super::decoder::Acp;
use super::requests::{AgentRequest, ClientRequest, id_of};
use super::sessions::Replay;
use crate::frame::SharedStr;
use crate::json::Object;
use crate::normalizer::Normalizer;

impl Acp {
    /// The client sends this line to the agent.
    pub(super) fn host_sends(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        self.connection.is_hosted = true;
        let Some(method) = message.str("method") else {
            return self.host_withdraws(message, normalizer);
        };
        let params = message.object("params").unwrap_or_default();
        let session = params.str("sessionId").filter(|session| !session.is_empty());
        let session = session.map(|session| SharedStr::from(&*session));
        let id = message.some("id").and_then(id_of);
        let Some(id) = id else {
            if let Some(session) = session.filter(|_| method == "session/cancel") {
                self.sessions.enter(&session, normalizer).turn.cancelled = true;
            }
            return;
        };
        let request = match (&*method, session) {
            ("initialize", _) => {
                self.is_whole = true;
                ClientRequest::Initialize
            }
            ("session/new", _) => ClientRequest::New,
            ("session/load" | "session/resume", Some(session)) => {
                self.sessions.enter(&session, normalizer).replay = Replay::Runs;
                ClientRequest::Load(session)
            }
            ("session/prompt", Some(session)) => {
                if self.sessions.enter(&session, normalizer).running.is_none() {
                    self.begin_hosted(&session, id.clone(), normalizer);
                }
                ClientRequest::Prompt(session)
            }
            (_, session) => ClientRequest::Other(session.unwrap_or_else(|| SharedStr::from(""))),
        };
        self.connection.client.insert(id, request);
    }

    /// The client answers the open questions of a turn that it cancels. Other answers come with the name of the person.
    fn host_withdraws(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let (Some(key), Some(result)) = (message.some("id").and_then(id_of), message.object("result")) else { return };
        let session = match self.connection.agent.get(&key) {
            Some(AgentRequest::Permission(question) | AgentRequest::Elicitation(question)) => question.session.clone(),
            _ => return,
        };
        let is_cancelled = self.sessions.get(&session).is_some_and(|session| session.turn.cancelled);
        if is_cancelled && let Some(request) = self.connection.agent.remove(&key) {
            self.client_answers(request, &result, normalizer);
        }
    }

    /// Begins a turn with its prompt, whose text the host tells otherwise.
    fn begin_hosted(&mut self, session: &SharedStr, prompt: SharedStr, normalizer: &mut Normalizer) {
        self.begin(session, None, String::new(), normalizer);
        if let Some(running) = self.sessions.get(session).and_then(|session| session.running.as_mut()) {
            running.prompt = Some(prompt);
        }
    }
}
