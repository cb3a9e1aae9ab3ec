"""Takes the secrets out of code and values of variables before a language model sees them.

A setting holds a secret, or feeds one, by the provider's marks, by its name, by the code's own marks, or because its value goes into one.

Masked are: every literal in a setting that holds a secret or feeds one (`SecretSettings`); texts that name a secret before its
value; the same literals wherever else they stand; texts in a known form of a secret. Comments are left out: they declare nothing, and old
secrets stand in them. A file that cannot be parsed is not shown. An unlabelled secret in other text cannot be recognised.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.model.json import Json
from gateway.core.model.masking import Masker
from gateway.terraform.lang.hcl import Document, parse
from gateway.terraform.secrets import is_secret, masked_text, may_hold_secret
from reconciler.suggest.code_settings import CodeSetting, descendants, settings_in

VALUE_NAMES: Final = frozenset({"value", "values", "default", "content", "text", "data"})
"""Settings that another one beside them says the name of: `name = "DB_PASSWORD", value = "…"`."""
_LABEL: Final = re.compile(r'"([\w./-]+)"')
_ITERATED: Final = re.compile(r"\.(?:value|key)\b")
_KEY_IN_TEXT: Final = re.compile(
    r"(?<![\w-])([A-Za-z][\w-]{0,128})[\"'\\]{0,4}\s{0,64}[=:]|(?<![\w-])--?([A-Za-z][\w-]{0,128})\s"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSettings:
    """The settings whose literals nobody outside may see."""

    sure: Sequence[CodeSetting]
    """The settings that hold a secret or feed one."""
    possible: Sequence[CodeSetting]
    """The settings that people put secrets into, and the variables and locals that feed these settings."""
    keys: frozenset[str]
    """The variables and locals that feed secrets, as references name them: `var.a`."""


def secret_settings(settings: Sequence[CodeSetting], sensitive: Iterable[str] = ()) -> SecretSettings:
    """The settings that hold or feed secrets. `sensitive`: names of variables that other code marks."""
    marked = {f"var.{name}" for name in sensitive}
    marked |= {each.place.key for each in settings if each.place.sensitive and each.place.key}
    sure, keys = _fed_by(settings, is_secret_setting, marked, lambda _: True)
    possible, more = _fed_by(settings, _may_be_secret, set(), lambda key: key.startswith(("var.", "local.")))
    known = {id(each) for each in sure}
    return SecretSettings(
        sure=sure, possible=[each for each in possible if id(each) not in known], keys=frozenset(keys | more)
    )


def is_secret_setting(setting: CodeSetting) -> bool:
    """Whether the setting itself says that its value is a secret."""
    place = setting.place
    return (
        place.sensitive
        or is_secret(place.resource_type, place.path or setting.name)
        or is_secret_name(setting.name)
        or (setting.name in VALUE_NAMES and any(is_secret_label(name) for name in _labels(setting)))
    )


def is_secret_name(name: str) -> bool:
    """Whether a name alone says that what it names is a secret."""
    return is_secret("", name or "_")


def is_secret_label(label: str) -> bool:
    """Whether a text names a secret: `DB_PASSWORD`, `/app/db/password`."""
    return is_secret_name(re.split(r"[./]", label)[-1])


@lru_cache(maxsize=4096)
def has_secret_key(text: str) -> bool:
    """Whether a text, such as a script or a document, names a secret as one does before its value: `password:`, `--token `."""
    if text.strip('"').startswith("arn:"):
        return False
    return any(is_secret_name(one or other) for one, other in _KEY_IN_TEXT.findall(text))


def _may_be_secret(setting: CodeSetting) -> bool:
    place = setting.place
    return may_hold_secret(place.resource_type, place.path or setting.name) or may_hold_secret("", setting.name)


def _labels(setting: CodeSetting) -> Iterator[str]:
    for _, text in setting.place.members:
        if label := _LABEL.fullmatch(text):
            yield label[1]


def _fed_by(
    settings: Sequence[CodeSetting],
    starts: Callable[[CodeSetting], bool],
    keys: set[str],
    follow: Callable[[str], bool],
) -> tuple[list[CodeSetting], set[str]]:
    """The settings that start it or that feed one of them, directly or not, and the keys of what feeds."""
    repeats: set[int] = set()
    found: dict[int, CodeSetting] = {number: each for number, each in enumerate(settings) if starts(each)}
    new = list(found.values())
    while True:
        for each in new:
            keys |= {key for key in each.references if follow(key)}
            repeats |= {node.id for node in each.place.repeats} if _ITERATED.search(each.text) else set()
        more = {
            number: each
            for number, each in enumerate(settings)
            if number not in found and (_is_named(each.place.key, keys) or each.value.id in repeats)
        }
        if not more:
            return list(found.values()), keys
        found |= more
        new = list(more.values())


def _is_named(key: str, keys: set[str]) -> bool:
    return bool(key) and (key in keys or f"{key.rpartition('.')[0]}.*" in keys)


_LITERALS: Final = frozenset({"template_literal", "numeric_lit"})
_TEXTS: Final = frozenset({"string_lit", "quoted_template", "heredoc_template"})
_SHORTEST: Final = 6
"""Characters of a secret that is looked for in all other text; shorter ones are parts of too many words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Files that may be shown, and what must be masked in any other text that goes with them."""

    files: Mapping[Path, str]
    masker: Masker
    secrets: frozenset[str]
    """The secrets that were masked and that are long enough to be found again."""

    def text(self, text: str) -> str:
        """Another text without those secrets, and without any in a known form."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", self.masker.short(secret), text)
        return masked_text(text, self.masker)


