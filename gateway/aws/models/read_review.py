"""Finds members that look like secrets or statements by AWS's `sensitive` trait, their names and the rules for masking.

Used only by the generators. For answers it is a hint to the reviewer, who judges each operation (`answer_review`). A statement that may write
is curated as EXECUTE, and one that only reads is in `reviewed_members.toml`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from gateway.aws.models.curation import Curation
from gateway.effects.masking import is_often_secret
from gateway.terraform.secret_vocabulary import NAME_IN_TEXT
from gateway.terraform.secrets import often_secret

_SECRET_NAME = re.compile(
    rf"{NAME_IN_TEXT}|plain_?text|auth_?(code|password)|authorization|signed_?ur[li]|(embed|login|session|streaming|download|upload)_?ur[li]"
    r"|stream_?key|activation_?(code|key)|mac_?key|challenge|console_?output"
    r"|^environment$|env(ironment)?_?var",
    re.IGNORECASE,
)
_PAGING = tuple(
    f"{kind}token"
    for kind in (
        "next", "client", "page", "pagination", "continuation", "idempotency", "lock", "update", "marker", "change", "request", "conditional",
        "starting", "version", "view",
    )
)  # fmt: skip
"""Endings, without `_` and case, of the names of tokens that page through a list or make a request idempotent."""
_ABOUT_ONE = re.compile(
    r"(arn|arns|id|ids|name|names|type|types|status|state|date|time|at|enabled|count|policy|mode|version|reason|seconds|minutes|hours|days"
    r"|config|configuration|settings|provider|required|supported|limit|length|algorithm|expiration|expiry|endpoint|parameter|encryption"
    r"|method|methods|format)$",
    re.IGNORECASE,
)
"""Endings of names that tell something about a secret, and not the secret."""
_STATEMENT_NAME = re.compile(
    r"(?<!pre)(statement|sql|query_?(string|statement|text)?|expression|cypher|gremlin|sparql|script|(?<![a-z])code)$",
    re.IGNORECASE,
)
_TEXT = ("string", "blob")
_SERVICE_OF = {
    "batch": "batch", "cloudformation": "cloudformation", "cloudfront": "cloudfront", "cloudwatch_event": "events", "codebuild": "codebuild",
    "codepipeline": "codepipeline", "datasync": "datasync", "dms": "dms", "elastic_beanstalk": "elasticbeanstalk", "gamelift": "gamelift",
    "glue": "glue", "lambda": "lambda", "launch_configuration": "autoscaling", "mskconnect": "kafkaconnect", "mwaa": "mwaa",
    "opsworks": "opsworks", "pipes": "pipes", "redshiftdata": "redshift-data", "sagemaker": "sagemaker", "ssm": "ssm",
}  # fmt: skip
"""How the types of resources begin whose attributes often hold secrets, after `aws_` → botocore service. opsworks has no client any more."""
_NAMED_OTHERWISE = {"setting": "option_setting", "all_setting": "option_setting", "sql": "query_string"}
"""Attributes → the members that AWS has for them."""


def secret_members(shapes: Mapping[str, Any], shape: str) -> frozenset[str]:
    """The members of an output, at any depth, that carry AWS's `sensitive` trait or the name of a secret. A member without a name is `*`."""
    return frozenset(
        name or "*" for name, member, target in _members(shapes, shape) if _is_secret(shapes, name, member, target)
    )


def marked_members(shapes: Mapping[str, Any], shape: str) -> frozenset[str]:
    """The members of an input, at any depth, that carry AWS's `sensitive` trait or whose type does."""
    return frozenset(
        name
        for name, member, target in _members(shapes, shape)
        if name and (member.get("sensitive") or shapes[target].get("sensitive"))
    )


def statement_members(shapes: Mapping[str, Any], shape: str) -> frozenset[str]:
    """The members of an input, at any depth, that are text by type and a statement, a query or code by name."""
    return frozenset(
        name
        for name, _, target in _members(shapes, shape)
        if shapes[target]["type"] in _TEXT and _STATEMENT_NAME.search(name)
    )


def often_secret_members(service: str, shapes: Mapping[str, Any], shape: str) -> frozenset[str]:
    """The members of an output, at any depth, into which people put secrets, as the rules for masking know them."""
    attributes = _often_secret().get(service, frozenset())
    return frozenset(
        name
        for name, _, _ in _members(shapes, shape)
        if name and (is_often_secret(name) or _singular(name) in attributes)
    )


@lru_cache(maxsize=1)
def _often_secret() -> Mapping[str, frozenset[str]]:
    """Service → the names, singular and in snake case, of the members for the attributes that the rules for masking list.

    Raises KeyError for a type of resource whose service is not listed here.
    """
    found: dict[str, set[str]] = {}
    for resource_type, attributes in often_secret().items():
        kind = resource_type.removeprefix("aws_")
        start = next((each for each in _SERVICE_OF if kind.startswith(f"{each}_") or kind == each), kind)
        names = {_singular(attribute.rpartition(".")[2]) for attribute in attributes}
        found.setdefault(_SERVICE_OF[start], set()).update(_NAMED_OTHERWISE.get(name, name) for name in names)
    return {service: frozenset(names) for service, names in found.items()}


def _singular(name: str) -> str:
    """`OptionSettings`, `option_settings` → `option_setting`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().removesuffix("s")


def looks_secret(service: str, shapes: Mapping[str, Any], shape: str) -> frozenset[str]:
    """The members of an output, at any depth, that look like a secret in any way. A member without a name is `*`."""
    return secret_members(shapes, shape) | often_secret_members(service, shapes, shape)


def unreviewed_statements(
    service: str, shapes: Mapping[str, Any], definition: Mapping[str, Any], curated: Curation
) -> frozenset[str]:
    """The statements because of which a read needs a review that it has not had."""
    if "input" not in definition:
        return frozenset()
    keys = (service, f"{service}:{definition.get('name', '')}")
    reviewed = (curated.statements.get(key, frozenset()) for key in keys)
    return statement_members(shapes, definition["input"]["shape"]).difference(*reviewed)


def _is_secret(shapes: Mapping[str, Any], name: str, member: Mapping[str, Any], target: str) -> bool:
    definition = shapes[target]
    if member.get("sensitive") or definition.get("sensitive"):
        return True
    inner = definition.get("member") or definition.get("value")
    leaf = shapes[inner["shape"]]["type"] if inner else definition["type"]
    if definition["type"] == "structure" or leaf not in _TEXT:
        return False
    return bool(_SECRET_NAME.search(name)) and not _pages(name) and not _ABOUT_ONE.search(name)


def _pages(name: str) -> bool:
    folded = name.replace("_", "").lower()
    return folded.endswith(_PAGING) or (folded.startswith("next") and folded.endswith("token"))


def _members(shapes: Mapping[str, Any], shape: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(Name, reference, name of the shape) of every member at every depth; the parts of a list or map have its name."""
    waiting, seen = [("", shape)], set()
    while waiting:
        name, current = waiting.pop()
        definition = shapes[current]
        references = [(inner, member) for inner, member in definition.get("members", {}).items()]
        references += [(name, definition[part]) for part in ("member", "key", "value") if part in definition]
        for inner, reference in references:
            yield inner, reference, reference["shape"]
            if (inner, reference["shape"]) not in seen:
                seen.add((inner, reference["shape"]))
                waiting.append((inner, reference["shape"]))
