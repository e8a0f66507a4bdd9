"""What models may cost in a day, and what they have cost today."""

from __future__ import annotations

import time

from hardwon.config import Config
from hardwon.store import meta
from hardwon.store.database import Database


class Spend:
    def __init__(self, db: Database, config: Config) -> None:
        self._db = db
        self._config = config
        self._name = f"llm {time.strftime('%Y-%m-%d', time.gmtime())}"

    def price(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self._config.llm_price_in + tokens_out * self._config.llm_price_out) / 1_000_000

    def today(self) -> tuple[int, float]:
        """Tokens and money."""
        tokens, _, cost = meta.note(self._db, self._name).partition(" ")
        return int(tokens or 0), float(cost or 0)

    def allows(self, tokens: int) -> bool:
        spent, cost = self.today()
        within = spent + tokens <= self._config.llm_tokens_per_day
        return within and cost + self.price(tokens, 0) <= self._config.llm_cost_per_day

    def record(self, tokens_in: int, tokens_out: int) -> None:
        tokens, cost = self.today()
        with self._db.transaction():
            meta.set_note(
                self._db,
                self._name,
                f"{tokens + tokens_in + tokens_out} {cost + self.price(tokens_in, tokens_out):.6f}",
            )
