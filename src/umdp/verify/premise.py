"""What no certificate can show, and a verdict takes on trust: each premise has a code, and its sentence is written here."""

from __future__ import annotations

import enum
import unicodedata
from dataclasses import dataclass
from typing import Any

from umdp.errors import FormatError

__all__ = ["Assumption", "Premise", "file_sentences", "plain"]

SENTENCES, LENGTH = 50, 1000


class Premise(enum.Enum):
    """What must be true besides what the checker proves: a code for programs, a sentence for people."""

    PROCESS = (
        "process",
        "the process has the states, choices, labels and rewards of the file, and of each choice the listed transitions, all of "
        "which can happen, and no others",
    )
    SAMPLES = (
        "samples",
        "the counts are those of independent samples of the process, of all samples of a choice since a moment that was not "
        "chosen by what they show",
    )
    FIXED_BEFORE = (
        "fixed-before",
        "the levels, the method and the parameter of its mixture were fixed before the data",
    )
    FIXED_SIZE = (
        "fixed-size",
        "the number of samples of every choice was fixed before the data, which were looked at once",
    )
    CLASSES = ("classes", "the choices of every class share one distribution over outcomes")
    FUNCTIONS = ("functions", "the functions of the parameters describe the process")
    PRIOR_BOX = ("prior-box", "the parameters lie in the box believed beforehand: {box}")
    PLAYS = (
        "plays",
        "these are the counts of this policy, of all its trajectories since it was fixed, each of which began alike and did not "
        "depend on the others",
    )
    COUNTED = (
        "counted",
        "each trajectory was counted for what the property says of it; the file holds no trajectory, and no probability",
    )
    CANDIDATES = (
        "candidates",
        "the mixture, the parts of the error rate and the number of candidates were fixed before the trajectories that they "
        "judge",
    )
    RANGE = ("range", "no trajectory is worth less than 0 or more than {most}")
    FILE = ("file", 'the file says: "{sentence}"')

    def __init__(self, code: str, sentence: str) -> None:
        self.code, self.sentence = code, sentence

    def of(self, **values: str) -> Assumption:
        """Return the premise as an assumption of one certificate."""
        return Assumption(self, self.sentence.format(**values))


@dataclass(frozen=True)
class Assumption:
    """One thing that a verdict takes on trust."""

    premise: Premise
    text: str

    def as_dict(self) -> dict[str, str]:
        """Return code and text, for JSON."""
        return {"code": self.premise.code, "text": self.text}


def plain(text: str) -> str:
    r"""Return a text of a file as it may be shown: everything that is not a visible character or a space is replaced.

    Examples
    --------
    >>> plain("a\x1b[2Jb\n c"), plain("\u202e\ud800x")
    ('a?[2Jb? c', '??x')
    """
    return "".join("?" if unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" else c for c in text)


def file_sentences(given: Any, place: str) -> tuple[Assumption, ...]:
    """Return the sentences that a file adds, as its own words: quoted, so that none passes for one of the checker."""
    if given is None:
        return ()
    fits = isinstance(given, list) and len(given) <= SENTENCES
    if not fits or any(not isinstance(each, str) or len(each) > LENGTH for each in given):
        raise FormatError(f"{place}: not a list of at most {SENTENCES} sentences of at most {LENGTH} characters")
    return tuple(Premise.FILE.of(sentence=plain(each).replace('"', "'")) for each in given)
