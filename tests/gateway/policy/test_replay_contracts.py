"""Contracts are judged again on what they were judged on: by the same contracts every decision gives itself, by others the difference shows."""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from gateway.core.errors import CodeInvalid, Malformed, NotFound
from gateway.core.model.caller import ActorKind
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis, Call, Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath, put_all
from gateway.core.model.verdict import Asked, Finding, Verdict
from gateway.core.records.asked import RecordedAsked
from gateway.core.records.decided import RecordedPart
from gateway.core.records.record import Record
from gateway.ledger.decide.write_set import write_set
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.dependencies import DependenciesCheck
from gateway.line.checks.derived_rows import DerivedRowsCheck
from gateway.line.checks.policy import ENTRYPOINT
from gateway.line.checks.policy_input import policy_input
from gateway.line.survey import wanted_values
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.not_replayed import NotReplayed
from gateway.policy.replay import Replayed, replay
from gateway.policy.replay_contracts import ContractReplay, JudgedAgain
from gateway.policy.sources import shipped
from gateway.terraform.origins import CodeEdit
from gateway.terraform.stacks import Stacks
from tests.kit.git import commit, repository
from tests.kit.nouns import caller, effect, facts, mutation
from tests.kit.stacks import GROUP, KAFKA, Source, load

CHAIN = CheckChain([BoundsCheck(), DerivedRowsCheck(), DependenciesCheck()])
TABLE, QUEUE = "aws_dynamodb_table.offsets", "aws_sqs_queue.audit"
FILE = "kafka.sentinel.hcl"


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return load(Source(path=KAFKA))


def surveyed(change: Mutation, stacks: Stacks) -> Facts:
    """What the survey finds, without a ledger."""
    wanted = wanted_values(change.effects)

    def subject(of: Effect) -> Subject:
        stack = stacks.declaring(of.address)
        if stack is None:
            return Subject(
                effect=of,
                before=None,
                declared=None,
                attributes_before={},
                attributes_after={},
                contract=Contract(),
                exists=False,
            )
        before = stack.recorded(of.address) or {}
        return Subject(
            effect=of,
            before=AttributePath(of.attribute).value_at(before),
            declared=stack.declared(of.address, of.attribute),
            attributes_before=before,
            attributes_after=put_all(before, wanted[of.address]),
            contract=stack.contract(of.address),
            dependants=stack.dependants(of.address),
            exists=stack.recorded(of.address) is not None,
            hidden=of.sensitive and not change.caller.sees_all,
        )

    return facts(*map(subject, change.effects), stack="kafka")


def decided(change: Mutation, stacks: Stacks) -> Record:
    """The recorded decision of the checks by contracts, with one question to the policies."""
    known = surveyed(change, stacks)
    question = Asked(check="policy", entrypoint=ENTRYPOINT, document=policy_input(change, known))
    decision = asyncio.run(CHAIN.decide(change, known))
    return write_set(change, known, replace(decision, asked=(question,))).record


def again(record: Record, stacks: Stacks) -> JudgedAgain | NotReplayed:
    """It, judged again."""
    body: Any = record.body
    return asyncio.run(ContractReplay(stacks=stacks).again(record, body, body.asked.questions()))


def judged(record: Record, stacks: Stacks) -> JudgedAgain:
    done = again(record, stacks)
    assert isinstance(done, JudgedAgain)
    return done


def objections(findings: Any) -> set[tuple[str, str, str, str]]:
    return {
        (each.rule, each.address, each.attribute, each.source) for each in findings if each.verdict is not Verdict.ALLOW
    }


def group(value: int, **members: Any) -> Effect:
    return effect(GROUP, "desired_capacity", value, **members)


