"""States as bytes: numbers, text, lists, dictionaries and arrays, and back, without loss and without running anything.

MessagePack, with arrays as an extension. Bytes may come from a stranger: nothing is allocated that they do not contain, arrays
hold numbers and nothing else, and whatever does not fit is a `FormatError`.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import numpy as np

from umdp.errors import FormatError, ModelError

__all__ = ["pack", "unpack"]

ARRAY = 1  # the code of arrays among MessagePack's extension types
KIND = re.compile(r"[<>|][biuf][1248]")  # bool, int, uint, float of fixed size: no objects, records or text
AXES = 4


def pack(value: Any) -> bytes:
    """Return a value as bytes.

    Examples
    --------
    >>> unpack(pack({"counts": np.array([1, 2]), "done": 3}))
    {'counts': array([1, 2]), 'done': 3}
    """
    try:
        return msgspec.msgpack.encode(value, enc_hook=_encode)
    except RecursionError:
        raise ModelError("what is to be kept in a run is nested too deeply") from None
    except UnicodeEncodeError as error:  # half of a pair: the name of a file that is not text, or a name in a model
        raise ModelError(f"the name {error.object!r} is not text, so that a run cannot hold it; rename it") from None


def unpack(data: bytes) -> Any:
    r"""Return the value that bytes stand for.

    Raises
    ------
    FormatError
        If they stand for none.

    Examples
    --------
    >>> unpack(b"\xdd\xff\xff\xff\xff")
    Traceback (most recent call last):
    ...
    umdp.errors.FormatError: these bytes hold no value (Input data was truncated)
    """
    try:
        return msgspec.msgpack.decode(data, ext_hook=_decode)
    except FormatError:
        raise
    except (msgspec.MsgspecError, RecursionError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise FormatError(f"these bytes hold no value ({error})") from None


def _encode(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and KIND.fullmatch(value.dtype.str) and value.ndim <= AXES:
        head = msgspec.msgpack.encode([value.dtype.str, list(value.shape)])
        return msgspec.msgpack.Ext(ARRAY, len(head).to_bytes(4, "little") + head + value.tobytes())
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    raise ModelError(
        f"{what} cannot be kept in a run; a source's state holds numbers, text, lists, dictionaries and arrays of numbers"
    )


def _decode(code: int, data: memoryview) -> Any:
    if code != ARRAY:
        raise FormatError(f"these bytes hold a value of a kind that is not known ({code})")
    size = int.from_bytes(data[:4], "little")
    kind, shape = msgspec.msgpack.decode(data[4 : 4 + size], type=tuple[str, list[int]])
    if not KIND.fullmatch(kind):
        raise FormatError(f"these bytes hold an array of {kind!r}; arrays hold numbers")
    if len(shape) > AXES or any(side < 0 for side in shape):
        raise FormatError(f"these bytes hold an array of shape {shape[: AXES + 1]}")
    body = data[4 + size :]
    dtype = np.dtype(kind)
    if math.prod(shape) * dtype.itemsize != len(body):
        raise FormatError(f"these bytes hold {len(body)} bytes for an array of shape {shape}")
    return np.frombuffer(body, dtype=dtype).reshape(shape).copy()
