CREATE TABLE answered (caller TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, request TEXT COLLATE "C" NOT NULL, item TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (caller, key));
CREATE INDEX answered_by_time ON answered (at);
CREATE TABLE project (id TEXT COLLATE "C" PRIMARY KEY, key TEXT COLLATE "C" NOT NULL UNIQUE, name TEXT COLLATE "C" NOT NULL, description TEXT COLLATE "C" NOT NULL DEFAULT '', status TEXT COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')));
CREATE TABLE bootstrap (id TEXT COLLATE "C" PRIMARY KEY, session TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C", agent TEXT COLLATE "C" NOT NULL, task TEXT COLLATE "C" NOT NULL, budget BIGINT NOT NULL, tokens BIGINT NOT NULL, arm TEXT COLLATE "C" NOT NULL, propensity DOUBLE PRECISION NOT NULL, dealer TEXT COLLATE "C" NOT NULL, text_hash TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL);
CREATE INDEX bootstrap_by_session ON bootstrap (session);
CREATE INDEX bootstrap_by_time ON bootstrap (created_at);
CREATE TABLE conflict (id TEXT COLLATE "C" PRIMARY KEY, status TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'resolved')), resolution TEXT COLLATE "C" NOT NULL, opened_at BIGINT NOT NULL, resolved_at BIGINT);
CREATE TABLE distilled (session TEXT COLLATE "C" PRIMARY KEY, state TEXT COLLATE "C" NOT NULL);
CREATE TABLE distilled_window (session TEXT COLLATE "C" NOT NULL, window_hash TEXT COLLATE "C" NOT NULL, claims TEXT COLLATE "C" NOT NULL, checked BIGINT NOT NULL, PRIMARY KEY (session, window_hash));
CREATE TABLE embedding (item TEXT COLLATE "C" PRIMARY KEY, model TEXT COLLATE "C" NOT NULL, dimensions BIGINT NOT NULL, value BYTEA NOT NULL, hash TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL);
CREATE INDEX embedding_by_version ON embedding (version);
CREATE TABLE event (number BIGINT PRIMARY KEY, at BIGINT NOT NULL, action TEXT COLLATE "C" NOT NULL, actor TEXT COLLATE "C" NOT NULL, item TEXT COLLATE "C" NOT NULL, before TEXT COLLATE "C" NOT NULL, after TEXT COLLATE "C" NOT NULL, why TEXT COLLATE "C" NOT NULL, undoes BIGINT, salt TEXT COLLATE "C" NOT NULL, digest TEXT COLLATE "C" NOT NULL, chain TEXT COLLATE "C" NOT NULL, lane BIGINT NOT NULL DEFAULT 0);
CREATE INDEX event_by_item ON event (item, number);
CREATE INDEX event_by_lane ON event (lane, number);
CREATE TABLE failure (id TEXT COLLATE "C" PRIMARY KEY, version BIGINT NOT NULL, family TEXT COLLATE "C" NOT NULL, error_type TEXT COLLATE "C" NOT NULL, signature TEXT COLLATE "C" NOT NULL, first_seen BIGINT NOT NULL, last_seen BIGINT NOT NULL, occurrences BIGINT NOT NULL, sessions BIGINT NOT NULL, status TEXT COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'muted')), words TEXT COLLATE "C" NOT NULL DEFAULT '');
CREATE INDEX failure_by_use ON failure (sessions, occurrences, last_seen, id);
CREATE TABLE hook_run (id TEXT COLLATE "C" PRIMARY KEY, at BIGINT NOT NULL, event TEXT COLLATE "C" NOT NULL, agent TEXT COLLATE "C" NOT NULL, microseconds BIGINT NOT NULL, error TEXT COLLATE "C" NOT NULL);
CREATE INDEX hook_run_by_time ON hook_run (at);
CREATE TABLE meta (key TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL);
CREATE TABLE metric_snapshot (at BIGINT NOT NULL, scope TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, value DOUBLE PRECISION, numerator DOUBLE PRECISION, denominator DOUBLE PRECISION, PRIMARY KEY (at, scope, name));
CREATE TABLE opened (source TEXT COLLATE "C" PRIMARY KEY, words TEXT COLLATE "C" NOT NULL, calls_before_edit BIGINT, looks_before_edit BIGINT);
CREATE TABLE passage (id TEXT COLLATE "C" PRIMARY KEY, source TEXT COLLATE "C" NOT NULL, nth BIGINT NOT NULL, message_index BIGINT NOT NULL, at BIGINT NOT NULL, text TEXT COLLATE "C" NOT NULL);
CREATE INDEX passage_by_source ON passage (source, nth);
CREATE TABLE ran (source TEXT COLLATE "C" NOT NULL, command TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, purpose TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('test', 'lint', 'build', 'check', 'run', '')), worked BIGINT NOT NULL, failed BIGINT NOT NULL, proposed BIGINT NOT NULL, broken BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (source, command));
CREATE TABLE session_commit (external_id TEXT COLLATE "C" NOT NULL, sha TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (external_id, sha));
CREATE TABLE source (path TEXT COLLATE "C" PRIMARY KEY, size BIGINT NOT NULL, modified BIGINT NOT NULL, harvester_version BIGINT NOT NULL, refused TEXT COLLATE "C" NOT NULL, damaged BIGINT NOT NULL);
CREATE TABLE stale (item TEXT COLLATE "C" PRIMARY KEY);
CREATE TABLE statement (source TEXT COLLATE "C" NOT NULL, message_index BIGINT NOT NULL, nth BIGINT NOT NULL, text TEXT COLLATE "C" NOT NULL, quote TEXT COLLATE "C" NOT NULL, worth DOUBLE PRECISION NOT NULL, PRIMARY KEY (source, message_index, nth));
CREATE TABLE token (id TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, scopes TEXT COLLATE "C" NOT NULL, projects TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT);
CREATE TABLE tombstone (kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('lesson', 'session', 'project', 'text', 'attempt', 'failure', 'file')), hash TEXT COLLATE "C" NOT NULL, hint BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (kind, hash));
CREATE TABLE touched (source TEXT COLLATE "C" NOT NULL, path TEXT COLLATE "C" NOT NULL, used TEXT COLLATE "C" NOT NULL CHECK (used IN ('read', 'edit', 'run', 'delete')), position BIGINT NOT NULL, times BIGINT NOT NULL, symbols TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (source, path, used));
CREATE INDEX touched_by_path ON touched (path);
CREATE TABLE attempt (id TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL UNIQUE, source TEXT COLLATE "C" NOT NULL CHECK (source IN ('log', 'run', 'crash', 'session', 'import')), session TEXT COLLATE "C" NOT NULL, root TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" REFERENCES project (id), agent TEXT COLLATE "C" NOT NULL, task TEXT COLLATE "C" NOT NULL, approach TEXT COLLATE "C" NOT NULL, phase TEXT COLLATE "C" NOT NULL, outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('success', 'failure', 'rollback', 'partial', 'unknown')), evidence TEXT COLLATE "C" NOT NULL, exit_code BIGINT, diff TEXT COLLATE "C" NOT NULL, test_results TEXT COLLATE "C" NOT NULL, failure_analysis TEXT COLLATE "C" NOT NULL, reflection TEXT COLLATE "C" NOT NULL, retry_count BIGINT NOT NULL, retry_of TEXT COLLATE "C" NOT NULL, git_commit TEXT COLLATE "C" NOT NULL, tokens BIGINT, started_at BIGINT NOT NULL, duration BIGINT, seal TEXT COLLATE "C" NOT NULL);
CREATE INDEX attempt_by_time ON attempt (started_at);
CREATE INDEX attempt_by_outcome ON attempt (outcome, started_at);
CREATE INDEX attempt_by_project ON attempt (project, started_at);
CREATE INDEX attempt_by_session ON attempt (session);
CREATE INDEX attempt_by_root ON attempt (root, started_at);
CREATE TABLE document (id TEXT COLLATE "C" PRIMARY KEY, path TEXT COLLATE "C" NOT NULL UNIQUE, project TEXT COLLATE "C" REFERENCES project (id), hash TEXT COLLATE "C" NOT NULL, title TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, tags TEXT COLLATE "C" NOT NULL, ingested_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
CREATE TABLE interaction (id TEXT COLLATE "C" PRIMARY KEY, session TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" REFERENCES project (id), client TEXT COLLATE "C" NOT NULL, prompt TEXT COLLATE "C" NOT NULL CHECK (prompt <> ''), response TEXT COLLATE "C" NOT NULL, response_summary TEXT COLLATE "C" NOT NULL, context TEXT COLLATE "C" NOT NULL, lessons_used TEXT COLLATE "C" NOT NULL, chunks_used TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, seal TEXT COLLATE "C" NOT NULL);
CREATE INDEX interaction_by_time ON interaction (created_at);
CREATE INDEX interaction_by_project ON interaction (project, created_at);
CREATE INDEX interaction_by_session ON interaction (session);
CREATE TABLE lesson (id TEXT COLLATE "C" PRIMARY KEY, kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('fact', 'pitfall', 'pattern', 'tool-quirk', 'question', 'preference', 'decision', 'identity')), text TEXT COLLATE "C" NOT NULL, scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('global', 'project', 'agent')), project TEXT COLLATE "C" REFERENCES project (id), agent TEXT COLLATE "C" NOT NULL, base_confidence DOUBLE PRECISION NOT NULL CHECK (base_confidence BETWEEN 0 AND 1), confidence DOUBLE PRECISION NOT NULL CHECK (confidence BETWEEN 0 AND 1), status TEXT COLLATE "C" NOT NULL CHECK (status IN ('candidate', 'active', 'superseded', 'invalid', 'archived')), trust TEXT COLLATE "C" NOT NULL CHECK (trust IN ('measured', 'human', 'corroborated', 'claimed', 'untrusted')), rule TEXT COLLATE "C" NOT NULL, failure TEXT COLLATE "C" NOT NULL, first_seen BIGINT NOT NULL, last_confirmed BIGINT NOT NULL, source_count BIGINT NOT NULL, harvester_version BIGINT NOT NULL, tags TEXT COLLATE "C" NOT NULL DEFAULT '[]', valid_from BIGINT, valid_until BIGINT, superseded_by TEXT COLLATE "C" NOT NULL DEFAULT '', last_referenced BIGINT, reference_count BIGINT NOT NULL DEFAULT 0, retrieval_count BIGINT NOT NULL DEFAULT 0, helpful BIGINT NOT NULL DEFAULT 0, harmful BIGINT NOT NULL DEFAULT 0, anchor_path TEXT COLLATE "C" NOT NULL DEFAULT '', anchor_hash TEXT COLLATE "C" NOT NULL DEFAULT '', pinned BIGINT NOT NULL DEFAULT 0, kept BIGINT NOT NULL DEFAULT 0, text_hash TEXT COLLATE "C" NOT NULL DEFAULT '', seal TEXT COLLATE "C" NOT NULL DEFAULT '');
CREATE INDEX lesson_by_project ON lesson (project, status);
CREATE INDEX lesson_by_text ON lesson (text_hash);
CREATE INDEX lesson_by_status ON lesson (status, kind);
CREATE INDEX lesson_by_worth ON lesson (project, confidence, last_confirmed);
CREATE INDEX lesson_by_time ON lesson (last_confirmed, id);
CREATE INDEX lesson_by_project_and_time ON lesson (project, last_confirmed, id);
CREATE TABLE map_command (project TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE, command TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, purpose TEXT COLLATE "C" NOT NULL, worked TEXT COLLATE "C" NOT NULL, failed TEXT COLLATE "C" NOT NULL, broken TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (project, command));
CREATE TABLE map_file (project TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE, path TEXT COLLATE "C" NOT NULL, edited TEXT COLLATE "C" NOT NULL, looked TEXT COLLATE "C" NOT NULL, terms TEXT COLLATE "C" NOT NULL, path_terms TEXT COLLATE "C" NOT NULL DEFAULT '', symbols TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (project, path));
CREATE TABLE map_visit (project TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE, number BIGINT NOT NULL, at BIGINT NOT NULL, branch TEXT COLLATE "C" NOT NULL, title TEXT COLLATE "C" NOT NULL, terms TEXT COLLATE "C" NOT NULL, norm DOUBLE PRECISION NOT NULL, outcome TEXT COLLATE "C" NOT NULL, told BIGINT NOT NULL, came_true BIGINT NOT NULL, PRIMARY KEY (project, number));
CREATE TABLE project_alias (name TEXT COLLATE "C" PRIMARY KEY, project TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE);
CREATE TABLE project_root (path TEXT COLLATE "C" PRIMARY KEY, project TEXT COLLATE "C" NOT NULL REFERENCES project (id), claims TEXT COLLATE "C" NOT NULL DEFAULT '');
CREATE TABLE session (id TEXT COLLATE "C" PRIMARY KEY, agent TEXT COLLATE "C" NOT NULL, external_id TEXT COLLATE "C" NOT NULL, subagent TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" REFERENCES project (id), format TEXT COLLATE "C" NOT NULL, version TEXT COLLATE "C" NOT NULL, path TEXT COLLATE "C" NOT NULL, branch TEXT COLLATE "C" NOT NULL, started_at BIGINT NOT NULL, ended_at BIGINT NOT NULL, messages BIGINT NOT NULL, user_messages BIGINT NOT NULL, tool_calls BIGINT NOT NULL, errors BIGINT NOT NULL, unknown_records BIGINT NOT NULL, redactions BIGINT NOT NULL, content_hash TEXT COLLATE "C" NOT NULL, harvester_version BIGINT NOT NULL, root TEXT COLLATE "C" NOT NULL DEFAULT '', task TEXT COLLATE "C" NOT NULL DEFAULT '', client TEXT COLLATE "C" NOT NULL DEFAULT '', outcome TEXT COLLATE "C" NOT NULL DEFAULT 'unknown' CHECK (outcome IN ('failure', 'completed', 'unknown')), tokens_in BIGINT, tokens_out BIGINT, cost DOUBLE PRECISION, seal TEXT COLLATE "C" NOT NULL DEFAULT '', owner TEXT COLLATE "C" NOT NULL DEFAULT 'own' CHECK (owner IN ('own', 'foreign')), UNIQUE (agent, external_id, subagent));
CREATE INDEX session_by_project ON session (project, started_at);
CREATE INDEX session_by_root ON session (root);
CREATE INDEX session_by_time ON session (started_at, id);
CREATE TABLE standing (project TEXT COLLATE "C" NOT NULL REFERENCES project (id), agent TEXT COLLATE "C" NOT NULL, rank BIGINT NOT NULL, section TEXT COLLATE "C" NOT NULL, item TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, tokens BIGINT NOT NULL DEFAULT 0, exempt BIGINT NOT NULL DEFAULT 0, spare BIGINT NOT NULL DEFAULT 0, score DOUBLE PRECISION NOT NULL DEFAULT 0, PRIMARY KEY (project, agent, rank));
CREATE TABLE exposure (bootstrap TEXT COLLATE "C" NOT NULL REFERENCES bootstrap (id) ON DELETE CASCADE, item TEXT COLLATE "C" NOT NULL, event TEXT COLLATE "C" NOT NULL, rank BIGINT NOT NULL, parts TEXT COLLATE "C" NOT NULL, tokens BIGINT NOT NULL, shown BIGINT NOT NULL, chance DOUBLE PRECISION NOT NULL, used BIGINT, PRIMARY KEY (bootstrap, item));
CREATE INDEX exposure_by_item ON exposure (item);
CREATE TABLE failure_in_project (project TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE, failure TEXT COLLATE "C" NOT NULL REFERENCES failure (id) ON DELETE CASCADE, occurrences BIGINT NOT NULL, sessions BIGINT NOT NULL, first_seen BIGINT NOT NULL, last_seen BIGINT NOT NULL, command TEXT COLLATE "C" NOT NULL, agents TEXT COLLATE "C" NOT NULL, place TEXT COLLATE "C" NOT NULL, visits TEXT COLLATE "C" NOT NULL DEFAULT '', words TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (project, failure));
CREATE INDEX failure_in_project_by_use ON failure_in_project (project, sessions, occurrences, last_seen);
CREATE TABLE fix (id TEXT COLLATE "C" PRIMARY KEY, failure TEXT COLLATE "C" NOT NULL REFERENCES failure (id), steps TEXT COLLATE "C" NOT NULL, succeeded_as TEXT COLLATE "C" NOT NULL, avoid TEXT COLLATE "C" NOT NULL, status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'candidate', 'rejected')), reviewed BIGINT NOT NULL DEFAULT 0, untrusted TEXT COLLATE "C" NOT NULL, confirmed BIGINT NOT NULL, failed_again BIGINT NOT NULL, last_seen BIGINT NOT NULL, projects TEXT COLLATE "C" NOT NULL DEFAULT '');
CREATE INDEX fix_by_failure ON fix (failure, status);
CREATE TABLE occurrence (source TEXT COLLATE "C" NOT NULL, position BIGINT NOT NULL, failure TEXT COLLATE "C" NOT NULL REFERENCES failure (id), project TEXT COLLATE "C", root TEXT COLLATE "C" NOT NULL, agent TEXT COLLATE "C" NOT NULL, message_index BIGINT NOT NULL, at BIGINT NOT NULL, command TEXT COLLATE "C" NOT NULL, exit_code BIGINT, phase TEXT COLLATE "C" NOT NULL, friction TEXT COLLATE "C" NOT NULL, tokens BIGINT NOT NULL, excerpt TEXT COLLATE "C" NOT NULL, words TEXT COLLATE "C" NOT NULL DEFAULT '', beginning TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (source, position));
CREATE INDEX occurrence_by_beginning ON occurrence (beginning);
CREATE INDEX occurrence_by_failure ON occurrence (failure, at);
CREATE INDEX occurrence_by_project ON occurrence (project, failure);
CREATE INDEX occurrence_by_root ON occurrence (root, failure, at);
CREATE TABLE tried (source TEXT COLLATE "C" NOT NULL, position BIGINT NOT NULL, failure TEXT COLLATE "C" NOT NULL REFERENCES failure (id), steps TEXT COLLATE "C" NOT NULL, tried_as TEXT COLLATE "C" NOT NULL, root TEXT COLLATE "C" NOT NULL, PRIMARY KEY (source, failure, steps, tried_as));
CREATE INDEX tried_by_failure ON tried (failure);
CREATE TABLE attempt_file (attempt TEXT COLLATE "C" NOT NULL REFERENCES attempt (id) ON DELETE CASCADE, path TEXT COLLATE "C" NOT NULL, role TEXT COLLATE "C" NOT NULL CHECK (role IN ('read', 'modified', 'created', 'deleted')), position BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (attempt, path, role));
CREATE INDEX attempt_file_by_path ON attempt_file (path);
CREATE TABLE chunk (id TEXT COLLATE "C" PRIMARY KEY, document TEXT COLLATE "C" NOT NULL REFERENCES document (id) ON DELETE CASCADE, position BIGINT NOT NULL, heading_path TEXT COLLATE "C" NOT NULL, content TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, metadata TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, UNIQUE (document, position));
CREATE TABLE conflict_member (conflict TEXT COLLATE "C" NOT NULL REFERENCES conflict (id) ON DELETE CASCADE, lesson TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, PRIMARY KEY (conflict, lesson));
CREATE INDEX conflict_member_by_lesson ON conflict_member (lesson);
CREATE TABLE lesson_compared (lesson TEXT COLLATE "C" PRIMARY KEY REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, state TEXT COLLATE "C" NOT NULL);
CREATE TABLE lesson_key (key TEXT COLLATE "C" NOT NULL, lesson TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, PRIMARY KEY (key, lesson));
CREATE INDEX lesson_key_by_lesson ON lesson_key (lesson);
CREATE TABLE lesson_link (lesson TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, relation TEXT COLLATE "C" NOT NULL CHECK (relation IN ('supports', 'contradicts', 'supersedes', 'derived_from', 'related')), other TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, at BIGINT NOT NULL, PRIMARY KEY (lesson, relation, other));
CREATE INDEX lesson_link_by_other ON lesson_link (other);
CREATE TABLE lesson_source (lesson TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, source TEXT COLLATE "C" NOT NULL, message_index BIGINT NOT NULL, root TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, quote TEXT COLLATE "C" NOT NULL, origin TEXT COLLATE "C" NOT NULL, PRIMARY KEY (lesson, source, message_index));
CREATE INDEX lesson_source_by_source ON lesson_source (source);
CREATE TABLE reinforcement (interaction TEXT COLLATE "C" NOT NULL REFERENCES interaction (id) ON DELETE CASCADE, lesson TEXT COLLATE "C" NOT NULL REFERENCES lesson (id) ON DELETE CASCADE ON UPDATE CASCADE, matcher TEXT COLLATE "C" NOT NULL, overlap DOUBLE PRECISION NOT NULL, before DOUBLE PRECISION NOT NULL, after DOUBLE PRECISION NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (interaction, lesson));
CREATE INDEX reinforcement_by_lesson ON reinforcement (lesson);
CREATE TABLE call (session TEXT COLLATE "C" NOT NULL REFERENCES session (id) ON DELETE CASCADE, position BIGINT NOT NULL, message_index BIGINT NOT NULL, at BIGINT, tool TEXT COLLATE "C" NOT NULL, action TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('ok', 'error', 'unknown')), evidence TEXT COLLATE "C" NOT NULL, exit_code BIGINT, tokens BIGINT NOT NULL DEFAULT 0, suggested BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (session, position));
CREATE TABLE trail (session TEXT COLLATE "C" PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE, opening TEXT COLLATE "C" NOT NULL, digests TEXT COLLATE "C" NOT NULL, copied BIGINT NOT NULL);
CREATE INDEX trail_by_opening ON trail (opening);
CREATE TABLE fix_evidence (fix TEXT COLLATE "C" NOT NULL REFERENCES fix (id) ON DELETE CASCADE, source TEXT COLLATE "C" NOT NULL, root TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, avoid TEXT COLLATE "C" NOT NULL, untrusted TEXT COLLATE "C" NOT NULL, failed_again BIGINT NOT NULL, position BIGINT NOT NULL DEFAULT 0, passing_message BIGINT NOT NULL DEFAULT 0, passing TEXT COLLATE "C" NOT NULL DEFAULT '', cause TEXT COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (fix, source));
CREATE INDEX fix_evidence_by_source ON fix_evidence (source);
CREATE TABLE schema_version (version BIGINT);

