"""Readers of text: the one for small files and the one for large ones must agree."""

from __future__ import annotations

import pytest

from umdp.io import files


@pytest.fixture(scope="module", params=["by lines", "by compiled code"])
def both_readers(request):
    """Read every text file by one of the two."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by compiled code":
            patch.setattr(files, "LARGE", 0)
        yield
