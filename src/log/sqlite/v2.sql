-- Layout 2: the front of a stream may go, and what was made of it stays as marks.

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
