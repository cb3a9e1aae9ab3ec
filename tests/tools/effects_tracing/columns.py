"""The leaves of configurations, states and parameters, by dotted path without places in lists."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.tools.effects_tracing.forms import MARKER

KEY: Final = "{key}"
"""The step of a key that was a marker: the key is a leaf of its own."""
ITEM: Final = "{}"
"""The step in place of such a key, in the path of its value."""

Columns = Mapping[str, list[Any]]
"""Path → its values."""


def columns(value: Any) -> Columns:
    """The leaves of a value. What is None is left out."""
    found: dict[str, list[Any]] = defaultdict(list)
    for path, leaf in _leaves(value, ()):
        found[".".join(path)].append(leaf)
    return found


def attribute_columns(value: Any) -> Columns:
    """As `columns`, without `tags_all`, which only repeats the tags."""
    return {path: leaves for path, leaves in columns(value).items() if not path.startswith("tags_all.")}


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            step = str(key)
            if MARKER.fullmatch(step):
                yield (*path, KEY), step
                step = ITEM
            yield from _leaves(item, (*path, step))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    elif value is not None:
        yield path, value


def top(path: str) -> str:
    """The attribute at the top that a path is in."""
    return path.partition(".")[0]


def leaf(path: str) -> str:
    """The last step of a path."""
    return path.rpartition(".")[2]
