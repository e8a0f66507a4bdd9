-- The whole data model. Written once: the PostgreSQL driver translates what this gives (see postgres.py).

ALTER TABLE project ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived'));

CREATE TABLE project_alias (
    name    TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE
) STRICT;

-- `root` names the session that a person started, whatever sub-agents it had.
ALTER TABLE session ADD COLUMN root TEXT NOT NULL DEFAULT '';
-- The user's first words, in a line: what the session was about.
ALTER TABLE session ADD COLUMN task TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN outcome TEXT NOT NULL DEFAULT 'unknown'
    CHECK (outcome IN ('failure', 'completed', 'unknown'));
ALTER TABLE session ADD COLUMN tokens_in INTEGER;
ALTER TABLE session ADD COLUMN tokens_out INTEGER;
ALTER TABLE session ADD COLUMN cost REAL;
ALTER TABLE session ADD COLUMN seal TEXT NOT NULL DEFAULT '';
UPDATE session SET root = agent || ':' || external_id;
CREATE INDEX session_by_root ON session (root);

ALTER TABLE call ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
-- Its words stood in the output of an earlier call: running it again and again is no evidence of its own.
ALTER TABLE call ADD COLUMN suggested INTEGER NOT NULL DEFAULT 0;

CREATE TABLE attempt (
    id               TEXT PRIMARY KEY,
    number           INTEGER NOT NULL UNIQUE,
    source           TEXT NOT NULL CHECK (source IN ('log', 'run', 'crash', 'session', 'import')),
    session          TEXT NOT NULL,
    root             TEXT NOT NULL,
    project          TEXT REFERENCES project (id),
    agent            TEXT NOT NULL,
    task             TEXT NOT NULL,
    approach         TEXT NOT NULL,
    phase            TEXT NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'rollback', 'partial', 'unknown')),
    evidence         TEXT NOT NULL,
    exit_code        INTEGER,
    diff             TEXT NOT NULL,
    test_results     TEXT NOT NULL,
    failure_analysis TEXT NOT NULL,
    reflection       TEXT NOT NULL,
    retry_count      INTEGER NOT NULL,
    retry_of         TEXT NOT NULL,
    git_commit       TEXT NOT NULL,
    tokens           INTEGER,
    started_at       INTEGER NOT NULL,
    duration         INTEGER,
    seal             TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_by_time ON attempt (started_at);
CREATE INDEX attempt_by_outcome ON attempt (outcome, started_at);
CREATE INDEX attempt_by_project ON attempt (project, started_at);
CREATE INDEX attempt_by_session ON attempt (session);
CREATE INDEX attempt_by_root ON attempt (root, started_at);

CREATE TABLE attempt_file (
    attempt  TEXT NOT NULL REFERENCES attempt (id) ON DELETE CASCADE,
    path     TEXT NOT NULL,
    role     TEXT NOT NULL CHECK (role IN ('read', 'modified', 'created', 'deleted')),
    position INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (attempt, path, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_file_by_path ON attempt_file (path);

ALTER TABLE failure ADD COLUMN status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'muted'));

-- `source` is the session or the attempt that it happened in; `root` what counts as one session.
ALTER TABLE occurrence RENAME TO old_occurrence;
CREATE TABLE occurrence (
    source        TEXT NOT NULL,
    position      INTEGER NOT NULL,
    failure       TEXT NOT NULL REFERENCES failure (id),
    project       TEXT,
    root          TEXT NOT NULL,
    agent         TEXT NOT NULL,
    message_index INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    command       TEXT NOT NULL,
    exit_code     INTEGER,
    phase         TEXT NOT NULL,
    friction      TEXT NOT NULL,
    tokens        INTEGER NOT NULL,
    excerpt       TEXT NOT NULL,
    PRIMARY KEY (source, position)
) STRICT, WITHOUT ROWID;
INSERT INTO occurrence
SELECT o.session, o.position, o.failure, o.project, s.root, s.agent, o.message_index, o.at, o.command, o.exit_code,
       '', '', 0, o.excerpt
FROM old_occurrence o JOIN session s ON s.id = o.session;
DROP TABLE old_occurrence;
CREATE INDEX occurrence_by_failure ON occurrence (failure, at);
CREATE INDEX occurrence_by_project ON occurrence (project, failure);
CREATE INDEX occurrence_by_root ON occurrence (root, failure, at);

