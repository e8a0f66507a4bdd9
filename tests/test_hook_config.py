"""Hooks read the settings as every command does, whatever the file looks like; a broken one stops none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import BadConfig, config, hook_config

FOLLOWED = ("budget", "min_confidence", "database")

ODD = [
    "",
    "\n\n",
    "# nothing is set\n",
    '# database = "postgresql://team@db.invalid/x"\n',
    "  budget\t=\t100   # spent\n",
    "budget = 1_000\n",
    "budget = +100\n",
    "budget = -0\n",
    "budget = 0x10\n",
    "budget = 0o17\n",
    "budget = 007\n",
    "budget = 1e3\n",
    "budget = 100.0\n",
    "budget = true\n",
    'budget = "100"\n',
    "budget = 99999999999999999999999999\n",
    f"budget = {'9' * 6000}\n",
    "min_confidence = 1\n",
    "min_confidence = 1e-1\n",
    "min_confidence = .5\n",
    "min_confidence = 5.\n",
    "min_confidence = inf\n",
    "min_confidence = nan\n",
    "min_confidence = 0.50_1\n",
    "database = 'postgresql://x' # here\n",
    'database = "a # b"\n',
    'database = "a\\u0062\\"c"\n',
    "database = '''postgresql://x'''\n",
    'database = """\npostgresql://x"""\n',
    'database = """\nbudget = 5\n"""\nbudget = 7\n',
    "llm_model = '''\nbudget = 5\ndatabase = 'x'\n'''\n",
    'llm_model = "postgres"\nbudget = 3\n',
    'llm_model = "a\nbudget = 5\n',
    '"budget" = 100\n',
    "'budget' = 100\n",
    '"bud\\u0067et" = 100\n',
    "budget.most = 100\n",
    "[budget]\nmost = 1\n",
    "[more]\nbudget = 5\n",
    "[[more]]\nbudget = 5\n",
    "budget = [1,\n 2]\n",
    "llm_model = {a = 1}\nbudget = 5\n",
    "budget = 1\nbudget = 2\n",
    "budget = 1 budget = 2\n",
    "budget\n",
    "budget =\n",
    "= 5\n",
    "budget = 5 # a\x00b\n",
    "budget = 5 # a\x7fb\n",
    "budget = 5 # caf\u00e9 \u200b\n",
    "budget = 5\r\nmin_confidence = 0.5\r\n",
    "budget = 5\rmin_confidence = 0.5\r",
    "budget = 5\x0cmin_confidence = 0.5",
    "budget = 5\u2028min_confidence = 0.5",
    "\ufeffbudget = 5\n",
    "budget = 5\n\ufeffmin_confidence = 0.5",
    "bugdet = 5\n",
    "budget = " + "[" * 5000 + "\n",
    'experiment = "off"\nbudget = 4\n',
    "budget = 2026-11-16\n",
]


def check(home: Path, content: bytes) -> None:
    """What every command takes from the file, the hook does; what no command takes makes it neither fail nor guess."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_bytes(content)
    found = hook_config.load(str(home), {})
    try:
        meant = config.load(home, {}).config
    except BadConfig:
        assert type(found.budget) is int
        assert found.budget >= 0
        assert 0 <= found.min_confidence <= 1
        assert isinstance(found.database, str)
        return
    assert found.trouble == ""
    assert [getattr(found, name) for name in FOLLOWED] == [getattr(meant, name) for name in FOLLOWED]
    assert found.is_experiment is (meant.experiment == "on")


@pytest.mark.parametrize("text", ODD)
def test_an_odd_file_is_read_as_every_command_reads_it(home: Path, text: str) -> None:
    check(home, text.encode("utf-8", "surrogatepass"))


PIECES = [*"\"'#=[]{}.,_-+\\\n\r\t 015e", "budget", "min_confidence", "database", "experiment", '"""', "'''", " = "]
PIECES += ["true", "nan", "\ufeff", "é", "\x00", "postgresql://x", "0.5", "100", '"on"', '"off"', "\r\n", "\\u0041"]
lines = st.tuples(
    st.sampled_from(["budget", "min_confidence", "database", "experiment", "llm_model", "x"]),
    st.sampled_from([" = ", "=", "\t=\t"]),
    st.sampled_from(["5", "0.5", "1", '"on"', '"off"', '"a b"', "'c'", "1_0", '"\\t"', "'''x'''", "[1]", "{}", "1e0"]),
    st.sampled_from(["\n", "\r\n", " # why\n", "\n\n", "\n# x = 1\n", ""]),
).map("".join)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.lists(lines, max_size=5), st.lists(st.sampled_from(PIECES), max_size=25)).map("".join))
def test_any_file_is_read_as_every_command_reads_it(home: Path, text: str) -> None:
    check(home, text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=200))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_survived(home: Path, content: bytes) -> None:
    check(home, content)


def test_of_a_broken_file_what_stands_on_plain_lines_holds(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('budget = 50\nmin_confidence = \ndatabase = "postgresql://x"\n')
    found = hook_config.load(str(home))
    assert (found.budget, found.min_confidence, found.database) == (50, 0.7, "postgresql://x")
    assert found.trouble == "config.toml is not valid TOML, perhaps in line 2"


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [("budget", "12", 12), ("budget", " 1_2 ", 12), ("min_confidence", "1", 1.0), ("database", "", "")],
)
def test_a_variable_wins(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, taken: object) -> None:
    home.mkdir()
    (home / "config.toml").write_text("budget = 5\nmin_confidence = 0.5\ndatabase = 'postgresql://x'\n")
    monkeypatch.setenv(f"HARDWON_{name.upper()}", value)
    assert getattr(hook_config.load(str(home)), name) == getattr(config.load(home).config, name) == taken


@pytest.mark.parametrize("value", ["x", "", "-1", "1.5", "nan", "9" * 6000])
def test_a_variable_that_is_no_budget_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HARDWON_BUDGET", value)
    found = hook_config.load(str(home))
    assert found.budget == 2000
    assert "HARDWON_BUDGET" in found.trouble


@pytest.mark.parametrize(("text", "is_on"), [("'on'", True), ("'off'", False), ("false", False), ("'perhaps'", False)])
def test_the_experiment_is_off_where_somebody_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, is_on: bool
) -> None:
    monkeypatch.delenv("HARDWON_EXPERIMENT")
    home.mkdir()
    (home / "config.toml").write_text(f"experiment = {text}\n")
    assert hook_config.load(str(home)).is_experiment is is_on


def test_a_folder_in_its_place_is_said(home: Path) -> None:
    (home / "config.toml").mkdir(parents=True)
    assert "config.toml cannot be read" in hook_config.load(str(home)).trouble


@pytest.mark.parametrize(("text", "loaded"), [("# x\nbudget = 5 # y\n", False), ("budget = 1_000\n", True)])
def test_the_parser_is_loaded_for_odd_files_alone(home: Path, text: str, *, loaded: bool) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text)
    program = (
        f"import sys; from hardwon import hook_config as h; h.load({str(home)!r}); print('tomllib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loaded)
