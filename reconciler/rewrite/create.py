"""Decides where in the code a resource belongs that was created outside of it, under which name, and adds its block and its import.

It belongs to the stack if it names one of the stack's resources, or is named as they are. Its block goes where its siblings are, into the
module of what it belongs to if only one call uses that; else into the root module.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.equality import equal
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.path import WHOLE
from gateway.terraform.address import Address, parse_address, resource_type_of
from gateway.terraform.config.module import Module, ResourceInstance, attributes, declared
from gateway.terraform.config.source import Source
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from gateway.terraform.secrets import is_secret, may_hold_secret, shows_secret
from reconciler.adoption.adoption import left_creation, without_naming_left
from reconciler.adoption.links import Texts, means, named_addresses, naming_attribute
from reconciler.adoption.model import Adoption
from reconciler.changes.event_creations import Created, may_belong
from reconciler.model import COMES_WITH, NAMES, NAMING, OWNERS, REPLACES, Edited, Left, Wanted
from reconciler.rewrite.block_text import block_text, import_text
from reconciler.rewrite.edited_code import EditedCode, read_code, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.top_level_block import append_block
from reconciler.rewrite.imports import adopt_resource
from reconciler.rewrite.names import label_of, names_of, shared_beginning
from reconciler.rewrite.new_instances import add_instance, new_addresses
from reconciler.rewrite.resource_identity import belongs, is_declared, is_in_code, is_known, is_told
from reconciler.rewrite.siblings import NewInstance, keys_said, likes_of, other_values, siblings_of, with_others
from reconciler.rewrite.surroundings import Surroundings
from reconciler.rewrite.switches import absent_instances, entries_like, switch_on
from reconciler.rewrite.value_edits import edit_values
from reconciler.terraform.plain_settings import is_plain_setting

Live = Mapping[str, Mapping[str, Json]]
"""Attributes of the stack's resources by address."""

_IDENTIFYING = ("arn", "id", "name", "bucket", "key_id", "url")
_PLAIN = frozenset(["name", "type", "value", "description", "protocol", "ip_protocol", "status", "instance_type"])
"""Attributes that never refer to another resource."""
_NO_PLACE = "No place for its block was found in the code."
SWITCHED = "switched"
"""The member of a new resource's wanted value that says that the code leaves it out now, with the entry that a map gets for it; null if none does."""
_TAGS = "tags"
"""Without an entry among the attributes of a resource it has none."""
_MOST_LIKES = 50
"""How many siblings are tried, the likeliest first; the code is evaluated for each."""
_MOST_OTHER_LIKES = 4
"""The same of siblings whose keys say nothing of the new one: several entries are tried for each."""


def wanted_creations(
    root: Path,
    created: Sequence[Created],
    live: Live,
    around: Surroundings | None = None,
    *,
    identified: bool = False,
    anywhere: bool = False,
) -> list[Wanted]:
    """The resources that belong to the stack, and that neither its state nor its code has, each with its address and text.

    Those that are `identified` are known to be new. With `anywhere`, those that belong to nothing here are among them. Raises `CodeInvalid`.
    """
    code = read_code(root, {}, around)
    todo: dict[tuple[str, str], Created] = {}
    for each in _named_first(created):
        if identified or not (is_known(each, live) or is_in_code(code, each)):
            todo.setdefault((each.resource_type, each.import_id), each)
    said = {key: Texts(each.attributes) for key, each in todo.items()}
    entries: dict[str, Created] = {}
    for each in todo.values():
        for address, _ in islice(siblings_of(each, live), _MOST_LIKES):
            entries.setdefault(address, each)
    planned: list[tuple[Wanted, Created]] = []
    while todo:
        first = todo.pop(next(iter(todo)))
        new = {want.address: made for want, made in planned}
        files = {want.address: str(_value(want)["file"]) for want, _ in planned if "file" in _value(want)}
        for want, made in _Planner(code, live, new, files, tuple(todo.values()), entries, said, anywhere).wanted(first):
            planned.append((want, made))
            todo.pop((made.resource_type, made.import_id), None)
    return [_with_naming(want, made, planned, said[made.resource_type, made.import_id], live) for want, made in planned]


