"""`config.toml` belongs to its user: what is set is changed, every other character stays as it was written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hardwon import BadConfig, config
from tests.conftest import Run

WRITTEN = """# My settings.
# database = "postgresql://team@db.invalid/lessons"

min_confidence   =  0.8     # not too sure

'sample' = 1_000
llm_model = '''
any
'''
"""


def test_comments_and_layout_stay_when_a_setting_is_changed(hardwon: Run, home: Path) -> None:
    home.mkdir()
    file = home / "config.toml"
    file.write_text(WRITTEN)
    assert hardwon("config", "min_confidence", "0.9").returncode == 0
    assert file.read_text() == WRITTEN.replace("0.8 ", "0.9 ")
    assert hardwon("config", "sample", "1000").returncode == 0
    assert hardwon("config", "budget", "900").returncode == 0
    assert file.read_text() == WRITTEN.replace("0.8 ", "0.9 ").replace("1_000", "1000") + "budget = 900\n"


@pytest.mark.parametrize(
    "text", ["", "# only a comment", "sample = 5", "sample = 5\r\n# here\r\n", "\ufeffsample = 5\n"]
)
@pytest.mark.parametrize("value", ["plain", 'a "quoted" \\ one', "two\nlines", "# no comment", "\u200b\x7f"])
def test_what_is_saved_is_what_is_loaded(home: Path, text: str, value: str) -> None:
    home.mkdir()
    file = home / "config.toml"
    file.write_bytes(text.encode())
    config.save(home, "llm_model", value)
    config.save(home, "half_life_days", "30")
    loaded = config.load(home, {}).config
    assert (loaded.llm_model, loaded.half_life_days) == (value, 30.0)
    kept = [line for line in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n") if line]
    assert set(kept) <= set(file.read_text(encoding="utf-8-sig").split("\n"))
    assert (b"\r\n" in file.read_bytes()) is ("\r\n" in text)


def test_a_refused_value_changes_nothing(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(WRITTEN)
    for name, value in (("min_confidence", "2"), ("min_confidence", "nan"), ("budget", "many"), ("bugdet", "1")):
        with pytest.raises(BadConfig):
            config.save(home, name, value)
    assert (home / "config.toml").read_text() == WRITTEN
    assert tomllib.loads(WRITTEN)["min_confidence"] == 0.8


@pytest.mark.parametrize("text", ["min_confidence = nan\n", f"budget = {'9' * 6000}\n", "budget = " + "[" * 5000])
def test_a_number_that_is_none_and_a_file_that_no_parser_takes_are_refused_in_words(home: Path, text: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text)
    with pytest.raises(BadConfig, match=r"config\.toml"):
        config.load(home, {})


def test_the_first_setting_makes_the_file(home: Path) -> None:
    config.save(home, "budget", "900")
    assert (home / "config.toml").read_text() == "budget = 900\n"
