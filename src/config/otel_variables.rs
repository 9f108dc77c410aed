//! The standard environment variables of OpenTelemetry, `OTEL_…`, as settings of `[otlp]`.
//!
//! Input: a function that looks up a variable, and whether framegate's own settings name a collector. Output: settings, each with its
//! variable; or the problem of each variable that cannot be honoured. Never: the value of a header; a variable read although no
//! spans are sent; a credential for one collector used for another.

use super::error::{Problem, unknown};
use figment::value::{Dict, Value};
use percent_encoding::percent_decode_str;

/// The collectors that the standard names if only the exporter is set: over HTTP, and over gRPC.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
const DEFAULT_GRPC_ENDPOINT: &str = "http://localhost:4317";
/// The variables with the protocol.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
/// What is appended to the URL for all signals.
const TRACES_PATH: &str = "v1/traces";
/// A million: the denominator of `otlp.sampled_per_million`.
const MILLION: f64 = 1_000_000.0;

/// A setting that a variable names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standard {
    /// The setting, as `section.key`.
    pub(super) key: &'static str,
    /// The variable.
    pub(super) variable: &'static str,
    /// The value of the setting.
    pub(super) value: Value,
}

/// The environment. An empty variable counts as unset.
type Lookup<'l> = &'l dyn Fn(&str) -> Option<String>;

/// Reads the settings that the variables name. If `names_collector`, framegate's own settings name the collector, and the variables
/// that describe another one are not used.
pub(super) fn read(lookup: Lookup<'_>, names_collector: bool) -> Result<Vec<Standard>, Vec<Problem>> {
    let mut reading = Reading { lookup, found: Vec::new(), problems: Vec::new() };
    let is_sent = names_collector || reading.collector();
    if is_sent {
        reading.identity();
        reading.sampling();
        reading.batches();
        reading.content();
    }
    if reading.problems.is_empty() {
        Ok(if is_sent { reading.found } else { Vec::new() })
    } else {
        Err(reading.problems)
    }
}

