"""IntervalMDP.jl's models (.nc): netCDF-4, which is HDF5, with the bounds as two sparse matrices, a column per choice.

Numbers in the file count from 1. A specification beside it (.json) tells what states to reach and to avoid, and rewards.
Labels and rewards of a model that is written here are arrays of their own, which IntervalMDP.jl does not look at.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, MissingExtra, ModelError
from umdp.io.bmdp import padded_choices, padded_rows
from umdp.io.files import Model, certain, initial_state, load, sentence, store
from umdp.io.intervalmdp_spec import read_specification
from umdp.model import Graph, IntervalMDP, Rewards
from umdp.model.beginnings import initial_states

__all__ = ["read_netcdf", "write_netcdf"]

LABEL, STATE_REWARD, CHOICE_REWARD = "label_", "state_reward_", "choice_reward_"
COLUMNS = {"imdp": "from/action", "imc": "from"}
LEVEL = 5  # of compression
# Bytes that a compressed byte can stand for, at most; and of a variable that need not be stored.
DENSEST, ROOM = 1100, 2**20


def read_netcdf(path: Path) -> Model:
    """Return the model in a file of IntervalMDP.jl, an MDP where its bounds coincide; without an initial state it is the first.

    From a specification of the same name (.json) come the labels ``reach`` and ``avoid`` and the rewards ``reward``.
    """
    data = load(path)
    h5py = _h5py("reading")
    if data[:3] == b"CDF":
        raise FormatError(
            "this is a classic netCDF file; IntervalMDP.jl's files are netCDF-4, so save it as that", path=path
        )
    try:
        file = h5py.File(io.BytesIO(data), "r")
    except OSError:
        raise FormatError("this is not a netCDF-4 file, or it is damaged; save it again", path=path) from None
    try:
        with file:
            return certain(_NetcdfFile(file, path).model())
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # the library raises whatever comes to it where bytes are wrong
        raise FormatError(
            f"this file is damaged ({type(error).__name__}: {sentence(error)}); save it again", path=path
        ) from None


class _NetcdfFile:
    def __init__(self, file: Any, path: Path) -> None:
        self.file, self.path = file, path

    def model(self) -> Model:
        from scipy.sparse import csr_array

        kind, states = self._attributes()
        bounds: list[Any] = []
        for which in ("lower", "upper"):
            row, data = self._whole(f"{which}_rowval"), self._array(f"{which}_nzval", "f")
            pointer = self._whole(f"{which}_colptr") - 1
            if row.size != data.size:
                self._fail(f"{which}_rowval has {row.size} entries and {which}_nzval {data.size}; they belong together")
            self._check_pointer(f"{which}_colptr", pointer, row.size)
            self._check_range(f"{which}_rowval", row, states)
            bounds.append(csr_array((data.astype(np.float64), row - 1, pointer), shape=(pointer.size - 1, states)))
        if bounds[0].shape != bounds[1].shape:
            self._fail(f"lower_colptr has {bounds[0].shape[0]} columns and upper_colptr {bounds[1].shape[0]}")
        if kind == "imc" and bounds[0].shape[0] != states:
            self._fail(f"lower_colptr has {bounds[0].shape[0]} columns for {states} states; a chain has one for each")
        state_ptr = np.arange(states + 1) if kind == "imc" else self._whole("stateptr") - 1
        self._check_pointer("stateptr", state_ptr, bounds[0].shape[0])
        if state_ptr.size != states + 1:
            self._fail(f"stateptr has {state_ptr.size} entries for {states} states; there must be one more than states")
        asked = read_specification(self.path.with_suffix(".json"), states)
        labels = self._named(LABEL, states) | ({} if asked is None else asked.labels)
        marked: dict[str, Any] = {}
        initial = self._initial(states, marked)
        try:
            return IntervalMDP.from_matrices(
                bounds[0],
                bounds[1],
                state_ptr.tolist(),
                initial=initial,
                labels={name: values > 0 for name, values in labels.items()} | marked,
                rewards=self._rewards(states, bounds[0].shape[0]) | ({} if asked is None else asked.rewards),
                actions=self._actions(bounds[0].shape[0]),
            )
        except ModelError as error:
            raise FormatError(str(error), path=self.path) from None

    def _attributes(self) -> tuple[str, int]:
        kind = self._attribute("model")
        if kind not in COLUMNS:
            self._fail(f'the attribute "model" is {kind!r}; supported are imdp and imc')
        for name, wanted in (("format", "sparse_csc"), ("rows", "to"), ("cols", COLUMNS[kind])):
            if (given := self._attribute(name)) != wanted:
                self._fail(f'the attribute "{name}" is {given!r}; for a model of type {kind} it is "{wanted}"')
        states = self._attribute("num_states")
        if not isinstance(states, int) or states < 1:
            self._fail(f'the attribute "num_states" is {states!r}; it must be a whole number of at least 1')
        return kind, states

    def _attribute(self, name: str) -> Any:
        if name not in self.file.attrs:
            self._fail(f'the attribute "{name}" is missing; write the file with IntervalMDP.jl again')
        value = self.file.attrs[name]
        value = value.item() if isinstance(value, np.generic | np.ndarray) and np.size(value) == 1 else value
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def _array(self, name: str, kind: str) -> NDArray[Any]:
        if name not in self.file or not hasattr(self._inside(name), "dtype"):
            self._fail(f'the variable "{name}" is missing; write the file with IntervalMDP.jl again')
        variable = self._inside(name)
        if variable.ndim != 1 or variable.dtype.kind not in kind:
            what = "whole numbers" if "f" not in kind else "numbers"
            self._fail(f'the variable "{name}" is not a list of {what}')
        if variable.size * variable.dtype.itemsize > DENSEST * variable.id.get_storage_size() + ROOM:
            self._fail(
                f'the variable "{name}" claims {variable.size} entries, which the file cannot hold; it is damaged'
            )
        try:
            return np.asarray(variable[:])
        except OSError:
            return self._fail(f'the variable "{name}" cannot be read; the file is damaged')

    def _inside(self, name: str) -> Any:
        """Return a variable whose numbers are in this file: HDF5 may name other files to read them from."""
        if type(self.file.get(name, getlink=True)).__name__ == "ExternalLink":
            self._fail(f'the variable "{name}" is in another file; save all of it in one')
        variable = self.file[name]
        if variable.external or variable.is_virtual:
            self._fail(f'the variable "{name}" is in another file; save all of it in one')
        return variable

    def _whole(self, name: str) -> NDArray[np.int64]:
        return self._array(name, "iu").astype(np.int64)

    def _check_pointer(self, name: str, pointer: NDArray[np.int64], end: int) -> None:
        if pointer.size < 2 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
            self._fail(f"{name} must rise from 1 to {end + 1}")

    def _check_range(self, name: str, values: NDArray[np.int64], states: int) -> None:
        wrong = np.flatnonzero((values < 1) | (values > states))
        if wrong.size:
            self._fail(f"{name} names state {values[wrong[0]]}; they are numbered 1 to {states}")

    def _initial(self, states: int, labels: dict[str, Any]) -> int:
        if "initial_states" not in self.file:
            return 0
        given = self._whole("initial_states")
        self._check_range("initial_states", given, states)
        return initial_state(given - 1, "initial", self.path, labels) if given.size else 0

    def _named(self, prefix: str, count: int) -> dict[str, NDArray[Any]]:
        found = {}
        for name in self.file:
            if name.startswith(prefix):
                values = self._array(name, "iuf")
                if values.size != count:
                    self._fail(f"{name} has {values.size} entries; there must be {count}")
                found[name.removeprefix(prefix)] = values
        return found

    def _rewards(self, states: int, choices: int) -> dict[str, Rewards]:
        on_state, on_choice = self._named(STATE_REWARD, states), self._named(CHOICE_REWARD, choices)
        return {name: Rewards(state=on_state.get(name), choice=on_choice.get(name)) for name in on_state | on_choice}

    def _actions(self, choices: int) -> list[str] | None:
        if "action_vals" not in self.file or self._inside("action_vals").dtype.kind != "O":
            return None
        if self.file["action_vals"].shape != (choices,):
            self._fail(f"action_vals has shape {self.file['action_vals'].shape}; there must be {choices} entries")
        return [
            each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
            for each in self.file["action_vals"][:]
        ]

    def _fail(self, message: str) -> NoReturn:
        raise FormatError(message, path=self.path)


def write_netcdf(model: Model, path: Path) -> None:
    """Write a model as IntervalMDP.jl reads it.

    In a state with fewer actions than others the last one is repeated, as IntervalMDP.jl wants as many in all. State names,
    variables, constants and formulas are left out; rewards on transitions are refused.
    """
    for name, reward in model.rewards.items():
        if reward.transition is not None:
            raise FormatError(f'reward "{name}" is on transitions, which the format cannot hold; write .umb', path=path)
    for name in (*model.labels, *model.rewards):
        if "/" in name or not name.isprintable():
            raise FormatError(f"the name {name!r} does not fit into a netCDF file; rename it or write .umb", path=path)
    choice, per_state = padded_choices(model)
    sizes, successor, lower, upper = padded_rows(model, choice)
    pointer = (np.append(0, np.cumsum(sizes)) + 1).astype(np.int32)
    arrays: dict[str, Any] = {"initial_states": (initial_states(model) + 1).astype(np.int32)}
    for which, bound in (("lower", lower), ("upper", upper)):
        arrays |= {
            f"{which}_colptr": pointer,
            f"{which}_rowval": (successor + 1).astype(np.int32),
            f"{which}_nzval": bound,
        }
    arrays["stateptr"] = (np.arange(model.states + 1) * per_state + 1).astype(np.int32)
    arrays["action_vals"] = _action_values(model, choice, per_state)
    arrays |= {LABEL + name: members.astype(np.int8) for name, members in model.labels.items()}
    for name, reward in model.rewards.items():
        on_state = reward.state if reward.state is not None or reward.choice is not None else np.zeros(model.states)
        if on_state is not None:
            arrays[STATE_REWARD + name] = on_state
        if reward.choice is not None:
            arrays[CHOICE_REWARD + name] = reward.choice[choice]
    store(path, _encoded(_h5py("writing"), model.states, arrays))


def _action_values(model: Graph, choice: NDArray[np.int64], per_state: int) -> Any:
    if model.actions is None:
        return np.tile(np.arange(1, per_state + 1, dtype=np.int32), model.states)
    return [model.action_name(c) for c in choice.tolist()]


def _encoded(h5py: Any, states: int, arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", track_order=True) as file:  # in the order of creation, as the netCDF library has it
        about = {"model": "imdp", "format": "sparse_csc", "rows": "to", "cols": "from/action"}
        for name, text in about.items():
            file.attrs[name] = np.bytes_(text)
        file.attrs["num_states"] = np.array([states], np.int64)
        for name, values in arrays.items():
            if isinstance(values, list):
                variable = file.create_dataset(name, data=values, dtype=h5py.string_dtype())
            else:
                variable = file.create_dataset(name, data=values, compression="gzip", compression_opts=LEVEL)
            variable.make_scale(name)  # a dimension of its own name and size
    return buffer.getvalue()


def _h5py(purpose: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtra("netcdf", f"{purpose} .nc files") from None
    return h5py
