"""States as bytes: numbers, text, lists, dictionaries and arrays, and back, without loss."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from umdp.errors import ModelError

__all__ = ["pack", "unpack"]

ARRAY = 1  # the code of arrays among MessagePack's extension types


def pack(value: Any) -> bytes:
    """Return a value as bytes.

    Examples
    --------
    >>> unpack(pack({"counts": np.array([1, 2]), "done": 3}))
    {'counts': array([1, 2]), 'done': 3}
    """
    return msgspec.msgpack.encode(value, enc_hook=_encode)


def unpack(data: bytes) -> Any:
    """Return the value that bytes stand for."""
    return msgspec.msgpack.decode(data, ext_hook=_decode)


def _encode(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        head = msgspec.msgpack.encode([value.dtype.str, list(value.shape)])
        return msgspec.msgpack.Ext(ARRAY, len(head).to_bytes(4, "little") + head + value.tobytes())
    raise ModelError(
        f"a {type(value).__name__} cannot be kept in a run; a source's state holds numbers, text, lists, dictionaries and arrays"
    )


def _decode(code: int, data: memoryview) -> Any:
    size = int.from_bytes(data[:4], "little")
    kind, shape = msgspec.msgpack.decode(data[4 : 4 + size])
    return np.frombuffer(data[4 + size :], dtype=np.dtype(kind)).reshape(shape).copy()
