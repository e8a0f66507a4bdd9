"""Others can measure us: `python -m benchmarks.retrieval` takes any set of items and questions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.quality import coding_memory
from benchmarks.retrieval import judged

from hardwon.recall import minilm
from tests.conftest import REPOSITORY, write_lines


def test_metrics_are_what_their_names_say() -> None:
    assert judged(["a", "b", "c"], {"b": 1.0}) == pytest.approx(
        {"R@5": 1, "R@10": 1, "MRR": 0.5, "nDCG@10": 0.6309}, abs=1e-4
    )
    assert judged(["a"], {"b": 1.0, "c": 1.0}) == {"R@5": 0, "R@10": 0, "MRR": 0, "nDCG@10": 0}
    assert judged(["b", "c"], {"b": 1.0, "c": 3.0})["nDCG@10"] == pytest.approx(2.8928 / 3.6309, abs=1e-4)


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_a_set_of_ones_own_is_measured_within_its_groups(tmp_path: Path) -> None:
    items = [
        {"id": "a1", "text": "Ada: I adopted a cat called Turing.", "group": "ada", "at": "2023-05-08T13:56:00"},
        {"id": "a2", "text": "Bob: How old is it?", "group": "ada", "at": "2023-05-08T13:56:00"},
        {"id": "b1", "text": "Eve: My dog is called Enigma.", "group": "eve"},
    ]
    questions = [
        {"id": 1, "text": "What is the name of Ada's pet?", "relevant": ["a1"], "group": "ada"},
        {"id": 2, "text": "the hound's name", "relevant": {"b1": 1}, "group": "eve"},
        {"id": 3, "text": "nothing is right", "relevant": []},
    ]
    paths = write_lines(tmp_path / "items.jsonl", items), write_lines(tmp_path / "queries.jsonl", questions)
    command = [sys.executable, "-m", "benchmarks.retrieval", "--items", paths[0], "--queries", paths[1], "--json"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    assert list(found) == ["lexical", "vector", "fused"]
    assert found["fused"] == {"R@5": 1.0, "R@10": 1.0, "MRR": 1.0, "nDCG@10": 1.0}


def test_our_own_questions_are_many_and_each_has_its_answer() -> None:
    items, questions = coding_memory()
    assert len(questions) >= 300
    assert len({item.text for item in items}) == len(items)
    assert {id for question in questions for id in question.gains} <= {item.id for item in items}
    assert len({question.text for question in questions}) == len(questions)