def _with_naming(
    wanted: Wanted, made: Created, planned: Sequence[tuple[Wanted, Created]], said: Texts, live: Live
) -> Wanted:
    """A new resource that also says the addresses of the other new ones that it names, and those of the declared ones."""
    named = sorted(want.address for want, other in planned if other is not made and said.name(other))
    owners = sorted(named_addresses(made, said, live))
    more: dict[str, Json] = {**({NAMING: [*named]} if named else {}), **({OWNERS: [*owners]} if owners else {})}
    return replace(wanted, value={**_value(wanted), **more}) if more else wanted


def _value(wanted: Wanted) -> Mapping[str, Json]:
    return wanted.value if isinstance(wanted.value, Mapping) else {}


def with_places(adoption: Adoption, plan: Callable[[Sequence[Created]], list[Wanted]]) -> tuple[Adoption, list[Wanted]]:
    """What is written, and the adoption, in which is left what has no place in the code, or names something that is left.

    `plan` says which of some creations have a place.
    """
    adoption = without_naming_left(adoption)
    while True:
        wanted = plan([made for made, _ in adoption.created])
        placed = {(resource_type_of(each.address), import_id_of(each)) for each in wanted}
        lost = [
            left_creation(made, origin, _NO_PLACE)
            for made, origin in adoption.created
            if (made.resource_type, made.import_id) not in placed
        ]
        there = [each for each in adoption.created if (each[0].resource_type, each[0].import_id) in placed]
        after = without_naming_left(replace(adoption, created=tuple(there), left=(*adoption.left, *lost)))
        if len(after.created) == len(there):
            return after, wanted
        adoption = after


def _named_first(created: Sequence[Created]) -> list[Created]:
    """The creations, each after those that it names, so that it can refer to them."""
    said = [Texts(each.attributes) for each in created]
    named = {
        one: {two for two, other in enumerate(created) if two != one and texts.name(other)}
        for one, texts in enumerate(said)
    }
    todo, ordered = set(named), list[int]()
    while todo:
        free = sorted(one for one in todo if not named[one] & todo)
        ordered += free or sorted(todo)
        todo -= set(ordered)
    return [created[one] for one in ordered]


def import_id_of(wanted: Wanted) -> str:
    """The id that a new resource is imported by."""
    return str(wanted.value.get("import_id")) if isinstance(wanted.value, Mapping) else ""


def create_resources(
    root: Path,
    new: Sequence[Wanted],
    sources: Mapping[Path, bytes] | None = None,
    around: Surroundings | None = None,
    *,
    expected: Live | None = None,
    known: Live | None = None,
) -> Edited:
    """The files with the new blocks and their imports, the edits, and what could not be added. Raises `CodeInvalid`.

    `expected` and `known` as in `EditedCode`.
    """
    first = code = read_code(root, sources or {}, around, expected=expected, known=known)
    left: list[Left] = []
    addresses = frozenset(each.address for each in new)
    for wanted in sorted(new, key=_comes_with_another):
        if why := str(_value(wanted).get("refused", "")):
            left.append(_refused(code, wanted, why))
            continue
        try:
            code = _added(code, wanted, addresses)
        except (CannotEdit, CodeInvalid, KeyError) as error:
            left.append(
                Left(wanted=wanted, reason=f"{wanted.address} was created, and its block is left to you: {error}")
            )
    return code.edited_since(first, left)


def _refused(code: EditedCode, wanted: Wanted, why: str) -> Left:
    """A creation whose block is only offered."""
    diff = ""
    with contextlib.suppress(CannotEdit, CodeInvalid, KeyError):
        diff = _with_block(code, wanted, _value(wanted)).diff_since(code)
    return Left(wanted=wanted, reason=f"{wanted.address} was created, and its block is left to you: {why}", diff=diff)


