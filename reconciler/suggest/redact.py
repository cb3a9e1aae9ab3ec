"""Code without its secrets, to be shown to a language model.

Masked are: texts in a known form of a secret; literals of attributes, arguments and map entries with the name of a secret; defaults
and values of variables that the code marks as sensitive. An unlabelled secret in other text cannot be recognised.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from gateway.model.masking import Masker
from gateway.terraform.secrets import is_secret, masked_text, may_hold_secret

_PAIR: Final = re.compile(r'(?P<name>[\w-]+)"?\s*[=:]\s*"(?P<value>(?:[^"\\\n]|\\.)*)"')
_HEREDOC: Final = re.compile(r"(?P<name>[\w-]+)\s*=\s*<<-?(?P<end>\w+)\n(?P<value>.*?)\n\s*(?P=end)\b", re.DOTALL)
_VARIABLE: Final = re.compile(r'^variable\s+"(?P<name>[\w-]+)"\s*\{(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL)
_SENSITIVE: Final = re.compile(r"^\s*sensitive\s*=\s*true\b", re.MULTILINE)
_QUOTED: Final = re.compile(r'"(?P<value>(?:[^"\\\n]|\\.)*)"')


def redacted(files: Mapping[Path, bytes], masker: Masker) -> Mapping[Path, str]:
    """The text of each file, secrets masked."""
    texts = {path: content.decode(errors="replace") for path, content in files.items()}
    sensitive = frozenset(name for text in texts.values() for name in _sensitive_variables(text))
    return {path: _redacted(text, sensitive, masker) for path, text in texts.items()}


def _sensitive_variables(text: str) -> list[str]:
    return [found["name"] for found in _VARIABLE.finditer(text) if _SENSITIVE.search(found["body"])]


def _redacted(text: str, sensitive: frozenset[str], masker: Masker) -> str:
    text = _VARIABLE.sub(partial(_variable, sensitive, masker), text)
    for pattern in (_PAIR, _HEREDOC):
        text = pattern.sub(partial(_pair, sensitive, masker), text)
    return masked_text(text, masker)


def _variable(sensitive: frozenset[str], masker: Masker, found: re.Match[str]) -> str:
    """The block of a sensitive variable with every text in its body masked."""
    if found["name"] not in sensitive:
        return found[0]
    start = found.start("body") - found.start()
    return found[0][:start] + _QUOTED.sub(partial(_value, masker), found["body"]) + "}"


def _pair(sensitive: frozenset[str], masker: Masker, found: re.Match[str]) -> str:
    name = found["name"].lower().replace("-", "_")
    return _value(masker, found) if name in sensitive or is_secret("", name) or may_hold_secret("", name) else found[0]


def _value(masker: Masker, found: re.Match[str]) -> str:
    start, end = found.start("value") - found.start(), found.end("value") - found.start()
    masked = f"hmac_sha256:{masker.digest(found['value'])[:16]}" if found["value"] else ""
    return found[0][:start] + masked + found[0][end:]
