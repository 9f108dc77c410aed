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
    for protocol in [OtlpProtocol::Protobuf, OtlpProtocol::Json] {
        for compression in [OtlpCompression::None, OtlpCompression::Gzip] {
            let collector = collector(protocol, compression);
            let batch = collector.batch(vec![span()]).unwrap();
            assert_eq!(batch.spans, 1);
            let encoding = collector.headers.get(CONTENT_ENCODING).map(|value| value.to_str().unwrap());
            let body = if encoding == Some("gzip") {
                let mut body = Vec::new();
                GzDecoder::new(&*batch.body).read_to_end(&mut body).unwrap();
                body
            } else {
                batch.body.to_vec()
            };
            let request: ExportTraceServiceRequest = match collector.headers[CONTENT_TYPE].to_str().unwrap() {
                "application/json" => serde_json::from_slice(&body).unwrap(),
                "application/x-protobuf" => Message::decode(&*body).unwrap(),
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
    let protobuf = collector(OtlpProtocol::Protobuf, OtlpCompression::None);
    assert_eq!(protobuf.accepted(&answer.encode_to_vec().into()), expected);
    assert_eq!(protobuf.accepted(&Bytes::new()), Accepted::default());
    assert_eq!(protobuf.accepted(&Bytes::from_static(b"<html>")), Accepted::default());
    let with_json = collector(OtlpProtocol::Json, OtlpCompression::None);
    for count in ["3", "\"3\""] {
        let json = format!(r#"{{"partialSuccess":{{"rejectedSpans":{count},"errorMessage":"two\nlines"}}}}"#);
        assert_eq!(with_json.accepted(&json.into()), expected, "{count}");
    }
    assert_eq!(with_json.accepted(&Bytes::from_static(b"{}")), Accepted::default());
}
