"""What a forger would do to a certificate: changes to its fields, several at once, and the checksum made right again."""

from __future__ import annotations

import copy

import numpy as np

from verify.forging_data import EVIDENCE, LEARNING
from verify.forging_model import MODEL, Content
from verify.tamper import signed

__all__ = ["forged"]


def forged(content: Content, rng: np.random.Generator) -> tuple[Content, list[str]]:
    """Return a forged copy, with one to four changes, and the names of the changes."""
    made = copy.deepcopy(content)
    groups = [EVIDENCE] if "evidence" in made else [MODEL, LEARNING] if "learning" in made else [MODEL]
    done: list[str] = []
    wanted = int(rng.integers(1, 5))
    for _ in range(40):
        group = groups[int(rng.integers(len(groups)))]
        name = str(rng.choice(list(group)))
        if group[name](made, rng):
            done.append(name)
        if len(done) >= wanted:
            break
    return signed(made), done
