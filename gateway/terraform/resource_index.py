"""Finds resources by their AWS names: an index by resource type, attribute and value, built at the first lookup.

Never look up a value alone: several types may use the same name, and other resources may contain an ARN.
"""

from collections.abc import Callable, Iterable, Mapping

from gateway.core.errors import Ambiguous
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath

_Table = Mapping[str, Mapping[str, None]]
"""Value → the addresses that have it, in order: the keys of a mapping, so that whether one is among them is found at once."""


class ResourceIndex:
    """Addresses by type, attribute and value. Immutable; each table is built at its first lookup."""

    def __init__(self, resources: Iterable[tuple[str, str]], attributes: Callable[[str], Mapping[str, Json]]) -> None:
        """`resources` are pairs of (resource type, address). `attributes` returns the attributes of an address; it is called at most once per attribute."""
        self._addresses: dict[str, list[str]] = {}
        for resource_type, address in resources:
            self._addresses.setdefault(resource_type, []).append(address)
        self._attributes = attributes
        self._tables: dict[tuple[str, str], _Table] = {}

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses of this type whose attribute has this value as text. An empty value matches nothing."""
        return tuple(self._having(resource_type, attribute, value))

    def matching(self, resource_type: str, identity: Mapping[str, str]) -> tuple[str, ...]:
        """The addresses that match every attribute of the identity. An empty identity matches nothing."""
        groups = [self._having(resource_type, attribute, value) for attribute, value in identity.items()]
        if not groups:
            return ()
        # The shortest first: of all the rules of a group, few have the range that is asked for.
        shortest, *others = sorted(groups, key=len)
        return tuple(address for address in shortest if all(address in group for group in others))

    def _having(self, resource_type: str, attribute: str, value: str) -> Mapping[str, None]:
        return self._table(resource_type, attribute).get(value, {}) if value else {}

    def _table(self, resource_type: str, attribute: str) -> _Table:
        table = self._tables.get((resource_type, attribute))
        if table is None:
            built: dict[str, dict[str, None]] = {}
            for address in self._addresses.get(resource_type, ()):
                text = as_text(AttributePath(attribute).value_at(self._attributes(address)))
                if text:
                    built.setdefault(text, {})[address] = None
            table = built
            if resource_type in self._addresses:
                self._tables[resource_type, attribute] = table
        return table


def as_text(value: Json) -> str:
    """A scalar as text, as an AWS call contains it; empty for any other value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else ""


def only_match(addresses: tuple[str, ...], resource_type: str, identity: Mapping[str, str]) -> str | None:
    """The only address, None if there is none. Raises `errors.Ambiguous` if there are several."""
    if len(addresses) > 1:
        named = ", ".join(f"{name} = {value!r}" for name, value in identity.items())
        raise Ambiguous(
            f"{resource_type} with {named} fits {len(addresses)} declared resources ({', '.join(addresses[:3])}), "
            "so Sentinel cannot say which one is meant. Nothing was sent; name it by its ARN or id."
        )
    return addresses[0] if addresses else None
