"""The parameters of a call as people may see them: whole, with secrets masked, and of bounded size."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.effects.sensitive_members import sensitive_parameters
from gateway.model.json import Json, to_json
from gateway.model.mutation import Call

MASK: Final = "***"
"""Stands for a secret."""

_SECRET_ENDINGS: Final = (
    "password", "passwd", "passphrase", "secret", "secretstring", "secretbinary", "secretkey", "secretaccesskey", "token",
    "apikey", "privatekey", "credentials", "connectionstring", "connectionuri", "connectionurl", "userdata", "plaintext",
    "presharedkey", "authkey", "licensekey", "signingkey", "accountkey", "passcode", "pwd", "psk", "keymaterial",
)  # fmt: skip
"""Endings of names of secrets, without separators and case. `SecretId` and `KmsKeyId` only name a secret or a key."""
_NOT_SECRET: Final = (
    "nexttoken", "clienttoken", "requesttoken", "idempotencytoken", "continuationtoken", "creatortoken", "invocationtoken",
)  # fmt: skip
_OFTEN_SECRET: Final = frozenset({
    "connectionproperties", "connectorconfiguration", "customheaders", "defaultarguments", "environment", "environmentvariables",
    "environmentvars", "headerparameters", "nonoverridablearguments", "optionsettings", "runtimeenvironmentsecrets",
    "runtimeenvironmentvariables", "variables",
})  # fmt: skip
"""Members whose values commonly hold secrets under any name: their names are shown, their values are not."""
_NAMES: Final = frozenset({"name", "key", "parameterkey", "parametername", "headername"})
_VALUES: Final = frozenset({"value", "parametervalue", "headervalue"})
"""In `{Name: …, Value: …}` the name says whether the value is a secret."""

# Bounded repetitions, so that no text takes more than linear time. A masked literal has no character that a shell would
# execute, so a command stays readable in full.
LONGEST_TEXT: Final = 64 * 1024
"""Characters of a text that is searched for secrets, at half a second for a megabyte. No longer text is shown anyway."""
_INLINE: Final = re.compile(
    r"(?P<name>(?:password|passwd|pwd|secret|token|api_?key|access_?key)[\"']?\s{0,8}[=:]\s{0,8}[\"']?)[\w+/=.~@%^-]{4,512}"
    r"|(?P<option>--(?:[a-z]{1,16}-){0,3}(?:password|passwd|secret|token|api-?key|access-?key)\s{1,8}[\"']?)[\w+/=.~@%^-]{4,512}"
    r"|(?P<scheme>://[^\s/:@]{0,128}:)[^\s/@]{1,256}(?=@)"
    r"|(?P<pem>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+",
    re.IGNORECASE,
)


_OPTION: Final = re.compile(
    r"--?(?:[a-z]{1,16}[-_]){0,3}(?:password|passwd|secret|token|api[-_]?key|access[-_]?key)", re.IGNORECASE
)
_LITERAL: Final = re.compile(r"[\w+/=.~@%^:-]{1,512}")


def masked_parameters(call: Call) -> dict[str, Json]:
    """The parameters with every secret masked: what AWS marks as sensitive, what has the name of a secret, and secrets inside texts.

    Commands and documents are shown, because a person must see what would run. A blob is shown by its length: the call's digest says
    which one it is.
    """
    shown = _inside(call.parameters, sensitive_parameters(call.service, call.operation))
    return dict(shown) if isinstance(shown, Mapping) else {}


def bounded_parameters(call: Call, most: int) -> tuple[dict[str, Json], bool]:
    """`masked_parameters` in at most about `most` characters of JSON, and whether they are whole. The largest members are left out first."""
    shown = masked_parameters(call)
    sizes = {name: len(json.dumps(value, ensure_ascii=False)) + len(name) for name, value in shown.items()}
    kept, left = dict(shown), most
    for name in sorted(sizes, key=lambda each: (sizes[each], each)):
        left -= sizes[name]
        if left < 0:
            kept[name] = f"(not kept: {sizes[name]} characters)"
    return kept, left >= 0 and not _leaves_out(shown)


def _leaves_out(value: Json) -> bool:
    """Whether a text in the value was too long to be shown."""
    match value:
        case str():
            return value.startswith("(not kept: ")
        case Mapping():
            return any(_leaves_out(item) for item in value.values())
        case list() | tuple():
            return any(_leaves_out(item) for item in value)
    return False


def _shown(name: str, value: object, marked: frozenset[str]) -> Json:
    folded = _folded(name)
    if folded in _OFTEN_SECRET or (name in marked and not isinstance(value, (bytes, bytearray))):
        return _names_only(value)
    if folded.endswith(_SECRET_ENDINGS) and not folded.endswith(_NOT_SECRET):
        return value if value is None or isinstance(value, bool) else MASK
    return _inside(value, marked)


def _inside(value: object, marked: frozenset[str]) -> Json:
    match value:
        case str() if len(value) > LONGEST_TEXT:
            return f"(not kept: {len(value)} characters)"
        case str():
            return _INLINE.sub(_mask_inline, value)
        case bytes() | bytearray():
            return f"({len(value)} bytes)"
        case Mapping():
            secret = _names_a_secret(value)
            return {
                str(key): MASK if secret and _folded(str(key)) in _VALUES else _shown(str(key), item, marked)
                for key, item in value.items()
            }
        case Sequence() | set() | frozenset():
            items = value if isinstance(value, Sequence) else sorted(value, key=repr)
            return [
                MASK if _is_argument_of_secret(before, item) else _inside(item, marked)
                for before, item in zip([None, *items], items, strict=False)
            ]
        case _:
            return to_json(value)


def _is_argument_of_secret(before: object, item: object) -> bool:
    """Whether an item of a command follows an option such as `--password`, and is a literal that no shell would execute."""
    return (
        isinstance(before, str)
        and isinstance(item, str)
        and _OPTION.fullmatch(before) is not None
        and _LITERAL.fullmatch(item) is not None
    )


def _names_only(value: object) -> Json:
    """The value with its keys, and of `{name: …, value: …}` the name; every other text in it is masked."""
    match value:
        case Mapping():
            return {
                str(key): to_json(item) if _folded(str(key)) in _NAMES and isinstance(item, str) else _names_only(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_names_only(item) for item in value]
        case None | bool():
            return value
        case _:
            return MASK


def _names_a_secret(value: Mapping[object, object]) -> bool:
    """Whether a member such as `Name` holds the name of a secret, or `Type` says that the value is one."""
    for key, item in value.items():
        folded, text = _folded(str(key)), _folded(item) if isinstance(item, str) else ""
        if folded in _NAMES and text.endswith(_SECRET_ENDINGS):
            return True
        if folded == "type" and text == "securestring":
            return True
    return False


def _mask_inline(match: re.Match[str]) -> str:
    return f"{match['name'] or match['option'] or match['scheme'] or match['pem']}{MASK}"


def _folded(name: str) -> str:
    return name.translate(_SEPARATORS).lower()


_SEPARATORS: Final = str.maketrans("", "", "_-. ")
