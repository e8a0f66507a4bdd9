"""Every rule there is, in the order in which they name what several of them find."""

from __future__ import annotations

from hardwon.scrub.rule import Rule
from hardwon.scrub.rules.assignments import ASSIGNMENTS
from hardwon.scrub.rules.cloud import CLOUD
from hardwon.scrub.rules.code import CODE
from hardwon.scrub.rules.general import GENERAL
from hardwon.scrub.rules.messages import MESSAGES
from hardwon.scrub.rules.models import MODELS
from hardwon.scrub.rules.money import MONEY
from hardwon.scrub.rules.places import PLACES
from hardwon.scrub.rules.products import PRODUCTS
from hardwon.scrub.rules.services import SERVICES

TOKENS: tuple[Rule, ...] = (*CLOUD, *CODE, *MODELS, *MESSAGES, *MONEY, *PRODUCTS, *SERVICES)
SECRETS: tuple[Rule, ...] = (*TOKENS, *PLACES, *ASSIGNMENTS, *GENERAL)
