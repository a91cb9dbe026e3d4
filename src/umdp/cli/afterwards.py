"""What `umdp learn` writes when it has ended: the policy, and a picture of how the answer came about."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from umdp.errors import FormatError

__all__ = ["Afterwards"]


@dataclass(frozen=True)
class Afterwards:
    """Files to be written from a run when it has ended, whoever ended it."""

    plot: str | None = None
    policy: str | None = None

    def check(self) -> None:
        """Raise an error where a file could not be written in the end."""
        from umdp.cli.plot import picture_file

        if self.plot is not None:
            picture_file(Path(self.plot), place=f"--plot {self.plot}")
        if self.policy is not None:
            file, place = Path(self.policy), f"--policy {self.policy}"
            if file.suffix not in (".json", ".csv"):
                raise FormatError("a policy is written as .json or .csv", path=place)
            if not file.parent.is_dir():
                raise FormatError(f"the folder {file.parent} does not exist; create it first", path=place)
            if file.is_dir():
                raise FormatError("this is a folder; name a file in it", path=place)

    @contextmanager
    def kept(self, out: str | None) -> Iterator[str | None]:
        """Give the file in which to keep the run: the user's, one for the time being, or none."""
        if out is not None or (self.plot is None and self.policy is None):
            yield out
            return
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder, "learned.run"))

    def write(self, run: str, *, aloud: bool) -> None:
        """Write the files from a run, over those of an earlier call."""
        from umdp.cli.plot import Plot
        from umdp.cli.runs import Export

        if self.policy is not None:
            Export(run, self.policy, "policy", force=True).write(aloud=aloud)
        if self.plot is not None:
            Plot((run,), out=self.plot, force=True).draw(aloud=aloud)
