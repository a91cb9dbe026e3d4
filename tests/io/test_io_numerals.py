"""Compiled parsing of numbers, against `float` and `int`, to the last bit."""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_models import assert_same

import umdp.io
from umdp import MDP, FormatError, Rewards
from umdp.io import columns, files
from umdp.io.drn_read import _read_large
from umdp.io.explicit_table import Table
from umdp.io.numerals import HARD, PLAIN, Words, decimal, intern, powers, whole


def read_by_compiled_code(monkeypatch):
    for name in ("LARGE", "SMALL"):
        monkeypatch.setattr(files, name, 0)


def parsed(text: str) -> tuple[int, float, int]:
    status, bits, end = decimal(np.frombuffer(text.encode() + b"\n", dtype=np.uint8), 0, powers())
    return status, struct.unpack("<d", struct.pack("<Q", int(bits)))[0], end


def check(texts: list[str]) -> float:
    """Compare a column of many numbers with `float`; return the share of them that took a second look."""
    data = "".join(f"{i} {text}\n" for i, text in enumerate(texts)).encode()
    found = columns.scan(data, 0, 1, 1, "number", "here")
    assert isinstance(found, columns.Columns)
    wanted = np.array([float(text) for text in texts])
    assert found.lower.tobytes() == wanted.tobytes()
    assert np.array_equal(found.whole[0], np.arange(len(texts)))
    return sum(parsed(text)[0] == HARD for text in texts[:2000]) / len(texts[:2000])


def test_shortest_texts_of_random_doubles():
    rng = np.random.default_rng(1)
    assert check([repr(value) for value in rng.random(200_000).tolist()]) == 0
    bits = rng.integers(0, 2**64, 200_000, dtype=np.uint64).view(np.float64)
    assert check([repr(value) for value in bits[np.isfinite(bits)].tolist()]) < 0.01


def test_random_decimals():
    rng = np.random.default_rng(2)
    digits = rng.integers(0, 2**63, 100_000).tolist()
    places, exponents = rng.integers(1, 20, 100_000).tolist(), rng.integers(-345, 290, 100_000).tolist()
    texts = [f"{n % 10**k}e{e}" for n, k, e in zip(digits, places, exponents, strict=True)]
    assert check(texts) < 0.2
    assert check([f"{value:.{k}f}" for value, k in zip(rng.random(100_000), places, strict=True)]) < 0.1


def test_halfway_between_two_doubles_and_a_little_beside():
    rng = np.random.default_rng(3)
    texts = []
    for mantissa, power in zip(
        rng.integers(2**52, 2**53, 5000).tolist(), rng.integers(-11, 6, 5000).tolist(), strict=True
    ):
        half = Fraction(2 * mantissa + 1) * Fraction(2) ** power
        with localcontext() as context:
            context.prec = 40
            text = str(Decimal(half.numerator) / Decimal(half.denominator))
        texts += [text, text + ("1" if "." in text else ".1")]
    check(texts)
    check([str(2**53 + k) for k in range(2000)] + [str(2**62 + 2**8 * k + 2**7) for k in range(2000)])


@pytest.mark.parametrize(
    "text",
    ["0", "-0.0", "+1", "1.", ".5", "1e5", "1E-5", "1e+05", "00012.5", "1.7976931348623157e308", "2.2250738585072014e-308",
     "9007199254740993", "1e22", "1e23", "8.5e-5", "0.000000000000000000000000000000000000000000000000000000001"],
)  # fmt: skip
def test_plain_forms(text):
    status, value, end = parsed(text)
    assert (status, end) == (PLAIN, len(text))
    assert struct.pack("<d", value) == struct.pack("<d", float(text))


@pytest.mark.parametrize(
    "text",
    ["", ".", "-", "e5", "1e", "1e+", "1e999999", "5e-324", "1e-310", "1e400", "12345678901234567890", "nan", "inf"],
)
def test_what_takes_a_second_look(text):
    assert parsed(text)[0] == HARD


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_reads_back(value):
    status, found, _ = parsed(repr(value))
    assert status == HARD or struct.pack("<d", found) == struct.pack("<d", value)


@given(st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{0,4})?", fullmatch=True))
def test_any_text_that_looks_like_a_number(text):
    status, found, end = parsed(text)
    if status == PLAIN:
        assert struct.pack("<d", found) == struct.pack("<d", float(text[:end]))


def test_whole_numbers():
    for text, wanted in (("0", 0), ("17 ", 17), ("999999999", 999999999), ("1234567890", -1), ("-1", -1), ("x", -1)):
        assert whole(np.frombuffer(text.encode() + b"\n", dtype=np.uint8), 0)[0] == wanted


def test_words_have_one_number_each():
    listed = [b"a", b"bb", b"a", b"", b"c" * 40, b"bb", b""]
    data = np.frombuffer(b"".join(listed), dtype=np.uint8)
    words = Words.room(4)
    known: dict[bytes, int] = {}
    at = 0
    for word in listed:
        assert intern(data, at, at + len(word), words, len(known)) == known.setdefault(word, len(known))
        at += len(word)
    assert intern(data, 0, 5, words, len(known)) == -1


LONG = "3 4\n0 1 0.5\n0 2 1/2\n1 1 1\n2 2 1\n"


