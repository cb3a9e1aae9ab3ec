"""Writes wanted values into Terraform code: for each the smallest edit that changes nothing else, or the reason why there is none."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import assert_never

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.address import parse_address
from gateway.terraform.config.edit_reach import all_definitions
from gateway.terraform.config.module import Module, ResourceInstance, bracket, informed, load_module
from gateway.terraform.config.sensitive import tells_secret
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import EvaluationFailed, Unknown
from reconciler.model import Edit, Edited, Left, Wanted
from reconciler.rewrite.edited_code import EditedCode, document_after, is_policy_block, refuse_unknown_calls
from reconciler.rewrite.editors.attribute import set_attribute
from reconciler.rewrite.editors.file_text import replace_text
from reconciler.rewrite.editors.hcl_text import CannotEdit, RefusedByRule
from reconciler.rewrite.editors.json_member import edit_member
from reconciler.rewrite.editors.list_items import replace_items
from reconciler.rewrite.editors.literal import replace_literal
from reconciler.rewrite.editors.map_entry import add_entry, remove_entry
from reconciler.rewrite.editors.nested_blocks import edit_blocks
from reconciler.rewrite.editors.override import filter_rounds, make_conditional, set_beside
from reconciler.rewrite.editors.splice import Splice, common_start
from reconciler.rewrite.editors.template import edit_template
from reconciler.rewrite.footprint.changes import FootprintChange, footprint_changes
from reconciler.rewrite.footprint.values import Footprint, differences, footprint_of, locate
from reconciler.rewrite.module_variable import ModuleVariable, module_variables
from reconciler.rewrite.surroundings import OthersCode, Surroundings
from reconciler.rewrite.trace.attribute import own_value_sites, trace_attribute
from reconciler.rewrite.trace.inverse import unchanged
from reconciler.rewrite.trace.sites import (
    ArgumentSite,
    AttributeSite,
    BlocksSite,
    ConditionalSite,
    CsvSite,
    DocumentSite,
    EditSite,
    EntrySite,
    FileSite,
    FilterSite,
    ListSite,
    LiteralSite,
    NoSite,
    ObjectEntry,
    OverrideSite,
    TemplateSite,
    TracedSite,
    YamlSite,
)
from reconciler.rewrite.value_parts import declared_at, declares, split_value
from reconciler.terraform.json_documents import document_in

_MOST_SITES = 300
"""How many sites are tried for one value, the likeliest first; the code is evaluated for each."""
_MOST_TOGETHER = 10
"""How many sites are tried for several values at once."""
_NOT_SHOWN = "The code makes this value of one that it marks as sensitive, and an edit would show it. A person writes it, or marks it with nonsensitive()."
Live = Mapping[str, Mapping[str, Json]]
"""Attributes by address; those of data sources under `data.type.name`."""


class _ChangesOthers(CannotEdit):
    """The edit would change more than what is wanted: others share what it edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State(EditedCode):
    """The code after the edits so far, with the live attributes."""

    live: Live
    informed: Module
    """The same code with the live attributes of what it refers to: it tells what an expression is now."""

    def instance(self, address: str) -> ResourceInstance | None:
        """The instance at an address."""
        return self.informed.instance(address)


def edit_values(
    root: Path,
    wanted: Sequence[Wanted],
    sources: Mapping[Path, bytes] | None = None,
    around: Surroundings | None = None,
    live: Live | None = None,
) -> Edited:
    """The files that declare the wanted values, the edits (each on the result of the ones before), and the values that are left.

    Each wanted value is written whole or not at all; a value that the code declares already needs no edit. The result does
    not depend on the order of `wanted`. `live` are the attributes of all resources and data sources, as far as they are known: what
    the code refers to is then known too. `around` says which code outside of `root` may be edited; None: none. Nothing is written to
    disk. Raises `CodeInvalid` if the code cannot be read.
    """
    first = state = _load(root, sources or {}, around or Surroundings(), live or {})
    secret = [each for each in wanted if _tells_secret(state, each)]
    untold = tuple(Left(wanted=each, reason=_NOT_SHOWN) for each in secret)
    keys = {each.key for each in secret}
    todo = sorted((each for each in wanted if each.key not in keys), key=_order)
    allowed = tuple(part for each in todo for part in _parts(first, each))
    state, edits = _edit_together(state, todo, allowed)
    left: tuple[Left, ...] = ()
    apart = False
    while todo:
        made: list[Edit] = []
        if apart:
            state, made = _edit_together(state, todo, allowed, whole=True)
        missed: list[tuple[Wanted, Left]] = []
        for each in todo:
            result = _edit_whole(state, each, allowed, apart=apart)
            if isinstance(result, Left):
                missed.append((each, result))
            else:
                state, more = result
                made.extend(more)
        edits.extend(made)
        left = tuple(result for _, result in missed)
        # A value that could not be written alone may be possible now that another wanted value is written. What one edit gives several
        # values together is never split, so splits come last.
        todo = [each for each, _ in missed] if made or not apart else []
        apart = not made
    changed = {path: source for path, source in state.sources.items() if first.original(path) != source}
    return Edited(files=changed, edits=tuple(edits), left=(*left, *untold))


