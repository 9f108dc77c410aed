//! Which runs a question is about.
//!
//! Input: what a client asks for, and the status of a run. Output: whether the run has all of it. Never: a run that does not say what is asked for.

use super::RunStatus;
use super::labels::Label;
use uuid::Uuid;

/// What all runs of an answer have in common. What is absent is not asked for.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// The runner.
    pub runner: Option<&'static str>,
    /// The session.
    pub session_id: Option<Uuid>,
    /// The model that the run named last, as the runner spells it.
    pub model: Option<String>,
    /// The working directory, as the runner spells it.
    pub directory: Option<String>,
    /// The repository, as the status spells it.
    pub repository: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Labels, all of which the run has.
    pub labels: Vec<Label>,
}

impl RunFilter {
    /// Whether a run has all that is asked for.
    pub fn admits(&self, run: &RunStatus) -> bool {
        let is = |wanted: &Option<String>, own: &Option<String>| wanted.is_none() || wanted == own;
        self.runner.is_none_or(|runner| run.runner == runner)
            && self.session_id.is_none_or(|session| run.session_id == session)
            && is(&self.model, &run.model)
            && is(&self.directory, &run.workspace.directory)
            && is(&self.repository, &run.workspace.repository)
            && is(&self.branch, &run.workspace.branch)
            && run.labels.have(&self.labels)
    }

    /// The parameters of a query, in the spelling of the API.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        pairs.extend(self.runner.map(|runner| ("runner", runner.to_owned())));
        pairs.extend(self.session_id.map(|session| ("session_id", session.to_string())));
        let texts = [
            ("model", &self.model),
            ("directory", &self.directory),
            ("repository", &self.repository),
            ("branch", &self.branch),
        ];
        pairs.extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))));
        pairs.extend(self.labels.iter().map(|label| ("label", label.to_string())));
        pairs
    }
}
