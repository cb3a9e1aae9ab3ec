"""The inline `ingress` and `egress` of a security group: its blocks with single rules added or removed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.core.model.json import Json
from gateway.effects.translators import as_list
from gateway.effects.values import NotUnderstood

_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}
_INLINE_SOURCES = ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids", "security_groups")


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRule:
    """One protocol, one port range, one source or destination. An inline rule of the provider may have several sources."""

    protocol: str
    from_port: int
    to_port: int
    kind: str
    """`cidr_blocks`, `ipv6_cidr_blocks`, `prefix_list_ids`, `security_groups`, or `self`."""
    source: str
    """The CIDR range, prefix list id or group id; for `self`, the id of the group itself."""
    description: str = ""

    @property
    def ports(self) -> tuple[str, int, int]:
        """Protocol, first port, last port."""
        return self.protocol, self.from_port, self.to_port


def protocol_of(value: object) -> str:
    """The protocol by its name; `-1` for every protocol. Raises `NotUnderstood` if there is none."""
    if not isinstance(value, str) or not value:
        raise NotUnderstood("a permission without a protocol")
    return _PROTOCOLS.get(value.lower(), value.lower())


def with_rules(blocks: Sequence[Json], added: Iterable[SingleRule]) -> list[Json]:
    """The recorded blocks with the rules added, each to the block with the same protocol, ports and description if there is one."""
    result = [_Block(block) for block in blocks if isinstance(block, Mapping)]
    by_ports: dict[tuple[object, ...], _Block] = {}
    for block in result:
        by_ports.setdefault((*ports_of(block.recorded), _description(block.recorded)), block)
    for rule in added:
        key = (*rule.ports, rule.description)
        if key not in by_ports:
            by_ports[key] = _Block(_empty_block(rule))
            result.append(by_ports[key])
        by_ports[key].add(rule)
    return [block.json() for block in result]


def without_rules(blocks: Sequence[Json], removed: Iterable[SingleRule]) -> list[Json]:
    """The recorded blocks without these rules and without blocks that have no source left. Like AWS, it ignores the description."""
    result = [_Block(block) for block in blocks if isinstance(block, Mapping)]
    by_source: dict[tuple[object, ...], list[_Block]] = {}
    for block in result:
        for kind, source in _inline_sources(block.recorded):
            by_source.setdefault((*ports_of(block.recorded), kind, source), []).append(block)
    for rule in removed:
        source = "" if rule.kind == "self" else rule.source
        for block in by_source.get((*rule.ports, rule.kind, source), ()):
            block.remove(rule)
    left = (block.json() for block in result)
    return [block for block in left if block.get("self") or any(as_list(block.get(kind)) for kind in _INLINE_SOURCES)]


def _inline_sources(block: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Kind and value of each source of an inline rule; `self` has no value."""
    if block.get("self"):
        yield "self", ""
    for kind in _INLINE_SOURCES:
        yield from ((kind, str(source)) for source in as_list(block.get(kind)))


class _Block:
    """One inline rule of the provider while sources are added and removed. A source is found at once, however many there are."""

    def __init__(self, recorded: Mapping[str, Json]) -> None:
        self.recorded = recorded
        self._self = recorded.get("self")
        self._sources: dict[str, dict[str, None]] = {}

    def add(self, rule: SingleRule) -> None:
        """Add the source of the rule."""
        if rule.kind == "self":
            self._self = True
        else:
            self._of(rule.kind)[rule.source] = None

    def remove(self, rule: SingleRule) -> None:
        """Remove the source of the rule, if it is there."""
        if rule.kind == "self":
            self._self = False
        else:
            self._of(rule.kind).pop(rule.source, None)

    def json(self) -> dict[str, Json]:
        """The rule as it is now, in the provider's form."""
        changed = {kind: list(sources) for kind, sources in self._sources.items()}
        flag = {} if self._self is None else {"self": self._self}
        return {**self.recorded, **changed, **flag}

    def _of(self, kind: str) -> dict[str, None]:
        if kind not in self._sources:
            self._sources[kind] = dict.fromkeys(str(source) for source in as_list(self.recorded.get(kind)))
        return self._sources[kind]


def _empty_block(rule: SingleRule) -> dict[str, Json]:
    return {
        **{kind: [] for kind in _INLINE_SOURCES},
        "description": rule.description,
        "from_port": rule.from_port,
        "protocol": rule.protocol,
        "self": False,
        "to_port": rule.to_port,
    }


def ports_of(recorded: Mapping[str, Json]) -> tuple[str, Json, Json]:
    """Protocol, first port, last port of a recorded block or rule."""
    protocol = protocol_of(str(recorded.get("protocol") or "-1"))
    return (protocol, 0, 0) if protocol == "-1" else (protocol, recorded.get("from_port"), recorded.get("to_port"))


def _description(block: Mapping[str, Json]) -> str:
    return str(block.get("description") or "")