def _tells_secret(state: _State, wanted: Wanted) -> bool:
    """Whether the code makes another value here, of what it marks as sensitive: edits, and how they were found, would tell that."""
    instance = state.instance(wanted.address)
    return instance is not None and not _holds(state, wanted) and tells_secret(instance, wanted.attribute)


def _order(wanted: Wanted) -> tuple[str, str, str]:
    return wanted.address, wanted.attribute, json.dumps(wanted.value, sort_keys=True)


def _load(root: Path, sources: Mapping[Path, bytes], around: Surroundings, live: Live) -> _State:
    module = load_module(root, sources)
    return _State(
        root=root,
        sources=dict(sources),
        module=module,
        definitions=all_definitions(module),
        around=around,
        live=live,
        informed=informed(module, live),
    )


def _after(state: _State, files: Mapping[Path, Document]) -> _State:
    """The state after a change."""
    after = state.with_files(files)
    return replace(after, informed=informed(after.module, state.live))


# ------------------------------------------------------------------------------------------ whole maps and blocks


def _parts(state: _State, wanted: Wanted) -> Iterator[Wanted]:
    """The wanted value as the smallest parts that the code does not declare."""
    _, here = _located(state, wanted)
    for steps, value in split_value(here, wanted.value, wanted.before):
        part = replace(wanted, attribute=str(AttributePath.of((*wanted.path.steps, *steps))), value=value, before=None)
        if not _holds(state, part):
            yield part


def _located(state: _State, wanted: Wanted) -> tuple[tuple[str, ...], Footprint]:
    """The steps to the wanted attribute in the footprint of its resource, and the footprint there."""
    instance = state.instance(wanted.address)
    return locate({} if instance is None else dict(footprint_of(instance)), wanted.path)


def _edit_together(
    state: _State, wanted: Sequence[Wanted], allowed: Sequence[Wanted], *, whole: bool = False
) -> tuple[_State, list[Edit]]:
    """The state after the edits that give one attribute, or one entry of it, of several resources their wanted values at once.

    `whole`: also in place of what gives the value now to all instances of a block.
    """
    parts = [(each, part) for each in wanted for part in _parts(state, each)]
    groups: dict[tuple[str, str, str], list[tuple[Wanted, Wanted]]] = {}
    for each, part in parts:
        # Those with one value first: a text or a calculation may give different ones too. Then those of one module or one call of it.
        text = json.dumps(part.value, sort_keys=True)
        places = ("", *_places_around(part.address))
        for key in ((part.attribute, value, place) for value in (text, "") for place in places):
            groups.setdefault(key, []).append((each, part))
    edits: list[Edit] = []
    tried = set[frozenset[tuple[str, str, str]]]()
    for (_, _, place), group in sorted(groups.items(), key=lambda each: (each[0][1] == "", len(each[0][2]))):
        members = [(each, part) for each, part in group if not _holds(state, part)]
        keys = frozenset((*part.key, place) for _, part in members)
        if len({part.address for _, part in members}) < 2 or keys in tried:  # noqa: PLR2004  several
            continue
        tried.add(keys)
        state, made = _at_once(state, members, allowed, split=bool(place), whole=whole)
        edits += made
    return state, edits


def _places_around(address: str) -> Iterator[str]:
    """The modules around an instance, each as a call and the instance of it, and its own block."""
    parsed = parse_address(address)
    steps = () if parsed is None else parsed.modules
    for count in range(1, len(steps) + 1):
        above = "".join(f".{name}{bracket(key)}" for name, key in steps[: count - 1])
        name, key = steps[count - 1]
        yield f"{above}.{name}"
        if key is not None:
            yield f"{above}.{name}{bracket(key)}"
    if parsed is not None and parsed.key is not None:
        yield str(parsed.block)


