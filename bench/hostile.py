"""Forty names that somebody may have written, and a folder of models, logs, runs and descriptions that have them."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import NamedTuple

__all__ = ["GOAL", "NAMES", "World", "called", "controls"]

GOAL = 'Pmax=? [ F "goal" ]'
NAMES = (
    "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "\x1b[31mred\x1b[0m", "\x9b31mred",
    "\x9d0;title\x9c", "a\rb", "a\nerror: forged", "a\x08\x08b", "a\x7fb", "a\x00b", "a\x0bb\x0cc", "a\x85b", "a\u2028b\u2029c",
    "\u202eabc\u202c", "\u2066abc\u2069", "\u200fabc", "zero\u200bwidth", "\ufeffmark", "tag\U000e0041", "half\udc80",
    "\ufffe", "[red]x[/red]", "[link=http://a]x[/link]", "[/]", "\\[x]", "<script>alert(1)</script>", "\"><img src=x onerror=a>",
    "&lt;b&gt;", "]]>", "<!-- x -->", "|a|b|", "`a`**b**_c_", "[x](javascript:a)", "$x^2$", "$\\frac{", "%s %d {0}", "{n}",
    "../../x", "é漢字🙂",
)  # fmt: skip
EVIL = """
from pathlib import Path
Path("executed").write_text("yes")
from umdp import LUI, MDP, Graph

def graph():
    return Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]}, state_names="ab", actions=["go", "stay"])

def maze():
    return MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"goal": [1]})

def fails():
    raise ValueError("\\x1b[2Jfails\\nerror: forged\\u202e")

class Mine(LUI):
    name = "mine"
"""


class Outcome(NamedTuple):
    """What a call came to."""

    code: int
    out: str
    err: str


def called(arguments: list[str]) -> Outcome:
    """Run the command line in this process."""
    from umdp.cli import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return Outcome(code, out.getvalue(), err.getvalue())


def controls(text: str) -> str | None:
    """Return the first character that must not reach a terminal; None without."""
    import unicodedata

    kinds = ("Cc", "Cf", "Zl", "Zp", "Cs")
    return next((repr(each) for each in text if each != "\n" and unicodedata.category(each) in kinds), None)


class World:
    """A folder in which everything has a hostile name, and what lies in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.chdir(folder)
        self.models = ["grid", "chain", "bandit", "chain.drn", "chain.umb", "chain.tra", "none.drn", "mine.py:none"]
        self.logs = ["log.csv", "lines.jsonl", "renamed.csv", "plugged.csv", "writing.csv"]
        self.runs = ["own.run", "log.run", "plug.run"]
        self.policies = ["policy.json", "policy.csv"]
        self._models()
        self._logs()
        self._runs()
        self.rest = ["proof.json", "plugged.toml", "evil.toml", "named.toml", "list.props", "garbage.bin", "empty"]
        self._rest()
        (folder / "executed").unlink(missing_ok=True)

    def _models(self) -> None:
        import numpy as np

        from umdp import MDP, Rewards
        from umdp.io import write

        count = len(NAMES)
        successor = np.column_stack((np.arange(count), (np.arange(count) + 1) % count)).ravel()
        labels = {"goal": [count - 1], NAMES[0]: [1], NAMES[26]: [2], NAMES[7]: [3]}
        mdp = MDP(
            np.arange(count + 1), np.arange(0, 2 * count + 1, 2), successor, np.full(2 * count, 0.5), labels=labels,
            rewards={"cost": Rewards(state=np.ones(count)), NAMES[3]: Rewards(choice=np.ones(count))},
            state_names=NAMES, actions=NAMES[::-1],
        )  # fmt: skip
        for number, model in enumerate((mdp, mdp.with_intervals(0.1))):
            for ending in ("drn", "umb", "tra"):
                name = f"hostile{number}.{ending}"
                with contextlib.suppress(Exception):  # a format may refuse a name: then there is no such file
                    write(model, name)
                    self.models.append(name)
        for ending in ("drn", "umb", "tra"):
            from umdp.benchmark import chain

            write(chain().with_intervals(0.1) if ending == "umb" else chain(), f"chain.{ending}")
        for name in NAMES:
            with contextlib.suppress(OSError, ValueError):
                Path(f"{name.replace('/', '')}.drn").write_bytes(Path("chain.drn").read_bytes()[:200])
                self.models.append(f"{name.replace('/', '')}.drn")

    def _logs(self) -> None:
        names = [name.replace("\udc80", "") for name in NAMES]
        rows = [(i // 3, names[i % 40], names[(i + 1) % 7], names[(i + 1) % 40], 1) for i in range(240)]
        quoted = ['"' + each.replace('"', '""') + '"' for each in names]
        lines = [
            f"{t},{quoted[names.index(s)]},{quoted[names.index(a)]},{quoted[names.index(n)]},{c}"
            for t, s, a, n, c in rows
        ]
        head = "trajectory,state,action,next,cost\n"
        for name in ("log", "plugged", "writing"):
            Path(f"{name}.csv").write_text(head + "\n".join(lines) + "\n", encoding="utf-8", newline="")
        Path("renamed.csv").write_text(
            f"trajectory,{quoted[0]},{quoted[3]},next,cost\n" + "\n".join(lines), encoding="utf-8"
        )
        Path("lines.jsonl").write_text(
            "\n".join(json.dumps(dict(zip(head.strip().split(","), row, strict=True))) for row in rows),
            encoding="utf-8",
        )
        Path("plugged.toml").write_text("graph = 'evil.py:graph'\n")
        Path("writing.toml").write_text("on-error = 'skip'\naside = 'aside.jsonl'\n")

    def _runs(self) -> None:
        Path("evil.py").write_text(EVIL)
        for asked in (
            ["learn", "chain", "--trajectories", "30", "--out", "own.run"],
            ["learn", "log.csv", 'Pmax=? [ F "b" ]', "--label", f"b={NAMES[14]}", "--out", "log.run"],
            ["learn", "evil.py:maze", GOAL, "--learner", "evil.py:Mine", "--trajectories", "30", "--out", "plug.run"],
            ["export", "own.run", "policy.json"],
            ["export", "own.run", "policy.csv", "--what", "policy"],
            ["learn", "chain", "--confidence", "0.95", "--trajectories", "30", "--certificate", "proof.json"],
        ):
            done = called([*asked, "--quiet"] if asked[0] == "learn" else asked)
            if done.code != 0 and asked[-1] != "policy":
                raise AssertionError((asked, done.err))

    def _rest(self) -> None:
        Path("evil.toml").write_text(
            'environments = [{ name = "x", model = "evil.py:maze", property = \'Pmax=? [ F "goal" ]\' }]\n'
            '[[learners]]\nlabel = "L"\nlearner = "evil.py:Mine"\n'
        )
        text = json.dumps(NAMES[3]), json.dumps(NAMES[26])
        Path("named.toml").write_text(
            f"title = {text[0]}\nseeds = 1\ntrajectories = 20\n"
            f'environments = [{{ name = {text[1]}, model = "chain" }}]\n[[learners]]\nlabel = {text[0]}\nlearner = "lui"\n'
        )
        Path("list.props").write_text(
            f'Pmax=? [ F "goal" ];\n"{NAMES[0]}": Pmin=? [ F "goal" ];\n// {NAMES[14]}\nPmax=? [ F x{NAMES[0]} ];\n'
        )
        Path("garbage.bin").write_bytes(bytes(range(256)) * 20)
        Path("empty").touch()
