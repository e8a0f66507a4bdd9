"""Whether an answer makes use of a rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.api.interactions import AnswerStretches

UV = "Use uv to install packages in this project."
LONG = (
    "Before a release run the migration rehearsal against a copy of the production database, compare row counts of "
    "every table, then tag the commit, publish the wheel and post the changelog in the maintainers channel."
)
LONG_IN_OTHER_WORDS = (
    "I ran the migration rehearsal against a copy of the production database and compared the row counts of every "
    "table. Then I tagged the commit and published the wheel."
)
SCATTERED = "I use vim.\nUv light.\nA walk.\nWe install lamps.\nA bird.\nPackages came.\nA tree.\nThis project is fine."


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        (UV, "I used uv to install the packages in this project. All green."),
        (UV, "USED  UV\n\nto INSTALL packages;\nproject is set up."),
        ("Never push to main directly.", "As agreed I never push to main directly, so there is a pull request."),
        ("Use uv, never pip install, here.", "I use uv instead of pip install here."),
        ("Port 5433 belongs to the test database.", "The test database has port 5433, which belongs to it alone."),
        (LONG, LONG_IN_OTHER_WORDS),
    ],
)
def test_what_is_said_in_other_forms_of_the_same_words_is_used(rule: str, answer: str) -> None:
    assert AnswerStretches(answer).uses(rule) >= 0.35


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        (UV, "I installed the packages."),
        (UV, ""),
        (UV, f"I ignored the rule '{UV}'"),
        (UV, "It is wrong to use uv to install packages in this project."),
        (UV, SCATTERED),
        ("Never push to main directly.", "I push to main directly."),
        ("Use uv.", "I use uv here and use uv there."),  # too short to mean anything
        (LONG, "I compared the row counts of every table."),
    ],
)
def test_too_little_scattered_or_denied_is_not_used(rule: str, answer: str) -> None:
    assert AnswerStretches(answer).uses(rule) == 0


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_can_be_asked_about(answer: str, rule: str) -> None:
    assert 0 <= AnswerStretches(answer).uses(rule) <= 1