CREATE TABLE search_item (
    item  TEXT COLLATE "C" PRIMARY KEY,
    type  TEXT NOT NULL,
    terms TEXT NOT NULL,
    hash  TEXT NOT NULL,
    size  BIGINT NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE TABLE search_total (part BIGINT PRIMARY KEY, items BIGINT NOT NULL, words BIGINT NOT NULL);
CREATE INDEX search_item_lexemes ON search_item USING gin (lexemes);


CREATE TABLE search_passage (
    item  TEXT COLLATE "C" PRIMARY KEY,
    type  TEXT NOT NULL,
    terms TEXT NOT NULL,
    hash  TEXT NOT NULL,
    size  BIGINT NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE TABLE search_passage_total (part BIGINT PRIMARY KEY, items BIGINT NOT NULL, words BIGINT NOT NULL);
CREATE INDEX search_passage_lexemes ON search_passage USING gin (lexemes);

CREATE SEQUENCE attempt_number;
CREATE SEQUENCE event_number;
CREATE TABLE pushed (item TEXT COLLATE "C" NOT NULL, author TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (item, author));
INSERT INTO schema_version VALUES (6);
-- where there is pgvector
ALTER TABLE embedding ADD COLUMN direction vector NOT NULL;
CREATE INDEX embedding_direction ON embedding USING hnsw ((direction::vector(384)) vector_cosine_ops) WHERE dimensions = 384;