def _at_once(
    state: _State,
    members: Sequence[tuple[Wanted, Wanted]],
    allowed: Sequence[Wanted],
    *,
    split: bool,
    whole: bool,
) -> tuple[_State, list[Edit]]:
    """The state after the one edit that gives all of some values, each with the wanted value that it is a part of; as it is if there is none.

    `split`: whether they may be given the value apart from others that share what gives it now. `whole` as in `_edit_together`.
    """
    asked, first = members[0]
    found = list(islice(_sites(state, first), _MOST_TOGETHER))
    found += own_value_sites(state.informed, first.address, first.path, whole=True) if split and whole else ()
    # What all of them share is changed rather than replaced.
    sites = iter(sorted(found, key=_is_split))
    for site in sites:
        if isinstance(site, NoSite | ModuleVariable | ConditionalSite) or not (split or _is_for_all(site)):
            continue
        try:
            after, made = _try(state, site, first, allowed)
        except RefusedByRule:
            break
        except (CannotEdit, CodeInvalid, Unknown):
            continue
        if all(_holds(after, part) for _, part in members):
            if _rule_against(state, sites, first, None) is not None:
                break
            return after, [replace(each, wanted=asked) for each in made]
    return state, []


def _edit_whole(
    state: _State, wanted: Wanted, allowed: Sequence[Wanted], *, apart: bool
) -> tuple[_State, list[Edit]] | Left:
    """The state after writing every part of a wanted value; `Left` if any part cannot be written. `apart`: whether it may be split from what it shares."""
    edits: list[Edit] = []
    parts = tuple(_parts(state, wanted))
    for part in parts:
        result = _edit_part(state, part, (*allowed, part), apart=apart)
        if isinstance(result, Left) and len(parts) == 1 and _is_of_item(part, wanted):
            # With another value an item of a set may have another place.
            moved = _edit_part(state, part, (*allowed, wanted), apart=apart, whole=wanted)
            result = result if isinstance(moved, Left) else moved
        if isinstance(result, Left):
            return replace(result, wanted=wanted)
        state, made = result
        edits.extend(replace(each, wanted=wanted) for each in made)
    return state, edits


def _is_of_item(part: Wanted, wanted: Wanted) -> bool:
    """Whether a part of a wanted value is below an item of a list or a block, which has its place as its only name."""
    return any(step.isdecimal() for step in part.path.steps[len(wanted.path.steps) :])


# -------------------------------------------------------------------------------------------------- one value


def _holds(state: _State, wanted: Wanted) -> bool:
    """Whether the code declares the value. An attribute that is not declared counts as null."""
    instance = state.instance(wanted.address)
    if instance is None:
        return False
    try:
        return declares(instance, wanted.path, wanted.value)
    except EvaluationFailed:
        # Absent counts as null; an expression that fails does not.
        return wanted.value in (None, []) and _located(state, wanted)[1] in (None, [])
    except Unknown:
        return False


def _edit_part(
    state: _State, wanted: Wanted, allowed: Sequence[Wanted], *, apart: bool, whole: Wanted | None = None
) -> tuple[_State, list[Edit]] | Left:
    """Write one value at the first site where that changes only wanted values. `whole` is what must hold then; without it, the value."""
    if _holds(state, wanted):
        return state, []
    sites = (site for site in islice(_sites(state, wanted), _MOST_SITES) if apart or not _is_split(site))
    result = _at_first_site(state, sites, wanted, allowed, whole)
    if isinstance(result, _Refused) and result.fixed and apart:
        own = own_value_sites(state.informed, wanted.address, wanted.path)
        other = _at_first_site(state, own, wanted, allowed, whole)
        result = result if isinstance(other, _Refused) else other
    return Left(wanted=wanted, reason=result.reason, chain=result.chain) if isinstance(result, _Refused) else result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """No site can be edited: the reason at the first of them."""

    reason: str = "No place was found."
    chain: tuple[str, ...] = ()
    fixed: bool = False
    """Whether an edit at one of them would give the value, and change others that share it, or somebody else's code."""


def _at_first_site(
    state: _State,
    sites: Iterable[TracedSite | ModuleVariable],
    wanted: Wanted,
    allowed: Sequence[Wanted],
    whole: Wanted | None,
) -> tuple[_State, list[Edit]] | _Refused:
    refused: list[_Refused] = []
    rest = iter(sites)
    for site in rest:
        if isinstance(site, NoSite):
            refused.append(_Refused(reason=site.reason, chain=site.chain))
            continue
        try:
            done = _try(state, site, wanted, allowed, whole)
        except RefusedByRule as error:
            # Another place would give the value past the rule.
            return _Refused(reason=str(error), chain=site.chain)
        except (CannotEdit, CodeInvalid) as error:
            fixed = isinstance(error, _ChangesOthers | OthersCode)
            refused.append(_Refused(reason=str(error), chain=site.chain, fixed=fixed))
        except Unknown as error:
            refused.append(_Refused(reason=f"The value cannot be reached from this place: {error}.", chain=site.chain))
        else:
            return _rule_against(state, rest, wanted, whole) or done
    return replace(refused[0], fixed=any(each.fixed for each in refused)) if refused else _Refused()


