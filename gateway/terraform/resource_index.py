"""Finds resources by their AWS names: an index by resource type, attribute and value, built at the first lookup.

Never look up a value alone: several types may use the same name, and other resources may contain an ARN.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gateway.core.errors import Ambiguous
from gateway.core.model.invented import UNPREFIXED, generated_prefix
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
        if len(groups) <= 1:
            return tuple(*groups)
        # The shortest first: of all the rules of a group, few have the range that is asked for.
        shortest, *others = sorted(groups, key=len)
        return tuple(address for address in shortest if all(address in group for group in others))

    def matching_but_for_case(self, resource_type: str, identity: Mapping[str, str]) -> tuple[str, ...]:
        """The addresses that match every attribute of the identity if upper and lower case are taken for the same."""
        groups = [
            self._folded(resource_type, attribute).get(value.casefold(), {}) for attribute, value in identity.items()
        ]
        if not groups or not all(groups):
            return ()
        shortest, *others = sorted(groups, key=len)
        return tuple(address for address in shortest if all(address in group for group in others))

    def named_by_prefix(self, resource_type: str, identity: Mapping[str, str]) -> tuple[str, ...]:
        """The addresses for which the provider may have generated a name of the identity: they state its prefix (`name_prefix`), or no name.

        What else they state of the identity agrees with it.
        """
        prefixes = {name: prefix for name, text in identity.items() if (prefix := generated_prefix(text)) is not None}
        if not prefixes:
            return ()
        groups = [self._prefixed(resource_type, name).get(prefix, {}) for name, prefix in prefixes.items()]
        shortest, *others = sorted(groups, key=len)
        rest = {name: text for name, text in identity.items() if name not in prefixes}
        return tuple(
            address
            for address in shortest
            if all(address in group for group in others)
            and all(self._text(address, name) in ("", text) for name, text in rest.items())
        )

    def _prefixed(self, resource_type: str, attribute: str) -> _Table:
        """Prefix of a generated value of the attribute → the addresses that leave the value to the provider."""
        key = resource_type, f"{attribute}_prefix of generated names"
        table = self._tables.get(key)
        if table is None:
            built: dict[str, dict[str, None]] = {}
            for address in self._addresses.get(resource_type, ()):
                if not self._text(address, attribute):
                    prefix = self._text(address, f"{attribute}_prefix") or UNPREFIXED
                    built.setdefault(prefix, {})[address] = None
            table = built
            if resource_type in self._addresses:
                self._tables[key] = table
        return table

    def _folded(self, resource_type: str, attribute: str) -> _Table:
        """Value without case → the addresses that have it."""
        key = resource_type, f"{attribute} without case"
        table = self._tables.get(key)
        if table is None:
            built: dict[str, dict[str, None]] = {}
            for value, addresses in self._table(resource_type, attribute).items():
                built.setdefault(value.casefold(), {}).update(addresses)
            table = built
            if resource_type in self._addresses:
                self._tables[key] = table
        return table

    def _text(self, address: str, attribute: str) -> str:
        return as_text(AttributePath(attribute).value_at(self._attributes(address)))

    def _having(self, resource_type: str, attribute: str, value: str) -> Mapping[str, None]:
        return self._table(resource_type, attribute).get(value, {}) if value else {}

    def _table(self, resource_type: str, attribute: str) -> _Table:
        table = self._tables.get((resource_type, attribute))
        if table is None:
            built: dict[str, dict[str, None]] = {}
            for address in self._addresses.get(resource_type, ()):
                if text := self._text(address, attribute):
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


def only_match(addresses: Sequence[str], resource_type: str, identity: Mapping[str, str]) -> str | None:
    """The only address, None if there is none. Raises `errors.Ambiguous` if there are several."""
    if len(addresses) > 1:
        named = ", ".join(f"{name} = {value!r}" for name, value in identity.items())
        raise Ambiguous(
            f"{resource_type} with {named} fits {len(addresses)} declared resources ({', '.join(addresses[:3])}), "
            "so Sentinel cannot say which one is meant. Nothing was sent; name it by its ARN or id."
        )
    return addresses[0] if addresses else None
