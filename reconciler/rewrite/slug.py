"""How resources are named: what two names share, and what is left of a name as a label in code."""

import re
from collections.abc import Iterator, Mapping
from os.path import commonprefix

from gateway.model.json import Json

_NAMES = ("name", "bucket", "function_name", "identifier", "id")


def names(attributes: Mapping[str, Json]) -> Iterator[str]:
    """What people call a resource with these attributes."""
    yield from dict.fromkeys(str(attributes[key]) for key in _NAMES if isinstance(attributes.get(key), str))


def shared(name: str, *others: str) -> str:
    """The longest beginning that a name shares with another, up to a separator."""
    found = max((commonprefix([name, other]) for other in others), key=len, default="")  # noqa: RUF071  names, not paths
    return found[: max(found.rfind(separator) for separator in "-/_.:") + 1]


def slug(name: str) -> str:
    """A name as a label: `AmazonS3ReadOnly` is `amazon_s3_read_only`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").lower()
