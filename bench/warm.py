"""What the processes of the cases start from: this package imported, its kernels compiled or loaded."""

import contextlib

import umdp
import umdp.io
from bench import arrays

__all__: list[str] = []

for _model in (arrays.random_sparse(1_000), arrays.clusters(1_000)):
    for _interval in (False, True):
        _shown = _model.with_intervals(0.02, floor=1e-3) if _interval else _model
        for _agent in ("max", "min"):
            _players = _agent + ("min" if _agent == "max" else "max") if _interval else _agent
            for _question in (f'P{_players}=? [ F "goal" ]', f'R{{"cost"}}{_players}=? [ F "end" ]'):
                # A failure shows up again, and is reported, in the case's own process.
                with contextlib.suppress(Exception):
                    umdp.solve(_shown, _question, time_limit=10.0)
