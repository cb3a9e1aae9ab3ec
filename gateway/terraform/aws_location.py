"""Finds the AWS account and region of each resource of a stack: by its ARN, else by the provider that manages it.

A name alone says neither, and the same name in another region or account is another resource.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, ResourceInstance, attributes
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.values import Unknown
from gateway.terraform.stack_code import Code
from gateway.terraform.state import State

GLOBAL_TYPES = ("aws_iam_", "aws_route53_", "aws_s3_", "aws_cloudfront_")
"""Prefixes of types whose names are the same in every region."""
GLOBAL_SERVICES = frozenset({
    "account", "billing", "budgets", "ce", "chatbot", "cloudfront", "cloudfront-keyvaluestore", "cur", "globalaccelerator", "iam",
    "identitystore", "invoicing", "networkmanager", "organizations", "payments", "ram", "route53", "route53-recovery-control-config",
    "route53-recovery-readiness", "route53domains", "s3", "s3control", "savingsplans", "shield", "sso-admin", "sts", "support", "waf",
})  # fmt: skip
"""botocore services whose calls may change what is in another region than the one they are sent to."""
_ARN = re.compile(r"arn:[\w-]+:[\w-]+:([\w-]*):(\d{12})?:")
_QUEUE_URL = re.compile(r"https://sqs\.([\w-]+)\.amazonaws\.com(?:\.cn)?/(\d{12})/")
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")
_SAY_WHERE = ("arn", "id", "function_arn", "queue_url", "secret_arn", "secret_id")
"""Attributes that are an ARN or URL of the resource itself, or of the one it belongs to."""
_PROVIDER = re.compile(r'(?:(module\..+)\.)?provider\["(?:[^"]*/)?([\w-]+)"\](?:\.([\w-]+))?')
_PASSED = re.compile(r"([\w.-]+)\s*[=:]\s*([\w.-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsLocation:
    """An AWS account and region; empty where it is not known, or where the resource is in every region."""

    account: str = ""
    region: str = ""

    def may_be(self, account: str, region: str) -> bool:
        """Whether the account and region of a call can be this place; what either side does not know counts as the same."""
        return (not (self.account and account) or self.account == account) and (
            not (self.region and region) or self.region == region
        )


def location_of(resource_type: str, known: Mapping[str, Json]) -> AwsLocation:
    """The place that the attributes themselves name."""
    account = region = ""
    for name in _SAY_WHERE:
        text = known.get(name)
        found = (_ARN.match(text) or _QUEUE_URL.match(text)) if isinstance(text, str) else None
        if found:
            account, region = account or found[2] or "", region or found[1]
    if resource_type.startswith(GLOBAL_TYPES):
        return AwsLocation(account=account)
    for name in ("region", "availability_zone"):
        text = known.get(name)
        zone = _ZONE.match(text) if isinstance(text, str) else None
        region = region or (zone[0] if zone else "")
    return AwsLocation(account=account, region=region)


class AwsLocations:
    """The place of every resource of one stack."""

    def __init__(self, state: State, code: Code, *, account: str, region: str) -> None:
        """`account` and `region` are those of resources whose place nothing else tells; each may be empty."""
        self._state = state
        self._code = code
        self._region = region
        self._known: dict[str, AwsLocation] = {}
        told: dict[str, set[str]] = {}
        accounts: set[str] = set()
        for resource in state.resources.values():
            own = location_of(resource.where.resource_type, resource.attributes)
            accounts |= {own.account} - {""}
            told.setdefault(resource.provider, set()).update({own.region} - {""})
        self._told = {provider: next(iter(regions)) for provider, regions in told.items() if len(regions) == 1}
        everywhere = set[str]().union(*told.values())
        self._only_region = next(iter(everywhere)) if len(everywhere) == 1 else ""
        self.accounts = frozenset(accounts | ({account} - {""}))
        """The accounts whose resources the stack has, as far as it tells."""
        self._account = account or (next(iter(accounts)) if len(accounts) == 1 else "")

    @cached_property
    def all(self) -> frozenset[AwsLocation]:
        """The places of all resources in the state and the code."""
        return frozenset(self.of(address) for address in (*self._state.resources, *self._code.instances))

    def of(self, address: str) -> AwsLocation:
        """The place of the resource at this address."""
        if address not in self._known:
            self._known[address] = self._worked_out(address)
        return self._known[address]

    def _worked_out(self, address: str) -> AwsLocation:
        recorded, instance = self._state.resources.get(address), self._code.instance(address)
        if recorded is not None:
            resource_type = recorded.where.resource_type
            own = location_of(resource_type, recorded.attributes)
            region = own.region or self._of_provider(recorded.provider)
        elif instance is not None:
            resource_type = instance.resource_type
            own = location_of(resource_type, attributes(instance))
            region = own.region or _region_of(*_provider_of(instance)) or self._only_region
        else:
            return AwsLocation()
        is_global = resource_type.startswith(GLOBAL_TYPES)
        return AwsLocation(account=own.account or self._account, region="" if is_global else region or self._region)

    def _of_provider(self, provider: str) -> str:
        """The region of a provider as the state names it: what the code says, else where all its other resources are."""
        found = _PROVIDER.fullmatch(provider)
        if found is not None:
            for module in self._code.modules.values():
                if re.sub(r"\[[^\]]*\]", "", module.address) == (found[1] or ""):
                    region = _region_of(module, found[2] + (f".{found[3]}" if found[3] else ""))
                    return region or self._told.get(provider, "")
        return self._told.get(provider, "")


def _provider_of(instance: ResourceInstance) -> tuple[Module, str]:
    """The module that configures the instance's provider, and its name there: `aws`, or `aws.west` with an alias."""
    given = instance.document.attributes(instance.block).get("provider")
    name = "aws" if given is None else instance.document.text(instance.document.expression(given))
    module = instance.module
    while module.parent is not None and module.call is not None and not any(_blocks(module, name)):
        document = module.call_document
        passed = document.attributes(module.call).get("providers") if document else None
        pairs = dict(_PASSED.findall(document.text(document.expression(passed)))) if document and passed else {}
        name = pairs.get(name, name)
        module = module.parent
    return module, name


def _blocks(module: Module, name: str) -> Iterator[str | None]:
    """The region of each block that configures this provider; None where the code does not say it."""
    kind, _, alias = name.partition(".")
    for document, block in module.source.providers:
        given = document.attributes(block)
        own = document.text(document.expression(given["alias"])).strip('"') if "alias" in given else ""
        header = document.header(block)
        if header == ("provider", kind) and own == alias:
            hidden = module.source.overridden_in(header)
            try:
                region = (
                    value_of(read_attribute(document, given["region"]), module.scope) if "region" in given else None
                )
            except Unknown:
                region = None
            yield region if isinstance(region, str) and "region" not in hidden else None


def _region_of(module: Module, name: str) -> str:
    return next((region for region in _blocks(module, name) if region), "")
