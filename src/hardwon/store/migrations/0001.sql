CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE project (
    id   TEXT PRIMARY KEY,
    key  TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
) STRICT;

CREATE TABLE project_root (
    path    TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id)
) STRICT;

-- One row a file that was looked at, so that an unchanged file is not read again.
CREATE TABLE source (
    path              TEXT PRIMARY KEY,
    size              INTEGER NOT NULL,
    modified          INTEGER NOT NULL,
    harvester_version INTEGER NOT NULL,
    refused           TEXT NOT NULL,
    damaged           INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    id                TEXT PRIMARY KEY,
    agent             TEXT NOT NULL,
    external_id       TEXT NOT NULL,
    subagent          TEXT NOT NULL,
    project           TEXT REFERENCES project (id),
    format            TEXT NOT NULL,
    version           TEXT NOT NULL,
    path              TEXT NOT NULL,
    branch            TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER NOT NULL,
    messages          INTEGER NOT NULL,
    user_messages     INTEGER NOT NULL,
    tool_calls        INTEGER NOT NULL,
    errors            INTEGER NOT NULL,
    unknown_records   INTEGER NOT NULL,
    redactions        INTEGER NOT NULL,
    content_hash      TEXT NOT NULL,
    harvester_version INTEGER NOT NULL,
    UNIQUE (agent, external_id, subagent)
) STRICT;
CREATE INDEX session_by_project ON session (project, started_at);

CREATE TABLE call (
    session       TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    message_index INTEGER NOT NULL,
    at            INTEGER,
    tool          TEXT NOT NULL,
    action        TEXT NOT NULL,
    subject       TEXT NOT NULL,
    outcome       TEXT NOT NULL CHECK (outcome IN ('ok', 'error', 'unknown')),
    evidence      TEXT NOT NULL,
    exit_code     INTEGER,
    PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE failure (
    id         TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    family     TEXT NOT NULL,
    error_type TEXT NOT NULL,
    signature  TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    occurrences INTEGER NOT NULL,
    sessions   INTEGER NOT NULL
) STRICT;

-- Failures and lessons whose counts are older than their occurrences and sources.
CREATE TABLE stale (
    item TEXT PRIMARY KEY
) STRICT;

CREATE TABLE occurrence (
    session       TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    failure       TEXT NOT NULL REFERENCES failure (id),
    project       TEXT,
    message_index INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    command       TEXT NOT NULL,
    exit_code     INTEGER,
    excerpt       TEXT NOT NULL,
    PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrence_by_failure ON occurrence (failure, at);
CREATE INDEX occurrence_by_project ON occurrence (project, failure);

CREATE TABLE fix (
    id           TEXT PRIMARY KEY,
    failure      TEXT NOT NULL REFERENCES failure (id),
    steps        TEXT NOT NULL,
    succeeded_as TEXT NOT NULL,
    avoid        TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('active', 'candidate')),
    untrusted    TEXT NOT NULL,
    confirmed    INTEGER NOT NULL,
    last_seen    INTEGER NOT NULL
) STRICT;
CREATE INDEX fix_by_failure ON fix (failure, status);

CREATE TABLE fix_evidence (
    fix       TEXT NOT NULL REFERENCES fix (id) ON DELETE CASCADE,
    session   TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    avoid     TEXT NOT NULL,
    untrusted TEXT NOT NULL,
    PRIMARY KEY (fix, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX fix_evidence_by_session ON fix_evidence (session);

CREATE TABLE lesson (
    id                TEXT PRIMARY KEY,
    kind              TEXT NOT NULL CHECK (kind IN ('fact', 'pitfall', 'pattern', 'tool-quirk', 'question',
                                                    'preference', 'decision', 'identity')),
    text              TEXT NOT NULL,
    scope             TEXT NOT NULL CHECK (scope IN ('global', 'project', 'agent')),
    project           TEXT REFERENCES project (id),
    agent             TEXT NOT NULL,
    base_confidence   REAL NOT NULL CHECK (base_confidence BETWEEN 0 AND 1),
    confidence        REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    status            TEXT NOT NULL CHECK (status IN ('candidate', 'active', 'superseded', 'invalid', 'archived')),
    trust             TEXT NOT NULL CHECK (trust IN ('measured', 'human', 'corroborated', 'claimed', 'untrusted')),
    rule              TEXT NOT NULL,
    failure           TEXT NOT NULL,
    first_seen        INTEGER NOT NULL,
    last_confirmed    INTEGER NOT NULL,
    source_count      INTEGER NOT NULL,
    harvester_version INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_by_project ON lesson (project, status);

CREATE TABLE lesson_source (
    lesson        TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    session       TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    message_index INTEGER NOT NULL,
    quote         TEXT NOT NULL,
    origin        TEXT NOT NULL,
    PRIMARY KEY (lesson, session, message_index)
) STRICT, WITHOUT ROWID;
CREATE INDEX lesson_source_by_session ON lesson_source (session);

-- What a session of the project is handed at its start, ranked ahead of time for the hook.
CREATE TABLE standing (
    project TEXT NOT NULL REFERENCES project (id),
    agent   TEXT NOT NULL,
    rank    INTEGER NOT NULL,
    section TEXT NOT NULL,
    item    TEXT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (project, agent, rank)
) STRICT, WITHOUT ROWID;

-- Terms come from our own tokenizer; the index only splits them at spaces.
CREATE TABLE search_item (
    id   INTEGER PRIMARY KEY,
    item TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE search_index USING fts5 (
    terms,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);
