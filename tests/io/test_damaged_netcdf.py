"""netCDF files with wrong bytes, wrong shapes, or numbers that are somewhere else: one line that names the file."""

from __future__ import annotations

import random

import numpy as np
import pytest
from bench.damaged_files import mutated

from umdp import MDP, FormatError, Rewards
from umdp.io import read, write

h5py = pytest.importorskip("h5py")


@pytest.fixture
def model(tmp_path):
    mdp = MDP(
        [0, 2, 3, 4],
        [0, 2, 3, 4, 5],
        [0, 1, 2, 1, 2],
        [0.5, 0.5, 1, 1, 1],
        labels={"goal": [1]},
        rewards={"cost": Rewards(state=[1, 0, 0])},
        actions=["try", "leave", "stay", "stay"],
    )
    write(mdp.with_intervals(0.1), tmp_path / "m.nc")
    return tmp_path / "m.nc"


def test_files_that_were_cut_off(model):
    data = model.read_bytes()
    for end in (*range(0, 200, 7), *range(200, len(data), 997)):
        model.write_bytes(data[:end])
        with pytest.raises(FormatError, match=r"m\.nc"):
            read(model)


def test_bytes_that_are_wrong(model):
    data, rng = model.read_bytes(), random.Random(3)
    said = []
    for _ in range(150):
        model.write_bytes(mutated(data, rng))
        try:
            read(model)
        except FormatError as error:
            said.append(str(error))
    assert len(said) > 50
    assert all("m.nc" in each and "\n" not in each for each in said)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("lower_nzval", np.zeros((2, 2)), "is not a list"),
        ("lower_nzval", np.zeros(3), "they belong together"),
        ("lower_rowval", np.array([99, 1, 1, 1, 1, 1, 1], np.int32), "names state 99"),
        ("upper_colptr", np.array([1, 2], np.int32), "must rise from"),
        ("stateptr", np.array([1, 7], np.int32), "entries for 3 states"),
        ("label_goal", np.zeros(7), "there must be 3"),
        ("initial_states", np.array([7], np.int32), "names state 7"),
        ("action_vals", np.array([["a", "b"]], dtype=object), "shape"),
    ],
)
def test_shapes_that_are_wrong(model, name, values, said):
    with h5py.File(model, "r+") as file:
        del file[name]
        kind = h5py.string_dtype() if values.dtype == object else values.dtype
        file.create_dataset(name, data=values, dtype=kind)
    with pytest.raises(FormatError, match=said):
        read(model)


def test_what_claims_to_be_huge_takes_no_room(model):
    with h5py.File(model, "r+") as file:
        del file["lower_nzval"]
        file.create_dataset("lower_nzval", shape=(10**13,), dtype="f8", chunks=(1024,))
    with pytest.raises(FormatError, match="claims 10000000000000 entries"):
        read(model)


@pytest.mark.parametrize("way", ["link", "raw", "virtual"])
def test_numbers_are_read_from_no_other_file(model, way):
    secret = model.with_name("secret.bin")
    with h5py.File(secret, "w") as other:
        other["x"] = np.full(6, 0.25)
    with h5py.File(model, "r+") as file:
        size = file["lower_nzval"].shape
        del file["lower_nzval"]
        if way == "link":
            file["lower_nzval"] = h5py.ExternalLink(str(secret), "/x")
        elif way == "raw":
            file.create_dataset("lower_nzval", shape=size, dtype="f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
        else:
            layout = h5py.VirtualLayout(shape=(6,), dtype="f8")
            layout[:] = h5py.VirtualSource(str(secret), "x", shape=(6,))
            file.create_virtual_dataset("lower_nzval", layout)
    with pytest.raises(FormatError, match="is in another file"):
        read(model)
