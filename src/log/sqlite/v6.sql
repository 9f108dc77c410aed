-- Layout 6: the view `turns`; `runs` has what the status says about model, title, workspace and labels.

DROP VIEW runs;

CREATE VIEW runs AS
SELECT id AS run_id, session_id, session_name,
       CASE provider WHEN 'openresponses' THEN 'open-responses' ELSE provider END AS runner,
       json_extract(status, '$.title') AS title,
       json_extract(status, '$.model') AS model,
       json_extract(status, '$.workspace.directory') AS directory,
       json_extract(status, '$.workspace.repository') AS repository,
       json_extract(status, '$.workspace.branch') AS branch,
       json_extract(status, '$.labels') AS labels,
       json_extract(status, '$.state') AS state,
       strftime('%Y-%m-%dT%H:%M:%fZ', first_ms / 1000.0, 'unixepoch') AS started_at,
       CASE WHEN ended THEN strftime('%Y-%m-%dT%H:%M:%fZ', last_ms / 1000.0, 'unixepoch') END AS ended_at,
       first_ms, last_ms, frames, bytes,
       json_extract(status, '$.records') AS records,
       json_extract(status, '$.turns') AS turns,
       json_extract(status, '$.tool_calls') AS tool_calls,
       json_extract(status, '$.failed_tool_calls') AS failed_tool_calls,
       json_extract(status, '$.usage.input_tokens') AS input_tokens,
       json_extract(status, '$.usage.output_tokens') AS output_tokens,
       json_extract(status, '$.usage.cache_read_tokens') AS cache_read_tokens,
       json_extract(status, '$.usage.cache_creation_tokens') AS cache_creation_tokens,
       json_extract(status, '$.usage.reasoning_tokens') AS reasoning_tokens,
       json_extract(status, '$.usage.cost_usd') AS cost_usd,
       json_extract(status, '$.error_code') AS error_code,
       json_extract(status, '$.message') AS message,
       coalesce(json_extract(status, '$.final_text'), (
           SELECT body ->> '$.session_ended.final_text' FROM bodies
           WHERE bodies.stream = streams.key AND bodies.seq = streams.frames - 1 AND type = 'session_ended'
       )) AS final_text,
       key AS stream
FROM streams WHERE kind = 'session';

-- One row per model call, with the usage that the runner reported between its start and the next one. A turn whose start was dropped is
-- left out.
CREATE VIEW turns AS
SELECT s.id AS run_id, s.session_id, t.parent_tool_id,
       max(t.turn_index) AS turn_index, max(t.model) AS model,
       min(t.seq) AS seq, min(t.time_ms) AS time_ms,
       max(t.duration_ms) AS duration_ms, max(t.stop_reason) AS stop_reason, max(t.type = 'turn_ended') AS ended,
       sum(t.input_tokens) AS input_tokens, sum(t.output_tokens) AS output_tokens,
       sum(t.cache_read_tokens) AS cache_read_tokens, sum(t.cache_creation_tokens) AS cache_creation_tokens,
       sum(t.reasoning_tokens) AS reasoning_tokens, sum(t.cost_usd) AS cost_usd
FROM (
    SELECT stream, seq, time_ms, type, parent_tool_id,
           sum(type = 'turn_started') OVER (PARTITION BY stream, parent_tool_id ORDER BY seq) AS nth,
           body ->> '$.turn_started.turn_index' AS turn_index,
           coalesce(body ->> '$.turn_started.model', body ->> '$.usage_reported.model') AS model,
           body ->> '$.turn_ended.duration_ms' AS duration_ms,
           body ->> '$.turn_ended.stop_reason' AS stop_reason,
           body ->> '$.usage_reported.input_tokens' AS input_tokens,
           body ->> '$.usage_reported.output_tokens' AS output_tokens,
           body ->> '$.usage_reported.cache_read_tokens' AS cache_read_tokens,
           body ->> '$.usage_reported.cache_creation_tokens' AS cache_creation_tokens,
           body ->> '$.usage_reported.reasoning_tokens' AS reasoning_tokens,
           body ->> '$.usage_reported.cost_usd' AS cost_usd
    FROM bodies
    WHERE type IN ('turn_started', 'turn_ended') OR (type = 'usage_reported' AND body ->> '$.usage_reported.scope' = 'turn')
) t JOIN streams s ON s.key = t.stream
WHERE t.nth > 0
GROUP BY t.stream, t.parent_tool_id, t.nth;