struct Reading<'l> {
    lookup: Lookup<'l>,
    found: Vec<Standard>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn get(&self, variable: &str) -> Option<String> {
        (self.lookup)(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The first of the variables that is set: the one for traces precedes the one for all signals.
    fn first(&self, variables: [&'static str; 2]) -> Option<(&'static str, String)> {
        variables.into_iter().find_map(|variable| Some((variable, self.get(variable)?)))
    }

    fn set(&mut self, key: &'static str, variable: &'static str, value: impl Into<Value>) {
        self.found.push(Standard { key, variable, value: value.into() });
    }

    fn refuse(&mut self, variable: &str, message: impl Into<String>) {
        self.problems.push(Problem { place: variable.to_owned(), message: message.into() });
    }

    /// A number. A text that is none stays a text, which the check of settings then refuses.
    fn number(&mut self, key: &'static str, variable: &'static str, text: &str) {
        match text.parse::<i64>() {
            Ok(number) => self.set(key, variable, number),
            Err(_) => self.set(key, variable, text),
        }
    }

    /// Chooses one of the known words, in any case.
    fn choose(&mut self, variable: &str, given: &str, known: &[&'static str]) -> Option<&'static str> {
        let found = known.iter().copied().find(|word| word.eq_ignore_ascii_case(given));
        if found.is_none() {
            self.refuse(variable, unknown("value", given, known.iter().copied()));
        }
        found
    }

    /// Reads which collector there is. Returns whether there is one.
    fn collector(&mut self) -> bool {
        let exporter = self.get("OTEL_TRACES_EXPORTER");
        let endpoint = self.first(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]);
        let asks = exporter.as_deref().is_some_and(|exporter| exporter.eq_ignore_ascii_case("otlp"));
        if endpoint.is_none() && !asks {
            return false;
        }
        if let Some(disabled) = self.get("OTEL_SDK_DISABLED")
            && self.choose("OTEL_SDK_DISABLED", &disabled, &["true", "false"]) != Some("false")
        {
            return false;
        }
        if let Some(exporter) = &exporter
            && self.choose("OTEL_TRACES_EXPORTER", exporter, &["otlp", "none"]) != Some("otlp")
        {
            return false;
        }
        let is_grpc = self.first(PROTOCOLS).is_some_and(|(_, protocol)| protocol.eq_ignore_ascii_case("grpc"));
        match endpoint {
            Some((variable, url)) if is_grpc || variable == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => {
                self.set("otlp.endpoint", variable, url);
            }
            Some((variable, base)) => self.set("otlp.endpoint", variable, for_traces(&base)),
            None if is_grpc => self.set("otlp.endpoint", "OTEL_TRACES_EXPORTER", DEFAULT_GRPC_ENDPOINT),
            None => self.set("otlp.endpoint", "OTEL_TRACES_EXPORTER", for_traces(DEFAULT_ENDPOINT)),
        }
        self.transport();
        true
    }

    /// Reads how the collector of the variables is reached.
    fn transport(&mut self) {
        if let Some((variable, given)) = self.first(PROTOCOLS)
            && let Some(protocol) = self.choose(variable, &given, &["http/protobuf", "http/json", "grpc"])
        {
            self.set("otlp.protocol", variable, protocol);
        }
        if let Some((variable, given)) =
            self.first(["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"])
            && let Some(compression) = self.choose(variable, &given, &["none", "gzip"])
        {
            self.set("otlp.compression", variable, compression);
        }
        if let Some((variable, ms)) = self.first(["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]) {
            self.number("otlp.timeout_ms", variable, &ms);
        }
        if let Some((variable, path)) =
            self.first(["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"])
        {
            self.set("otlp.ca_file", variable, path);
        }
        // Only the variable's name: the values may be secrets.
        if let Some((variable, list)) = self.first(["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"])
        {
            match pairs(&list) {
                Ok(_) => self.set("otlp.header_list_env", variable, variable),
                Err(message) => self.refuse(variable, message),
            }
        }
        for pair in [
            ["OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"],
            ["OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_KEY"],
        ] {
            if let Some((variable, _)) = self.first(pair) {
                self.refuse(variable, "framegate cannot present a client certificate to a collector; unset it");
            }
        }
    }

    fn identity(&mut self) {
        let mut name = self.get("OTEL_SERVICE_NAME").map(|name| ("OTEL_SERVICE_NAME", name));
        let variable = "OTEL_RESOURCE_ATTRIBUTES";
        match self.get(variable).map(|list| pairs(&list)) {
            None => {}
            Some(Err(message)) => self.refuse(variable, message),
            Some(Ok(pairs)) => {
                let mut attributes = Dict::new();
                for (key, value) in pairs {
                    if key == "service.name" {
                        name = name.or(Some((variable, value)));
                    } else {
                        attributes.insert(key, Value::from(value));
                    }
                }
                self.set("otlp.resource_attributes", variable, attributes);
            }
        }
        if let Some((variable, name)) = name {
            self.set("otlp.service_name", variable, name);
        }
    }

    /// Runs have no parent outside framegate, so samplers that follow a parent decide as their root sampler does.
    fn sampling(&mut self) {
        const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
        const KNOWN: [&str; 6] = [
            "always_on",
            "always_off",
            "traceidratio",
            "parentbased_always_on",
            "parentbased_always_off",
            "parentbased_traceidratio",
        ];
        let Some(given) = self.get(SAMPLER) else { return };
        let Some(sampler) = self.choose(SAMPLER, &given, &KNOWN) else { return };
        let (variable, ratio) = match sampler {
            "always_on" | "parentbased_always_on" => (SAMPLER, Some(1.0)),
            "always_off" | "parentbased_always_off" => (SAMPLER, Some(0.0)),
            _ => {
                let variable = "OTEL_TRACES_SAMPLER_ARG";
                let given = self.get(variable);
                (
                    variable,
                    given.map_or(Some(1.0), |text| text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio))),
                )
            }
        };
        match ratio {
            #[allow(clippy::cast_possible_truncation, reason = "the ratio is at most 1")]
            Some(ratio) => self.set("otlp.sampled_per_million", variable, (ratio * MILLION).round() as i64),
            None => self.refuse(variable, "is not a ratio: use a number from 0 to 1, such as 0.25"),
        }
    }

    fn batches(&mut self) {
        for (key, variable) in [
            ("otlp.interval_ms", "OTEL_BSP_SCHEDULE_DELAY"),
            ("otlp.queue_spans", "OTEL_BSP_MAX_QUEUE_SIZE"),
            ("otlp.batch_spans", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
        ] {
            if let Some(text) = self.get(variable) {
                self.number(key, variable, &text);
            }
        }
    }

    fn content(&mut self) {
        let variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        let Some(given) = self.get(variable) else { return };
        if given.eq_ignore_ascii_case("EVENT_ONLY") {
            self.refuse(variable, "framegate sends content in spans only: use SPAN_ONLY, or NO_CONTENT");
            return;
        }
        let known = ["true", "false", "NO_CONTENT", "SPAN_ONLY", "SPAN_AND_EVENT"];
        if let Some(word) = self.choose(variable, &given, &known) {
            let content = if ["false", "NO_CONTENT"].contains(&word) { "none" } else { "messages" };
            self.set("otlp.content", variable, content);
        }
    }
}

/// The URL for traces, from that for all signals.
fn for_traces(base: &str) -> String {
    format!("{}/{TRACES_PATH}", base.trim_end_matches('/'))
}

/// Parses a list `key=value,key=value`, with percent-encoded values. A message never contains a value.
///
/// # Errors
/// What the list should look like.
pub(crate) fn pairs(list: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    for (at, item) in list.split(',').map(str::trim).enumerate().filter(|(_, item)| !item.is_empty()) {
        let place = at + 1;
        let (key, value) = item
            .split_once('=')
            .ok_or_else(|| format!("item {place} of the list has no \"=\": use key=value,key=value"))?;
        let key = key.trim();
        if key.is_empty() {
            return Err(format!("item {place} of the list has no key before the \"=\": use key=value,key=value"));
        }
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| {
            format!("the value of {key:?} is not valid UTF-8 after percent-decoding; write a percent sign as %25")
        })?;
        pairs.push((key.to_owned(), value.into_owned()));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests;
