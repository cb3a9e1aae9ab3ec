"""Schema of the policies' data, validated when a bundle is loaded rather than when a decision needs a value."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from gateway.core.errors import PolicyInvalid
from gateway.core.model.budget import MONTHLY_USD
from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation
from gateway.core.ports import MOST_CLAIMS
from gateway.policy.priority_layers import layer_mistakes

Most = Annotated[StrictInt, Field(gt=0, le=10_000_000)]
PerSpan = dict[Literal["minute", "hour"], Most]
"""How many mutations in each span; a span that is absent has no limit."""
SizeName = Annotated[StrictStr, Field(pattern="^[a-z][a-z_]{0,40}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SizeData(_Strict):
    """How a size is measured: attributes that are set, and resources that are created, each type with the parameter that says how many."""

    set: dict[StrictStr, list[StrictStr]]
    created: dict[StrictStr, StrictStr]


class BreakerData(_Strict):
    """When a circuit breaker opens, and for how long."""

    in_a_row: Annotated[StrictInt, Field(ge=2, le=1_000_000)]
    within_seconds: Annotated[StrictInt, Field(gt=0, le=86_400)] | None = None
    """How long refusals are counted after the first one; absent: until a success."""
    open_seconds: Annotated[StrictInt, Field(gt=0, le=86_400)]


class BudgetsData(_Strict):
    """`policies/data/budgets.json`. Every kind needs an entry in `mutations`, `questions`, `open_holds` and `breaker` (null: none)."""

    mutations: dict[ActorKind, PerSpan]
    questions: dict[ActorKind, PerSpan]
    mutations_by_motivation: dict[ActorKind, dict[Motivation | Literal["none"], PerSpan]]
    added_per_day: dict[ActorKind, dict[SizeName, Most]]
    sizes: dict[SizeName, SizeData]
    claims_by_motivation: dict[
        ActorKind, dict[Motivation | Literal["none"], Annotated[StrictInt, Field(gt=0, le=MOST_CLAIMS)]]
    ]
    open_holds: dict[ActorKind, Annotated[StrictInt, Field(gt=0, le=10_000)] | None]
    """How many of an actor's calls may wait for people at once."""
    billed_reads: dict[ActorKind, PerSpan] = {}
    """How many reads an actor may send for which AWS charges; a kind that is left out has no limit."""
    breaker: dict[ActorKind, BreakerData | None]


def budget_mistakes(data: BudgetsData) -> list[str]:
    """What is missing although each part is right, as sentences."""
    missing = [
        f"{table}: {kind} has no entry"
        for table in ("mutations", "questions", "open_holds", "breaker")
        for kind in ActorKind
        if kind not in getattr(data, table)
    ]
    unmeasured = sorted(
        {
            size
            for sizes in data.added_per_day.values()
            for size in sizes
            if size not in data.sizes and size != MONTHLY_USD
        }
    )
    return missing + [f"added_per_day: {size} is not in `sizes`, so nothing measures it" for size in unmeasured]


Rank = Annotated[StrictInt, Field(ge=0, lt=1000)]
"""A rank. Scores are sums of ranks, so a rank of another order of magnitude is a mistake."""
Seconds = Annotated[StrictInt, Field(gt=0)]


_YEAR = 365 * 24 * 3600


class Oscillation(_Strict):
    """When an attribute whose holder keeps changing is frozen."""

    limit: Annotated[StrictInt, Field(ge=2)]
    window_seconds: Annotated[StrictInt, Field(gt=0, le=_YEAR)]
    """How far back the ledger counts changes of the holder, and when a refused caller may come back."""


