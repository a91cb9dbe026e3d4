"""States as bytes: nothing is lost, and what cannot be kept says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from umdp import ModelError
from umdp.run.codec import pack, unpack

kinds = st.sampled_from([np.uint64, np.int64, np.int32, np.float64, np.bool_])
leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text()
states = st.recursive(leaves, lambda s: st.lists(s) | st.dictionaries(st.text(), s), max_leaves=10)


@given(states)
def test_what_is_packed_is_unpacked(state: object) -> None:
    assert unpack(pack(state)) == state


@given(kinds.flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0))))
def test_arrays_come_back_bit_for_bit(array: np.ndarray) -> None:
    again = unpack(pack({"a": array}))["a"]
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert again.flags.writeable


def test_numbers_of_numpy_become_numbers() -> None:
    assert unpack(pack({"n": np.int64(3), "x": np.float64(0.1)})) == {"n": 3, "x": 0.1}


def test_what_cannot_be_kept_says_so() -> None:
    with pytest.raises(ModelError, match="object cannot be kept"):
        pack({"a": object()})