def _comes_with_another(wanted: Wanted) -> bool:
    """Whether the entry that makes another new resource makes this one too."""
    return COMES_WITH in _value(wanted)


def _added(code: EditedCode, wanted: Wanted, new: frozenset[str]) -> EditedCode:
    """The code with one new resource. What else its entry may make is at the addresses `new`. Raises `CannotEdit`, `CodeInvalid`."""
    value, before = _value(wanted), code
    if REPLACES in value:
        code = adopt_resource(code, wanted, import_id_of(wanted))
        refuse_side_effects(before, code, frozenset())
        return code
    if "secret" in value:
        raise CannotEdit(f"its {value['secret']} may hold a secret, and no secret is written into code.")
    if COMES_WITH in value:
        if wanted.address not in code.addresses():
            raise CannotEdit(f"{value[COMES_WITH]}, whose entry makes it too, is not written.")
    elif SWITCHED in value:
        code = switch_on(code, wanted, frozenset({wanted.address}) | new, value[SWITCHED])
    elif "like" in value:
        like = NewInstance(
            sibling=str(value["like"]),
            key=value["key"] if isinstance(value["key"], int) else str(value["key"]),
            old=str(value["old"]),
            new=str(value["new"]),
            values=_pairs(value.get("values")),
        )
        code = add_instance(code, like, wanted, new)
    else:
        code = _with_block(code, wanted, value)
    if value["import"]:
        document = code.document(Path(str(value["import_file"])))
        code = code.after(document, append_block(document, str(value["import"])), wanted)
    refuse_side_effects(before, code, frozenset({wanted.address}) | (code.addresses() - before.addresses()))
    return code


def _pairs(value: Json) -> tuple[tuple[Json, Json], ...]:
    rows = value if isinstance(value, list) else []
    return tuple((row[0], row[1]) for row in rows if isinstance(row, list) and len(row) == 2)  # noqa: PLR2004  a pair


def _with_block(code: EditedCode, wanted: Wanted, value: Mapping[str, Json]) -> EditedCode:
    before = code.addresses()
    document = code.document(Path(str(value["file"])))
    anchor = next(
        (node for node in document.blocks(document.root) if list(document.header(node)) == value["after"]), None
    )
    code = code.after(document, append_block(document, str(value["text"]), anchor), wanted)
    added = code.addresses() - before
    if added != {wanted.address}:
        raise CannotEdit(f"the block would add {', '.join(sorted(added)) or 'nothing'}.")
    return code


def _as_live(value: Json) -> Json:
    """A value that a block is written with, as the resource has it: a document is text there."""
    document = value.get("json") if isinstance(value, Mapping) and value.keys() == {"json"} else None
    return value if document is None else canonical_text(document)


def _declares_alike(instance: ResourceInstance, tags: Json) -> bool:
    """Whether an instance declares these tags but for how their keys begin: events may write them with a small first letter, as names of members."""
    try:
        said = declared(instance, _TAGS)
    except Unknown:
        return False
    small = [
        {key[:1].lower() + key[1:]: value for key, value in each.items()} if isinstance(each, Mapping) else None
        for each in (said, tags)
    ]
    return small[0] is not None and equal(small[0], small[1])


def _secret_in(created: Created) -> str:
    """The first attribute that may hold a secret, and whose value is no evident setting; empty if there is none."""
    kind, attributes = created.resource_type, created.attributes
    for name, value in attributes.items():
        may_hold = is_secret(kind, name) or may_hold_secret(kind, name)
        shows = shows_secret(value, resource_type=kind, attribute=name)
        if (may_hold or shows) and not is_plain_setting(kind, (name,), value, attributes):
            return name
    return ""


