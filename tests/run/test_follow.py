"""`umdp learn --log FILE --follow` on a file that grows, killed again and again: every record counts exactly once."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from run.test_kill import finish, progress, start
from umdp import MDP, io
from umdp.run import Store

WALK = MDP(
    [0, 2, 3, 4], [0, 2, 4, 5, 6], [0, 1, 0, 2, 1, 2], [0.5, 0.5, 0.7, 0.3, 1, 1], labels={"home": [1]},
    actions=["walk", "ride", "stay", "stay"], state_names=["street", "home", "lost"],
)  # fmt: skip


def lines(number: int) -> tuple[list[str], np.ndarray]:
    """Return records and how often each transition is in them."""
    rng = np.random.default_rng(number)
    choice = rng.integers(0, 2, number)
    second = rng.random(number) < np.where(choice == 0, 0.5, 0.3)
    names = (("street", "home"), ("street", "lost"))
    text = [
        json.dumps({"trajectory": n, "state": "street", "action": ("walk", "ride")[c], "next": names[c][int(s)]})
        for n, (c, s) in enumerate(zip(choice, second, strict=True))
    ]
    return text, np.bincount(2 * choice + second, minlength=6)


@pytest.mark.parametrize(("records", "kills"), [(1_000, 1), pytest.param(1_000_000, 20, marks=pytest.mark.slow)])
def test_every_record_counts_exactly_once(tmp_path: Path, records: int, kills: int) -> None:
    text, counts = lines(records)
    size = max(records // 200, 20)
    model, log, run = tmp_path / "walk.umb", tmp_path / "events.jsonl", tmp_path / "walk.run"
    io.write(WALK, model)
    log.touch()
    written = threading.Event()

    def write() -> None:
        with log.open("a") as file:
            for begin in range(0, records, size):
                chunk = "\n".join(text[begin : begin + size]) + "\n"
                half = len(chunk) // 2  # a line may be half there for a while
                file.write(chunk[:half])
                file.flush()
                time.sleep(0.02)
                file.write(chunk[half:])
                file.flush()
                time.sleep(0.02)
        written.set()

    threading.Thread(target=write, daemon=True).start()
    luck, done = random.Random(records), 0
    learn = ("learn", model, 'Pmax=? [ F<=1 "home" ]', "--log", log, "--follow", "--quiet", "--out", run)
    while done < kills:
        before = progress(run)
        process = start("resume", run, "--quiet") if before >= 0 else start(*learn)
        ahead = before + luck.randint(1, 4)
        limit = time.monotonic() + 5 + luck.random()
        while process.poll() is None and progress(run) < ahead and time.monotonic() < limit:
            time.sleep(luck.random() * 0.02)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done += 1
        if progress(run) < 0:
            run.unlink(missing_ok=True)
    process = start("resume", run, "--quiet") if progress(run) >= 0 else start(*learn)
    assert written.wait(300)
    limit = time.monotonic() + 120
    while seen(run) < records and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(3)  # all may have been counted before this process was ready to be asked to stop
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    with Store.open(run) as store:
        state = store.state()
    assert state is not None
    np.testing.assert_array_equal(state["counts"], counts)
    assert "written" in finish("export", run, tmp_path / "learned.umb")


def seen(run: Path) -> int:
    if progress(run) < 0:
        return 0
    with Store.open(run) as store:
        last = store.last()
    return 0 if last is None else int(last["steps"])
