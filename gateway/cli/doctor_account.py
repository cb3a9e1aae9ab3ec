"""Ways round the gate that an AWS account shows: who can write without it, with which keys, through which endpoints."""

import fnmatch
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from gateway.cli.doctor_finding import NotLookedAt, Opening

MOST_NAMED: Final = 50
"""Most principals, keys or endpoints of one kind that are named; the rest are counted."""
_READS: Final = re.compile(
    r"(?:Get|List|Describe|Head|BatchGet|Lookup|View|Search|Query|Scan|Select|Filter|Simulate|Check|Preview|Validate|Estimate)"
)
_GATEWAY_ONLY: Final = frozenset({"ArnNotLike", "ArnNotEquals", "StringNotLike", "StringNotEquals"})


@dataclass
class Account:
    """Looks at one account with clients of boto3, reading only."""

    client: Callable[[str], Any]
    """A client for a service."""
    gateway_identity: str
    """ARN of the gateway's role; empty if it is not known."""
    unread: list[NotLookedAt] = field(default_factory=list)
    """What could not be looked at."""

    def openings(self) -> Iterator[Opening]:
        """Everything that is open. What may not be read is in `unread` afterwards."""
        closed_by_policy = self._read("the organization's policies", self._is_closed_by_scp) or False
        if not closed_by_policy:
            yield from self._read("principals and their policies", lambda: list(self._writers())) or ()
        yield from self._read("access keys", lambda: list(self._keys())) or ()
        yield from self._read("VPC endpoints", lambda: list(self._endpoints())) or ()
        yield from self._read("trails", lambda: list(self._trails())) or ()

    def _read(self, what: str, look: Callable[[], Any]) -> Any:
        """What `look` returns; None if AWS does not let us, which is noted."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return look()
        except ClientError as error:
            self.unread.append(
                NotLookedAt(what=what, why=f"AWS answered {error.response['Error']['Code']} to {error.operation_name}.")
            )
        except BotoCoreError as error:
            self.unread.append(NotLookedAt(what=what, why=f"AWS could not be asked ({type(error).__name__})."))
        return None

    def _is_closed_by_scp(self) -> bool:
        """Whether a service control policy denies this account's changes to all but the gateway."""
        account = self.client("sts").get_caller_identity()["Account"]
        organizations = self.client("organizations")
        found = organizations.list_policies_for_target(TargetId=account, Filter="SERVICE_CONTROL_POLICY")["Policies"]
        texts = [organizations.describe_policy(PolicyId=each["Id"])["Policy"]["Content"] for each in found]
        return any(self._leaves_only_the_gateway(_statements(json.loads(text))) for text in texts)

    def _leaves_only_the_gateway(self, statements: Sequence[Mapping[str, Any]]) -> bool:
        return any(
            statement.get("Effect") == "Deny"
            and ("NotAction" in statement or "*" in _list(statement.get("Action")))
            and self.gateway_identity in _principals_left_out(statement)
            for statement in statements
            if self.gateway_identity
        )

    def _writers(self) -> Iterator[Opening]:
        details = self._details()
        documents = {policy["Arn"]: _default_version(policy) for policy in details["Policies"]}
        groups = {group["GroupName"]: list(_own(group, documents, "Group")) for group in details["GroupDetailList"]}
        writers = []
        for kind, principals in (("User", details["UserDetailList"]), ("Role", details["RoleDetailList"])):
            for principal in principals:
                arn = principal["Arn"]
                if arn == self.gateway_identity or "/aws-service-role/" in arn:
                    continue
                allowed = list(_own(principal, documents, kind))
                for group in principal.get("GroupList", ()):
                    allowed += groups.get(group, [])
                boundary = principal.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn")
                if not _writes(allowed) or (boundary in documents and not _writes([documents[boundary]])):
                    continue
                writers.append(arn)
        if writers:
            yield Opening(
                code="principals_can_write",
                what=f"{len(writers)} principal(s) beside the gateway have policies that allow changes, and no service control policy that can be read denies them.",
                close="Attach deploy/lockdown/scp to the account, or give each the boundary of deploy/lockdown/boundary.",
                where=_named(writers),
            )

    def _details(self) -> Mapping[str, list[Any]]:
        pages = self.client("iam").get_paginator("get_account_authorization_details").paginate()
        names = ("UserDetailList", "GroupDetailList", "RoleDetailList", "Policies")
        found: dict[str, list[Any]] = {name: [] for name in names}
        for page in pages:
            for name in names:
                found[name] += page.get(name, [])
        return found

    def _keys(self) -> Iterator[Opening]:
        iam, active = self.client("iam"), []
        for page in iam.get_paginator("list_users").paginate():
            for user in page["Users"]:
                for key in iam.list_access_keys(UserName=user["UserName"])["AccessKeyMetadata"]:
                    if key["Status"] != "Active":
                        continue
                    used = iam.get_access_key_last_used(AccessKeyId=key["AccessKeyId"])["AccessKeyLastUsed"].get(
                        "LastUsedDate"
                    )
                    when = f"used {used:%Y-%m-%d}" if used else "never used"
                    active.append(f"{user['UserName']} ({key['AccessKeyId'][:4]}…{key['AccessKeyId'][-4:]}, {when})")
        if active:
            yield Opening(
                code="access_keys",
                what=f"{len(active)} access key(s) of users are active: each works at AWS itself, without the gateway.",
                close="Give the user a key of Sentinel (`sentinel key create`), then deactivate and delete the one of AWS.",
                where=_named(active),
            )
        if iam.get_account_summary()["SummaryMap"].get("AccountAccessKeysPresent"):
            yield Opening(
                code="root_keys",
                what="The root user of the account has access keys, which no policy of the account binds.",
                close="Delete them, as the root user, under Security credentials.",
            )

    def _endpoints(self) -> Iterator[Opening]:
        pages = self.client("ec2").get_paginator("describe_vpc_endpoints").paginate()
        endpoints = [endpoint for page in pages for endpoint in page["VpcEndpoints"]]
        passing = [
            f"{each['VpcEndpointId']} ({each['ServiceName']}, {each['VpcId']})"
            for each in endpoints
            if _lets_anybody_pass(each)
        ]
        if passing:
            yield Opening(
                code="open_endpoints",
                what=f"{len(passing)} VPC endpoint(s) let any principal pass to AWS.",
                close="Give them the policy of deploy/lockdown/endpoint, by which only the gateway's role passes.",
                where=_named(passing),
            )

    def _trails(self) -> Iterator[Opening]:
        trails = self.client("cloudtrail").describe_trails(includeShadowTrails=True)["trailList"]
        if not any(trail.get("IsMultiRegionTrail") for trail in trails):
            yield Opening(
                code="no_trail",
                what="No trail of CloudTrail covers all regions: nobody would see who went round the gate.",
                close="Make a trail for all regions, with validation of its files, and name it in [[reconcile.events]].",
            )


