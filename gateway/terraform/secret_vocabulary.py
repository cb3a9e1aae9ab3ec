"""The one vocabulary of secrets: the words that name one, the names that hold some often, and the forms that secrets have in a text.

Maskers and reviews ask here: for the values of attributes, the parameters of calls, texts, code for a language model, reviews of reads.
"""

import re
from functools import lru_cache
from typing import Final

WORDS: Final = (
    "access key", "account key", "api key", "auth key", "connection string", "connection uri", "connection url", "credential", "credentials",
    "database url", "dsn", "encrypted secret", "key material", "license key", "passcode", "passphrase", "passwd", "password", "plaintext",
    "pre shared key", "private key", "private key openssh", "private key pem", "private key pem pkcs8", "psk", "pwd", "secret",
    "secret access key", "secret binary", "secret key", "secret string", "secret value", "ses smtp password v4", "shared key", "signing key",
    "token", "user data",
)  # fmt: skip
"""How the name of a secret ends. `SecretId` and `KmsKeyId` only name a secret or a key."""

_PUBLIC: Final = (
    "client token", "continuation token", "creation token", "creator token", "event source token", "idempotency token", "invocation token",
    "lock token", "marker token", "message dsn", "next token", "page token", "pagination token", "request token", "update token",
)  # fmt: skip
"""These names are no secrets: tokens that page, make a request idempotent or name a version, and a bounce notice of mail."""

_PUBLIC_LAST: Final = ("client token", "continuation token", "idempotency token", "next token", "request token")
"""Names that end so are no secrets either. Of the other names only the whole one: people choose names such as `GITHUB_UPDATE_TOKEN`."""

_OFTEN: Final = (
    "basic auth", "basic auth credentials", "custom json", "environment variable", "environment variables", "environment vars", "init script",
    "runtime environment secrets", "runtime environment variables", "startup script", "user data", "user data base64",
)  # fmt: skip
"""How the names of attributes and members end that are no secrets by nature, and that people put secrets into under any name."""

_LETTERS: Final = "".join(sorted({word[0] for word in WORDS}))
NAME_IN_TEXT: Final = rf"(?=[{_LETTERS}])(?:" + "|".join(
    letter + "(?:" + "|".join(word[1:].replace(" ", "[_-]?") for word in sorted(WORDS, key=len, reverse=True) if word[0] == letter) + ")"
    for letter in _LETTERS
) + ")"  # fmt: skip
"""The words as they stand before a value in a text, in any case. Grouped by letter, so that a text is searched five times as fast."""
URL: Final = r"(?<=://)[\w%.~+-]{0,256}:(?P<url>[\w%.~+-]{1,256})(?=@)"
"""A URL with a password. The group is the password, as in the forms that follow."""
PRIVATE_KEY: Final = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?P<pem>(?:\s|\\[nr])*+(?:(?:Proc-Type|DEK-Info): [\w,-]{1,80}(?:\s|\\[nr])++){0,2}"
    r"(?:[A-Za-z0-9+/=]|\s|\\[nr])++)(?=-----END [A-Z ]{0,40}PRIVATE KEY-----)"
)
"""A private key. It has no quotes and brackets, so nobody can hide a part of a text by a mask that begins in another."""
KNOWN_KEY: Final = r"\b(?P<known>(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk_live_|rk_live_|AIza)[\w-]{16,255})"
"""A token of GitHub, GitLab, Slack, Stripe or Google, each of which begins with letters of its service."""

_LONGEST_NAME: Final = 256
_ENDINGS: Final = tuple(word.replace(" ", "") for word in WORDS)
_OFTEN_ENDINGS: Final = tuple(word.replace(" ", "") for word in _OFTEN)
_PUBLIC_NAMES: Final = frozenset(word.replace(" ", "") for word in _PUBLIC)
_PUBLIC_ENDINGS: Final = tuple(f"_{word.replace(' ', '_')}" for word in _PUBLIC_LAST)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN_WORDS: Final = re.compile(r"[^a-z0-9]+")


def is_secret_name(name: str) -> bool:
    """Whether a name in any spelling says that it is the name of a secret: `DB_PASSWORD`, `dbPassword`, `--db-password`, `password_wo`."""
    return _is_secret_name(name[-_LONGEST_NAME:])


def is_often_secret_name(name: str) -> bool:
    """Whether people put secrets into what has this name, although it is no secret by nature: `user_data`, `environmentVariables`."""
    return folded(name).endswith(_OFTEN_ENDINGS)


def folded(name: str) -> str:
    """`DB_PASSWORD`, `dbPassword`, `--db-password` → `dbpassword`. Of a long name the last part."""
    return _folded(name[-_LONGEST_NAME:])


def secret_in(found: re.Match[str]) -> str:
    """The secret that one of the forms found: the text of its one group that took part."""
    return found[str(found.lastgroup)]


def with_secret(found: re.Match[str], mask: str) -> str:
    """The text that one of the forms found, with `mask` instead of the secret in it."""
    group = str(found.lastgroup)
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + mask + found[0][end:]


@lru_cache(maxsize=8192)
def _is_secret_name(name: str) -> bool:
    words = _snake(name).removesuffix("_wo")
    joined = words.replace("_", "")
    if not joined.endswith(_ENDINGS):
        return False
    return joined not in _PUBLIC_NAMES and not words.endswith(_PUBLIC_ENDINGS)


@lru_cache(maxsize=8192)
def _folded(name: str) -> str:
    return _snake(name).replace("_", "")


def _snake(name: str) -> str:
    """`DB_PASSWORD`, `dbPassword`, `--db-password` → `db_password`."""
    return _BETWEEN_WORDS.sub("_", _HUMP.sub("_", name).lower()).strip("_")