_MOST_RULES = 10
"""How many further sites are asked whether a rule of the code refuses the value there."""


def _rule_against(
    state: _State, sites: Iterator[TracedSite | ModuleVariable], wanted: Wanted, whole: Wanted | None
) -> _Refused | None:
    """The refusal of a rule at a further site that gives the value: an entry beside it would give the value past the rule. None if there is none."""
    if not _has_rules(state):
        return None
    for site in islice(sites, _MOST_RULES):
        if isinstance(site, NoSite) or _is_split(site):
            continue
        try:
            after = _after(state, _files_after(state, site, wanted))
            if _holds(after, whole or wanted):
                _refuse_invalid(state, after)
        except RefusedByRule as error:
            return _Refused(reason=str(error), chain=site.chain)
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    return None


def _has_rules(state: _State) -> bool:
    documents = (document for source in state.module.sources.values() for document in source.documents.values())
    return any(b"validation" in document.source for document in documents)


def _is_split(site: TracedSite | ModuleVariable) -> bool:
    """Whether a site gives the value to one block or instance apart from others, whose expression it shares now."""
    match site:
        case ConditionalSite() | OverrideSite() | ModuleVariable():
            return True
        case ArgumentSite(only=only):
            return only is not None
        case AttributeSite(condition=condition):
            return bool(condition)
    return False


def _is_for_all(site: TracedSite | ModuleVariable) -> bool:
    """Whether a site gives the value to all that share it."""
    return not _is_split(site) or (isinstance(site, OverrideSite) and site.only is None)


def _sites(state: _State, wanted: Wanted) -> Iterator[TracedSite | ModuleVariable]:
    """The sites that define the value; then, in a module, new variables of it that only this instance is given."""
    # What a module says by itself, all its callers share: first what the root says.
    # What gives the value now is changed rather than an argument added that would hide it.
    sites = sorted(
        trace_attribute(state.informed, wanted.address, wanted.path),
        key=lambda each: (_is_in_module(state, each), isinstance(each, ArgumentSite)),
    )
    yield from sites
    yield from module_variables(state.module, wanted, sites)


def _is_in_module(state: _State, site: TracedSite) -> bool:
    return not isinstance(site, NoSite) and not any(
        site.document.path in files for files in (state.module.source.contents, state.module.source.templates)
    )


def _try(
    state: _State,
    site: EditSite | ModuleVariable,
    wanted: Wanted,
    allowed: Sequence[Wanted],
    whole: Wanted | None = None,
) -> tuple[_State, list[Edit]]:
    """The state after an edit at one site, with one edit for each file. Raises `CannotEdit` if it cannot be made or changes anything else."""
    files = _files_after(state, site, wanted)
    after = _after(state, files)
    _check_differences(state, after, whole or wanted, allowed)
    state.around.refuse_changes(state.root, state.sources, after.sources)
    return after, [_as_edit(path, state, after.sources[path], wanted, site.chain) for path in files]


def _files_after(state: _State, site: EditSite | ModuleVariable, wanted: Wanted) -> Mapping[Path, Document]:
    """The files that writing the value at a site changes. Raises `CannotEdit`, `CodeInvalid`, `Unknown`."""
    if wanted.value is None and not isinstance(site, ModuleVariable) and site.convert is not unchanged:
        raise CannotEdit("What is calculated is not unset by what it is calculated from.")
    documents = site.documents if isinstance(site, ModuleVariable) else (site.document,)
    for document in documents:
        state.around.refuse(state.root, document.path)
        if any(document.around) or document.is_data:
            state.around.refuse_named_elsewhere(state.root, document.path)
        refuse_unknown_calls(state.module, document.path)
    if isinstance(site, ModuleVariable):
        return {document.path: _spliced(document, *splices) for document, splices in site.splices(wanted.value)}
    value = site.convert(wanted.value)
    return {site.document.path: _spliced(site.document, splice_of(site, value))}


