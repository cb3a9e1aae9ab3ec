"""Finds by which further names AWS takes what Sentinel decides by: ids and aliases of keys, what is attached to its identity, ids of its database.

All of it is found in the recorded states. A name that no state records may be one of them, and counts as such where it cannot be told.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from gateway.core.model.mutation import Call
from gateway.line.evidence import RecordedStates

_ALIAS: Final = "alias/"
_SERVERS: Final = re.compile(
    r"([a-z][a-z0-9-]*)\.(?:(?:cluster-(?:ro-|custom-)?|proxy-(?:ro-)?|shardgrp-)?[a-z0-9]+)\.[a-z0-9-]+\.rds\.amazonaws\.com(?:\.cn)?"
)
"""Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.Overview.Endpoints.html"""
_LOOPBACK: Final = frozenset({"", "localhost", "127.0.0.1", "::1"})
_MAKING: Final = frozenset({"CreateGroup", "CreateInstanceProfile"})
"""AWS refuses these for a name that exists."""
_AWS_POLICY: Final = ":iam::aws:policy/"
"""A policy of AWS itself, which nobody changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnHandles:
    """The further names of what Sentinel decides by, and the names of everything that a state records."""

    identity: str = ""
    """ARN of the identity with which the gateway sends."""
    policies: frozenset[str] = frozenset()
    """ARNs of the policies of the identity and its groups."""
    groups: frozenset[str] = frozenset()
    profiles: frozenset[str] = frozenset()
    """Names of instance profiles."""
    keys: Mapping[str, frozenset[str]]
    """Ids and aliases by the key as it was asked for."""
    databases: frozenset[str] = frozenset()
    """Resource ids."""
    recorded: frozenset[str] = frozenset()
    """The names of all policies, groups, profiles, keys and databases that a state records."""
    has_database: bool = False

    def unknown_in(self, call: Call) -> str:
        """What the call names by a name that no state records and that may be one of Sentinel's, in words; empty if nothing."""
        parameters = call.parameters
        match call.service:
            case "iam" if self.identity:
                return next(self._unknown_of_identity(call.operation, parameters), "")
            case "kms" if any(not any(map(_is_id, names)) for names in self.keys.values()):
                name = key_name(str(parameters.get("KeyId", "")))
                if name and not name.startswith(_ALIAS) and name not in self.recorded:
                    return f"The key {name[:100]} may be the one of a Terraform state, whose id no state records."
            case "rds" if self.has_database:
                ids = (str(value) for member, value in parameters.items() if member.endswith("ResourceId"))
                if found := next((each for each in ids if each not in self.recorded), ""):
                    return (
                        f"The resource id {found[:100]} may be the one of the ledger's database: no state records it."
                    )
        return ""

    def _unknown_of_identity(self, operation: str, parameters: Mapping[str, Any]) -> Iterator[str]:
        if {"RoleName", "UserName"} & parameters.keys() or operation in _MAKING:
            return
        of_user = ":user/" in self.identity
        members = ("PolicyArn", "GroupName") if of_user else ("PolicyArn", "InstanceProfileName")
        if "GroupName" in parameters and not of_user:
            return
        for member in members:
            name = str(parameters.get(member, ""))
            if name and name not in self.recorded and _AWS_POLICY not in name:
                yield f"No state records {name[:200]!r}, so it may belong to Sentinel's own identity."


NO_HANDLES: Final = OwnHandles(keys={})


def handles_of(
    recorded: RecordedStates, *, identity: str, databases: Iterable[str], keys: Iterable[str], buckets: Iterable[str]
) -> OwnHandles:
    """The further names of an identity (an ARN, or empty), databases (identifiers), keys (as backends name them), and the keys of buckets."""
    asked = {*keys, *_keys_of_buckets(recorded, frozenset(buckets))}
    identifiers = {each.lower() for each in databases}
    kind, name = ("user" if ":user/" in identity else "role"), identity.rpartition("/")[2]
    groups = frozenset(_groups(recorded, name)) if kind == "user" else frozenset()
    return OwnHandles(
        identity=identity,
        policies=frozenset(_policies(recorded, kind, name, groups)) if identity else frozenset(),
        groups=groups,
        profiles=frozenset({name, *_profiles(recorded, name)}) if kind == "role" and identity else frozenset(),
        keys=_key_names(recorded, asked),
        databases=frozenset(_database_ids(recorded, identifiers)),
        recorded=frozenset(_recorded(recorded)),
        has_database=bool(identifiers),
    )


def key_name(text: str) -> str:
    """The id or alias of a key without what an ARN says besides."""
    if not text.startswith("arn:"):
        return text
    last = text.split(":", 5)[-1]
    return last.removeprefix("key/")


def _is_id(name: str) -> bool:
    return not name.startswith(_ALIAS)


def _key_names(recorded: RecordedStates, asked: Iterable[str]) -> Mapping[str, frozenset[str]]:
    targets = {
        str(each.get("name")): key_name(str(each.get("target_key_arn") or each.get("target_key_id") or ""))
        for each in recorded.recorded_of("aws_kms_alias")
    }
    found: dict[str, frozenset[str]] = {}
    for key in asked:
        name = key_name(key)
        own = targets.get(name, "") if name.startswith(_ALIAS) else name
        aliases = {alias for alias, target in targets.items() if own and target == own}
        found[key] = frozenset({name, own, *aliases} - {""})
    return found


