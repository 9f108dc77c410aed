use super::*;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
use std::io::Read;

fn collector(protocol: OtlpProtocol, compression: OtlpCompression) -> Collector {
    let attributes = [("deployment.environment.name".to_owned(), "test".to_owned())];
    Collector::new(&Otlp {
        endpoint: "http://127.0.0.1:1/v1/traces".to_owned(),
        protocol,
        compression,
        service_name: "gate".to_owned(),
        resource_attributes: attributes.into(),
        ..Otlp::default()
    })
    .unwrap()
}

fn span() -> Span {
    Span { name: "chat".to_owned(), trace_id: vec![1; 16], span_id: vec![2; 8], ..Span::default() }
}

#[test]
fn every_encoding_has_the_same_request() {
    let mut requests = Vec::new();
    for protocol in [OtlpProtocol::Protobuf, OtlpProtocol::Json, OtlpProtocol::Grpc] {
        for compression in [OtlpCompression::None, OtlpCompression::Gzip] {
            let collector = collector(protocol, compression);
            let batch = collector.batch(vec![span()]).unwrap();
            assert_eq!(batch.spans, 1);
            let is_grpc = protocol == OtlpProtocol::Grpc;
            let name = if is_grpc { "grpc-encoding" } else { "content-encoding" };
            let encoding = collector.headers.get(name).map(|value| value.to_str().unwrap());
            let sent = if is_grpc { &batch.body[5..] } else { &batch.body[..] };
            assert!(
                !is_grpc
                    || batch.body[..5]
                        == [&[u8::from(encoding.is_some())], &(sent.len() as u32).to_be_bytes()[..]].concat()
            );
            let body = if encoding == Some("gzip") {
                let mut body = Vec::new();
                GzDecoder::new(sent).read_to_end(&mut body).unwrap();
                body
            } else {
                sent.to_vec()
            };
            let request: ExportTraceServiceRequest = match collector.headers[CONTENT_TYPE].to_str().unwrap() {
                "application/json" => serde_json::from_slice(&body).unwrap(),
                "application/x-protobuf" | "application/grpc" => Message::decode(&*body).unwrap(),
                other => panic!("{other}"),
            };
            requests.push(request);
        }
    }
    let [first, others @ ..] = &*requests else { panic!() };
    assert!(others.iter().all(|request| request == first), "{requests:#?}");
    let resource = first.resource_spans[0].resource.as_ref().unwrap();
    assert_eq!(
        resource.attributes,
        [
            text("service.name", "gate"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("deployment.environment.name", "test"),
        ]
    );
    assert_eq!(first.resource_spans[0].scope_spans[0].spans, [span()]);
}

#[test]
fn what_a_collector_rejected_is_read_from_its_answer() {
    let error_message = "two\nlines".to_owned();
    let partial_success = Some(ExportTracePartialSuccess { rejected_spans: 3, error_message });
    let answer = ExportTraceServiceResponse { partial_success };
    let expected = Accepted { rejected: 3, message: "two lines".to_owned() };
    assert_eq!(accepted(&answer.encode_to_vec().into()), expected);
    assert_eq!(accepted(&Bytes::new()), Accepted::default());
    assert_eq!(accepted(&Bytes::from_static(b"<html>")), Accepted::default());
    for count in ["3", "\"3\""] {
        let json = format!(r#"{{"partialSuccess":{{"rejectedSpans":{count},"errorMessage":"two\nlines"}}}}"#);
        assert_eq!(accepted_json(&json.into()), expected, "{count}");
    }
    assert_eq!(accepted_json(&Bytes::from_static(b"{}")), Accepted::default());
}