def splice_of(site: EditSite, value: Json) -> Splice:  # noqa: C901, PLR0912  one case for each kind of site
    """The change that gives the site a value (already converted by the inverse): one editor per kind of site."""
    match site:
        case LiteralSite(entry=ObjectEntry() as own_entry) if value is None:
            return remove_entry(site.document, own_entry)
        case LiteralSite():
            return replace_literal(site, value)
        case ListSite():
            return replace_items(site, value)
        case EntrySite():
            return add_entry(site, value)
        case AttributeSite() | ArgumentSite():
            return set_attribute(site, value)
        case OverrideSite():
            return set_beside(site, value)
        case BlocksSite():
            return edit_blocks(site, value)
        case TemplateSite():
            return edit_template(site, value)
        case ConditionalSite():
            return make_conditional(site, value)
        case FilterSite():
            return filter_rounds(site)
        case DocumentSite():
            return edit_member(site, value)
        case FileSite():
            return replace_text(site, value)
        case YamlSite():
            from reconciler.rewrite.editors.yaml_value import edit_yaml  # noqa: PLC0415  it takes long to import, and few stacks have any

            return edit_yaml(site, value)
        case CsvSite():
            from reconciler.rewrite.editors.csv_value import edit_csv  # noqa: PLC0415  few stacks have any

            return edit_csv(site, value)
        case _:
            assert_never(site)


def _spliced(document: Document, *changes: Splice) -> Document:
    """The file after the changes, realigned if it was aligned before. Raises `CodeInvalid` if it no longer parses."""
    source = document.source
    for change in sorted(changes, key=lambda each: each.start, reverse=True):
        source = change.apply(source)
    return document_after(document, source)


def _check_differences(before: _State, after: _State, wanted: Wanted, allowed: Sequence[Wanted]) -> None:
    """Raise `CannotEdit` unless the code now declares the wanted value, and every other difference is a wanted value too."""
    if not _holds(after, wanted):
        raise CannotEdit("The edit would not give the attribute the wanted value.")
    _refuse_invalid(before, after)
    for change in footprint_changes(before.module, after.module):
        _check_difference(before, after, change, (wanted, *allowed))
    if after.module.carried is not None:
        after.module.carried.release()


def _refuse_invalid(before: _State, after: _State) -> None:
    if _has_rules(after):
        from reconciler.rewrite.validations import refuse_invalid  # noqa: PLC0415  it takes long to import, and few stacks have any

        refuse_invalid(before.module, after.module)


def _check_difference(before: _State, after: _State, change: FootprintChange, allowed: Sequence[Wanted]) -> None:
    """Raise `CannotEdit` unless everything that changed in one block is a wanted value."""
    shown = change.address.removeprefix("?")
    if is_policy_block(change.address):
        return
    if change.before is None or change.after is None:
        raise _ChangesOthers(f"The edit would also add or remove {shown}.")
    same_resource = [each for each in allowed if each.address == change.address]
    for path in _paths(before, after, change):
        if not any(_covers(change.after, each, path) and _holds(after, each) for each in same_resource):
            raise _ChangesOthers(f"The edit would also change {shown}.{'.'.join(path)}, which is not wanted.")


def _paths(before: _State, after: _State, change: FootprintChange) -> Iterator[tuple[str, ...]]:
    """The paths that differ; where a text holds a JSON document on both sides, those inside the document."""
    for path in differences(dict(change.before or {}), dict(change.after or {})):
        if len(path) == 1 and (change.before or {}).get(path[0]) is None and (change.after or {}).get(path[0]) is None:
            continue  # an attribute that is set to null is one that is not set
        one, other = (_document_at(state, change.address, path) for state in (before, after))
        if one is None or other is None:
            yield path
        else:
            yield from ((*path, *inner) for inner in differences(one, other))  # type: ignore[arg-type]  # JSON is a footprint


def _document_at(state: _State, address: str, path: tuple[str, ...]) -> dict[str, Json] | list[Json] | None:
    instance = state.instance(address)
    if instance is None:
        return None
    try:
        return document_in(declared_at(instance, AttributePath.of(path)))
    except Unknown:
        return None


def _covers(footprint: Mapping[str, Footprint], wanted: Wanted, path: tuple[str, ...]) -> bool:
    """Whether a path of a footprint is the wanted attribute or a part of it."""
    steps, _ = locate(dict(footprint), wanted.path)
    return AttributePath.of(steps).covers(AttributePath.of(path))


def _as_edit(path: Path, state: _State, after: bytes, wanted: Wanted, chain: tuple[str, ...]) -> Edit:
    """The edit of a file as the smallest span of bytes that differs from the state before."""
    before = state.original(path) or b""
    start = common_start(before, after)
    same = common_start(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - same], after[start : len(after) - same]
    return Edit(path=path, start=start, end=start + len(old), old=old, new=new, wanted=wanted, chain=chain)