ALTER TABLE fix_evidence RENAME TO old_fix_evidence;
ALTER TABLE fix RENAME TO old_fix;
CREATE TABLE fix (
    id           TEXT PRIMARY KEY,
    failure      TEXT NOT NULL REFERENCES failure (id),
    steps        TEXT NOT NULL,
    succeeded_as TEXT NOT NULL,
    avoid        TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('active', 'candidate', 'rejected')),
    reviewed     INTEGER NOT NULL DEFAULT 0,
    untrusted    TEXT NOT NULL,
    confirmed    INTEGER NOT NULL,
    failed_again INTEGER NOT NULL,
    last_seen    INTEGER NOT NULL
) STRICT;
INSERT INTO fix SELECT id, failure, steps, succeeded_as, avoid, status, 0, untrusted, confirmed, 0, last_seen FROM old_fix;
CREATE TABLE fix_evidence (
    fix       TEXT NOT NULL REFERENCES fix (id) ON DELETE CASCADE,
    source    TEXT NOT NULL,
    root      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    avoid     TEXT NOT NULL,
    untrusted TEXT NOT NULL,
    failed_again INTEGER NOT NULL,
    PRIMARY KEY (fix, source)
) STRICT, WITHOUT ROWID;
INSERT INTO fix_evidence
SELECT e.fix, e.session, s.root, e.at, e.avoid, e.untrusted, 0
FROM old_fix_evidence e JOIN session s ON s.id = e.session;
DROP TABLE old_fix_evidence;
DROP TABLE old_fix;
CREATE INDEX fix_by_failure ON fix (failure, status);
CREATE INDEX fix_evidence_by_source ON fix_evidence (source);

-- Steps after which the same failure came again: what counts against a fix that consists of them.
CREATE TABLE tried (
    source   TEXT NOT NULL,
    position INTEGER NOT NULL,
    failure  TEXT NOT NULL REFERENCES failure (id),
    steps    TEXT NOT NULL,
    tried_as TEXT NOT NULL,
    root     TEXT NOT NULL,
    PRIMARY KEY (source, failure, steps, tried_as)
) STRICT, WITHOUT ROWID;
CREATE INDEX tried_by_failure ON tried (failure);

-- A failure as it stands in one project: what a bootstrap ranks, counted ahead of time.
CREATE TABLE failure_in_project (
    project     TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    failure     TEXT NOT NULL REFERENCES failure (id) ON DELETE CASCADE,
    occurrences INTEGER NOT NULL,
    sessions    INTEGER NOT NULL,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    command     TEXT NOT NULL,
    agents      TEXT NOT NULL,
    place       TEXT NOT NULL,
    -- When the newest sessions that met it did so, the latest first.
    visits      TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (project, failure)
) STRICT, WITHOUT ROWID;
CREATE INDEX failure_in_project_by_use ON failure_in_project (project, sessions, occurrences, last_seen);
INSERT INTO stale SELECT id FROM failure WHERE true ON CONFLICT (item) DO NOTHING;

ALTER TABLE lesson ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE lesson ADD COLUMN valid_from INTEGER;
ALTER TABLE lesson ADD COLUMN valid_until INTEGER;
ALTER TABLE lesson ADD COLUMN superseded_by TEXT NOT NULL DEFAULT '';
ALTER TABLE lesson ADD COLUMN last_referenced INTEGER;
ALTER TABLE lesson ADD COLUMN reference_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lesson ADD COLUMN retrieval_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lesson ADD COLUMN helpful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lesson ADD COLUMN harmful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lesson ADD COLUMN anchor_path TEXT NOT NULL DEFAULT '';
ALTER TABLE lesson ADD COLUMN anchor_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE lesson ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
-- A person decided on it, or it was not harvested: harvesting never changes its words or status again.
ALTER TABLE lesson ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lesson ADD COLUMN text_hash TEXT NOT NULL DEFAULT '';
UPDATE lesson SET text_hash = text_hash(text);
ALTER TABLE lesson ADD COLUMN seal TEXT NOT NULL DEFAULT '';
CREATE INDEX lesson_by_text ON lesson (text_hash);
CREATE INDEX lesson_by_status ON lesson (status, kind);

-- `source` is a session, interaction, attempt, chunk, or what was imported; its first letter tells.
ALTER TABLE lesson_source RENAME TO old_lesson_source;
CREATE TABLE lesson_source (
    lesson        TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    source        TEXT NOT NULL,
    message_index INTEGER NOT NULL,
    root          TEXT NOT NULL,
    at            INTEGER NOT NULL,
    quote         TEXT NOT NULL,
    origin        TEXT NOT NULL,
    PRIMARY KEY (lesson, source, message_index)
) STRICT, WITHOUT ROWID;
INSERT INTO lesson_source
SELECT o.lesson, o.session, o.message_index, s.root, s.started_at, o.quote, o.origin
FROM old_lesson_source o JOIN session s ON s.id = o.session;
DROP TABLE old_lesson_source;
CREATE INDEX lesson_source_by_source ON lesson_source (source);

