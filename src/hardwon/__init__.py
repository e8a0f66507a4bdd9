"""Hardwon: what agent sessions taught, for the next session."""

from __future__ import annotations

TYPE_CHECKING = False  # the name is enough for type checkers; importing typing would cost the hook 5 ms
__version__ = "0.1.0"
__all__ = ["Hardwon", "HardwonError", "__version__"]

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.errors import HardwonError


def __getattr__(name: str) -> object:
    """Import on first use: the hook starts cold at every call and needs none of it."""
    if name == "Hardwon":
        from hardwon.api import Hardwon

        return Hardwon
    if name == "HardwonError":
        from hardwon.errors import HardwonError

        return HardwonError
    raise AttributeError(f"module 'hardwon' has no attribute '{name}'")
