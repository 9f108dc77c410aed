//! A server of the Responses API. It runs no tools itself and has no subagents.

use super::{Session, Shape};

const CREATED: &str = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1760000000,"completed_at":null,"status":"in_progress","incomplete_details":null,"model":"m","previous_response_id":null,"instructions":null,"output":[],"error":null,"tools":[],"tool_choice":"auto","truncation":"disabled","parallel_tool_calls":true,"text":{"format":{"type":"text"}},"top_p":1.0,"presence_penalty":0.0,"frequency_penalty":0.0,"top_logprobs":0,"temperature":1.0,"reasoning":null,"user":null,"usage":null,"max_output_tokens":null,"max_tool_calls":null,"store":false,"background":false,"service_tier":"default","metadata":{},"safety_identifier":null,"prompt_cache_key":null}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","created_at":1760000000,"completed_at":1760000002,"status":"completed","incomplete_details":null,"model":"m","previous_response_id":null,"instructions":null,"output":[],"error":null,"tools":[],"tool_choice":"auto","truncation":"disabled","parallel_tool_calls":true,"text":{"format":{"type":"text"}},"top_p":1.0,"presence_penalty":0.0,"frequency_penalty":0.0,"top_logprobs":0,"temperature":1.0,"reasoning":null,"user":null,"usage":null,"max_output_tokens":null,"max_tool_calls":null,"store":false,"background":false,"service_tier":"default","metadata":{},"safety_identifier":null,"prompt_cache_key":null}}"#;

pub(super) const SESSIONS: &[Session] = &[
    Session {
        name: "responses-text",
        runner: "open-responses",
        shape: Shape::Deltas,
        sse: true,
        before: &[
            CREATED,
            r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"message","id":"msg_0","status":"in_progress","role":"assistant","content":[]}}"#,
            r#"{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}"#,
        ],
        before_agent: &[],
        each: &[
            r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_0","output_index":0,"content_index":0,"delta":"PIECE","logprobs":[]}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_0","output_index":0,"content_index":0,"text":"WHOLE","logprobs":[]}"#,
            r#"{"type":"response.content_part.done","sequence_number":6,"item_id":"msg_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"WHOLE","annotations":[],"logprobs":[]}}"#,
            r#"{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"type":"message","id":"msg_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"WHOLE","annotations":[],"logprobs":[]}]}}"#,
            COMPLETED,
            "[DONE]",
        ],
        gives: "output_text_delta",
    },
    Session {
        name: "responses-tools",
        runner: "open-responses",
        shape: Shape::Tools,
        sse: true,
        before: &[CREATED],
        before_agent: &[],
        each: &[
            r#"{"type":"response.output_item.added","sequence_number":2,"output_index":NTH,"item":{"type":"function_call","id":"fc_NTH","call_id":"call_NTH","name":"get_weather","arguments":"","status":"in_progress"}}"#,
            r#"{"type":"response.function_call_arguments.delta","sequence_number":4,"item_id":"fc_NTH","output_index":NTH,"delta":"{\"city\":\"PIECE\"}"}"#,
            r#"{"type":"response.function_call_arguments.done","sequence_number":8,"item_id":"fc_NTH","output_index":NTH,"arguments":"{\"city\":\"PIECE\"}"}"#,
            r#"{"type":"response.output_item.done","sequence_number":10,"output_index":NTH,"item":{"type":"function_call","id":"fc_NTH","call_id":"call_NTH","name":"get_weather","arguments":"{\"city\":\"PIECE\"}","status":"completed"}}"#,
        ],
        after_agent: &[],
        after: &[COMPLETED, "[DONE]"],
        gives: "tool_call_proposed",
    },
];
