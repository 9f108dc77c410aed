-- Layout 3: a long text that stands in several frames of a stream is kept in the first of them.

-- A body that lacks a part: where in it that is missing, in bytes; the frame that has it (never one that lacks a part itself),
-- where in that one's body, and how many bytes. All four are NULL where nothing is missing.
ALTER TABLE frames ADD COLUMN hole_at INTEGER;
ALTER TABLE frames ADD COLUMN source INTEGER;
ALTER TABLE frames ADD COLUMN source_at INTEGER;
ALTER TABLE frames ADD COLUMN source_bytes INTEGER;
CREATE INDEX frames_by_source ON frames (stream, source) WHERE source IS NOT NULL;

DROP VIEW runs;
DROP VIEW events;
DROP VIEW tool_calls;
DROP VIEW file_changes;
DROP VIEW usage;
DROP VIEW texts;
DROP VIEW approvals;
DROP VIEW errors;

-- Frames with whole bodies.
CREATE VIEW bodies AS
SELECT f.position, f.stream, f.seq, f.time_ms, f.type, f.parent_tool_id,
       CASE WHEN f.source IS NULL THEN f.body
            ELSE CAST(substr(CAST(f.body AS BLOB), 1, f.hole_at)
                   || substr(CAST(s.body AS BLOB), f.source_at + 1, f.source_bytes)
                   || substr(CAST(f.body AS BLOB), f.hole_at + 1) AS TEXT) END AS body
FROM frames f LEFT JOIN frames s ON s.stream = f.stream AND s.seq = f.source;

CREATE VIEW runs AS
SELECT id AS run_id, session_id, session_name, provider AS runner,
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
SELECT s.kind, s.id AS stream_id, s.session_id, s.provider AS runner, f.seq, f.time_ms,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.time_ms / 1000.0, 'unixepoch') AS at,
       f.type, f.parent_tool_id, f.body, f.stream, f.position
FROM bodies f JOIN streams s ON s.key = f.stream;

-- One row a call: what the model wanted, what ran, how it ended. JSON that SQLite cannot read (nested deeper than 1000)
-- is left out here; it is in `events`.
CREATE VIEW tool_calls AS
SELECT s.id AS run_id, s.session_id, c.call_id,
       max(c.name) AS name, max(c.kind) AS kind, max(c.args) AS args, c.parent_tool_id,
       min(c.seq) AS seq, min(c.time_ms) AS time_ms,
       CASE WHEN max(c.type = 'tool_failed') THEN 'failed'
            WHEN max(c.type = 'tool_ended') THEN 'ended'
            WHEN max(c.type = 'tool_started') THEN 'running'
            ELSE 'proposed' END AS outcome,
       max(c.exit_code) AS exit_code, max(c.duration_ms) AS duration_ms, max(c.error) AS error
FROM (
    SELECT stream, seq, time_ms, type, parent_tool_id,
           coalesce(body ->> '$.tool_call_proposed.tool.call_id', body ->> '$.tool_started.call.tool.call_id',
                    body ->> '$.tool_ended.tool.call_id', body ->> '$.tool_failed.tool.call_id') AS call_id,
           coalesce(body ->> '$.tool_started.call.name', body ->> '$.tool_call_proposed.name') AS name,
           coalesce(body ->> '$.tool_started.call.kind', body ->> '$.tool_call_proposed.kind') AS kind,
           coalesce(body -> '$.tool_started.call.args', body -> '$.tool_call_proposed.args') AS args,
           body ->> '$.tool_ended.exit_code' AS exit_code,
           body ->> '$.tool_ended.duration_ms' AS duration_ms,
           body ->> '$.tool_failed.error' AS error
    FROM bodies
    WHERE type IN ('tool_call_proposed', 'tool_started', 'tool_ended', 'tool_failed') AND json_valid(body)
) c JOIN streams s ON s.key = c.stream
GROUP BY c.stream, c.call_id;

CREATE VIEW file_changes AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms,
       f.body ->> '$.file_changed.path' AS path,
       f.body ->> '$.file_changed.kind' AS kind,
       f.body ->> '$.file_changed.tool_id' AS tool_id,
       f.body ->> '$.file_changed.diff' AS diff
FROM bodies f JOIN streams s ON s.key = f.stream WHERE f.type = 'file_changed';

-- Scope `turn` is one model call, scope `run` the runner's own total of the run: never add the two up.
CREATE VIEW usage AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms,
       f.body ->> '$.usage_reported.scope' AS scope,
       f.body ->> '$.usage_reported.model' AS model,
       f.body ->> '$.usage_reported.input_tokens' AS input_tokens,
       f.body ->> '$.usage_reported.output_tokens' AS output_tokens,
       f.body ->> '$.usage_reported.cache_read_tokens' AS cache_read_tokens,
       f.body ->> '$.usage_reported.cache_creation_tokens' AS cache_creation_tokens,
       f.body ->> '$.usage_reported.reasoning_tokens' AS reasoning_tokens,
       f.body ->> '$.usage_reported.cost_usd' AS cost_usd
FROM bodies f JOIN streams s ON s.key = f.stream WHERE f.type = 'usage_reported';

CREATE VIEW texts AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms, f.parent_tool_id,
       CASE f.type WHEN 'user_message' THEN 'user' ELSE 'assistant' END AS role,
       coalesce(f.body ->> '$.output_text_completed.text', f.body ->> '$.user_message.text') AS text
FROM bodies f JOIN streams s ON s.key = f.stream WHERE f.type IN ('output_text_completed', 'user_message');

CREATE VIEW approvals AS
SELECT s.id AS run_id, s.session_id, a.approval_id,
       max(a.tool_name) AS tool_name, max(a.args) AS args, min(a.seq) AS seq, min(a.time_ms) AS time_ms,
       max(a.decision) AS decision, max(a.decided_by) AS decided_by, max(a.reason) AS reason
FROM (
    SELECT stream, seq, time_ms,
           coalesce(body ->> '$.approval_requested.approval_id', body ->> '$.approval_resolved.approval_id')
               AS approval_id,
           body ->> '$.approval_requested.tool_name' AS tool_name,
           body -> '$.approval_requested.args' AS args,
           body ->> '$.approval_resolved.decision' AS decision,
           body ->> '$.approval_resolved.by' AS decided_by,
           body ->> '$.approval_resolved.reason' AS reason
    FROM bodies WHERE type IN ('approval_requested', 'approval_resolved') AND json_valid(body)
) a JOIN streams s ON s.key = a.stream
GROUP BY a.stream, a.approval_id;

CREATE VIEW errors AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms,
       f.body ->> '$.error_reported.scope' AS scope,
       f.body ->> '$.error_reported.code' AS code,
       f.body ->> '$.error_reported.message' AS message,
       f.body ->> '$.error_reported.http_status' AS http_status
FROM bodies f JOIN streams s ON s.key = f.stream WHERE f.type = 'error_reported';
