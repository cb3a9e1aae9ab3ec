"""Converts the names, ARNs and URLs by which a call identifies a resource to attributes that the state records."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from gateway.effects.call_context import CallContext
from gateway.effects.operation import Identify
from gateway.effects.values import NotUnderstood

_SECRET_SUFFIX = re.compile(r"-[A-Za-z0-9]{6}$")
_QUEUE = re.compile(r"/(?:(\d{12}|queue)/)?([A-Za-z0-9_.-]+)/?")
_ZONE = re.compile(r"(?:/?hostedzone/)?([A-Za-z0-9]{1,32})")
_KEY = re.compile(r"key/([A-Za-z0-9-]+)|([A-Za-z0-9-]+)")
_AWS_HOSTS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".api.amazonwebservices.com.cn")
_REGION = re.compile(r"(?:^|\.)((?:eusc-)?[a-z]{2}(?:-gov|-iso[a-z]?)?-[a-z]{1,20}-\d)(?=\.)")
_LEGACY_REGION = "us-east-1"
"""Of `queue.amazonaws.com`, which names none."""


def name_or_arn(key: str, kind: str) -> Identify:
    """Accepts a name as it is, or the name in an ARN of this kind of resource (`table`, `cluster`)."""
    by_arn = arn_of(kind, key)

    def identify(context: CallContext, text: str) -> Mapping[str, str]:
        if not text.startswith("arn:"):
            return {key: text}
        return by_arn(context, text)

    return identify


def plain(key: str, *, lower: bool = False) -> Identify:
    """Accepts a name and no ARN; `lower` converts it to lower case, where AWS compares names without case."""

    def identify(_context: CallContext, text: str) -> dict[str, str]:
        if text.startswith("arn:"):
            raise NotUnderstood("an ARN where a name is expected")
        return {key: text.lower() if lower else text}

    return identify


def topic(context: CallContext, text: str) -> dict[str, str]:
    """The topic's name, from its ARN: the name is all that follows the account. Subscriptions have one part more."""
    name = context.arn(text).resource
    if ":" in name or "/" in name:
        raise NotUnderstood("not the ARN of a topic")
    return {"name": name}


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
    """The queue's name. A host of AWS must be of the call's region; any other is the gateway's own, which callers see."""
    parts = urlsplit(url)
    found = _QUEUE.fullmatch(parts.path if parts.scheme else f"/{url}")
    if found is None or parts.query or parts.fragment:
        raise NotUnderstood("not a valid queue URL")
    context.require_here("" if found[1] in (None, "queue") else found[1], _region_of_host(parts.hostname or ""))
    return {"name": found[2]}


def _region_of_host(host: str) -> str:
    """The region in a host name of AWS; empty for any other host. Raises `NotUnderstood` for a host of AWS without one."""
    if not host.endswith(_AWS_HOSTS):
        return ""
    found = _REGION.search(host)
    if found is None and host != "queue.amazonaws.com":
        raise NotUnderstood("a host of AWS that names no region")
    return found[1] if found else _LEGACY_REGION


def secret_id(context: CallContext, text: str) -> dict[str, str]:
    """The secret's name. An ARN ends with the name and a suffix of six characters, which AWS lets a caller omit."""
    if not text.startswith("arn:"):
        return {"name": text}
    kind, _, resource = context.arn(text).resource.partition(":")
    if kind != "secret" or not resource:
        raise NotUnderstood(f"a {kind} where a secret is expected")
    has_no_suffix = bool(context.inventory.find("aws_secretsmanager_secret", "name", resource))
    return {"name": resource if has_no_suffix else _SECRET_SUFFIX.sub("", resource)}


def kms_key(context: CallContext, text: str) -> dict[str, str]:
    """The key's id, from an id, an ARN, or an alias that the state records."""
    resource = context.arn(text).resource if text.startswith("arn:") else text
    if not resource.startswith("alias/"):
        found = _KEY.fullmatch(resource)
        if found is None or bool(found[1]) != text.startswith("arn:"):
            raise NotUnderstood("not a valid key id")
        return {"key_id": found[1] or found[2]}
    alias = context.target("aws_kms_alias", {"name": resource}).recorded.get("target_key_id")
    if not isinstance(alias, str) or not alias:
        raise NotUnderstood("an alias that the state does not record")
    return {"key_id": alias.rpartition("/")[2]}


def hosted_zone(context: CallContext, text: str) -> dict[str, str]:  # noqa: ARG001  the signature of an Identify
    """The zone's id: `/hostedzone/Z1` → `Z1`."""
    found = _ZONE.fullmatch(text)
    if found is None:
        raise NotUnderstood("not a valid hosted zone id")
    return {"zone_id": found[1]}
