"""The context in which a call is interpreted (`CallContext`), and the resource that it is aimed at (`Target`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.errors import Ambiguous
from gateway.core.model.json import NUMBERS, Json, is_ambiguous
from gateway.core.model.masking import PER_RUN, Masker, holds_mask
from gateway.core.model.mutation import BY_CALL, Basis, Call, Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.partitions import partition_of
from gateway.core.quick_init import quick_init
from gateway.effects.inventory import Inventory
from gateway.effects.limits import EffectBudget
from gateway.effects.schema import TypeSchema
from gateway.effects.values import NotUnderstood
from gateway.terraform.forms import TWINS, Twin
from gateway.terraform.secrets import is_secret, masked, may_hold_secret, unmasked_documents

_ARN_COLONS = 5
"""`arn:partition:service:region:account:resource`."""
_NAMESPACE = {"elbv2": "elasticloadbalancing", "stepfunctions": "states"}
"""botocore service name → the service's name in ARNs, where they differ."""
_WITHOUT_REGION = frozenset({"iam", "route53", "s3", "cloudfront"})
"""Services whose ARNs have no region."""
_ANY_FORM = ("arn", "endpoint", "url", "id", "key", "function_name", "target", "source", "principal")
"""How the attributes end whose values are ARNs or URLs themselves, or any text. Rows of Lambda take functions' names apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arn:
    """A parsed Amazon Resource Name. `resource` is everything after the account."""

    service: str
    region: str
    account: str
    resource: str

    @property
    def name(self) -> str:
        """The last part of the resource: `role/path/r` → `r`, `function:f` → `f`."""
        return self.resource.replace("/", ":").rpartition(":")[2]


def _is_other_form(text: str) -> bool:
    """Whether it is an ARN, a URL, or the alias of an access point (S3 user guide, bucket naming rules: the reserved endings)."""
    return (
        text.startswith("arn:")
        or "://" in text
        or text.endswith(("-s3alias", ".mrap"))
        or (text.endswith("-s3") and "--" in text)
    )


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One resource that a call is aimed at."""

    resource_type: str
    address: str
    """Its Terraform address, or `type{key=value}` if nothing declares it."""
    identity: Mapping[str, str]
    declared: bool
    recorded: Mapping[str, Json]
    """Its attributes in the state; empty if the state does not have it."""
    schema: TypeSchema
    masker: Masker = field(default=PER_RUN, repr=False)
    budget: EffectBudget = field(default_factory=EffectBudget, compare=False, repr=False)
    """Shared by all targets of one call."""
    basis: Basis = Basis.HAND
    """What its effects are known by."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Attribute of the type that the row names → its name in this type, where they differ (`gateway.terraform.forms.Twin`)."""

    def whole(self, action: EffectAction, value: Json = None) -> Effect:
        """The effect on the resource as a whole; `value` is what a DELETE or INVOKE carries of the call's parameters."""
        return self._effect(WHOLE, action, value, sensitive=False)

    def put(
        self, attribute: str, value: Json, *, action: EffectAction = EffectAction.SET, secret: bool = False
    ) -> Effect:
        """The effect on one attribute; `value` is in the provider's form. Raises `NotUnderstood` if the provider has no such attribute, or if
        readers may differ on what a document in the value says.
        """
        attribute = self._own_name(attribute)
        if not self.schema.knows(attribute):
            raise NotUnderstood(f"{self.resource_type} has no attribute {attribute}")
        shown = self._masked(attribute, value, secret=secret)
        judged = shown
        if type(shown) not in NUMBERS:  # which are no documents
            judged = shown if may_hold_secret(self.resource_type, attribute) else unmasked_documents(value, shown)
            _refuse_ambiguous(attribute, judged)
        sensitive = secret or shown != value or holds_mask(shown) or is_secret(self.resource_type, attribute)
        effect = self._effect(attribute, action, shown, sensitive=sensitive)
        return effect if judged == shown else replace(effect, judged=judged)

    def _own_name(self, attribute: str) -> str:
        if not self.names:
            return attribute
        top = AttributePath(attribute).top
        return self.names[top] + attribute[len(top) :] if top in self.names else attribute

    def _masked(self, attribute: str, value: Json, *, secret: bool) -> Json:
        if secret or self.schema.is_sensitive(attribute):
            return self.masker.mask(value)
        recorded = AttributePath(attribute).value_at(self.recorded)
        return masked(
            value, resource_type=self.resource_type, attribute=attribute, masker=self.masker, recorded=recorded
        )

    def put_all(self, values: Mapping[str, Json], *, action: EffectAction = EffectAction.SET) -> tuple[Effect, ...]:
        """One effect per attribute, in the order of `values`. Raises `NotUnderstood` as `put` does."""
        return tuple(self.put(attribute, value, action=action) for attribute, value in values.items())

    def _effect(self, attribute: str, action: EffectAction, value: Json, *, sensitive: bool) -> Effect:
        self.budget.spend()
        return Effect(
            address=self.address,
            attribute=attribute,
            action=action,
            value=value,
            resource_type=self.resource_type,
            identity=self.identity,
            declared=self.declared,
            sensitive=sensitive,
            basis=self.basis,
        )


