"""How AWS names things in calls (names, ARNs, URLs), turned into attributes that the state records."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from gateway.effects.context import CallContext
from gateway.effects.operation import Identify
from gateway.effects.values import NotUnderstood

_SECRET_SUFFIX = re.compile(r"-[A-Za-z0-9]{6}$")
_QUEUE = re.compile(r"/(?:(\d{12}|queue)/)?([A-Za-z0-9_.-]+)/?")


def name_or_arn(key: str, kind: str = "") -> Identify:
    """A name as it is, or the name in an ARN, of this kind of resource where one is given (`table`, `cluster`)."""
    by_arn = arn_of(kind, key) if kind else None

    def identify(context: CallContext, text: str) -> Mapping[str, str]:
        if not text.startswith("arn:"):
            return {key: text}
        return by_arn(context, text) if by_arn else {key: context.arn(text).name}

    return identify


def plain(key: str, *, lower: bool = False) -> Identify:
    """A name that is nothing but a name; in lower case where AWS does not tell the cases apart."""

    def identify(_context: CallContext, text: str) -> dict[str, str]:
        if text.startswith("arn:"):
            raise NotUnderstood("an ARN where a name is expected")
        return {key: text.lower() if lower else text}

    return identify


def arn(context: CallContext, text: str) -> dict[str, str]:
    """The ARN itself, where its account and region are those of the call."""
    context.arn(text)
    return {"arn": text}


def arn_of(kind: str, key: str) -> Identify:
    """The name at the end of an ARN of this kind of resource (`alarm`, `table`); others are not understood."""

    def identify(context: CallContext, text: str) -> dict[str, str]:
        resource = context.arn(text).resource
        head, _, name = resource.replace("/", ":", 1).partition(":")
        if head != kind or "/" in name:
            raise NotUnderstood(f"a {head} where a {kind} is expected")
        return {key: name}

    return identify


def queue_url(context: CallContext, url: str) -> dict[str, str]:
    """The queue's name. The host of the URL says nothing: through the gateway it is the gateway's."""
    parts = urlsplit(url)
    found = _QUEUE.fullmatch(parts.path if parts.scheme else f"/{url}")
    if found is None:
        raise NotUnderstood("a queue URL that is none")
    if found[1] not in (None, "queue") and context.account and found[1] != context.account:
        raise NotUnderstood("a queue of another account than the call's")
    return {"name": found[2]}


def secret_id(context: CallContext, text: str) -> dict[str, str]:
    """The secret's name: an ARN ends with it and six more characters, which AWS lets a caller leave off."""
    if not text.startswith("arn:"):
        return {"name": text}
    resource = context.arn(text).resource.removeprefix("secret:")
    partial = bool(context.inventory.find("aws_secretsmanager_secret", "name", resource))
    return {"name": resource if partial else _SECRET_SUFFIX.sub("", resource)}


def kms_key(context: CallContext, text: str) -> dict[str, str]:
    """The key's id, from an id, an ARN, or an alias that the state knows."""
    resource = context.arn(text).resource if text.startswith("arn:") else text
    if not resource.startswith("alias/"):
        return {"key_id": resource.removeprefix("key/")}
    alias = context.target("aws_kms_alias", {"name": resource}).recorded.get("target_key_id")
    if not isinstance(alias, str) or not alias:
        raise NotUnderstood("an alias of a key that the state does not know")
    return {"key_id": alias.rpartition("/")[2]}


def hosted_zone(context: CallContext, text: str) -> dict[str, str]:  # noqa: ARG001  the signature of an Identify
    """The zone's id without its path."""
    return {"zone_id": text.rpartition("/")[2]}
