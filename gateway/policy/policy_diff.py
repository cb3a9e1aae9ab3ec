"""What two bundles decide differently: on a generated corpus of changes, and on two replays of the recorded ones."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Asked, Finding, Mode, Verdict
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.line.checks.policy_input import policy_input
from gateway.policy.bundle import RunningEngine
from gateway.policy.replay import answers

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_WORLD: Final[Json] = [{"from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": ["0.0.0.0/0"]}]
_ADMIN: Final = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
_PUBLIC: Final = (
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"*"}]}'
)
_CHANGES: Final[Sequence[tuple[str, str, str, EffectAction, str, Json, Json]]] = (
    ("autoscaling", "SetDesiredCapacity", "aws_autoscaling_group", EffectAction.SET, "desired_capacity", 6, 4),
    ("autoscaling", "DeleteAutoScalingGroup", "aws_autoscaling_group", EffectAction.DELETE, "*", None, None),
    ("ec2", "AuthorizeSecurityGroupIngress", "aws_security_group", EffectAction.SET, "ingress", _WORLD, []),
    ("ec2", "TerminateInstances", "aws_instance", EffectAction.DELETE, "*", None, None),
    ("ec2", "StopInstances", "aws_instance", EffectAction.INVOKE, "*", None, None),
    ("ec2", "ModifyInstanceAttribute", "aws_instance", EffectAction.SET, "instance_type", "m5.24xlarge", "t3.micro"),
    ("ec2", "CreateTags", "aws_instance", EffectAction.SET, "tags.owner", "shop", None),
    ("iam", "PutRolePolicy", "aws_iam_role_policy", EffectAction.SET, "policy", _ADMIN, None),
    ("iam", "CreateUser", "aws_iam_user", EffectAction.CREATE, "*", {}, None),
    ("kms", "ScheduleKeyDeletion", "aws_kms_key", EffectAction.DELETE, "*", None, None),
    (
        "lambda",
        "UpdateFunctionConfiguration",
        "aws_lambda_function",
        EffectAction.SET,
        "role",
        "arn:aws:iam::999999999999:role/x",
        None,
    ),
    ("rds", "DeleteDBInstance", "aws_db_instance", EffectAction.DELETE, "*", None, None),
    ("rds", "ModifyDBInstance", "aws_db_instance", EffectAction.SET, "backup_retention_period", 0, 7),
    ("rds", "ModifyDBInstance", "aws_db_instance", EffectAction.SET, "deletion_protection", False, True),
    ("rds", "ModifyDBInstance", "aws_db_instance", EffectAction.SET, "publicly_accessible", True, False),
    ("s3", "PutBucketPolicy", "aws_s3_bucket_policy", EffectAction.SET, "policy", _PUBLIC, None),
    ("s3", "DeleteBucket", "aws_s3_bucket", EffectAction.DELETE, "*", None, None),
    ("sqs", "PurgeQueue", "aws_sqs_queue", EffectAction.INVOKE, "*", None, None),
    ("sqs", "SetQueueAttributes", "aws_sqs_queue", EffectAction.SET, "message_retention_seconds", 60, 345600),
)
"""Changes of the commonest dangers, and harmless ones: service, operation, type, action, attribute, value, value before."""
_MOTIVES: Final[Sequence[Motive | None]] = (
    None,
    Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("ALERT-1",)),
    Motive(intent=Intent.COST, motivation=Motivation.BUDGET),
    Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE),
)


def corpus(stacks: Sequence[str] = ("shop",)) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The generated changes: (what it is, the policies' input), the same ones in every run."""
    kinds, bases, declared = tuple(ActorKind), (Basis.HAND, Basis.RESOURCE), (True, False)
    for stack, change, kind, motive, basis, in_code in product(stacks, _CHANGES, kinds, _MOTIVES, bases, declared):
        mutation, facts = _made(change, stack, kind, motive, basis, declared=in_code)
        named = f"{motive.intent}/{motive.motivation}" if motive else "no motive"
        how = ("declared" if in_code else "not declared") + ("" if basis is Basis.HAND else ", known by its resource")
        yield (
            f"{change[0]}:{change[1]} {change[4]} by a {kind.value} with {named}, {how}",
            policy_input(mutation, facts),
        )