class Priorities(_Strict):
    """`policies/data/priorities.json`. Every intent, motivation and kind needs a rank."""

    intents: dict[Intent, Rank]
    motivations: dict[Motivation, Rank]
    kinds: dict[ActorKind, Rank]
    proof: dict[Motivation, list[StrictStr]]
    unproven_penalty: Rank
    close_call: Annotated[StrictInt, Field(gt=0, lt=1000)]
    urgent: list[Motivation]
    claim_seconds: dict[Motivation, Seconds | None]
    claim_seconds_without_motive: Seconds | None
    longest_claim_seconds: dict[ActorKind, Annotated[StrictInt, Field(gt=0, le=_YEAR)]]
    claims_per_actor: dict[ActorKind, Annotated[StrictInt, Field(gt=0, le=MOST_CLAIMS)]]
    oscillation: Oscillation
    layers: list[Any] = []
    """What stacks override, from the lowest to the highest; see `gateway.policy.priority_layers`."""


class ShortestPrefix(_Strict):
    """The shortest CIDR prefixes that do not count as the whole internet. IPv6 is counted in sites (/48)."""

    ipv4: Annotated[StrictInt, Field(ge=1, le=32)]
    ipv6: Annotated[StrictInt, Field(ge=1, le=48)]


class NetworkData(_Strict):
    """`policies/data/network.json`."""

    public_ports: list[Annotated[StrictInt, Field(ge=1, le=65535)]]
    shortest_public_prefix: ShortestPrefix
    private_ranges: dict[
        Annotated[StrictStr, Field(pattern="^[0-9]{1,3}$")],
        list[Annotated[StrictStr, Field(pattern=r"^[0-9]+(\.[0-9]+){3}/[0-9]+$")]],
    ]
    """By the first number of their addresses."""


Operation = Annotated[StrictStr, Field(pattern="^[a-z0-9-]+:[A-Za-z0-9]+$")]
"""A botocore service and operation, e.g. `sqs:PurgeQueue`."""
Action = Annotated[StrictStr, Field(pattern="^[a-z0-9-]+:[a-z0-9]+$")]
"""An action of an IAM policy in lower case, e.g. `iam:passrole`."""
Scalar = StrictBool | StrictInt | StrictStr
"""A value of an attribute."""


class IdentityData(_Strict):
    """`policies/data/identity.json`."""

    services: list[StrictStr]
    admin_policies: list[Annotated[StrictStr, Field(min_length=3, pattern="[A-Za-z]")]]
    documents: dict[StrictStr, Literal["identity", "trust"]]
    credentials: list[Annotated[StrictStr, Field(pattern="^aws_")]]
    """Resource types that let their holder sign in to AWS (IAM's security credentials)."""
    denying_policies: list[Annotated[StrictStr, Field(min_length=3, pattern="[A-Za-z]")]]
    escalating: list[Action]


class PatternsData(_Strict):
    """`policies/data/patterns.json`."""

    shortest_name: Annotated[StrictInt, Field(ge=1)]
    own: list[Annotated[StrictStr, Field(pattern=r"^\$\{[A-Za-z:]+\}$")]]
    """Policy variables that are the whole name of the caller."""
    services_without_types: list[StrictStr]


class DocumentsData(_Strict):
    """`policies/data/documents.json`: the words of IAM's policy language."""

    members: list[StrictStr]
    elements: list[StrictStr]
    principals: list[StrictStr]


class PrincipalsData(_Strict):
    """`policies/data/principals.json`. Condition keys and operators are in lower case."""

    trusted_accounts: list[Annotated[StrictStr, Field(pattern="^[0-9]{12}$")]]
    trusted_organizations: list[Annotated[StrictStr, Field(pattern="^o-[a-z0-9]{10,32}$")]]
    trusted_networks: list[Annotated[StrictStr, Field(pattern="^vpce?-[0-9a-f]{8,17}$")]]
    """VPCs and VPC endpoints."""
    demanding_operators: list[
        Annotated[StrictStr, Field(pattern="^(string(equals|equalsignorecase|like)|arn(equals|like))$")]
    ]
    narrowing: dict[
        Annotated[StrictStr, Field(pattern="^[a-z0-9:]+$")], Literal["account", "organization", "arn", "network"]
    ]
    subjects: dict[Annotated[StrictStr, Field(min_length=1)], Annotated[StrictStr, Field(min_length=1)]]


