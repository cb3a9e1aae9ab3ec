"""gzip whose bytes follow from the content alone, on every version of Python: `gzip.compress` writes another head since 3.13."""

import zlib
from typing import Final

_GZIP: Final = zlib.MAX_WBITS | 16
"""The largest window, with the head and the tail of gzip around."""


def gzipped(content: bytes) -> bytes:
    """The content, compressed as well as it can be, without a name or a time."""
    return zlib.compress(content, 9, wbits=_GZIP)