CREATE TABLE lesson_link (
    lesson   TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    relation TEXT NOT NULL CHECK (relation IN ('supports', 'contradicts', 'supersedes', 'derived_from', 'related')),
    other    TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    at       INTEGER NOT NULL,
    PRIMARY KEY (lesson, relation, other)
) STRICT, WITHOUT ROWID;
CREATE INDEX lesson_link_by_other ON lesson_link (other);

CREATE TABLE conflict (
    id          TEXT PRIMARY KEY,
    status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
    resolution  TEXT NOT NULL,
    opened_at   INTEGER NOT NULL,
    resolved_at INTEGER
) STRICT;

CREATE TABLE conflict_member (
    conflict TEXT NOT NULL REFERENCES conflict (id) ON DELETE CASCADE,
    lesson   TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (conflict, lesson)
) STRICT, WITHOUT ROWID;
CREATE INDEX conflict_member_by_lesson ON conflict_member (lesson);

-- Hashes of what a lesson is about: those that may say the same, or the opposite, have one in common. Rebuildable.
CREATE TABLE lesson_key (
    key    TEXT NOT NULL,
    lesson TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (key, lesson)
) STRICT, WITHOUT ROWID;
CREATE INDEX lesson_key_by_lesson ON lesson_key (lesson);

-- As what a lesson was last compared with the others of its project.
CREATE TABLE lesson_compared (
    lesson TEXT PRIMARY KEY REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a model read: which sessions it is done with, and the claims it drew from each window of one, as JSON.
CREATE TABLE distilled (
    session TEXT PRIMARY KEY,
    state   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE distilled_window (
    session     TEXT NOT NULL,
    window_hash TEXT NOT NULL,
    claims      TEXT NOT NULL,
    checked     INTEGER NOT NULL,
    PRIMARY KEY (session, window_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE document (
    id          TEXT PRIMARY KEY,
    path        TEXT NOT NULL UNIQUE,
    project     TEXT REFERENCES project (id),
    hash        TEXT NOT NULL,
    title       TEXT NOT NULL,
    type        TEXT NOT NULL,
    tags        TEXT NOT NULL,
    ingested_at INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE chunk (
    id           TEXT PRIMARY KEY,
    document     TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    content      TEXT NOT NULL,
    hash         TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    UNIQUE (document, position)
) STRICT;

CREATE TABLE interaction (
    id               TEXT PRIMARY KEY,
    session          TEXT NOT NULL,
    project          TEXT REFERENCES project (id),
    client           TEXT NOT NULL,
    prompt           TEXT NOT NULL CHECK (prompt <> ''),
    response         TEXT NOT NULL,
    response_summary TEXT NOT NULL,
    context          TEXT NOT NULL,
    lessons_used     TEXT NOT NULL,
    chunks_used      TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    seal             TEXT NOT NULL
) STRICT;
CREATE INDEX interaction_by_time ON interaction (created_at);
CREATE INDEX interaction_by_project ON interaction (project, created_at);
CREATE INDEX interaction_by_session ON interaction (session);

CREATE TABLE reinforcement (
    interaction TEXT NOT NULL REFERENCES interaction (id) ON DELETE CASCADE,
    lesson      TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE,
    matcher     TEXT NOT NULL,
    overlap     REAL NOT NULL,
    before      REAL NOT NULL,
    after       REAL NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (interaction, lesson)
) STRICT, WITHOUT ROWID;
CREATE INDEX reinforcement_by_lesson ON reinforcement (lesson);

CREATE TABLE bootstrap (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    project    TEXT,
    agent      TEXT NOT NULL,
    task       TEXT NOT NULL,
    budget     INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    arm        TEXT NOT NULL,
    propensity REAL NOT NULL,
    -- The store whose key threw the coins; another's may have come with an import.
    dealer     TEXT NOT NULL,
    text_hash  TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX bootstrap_by_session ON bootstrap (session);
CREATE INDEX bootstrap_by_time ON bootstrap (created_at);

CREATE TABLE exposure (
    bootstrap TEXT NOT NULL REFERENCES bootstrap (id) ON DELETE CASCADE,
    item      TEXT NOT NULL,
    event     TEXT NOT NULL,
    rank      INTEGER NOT NULL,
    parts     TEXT NOT NULL,
    tokens    INTEGER NOT NULL,
    shown     INTEGER NOT NULL,
    -- Of being shown in a session that is not held out; 1 for what is never withheld.
    chance    REAL NOT NULL,
    used      INTEGER,
    PRIMARY KEY (bootstrap, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX exposure_by_item ON exposure (item);

-- With what the hook needs to withhold a line at random and to put the next best (`spare`) in its place.
ALTER TABLE standing RENAME TO old_standing;
CREATE TABLE standing (
    project TEXT NOT NULL REFERENCES project (id),
    agent   TEXT NOT NULL,
    rank    INTEGER NOT NULL,
    section TEXT NOT NULL,
    item    TEXT NOT NULL,
    text    TEXT NOT NULL,
    tokens  INTEGER NOT NULL DEFAULT 0,
    exempt  INTEGER NOT NULL DEFAULT 0,
    spare   INTEGER NOT NULL DEFAULT 0,
    score   REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (project, agent, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO standing SELECT project, agent, rank, section, item, text, 0, 0, 0, 0.0 FROM old_standing;
DROP TABLE old_standing;
INSERT INTO stale SELECT id FROM project WHERE true ON CONFLICT (item) DO NOTHING;

-- The audit trail. `chain` hashes `digest` and not the payload, so that forgetting a payload leaves the chain whole.
CREATE TABLE event (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    action  TEXT NOT NULL,
    actor   TEXT NOT NULL,
    item    TEXT NOT NULL,
    before  TEXT NOT NULL,
    after   TEXT NOT NULL,
    why     TEXT NOT NULL,
    undoes  INTEGER,
    salt    TEXT NOT NULL,
    digest  TEXT NOT NULL,
    chain   TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_item ON event (item, number);

-- What was forgotten on purpose, as keyed hashes that tell nothing by themselves.
CREATE TABLE tombstone (
    kind TEXT NOT NULL CHECK (kind IN ('lesson', 'session', 'project', 'text', 'attempt', 'failure', 'file')),
    hash TEXT NOT NULL,
    hint INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    PRIMARY KEY (kind, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric_snapshot (
    at          INTEGER NOT NULL,
    scope       TEXT NOT NULL,
    name        TEXT NOT NULL,
    value       REAL,
    numerator   REAL,
    denominator REAL,
    PRIMARY KEY (at, scope, name)
) STRICT, WITHOUT ROWID;

-- What the agents' hooks did: how long each took, and what went wrong.
CREATE TABLE hook_run (
    id           TEXT PRIMARY KEY,
    at           INTEGER NOT NULL,
    event        TEXT NOT NULL,
    agent        TEXT NOT NULL,
    microseconds INTEGER NOT NULL,
    error        TEXT NOT NULL
) STRICT;
CREATE INDEX hook_run_by_time ON hook_run (at);

-- A vector is a scale and a byte a dimension. `hash` is of the text it was made of, `version` counts the writings.
CREATE TABLE embedding (
    item       TEXT PRIMARY KEY,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    value      BLOB NOT NULL,
    hash       TEXT NOT NULL,
    version    INTEGER NOT NULL
) STRICT;
CREATE INDEX embedding_by_version ON embedding (version);

-- SQLite only: the hash of the text that was indexed, and how many items hold a term.
ALTER TABLE search_item ADD COLUMN hash TEXT NOT NULL DEFAULT '';
CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab (search_index, row);

-- Who may use the service. Only a hash of the secret is kept; never part of a dump, for whoever wrote it could let himself in.
CREATE TABLE token (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    projects   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

-- Requests that carried an Idempotency-Key, as keyed hashes, and the item that came of each; empty while it is under way.
CREATE TABLE answered (
    caller  TEXT NOT NULL,
    key     TEXT NOT NULL,
    request TEXT NOT NULL,
    item    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answered_by_time ON answered (at);

-- Pages are read in these orders, and the best known lessons of a project.
CREATE INDEX lesson_by_worth ON lesson (project, confidence, last_confirmed);
CREATE INDEX lesson_by_time ON lesson (last_confirmed, id);
CREATE INDEX lesson_by_project_and_time ON lesson (project, last_confirmed, id);
CREATE INDEX failure_by_use ON failure (sessions, occurrences, last_seen, id);
CREATE INDEX session_by_time ON session (started_at, id);