def _undeclared(resource_type: str, identity: Mapping[str, str]) -> str:
    """What stands for the address of a resource that nothing declares."""
    return f"{resource_type}{{{','.join(f'{key}={value}' for key, value in sorted(identity.items()))}}}"


def _refuse_ambiguous(attribute: str, value: Json) -> None:
    """Raise `NotUnderstood` for a document that names a member twice: nobody knows which of the two AWS takes."""
    if isinstance(value, str):
        if is_ambiguous(value):
            raise NotUnderstood(f"a document in {attribute} names a member twice")
    elif isinstance(value, Mapping):
        for item in value.values():
            _refuse_ambiguous(attribute, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_ambiguous(attribute, item)


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """A call, with the inventory and the schemas needed to interpret it."""

    call: Call
    inventory: Inventory
    schemas: Mapping[str, TypeSchema]
    masker: Masker = field(default=PER_RUN, repr=False)
    budget: EffectBudget = field(default_factory=EffectBudget, compare=False, repr=False)
    basis: Basis = Basis.HAND
    """What the rows are that interpret it."""

    @property
    def account(self) -> str:
        """The account that the call goes to: the configured one, else the one account whose resources the state records.

        Without it, an ARN or URL in another account could pass for a resource of ours that has the same name.
        """
        if self.call.account:
            return self.call.account
        known = self.inventory.accounts()
        return next(iter(known)) if len(known) == 1 else ""

    def require_here(self, account: str, region: str) -> None:
        """Raise `NotUnderstood` unless an account and a region, each of which may be empty, are those of the call."""
        if account and account != self.account and (self.account or self.inventory.accounts()):
            raise NotUnderstood("another account than that of the call")
        if region and self.call.region and region != self.call.region:
            raise NotUnderstood("another region than that of the call")

    def target(self, resource_type: str, identity: Mapping[str, str]) -> Target:
        """The resource with this identity, which code may declare as this type or as a twin of it (`gateway.terraform.forms`).

        Raises `NotUnderstood` for an empty identity, `errors.Ambiguous` if several resources match.
        """
        if not identity or not all(identity.values()):
            raise NotUnderstood(f"the call does not say which {resource_type}")
        twins = TWINS.get(resource_type)
        if twins is None:  # as most types
            address = self._located(resource_type, identity)
            if address is None:
                self._refuse_other_spelling((Twin(resource_type=resource_type),), identity)
            return self._target(resource_type, identity, address)
        forms = (Twin(resource_type=resource_type), *twins)
        located = [(form, self._located(form.resource_type, form.named(identity))) for form in forms]
        found = [(form, address) for form, address in located if address is not None]
        if len(found) > 1:
            raise Ambiguous(f"the call may be about {' or '.join(str(address) for _, address in found)}")
        if not found:
            self._refuse_other_spelling(forms, identity)
            return self._target(resource_type, identity, None)
        form, address = found[0]
        target = self._target(form.resource_type, form.named(identity), address)
        return replace(target, names=form.names) if form.names else target

    def _refuse_other_spelling(self, forms: Sequence[Twin], identity: Mapping[str, str]) -> None:
        """Raise `NotUnderstood` for a name that AWS may take for that of a declared resource, although nothing declares one spelled so.

        AWS compares many names without case, and takes ARNs, addresses and aliases of access points where its models say name.
        """
        for attribute, text in identity.items():
            if _is_other_form(text) and not attribute.endswith(_ANY_FORM):
                raise NotUnderstood(
                    f"{attribute} is given in a form that no declared {forms[0].resource_type} is known by; give the name itself"
                )
        for form in forms:
            alike = self.inventory.differing_in_case(
                form.resource_type, form.named(identity), self.account, self.call.region
            )
            if alike:
                raise NotUnderstood(
                    f"the name differs from that of {alike[0]} only in upper and lower case; write it as the code does"
                )

    def _located(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        return self.inventory.locate(resource_type, identity, self.account, self.call.region)

    def target_where(
        self, resource_type: str, identity: Mapping[str, str], by: str, fits: Callable[[Mapping[str, Json]], bool]
    ) -> Target:
        """The resource whose attribute `by` equals `identity[by]` and whose recorded attributes satisfy `fits`.

        For resource types whose other identifying attributes AWS and the state write differently. Raises `NotUnderstood` for an
        incomplete identity, or if several resources match.
        """
        if not all(identity.values()):
            raise NotUnderstood(f"the call does not say which {resource_type}")
        found = self.inventory.find(resource_type, by, identity[by])
        fitting = tuple(address for address in found if fits(self.inventory.recorded(address) or {}))
        return self.target_among(resource_type, identity, fitting)

    def target_among(self, resource_type: str, identity: Mapping[str, str], fitting: tuple[str, ...]) -> Target:
        """The one resource of `fitting`, addresses of recorded ones; if there is none, the one that only the code declares.

        Raises `NotUnderstood` for an incomplete identity, or if several resources match.
        """
        if not all(identity.values()):
            raise NotUnderstood(f"the call does not say which {resource_type}")
        fitting = tuple(address for address in fitting if self.is_here(address))
        if len(fitting) > 1:
            raise NotUnderstood(f"several {resource_type} match")
        address = fitting[0] if fitting else self._declared_only(resource_type, identity)
        return self._target(resource_type, identity, address)

    def _declared_only(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        """The address of the resource if the code declares it and the state does not have it yet."""
        address = self._located(resource_type, identity)
        return None if address is None or self.inventory.recorded(address) else address

    def _target(self, resource_type: str, identity: Mapping[str, str], address: str | None) -> Target:
        recorded = (self.inventory.recorded(address) if address else None) or {}
        return Target(
            resource_type=resource_type,
            address=address or _undeclared(resource_type, identity),
            identity=dict(identity),
            declared=address is not None,
            recorded=recorded,
            schema=self.schemas[resource_type],
            masker=self.masker,
            budget=self.budget,
            basis=self.basis,
        )

    def target_at(self, resource_type: str, identity: Mapping[str, str], address: str) -> Target:
        """The resource of this type at a declared address."""
        return self._target(resource_type, identity, address)

    def target_of(self, effect: Effect) -> Target:
        """The resource that an effect of this call is on."""
        address = effect.address if effect.declared else None
        return self._target(effect.resource_type, effect.identity, address)

    def is_here(self, address: str) -> bool:
        """Whether the resource is in the region and account of the call: the same name elsewhere is another resource."""
        return self.inventory.place(address).may_be(self.account, self.call.region)

    def unnamed(self, resource_type: str) -> Target:
        """A resource that AWS names when it creates it. Until then the digest of the call identifies it."""
        return self.target(resource_type, {BY_CALL: self.call.exact_digest[:12]})

    def beside(self, target: Target) -> Target:
        """Another resource with the same identity, which the call creates."""
        return self.target(target.resource_type, {**target.identity, BY_CALL: self.call.exact_digest[:12]})

    def arn(self, text: str) -> Arn:
        """The parsed ARN. Raises `NotUnderstood` if `text` is not an ARN of the call's service, or is in another place than the call."""
        parts = text.split(":", 5)
        if len(parts) != _ARN_COLONS + 1 or parts[0] != "arn" or not parts[5]:
            raise NotUnderstood("not a valid ARN")
        partition, service, region, account, resource = parts[1:]
        if service != _NAMESPACE.get(self.call.service, self.call.service):
            raise NotUnderstood("an ARN of another service than the call")
        if partition != partition_of(self.call.region):
            raise NotUnderstood("an ARN in another partition than the call")
        if service in _WITHOUT_REGION:
            if region:
                raise NotUnderstood("an ARN with a region, which this service's ARNs do not have")
        elif not (region and account):
            # Nobody says which resource it is; AWS might take it for the one in the call's own region.
            raise NotUnderstood("an ARN without a region or account")
        self.require_here("" if (service, account) == ("iam", "aws") else account, region)
        return Arn(service=service, region=region, account=account, resource=resource)

    def require_arn_here(self, text: str) -> None:
        """Raise `NotUnderstood` unless `text` is an ARN in the account and region of the call, of whatever service."""
        parts = text.split(":", _ARN_COLONS)
        if len(parts) != _ARN_COLONS + 1 or parts[0] != "arn" or not parts[_ARN_COLONS]:
            raise NotUnderstood("not a valid ARN")
        if parts[1] != partition_of(self.call.region):
            raise NotUnderstood("an ARN in another partition than the call")
        self.require_here(parts[4], parts[3])

    def text(self, parameter: str) -> str:
        """The value of a required text parameter. Raises `NotUnderstood` if it is missing, empty or not text."""
        value = self.call.parameters.get(parameter)
        if not isinstance(value, str) or not value:
            raise NotUnderstood(f"{parameter} is missing")
        return value

    def allow_only(self, *parameters: str) -> None:
        """Raise `NotUnderstood` if the call sets any parameter other than these."""
        if unknown := {name for name, value in self.call.parameters.items() if value is not None} - set(parameters):
            raise NotUnderstood(f"parameter {', '.join(sorted(unknown))}")
