"""The reference of all settings, generated from their definitions: name, environment variable, form, unit, default and meaning of each."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import AwareDatetime, BaseModel, IPvAnyNetwork, SecretStr
from pydantic.fields import FieldInfo

from gateway.core.settings import Settings

UNITS: Final[Mapping[str, str]] = {
    "_seconds": "seconds",
    "_bytes": "bytes",
    "_ms": "milliseconds",
    "_mb": "MiB",
    "_hours": "hours",
    "_per_minute": "a minute",
    "_a_day": "a day",
    "drift_every": "seconds",
    "port": "TCP port",
    "traces": "share",
    "most_streams": "streams",
    "max_connections": "connections",
}
"""The unit of a number, by the end of its setting's name."""

_WIDTH: Final = 150
_HEAD: Final = """\
# Settings

This page is generated: `sentinel config --reference` prints it. Settings come from the environment first, then from `sentinel.toml`, else the default holds.
`sentinel config` shows the values in force and the origin of each. An unknown name is an error.

A list or table in the environment is JSON: `SENTINEL_STACKS='[{"name": "prod", "path": "/srv/infra"}]'`. A list there replaces the one of the file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as the reference shows it."""

    name: str
    """With the tables that it is in, e.g. `server.port`."""
    variable: str
    """Its environment variable; empty for a member of a list, which is part of the list's JSON."""
    form: str
    unit: str
    """Of a number; empty for everything else."""
    default: str
    """As in TOML or JSON; empty if it must be given."""
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The settings of one table of `sentinel.toml`."""

    title: str
    meaning: str
    settings: tuple[Setting, ...]


def reference() -> str:
    """The page, in Markdown, with lines of at most 160 characters."""
    return "\n".join([_HEAD, *(_section_text(section) for section in sections())])


def sections() -> tuple[Section, ...]:
    """All tables in the order of their definition, the settings outside tables first."""
    return tuple(_sections(Settings, "", in_list=False))


def _sections(model: type[BaseModel], place: str, *, in_list: bool) -> Iterator[Section]:
    said = _meanings(model)
    own, inner = [], []
    for name, field in model.model_fields.items():
        found, is_list = _model_in(field.annotation)
        if found is None:
            own.append(_setting(f"{place}{name}", field, said.get(name, ""), in_list=in_list))
        else:
            inner.append((name, found, is_list))
    if own:
        title = "Outside tables" if not place else f"`[[{place[:-1]}]]`" if in_list else f"`[{place[:-1]}]`"
        about = "" if not place else inspect.cleandoc(model.__doc__ or "")
        if in_list and place:
            about += f" In the environment: JSON in `{_variable(place[:-1])}`."
        yield Section(title=title, meaning=about.strip(), settings=tuple(own))
    for name, found, is_list in inner:
        yield from _sections(found, f"{place}{name}.", in_list=in_list or is_list)


def _setting(name: str, field: FieldInfo, meaning: str, *, in_list: bool) -> Setting:
    number = _is_number(field.annotation)
    return Setting(
        name=name,
        variable="" if in_list else _variable(name),
        form=_form(field.annotation)
        + _limits(field.metadata, of="entries" if get_origin(field.annotation) is tuple else "characters"),
        unit=next((unit for end, unit in UNITS.items() if name.endswith(end)), "") if number else "",
        default="" if field.is_required() else _default(field),
        meaning=" ".join(meaning.split()),
    )


def _variable(name: str) -> str:
    return "SENTINEL_" + name.upper().replace(".", "__")


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The table that an annotation holds, and whether it is a list of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    is_list = get_origin(annotation) is tuple
    for each in get_args(annotation):
        found, inner_list = _model_in(each)
        if found is not None:
            return found, is_list or inner_list
    return None, False


def _meanings(model: type[BaseModel]) -> Mapping[str, str]:
    """The text below each attribute of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    if not isinstance(body, ast.ClassDef):
        return {}
    found = {}
    for before, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and isinstance(after, ast.Expr):
            found[before.target.id] = str(getattr(after.value, "value", ""))
    return found


def _is_number(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType, tuple):
        return any(_is_number(each) for each in get_args(annotation))
    return annotation in (int, float)


_FORMS: Final[Mapping[Any, str]] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret",
    AwareDatetime: "time with its zone",
    IPvAnyNetwork: "network",
}


def _form(annotation: Any) -> str:
    if annotation in _FORMS:
        return _FORMS[annotation]
    arguments = [each for each in get_args(annotation) if each not in (type(None), Ellipsis)]
    if get_origin(annotation) is Annotated:
        return _form(arguments[0]) + _limits(arguments[1:])
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_form, arguments)))
    if get_origin(annotation) is tuple:
        return f"list ({_form(arguments[0])})"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f"`{each.value}`" for each in annotation)
    if "Network" in getattr(annotation, "__name__", ""):
        return "network"
    return "table" if arguments else "text"


def _limits(metadata: Any, of: str = "characters") -> str:
    """The limits of a value, e.g. ` from 1 to 900`; `of` is what the length of a text or list counts."""
    words = {Ge: "from", Gt: "above", Le: "to", Lt: "below", MinLen: "at least", MaxLen: "at most"}
    said = []
    for limit in metadata:
        for inner in limit if hasattr(limit, "__iter__") and not isinstance(limit, str) else [limit]:
            if (word := words.get(type(inner))) is not None:
                value = next(iter(vars(inner).values())) if hasattr(inner, "__dict__") else _value_of(inner)
                said.append(f"{word} {value}" + (f" {of}" if isinstance(inner, MinLen | MaxLen) else ""))
    return f" {' '.join(said)}" if said else ""


def _value_of(limit: Any) -> Any:
    return next(
        getattr(limit, name) for name in ("ge", "gt", "le", "lt", "min_length", "max_length") if hasattr(limit, name)
    )


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value in ("", (), {}):
        return "none"
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _section_text(section: Section) -> str:
    lines = [f"## {section.title}", ""]
    if section.meaning:
        lines += [*textwrap.wrap(" ".join(section.meaning.split()), _WIDTH, break_long_words=False), ""]
    for setting in section.settings:
        default = (
            "must be given"
            if not setting.default
            else "default: none"
            if setting.default == "none"
            else f"default: `{setting.default}`"
        )
        form = (
            f"{setting.form}, in {setting.unit}"
            if setting.unit in _IN
            else f"{setting.form} ({setting.unit})"
            if setting.unit
            else setting.form
        )
        facts = "; ".join(filter(None, (form, default, f"`{setting.variable}`" if setting.variable else "")))
        lines += textwrap.wrap(
            f"- **`{setting.name}`**: {facts}.",
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        if setting.meaning:
            lines += textwrap.wrap(
                setting.meaning,
                _WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join([*lines, ""])


_IN: Final = frozenset({"seconds", "milliseconds", "bytes", "MiB", "hours"})