def redact(files: Mapping[Path, bytes], masker: Masker, sensitive: Iterable[str] = ()) -> Redaction:
    """The text of each file that can be parsed, secrets masked; no file at all if one of code cannot be, since it may mark secrets.

    `sensitive` are names of variables that code beside these files marks.
    """
    documents = {path: found for path, content in files.items() if (found := _document(path, content)) is not None}
    if any(path.suffix == ".tf" and path not in documents for path in files):
        return Redaction(files={}, masker=masker, secrets=frozenset())
    settings = [
        each
        for path, document in documents.items()
        for each in settings_in(document, of_variables=path.suffix == ".tfvars")
    ]
    secret = secret_settings(settings, sensitive)
    given, secrets = _given(files, secret, masker)
    secrets |= {text for each in secret.sure for text in _long_literals(each.place.document, each.value)}
    redaction = Redaction(files={}, masker=masker, secrets=frozenset(secrets))
    shown = {path: _masked(document, _secret_nodes(document, secret), masker) for path, document in documents.items()}
    return Redaction(
        files={path: redaction.text(text) for path, text in (shown | given).items()},
        masker=masker,
        secrets=redaction.secrets,
    )


def _document(path: Path, content: bytes) -> Document | None:
    try:
        return None if path.suffix == ".json" else parse(path, content)
    except CodeInvalid:
        return None


def _given(files: Mapping[Path, bytes], secret: SecretSettings, masker: Masker) -> tuple[dict[Path, str], set[str]]:
    """Files of variable values in JSON, and the secrets in them."""
    shown: dict[Path, str] = {}
    secrets: set[str] = set()
    for path, content in files.items():
        try:
            values: Json = read_json(content) if path.suffix == ".json" else None
        except JsonRefused:
            continue
        if isinstance(values, dict):
            masked, found = masked_values(values, secret.keys, masker)
            shown[path] = json.dumps(masked, ensure_ascii=False, indent=2) + "\n"
            secrets |= {text for text in found if len(text) >= _SHORTEST}
    return shown, secrets


def _secret_nodes(document: Document, secret: SecretSettings) -> Iterator[Node]:
    for setting in (*secret.sure, *secret.possible):
        if setting.place.document is document:
            yield from _literals(setting.value)
    for node in descendants(document.tree.root_node):
        if node.type in _TEXTS and has_secret_key(document.text(node)):
            yield from _literals(node)


def _literals(node: Node) -> Iterator[Node]:
    """The literals in an expression, without the plain names of an object's entries."""
    if node.type in _LITERALS:
        yield node
    children = node.children
    if node.type == "object_elem" and not any(each.type == "(" for each in children[0].children):
        children = children[1:]
    for child in children:
        yield from _literals(child)


def _long_literals(document: Document, node: Node) -> Iterator[str]:
    for literal in _literals(node):
        if len(text := document.text(literal).strip()) >= _SHORTEST:
            yield text


def _masked(document: Document, secret: Iterable[Node], masker: Masker) -> str:
    """The text of a file without its secrets and comments."""
    nodes = {node.start_byte: node for node in secret}
    nodes |= {node.start_byte: node for node in descendants(document.tree.root_node) if node.type == "comment"}
    parts: list[str] = []
    end = 0
    for start, node in sorted(nodes.items()):
        parts += [document.source[end:start].decode(), _instead(document.text(node), node, masker)]
        end = node.end_byte
    return "".join(parts) + document.source[end:].decode()


def _instead(text: str, node: Node, masker: Masker) -> str:
    """The text shown instead of a comment or a secret. White space around it stays: the end of a heredoc needs its own line."""
    body = text.strip()
    if node.type == "comment":
        shown = "/**/" if body.startswith("/*") else "#"
    else:
        shown = masker.short(body) if body else ""
        shown = f'"{shown}"' if node.type == "numeric_lit" else shown
    before = text[: len(text) - len(text.lstrip())]
    return before + shown + text[len(before) + len(body) :]


def masked_values(values: Mapping[str, Json], keys: frozenset[str], masker: Masker) -> tuple[Json, frozenset[str]]:
    """The values of variables with the secrets in them masked, and the texts that were. `keys` names secret variables: `var.a`."""
    found: set[str] = set()

    def hide(value: Json) -> Json:
        found.update(_texts(value))
        return masker.mask(value)

    def show(name: str, value: Json, *, labelled: bool) -> Json:
        secret = is_secret_name(name) or may_hold_secret("", name or "_") or (labelled and name in VALUE_NAMES)
        if secret or (isinstance(value, str) and has_secret_key(value)):
            return hide(value)
        if isinstance(value, Mapping):
            named = any(isinstance(item, str) and is_secret_label(item) for item in value.values())
            return {key: show(key, item, labelled=named) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [show("", item, labelled=False) for item in value]
        return value

    shown: Json = {
        name: hide(value) if f"var.{name}" in keys else show(name, value, labelled=False)
        for name, value in values.items()
    }
    return shown, frozenset(found)


def _texts(value: Json) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, Sequence) else ()
    return frozenset(text for part in parts for text in _texts(part))
