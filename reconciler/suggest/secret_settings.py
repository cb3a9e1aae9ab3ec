"""Which settings of the code hold secrets, or feed one: by the provider's marks, by name, by the code's own marks, and by where values go."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.terraform.secrets import is_secret, may_hold_secret
from reconciler.suggest.code_settings import CodeSetting

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
    """Those that hold a secret or feed one."""
    possible: Sequence[CodeSetting]
    """Those that people put secrets into, and variables and locals that feed them."""
    keys: frozenset[str]
    """What feeds secrets, as references name it: `var.a`."""


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
