"""Oldhand: what agent sessions taught, for the next session."""

from __future__ import annotations

TYPE_CHECKING = False  # the name is enough for type checkers; importing typing would cost the hook 5 ms
__version__ = "0.1.0"
__all__ = ["Oldhand", "OldhandError", "__version__"]

if TYPE_CHECKING:
    from oldhand.api import Oldhand
    from oldhand.errors import OldhandError


def __getattr__(name: str) -> object:
    """Import on first use: the hook starts cold at every call and needs none of it."""
    if name == "Oldhand":
        from oldhand.api import Oldhand

        return Oldhand
    if name == "OldhandError":
        from oldhand.errors import OldhandError

        return OldhandError
    raise AttributeError(f"module 'oldhand' has no attribute '{name}'")
