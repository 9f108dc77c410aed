-- Layout 4: checksums, positions that are never given twice, and what is remembered of streams that were dropped.

-- CRC-32 of seq, time_ms, parent_tool_id and the whole body (checksum.rs); NULL where the frame was kept by an older layout.
ALTER TABLE frames ADD COLUMN checksum INTEGER;

-- The position that the last frame of the front had that went; NULL where no front went, or an older layout dropped it.
ALTER TABLE streams ADD COLUMN pruned_position INTEGER;

-- One row.
CREATE TABLE state (
    only          INTEGER PRIMARY KEY CHECK (only = 0),
    database      BLOB    NOT NULL,   -- names this database among others
    secret        BLOB    NOT NULL,   -- the key of the cursors of feeds
    next_position INTEGER NOT NULL,   -- no lower position of a frame is given again
    forgotten     INTEGER NOT NULL    -- streams whose last frame had a lower position may have been dropped and forgotten
);
INSERT INTO state VALUES (0, randomblob(16), randomblob(32), (SELECT coalesce(max(position), 0) + 1 FROM frames), 0);

-- Streams that were dropped, the last ones, so that readers who were behind can be told of them.
CREATE TABLE dropped (
    nth         INTEGER PRIMARY KEY,  -- in the order in which they were dropped
    kind        TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    session_id  TEXT    NOT NULL,
    session_name TEXT   NOT NULL,
    provider    TEXT    NOT NULL,
    origin_run  TEXT,
    frames      INTEGER NOT NULL,     -- how many it had
    position    INTEGER NOT NULL,     -- of its last frame
    dropped_ms  INTEGER NOT NULL,
    events      TEXT                  -- JSON: how many events it had, by contract, as far as they were counted
);

-- Frames that were committed and that the file lacked on a later start.
CREATE TABLE losses (
    noticed_ms  INTEGER NOT NULL,
    position    INTEGER NOT NULL,     -- of the first one
    frames      INTEGER NOT NULL
);

-- What is written to find out whether anything can be; empty.
CREATE TABLE probes (bytes BLOB NOT NULL);