class DataLossData(_Strict):
    """`policies/data/data_loss.json`. `protections` and `least` are by attribute path, `blinded_by` by type and attribute path."""

    stores: list[StrictStr]
    protections: dict[StrictStr, list[Scalar]]
    off_at_first: list[StrictStr]
    least: dict[StrictStr, Annotated[StrictInt, Field(gt=0)]]
    endless: list[StrictStr]
    lifecycles: list[StrictStr]
    shortest: dict[Literal["prefix", "tag", "tags"], Annotated[StrictInt, Field(gt=0)]]
    guards: list[StrictStr]
    blinded_by: dict[StrictStr, dict[StrictStr, list[Scalar]]] = {}
    watching: list[Operation]
    destructive: list[Operation]


class DisruptionData(_Strict):
    """`policies/data/disruption.json`. `disrupting` says of each operation what it does, for the reason of the finding, and `controls` of each
    class of parameters (`gateway.effects.call_controls`).
    """

    disrupting: dict[Operation, Annotated[StrictStr, Field(min_length=5)]]
    stopping: dict[StrictStr, list[Scalar]]
    locking: list[StrictStr]
    controls: dict[StrictStr, StrictStr]


class DataPlaneData(_Strict):
    """`policies/data/data_plane.json`: operations that read data, and how long one of them may hide it from other readers."""

    reading: list[Operation]
    longest_hidden_seconds: Annotated[StrictInt, Field(ge=0, le=43_200)]


class ExecutionData(_Strict):
    """`policies/data/execution.json`: variables that interpreters and loaders read, and those that are known to be plain; `*` at one end.
    `without_role`: by type, the attributes that run nothing with a role while a new resource gets none.
    """

    loaders: list[StrictStr]
    plain: list[StrictStr]
    without_role: dict[StrictStr, list[StrictStr]]


class DestinationsData(_Strict):
    """`policies/data/destinations.json`: the classes of attributes that nobody who acts alone changes, by kind of actor, with the words for each;
    the ends of the names of AWS's hosts.
    """

    alone: dict[
        Literal["agent", "service", "human", "pipeline"],
        list[Literal["grants", "owned_elsewhere", "reach", "sends_to"]],
    ]
    words: dict[Literal["grants", "owned_elsewhere", "reach", "sends_to"], Annotated[StrictStr, Field(min_length=5)]]
    hosts_of_aws: list[StrictStr]


class ExposureData(_Strict):
    """`policies/data/exposure.json`. `switches` holds, by attribute path, the values that open a resource to the world; `names` by the last
    step of a path, wherever it is; `of_types` by resource type and path.
    """

    switches: dict[StrictStr, list[Scalar]]
    names: dict[StrictStr, list[Scalar]] = {}
    of_types: dict[StrictStr, dict[StrictStr, list[Scalar]]] = {}
    shields: list[StrictStr]
    policy_attributes: list[StrictStr]
    no_documents: list[StrictStr] = Field(default_factory=list)


class DriftData(_Strict):
    """`policies/data/drift.json`. `trusted` are ARNs, `guarded` and `listed` resource types; all may end with `*`."""

    trusted: list[Annotated[StrictStr, Field(min_length=3)]]
    guarded: list[Annotated[StrictStr, Field(min_length=3)]]
    reverted: list[StrictStr]
    listed: list[Annotated[StrictStr, Field(min_length=3)]] = []


class CoupledEnd(_Strict):
    """One end of a pair of attributes that belong together."""

    type: Annotated[StrictStr, Field(pattern="^[a-z][a-z0-9_]*$")]
    attribute: Annotated[StrictStr, Field(pattern=r"^[a-z_][a-z0-9_]*(\.[A-Za-z0-9_-]+)*$")]