def test_a_large_file_may_have_quotients(tmp_path, monkeypatch):
    read_by_compiled_code(monkeypatch)
    (tmp_path / "m.tra").write_text(LONG)
    assert umdp.io.read(tmp_path / "m.tra").probability.tolist() == [0.5, 0.5, 1, 1]
    (tmp_path / "m.tra").write_text(LONG.replace("0 1 0.5", "0 1 [.25 , 1/2]"))
    model = umdp.io.read(tmp_path / "m.tra")
    assert model.lower.tolist() == [0.25, 0.5, 1, 1]
    assert model.upper.tolist() == [0.5, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1 1 1", "1 1 x1", r'line 4: probability "x1" is not a number'),
        ("1 1 1", "1 y 1", r'line 4: successor state "y" is not a number'),
        ("0 2 1/2", "0 2 1/0", r'line 3: probability "1/0" is not a number'),
        ("0 2 1/2", "0 7 1/2", r"line 3: successor state 7 does not exist; they are numbered 0 to 2"),
    ],
)
def test_a_mistake_in_a_large_file_is_found_without_splitting_it(tmp_path, monkeypatch, old, new, said):
    read_by_compiled_code(monkeypatch)
    monkeypatch.setattr(Table, "check_lengths", None)  # nothing gets there
    (tmp_path / "m.tra").write_text(LONG.replace(old, new))
    with pytest.raises(FormatError, match=said):
        umdp.io.read(tmp_path / "m.tra")


def model_with_everything(interval):
    rng = np.random.default_rng(5)
    states = 50
    successor = np.sort(np.stack([rng.permutation(states)[:3] for _ in range(2 * states)]), axis=1).ravel()
    probability = np.tile([0.25, 0.5, 0.25], 2 * states)
    model = MDP(
        2 * np.arange(states + 1), 3 * np.arange(2 * states + 1), successor, probability, initial=3,
        labels={"goal": rng.random(states) < 0.3, "two words": [1, 2, 4], "none": []},
        rewards={"time": Rewards(state=rng.random(50), choice=rng.random(100)), "cost": Rewards(choice=rng.random(100))},
        actions=[f"go{i % 7}" if i % 5 else "" for i in range(2 * states)], variables={"x": np.arange(states)},
    )  # fmt: skip
    return model.with_intervals(0.1) if interval else model


@pytest.mark.parametrize("interval", [False, True])
def test_what_this_package_writes_is_read_by_compiled_code(tmp_path, monkeypatch, interval):
    model = model_with_everything(interval)
    for name in ("m.drn", "m.tra"):
        umdp.io.write(model, tmp_path / name)
    found = _read_large((tmp_path / "m.drn").read_bytes(), tmp_path / "m.drn")
    assert found is not None
    assert_same(model, found)
    read_by_compiled_code(monkeypatch)
    for path in tmp_path.glob("m.*"):
        if path.suffix in (".tra", ".trew", ".srew"):
            assert type(Table.load(path)) is not Table
    assert_same(model, umdp.io.read(tmp_path / "m.tra"))


DRN = (
    "@type: MDP\n@value_type: double\n@parameters\n\n@placeholders\n$third : 1/3\n@reward_models\n\n"
    "@nr_states\n2\n@nr_choices\n2\n@model\n"
    "state 0 init start\n\taction 0\n\t\t0 : $third\n\t\t1 : 2/3\nstate 1 goal\n\taction 0\n\t\t1 : 1\n"
)


def test_a_large_drn_file_may_have_quotients_and_placeholders(tmp_path):
    found = _read_large(DRN.encode(), tmp_path / "m.drn")
    assert found.probability.tolist() == [1 / 3, 2 / 3, 1]
    assert found.labels["start"].tolist() == [True, False]
    found = _read_large(DRN.replace("$third\n\t\t1 : 2/3", "[1/4, 0.5]\n\t\t1 : 2/3").encode(), tmp_path / "m.drn")
    assert (found.lower.tolist(), found.upper.tolist()) == ([0.25, 2 / 3, 1], [0.5, 2 / 3, 1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 : 2/3", "1 ; 2/3"), ("1 : 2/3", "1 : 2/0"), ("1 : 2/3", "2 : 2/3"), ("1 : 2/3", "1 : [0.5]"), ("1 : 2/3", "1 :"),
        ("1 : 2/3", "1 : [0.9, 0.5]"), ("1 : 2/3", "1 : nan"), ("state 1", "state 2"), ("state 1", "state 01"),
        ("state 1", "state 1 [3]"), ("\taction 0\n\t\t1 : 1", "\t\t1 : 1"), ("\taction 0\n\t\t1 : 1", "\taction 0"),
        ("@nr_choices\n2", "@nr_choices\n3"), ("@nr_states\n2", "@nr_states\n3"), ("goal", "!3"), ("\taction 0", "\tax"),
        ("\t\t1 : 1", "hello"), ("state 0 ", "0 : 1\nstate 0 "),
    ],
)  # fmt: skip
def test_what_is_unusual_in_a_large_drn_file_is_left_to_the_other_reader(tmp_path, old, new):
    assert old in DRN
    assert _read_large(DRN.replace(old, new).encode(), tmp_path / "m.drn") is None
