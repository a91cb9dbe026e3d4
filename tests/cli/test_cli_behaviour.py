"""`umdp learn LOG` says what doing as in the log is worth, and by how much the policy is better."""

from __future__ import annotations

import json
import subprocess
import sys


def test_the_log_is_compared_with(umdp, folder) -> None:
    script = [sys.executable, "examples/machine.py", "machine.csv", "--rows", "100000", "--defective", "0"]
    subprocess.run(script, cwd=folder, check=True, capture_output=True)
    words = ("learn", "machine.csv", 'Pmin=? [ F<=20 "failed" ]', "--label", "failed=failed", "--terminal", "failed")
    last = json.loads(umdp(*words, "--json", "--quiet").out.splitlines()[-1])
    assert last["initial"] == "new"
    assert last["behaviour"]["trajectories"] == last["trajectories"]
    assert last["improvement"] == last["behaviour"]["lower"] - last["upper"]
    codes = {each["code"] for each in last["diagnostics"]}
    assert "behaviour" in codes
    assert ("better-than-log" in codes) == (last["improvement"] > 0) != ("not-shown-better" in codes)
    umdp(*words, "--out", "machine.run", "--quiet")
    shown = json.loads(umdp("show", "machine.run", "--json").out)["last"]
    assert (shown["behaviour"], shown["improvement"]) == (last["behaviour"], last["improvement"])
    assert "as in the log it is" in umdp("show", "machine.run").out


def test_what_trajectories_do_not_say_is_not_said(umdp, folder) -> None:
    (folder / "log.csv").write_text("trajectory,state,action,next,pay\n1,a,go,b,1\n1,b,go,a,2\n2,a,go,b,1\n")
    last = json.loads(
        umdp("learn", "log.csv", "Rmax=? [ C<=2 ]", "--reward", "gain=pay", "--json", "--quiet").out.splitlines()[-1]
    )
    assert (last["initial"], last["behaviour"], last["improvement"]) == ("a", None, None)