class CoupledPair(_Strict):
    """Two attributes that belong together, whichever of them is set. `why` goes on a sentence after a colon."""

    name: Annotated[StrictStr, Field(pattern="^[a-z0-9][a-z0-9-]{0,62}$")]
    why: Annotated[StrictStr, Field(min_length=10, max_length=300)]
    one: CoupledEnd
    other: CoupledEnd

    @model_validator(mode="after")
    def _two_attributes(self) -> Self:
        """Raises ValueError if both ends are the same attribute, or one is a part of the other: that is a direct conflict anyway."""
        if self.one.type == self.other.type and _nested(self.one.attribute, self.other.attribute):
            raise ValueError(
                f"the pair {self.name!r} names one attribute twice, or a part of it; name two different ones"
            )
        return self


def _nested(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


class StageEntry(_Strict):
    """How strictly rules are taken; of several entries that fit, the last one holds."""

    rule: Annotated[StrictStr, Field(pattern=r"^\S{1,100}$")] | None = None
    """The id of one rule; absent: every rule."""
    pack: SizeName | None = None
    """A pack of rules; absent: every one."""
    stack: Annotated[StrictStr, Field(pattern=r"^[^\s*]{0,200}\*?$", min_length=1)] | None = None
    """A stack, or the beginning of names with `*`; absent: every stack, and what is in none."""
    kind: ActorKind | None = None
    """A kind of actor; absent: every kind."""
    stage: Literal["off", "warn", "enforce"]

    @model_validator(mode="after")
    def _stageable(self) -> Self:
        """Raises ValueError for a rule that denies in every mode."""
        if self.rule is not None and self.rule.startswith("never."):
            raise ValueError(f"{self.rule} denies in every mode, so it has no stage")
        return self


class StagesData(_Strict):
    """`policies/data/stages.json`."""

    entries: Annotated[list[StageEntry], Field(max_length=1_000)]


class CouplingsData(_Strict):
    """`policies/data/couplings.json`."""

    pairs: Annotated[list[CoupledPair], Field(max_length=1_000)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        """Raises ValueError for two pairs with one name or of the same attributes."""
        names = [pair.name for pair in self.pairs]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two pairs have the name {repeated[0]!r}; give each its own")
        seen: dict[frozenset[CoupledEnd], str] = {}
        for pair in self.pairs:
            if (other := seen.setdefault(frozenset((pair.one, pair.other)), pair.name)) != pair.name:
                raise ValueError(f"the pairs {other!r} and {pair.name!r} name the same attributes; remove one")
        return self


Roles = Annotated[list[Annotated[StrictStr, Field(min_length=1)]], Field(min_length=1)]
"""Roles of which an approver has one."""


class ApprovalsData(_Strict):
    """`policies/data/approvals.json`."""

    roles: Roles
    roles_by_stack: dict[StrictStr, Roles]
    roles_by_owner: dict[StrictStr, Roles]
    roles_by_type: dict[StrictStr, Roles]
    people: Annotated[StrictInt, Field(ge=1, le=10)]
    people_for_stores: Annotated[StrictInt, Field(ge=1, le=10)]
    longest_seconds: Annotated[StrictInt, Field(gt=0, le=30 * 24 * 3600)]
    longest_seconds_for_stores: Annotated[StrictInt, Field(gt=0, le=30 * 24 * 3600)]
    rejected_seconds: Annotated[StrictInt, Field(ge=0, le=30 * 24 * 3600)]


class PlansData(_Strict):
    """`policies/data/plans.json`."""

    open_sessions: list[ActorKind]
    """The kinds of actors that may open the session of a plan."""


Usd = Annotated[float, Field(ge=0, le=1_000_000)]
AttributeName = Annotated[StrictStr, Field(min_length=1, max_length=200)]


class QuantityData(_Strict):
    """A quantity that multiplies a price."""

    attribute: AttributeName
    default: Annotated[float, Field(ge=0)] | None = None
    """Where the attribute is not set; without it, the price is then not known."""
    plus: Annotated[StrictInt, Field(ge=0, le=1000)] = 0
    above: Annotated[StrictInt, Field(ge=0)] = 0
    """How much is included."""


class PriceData(_Strict):
    """One part of what a type costs: a price, or a list of prices by the value of an attribute."""

    per: Literal["hour", "month"]
    price: Usd | None = None
    by: AttributeName | None = None
    prices: dict[StrictStr, Usd] | None = None
    times: list[QuantityData] = []
    when: dict[AttributeName, list[StrictStr | StrictBool | StrictInt]] = {}
    doubled_if: list[AttributeName] = []
    defaults: dict[AttributeName, StrictStr | StrictBool | StrictInt] = {}

    @model_validator(mode="after")
    def _one_price(self) -> Self:
        if (self.price is None) == (self.by is None) or (self.by is None) != (self.prices is None):
            raise ValueError("needs either `price`, or `by` and `prices`")
        return self


class PricesData(_Strict):
    """`policies/data/prices.json`."""

    about: StrictStr
    dated: Annotated[StrictStr, Field(pattern=r"^20\d\d-[01]\d-[0-3]\d$")]
    regions: dict[StrictStr, dict[StrictStr, list[PriceData]]]
    free: list[StrictStr]
    by_use: list[StrictStr]


class CostsData(_Strict):
    """`policies/data/costs.json`: what a change may add to the monthly bill."""

    held_from_cents: dict[ActorKind, Annotated[StrictInt, Field(gt=0)] | None]
    """By kind; null: any amount."""
    hold_unknown: list[ActorKind]
    """The kinds whose changes of unknown cost are held."""


class RegionsData(_Strict):
    """`policies/data/regions.json`."""

    allowed: list[StrictStr]
    """An empty list allows every region."""
    by_stack: dict[StrictStr, list[StrictStr]]
    without_regions: list[StrictStr]
    """Services that have no regions."""


class TagsData(_Strict):
    """`policies/data/tags.json`: tags that new resources carry."""

    required: list[StrictStr]
    by_stack: dict[StrictStr, list[StrictStr]]
    values: dict[StrictStr, list[StrictStr]]
    """The values that a tag may have; a tag that is absent here may have any."""
    untagged: list[StrictStr]
    """Types that have no tags."""


class FamiliesData(_Strict):
    """`policies/data/instance_families.json`."""

    attributes: dict[StrictStr, AttributeName]
    """Type → the attribute that holds its instance type."""
    allowed: list[StrictStr]
    """Families, such as `t4g` or `m7*`; an empty list allows all."""
    by_stack: dict[StrictStr, list[StrictStr]]


class FreezeData(_Strict):
    """One change freeze: a time, or a weekly one."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=80)]
    verdict: Literal["deny", "hold"]
    stacks: list[StrictStr]
    kinds: list[ActorKind]
    except_motivations: list[Motivation]
    begins: AwareDatetime | None = None
    ends: AwareDatetime | None = None
    zone: StrictStr = "UTC"
    weekdays: list[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]] = []
    from_hour: Annotated[StrictInt, Field(ge=0, le=23)] = 0
    until_hour: Annotated[StrictInt, Field(ge=1, le=24)] = 24

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if (self.begins is None) != (self.ends is None) or (self.begins is None) == (not self.weekdays):
            raise ValueError("needs either `begins` and `ends`, or `weekdays`")
        if self.begins is not None and self.ends is not None and self.begins >= self.ends:
            raise ValueError("`ends` is not after `begins`")
        try:
            ZoneInfo(self.zone)
        except (OSError, ValueError, KeyError):
            raise ValueError(f"`{self.zone[:64]}` is not a time zone") from None
        return self


class FreezesData(_Strict):
    """`policies/data/freezes.json`."""

    calendar: list[FreezeData]


class PackData(_Strict):
    """One pack: rules that belong together."""

    about: StrictStr
    stage: Literal["off", "warn", "enforce"]
    """Of its rules, where `stages.json` has no entry that fits."""
    controls: dict[StrictStr, list[StrictStr]]
    """Rule → the controls that it serves."""


class PacksData(_Strict):
    """`policies/data/packs.json`."""

    by_name: dict[SizeName, PackData]


_KNOWN: Mapping[str, type[BaseModel]] = {
    "priorities": Priorities,
    "network": NetworkData,
    "identity": IdentityData,
    "patterns": PatternsData,
    "documents": DocumentsData,
    "principals": PrincipalsData,
    "data_loss": DataLossData,
    "disruption": DisruptionData,
    "data_plane": DataPlaneData,
    "execution": ExecutionData,
    "exposure": ExposureData,
    "destinations": DestinationsData,
    "drift": DriftData,
    "approvals": ApprovalsData,
    "couplings": CouplingsData,
    "budgets": BudgetsData,
    "plans": PlansData,
    "stages": StagesData,
    "prices": PricesData,
    "costs": CostsData,
    "regions": RegionsData,
    "tags": TagsData,
    "instance_families": FamiliesData,
    "freezes": FreezesData,
    "packs": PacksData,
}
_COMPLETE = (
    ("intents", Intent),
    ("motivations", Motivation),
    ("kinds", ActorKind),
    ("claim_seconds", Motivation),
    ("longest_claim_seconds", ActorKind),
    ("claims_per_actor", ActorKind),
)


def check_data(data: Mapping[str, Any]) -> None:
    """Validate the data of a bundle (`{"data": {"priorities": …}}`). Data of your own policies is not validated.

    Raises `errors.PolicyInvalid` with every mistake.
    """
    content = data.get("data")
    if not isinstance(content, Mapping):
        raise PolicyInvalid("The policies have no data: policies/data/*.json are missing.")
    mistakes = [mistake for name in _KNOWN for mistake in _mistakes(name, content)]
    if mistakes:
        raise PolicyInvalid("The policies' data is invalid:\n" + "\n".join(f"  {mistake}" for mistake in mistakes))


def _mistakes(name: str, content: Mapping[str, Json]) -> list[str]:
    """The mistakes under one name. Policies without a shipped guardrail need not have its data."""
    if name not in content:
        return ["data/priorities.json: missing, and arbitration needs it"] if name == "priorities" else []
    try:
        model = _KNOWN[name].model_validate(content[name])
    except ValidationError as error:
        return [
            f"data/{name}.json: {'.'.join(str(part) for part in mistake['loc'])}: {mistake['msg']}"
            for mistake in error.errors()
        ]
    if isinstance(model, BudgetsData):
        return [f"data/{name}.json: {mistake}" for mistake in budget_mistakes(model)]
    if name != "priorities":
        return []
    missing = [
        f"data/{name}.json: {table}: {member} has no entry"
        for table, names in _COMPLETE
        for member in names
        if member not in getattr(model, table)
    ]
    layers = model.layers if isinstance(model, Priorities) else []
    return missing + [f"data/{name}.json: {mistake}" for mistake in layer_mistakes(layers)]


_FOLDER: Final = "data/"


def check_data_files(files: Mapping[str, bytes]) -> None:
    """Validate `data/*.json` among the sources of a bundle. Raises `errors.PolicyInvalid` with the file and, where it is no JSON, the line."""
    check_data({"data": merged_data(files)})


def is_data(name: str) -> bool:
    """Whether a source holds data, and no rule."""
    return name.startswith(_FOLDER) and name.endswith(".json")


def merged_data(files: Mapping[str, bytes]) -> Mapping[str, Any]:
    """The members of all `data/*.json` in one document. Raises `errors.PolicyInvalid` for what is no JSON, and for a member in two files."""
    content: dict[str, Any] = {}
    for name, text in sorted(files.items()):
        if is_data(name):
            members = _members(name, text)
            if twice := content.keys() & members.keys():
                raise PolicyInvalid(f"{name}: {min(twice)} is in another file too.")
            content.update(members)
    return content


def _members(name: str, text: bytes) -> Mapping[str, Any]:
    try:
        members = json.loads(text)
    except json.JSONDecodeError as error:
        raise PolicyInvalid(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}.") from error
    except ValueError as error:
        raise PolicyInvalid(f"{name}: not JSON: {error}.") from error
    if not isinstance(members, dict):
        raise PolicyInvalid(f"{name}:1: not a JSON object.")
    return members
