"""The few errors a user can act on; each message says what is wrong and what to do."""


class OldhandError(Exception):
    """Base of everything Oldhand raises on purpose; shown as one line, exit 1."""


class NotFound(OldhandError):
    """A file, folder, project or id that was named does not exist."""


class NotAllowed(OldhandError):
    """Something that cannot be done to an item as it stands; the message says why."""


class NotASession(OldhandError):
    """A file is not a session of any known agent; the message gives the reason."""


class BadConfig(OldhandError):
    """`config.toml` or an `OLDHAND_*` variable cannot be used."""


class NoModel(OldhandError):
    """What turns text into vectors is not installed, or cannot be reached."""


class StoreError(OldhandError):
    """The store cannot be opened, read or written."""


class StoreCorrupt(StoreError):
    """The database file is damaged or not a database."""


class StoreTooNew(StoreError):
    """The database was written by a newer Oldhand."""


class ScrubTimeout(OldhandError):
    """Scrubbing a text took longer than it may; nothing of it was stored."""
