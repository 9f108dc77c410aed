//! Sessions in OpenCode's own storage, a SQLite database.
//!
//! Input: nothing. Output: where the database is, and the queries that read its sessions as the documents that `opencode export` prints. Never: a
//! column that the first release with a database did not have; a session without messages; a session of a subagent, which is part of another one.

use super::super::{History, SessionDatabase};

/// `opencode.db`; releases of other channels name the channel, as in `opencode-dev.db`.
pub(super) const HISTORY: History = History {
    variable: "XDG_DATA_HOME",
    folder: ".local/share",
    files: "opencode/opencode*.db",
    except: "",
    subagents: None,
    database: Some(SessionDatabase { sessions: SESSIONS, document: DOCUMENT }),
};

/// A turn is over if the last message is an assistant's that is complete and does not wait for tools. It does not wait if a person refused
/// a call, or if it has a result that follows a schema.
const SESSIONS: &str = "
WITH last AS (
    SELECT id, session_id, max(time_created || id), time_updated, CASE WHEN json_valid(data) THEN data ELSE '{}' END AS data
    FROM message GROUP BY session_id
)
SELECT
    session.id,
    max(session.time_updated, last.time_updated),
    data ->> '$.role' IS NOT 'assistant'
        OR (data -> '$.error' IS NULL AND (data ->> '$.time.completed' IS NULL OR (
            data ->> '$.finish' IS 'tool-calls' AND data ->> '$.structured' IS NULL AND NOT EXISTS (
                SELECT 1 FROM part WHERE part.message_id = last.id AND CASE WHEN json_valid(part.data) THEN
                    part.data ->> '$.state.error' LIKE 'The user rejected permission%'
                    OR part.data ->> '$.state.error' LIKE 'The user dismissed this question%'
                END
            )
        )))
FROM session JOIN last ON last.session_id = session.id
WHERE session.parent_id IS NULL
";

const DOCUMENT: &str = r#"
SELECT piece FROM (
    SELECT 0 AS place, 0 AS time, '' AS id,
        '{"info":' || json_object(
            'id', id, 'slug', slug, 'projectID', project_id, 'directory', directory, 'title', title, 'version', version,
            'time', json_object('created', time_created, 'updated', time_updated)
        ) || ',"messages":[' AS piece
    FROM session WHERE id = ?1
    UNION ALL
    SELECT 1, time_created, id,
        iif(row_number() OVER (ORDER BY time_created, id) = 1, '', ',')
        || '{"info":' || json_set(data, '$.id', id, '$.sessionID', session_id)
        || ',"parts":' || (
            SELECT json_group_array(json_set(part.data, '$.id', part.id, '$.sessionID', part.session_id, '$.messageID', part.message_id) ORDER BY part.id)
            FROM part WHERE part.message_id = message.id
        ) || '}'
    FROM message WHERE session_id = ?1
    UNION ALL
    SELECT 2, 0, '', ']}' FROM session WHERE id = ?1
) ORDER BY place, time, id
"#;
