-- A database as layout 2 was made: later versions must read it. Never changed.

PRAGMA application_id = 1718775143;

CREATE TABLE streams (
    key         INTEGER PRIMARY KEY,  -- in the order in which streams began
    kind        TEXT    NOT NULL,     -- session (a run), task or thread
    id          TEXT    NOT NULL,     -- UUID
    session_id  TEXT    NOT NULL,     -- UUID
    session_name TEXT   NOT NULL,     -- the session in the runner's spelling, '' where it has none
    provider    TEXT    NOT NULL,     -- the runner
    origin_run  TEXT,                 -- the run that a task came from
    first_ms    INTEGER NOT NULL,     -- Unix epoch milliseconds of the first frame
    last_ms     INTEGER NOT NULL,     -- ... and of the last one
    stored_ms   INTEGER NOT NULL,     -- when something was appended last, by the proxy's clock
    frames      INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,     -- of frames, as log.max_bytes counts them
    ended       INTEGER NOT NULL,     -- 1 where nothing more comes
    status      TEXT,                 -- JSON, as GET /v1/runs/{run_id} gives it
    UNIQUE (kind, id)
);
CREATE INDEX streams_by_session ON streams (session_id);

CREATE TABLE frames (
    position    INTEGER PRIMARY KEY,  -- in the order in which frames of all streams were kept
    stream      INTEGER NOT NULL REFERENCES streams (key),
    seq         INTEGER NOT NULL,     -- from 0, without a gap
    time_ms     INTEGER NOT NULL,     -- Unix epoch milliseconds
    type        TEXT    NOT NULL,     -- the type of the frame in frames.v2
    parent_tool_id TEXT,              -- the subagent's tool call
    body        TEXT    NOT NULL,     -- JSON: {"<type>":{...}}
    UNIQUE (stream, seq)
);

CREATE TABLE artifacts (
    key         INTEGER PRIMARY KEY,  -- in the order in which they were written
    hash        TEXT    NOT NULL UNIQUE, -- sha256: and the lower-case hex digest of content
    kind        TEXT    NOT NULL,     -- command_output, patch, image or tool_result_blob
    media_type  TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,     -- of content
    bytes_total INTEGER NOT NULL,     -- before it was cut to artifacts.max_bytes
    created_ms  INTEGER NOT NULL,
    call_id     TEXT,                 -- the runner's id of the call that it comes of
    path        TEXT,                 -- the file that a patch changed
    change      TEXT,                 -- what happened to that file
    stream      TEXT    NOT NULL,     -- JSON: the stream that told of it first
    content     BLOB    NOT NULL
);

CREATE TABLE artifact_references (
    kind        TEXT    NOT NULL,     -- of the stream that refers to it
    stream_id   TEXT    NOT NULL,
    artifact    INTEGER NOT NULL REFERENCES artifacts (key),
    PRIMARY KEY (kind, stream_id, artifact)
) WITHOUT ROWID;
CREATE INDEX artifact_references_by_artifact ON artifact_references (artifact);

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
       json_extract(status, '$.final_text') AS final_text,
       key AS stream
FROM streams WHERE kind = 'session';

CREATE VIEW events AS
SELECT s.kind, s.id AS stream_id, s.session_id, s.provider AS runner, f.seq, f.time_ms,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.time_ms / 1000.0, 'unixepoch') AS at,
       f.type, f.parent_tool_id, f.body, f.stream, f.position
FROM frames f JOIN streams s ON s.key = f.stream;

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
    FROM frames
    WHERE type IN ('tool_call_proposed', 'tool_started', 'tool_ended', 'tool_failed') AND json_valid(body)
) c JOIN streams s ON s.key = c.stream
GROUP BY c.stream, c.call_id;

CREATE VIEW file_changes AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms,
       f.body ->> '$.file_changed.path' AS path,
       f.body ->> '$.file_changed.kind' AS kind,
       f.body ->> '$.file_changed.tool_id' AS tool_id,
       f.body ->> '$.file_changed.diff' AS diff
FROM frames f JOIN streams s ON s.key = f.stream WHERE f.type = 'file_changed';

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
FROM frames f JOIN streams s ON s.key = f.stream WHERE f.type = 'usage_reported';

