"""Which of our environment variables terraform gets: a plan runs programs, and the rest is not theirs to see."""

import os
from collections.abc import Collection, Mapping
from typing import Final

_PASSED: Final = frozenset(
    {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "XDG_CONFIG_HOME",
        "XDG_DATA_DIRS",
        "XDG_DATA_HOME",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "AWS_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "TF_CLI_CONFIG_FILE",
        "TF_PLUGIN_CACHE_DIR",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    }
)
_CREDENTIALS: Final = frozenset(
    {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_EC2_METADATA_DISABLED",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    }
)
_NO_OTHER_CREDENTIALS: Final = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Without these, a profile named in the code would use the credentials of this machine."""


def passed_environment(environ: Mapping[str, str], *, more: Collection[str], own_key: bool) -> dict[str, str]:
    """The listed variables of `environ`, and those in `more`.

    Credentials of this machine are passed on only if the reconciler has no key of its own.
    """
    names = {*_PASSED, *more, *(() if own_key else _CREDENTIALS)}
    passed = {name: environ[name] for name in names if name in environ and not name.startswith("SENTINEL_")}
    return passed | (_NO_OTHER_CREDENTIALS if own_key else {})