HUMAN = caller("ana", ActorKind.HUMAN)
CHANGES: Mapping[str, Mutation] = {
    "within its bounds": mutation(group(6)),
    "over its bounds": mutation(group(60)),
    "more than a step": mutation(group(9)),
    "nothing changes": mutation(group(4)),
    "an attribute without a grant": mutation(effect(GROUP, "name", "x")),
    "obliged to repeat": mutation(group(6), effect(GROUP, "name", "kafka-consumer-processor-asg", obliged=True)),
    "two resources": mutation(group(7), effect(QUEUE, "visibility_timeout_seconds", 99999)),
    "a human may set it": mutation(effect(GROUP, "name", "x"), caller=HUMAN),
    "a deletion that is prevented": mutation(effect(TABLE, WHOLE, action=EffectAction.DELETE), caller=HUMAN),
    "a deletion of what is in use": mutation(effect(GROUP, WHOLE, action=EffectAction.DELETE)),
    "an invocation": mutation(effect(GROUP, WHOLE, action=EffectAction.INVOKE)),
    "what only AWS knows": mutation(effect(GROUP, "desired_capacity", action=EffectAction.INVOKE, implied=True, by="autoscaling:X")),
    "what no code declares": mutation(effect("aws_sqs_queue{name=x}", "delay_seconds", 5, declared=False)),
    "an unrecorded group": mutation(effect("aws_security_group.kafka_consumer", "ingress", [], unrecorded=("sg-1",))),
    "a planned secret": mutation(effect(QUEUE, "visibility_timeout_seconds", {"hmac_sha256": "0" * 64}, sensitive=True, untold=True), caller=HUMAN),
    "a derived row": mutation(effect(GROUP, "tags", {"a": "b"}, basis=Basis.DERIVED), call=Call(service="autoscaling", operation="UpdateThing", parameters={"PolicyDocument": "x"})),
    "only the resource is known": mutation(effect(GROUP, WHOLE, action=EffectAction.INVOKE, basis=Basis.RESOURCE)),
    "it is not understood": mutation(),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_under_the_same_contracts_a_decision_gives_itself(change: Mutation, stacks: Stacks) -> None:
    record = decided(change, stacks)
    body: Any = record.body
    done = judged(record, stacks)
    if change.effects:
        assert objections(done.findings) == objections(body.decision.findings)
    assert done.judged is bool(change.effects)
    assert [each.document for each in done.questions] == [each.document for each in body.asked.questions()]


def test_the_cases_object_by_most_rules(stacks: Stacks) -> None:
    """A replay that never objected would give itself too."""
    bodies: list[Any] = [decided(change, stacks).body for change in CHANGES.values()]
    rules = {each.rule for body in bodies for each in body.decision.findings if each.verdict is not Verdict.ALLOW}
    assert rules >= {
        "bounds.max", "bounds.max_step", "bounds.not_mutable", "bounds.prevent_delete", "bounds.undeclared",
        "bounds.cidr_within", "bounds.untold", "bounds.unforeseeable", "bounds.not_understood", "bounds.invoke_not_allowed",
        "dependencies.in_use", "derived_rows.resource",
    }  # fmt: skip


def edited(stacks: Stacks, old: str, new: str) -> Stacks:
    text = (KAFKA / FILE).read_text()
    assert old in text
    return stacks.edited(CodeEdit(contracts={FILE: text.replace(old, new).encode()}))


def test_edited_contracts_judge_what_was_then(stacks: Stacks) -> None:
    record = decided(CHANGES["within its bounds"], stacks)
    stricter = edited(stacks, "max_step = 4", "max_step = 1")
    assert {each.rule for each in judged(record, stricter).findings} == {"bounds.max_step"}
    wider = edited(stacks, "max_step = 4", "max_step = 40")
    assert judged(decided(CHANGES["more than a step"], stacks), wider).findings == ()
    other = edited(stacks, "min      = self.min_size", "min      = self.health_check_grace_period")
    assert {each.rule for each in judged(record, other).findings} == {
        "bounds.min"
    }  # an attribute that the call is not about


def test_policies_are_told_of_the_edited_contracts(stacks: Stacks) -> None:
    record = decided(CHANGES["within its bounds"], stacks)
    [question] = judged(record, edited(stacks, 'owner = "team-streaming"', 'owner = "team-other"')).questions
    told: Any = question.document
    assert told["mutation"]["effects"][0]["contract"]["owner"] == "team-other"
    record = decided(CHANGES["a deletion that is prevented"], stacks)
    [question] = judged(record, edited(stacks, "critical = true", "critical = false")).questions
    before: Any = record.body
    then: Any = before.asked.questions()[0].document
    now: Any = question.document
    assert any(each["critical"] for each in then["dependants"])
    assert {each["address"] for each in now["dependants"] if each["critical"]} == set()


def test_what_is_not_there_is_named_and_not_guessed(stacks: Stacks, tmp_path: Path) -> None:
    record = decided(CHANGES["within its bounds"], stacks)
    body: Any = record.body

    def with_asked(asked: RecordedAsked) -> Record:
        return replace(record, body=msgspec.structs.replace(body, asked=asked))

    questions = body.asked.questions()
    old = RecordedAsked(version=1, packed=BEFORE_CONTRACTS)
    assert again(with_asked(RecordedAsked.of(questions) or old), stacks) is NotReplayed.SIZE
    found = asyncio.run(
        ContractReplay(stacks=stacks).again(record, msgspec.structs.replace(body, asked=old), questions)
    )
    assert found is NotReplayed.NO_CONTRACTS
    (tmp_path / "main.tf").write_text("")
    assert again(record, load(Source(path=tmp_path))) is NotReplayed.NO_STACK
    session = msgspec.structs.replace(body, part=_PART)
    assert again(replace(record, body=session), stacks) is NotReplayed.SESSION


_PART = RecordedPart(plan="mut_1", uses=())
BEFORE_CONTRACTS = "c)P<Wfh(h+sKzLAkxK-G=YWkfC1kGvEd>CU!YOk"
"""The form of the first version, which kept the questions alone."""


def test_what_large_facts_leave_out_is_only_that_of_contracts(stacks: Stacks) -> None:
    change = CHANGES["within its bounds"]
    known = surveyed(change, stacks)
    noise = {f"n{number}": f"{number * 7919 % 104729:x}{number * 104729 % 7919:x}" for number in range(3000)}
    large = replace(known, subjects=tuple(replace(each, attributes_before={**each.attributes_before, **noise}) for each in known.subjects))  # fmt: skip
    question = Asked(check="policy", entrypoint=ENTRYPOINT, document=policy_input(change, known))
    decision = asyncio.run(CHAIN.decide(change, known))
    record = write_set(change, large, replace(decision, asked=(question,))).record
    body: Any = record.body
    assert len(body.asked.questions()) == 1
    assert again(record, stacks) is NotReplayed.SIZE


def test_contracts_of_a_commit_are_judged_by(tmp_path: Path) -> None:
    root = repository(Path(shutil.copytree(KAFKA, tmp_path / "stack")))
    contract = root / FILE
    before = contract.read_text()
    contract.write_text(before.replace("max_step = 4", "max_step = 1"))
    stricter = commit(root)
    contract.write_text(before)
    commit(root)
    stacks = load(Source(path=root))
    record = decided(CHANGES["within its bounds"], stacks)
    assert judged(record, stacks).findings == ()
    for ref in (stricter, stricter[:9]):
        found = stacks.edited(CodeEdit(ref=ref))
        assert {each.rule for each in judged(record, found).findings} == {"bounds.max_step"}
    with pytest.raises(CodeInvalid, match="There is no branch, tag or commit 'HEAD~1'"):
        stacks.edited(CodeEdit(ref="HEAD~1"))
    assert judged(record, stacks.edited(CodeEdit(ref="main"))).findings == ()


def test_a_wrong_edit_is_refused_with_the_reason(stacks: Stacks) -> None:
    wrong: Mapping[str, tuple[CodeEdit, type[Exception], str]] = {
        "a stack that is not": (CodeEdit(stack="shop", ref="main"), NotFound, "no stack 'shop'"),
        "a path that leads out": (CodeEdit(contracts={"../x.sentinel.hcl": b""}), CodeInvalid, "is not the path of a contract"),
        "a path that is no contract": (CodeEdit(contracts={"main.tf": b""}), CodeInvalid, "is not the path of a contract"),
        "a bound that is not": (CodeEdit(contracts={FILE: b'contract "kafka" {\n  resource "aws_sqs_queue" "*" {\n    attribute "delay_seconds" {\n      mox = 1\n    }\n  }\n}\n'}), CodeInvalid, f"{FILE}:4"),
        "a revision without git": (CodeEdit(ref="0" * 40), CodeInvalid, "0000000"),
    }  # fmt: skip
    for edit, kind, words in wrong.values():
        with pytest.raises(kind, match=words):
            stacks.edited(edit)
    two = load(Source(path=KAFKA), Source(path=KAFKA, name="other"))
    with pytest.raises(Malformed, match="kafka, other"):
        two.edited(CodeEdit(contracts={FILE: b""}))


def test_contracts_alone_leave_no_other(stacks: Stacks) -> None:
    record = decided(CHANGES["within its bounds"], stacks)
    none = stacks.edited(
        CodeEdit(
            contracts={
                "x.sentinel.hcl": b'contract "x" {\n  resource "aws_sqs_queue" "*" {\n    critical = true\n  }\n}\n'
            },
            alone=True,
        )
    )
    assert {each.rule for each in judged(record, none).findings} == {"bounds.immutable_skeleton"}


class _Counting(Embedded):
    """Counts the questions."""

    questions: ClassVar[list[str]] = []

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The answer of the policies."""
        self.questions.append(entrypoint)
        return await super().ask(entrypoint, document)


def test_policies_that_would_be_asked_the_same_are_not_asked(stacks: Stacks) -> None:
    """What they said then counts, unless the bundle is another, a contract tells them something else, or they did not answer."""
    engine = _Counting(read_bundle(shipped() / SHIPPED), deadline_ms=10_000, memory_mb=64)
    change = mutation(group(6), caller=caller(kind=ActorKind.AGENT))
    record = by_policies(change, stacks, engine.revision)
    other_bounds = edited(stacks, "max      = self.max_size", "max      = 3")
    told_else = edited(stacks, 'owner = "team-streaming"', 'owner = "team-other"')
    unanswered = by_policies(change, stacks, engine.revision, rule="policy.broke")
    cases = (
        (record, stacks, 0),
        (record, other_bounds, 0),
        (record, told_else, 1),
        (unanswered, stacks, 1),
        (by_policies(change, stacks, "another"), stacks, 1),
        (record, None, 1),
    )
    for each, contracts, asked in cases:
        engine.questions.clear()
        judge = ContractReplay(stacks=contracts) if contracts is not None else None
        done = asyncio.run(replay(each, engine, judge))
        assert isinstance(done, Replayed)
        assert len(engine.questions) == asked
        # The shipped policies, if they are asked, deny a change without a motive.
        assert (done.after is Verdict.DENY) == (asked > 0 or contracts is other_bounds)
    asyncio.run(engine.close())


def by_policies(change: Mutation, stacks: Stacks, bundle: str, rule: str = "policy.passed") -> Record:
    """The record of a decision by contracts and guardrails, which said `rule`."""
    known = surveyed(change, stacks)
    decision = asyncio.run(CHAIN.decide(change, known))
    said = Finding(
        check="policy", verdict=Verdict.DENY if rule.endswith(".broke") else Verdict.ALLOW, rule=rule, reason=""
    )
    asked = (Asked(check="policy", entrypoint=ENTRYPOINT, document=policy_input(change, known)),)
    return write_set(
        change, known, replace(decision, findings=(*decision.findings, said), asked=asked, bundle=bundle)
    ).record