CREATE VIEW texts AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms, f.parent_tool_id,
       CASE f.type WHEN 'user_message' THEN 'user' ELSE 'assistant' END AS role,
       coalesce(f.body ->> '$.output_text_completed.text', f.body ->> '$.user_message.text') AS text
FROM frames f JOIN streams s ON s.key = f.stream WHERE f.type IN ('output_text_completed', 'user_message');

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
    FROM frames WHERE type IN ('approval_requested', 'approval_resolved') AND json_valid(body)
) a JOIN streams s ON s.key = a.stream
GROUP BY a.stream, a.approval_id;

CREATE VIEW errors AS
SELECT s.id AS run_id, s.session_id, f.seq, f.time_ms,
       f.body ->> '$.error_reported.scope' AS scope,
       f.body ->> '$.error_reported.code' AS code,
       f.body ->> '$.error_reported.message' AS message,
       f.body ->> '$.error_reported.http_status' AS http_status
FROM frames f JOIN streams s ON s.key = f.stream WHERE f.type = 'error_reported';

ALTER TABLE streams ADD COLUMN pruned_frames INTEGER NOT NULL DEFAULT 0; -- how many frames are gone from its front
ALTER TABLE streams ADD COLUMN pruned_last_ms INTEGER;                   -- Unix epoch milliseconds of the last of them
ALTER TABLE streams ADD COLUMN pruned_ms INTEGER;                        -- ... and of when they went

CREATE TABLE marks (
    stream      INTEGER NOT NULL REFERENCES streams (key),
    view        TEXT    NOT NULL,     -- what is made of the stream: a contract, with its options
    frame       INTEGER NOT NULL,     -- the frame that is taken next
    event       INTEGER NOT NULL,     -- the number that the next event gets
    last,                             -- the cursor of the last event before it that has one: a number, or a text
    last_event  INTEGER,              -- ... and that event's number
    state       BLOB    NOT NULL,     -- what the encoder held there, in a form of its own
    PRIMARY KEY (stream, view, frame)
) WITHOUT ROWID;

PRAGMA user_version = 2;

INSERT INTO streams (key, kind, id, session_id, session_name, provider, origin_run, first_ms, last_ms, stored_ms,
    frames, bytes, ended, status, pruned_frames, pruned_last_ms, pruned_ms) VALUES (1, 'session', '01980000-0000-7000-8000-000000000001', '01980000-0000-7000-8000-0000000000aa', 'ses-1', 'claude-code', NULL, 1770000000000, 1770000000004,
    1770000000009, 7, 900, 1, '{"run_id":"01980000-0000-7000-8000-000000000001","session_id":"01980000-0000-7000-8000-0000000000aa","session_name":"ses-1","runner":"claude-code","state":"completed","started_at_ms":1770000000000,"updated_at_ms":1770000000004,"ended_at_ms":1770000000004,"frames":7,"pruned_frames":2,"records":1,"invalid_records":0,"records_with_errors":0,"tool_calls":1,"usage":{},"warnings":{},"validation_failures":{},"pending_approvals":[],"final_text":"Done."}', 2, 1769999999999, 1770000000009);
INSERT INTO frames (stream, seq, time_ms, type, parent_tool_id, body) VALUES
    (1, 2, 1770000000000, 'session_started', NULL, '{"session_started":{"input":"Fix the test"}}'),
    (1, 3, 1770000000001, 'provider_event', NULL, '{"provider_event":{"status":"event","sse":false,"data":{"type":"x"}}}'),
    (1, 4, 1770000000002, 'tool_started', '6f0b6a4e-1111-5111-8111-111111111111', '{"tool_started":{"call":{"tool":{"id":"6f0b6a4e-1111-5111-8111-111111111111","call_id":"toolu_1"},"name":"Bash","kind":"shell","args":{"command":"ls"}},"timeout_ms":null}}'),
    (1, 5, 1770000000003, 'tool_ended', '6f0b6a4e-1111-5111-8111-111111111111', '{"tool_ended":{"tool":{"id":"6f0b6a4e-1111-5111-8111-111111111111","call_id":"toolu_1"},"exit_code":0,"duration_ms":1,"artifacts":null}}'),
    (1, 6, 1770000000004, 'session_ended', NULL, '{"session_ended":{"reason":"completed","final_text":"Done.","error_code":null,"message":null}}');
INSERT INTO marks VALUES (1, 'sse.v1', 2, 1, 'e-1', 0, x'07');
