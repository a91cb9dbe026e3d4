"""What is counted of the package is counted right, on a package small enough to count by hand."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from bench.house import House, survey
from bench.sentences import branches_on_text, constant_sentences
from bench.way import way

FILES = {
    "__init__.py": '"""A package."""\n',
    "rows.py": """
        '''One line of code, after a docstring.'''
        WIDTH = 3
        '''What it is.'''
    """,
    "solver/__init__.py": "",
    "solver/rows.py": """
        from __future__ import annotations
        import numba
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from umdp.solver.table import Table
        def kernel(function):  # to machine code
            return numba.njit(function)
    """,
    "solver/table.py": """
        from umdp.solver.rows import kernel
        class Table:
            '''Rows.'''
            def asked(self, a, b, c, d, e, f, g, h, *, i=0, j=0): ...
            def _known(self, a, b, c, d, e, f, g, *, h, i): ...
            @staticmethod
            def made(a, b, c, d, e, f, g, h, i): ...
        @kernel
        def sweep(a, b, c, d, e, f, g, h, i, j): return a
        @kernel
        def leap(a, b, c, d, e, f, g, h, i, j, k): return a
        marked = [each for each in range(3)]
        WAYS = (lambda: 1, sweep(*marked, *range(7)))
    """,
    "cli/__init__.py": """
        import sys
        def main():
            '''Come from somewhere else only when called.'''
            from umdp.solver.table import Table, leap
            [first for first in sys.argv]
            Table().asked(*range(8))
            leap(*range(11))
            raise SystemExit(0)
        def _learn(a, b, c, d, e, f, g, h, i: "Annotated[int, typer.Option()]", said=""):
            if said == "the time is up":
                return said.startswith("it was ours")  # foreign
    """,
    "long.py": "def long():\n    '''Short.'''\n"
    + "    x = 1\n\n    # why\n" * 60
    + "def longer():\n"
    + "    x = 1\n" * 61,
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    for name, text in FILES.items():
        path = root / "src" / "umdp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


@pytest.fixture(scope="module")
def house(checkout: Path) -> House:
    return survey(checkout)


def test_parameters_are_counted_without_options_of_public_functions(house: House) -> None:
    assert house.crowded() == ["solver/table.py:Table._known 9", "solver/table.py:Table.made 9"]
    assert house.crowded(kernel=True) == ["solver/table.py:leap 11"]
    assert house.crowded(command=True) == ["cli/__init__.py:_learn 10"]
    assert (house.most(kernel=False), house.most(kernel=True)) == (9, 11)


def test_lines_are_those_with_code_on_them(house: House) -> None:
    lengths = {each.place: each.lines for each in house.functions if each.place.startswith("long.py")}
    assert lengths == {"long.py:long": 61, "long.py:longer": 62}
    assert house.long() == ["long.py:longer 62", "long.py:long 61"]
    assert (house.modules, house.lines) == (7, 1 + 7 + 12 + 10 + 123)


def test_imports_for_type_checking_make_cycles_of_their_own(house: House) -> None:
    assert house.cycles == []
    assert house.typed_cycles == [["umdp.solver.rows", "umdp.solver.table"]]
    assert house.closing == ["umdp.solver.rows -> umdp.solver.table"]
    assert house.stems == {"rows": ["umdp", "umdp.solver"]}


def test_the_way_of_a_command_has_what_it_calls_and_nothing_that_an_import_calls(checkout: Path) -> None:
    assert way(checkout, ("learn", "grid")) == [
        "cli/__init__.py:main", "solver/table.py:Table.asked", "solver/table.py:leap",
    ]  # fmt: skip


def test_text_of_other_packages_is_counted_apart(house: House) -> None:
    assert house.sentences == ["cli/__init__.py:11 said == 'the time is up'"]
    assert house.foreign == ["cli/__init__.py:12 said.startswith('it was ours')"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('if found == "the time is up": ...', True),
        ('over = end in ("stopped", "there is no more data")', True),
        ('if "by chance" in snapshot.reason: ...', True),
        ('if reason.startswith("policy"): ...', True),
        ('if str(error).endswith("missing"): ...', True),
        ('if re.search("no such", said): ...', True),
        ("if ends == ENDED: ...", True),
        ("side = reason.split(' ')[0]", True),
        ("if ends == KIND: ...", False),
        (r"if re.match(r'(\d+) (\d+)', line): ...", False),
        ('match said:\n    case "the time is up": ...', True),
        ('if kind == "stopped": ...', False),
        ('if "goal" in labels: ...', False),
        ("if Ended.TIME in reasons: ...", False),
        ('if text.startswith("-"): ...', False),
        ('print("the time is up")', False),
        ('said = "the time is up"', False),
    ],
)
def test_a_branch_on_text_looks_into_a_sentence(code: str, found: bool) -> None:
    texts = {"a": 'ENDED = "the budget is spent"\nKIND = "log"', "b": f"from a import ENDED, KIND\n{code}"}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    constants = constant_sentences(trees)
    assert constants["a"] == {"ENDED"}
    assert bool(list(branches_on_text(trees["b"], constants["b"]))) == found
