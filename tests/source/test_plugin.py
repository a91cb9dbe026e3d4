"""Functions and classes that users write: found by file and name, wherever they run."""

from __future__ import annotations

import pytest

from umdp.errors import FormatError, ModelError
from umdp.run import Config
from umdp.source.resolve import plugin

LEARNER = """
from umdp import LUI
class Mine(LUI):
    name = "mine"
"""
COIN = """
from umdp import MDP
def coin(heads=0.5):
    return MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [heads, 1 - heads, 1, 1], labels={"heads": [1]})
"""


def test_files_are_read_where_they_are(tmp_path) -> None:
    (tmp_path / "mine.py").write_text("answer = 42\n")
    assert plugin(f"{tmp_path}/mine.py:answer") == 42
    (tmp_path / "mine.py").write_text("answer = 43\n")
    assert plugin(f"{tmp_path}/mine.py:answer") == 43  # another content is another module


def test_a_model_and_a_learner_of_ones_own_in_a_run() -> None:
    texts = {"mine.py": LEARNER, "coin.py": COIN}
    question = 'Pmax=? [ F "heads" ]'
    config = Config(
        model="coin.py:coin", parameters={"heads": 0.25}, question=question, learner="mine.py:Mine",
        settings={"strength": [3, 4]}, plugins=texts,
    )  # fmt: skip
    run = config.build()
    assert run.learner.name == "mine"
    assert run.source.truth is not None
    assert run.source.truth.probability[0] == 0.25


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py:x", None, "a.py: this file cannot be read"),
        ("a.py:x", "y = 1", "a.py: there is no 'x' in this file"),
        ("a.py:x", "y = 1\nx = (", "a.py, line 2: this file fails: SyntaxError"),
        ("a.py:x", "y = 1\n\nx = 1 / 0", "a.py, line 3: this file fails: ZeroDivisionError: division by zero"),
    ],
)
def test_files_that_fail(name, text, said) -> None:
    with pytest.raises(FormatError) as caught:
        plugin(name, None if text is None else {"a.py": text})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            Config(model="grid", learner="a.py:x", plugins={"a.py": "x = 3"}),
            "must be a class derived from umdp.Learner",
        ),
        (Config(model="a.py:x", question="Pmax=? [ F true ]", plugins={"a.py": "def x(): return 3"}), "returned int"),
        (Config(model="grid", parameters={"wide": 3}), "grid cannot be called with {'wide': 3}"),
    ],
)
def test_what_is_named_must_be_what_is_needed(config, said) -> None:
    with pytest.raises(ModelError) as caught:
        config.build()
    assert said in str(caught.value)
