"""Parses and writes Terraform resource addresses, and matches them against the globs of contracts.

Source: developer.hashicorp.com/terraform/cli/state/resource-addressing. A string key is written as an HCL string.
"""

import functools
import re
from dataclasses import dataclass, replace

Key = int | str | None
"""The key of one instance: a number for `count`, a string for `for_each`, None if there is only one."""

_NAME = r"[^\W\d][\w-]*"
_KEY = r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]'
_STEP = re.compile(rf"module\.({_NAME})({_KEY})?\.")
_RESOURCE = re.compile(rf"(data\.)?(?!module\.|data\.)({_NAME})\.({_NAME})({_KEY})?")
_STACK = re.compile(r"([a-z0-9][a-z0-9-]*):(?!//)")
"""No address of Terraform has a colon before its first dot, and no undeclared resource (`aws_sqs_queue{name=x}`) before its first brace."""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {escaped[1]: plain for plain, escaped in _ESCAPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a resource instance, or without its key of a block."""

    modules: tuple[tuple[str, Key], ...] = ()
    """Module calls from the root inwards: (name, key)."""
    resource_type: str
    name: str
    key: Key = None
    data: bool = False

    def __str__(self) -> str:
        resource = f"{'data.' if self.data else ''}{self.resource_type}.{self.name}{written_key(self.key)}"
        return self.module + ("." if self.modules else "") + resource

    @property
    def module(self) -> str:
        """The address of its module instance, e.g. `module.jobs["a"]`; empty for the root."""
        return ".".join(f"module.{name}{written_key(key)}" for name, key in self.modules)

    @property
    def block(self) -> "Address":
        """The address without its own key: the block in its module instance."""
        return self if self.key is None else replace(self, key=None)

    @property
    def bare(self) -> "Address":
        """The address without any key, as the state writes dependencies."""
        return replace(self, key=None, modules=tuple((name, None) for name, _ in self.modules))


def in_stack(stack: str, address: str) -> str:
    """The name of a resource whose address several stacks have: `prod:aws_sqs_queue.orders`."""
    return f"{stack}:{address}"


def split_stack(text: str) -> tuple[str, str]:
    """The stack that an address names, empty if it names none, and the address in that stack."""
    found = _STACK.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def resource_type_of(text: str) -> str:
    """The resource type in an address; empty if the text is not an address."""
    address = parse_address(text)
    return address.resource_type if address else ""


@functools.lru_cache(maxsize=4096)
def type_of_named(name: str) -> str:
    """The type of the resource that the gateway calls so; of one that no stack declares, what stands before the brace."""
    local = split_stack(name)[1]
    return resource_type_of(local) or local.partition("{")[0]


@functools.lru_cache(maxsize=65536)
def parse_address(text: str) -> Address | None:
    """The address in `text`; None if it is not an address, as `aws_sqs_queue{name=x}`, which stands for an undeclared resource."""
    modules: list[tuple[str, Key]] = []
    at = 0
    while (step := _STEP.match(text, at)) is not None:
        modules.append((step[1], _parse_key(step[2])))
        at = step.end()
    resource = _RESOURCE.fullmatch(text, at)
    if resource is None:
        return None
    return Address(
        modules=tuple(modules),
        resource_type=resource[2],
        name=resource[3],
        key=_parse_key(resource[4]),
        data=resource[1] is not None,
    )


def written_key(key: Key) -> str:
    """The key as part of an address: `[0]`, `["a"]`, or empty."""
    if key is None:
        return ""
    if isinstance(key, int):
        return f"[{key}]"
    escaped = "".join(_ESCAPES.get(character, character) for character in key)
    return '["' + escaped.replace("${", "$${").replace("%{", "%%{") + '"]'


def _parse_key(written: str | None) -> Key:
    if written is None:
        return None
    inner = written[1:-1]
    if not inner.startswith('"'):
        return int(inner)
    plain = re.sub(r"\\(.)", lambda found: _UNESCAPES.get(found[1], found[1]), inner[1:-1])
    return plain.replace("$${", "${").replace("%%{", "%{")


def fits(pattern: str, text: str) -> bool:
    """Whether the text fits a glob of `*` and `?` only: brackets are literal, because addresses contain them.

    Takes at most pattern times text steps: only the last `*` is ever tried again, whereas a regular expression would try them all.
    """
    if pattern == "*" or not ("*" in pattern or "?" in pattern):
        return pattern in ("*", text)
    at, place, star, resumed = 0, 0, -1, 0
    while place < len(text):
        mark = pattern[at] if at < len(pattern) else ""
        if mark == "*":
            star, resumed, at = at, place, at + 1
        elif mark in ("?", text[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resumed += 1
            at, place = star + 1, resumed
        else:
            return False
    return not pattern[at:].strip("*")
