-- Layout 5: the views name runners as the API and the command line do. The provider of Open Responses frames has another spelling.

DROP VIEW runs;
DROP VIEW events;

CREATE VIEW runs AS
SELECT id AS run_id, session_id, session_name,
       CASE provider WHEN 'openresponses' THEN 'open-responses' ELSE provider END AS runner,
       json_extract(status, '$.state') AS state,
       strftime('%Y-%m-%dT%H:%M:%fZ', first_ms / 1000.0, 'unixepoch') AS started_at,
       CASE WHEN ended THEN strftime('%Y-%m-%dT%H:%M:%fZ', last_ms / 1000.0, 'unixepoch') END AS ended_at,
       first_ms, last_ms, frames, bytes,
       json_extract(status, '$.records') AS records,
       json_extract(status, '$.tool_calls') AS tool_calls,
       json_extract(status, '$.usage.input_tokens') AS input_tokens,
       json_extract(status, '$.usage.output_tokens') AS output_tokens,
       json_extract(status, '$.usage.cache_read_tokens') AS cache_read_tokens,
       json_extract(status, '$.usage.cache_creation_tokens') AS cache_creation_tokens,
       json_extract(status, '$.usage.cost_usd') AS cost_usd,
       json_extract(status, '$.error_code') AS error_code,
       json_extract(status, '$.message') AS message,
       coalesce(json_extract(status, '$.final_text'), (
           SELECT body ->> '$.session_ended.final_text' FROM bodies
           WHERE bodies.stream = streams.key AND bodies.seq = streams.frames - 1 AND type = 'session_ended'
       )) AS final_text,
       key AS stream
FROM streams WHERE kind = 'session';

CREATE VIEW events AS
SELECT s.kind, s.id AS stream_id, s.session_id,
       CASE s.provider WHEN 'openresponses' THEN 'open-responses' ELSE s.provider END AS runner, f.seq, f.time_ms,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.time_ms / 1000.0, 'unixepoch') AS at,
       f.type, f.parent_tool_id, f.body, f.stream, f.position
FROM bodies f JOIN streams s ON s.key = f.stream;
