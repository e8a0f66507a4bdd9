"""The Python API: what the command line, the hooks and every other surface are made of."""

from oldhand.api.oldhand import Oldhand

__all__ = ["Oldhand"]
