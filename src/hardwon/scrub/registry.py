"""Every rule there is, in the order in which they name what several of them find."""

from __future__ import annotations

from hardwon.scrub.rule import Rule
from hardwon.scrub.rules.assignments import ASSIGNMENTS
from hardwon.scrub.rules.general import GENERAL
from hardwon.scrub.rules.places import PLACES
from hardwon.scrub.rules.products import PRODUCTS, SERVICES
from hardwon.scrub.rules.published import CLOUD, CODE, MESSAGES, MODELS, MONEY

TOKENS: tuple[Rule, ...] = (*CLOUD, *CODE, *MODELS, *MESSAGES, *MONEY, *PRODUCTS, *SERVICES)
SECRETS: tuple[Rule, ...] = (*TOKENS, *PLACES, *ASSIGNMENTS, *GENERAL)
