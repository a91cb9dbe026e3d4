"""Writing UMB files, which hold everything a model has."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.io.files import Model, check_init_label, store
from umdp.io.valuations import pack
from umdp.model import IntervalMDP
from umdp.model.beginnings import initial_states
from umdp.model.structure import mask_of

__all__ = ["encode", "write_umb"]

ENTITIES = {"state": "states", "choice": "choices", "transition": "branches"}


def write_umb(model: Model, path: Path, note: str = "") -> None:
    """Write a model as an uncompressed UMB file.

    Constants, formulas, state names and the texts of variables that hold texts go into the index under
    ``file-data``, where other tools skip them.
    """
    check_init_label(model, path)
    store(path, encode(model, path, note))


def encode(model: Model, path: object, note: str = "") -> bytes:
    """Return the bytes of a model's UMB file."""
    arrays: dict[str, bytes] = {}
    chain = model.is_chain
    interval = isinstance(model, IntervalMDP)
    number = {"type": "double-interval", "size": 128} if interval else {"type": "double", "size": 64}
    annotations: dict[str, Any] = {}
    if not chain:
        arrays["state-to-choices.bin"] = _bytes(model.state_ptr, "<u8")
    arrays["state-is-initial.bin"] = _bits(mask_of(initial_states(model), model.states))
    arrays["choice-to-branches.bin"] = _bytes(model.choice_ptr, "<u8")
    arrays["branch-to-target.bin"] = _bytes(model.successor, "<u8")
    arrays["branch-to-probability.bin"] = _bytes(np.stack(model.numbers, axis=1), "<f8")
    if model.action_codes is not None:
        arrays["actions/choices/values.bin"] = _bytes(model.action_codes, "<u4")
        arrays |= _strings("actions/choices", model.action_names)
    _add_labels(model, annotations, arrays)
    _add_rewards(model, annotations, arrays, number)
    parameters = _parameters(model)
    if note:
        parameters["note"] = note
    index: dict[str, Any] = {
        "format-version": 1,
        "format-revision": 0,
        "file-data": {"tool": "umdp", "parameters": parameters},
        "transition-system": {
            "time": "discrete",
            "#players": 0 if chain else 1,
            "#states": model.states,
            "#initial-states": initial_states(model).size,
            "#choices": model.choices,
            "#choice-actions": len(model.action_names),
            "#branches": model.transitions,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": number,
        },
        "annotations": annotations,
    }
    if model.variables:
        described, records, tables = pack(model.variables, path)
        if tables:
            parameters["strings"] = tables
        index["valuations"] = {"states": {"unique": False, "classes": [{"variables": described}]}}
        arrays["valuations/states/valuations.bin"] = records.tobytes()
    return _archive(msgspec.json.format(msgspec.json.encode(index), indent=2), arrays)


def _parameters(model: Model) -> dict[str, Any]:
    """Return what UMB has no place for; Storm 2.0 refuses indices with values of type string."""
    parameters: dict[str, Any] = {}
    if model.constants:
        parameters["constants"] = dict(model.constants)
    if model.formulas:
        parameters["formulas"] = dict(model.formulas)
    if model.state_names is not None:
        parameters["state_names"] = model.state_names
    return parameters


def _add_labels(model: Model, annotations: dict[str, Any], arrays: dict[str, bytes]) -> None:
    labels = {name: members for name, members in model.labels.items() if name != "init"}
    described: dict[str, Any] = {}
    for key, (name, members) in zip(_identifiers(labels), labels.items(), strict=True):
        described[key] = {"alias": name, "applies-to": ["states"], "type": {"type": "bool", "size": 1}}
        arrays[f"annotations/aps/{key}/states/values.bin"] = _bits(members)
    if described:
        annotations["aps"] = described


def _add_rewards(model: Model, annotations: dict[str, Any], arrays: dict[str, bytes], number: dict[str, Any]) -> None:
    described: dict[str, Any] = {}
    for key, (name, reward) in zip(_identifiers(model.rewards), model.rewards.items(), strict=True):
        parts = {ENTITIES[part]: getattr(reward, part) for part in ENTITIES if getattr(reward, part) is not None}
        if not parts:  # an annotation must apply to something
            parts = {"states": np.zeros(model.states)}
        described[key] = ({"alias": name} if name else {}) | {"applies-to": list(parts), "type": number}
        for entity, values in parts.items():
            # Storm reads the rewards of an interval model as intervals.
            values = np.stack([values] * len(model.numbers), axis=1)
            arrays[f"annotations/rewards/{key}/{entity}/values.bin"] = _bytes(values, "<f8")
    if described:
        annotations["rewards"] = described


def _identifiers(names: Iterable[str]) -> list[str]:
    """Return a different identifier of the characters UMB allows for every name."""
    taken: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^0-9a-z_-]", "_", name.lower())[:40] or "default"
        if plain == "default" and name:
            plain = "default_"
        key, number = plain, 1
        while key in taken:
            number += 1
            key = f"{plain}_{number}"
        taken[key] = None
    return list(taken)


def _bytes(array: NDArray[Any], dtype: str) -> bytes:
    return np.ascontiguousarray(array, dtype=dtype).tobytes()


def _bits(members: NDArray[np.bool_]) -> bytes:
    packed = np.packbits(members, bitorder="little").tobytes()
    return packed.ljust(-(-members.size // 64) * 8, b"\x00")


def _strings(folder: str, names: Iterable[str]) -> dict[str, bytes]:
    encoded = [name.encode() for name in names]
    ends = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
    return {f"{folder}/string-mapping.bin": _bytes(ends, "<u8"), f"{folder}/strings.bin": b"".join(encoded)}


def _archive(index: bytes, arrays: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in {"index.json": index, **arrays}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
