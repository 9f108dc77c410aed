"""Prints the spans of OTLP requests, one JSON object a line, in the order of their start and id.

usage: decode.py FILE...

A file is the body of a request: protobuf if its name ends with .pb, JSON if it ends with .json. Both are read by the definitions of the
package opentelemetry-proto, which refuse a field with another name or type.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# OTLP in JSON has ids in hexadecimal digits, unlike other messages of protobuf.
IDS = ("traceId", "spanId", "parentSpanId")


def with_base64(value):
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = {key: with_base64(item) for key, item in value.items()}
    for key in IDS:
        if key in read:
            read[key] = base64.b64encode(bytes.fromhex(read[key])).decode()
    return read


def request(path):
    with open(path, "rb") as file:
        body = file.read()
    if path.endswith(".json"):
        return json_format.ParseDict(with_base64(json.loads(body)), ExportTraceServiceRequest())
    read = ExportTraceServiceRequest.FromString(body)
    # What the definitions do not know would be kept as unknown fields.
    known = ExportTraceServiceRequest.FromString(body)
    known.DiscardUnknownFields()
    assert known.SerializeToString() == read.SerializeToString(), f"{path} has unknown fields"
    return read


def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    return getattr(any_value, kind)


def attributes(pairs):
    read = {pair.key: value(pair.value) for pair in pairs}
    assert len(read) == len(pairs), "an attribute is there twice"
    return read


spans = []
for path in sys.argv[1:]:
    for resource in request(path).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8, "an id has another length"
                spans.append({
                    "resource": attributes(resource.resource.attributes),
                    "scope": scope.scope.name,
                    "trace_id": span.trace_id.hex(),
                    "span_id": span.span_id.hex(),
                    "parent_span_id": span.parent_span_id.hex(),
                    "flags": span.flags,
                    "name": span.name,
                    "kind": span.kind,
                    "start": span.start_time_unix_nano,
                    "end": span.end_time_unix_nano,
                    "status": [span.status.code, span.status.message],
                    "attributes": attributes(span.attributes),
                    "events": [[event.name, event.time_unix_nano, attributes(event.attributes)] for event in span.events],
                })
for span in sorted(spans, key=lambda span: (span["start"], span["trace_id"], span["span_id"])):
    print(json.dumps(span, sort_keys=True))
