"""Which wanted values the errors of a plan are about, so that the others can be written without them, and they themselves unset where that says the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.lang.hcl import parse
from reconciler.model import Edited, Left, Wanted, is_new
from reconciler.rewrite.editors.alignment import align

_START = re.compile(r"^Error: ", re.MULTILINE)
_WITH = re.compile(r"^ +with (\S.*),$", re.MULTILINE)
_ON = re.compile(r'^ +on (\S+) line \d+, in (\w+) "([^"]+)"(?: "([^"]+)")?:$', re.MULTILINE)
_ARGUMENT = re.compile(r"^ +\d+: +(\w+) += ", re.MULTILINE)
_PLACE = re.compile(r"^ +(?:with|on|\d+:) .*$", re.MULTILINE)
_EXCLUDES = re.compile(r"conflict|only one of|cannot be specified|can't be set|exactly one", re.IGNORECASE)
"""What the provider says of arguments that exclude each other."""
_EMPTY: tuple[Json, ...] = ("", [], {})
_MOST_LINES = 12
"""Lines of an error that a reason has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanError:
    """One error in Terraform's output ("Error: …", with the object and the place it is about)."""

    text: str
    address: str = ""
    """The instance that is refused; empty if the error names none."""
    block: tuple[str, ...] = ()
    """Type and labels of the block where it stands, e.g. `("variable", "days")`."""
    argument: str = ""
    said: str = ""
    """The text without the lines that say where."""


def divided_by_plan(output: str, edited: Edited) -> tuple[tuple[Wanted, ...], tuple[Left, ...]]:
    """What errors in the output of `terraform plan` are about: the values to try otherwise, and those that are left, each with the error.

    Reads of AWS give an empty text or list for what is not set, which the provider's own validation may refuse: it is tried as unset. A new
    block is tried without the arguments that are refused; a plan of it tells whether they have to be said.
    """
    refused = refused_by_plan(output, edited)
    otherwise: dict[tuple[str, str], Wanted] = {}
    for each in refused:
        if each.wanted.value in _EMPTY:
            otherwise[each.wanted.key] = replace(each.wanted, value=None)
        elif (less := _without_arguments(each.wanted, output)) is not None:
            otherwise[each.wanted.key] = less
    return tuple(otherwise.values()), tuple(each for each in refused if each.wanted.key not in otherwise)


def _without_arguments(wanted: Wanted, output: str) -> Wanted | None:
    """A new block without its arguments that errors are about; None if an error is about no argument of it, or the value is no new block."""
    value = wanted.value
    text = value.get("text") if is_new(wanted) and isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(text, str):
        return None
    for error in (each for each in _errors(output) if _is_of(wanted.address, each)):
        less = _without(text, error.argument)
        if less is None:
            return None
        text = less
    return replace(wanted, value={**value, "text": text})


def _without(text: str, argument: str) -> str | None:
    """The text of a block without one of its own arguments; None if it has no such argument."""
    document = parse(Path("new.tf"), text.encode())
    found = document.attributes(document.blocks(document.root)[0]).get(argument)
    if found is None:
        return None
    start = document.source.rfind(b"\n", 0, found.start_byte) + 1
    end = document.source.find(b"\n", found.end_byte) + 1
    if document.source[:start].endswith((b"\n\n", b"{\n")) and document.source[end:].startswith(b"\n"):
        end += 1
    return align(parse(Path("new.tf"), document.source[:start] + document.source[end:])).decode()


def refused_by_plan(output: str, edited: Edited) -> tuple[Left, ...]:
    """The wanted values that errors in the output of `terraform plan` are about, each with the error; none if no error tells."""
    refused: dict[tuple[str, str], Left] = {}
    for error in _errors(output):
        for wanted, chain in _about(error, edited):
            reason = f"It was not written, because Terraform refuses it. It said:\n{error.text}"
            refused.setdefault(wanted.key, Left(wanted=wanted, reason=reason, chain=chain))
    return tuple(refused.values())


def _errors(output: str) -> Iterator[_PlanError]:
    starts = [*(match.start() for match in _START.finditer(output)), len(output)]
    for start, end in pairwise(starts):
        text = output[start:end].strip()
        address, place, argument = _WITH.search(text), _ON.search(text), _ARGUMENT.search(text)
        yield _PlanError(
            text="\n".join(text.splitlines()[:_MOST_LINES]),
            address=address[1] if address else "",
            block=tuple(each for each in place.groups()[1:] if each) if place else (),
            argument=argument[1] if argument else "",
            said=_PLACE.sub("", text),
        )


def _about(error: _PlanError, edited: Edited) -> list[tuple[Wanted, tuple[str, ...]]]:
    """The values, with how they were traced. Of a resource those of the argument, else those that the text names, else all.

    Of arguments that exclude each other, what the code did not say before gives way to what it says.
    """
    made = {edit.wanted.key: (edit.wanted, edit.chain) for edit in edited.edits}
    if error.block[:1] == ("resource",) or error.address:
        there = [each for each in made.values() if _is_of(each[0].address, error)]
        named = [each for each in there if re.search(rf"\b{re.escape(each[0].path.top)}\b", error.said)]
        if _EXCLUDES.search(error.said) and (unsaid := [each for each in named if each[0].before is None]):
            return unsaid
        return [each for each in there if each[0].path.top == error.argument] or named or there
    names = {"variable": error.block[1:2], "module": (error.argument,)}.get(error.block[0] if error.block else "", ())
    return [each for each in made.values() if _is_traced(each[1], names)]


def _is_of(address: str, error: _PlanError) -> bool:
    if error.address:
        return address == error.address
    parsed = parse_address(address)
    return parsed is not None and (parsed.resource_type, parsed.name) == error.block[1:]


def _is_traced(chain: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the way to the place leads through the value of a variable or argument with one of the names."""
    return any(re.search(rf"\b{re.escape(name)} = ", line) is not None for name in names if name for line in chain)
