"""Converts the names, ARNs and URLs by which a call identifies a resource to attributes that the state records."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from gateway.effects.context import CallContext
from gateway.effects.operation import Identify
from gateway.effects.values import NotUnderstood

_SECRET_SUFFIX = re.compile(r"-[A-Za-z0-9]{6}$")
_QUEUE = re.compile(r"/(?:(\d{12}|queue)/)?([A-Za-z0-9_.-]+)/?")


def name_or_arn(key: str, kind: str = "") -> Identify:
    """Accepts a name as it is, or the name in an ARN. With `kind` (`table`, `cluster`), only ARNs of that kind of resource."""
    by_arn = arn_of(kind, key) if kind else None

    def identify(context: CallContext, text: str) -> Mapping[str, str]:
        if not text.startswith("arn:"):
            return {key: text}
        return by_arn(context, text) if by_arn else {key: context.arn(text).name}

    return identify


def plain(key: str, *, lower: bool = False) -> Identify:
    """Accepts a name and no ARN; `lower` converts it to lower case, where AWS compares names without case."""

    def identify(_context: CallContext, text: str) -> dict[str, str]:
        if text.startswith("arn:"):
            raise NotUnderstood("an ARN where a name is expected")
        return {key: text.lower() if lower else text}

    return identify


def arn(context: CallContext, text: str) -> dict[str, str]:
    """The ARN itself. Raises `NotUnderstood` if its account or region is not that of the call."""
    context.arn(text)
    return {"arn": text}


def arn_of(kind: str, key: str) -> Identify:
    """Accepts an ARN of this kind of resource (`alarm`, `table`) and takes the name at its end."""

    def identify(context: CallContext, text: str) -> dict[str, str]:
        resource = context.arn(text).resource
        head, _, name = resource.replace("/", ":", 1).partition(":")
        if head != kind or "/" in name:
            raise NotUnderstood(f"a {head} where a {kind} is expected")
        return {key: name}

    return identify


def queue_url(context: CallContext, url: str) -> dict[str, str]:
    """The queue's name. The host of the URL is ignored: a caller of the gateway sees the gateway's host."""
    parts = urlsplit(url)
    found = _QUEUE.fullmatch(parts.path if parts.scheme else f"/{url}")
    if found is None:
        raise NotUnderstood("not a valid queue URL")
    if found[1] not in (None, "queue") and context.account and found[1] != context.account:
        raise NotUnderstood("a queue in another account than the call")
    return {"name": found[2]}


def secret_id(context: CallContext, text: str) -> dict[str, str]:
    """The secret's name. An ARN ends with the name and a suffix of six characters, which AWS lets a caller omit."""
    if not text.startswith("arn:"):
        return {"name": text}
    resource = context.arn(text).resource.removeprefix("secret:")
    has_no_suffix = bool(context.inventory.find("aws_secretsmanager_secret", "name", resource))
    return {"name": resource if has_no_suffix else _SECRET_SUFFIX.sub("", resource)}


def kms_key(context: CallContext, text: str) -> dict[str, str]:
    """The key's id, from an id, an ARN, or an alias that the state records."""
    resource = context.arn(text).resource if text.startswith("arn:") else text
    if not resource.startswith("alias/"):
        return {"key_id": resource.removeprefix("key/")}
    alias = context.target("aws_kms_alias", {"name": resource}).recorded.get("target_key_id")
    if not isinstance(alias, str) or not alias:
        raise NotUnderstood("an alias that the state does not record")
    return {"key_id": alias.rpartition("/")[2]}


def hosted_zone(context: CallContext, text: str) -> dict[str, str]:  # noqa: ARG001  the signature of an Identify
    """The zone's id: `/hostedzone/Z1` → `Z1`."""
    return {"zone_id": text.rpartition("/")[2]}