def _own(
    principal: Mapping[str, Any], documents: Mapping[str, Mapping[str, Any]], kind: str
) -> Iterator[Mapping[str, Any]]:
    """The policies that a principal has itself."""
    for inline in principal.get(f"{kind}PolicyList", ()):
        yield _document(inline["PolicyDocument"])
    for attached in principal.get("AttachedManagedPolicies", ()):
        if attached["PolicyArn"] in documents:
            yield documents[attached["PolicyArn"]]


def _default_version(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    versions = policy.get("PolicyVersionList", ())
    return _document(next((each["Document"] for each in versions if each.get("IsDefaultVersion")), {}))


def _document(given: Any) -> Mapping[str, Any]:
    """A policy, which boto3 gives as an object and other clients as quoted text."""
    found = json.loads(unquote(given)) if isinstance(given, str) else given
    return found if isinstance(found, Mapping) else {}


def _statements(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [each for each in _list(document.get("Statement")) if isinstance(each, Mapping)]


def _list(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def _writes(documents: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the policies together allow an operation that does not only read. A denial of everything takes all of it away."""
    statements = [statement for document in documents for statement in _statements(document)]
    if any(
        each.get("Effect") == "Deny" and "*" in _list(each.get("Action")) and not each.get("Condition")
        for each in statements
    ):
        return False
    return any(_allows_a_write(each) for each in statements if each.get("Effect") == "Allow")


def _allows_a_write(statement: Mapping[str, Any]) -> bool:
    if "NotAction" in statement:
        return True
    return any(not _READS.match(str(action).partition(":")[2]) for action in _list(statement.get("Action")))


def _principals_left_out(statement: Mapping[str, Any]) -> set[str]:
    conditions = statement.get("Condition") or {}
    return {
        str(value)
        for operator, members in conditions.items()
        if operator in _GATEWAY_ONLY
        for name, values in members.items()
        if name.lower() == "aws:principalarn"
        for value in _list(values)
    }


def _lets_anybody_pass(endpoint: Mapping[str, Any]) -> bool:
    text = endpoint.get("PolicyDocument")
    statements = _statements(_document(text)) if text else [{"Effect": "Allow", "Principal": "*"}]
    return any(
        each.get("Effect") == "Allow"
        and not each.get("Condition")
        and any(fnmatch.fnmatchcase("*", str(value)) for value in _principal_values(each.get("Principal", "*")))
        for each in statements
    )


def _principal_values(principal: Any) -> list[Any]:
    return (
        [value for values in principal.values() for value in _list(values)]
        if isinstance(principal, Mapping)
        else _list(principal)
    )


def _named(found: Sequence[str]) -> tuple[str, ...]:
    """At most `MOST_NAMED` of them, sorted, and how many more there are."""
    named = sorted(found)[:MOST_NAMED]
    return (*named, *([f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []))
