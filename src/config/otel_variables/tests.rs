use super::*;

fn read_from(variables: &[(&str, &str)], names_collector: bool) -> Result<Vec<Standard>, Vec<Problem>> {
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    read(&lookup, names_collector)
}

/// The settings as `key=value`, in alphabetical order.
fn settings(variables: &[(&str, &str)], names_collector: bool) -> Vec<String> {
    let mut shown: Vec<String> = read_from(variables, names_collector)
        .unwrap()
        .into_iter()
        .map(|one| {
            let value = match &one.value {
                Value::String(_, text) => text.clone(),
                Value::Num(_, number) => number.to_i128().unwrap().to_string(),
                Value::Dict(_, items) => {
                    items.iter().map(|(key, value)| format!("{key}:{};", value.as_str().unwrap())).collect()
                }
                other => panic!("{other:?}"),
            };
            format!("{}={value}", one.key.strip_prefix("otlp.").unwrap())
        })
        .collect();
    shown.sort();
    shown
}

fn refusal(variables: &[(&str, &str)]) -> String {
    let mut all = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318")];
    all.extend_from_slice(variables);
    let problems = read_from(&all, false).unwrap_err();
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

#[test]
fn the_url_for_all_signals_gets_a_path_and_the_url_for_traces_does_not() {
    for (base, url) in [
        ("http://c:4318", "http://c:4318/v1/traces"),
        ("http://c:4318/", "http://c:4318/v1/traces"),
        ("https://c/api/otel", "https://c/api/otel/v1/traces"),
        (" https://c/api/otel/ ", "https://c/api/otel/v1/traces"),
    ] {
        assert_eq!(settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", base)], false), [format!("endpoint={url}")]);
    }
    let both = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/x")];
    assert_eq!(settings(&both, false), ["endpoint=http://b/x"]);
    assert_eq!(read_from(&both, false).unwrap()[0].variable, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    assert_eq!(settings(&[("OTEL_TRACES_EXPORTER", "otlp")], false), ["endpoint=http://localhost:4318/v1/traces"]);
    // gRPC has a port of its own, and no path.
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let default = settings(&[("OTEL_TRACES_EXPORTER", "otlp"), grpc], false);
    assert_eq!(default, ["endpoint=http://localhost:4317", "protocol=grpc"]);
    let named = settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"), grpc], false);
    assert_eq!(named, ["endpoint=http://c:4317", "protocol=grpc"]);
}

#[test]
fn without_a_collector_no_variable_is_read() {
    let unused = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_SERVICE_NAME", "x"),
        ("OTEL_TRACES_SAMPLER", "xray"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
    ];
    assert!(settings(&unused, false).is_empty());
    for off in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
        let named = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), off, unused[0], unused[1], unused[2]];
        assert!(settings(&named, false).is_empty(), "{off:?}");
    }
    let on = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_SDK_DISABLED", "false")];
    assert_eq!(settings(&on, false).len(), 1);
}

#[test]
fn every_variable_becomes_a_setting() {
    let all = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc%3D, x-tenant=a"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/JSON"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
        ("OTEL_SERVICE_NAME", "gate"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=test%2C1,team=a"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "20"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "5"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only"),
    ];
    let of_any_collector = [
        "batch_spans=5",
        "content=messages",
        "interval_ms=10",
        "queue_spans=20",
        "resource_attributes=deployment.environment.name:test,1;team:a;",
        "sampled_per_million=250000",
        "service_name=gate",
    ];
    // Another collector's variables are not used for the one that framegate's own settings name.
    assert_eq!(settings(&all, true), of_any_collector);
    let of_this = [
        "ca_file=/ca.pem",
        "compression=gzip",
        "endpoint=https://c/v1/traces",
        "header_list_env=OTEL_EXPORTER_OTLP_HEADERS",
        "protocol=http/json",
        "timeout_ms=2500",
    ];
    let mut every = [&of_any_collector[..], &of_this[..]].concat();
    every.sort_unstable();
    assert_eq!(settings(&all, false), every);
}

#[test]
fn variables_for_traces_precede_those_for_all_signals() {
    let mut all = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c")];
    for (signals, traces, value, other) in [
        ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b", "c=d"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1", "700"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd", "none"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/a", "/b"),
    ] {
        all.extend([(signals, value), (traces, other)]);
    }
    let found = read_from(&all, false).unwrap();
    let for_traces = found.iter().filter(|one| one.variable.starts_with("OTEL_EXPORTER_OTLP_TRACES_")).count();
    assert_eq!((found.len(), for_traces), (6, 5), "{found:?}");
}

#[test]
fn samplers_and_words_for_content() {
    let with = |variable, value| settings(&[(variable, value)], true);
    for (sampler, expected) in [
        ("always_on", 1_000_000),
        ("parentbased_always_on", 1_000_000),
        ("always_off", 0),
        ("parentbased_always_off", 0),
        ("traceidratio", 1_000_000),
    ] {
        assert_eq!(with("OTEL_TRACES_SAMPLER", sampler), [format!("sampled_per_million={expected}")]);
    }
    for (word, expected) in
        [("true", "messages"), ("SPAN_AND_EVENT", "messages"), ("False", "none"), ("no_content", "none")]
    {
        let set = with("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", word);
        assert_eq!(set, [format!("content={expected}")], "{word}");
    }
}

#[test]
fn refusals_name_the_variable_and_what_is_right() {
    for (variable, value, expected) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "thrift", "unknown value \"thrift\" (known: http/protobuf, http/json, grpc)"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "(known: none, gzip)"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key", "cannot present a client certificate"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret-without-a-name", "item 1 of the list has no \"=\""),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1,=secret", "item 2 of the list has no key"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=%FF", "the value of \"a\" is not valid UTF-8"),
        ("OTEL_SDK_DISABLED", "yes", "(known: true, false)"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "(known: otlp, none)"),
        ("OTEL_TRACES_SAMPLER", "xray", "parentbased_traceidratio"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY", "use SPAN_ONLY"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "1", "unknown value \"1\""),
    ] {
        let message = refusal(&[(variable, value)]);
        assert!(message.starts_with(variable) && message.contains(expected), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
    for ratio in ["1.5", "-0.1", "NaN", "half"] {
        let message = refusal(&[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", ratio)]);
        assert!(message.starts_with("OTEL_TRACES_SAMPLER_ARG: is not a ratio"), "{message}");
    }
}