def _type(address: str) -> str:
    parsed = parse_address(address)
    return parsed.resource_type if parsed and not parsed.data else ""


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans one creation."""

    code: EditedCode
    live: Live
    """Attributes of the stack's resources by address, without those of what is new."""
    new: Mapping[str, Created]
    """The creations planned before, by address."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files that their blocks are added to, by address."""
    rest: tuple[Created, ...] = ()
    """The creations that are planned after this one."""
    entries: Mapping[str, Created] = field(default_factory=dict)
    """The addresses that creations would have as instances like their siblings."""
    said: Mapping[tuple[str, str], Texts] = field(default_factory=dict)
    """The texts of the creations, by type and import id."""
    anywhere: bool = False
    """Whether what belongs to nothing in the stack is planned too, in the root module."""

    def wanted(self, created: Created) -> list[tuple[Wanted, Created]]:
        """The creation with its address and text, and those that its entry makes too; empty if the resource does not belong to this stack."""
        owner = self._owner(created)
        if owner is None and not self.anywhere:
            return []
        if owner is not None and self._is_inline(created, owner):
            return []
        if found := self._keyed(created) or self._switched(created):
            return found
        block = self._with_block(created, owner)
        if why := self._other_form(created):
            block = replace(block, value={**_value(block), "refused": why})
        return [(block, created)]

    def _other_form(self, created: Created) -> str:
        """Why a block of its own is not the form of its siblings: they are instances of one block, and their entries were not found; empty if it is."""
        siblings = self._beside_it(created)
        if not siblings or not all(isinstance(parsed.key, str) for parsed in siblings):
            return ""
        first = str(siblings[0])
        if self.code.module.instance(first) is not None and self._makes_others(created, first):
            return ""
        return (
            f"its siblings are instances of one block, such as {first}, and no entry was found that makes one more of them."
            " The diff in `diff` adds a block of its own."
        )

    def _makes_others(self, created: Created, sibling: str) -> bool:
        """Whether an entry like that of a sibling makes an instance, though not one that can be what was created."""
        wanted = Wanted(address=sibling, attribute=WHOLE, value=None)
        for like in islice(likes_of(created, self.live, self.new), _MOST_OTHER_LIKES):
            if next(new_addresses(self.code, like, wanted), None) is not None:
                return True
        for address, like in islice(siblings_of(created, self.live, self.new), _MOST_OTHER_LIKES):
            with contextlib.suppress(CannotEdit, CodeInvalid):
                add_instance(self.code, like, replace(wanted, address=address), frozenset(self.entries))
                return True
        return False

    def _beside_it(self, created: Created) -> list[Address]:
        """The declared resources of its type that belong to the same resource; of one that belongs to none, those with names like its own."""
        found = []
        for address, own in self.live.items():
            parsed = parse_address(address)
            if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
                continue
            if created.parent and created.parent in own.values():
                found.append(parsed)
        if created.parent:
            return found
        likely = (like.sibling for _, like in islice(siblings_of(created, self.live), _MOST_LIKES))
        unknown = [parse_address(each) for each in likely if self.code.module.instance(each) is None]
        return [each for each in unknown if each is not None]

    def _with_block(self, created: Created, owner: Address | None) -> Wanted:
        """The creation with a block of its own."""
        module = self._module(owner)
        near, after = self._place(created, owner, module)
        label = self._label(created, owner, module)
        prefix = f"{module.address}." if module.address else ""
        address = f"{prefix}{created.resource_type}.{label}"
        if secret := _secret_in(created):
            return Wanted(address=address, attribute=WHOLE, value={"import_id": created.import_id, "secret": secret})
        text = block_text(
            created.resource_type,
            label,
            created.attributes,
            lambda name, value: self._reference(created, module, name, value),
            lambda name, value: self._reference_to_new(created, module, name, value),
        )
        in_root = not module.address
        value: dict[str, Json] = {
            "import_id": created.import_id,
            "file": str(near.path),
            "after": list(near.header(after)) if after is not None else [],
            "text": f"{text}\n\n{import_text(address, created.import_id)}" if in_root else text,
            "import_file": "" if in_root or owner is None else str(self._root_file(owner)),
            "import": "" if in_root else import_text(address, created.import_id),
            NAMES: dict(created.named_by),
        }
        return Wanted(address=address, attribute=WHOLE, value=value)

    def _keyed(self, created: Created) -> list[tuple[Wanted, Created]]:
        """The creation as one more instance of a block that its siblings are instances of; empty if there is none.

        An entry may make instances of several blocks: then each of them is a creation too.
        """
        rest = {id(each) for each in self.rest}
        others = {address: each for address, each in self.entries.items() if id(each) in rest}
        for address, like in islice(siblings_of(created, self.live, self.new), _MOST_LIKES):
            if found := self._as_instance(created, address, like, self._with_beside(address, like, others)):
                return found
        for like in islice(likes_of(created, self.live, self.new), _MOST_OTHER_LIKES):
            wanted = Wanted(address=like.sibling, attribute=WHOLE, value=None)
            for address, added in islice(new_addresses(self.code, like, wanted), _MOST_OTHER_LIKES):
                beside = {**others, **dict(self._made_beside(added - {address}))}
                if found := self._as_instance(created, address, like, beside):
                    return found
        return []

    def _with_beside(self, address: str, like: NewInstance, others: Mapping[str, Created]) -> Mapping[str, Created]:
        """The creations at other addresses, with those that an entry for this one would make too."""
        wanted = Wanted(address=address, attribute=WHOLE, value=None)
        if not self.rest or address in self.new:
            return others
        with contextlib.suppress(CannotEdit, CodeInvalid):
            added = add_instance(self.code, like, wanted, None).addresses() - self.code.addresses()
            return {**others, **dict(self._made_beside(added - {address} - others.keys()))}
        return others

    def _made_beside(self, added: frozenset[str]) -> Iterator[tuple[str, Created]]:
        """The creations at further addresses of an entry, each the only one of its type."""
        for address in added:
            same = [each for each in self.rest if each.resource_type == _type(address)]
            if len(same) == 1:
                yield address, same[0]

    def _as_instance(
        self, created: Created, address: str, like: NewInstance, others: Mapping[str, Created]
    ) -> list[tuple[Wanted, Created]]:
        """The creation at the address of a new instance like a sibling; empty if no entry gives that, or it cannot be what was created."""
        value: dict[str, Json] = {
            "import_id": created.import_id,
            "like": like.sibling,
            "key": like.key,
            "old": like.old,
            "new": like.new,
            "values": [list(pair) for pair in like.values],
            "import": import_text(address, created.import_id),
            "import_file": str(self._file_of(like.sibling)),
            NAMES: dict(created.named_by),
        }
        wanted = Wanted(address=address, attribute=WHOLE, value=value)
        if address in self.new:
            return []
        try:
            code = _added(self.code, wanted, frozenset(others) - {address})
        except (CannotEdit, CodeInvalid):
            return []
        made = {each: others.get(each, created) for each in code.addresses() - self.code.addresses()}
        new = {other.arn or other.named_by.get("arn", "") for other in self.new.values()} - {""}
        if not belongs(code, address, like.sibling, created, self.live, new=new):
            return []
        if all(is_declared(code, each, one) and self._holds(code, each, one) for each, one in made.items()):
            return [(wanted, created), *self._beside(address, made)]
        return []

    def _switched(self, created: Created) -> list[tuple[Wanted, Created]]:
        """The creation as an instance that a condition of the code leaves out now, with those that come with it; empty if there is none that it can be."""
        names = {address: dict(other.named_by) for address, other in self.new.items()}
        keys = [created.name[at.end() :] for at in re.finditer(r"[-_/.]", created.name)][::-1]
        keys = [*keys[:_MOST_OTHER_LIKES], *keys_said(created, self.live)]
        absent = absent_instances(self.code, created.resource_type, keys)
        for address in islice(absent, _MOST_LIKES):
            if address in self.new or address in self.live:
                continue
            known = {**self.live, **names, address: dict(created.named_by)}
            code = replace(self.code, expected=self.live, known=known)
            for entry in (None, *self._entries(address, created)):
                if found := self._at_switch(code, address, created, entry):
                    return found
        return []

    def _entries(self, address: str, created: Created) -> Iterator[Json]:
        """The entries that a map would get for an instance: those of its siblings, with the values of the creation."""
        for sibling, entry in islice(entries_like(self.code, address), _MOST_OTHER_LIKES):
            yield with_others(entry, other_values(self.live.get(sibling, {}), created))

    def _at_switch(self, code: EditedCode, address: str, created: Created, entry: Json) -> list[tuple[Wanted, Created]]:
        value: dict[str, Json] = {
            "import_id": created.import_id,
            SWITCHED: entry,
            "import": import_text(address, created.import_id),
            "import_file": str(self._file_in_root(address)),
            NAMES: dict(created.named_by),
        }
        wanted = Wanted(address=address, attribute=WHOLE, value=value)
        try:
            after = switch_on(code, wanted, entry=entry)
        except (CannotEdit, CodeInvalid):
            return []
        added = after.addresses() - code.addresses()
        made = {address: created, **dict(self._made_beside(added - {address}))}
        if made.keys() == added and all(
            is_told(after, each, one) and self._holds(after, each, one) for each, one in made.items()
        ):
            return [(wanted, created), *self._beside(address, made)]
        return []

    def _file_in_root(self, address: str) -> Path:
        """The file of the root module that has the block of an address, or the call that it comes from."""
        parsed = parse_address(address)
        if parsed is None or parsed.modules:
            return Path("main.tf") if parsed is None else self._root_file(parsed)
        return self.code.module.source.resources[f"{parsed.resource_type}.{parsed.name}"][0].path

    def _beside(self, address: str, made: Mapping[str, Created]) -> Iterator[tuple[Wanted, Created]]:
        """What the entry of one creation makes besides, each with its own import."""
        for other, created in made.items():
            if other != address:
                value: dict[str, Json] = {
                    "import_id": created.import_id,
                    COMES_WITH: address,
                    "import": import_text(other, created.import_id),
                    "import_file": str(self._file_in_root(other)),
                    NAMES: dict(created.named_by),
                }
                yield Wanted(address=other, attribute=WHOLE, value=value), created

    def _holds(self, code: EditedCode, address: str, created: Created) -> bool:
        """Whether an instance of a block says of the resource what it is, or can be made to: what the block gives all its instances alike may say otherwise."""
        instance = code.module.instance(address)
        known = {} if instance is None else attributes(instance)
        asked = {name: _as_live(created.attributes[name]) for name in known if name in created.attributes}
        if known.get(_TAGS):
            asked.setdefault(_TAGS, {})
            if instance is not None and _declares_alike(instance, asked[_TAGS]):
                del asked[_TAGS]
        wanted = [Wanted(address=address, attribute=name, value=value) for name, value in asked.items()]
        return not edit_values(code.root, wanted, code.sources, code.around, self.live).left

    def _file_of(self, sibling: str) -> Path:
        """The file of the root module that has the block of a sibling, or the call that it comes from."""
        instance, parsed = self.code.module.instance(sibling), parse_address(sibling)
        if instance is None or parsed is None or not parsed.modules:
            return Path("main.tf") if instance is None else instance.document.path
        return self._root_file(parsed)

    def _owner(self, created: Created) -> Address | None:
        """The resource that it belongs to, or the sibling whose name is most like its own; None if it belongs to nothing here.

        What names something new belongs where that is written, and what something new names belongs where what names it does.
        """
        return self._own_owner(created) or self._new_owner(created)

    def _own_owner(self, created: Created) -> Address | None:
        return self._named_owner(created) or (parse_address(created.owner) if created.owner else None)

    def _new_owner(self, created: Created) -> Address | None:
        said = self.said[created.resource_type, created.import_id]
        named = next((address for address, other in self.new.items() if said.name(other)), "")
        if named:
            return parse_address(named)
        naming = (each for each in self.rest if self.said[each.resource_type, each.import_id].name(created))
        return next((owner for each in naming if (owner := self._own_owner(each)) is not None), None)

    def _named_owner(self, created: Created) -> Address | None:
        if created.parent:
            found = [address for address, own in self.live.items() if self._is_owner(address, own, created)]
            return parse_address(found[0]) if len({_block(address) for address in found}) == 1 else None
        likely = [
            (len(shared_beginning(created.name, name)), _type(address) == created.resource_type, address)
            for address, own in self.live.items()
            for name in names_of(own)
        ]
        best = max((each for each in likely if each[0] > 1), key=lambda each: (each[1], each[0]), default=None)
        if best is None or not (best[1] or sum(each[0] > 1 for each in likely) > 1):
            return None
        return parse_address(best[2])

    def _is_owner(self, address: str, own: Mapping[str, Json], created: Created) -> bool:
        parsed = parse_address(address)
        if parsed is None or parsed.data or self.code.module.instance(address) is None:
            return False
        # A bucket's or a role's own parts carry its name as their id too.
        may_be = may_belong(created.resource_type, parsed.resource_type) and not _is_part(parsed.resource_type)
        return may_be and any(own.get(key) == created.parent for key in ("id", "arn", "name"))

    def _is_inline(self, created: Created, owner: Address) -> bool:
        """Whether the block of what it belongs to declares such parts itself, so that they are values of that one."""
        inline = {"aws_vpc_security_group_ingress_rule": "ingress", "aws_vpc_security_group_egress_rule": "egress"}
        name = inline.get(created.resource_type, "")
        instance = self.code.module.instance(str(owner))
        return instance is not None and name in instance.names

    def _module(self, owner: Address | None) -> Module:
        """The module of the owner if only one call uses it and it is the stack's own; else the root."""
        root = self.code.module
        if owner is None:
            return root
        found = next((each for each in root.modules() if each.address == owner.module), root)
        directory = found.source.directory
        users = sum(each.source.directory == directory for each in root.modules())
        own = users == 1 and not directory.startswith("..") and self.code.around.is_own(self.code.root, directory)
        return found if own else root

    def _place(self, created: Created, owner: Address | None, module: Module) -> tuple[Document, Node | None]:
        """The file, and the block to add it after: the last sibling in the file of the nearest one, else the owner, else the call."""
        siblings = self._siblings(module.source, created.resource_type)
        own = f"{owner.resource_type}.{owner.name}" if owner is not None else ""
        beside = [each for name, each in siblings if name == own] or [each for _, each in siblings]
        if beside:
            document = beside[-1][0]
            blocks = [block for _, (own, block) in siblings if own.path == document.path]
            return document, max(blocks, key=lambda block: block.start_byte)
        if owner is not None and owner.module == module.address and own in module.source.resources:
            return module.source.resources[own]
        if file := self.files.get(str(owner)):
            return self.code.document(Path(file)), None
        if owner is not None and owner.modules and owner.modules[0][0] in module.source.calls:
            return module.source.calls[owner.modules[0][0]]
        return next(iter(module.source.documents.values())), None

    def _siblings(self, source: Source, resource_type: str) -> list[tuple[str, tuple[Document, Node]]]:
        return [(name, each) for name, each in source.resources.items() if name.partition(".")[0] == resource_type]

    def _root_file(self, owner: Address) -> Path:
        """The file of the root module that calls the owner's module."""
        return self.code.module.source.calls[owner.modules[0][0]][0].path

    def _label(self, created: Created, owner: Address | None, module: Module) -> str:
        """A name in the style of its siblings: what is its own in its name, or the name of what it belongs to."""
        base = created.name.rpartition("/")[2] if created.resource_type.endswith("_attachment") else created.name
        if not created.parent and owner is not None:
            base = base[len(shared_beginning(base, *names_of(self.live.get(str(owner), {})))) :]
        usual = _label_of(owner) if owner is not None else created.resource_type.rpartition("_")[2]
        label = label_of(base) or usual
        if not label[0].isalpha():
            label = f"{usual}_{label}"
        wished, number = label, 1
        prefix = f"{module.address}." if module.address else ""
        while (
            f"{created.resource_type}.{label}" in module.source.resources
            or f"{prefix}{created.resource_type}.{label}" in self.new
        ):
            number += 1
            label = f"{wished}_{number}"
        return label

    def _reference(self, created: Created, module: Module, name: str, value: Json) -> str:
        """The attribute of the one resource of the module that has this value as its id, ARN or name."""
        if reference := self._reference_to_new(created, module, name, value):
            return reference
        own = {"aws_s3_bucket": "bucket"}.get(created.resource_type, "")
        if not isinstance(value, str) or len(value) < 3 or name in _PLAIN or name == own:  # noqa: PLR2004  shorter texts name nothing
            return ""
        owners = [
            (address, key)
            for address, attributes in self.live.items()
            for key in _IDENTIFYING
            if attributes.get(key) == value and self._is_referable(address, module)
            if value != created.parent or may_belong(created.resource_type, _type(address))
        ]
        if len({address for address, _ in owners}) > 1:
            owners = [each for each in owners if means(name, value, _type(each[0]))]
        if len({address for address, _ in owners}) != 1:
            return ""
        keys = [key for _, key in owners]
        wished = self._as_siblings(created.resource_type, module, name)
        usual = "arn" if name.endswith("arn") else "name" if name in {"role", "user", "group"} else "id"
        key = next((key for key in (wished, usual) if key in keys), keys[0])
        parsed = parse_address(owners[0][0])
        return "" if parsed is None else f"{_local(parsed)}.{key}"

    def _reference_to_new(self, created: Created, module: Module, name: str, value: Json) -> str:
        """The attribute of the one new resource of the module that the value names."""
        if not isinstance(value, str):
            return ""
        found = {
            address: attribute
            for address, other in self.new.items()
            if other is not created
            if (attribute := naming_attribute(name, value, other.resource_type, other.named_by))
        }
        if len(found) != 1:
            return ""
        ((address, attribute),) = found.items()
        parsed = parse_address(address)
        return f"{_local(parsed)}.{attribute}" if parsed and parsed.module == module.address else ""

    def _is_referable(self, address: str, module: Module) -> bool:
        parsed = parse_address(address)
        return (
            parsed is not None
            and parsed.module == module.address
            and self.code.module.instance(address) is not None
            and not _is_part(parsed.resource_type)
        )

    def _as_siblings(self, resource_type: str, module: Module, name: str) -> str:
        """The attribute that the siblings refer to: `name` for `role = aws_iam_role.app.name`."""
        for _, (document, block) in self._siblings(module.source, resource_type):
            attribute = document.attributes(block).get(name)
            written = None if attribute is None else e.bare(read_attribute(document, attribute))
            if isinstance(written, e.AttributeAccess):
                return written.name
        return ""


def _is_part(resource_type: str) -> bool:
    """Whether resources of a type belong to another one, whose name their id repeats."""
    return resource_type.startswith("aws_s3_bucket_") or resource_type.endswith(
        ("_policy_attachment", "_role_policy", "_rule")
    )


def _label_of(address: Address) -> str:
    """What tells a resource from others in the code: its name, or its key if it is one of several."""
    keys = [address.key, *(key for _, key in reversed(address.modules))]
    named = next((label_of(key) for key in keys if isinstance(key, str)), "")
    return named if named and address.name in {"this", "main", "default"} else address.name


def _block(address: str) -> str:
    return re.sub(r"\[[^\]]*\]$", "", address)


def _local(address: Address) -> str:
    """The address as code in the same module writes it."""
    own = Address(resource_type=address.resource_type, name=address.name, key=address.key)
    return str(own)
