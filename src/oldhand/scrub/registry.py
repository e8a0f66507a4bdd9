"""Every rule there is, in the order in which they name what several of them find."""

from __future__ import annotations

from oldhand.scrub.rule import Rule
from oldhand.scrub.rules.assignments import ASSIGNMENTS
from oldhand.scrub.rules.cloud import CLOUD
from oldhand.scrub.rules.code import CODE
from oldhand.scrub.rules.general import GENERAL
from oldhand.scrub.rules.messages import MESSAGES
from oldhand.scrub.rules.models import MODELS
from oldhand.scrub.rules.money import MONEY
from oldhand.scrub.rules.places import PLACES
from oldhand.scrub.rules.products import PRODUCTS
from oldhand.scrub.rules.services import SERVICES

TOKENS: tuple[Rule, ...] = (*CLOUD, *CODE, *MODELS, *MESSAGES, *MONEY, *PRODUCTS, *SERVICES)
SECRETS: tuple[Rule, ...] = (*TOKENS, *PLACES, *ASSIGNMENTS, *GENERAL)
