"""Hardwon: what agent sessions taught, for the next session.

Everything public is here: `Hardwon`, its awaitable twin, `connect` to a service, what they take and return, the errors.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the name is enough for type checkers; importing typing would cost the hook 5 ms
__version__ = "0.2.0"
__all__ = [
    "AsyncHardwon", "Attempt", "Backup", "BadConfig", "Bootstrap", "Call", "Captured", "Check", "Chunk", "Client",
    "Conflict", "Considered", "Damage", "Distilled", "Document", "DocumentDetails", "DumpHeader", "Embedded",
    "Estimate", "Event", "Experiment", "Exported", "Failure", "FailureCost", "FailureDetails", "Fix", "Forgot",
    "Group", "Habit", "Hardwon", "HardwonError", "HarvestReport", "Hit", "Ingested", "Interaction",
    "InteractionPage", "InteractionSummary", "Kind", "KnownFailure", "KnownFix", "Leak", "LeftOut", "Lesson",
    "LessonDetails", "Line", "Loaded", "Loss", "Map", "Me", "Merged", "Message", "Metric", "Metrics", "Migrated",
    "ModificationAttempt", "ModificationJournal", "NewToken", "NoModel", "NotASession", "NotAllowed", "NotFound",
    "NotOffered", "Occurrence", "Outcome", "PastFailure", "PastFailures", "Pending", "Place", "Project", "Ran",
    "Rate", "Regrouped", "Reindexed", "Reinforced", "Repaired", "ReplayReport", "Restored", "Resumption", "Sample",
    "Scope", "ScrubTimeout", "SearchResults", "Session", "SessionDetails", "SessionRecord", "Similar",
    "SimilarLesson", "Source", "Stats", "Status", "Step", "StoreCorrupt", "StoreError", "StoreOutdated",
    "StoreTooNew", "Taken", "Token", "ToolCall", "ToolResult", "Transcript", "Verified", "Visitor", "__version__",
    "connect",
]  # fmt: skip

if TYPE_CHECKING:
    from hardwon.aio import AsyncHardwon
    from hardwon.api import Hardwon
    from hardwon.api.access import NewToken, Token
    from hardwon.api.forget import Forgot
    from hardwon.api.hardwon import Sample
    from hardwon.api.journal import Captured, Group, Stats
    from hardwon.api.review import Conflict, Considered, Pending, SimilarLesson
    from hardwon.api.store import Backup, Reindexed, Restored
    from hardwon.capture.documents import Ingested
    from hardwon.capture.past_failures import PastFailure, PastFailures
    from hardwon.capture.run import Ran
    from hardwon.capture.verify import Verified
    from hardwon.client import Client, connect
    from hardwon.compat import ModificationAttempt, ModificationJournal
    from hardwon.errors import (
        BadConfig,
        HardwonError,
        NoModel,
        NotAllowed,
        NotASession,
        NotFound,
        NotOffered,
        ScrubTimeout,
        StoreCorrupt,
        StoreError,
        StoreOutdated,
        StoreTooNew,
    )
    from hardwon.exchange.dump import Header as DumpHeader
    from hardwon.exchange.dump import Loaded, Migrated
    from hardwon.exchange.intake import Taken
    from hardwon.exchange.markdown import Exported, Merged
    from hardwon.harvest.distil.asking import Distilled, Estimate
    from hardwon.harvest.walk import Report as HarvestReport
    from hardwon.measure.experiment import Experiment
    from hardwon.measure.metrics import Metrics
    from hardwon.measure.report import Report as ReplayReport
    from hardwon.model.attempt import Attempt, Outcome, Similar
    from hardwon.model.lesson import Kind, Scope, Status
    from hardwon.model.metric import Metric, Rate
    from hardwon.model.nouns import (
        Bootstrap,
        Call,
        Chunk,
        Document,
        DocumentDetails,
        Event,
        Failure,
        FailureCost,
        FailureDetails,
        Fix,
        Habit,
        Hit,
        Interaction,
        InteractionPage,
        InteractionSummary,
        KnownFailure,
        KnownFix,
        LeftOut,
        Lesson,
        LessonDetails,
        Line,
        Map,
        Me,
        Occurrence,
        Place,
        Project,
        Reinforced,
        Resumption,
        SearchResults,
        SessionDetails,
        SessionRecord,
        Source,
        Step,
        Visitor,
    )
    from hardwon.model.session import Damage, Loss, Message, Session, ToolCall, ToolResult, Transcript
    from hardwon.recall.embedder import Embedded
    from hardwon.scrub.scrubber import Leak
    from hardwon.store.database import Check
    from hardwon.store.refingerprint import Regrouped
    from hardwon.store.repair import Repaired

_NAMES = {
    "hardwon.aio": "AsyncHardwon",
    "hardwon.api": "Hardwon",
    "hardwon.api.access": "NewToken Token",
    "hardwon.api.forget": "Forgot",
    "hardwon.api.hardwon": "Sample",
    "hardwon.api.journal": "Captured Group Stats",
    "hardwon.api.review": "Conflict Considered Pending SimilarLesson",
    "hardwon.api.store": "Backup Reindexed Restored",
    "hardwon.capture.documents": "Ingested",
    "hardwon.capture.past_failures": "PastFailure PastFailures",
    "hardwon.capture.run": "Ran",
    "hardwon.capture.verify": "Verified",
    "hardwon.client": "Client connect",
    "hardwon.compat": "ModificationAttempt ModificationJournal",
    "hardwon.errors":
        "BadConfig HardwonError NoModel NotASession NotAllowed NotFound NotOffered ScrubTimeout StoreCorrupt "
        "StoreError StoreOutdated StoreTooNew ",
    "hardwon.exchange.dump": "DumpHeader=Header Loaded Migrated",
    "hardwon.exchange.intake": "Taken",
    "hardwon.exchange.markdown": "Exported Merged",
    "hardwon.harvest.distil.asking": "Distilled Estimate",
    "hardwon.harvest.walk": "HarvestReport=Report",
    "hardwon.measure.experiment": "Experiment",
    "hardwon.measure.metrics": "Metrics",
    "hardwon.measure.report": "ReplayReport=Report",
    "hardwon.model.attempt": "Attempt Outcome Similar",
    "hardwon.model.lesson": "Kind Scope Status",
    "hardwon.model.metric": "Metric Rate",
    "hardwon.model.nouns":
        "Bootstrap Call Chunk Document DocumentDetails Event Failure FailureCost FailureDetails Fix Habit Hit "
        "Interaction InteractionPage InteractionSummary KnownFailure KnownFix LeftOut Lesson LessonDetails "
        "Line Map Me Occurrence Place Project Reinforced Resumption SearchResults SessionDetails "
        "SessionRecord Source Step Visitor ",
    "hardwon.model.session": "Damage Loss Message Session ToolCall ToolResult Transcript",
    "hardwon.recall.embedder": "Embedded",
    "hardwon.scrub.scrubber": "Leak",
    "hardwon.store.database": "Check",
    "hardwon.store.refingerprint": "Regrouped",
    "hardwon.store.repair": "Repaired",
}  # fmt: skip
"""Module → its public names, `new=old` where one is called otherwise there; written by `make generated`."""


if not TYPE_CHECKING:  # which knows the names above, and that there are no others

    def __getattr__(name: str) -> object:
        """Import on first use: the hook starts cold at every call and needs none of it."""
        from importlib import import_module

        for module, names in _NAMES.items():
            for public, _, own in (each.partition("=") for each in names.split()):
                if public == name:
                    return getattr(import_module(module), own or public)
        raise AttributeError(f"module 'hardwon' has no attribute '{name}'")
