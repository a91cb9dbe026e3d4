"""Readers of text: the one for small files and the one for large ones must agree."""

from __future__ import annotations

import pytest

from umdp.io import files


@pytest.fixture(scope="module", params=["by lines", "by compiled code"])
def both_readers(request):
    """Read every text file by one of the two."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LARGE", "SMALL"):
            patch.setattr(files, name, 0 if request.param == "by compiled code" else 2**60)
        yield
