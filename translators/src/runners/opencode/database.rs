//! Sessions in OpenCode's own storage, a SQLite database.
//!
//! Input: nothing. Output: where the database is, and the queries that read its sessions as the documents that `opencode export` prints, with the
//! sessions of their subagents in the member `children`. Never: a column that the first release with a database did not have; a session
//! without messages; a session of a subagent on its own.

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
/// a call, or if it has a result that follows a schema. A session was written when one of its subagents was.
const SESSIONS: &str = "
WITH RECURSIVE last AS (
    SELECT id, session_id, max(time_created || id), time_updated, CASE WHEN json_valid(data) THEN data ELSE '{}' END AS data
    FROM message GROUP BY session_id
), tree(root, id) AS (
    SELECT id, id FROM session WHERE parent_id IS NULL
    UNION
    SELECT tree.root, session.id FROM tree JOIN session ON session.parent_id = tree.id
), written AS (
    SELECT root, max(max(session.time_updated, ifnull(last.time_updated, session.time_updated))) AS time
    FROM tree JOIN session ON session.id = tree.id LEFT JOIN last ON last.session_id = tree.id
    GROUP BY root
)
SELECT
    session.id,
    written.time,
    data ->> '$.role' IS NOT 'assistant'
        OR (data -> '$.error' IS NULL AND (data ->> '$.time.completed' IS NULL OR (
            data ->> '$.finish' IS 'tool-calls' AND data ->> '$.structured' IS NULL AND NOT EXISTS (
                SELECT 1 FROM part WHERE part.message_id = last.id AND CASE WHEN json_valid(part.data) THEN
                    part.data ->> '$.state.error' LIKE 'The user rejected permission%'
                    OR part.data ->> '$.state.error' LIKE 'The user dismissed this question%'
                END
            )
        )))
FROM session JOIN last ON last.session_id = session.id JOIN written ON written.root = session.id
WHERE session.parent_id IS NULL
";

/// A session without subagents has no member `children`, as the runner itself exports it.
const DOCUMENT: &str = r#"
WITH RECURSIVE tree(id) AS (
    SELECT id FROM session WHERE id = ?1
    UNION
    SELECT session.id FROM tree JOIN session ON session.parent_id = tree.id
), member AS (
    SELECT session.*, row_number() OVER (ORDER BY session.id <> ?1, time_created, session.id) AS nth
    FROM tree JOIN session ON session.id = tree.id
)
SELECT piece FROM (
    SELECT nth, 0 AS place, 0 AS time, '' AS id,
        CASE nth WHEN 1 THEN '' WHEN 2 THEN ',"children":[' ELSE ',' END || '{"info":' || json_patch(json_object(
            'id', id, 'slug', slug, 'projectID', project_id, 'directory', directory, 'title', title, 'version', version,
            'time', json_object('created', time_created, 'updated', time_updated)
        ), json_object('parentID', parent_id)) || ',"messages":[' AS piece
    FROM member
    UNION ALL
    SELECT nth, 1, message.time_created, message.id,
        iif(row_number() OVER (PARTITION BY nth ORDER BY message.time_created, message.id) = 1, '', ',')
        || '{"info":' || json_set(data, '$.id', message.id, '$.sessionID', session_id)
        || ',"parts":' || (
            SELECT json_group_array(json_set(part.data, '$.id', part.id, '$.sessionID', part.session_id, '$.messageID', part.message_id) ORDER BY part.id)
            FROM part WHERE part.message_id = message.id
        ) || '}'
    FROM member JOIN message ON session_id = member.id
    UNION ALL
    SELECT nth, 2, 0, '', iif(nth = 1, ']', ']}') FROM member
    UNION ALL
    SELECT max(nth) + 1, 0, 0, '', iif(max(nth) = 1, '}', ']}') FROM member HAVING count(*) > 0
) ORDER BY nth, place, time, id
"#;