def _made(
    change: tuple[str, str, str, EffectAction, str, Json, Json],
    stack: str,
    kind: ActorKind,
    motive: Motive | None,
    basis: Basis,
    *,
    declared: bool,
) -> tuple[Mutation, Facts]:
    service, operation, resource_type, action, attribute, value, before = change
    effect = Effect(
        address=f"{resource_type}.trial",
        attribute=attribute,
        action=action,
        value=value,
        resource_type=resource_type,
        declared=declared,
        basis=basis,
    )
    subject = Subject(
        effect=effect,
        before=before,
        declared=before if declared else None,
        attributes_before={},
        attributes_after={},
        contract=Contract(managed_by_agent=True),
        exists=action is not EffectAction.CREATE,
    )
    mutation = Mutation(
        id="mut_corpus",
        caller=Caller(actor=f"some-{kind.value}", kind=kind, key_id="SNTLCORPUS"),
        call=Call(service=service, operation=operation, account="123456789012", region="us-east-1"),
        call_class=CallClass.MUTATION,
        motive=motive,
        effects=(effect,),
    )
    stacks = (stack,) if declared else ()
    return mutation, Facts(now=_NOW, stack=stack, stacks=stacks, mode=Mode.ENFORCE, subjects=(subject,))


async def generated_page(old: RunningEngine, new: RunningEngine) -> dict[str, Any]:
    """What both decide differently on the corpus, in the form of a page of a replay."""
    flips: list[dict[str, Any]] = []
    count = 0
    for name, document in corpus():
        count += 1
        was, now = await _objections(document, old), await _objections(document, new)
        verdicts = [min((each.verdict for each in found), key=_STRENGTH, default=Verdict.ALLOW) for found in (was, now)]
        if verdicts[0] is not verdicts[1]:
            flips.append(_flip(name, document, verdicts, (_shown(was, old), _shown(now, new))))
    counts = {"replayed": count, "not_replayed": {}, "next": None}
    return {**counts, "flips": flips, "revision": new.revision, "contracts": ""}


_STRENGTH: Final = tuple(Verdict).index


async def _objections(document: Mapping[str, Json], engine: RunningEngine) -> list[Finding]:
    asked = (("policy", GUARDRAILS), ("arbitration", ARBITRATION))
    return [
        each
        for check, entrypoint in asked
        for each in await answers(Asked(check=check, entrypoint=entrypoint, document=document), engine)
    ]


def _shown(findings: Sequence[Finding], engine: RunningEngine) -> list[dict[str, Any]]:
    texts = engine.rules()
    ordered = sorted(findings, key=lambda each: (_STRENGTH(each.verdict), each.rule))
    return [
        {
            "rule": each.rule,
            "verdict": each.verdict.value,
            "reason": each.reason,
            "address": each.address,
            "attribute": each.attribute,
            "source": texts[each.rule].source if each.rule in texts else "",
        }
        for each in ordered
    ]


def _flip(
    name: str,
    document: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    findings: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> dict[str, Any]:
    caller = document["caller"]
    return {
        "mutation": "generated:",
        "at": "",
        "actor": caller["actor"],
        "kind": caller["kind"],
        "call": name,
        "stack": document["stack"],
        "observed": False,
        "from": verdicts[0].value,
        "to": verdicts[1].value,
        "rule": _rule(*findings),
        "old": findings[0],
        "new": findings[1],
    }


def _rule(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """The first rule that only one of both has."""
    known = {each["rule"] for each in old} & {each["rule"] for each in new}
    return next((str(each["rule"]) for each in (*new, *old) if each["rule"] not in known), "")


def between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The difference of two replays of one page: what both policies decide otherwise than each other, whatever was decided then."""
    before = {each["mutation"]: each for each in old["flips"]}
    after = {each["mutation"]: each for each in new["flips"]}
    flips = []
    for mutation in dict.fromkeys((*after, *before)):
        one = after.get(mutation) or before[mutation]
        was = before[mutation]["to"] if mutation in before else one["from"]
        now = after[mutation]["to"] if mutation in after else one["from"]
        found = (
            before[mutation]["new"] if mutation in before else one["old"],
            after[mutation]["new"] if mutation in after else one["old"],
        )
        if was != now:
            flips.append({**one, "from": was, "to": now, "old": found[0], "new": found[1], "rule": _rule(*found)})
    return {**new, "flips": flips}
