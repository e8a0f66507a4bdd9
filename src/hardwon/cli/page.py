"""Lines on a terminal, wrapped under their own beginning."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text


class Page:
    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def rule(self) -> None:
        self._console.rule()

    def say(self, text: str, style: str = "") -> None:
        bare = text.lstrip()
        self._console.print(Padding(Text(bare, style=style), (0, 0, 0, len(text) - len(bare)), expand=False))

    def tell(self, text: str) -> None:
        """What came of a key."""
        self.say(f"→ {text}", "bold green")
