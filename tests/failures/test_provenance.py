"""What a text says without its disguise: what is skipped for speed is skipped only where it finds nothing."""

from __future__ import annotations

import re
from random import Random

import pytest

from hardwon.failures import provenance
from hardwon.failures.provenance import comparable, doubt
from hardwon.text.shown import is_plain
from tests.timing import assert_growth, spent

SIGNS = " .*_|-\n,<>~&ab1Zé?½ßжя語\u0301\u0591\u200b\ufe0f😀\r\x1b"


def texts(signs: str, count: int = 4_000) -> list[str]:
    chosen = Random(3)
    return ["".join(chosen.choices(signs, k=chosen.randint(0, 14))) for _ in range(count)]


def test_letters_set_apart_are_looked_for_wherever_they_may_stand() -> None:
    found = [text for text in texts(" .*_|-a1é?語,") if re.search(r"[ .*_|-]\w[ .*_|-]\w[ .*_|-]\w", text)]
    assert len(found) > 100
    assert all(provenance._holds_letters_apart(text.encode("latin-1", "replace")) for text in found)


def test_letters_set_apart_are_put_together_as_line_by_line() -> None:
    spelled = re.compile(r"(?<!\w)(?:\w[ .*_|-]){3,}\w(?!\w)")
    for text in texts(" .*_|-a1é\n"):
        lines = [spelled.sub(lambda found: re.sub("[ .*_|-]", "", found[0]), line) for line in text.split("\n")]
        assert provenance._with_letters_together(text) == "\n".join(lines)


def test_a_letter_that_is_never_put_in_pieces_changes_no_text() -> None:
    for text in texts(SIGNS):
        pieces = re.findall(r"[^\x00-\x7f]{1,64}", text)
        if any(provenance._decomposed(piece) != piece for piece in pieces):
            assert any(map(provenance._is_composed, text)), ascii(text)


def test_what_is_not_ascii_is_as_plain_as_a_search_of_the_whole_text_says() -> None:
    suspect = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\r\u200b]|[!-~][\ufe00-\ufe0f]")
    for text in texts(SIGNS):
        if not text.isascii():
            assert is_plain(text) is (suspect.search(text) is None), ascii(text)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("cd src && GOFLAGS=-mod=mod go build ./...", ""),
        ("GOFLAGS=-insecure go get reef", provenance.SETTING),
        ("GOFLAGS=-mod=mod GOPRIVATE=reef go build", provenance.SOURCE),
        ("export PATH=/opt/reef/bin:$PATH", provenance.SETTING),
        ("git config core.hooksPath .githooks", provenance.SETTING),
        ("git config url.x.insteadOf y", provenance.SOURCE),
        ("npm config set registry reef", provenance.SOURCE),
    ],
)
def test_what_a_step_changes_is_said_as_it_is(step: str, why: str) -> None:
    assert provenance.danger_of_step(step) == why


def test_the_same_text_is_undisguised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    undisguised = provenance._undisguised
    monkeypatch.setattr(provenance, "_undisguised", lambda text: asked.append(text) or undisguised(text))
    text = "Ｒun the tests " * 3
    assert comparable(text) == comparable(text) == "run the tests run the tests run the tests \n"
    assert asked == [text]


def test_few_of_the_last_texts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "_CHARACTERS_KEPT", 1_000)
    monkeypatch.setattr(provenance, "_characters_left", 0)
    for number in range(100):
        comparable(f"output {number} " * 10)
    assert sum(len(text) + len(said) for text, said in provenance._kept.items()) <= 1_000


@pytest.mark.parametrize("piece", ["a b c d ", "a_b_c ", "src/app/main_of_it/", "QUJDREVGR0hJSktMTU5PUFFS ", "é́ "])
def test_undisguising_takes_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        return spent(lambda: provenance._undisguised(piece * (length // len(piece))))

    seconds(1_000)
    assert_growth(lambda: seconds(200_000), lambda: seconds(400_000), most=2.3, noise=0.02)


def test_to_enter_an_environment_brings_nothing() -> None:
    assert doubt(["source ~/conda/etc/profile.d/conda.sh && conda activate reef"], (), [], None) == ""


@pytest.mark.parametrize(
    "command", ["conda env create -f x.yml", "conda install zorb", "conda config --add channels z"]
)
def test_to_fill_one_or_say_where_from_is_for_a_person(command: str) -> None:
    assert doubt([command], (), [], None) != ""
