"""The few errors a user can act on; each message says what is wrong and what to do."""


class HardwonError(Exception):
    """Base of everything Hardwon raises on purpose; shown as one line, exit 1."""


class NotFound(HardwonError):
    """A file, folder, project or id that was named does not exist."""


class NotAllowed(HardwonError):
    """Something that cannot be done to an item as it stands; the message says why."""


class NotOffered(NotAllowed, AttributeError):
    """A method of the API that a service does not offer."""


class NotASession(HardwonError):
    """A file is not a session of any known agent; the message gives the reason."""


class BadConfig(HardwonError):
    """`config.toml` or an `HARDWON_*` variable cannot be used."""


class NoModel(HardwonError):
    """What turns text into vectors is not installed, or cannot be reached."""


class StoreError(HardwonError):
    """The store cannot be opened, read or written."""


class StoreCorrupt(StoreError):
    """The database file is damaged or not a database."""


class StoreOutdated(StoreError):
    """The database was written by an older Hardwon; the first command that writes brings it up to date."""


class StoreTooNew(StoreError):
    """The database was written by a newer Hardwon."""


class ScrubTimeout(HardwonError):
    """Scrubbing a text took longer than it may; nothing of it was stored."""