def _keys_of_buckets(recorded: RecordedStates, buckets: frozenset[str]) -> Iterator[str]:
    """The keys with which buckets encrypt their objects."""
    for each in recorded.recorded_of("aws_s3_bucket_server_side_encryption_configuration"):
        if each.get("bucket") not in buckets:
            continue
        for rule in _maps(each.get("rule")):
            for default in _maps(rule.get("apply_server_side_encryption_by_default")):
                if key := default.get("kms_master_key_id"):
                    yield str(key)


def _policies(recorded: RecordedStates, kind: str, name: str, groups: frozenset[str]) -> Iterator[str]:
    """The policies that are attached to a role or user, or to its groups, and the boundary of its permissions."""
    own = frozenset({name})
    for resource_type, member, holders, attributes in (
        (f"aws_iam_{kind}", "name", own, ("managed_policy_arns", "permissions_boundary")),
        (f"aws_iam_{kind}_policy_attachment", kind, own, ("policy_arn",)),
        (f"aws_iam_{kind}_policy_attachments_exclusive", f"{kind}_name", own, ("policy_arns",)),
        ("aws_iam_policy_attachment", f"{kind}s", own, ("policy_arn",)),
        ("aws_iam_policy_attachment", "groups", groups, ("policy_arn",)),
        ("aws_iam_group_policy_attachment", "group", groups, ("policy_arn",)),
    ):
        for each in recorded.recorded_of(resource_type):
            if not holders.isdisjoint(_texts(each.get(member))):
                yield from (text for attribute in attributes for text in _texts(each.get(attribute)))


def _groups(recorded: RecordedStates, name: str) -> Iterator[str]:
    for each in recorded.recorded_of("aws_iam_user_group_membership"):
        if each.get("user") == name:
            yield from _texts(each.get("groups"))
    for each in recorded.recorded_of("aws_iam_group_membership"):
        if name in _texts(each.get("users")):
            yield from _texts(each.get("group"))


def _profiles(recorded: RecordedStates, name: str) -> Iterator[str]:
    for each in recorded.recorded_of("aws_iam_instance_profile"):
        if each.get("role") == name:
            yield from _texts(each.get("name"))


def _database_ids(recorded: RecordedStates, identifiers: set[str]) -> Iterator[str]:
    """The resource ids of databases and clusters, and of the instances of a cluster."""
    for each in recorded.recorded_of("aws_db_instance"):
        if str(each.get("identifier")).lower() in identifiers:
            yield from _texts(each.get("resource_id"))
    for each in recorded.recorded_of("aws_rds_cluster"):
        if str(each.get("cluster_identifier")).lower() in identifiers:
            yield from _texts(each.get("cluster_resource_id"))
    for each in recorded.recorded_of("aws_rds_cluster_instance"):
        if str(each.get("cluster_identifier")).lower() in identifiers:
            yield from _texts([each.get("dbi_resource_id"), each.get("identifier")])


_RECORDED: Final[Mapping[str, str]] = {
    "aws_iam_policy": "arn",
    "aws_iam_group": "name",
    "aws_iam_instance_profile": "name",
    "aws_kms_key": "key_id",
    "aws_kms_replica_key": "key_id",
    "aws_kms_external_key": "id",
    "aws_db_instance": "resource_id",
    "aws_rds_cluster": "cluster_resource_id",
    "aws_rds_cluster_instance": "dbi_resource_id",
}
"""The attribute that holds the name of each type."""


def _recorded(recorded: RecordedStates) -> Iterator[str]:
    for kind, attribute in _RECORDED.items():
        for each in recorded.recorded_of(kind):
            yield from _texts(each.get(attribute))


def _texts(given: object) -> list[str]:
    """The texts of a list, or the text itself."""
    items = given if isinstance(given, list | tuple) else (given,)
    return [each for each in items if isinstance(each, str) and each]


def _maps(given: object) -> list[Mapping[str, Any]]:
    return [each for each in given if isinstance(each, Mapping)] if isinstance(given, list | tuple) else []


def databases_of(ledger_url: str, named: Iterable[str]) -> tuple[frozenset[str], bool]:
    """The identifiers of the ledger's database as far as its URL and the setting tell, and whether a server remains of which neither does.

    A URL may name several servers, and name them as a parameter: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
    """
    if ledger_url.startswith("sqlite"):
        return frozenset(), False
    parts = urlsplit(ledger_url)
    hosts = [parts.netloc.rpartition("@")[2], *parse_qs(parts.query).get("host", ())]
    found = {each.lower() for each in named}
    untold = False
    for host in (each for text in hosts for each in text.split(",")):
        name = host if host.startswith(("/", "[")) else host.partition(":")[0]
        name = name.strip("[]").lower().rstrip(".")
        if name in _LOOPBACK or name.startswith("/"):
            continue
        server = _SERVERS.fullmatch(name)
        if server is not None:
            found.add(server[1])
        # Neither the name of a proxy nor an alias of DNS is the one of a database.
        untold |= server is None or ".proxy-" in name or ".shardgrp-" in name
    return frozenset(found), untold and not tuple(named)
