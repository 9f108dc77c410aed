//! The response as a whole: what the first two events and the last one have.
//!
//! Open Responses requires the settings of the request, which a runner does not report: they have the API's defaults. The usage is that of
//! the whole run, as the API counts it: `input_tokens` includes cached tokens, which frames count separately. Its two details are required
//! too, so they are 0 if the runner does not give them.

use super::encode::Names;
use super::items::{Items, Shown};
use super::writer::response_id;
use crate::encode::{Data, Null, ObjectWriter, Value, Word, data, key};
use crate::frame::Figures;

/// How far a response is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status<'a> {
    pub(super) word: &'static str,
    /// Unix epoch seconds.
    pub(super) completed_at: Option<u64>,
    /// The reason, and a message for a person.
    pub(super) incomplete: Option<(&'a str, Option<&'a str>)>,
    /// The code and the message.
    pub(super) error: Option<(&'a str, &'a str)>,
    /// The run's own code, which the API's words may not express.
    pub(super) error_code: Option<&'a str>,
}

impl Status<'_> {
    pub(super) const IN_PROGRESS: Self =
        Self { word: "in_progress", completed_at: None, incomplete: None, error: None, error_code: None };
}

/// The response of a run.
pub(super) struct Resource<'a> {
    pub(super) names: &'a Names,
    /// Unix epoch seconds.
    pub(super) created_at: u64,
    pub(super) model: &'a str,
    pub(super) status: &'a Status<'a>,
    pub(super) items: &'a Items,
    pub(super) usage: Option<&'a Figures>,
}

data! {
    /// The settings of a request: the API's defaults. There are no tools that the client could execute.
    struct Settings {
        previous_response_id: Null,
        instructions: Null,
        tools: Vec<&'static str>,
        tool_choice: Word,
        truncation: Word,
        parallel_tool_calls: bool,
        text: Format,
        temperature: u64,
        top_p: u64,
        presence_penalty: u64,
        frequency_penalty: u64,
        top_logprobs: u64,
        reasoning: Null,
        max_output_tokens: Null,
        max_tool_calls: Null,
        store: bool,
        background: bool,
        service_tier: Word,
        safety_identifier: Null,
        prompt_cache_key: Null,
    }

    struct Format {
        format: Kind,
    }

    struct Kind {
        kind: Word => "type",
    }

    struct Reason<'a> {
        reason: &'a str,
        /// Not part of the API.
        message: Option<&'a str>,
    }

    struct Error<'a> {
        code: &'a str,
        message: &'a str,
    }

    struct Usage {
        input_tokens: u64,
        input_tokens_details: InputDetails,
        output_tokens: u64,
        output_tokens_details: OutputDetails,
        total_tokens: u64,
        /// US dollars. Not part of the API; several servers send it under this name.
        cost: Option<f64>,
    }

    struct InputDetails {
        cached_tokens: u64,
        cache_write_tokens: Option<u64>,
    }

    struct OutputDetails {
        reasoning_tokens: u64,
    }

    struct Metadata<'a> {
        run_id: &'a uuid::Uuid,
        session_id: &'a uuid::Uuid,
        runner: Word,
        error_code: Option<&'a str>,
        omitted_items: Option<String>,
    }
}

const SETTINGS: Settings = Settings {
    previous_response_id: Null,
    instructions: Null,
    tools: Vec::new(),
    tool_choice: Word("auto"),
    truncation: Word("disabled"),
    parallel_tool_calls: true,
    text: Format { format: Kind { kind: Word("text") } },
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    reasoning: Null,
    max_output_tokens: Null,
    max_tool_calls: Null,
    store: false,
    background: false,
    service_tier: Word("default"),
    safety_identifier: Null,
    prompt_cache_key: Null,
};

fn usage(figures: &Figures) -> Usage {
    let cached = [figures.cache_read_tokens, figures.cache_creation_tokens].into_iter().flatten();
    let input_tokens = cached.fold(figures.input_tokens, u64::saturating_add);
    Usage {
        input_tokens,
        input_tokens_details: InputDetails {
            cached_tokens: figures.cache_read_tokens.unwrap_or_default(),
            cache_write_tokens: figures.cache_creation_tokens,
        },
        output_tokens: figures.output_tokens,
        output_tokens_details: OutputDetails { reasoning_tokens: figures.reasoning_tokens.unwrap_or_default() },
        total_tokens: input_tokens.saturating_add(figures.output_tokens),
        cost: figures.cost_usd.filter(|cost| cost.is_finite()),
    }
}

/// Writes a field that the API requires, or null.
fn or_null(key: &'static crate::encode::Key, value: Option<impl Value>, map: &mut ObjectWriter<'_>) {
    match value {
        Some(value) => value.field(key, map),
        None => map.raw(key, "null"),
    }
}

impl Data for Resource<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        let (names, status) = (self.names, self.status);
        map.text(key!("id"), &response_id(&names.run));
        map.word(key!("object"), "response");
        map.entry(key!("created_at"), &self.created_at);
        or_null(key!("completed_at"), status.completed_at, map);
        map.word(key!("status"), status.word);
        or_null(key!("incomplete_details"), status.incomplete.map(|(reason, message)| Reason { reason, message }), map);
        or_null(key!("error"), status.error.map(|(code, message)| Error { code, message }), map);
        map.text(key!("model"), self.model);
        let items: Vec<_> = self.items.iter().collect();
        map.list(key!("output"), &items, |map, &(index, item)| {
            Shown { run: &names.run, runner: names.runner, index, item }.fields(map);
        });
        or_null(key!("usage"), self.usage.map(usage), map);
        let metadata = Metadata {
            run_id: &names.run,
            session_id: &names.session,
            runner: Word(names.runner),
            error_code: status.error_code,
            omitted_items: Some(self.items.left_out()).filter(|items| *items > 0).map(|items| items.to_string()),
        };
        metadata.field(key!("metadata"), map);
        SETTINGS.fields(map);
    }
}
