"""Terraform's functions that encode, decode, digest and decrypt."""

import base64
import binascii
import csv
import hashlib
import io
import json
import re
import unicodedata
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from gateway.terraform.lang.values import EvaluationFailed, ListOf, Unknown, Value, decimal, number, text

_CHARSETS = {"UTF-8", "US-ASCII", "ISO-8859-1", "WINDOWS-1252", "UTF-16LE", "UTF-16BE"}
"""Encodings that Python and Go read and write alike."""
_NAMESPACES = {
    "dns": uuid.NAMESPACE_DNS,
    "url": uuid.NAMESPACE_URL,
    "oid": uuid.NAMESPACE_OID,
    "x500": uuid.NAMESPACE_X500,
}


def json_text(value: Value) -> str:
    """The value as `jsonencode` writes it. Raises `Unknown`."""
    encoded = json.dumps(_json_ready(value), separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        encoded = encoded.replace(character, f"\\u{ord(character):04x}")
    if re.search(r"\\[bf]", encoded.replace("\\\\", "")):
        raise Unknown("jsonencode() of control characters")
    return encoded


def _json_ready(value: Value) -> Value:
    if isinstance(value, Mapping):
        return {key: _json_ready(value[key]) for key in sorted(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json_ready(item) for item in value]
    if isinstance(value, float):
        text(value)
        if "e" in repr(value):
            raise Unknown("jsonencode() of very large or small fractions")
    return value


def _json_value(source: Value) -> Value:
    try:
        return json.loads(  # type: ignore[no-any-return]
            text(source), parse_float=lambda digits: number(decimal(digits)), parse_constant=_not_json
        )
    except (json.JSONDecodeError, RecursionError):
        raise EvaluationFailed("jsondecode() was not given JSON") from None


def _not_json(written: str) -> Value:
    raise EvaluationFailed(f"{written} is not JSON")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _from_base64(source: Value) -> bytes:
    try:
        return base64.b64decode(text(source).replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationFailed("the text is not base64") from None


def _base64decode(source: Value) -> str:
    try:
        return _from_base64(source).decode()
    except UnicodeDecodeError:
        raise EvaluationFailed("what base64decode() decodes is not UTF-8 text") from None


def _charset(name: Value) -> str:
    if text(name).upper() not in _CHARSETS:
        raise Unknown(f"the encoding {text(name)} is not read")
    return text(name)


def _textencode(source: Value, charset: Value) -> str:
    try:
        return _base64(text(source).encode(_charset(charset)))
    except UnicodeEncodeError:
        raise EvaluationFailed(f"{text(charset)} does not have every character of the text") from None


def _textdecode(source: Value, charset: Value) -> str:
    try:
        return _from_base64(source).decode(_charset(charset))
    except UnicodeDecodeError:
        raise Unknown(f"bytes that are not {text(charset)} are not decoded") from None


_FIELD = r'(?:"(?:[^"\r]|"")*"|[^",\r\n]*)'
_CSV = re.compile(rf"(?:{_FIELD}(?:,{_FIELD})*(?:\n|\Z))*")


def _csv(source: Value) -> Value:
    if not _CSV.fullmatch(text(source)):
        raise Unknown("csvdecode() of text that not every reader of CSV reads alike")
    rows = [row for row in csv.reader(io.StringIO(text(source), newline="")) if row]
    if not rows:
        raise EvaluationFailed("csvdecode() finds no line of names")
    names = rows[0]
    if len(set(names)) != len(names) or any(len(row) != len(names) for row in rows):
        raise EvaluationFailed("csvdecode() needs distinct names, and as many values in each line")
    return ListOf(dict(zip(names, row, strict=True)) for row in rows[1:])


def _digest(name: str, *, in_base64: bool = False) -> Callable[[Value], Value]:
    of_content = _digest_of_content(name, in_base64=in_base64)
    return lambda value: of_content(text(value).encode())


def _digest_of_content(name: str, *, in_base64: bool = False) -> Callable[[bytes], Value]:
    def digest(content: bytes) -> Value:
        found = hashlib.new(name, content, usedforsecurity=False)
        return _base64(found.digest()) if in_base64 else found.hexdigest()

    return digest


def _text_of_file(content: bytes) -> Value:
    """The text of a file as Terraform normalizes texts. Raises `Unknown`."""
    try:
        return unicodedata.normalize("NFC", content.decode())
    except UnicodeDecodeError:
        raise Unknown("file() is not evaluated: the file is not UTF-8 text") from None


def _uuidv5(namespace: Value, name: Value) -> str:
    written = text(namespace)
    try:
        space = _NAMESPACES[written] if written in _NAMESPACES else uuid.UUID(written)
    except ValueError:
        raise EvaluationFailed(f"{written} is not a namespace of UUIDs") from None
    return str(uuid.uuid5(space, text(name)))


def _rsadecrypt(source: Value, private_key: Value) -> str:
    # Only few stacks use this or YAML, and a command should not import what it does not need.
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key  # noqa: PLC0415

    pem = text(private_key).encode()
    try:
        load = load_ssh_private_key if b"OPENSSH" in pem else load_pem_private_key
        key = load(pem, None)
        if not isinstance(key, RSAPrivateKey):
            raise EvaluationFailed("rsadecrypt() needs an RSA key")
        return key.decrypt(_from_base64(source), PKCS1v15()).decode()
    except (ValueError, TypeError):
        raise EvaluationFailed("rsadecrypt() cannot decrypt the text with this key") from None


# ---------------------------------------------------------------------------------------------------- YAML

_CORE = {
    "null": re.compile(r"~|null|Null|NULL|"),
    "bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "number": re.compile(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?"),
    "text": re.compile(r"[^\d.+~=<-].*|\d+(?:\.\d+){2,}|.*[^\dA-Fa-fxob_+.:TZtz\s-].*", re.DOTALL),
}
"""Plain scalars that YAML 1.1 and 1.2 agree on; any other plain scalar is not certain."""


_MOST_EVENTS = 100_000
_MOST_ALIASES = 10
"""Aliases of aliases grow without limit."""


def _yaml_value(source: Value) -> Value:
    import yaml  # noqa: PLC0415  as for `rsadecrypt`

    try:
        events = list(islice(yaml.parse(text(source), Loader=yaml.SafeLoader), _MOST_EVENTS + 1))
        if len(events) > _MOST_EVENTS:
            raise Unknown("yamldecode() of a very large document")
        node = yaml.compose(text(source), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        raise EvaluationFailed("yamldecode() was not given one document of YAML") from None
    if node is None:
        raise EvaluationFailed("yamldecode() was given nothing")
    if any(getattr(event, "tag", None) or getattr(event, "version", None) for event in events):
        raise Unknown("yamldecode() of tags or directives")
    if sum(isinstance(event, yaml.AliasEvent) for event in events) > _MOST_ALIASES:
        raise Unknown("yamldecode() of a very large document")
    return _yaml_node(node)


def _yaml_node(node: Any) -> Value:
    match node.id:
        case "sequence":
            return [_yaml_node(item) for item in node.value]
        case "mapping":
            return {_yaml_key(key): _yaml_node(item) for key, item in node.value}
        case "scalar":
            return _scalar(node)
    raise Unknown("yamldecode() of this document")


def _yaml_key(node: Any) -> str:
    if node.id != "scalar" or node.value == "<<":
        raise Unknown("yamldecode() of keys that are not text, or of merged maps")
    return text(_scalar(node))


def _scalar(node: Any) -> Value:
    written: str = node.value
    if getattr(node, "style", None) is not None:
        return written
    if _CORE["null"].fullmatch(written):
        return None
    if _CORE["bool"].fullmatch(written):
        return written.lower() == "true"
    if _CORE["number"].fullmatch(written):
        return number(decimal(written))
    if _CORE["text"].fullmatch(written) and not re.fullmatch(r"(?i)y|n|yes|no|on|off", written):
        return written
    raise Unknown(f"whether {written} is text in YAML is not certain")


def _yaml_text(value: Value) -> str:
    """The value as `yamlencode` writes it: every key and text in quotes, two spaces for each level."""
    written = _yaml_lines(value, 0)
    if written.endswith("\n"):
        return written
    # A document of one plain scalar needs its end marked.
    return f"{written}\n" if isinstance(value, str | Mapping | Sequence) else f"{written}\n...\n"


def _yaml_lines(value: Value, depth: int) -> str:
    pad = "  " * depth
    if isinstance(value, Mapping) and value:
        return "".join(f"{pad}{_quoted(key)}:{_yaml_inner(value[key], depth)}" for key in sorted(value))
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return "".join(f"{pad}- {_yaml_item(item, depth)}" for item in value)
    return _yaml_scalar(value)


def _yaml_inner(value: Value, depth: int) -> str:
    if isinstance(value, Mapping) and value:
        return "\n" + _yaml_lines(value, depth + 1)
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return "\n" + _yaml_lines(value, depth)
    return f" {_yaml_scalar(value)}\n"


def _yaml_item(value: Value, depth: int) -> str:
    nested = not isinstance(value, str) and isinstance(value, Mapping | Sequence) and bool(value)
    return _yaml_lines(value, depth + 1).lstrip(" ") if nested else f"{_yaml_scalar(value)}\n"


def _yaml_scalar(value: Value) -> str:
    match value:
        case str():
            return _quoted(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return text(value)
        case Mapping():
            return "{}"
        case _:
            return "[]"


def _quoted(value: str) -> str:
    if "\n" in value:
        raise Unknown("yamlencode() of text with several lines")
    if not value.isprintable() or not value.isascii():
        raise Unknown("yamlencode() of text beyond printable ASCII")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "base64decode": _base64decode,
    "base64encode": lambda value: _base64(text(value).encode()),
    "base64sha256": _digest("sha256", in_base64=True),
    "base64sha512": _digest("sha512", in_base64=True),
    "csvdecode": _csv,
    "jsondecode": _json_value,
    "jsonencode": json_text,
    "md5": _digest("md5"),
    "rsadecrypt": _rsadecrypt,
    "sha1": _digest("sha1"),
    "sha256": _digest("sha256"),
    "sha512": _digest("sha512"),
    "textdecodebase64": _textdecode,
    "textencodebase64": _textencode,
    "uuidv5": _uuidv5,
    "yamldecode": _yaml_value,
    "yamlencode": _yaml_text,
}
OF_FILE: Mapping[str, Callable[[bytes], Value]] = {
    "file": _text_of_file,
    "filebase64": _base64,
    "filebase64sha256": _digest_of_content("sha256", in_base64=True),
    "filebase64sha512": _digest_of_content("sha512", in_base64=True),
    "fileexists": lambda _: True,
    "filemd5": _digest_of_content("md5"),
    "filesha1": _digest_of_content("sha1"),
    "filesha256": _digest_of_content("sha256"),
    "filesha512": _digest_of_content("sha512"),
}
"""Functions of the content of the file that their argument names."""
