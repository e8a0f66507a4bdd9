"""Leave out of what a session taught what was forgotten on purpose.

The rules are those by which forgetting changed the rows that were there (`said` in store/schema.py), so that a
harvest after it and a harvest before it end with the same store.
"""

from __future__ import annotations

from msgspec.structs import replace

from hardwon.harvest.learn import Learned
from hardwon.model.failure import Fix, Step, Tried
from hardwon.model.harvested import HarvestedAttempt
from hardwon.model.lesson import Draft
from hardwon.scrub.forgotten import Forgotten
from hardwon.sessions.project import Project
from hardwon.store.attempts import id_in_session
from hardwon.store.ids import normalised


def remembered(learned: Learned, forgotten: Forgotten) -> Learned | None:
    """What may be stored of it; None when the whole session is forgotten."""
    if not forgotten:
        return learned
    if _session(learned, forgotten) or (learned.project and _project(learned.project, forgotten)):
        return None
    masked = forgotten.masked
    found = learned.findings
    hidden = {
        seen.fingerprint
        for seen in found.occurrences
        if forgotten.holds("failure", seen.fingerprint) or _any(forgotten, seen.signature, seen.error_type)
    }
    occurrences = [
        seen
        for seen in found.occurrences
        if seen.fingerprint not in hidden and not _any(forgotten, seen.command, seen.excerpt)
    ]
    left = {seen.fingerprint for seen in occurrences}
    fixes = [_shortened(fix, forgotten) for fix in found.fixes if _fix(fix, left, forgotten)]
    tried = [one for one in found.tried if one.fingerprint in left and not _any(forgotten, one.tried_as, *_said(one))]
    row = learned.row._replace(
        branch=masked(learned.row.branch), version=masked(learned.row.version), task=masked(learned.row.task)
    )
    return learned._replace(
        row=row,
        project=_without_root(learned.project, forgotten),
        calls=[call._replace(tool=masked(call.tool), subject=masked(call.subject)) for call in learned.calls],
        findings=found._replace(occurrences=occurrences, fixes=fixes, tried=tried),
        drafts=[
            draft
            for draft in learned.drafts
            if draft.failure not in hidden and not is_forgotten_lesson(draft, forgotten)
        ],
        attempts=[attempt for attempt in learned.attempts if _attempt(row.id, attempt, forgotten)],
    )


def _any(forgotten: Forgotten, *texts: str) -> bool:
    return any(map(forgotten.says, texts))


def _session(learned: Learned, forgotten: Forgotten) -> bool:
    row = learned.row
    return (
        forgotten.holds("session", row.id)
        or forgotten.holds("session", row.agent, row.external_id)
        or _any(forgotten, row.external_id, row.subagent, row.path)
    )


def _project(project: Project, forgotten: Forgotten) -> bool:
    return (
        forgotten.holds("project", project.key)
        or forgotten.holds("project", project.root)
        or _any(forgotten, project.key, project.name)
    )


def _without_root(project: Project | None, forgotten: Forgotten) -> Project | None:
    return Project(project.key, "") if project and forgotten.says(project.root) else project


def _said(one: Fix | Tried) -> list[str]:
    return [part for step in one.steps for part in step]


def _attempt(session: str, attempt: HarvestedAttempt, forgotten: Forgotten) -> bool:
    id = id_in_session(session, attempt.message_index)
    said = (attempt.task, attempt.approach, attempt.test_command, attempt.evidence, *attempt.diff, *attempt.commits)
    return not (forgotten.holds("attempt", id) or _any(forgotten, *said, *(file.path for file in attempt.files)))


def _fix(fix: Fix, left: set[str], forgotten: Forgotten) -> bool:
    return fix.occurrence.fingerprint in left and not _any(forgotten, fix.succeeded_as, *_said(fix))


def _shortened(fix: Fix, forgotten: Forgotten) -> Fix:
    def clean(step: Step) -> bool:
        return not _any(forgotten, *step)

    return replace(fix, avoid=tuple(filter(clean, fix.avoid)))


def is_forgotten_lesson(draft: Draft, forgotten: Forgotten) -> bool:
    return forgotten.holds("lesson", normalised(draft.text)) or _any(forgotten, draft.text, draft.source.quote)
