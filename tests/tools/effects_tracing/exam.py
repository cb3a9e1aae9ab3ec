"""Holds derived rows against the hand-made tables, which serve as truth: where they agree, contradict or cannot be compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.core.derived_rows import DerivedRow
from gateway.core.model.mutation import EffectAction
from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES
from gateway.effects.schema import TypeSchema, match, read_schemas

_SAME_RESOURCE: Final = frozenset({"id", "arn", "name", "identifier", "url", "bucket", "key_id", "function_name"})
"""Attributes of which any two may name the same resource: the provider's state often holds the same value in both."""


class Verdict(StrEnum):
    """What the comparison of one mapping says."""

    AGREE = "agree"
    AGREE_BY_NAME = "agree: another name of the identity"
    CONTRADICT = "contradict"
    CODE = "not comparable: the hand-made row has code"
    IGNORED = "not comparable: the hand-made row takes it for a control or content"
    NOTHING = "not comparable: the hand-made row does not know the parameter"
    NO_ROW = "not traced with the hand-made row's type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One comparison."""

    service: str
    operation: str
    parameter: str
    """Empty for the operation's type and action."""
    verdict: Verdict
    hand: str
    derived: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """All comparisons, and how many operations were compared."""

    findings: tuple[Finding, ...]
    by_service: Mapping[str, Counter[str]] = field(default_factory=dict)

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """Those that contradict."""
        return tuple(each for each in self.findings if each.verdict is Verdict.CONTRADICT)


def examine(rows: Iterable[DerivedRow]) -> Exam:
    """Compare the rows with the tables of `gateway.effects.registry`. Operations of the action INVOKE have no counterpart."""
    derived: dict[tuple[str, str], list[DerivedRow]] = defaultdict(list)
    for row in rows:
        derived[row.service, row.operation].append(row)
    tables = [(name, operation, hand) for name, table in SERVICES.items() for operation, hand in table.items()]
    schemas = read_schemas({hand.resource_type for _, _, hand in tables})
    findings: list[Finding] = []
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for service, operation, hand in tables:
        if hand.action is EffectAction.INVOKE:
            continue
        counts[service]["operations"] += 1
        found = derived.get((service, operation), [])
        counts[service]["traced"] += bool(found)
        for finding in _compare(service, operation, hand, found, schemas[hand.resource_type]):
            findings.append(finding)
            counts[service][finding.verdict.partition(":")[0]] += 1
    return Exam(findings=tuple(findings), by_service=counts)


def _compare(
    service: str, operation: str, hand: Operation, found: list[DerivedRow], schema: TypeSchema
) -> Iterator[Finding]:
    if not found:
        return
    row = next((each for each in found if each.resource_type == hand.resource_type), None)
    types = sorted(each.resource_type for each in found)
    known = {hand.resource_type, *hand.other_types}
    base = Finding(
        service=service,
        operation=operation,
        parameter="",
        verdict=Verdict.AGREE,
        hand=hand.resource_type,
        derived=", ".join(types),
    )
    if row is None:
        verdict = Verdict.AGREE if known & set(types) else Verdict.NO_ROW
        yield _with(base, verdict)
        return
    yield _action(base, hand, row)
    if hand.handler is not None:
        return
    carried = {**row.identity, **row.attributes}
    mappings = {path: source.attribute for path, source in carried.items()} | dict(row.removes)
    for path, attribute in sorted(mappings.items()):
        yield _mapping(base, hand, schema, path, attribute)


def _with(base: Finding, verdict: Verdict, *, parameter: str = "", hand: str = "", derived: str = "") -> Finding:
    return Finding(
        service=base.service,
        operation=base.operation,
        parameter=parameter,
        verdict=verdict,
        hand=hand or base.hand,
        derived=derived or base.derived,
    )


def _action(base: Finding, hand: Operation, row: DerivedRow) -> Finding:
    expected = {EffectAction.CREATE, EffectAction.SET} if hand.upserts else {hand.action}
    verdict = Verdict.AGREE if expected & row.actions else Verdict.CONTRADICT
    if hand.handler is not None and verdict is Verdict.CONTRADICT:
        verdict = Verdict.CODE
    return _with(base, verdict, hand=" ".join(sorted(expected)), derived=" ".join(sorted(row.actions)))


def _mapping(base: Finding, hand: Operation, schema: TypeSchema, path: str, attribute: str) -> Finding:
    verdict, wanted = _truth(hand, schema, path)
    if verdict is Verdict.NOTHING and EffectAction.DELETE is hand.action:
        verdict = Verdict.CODE
    if verdict is Verdict.AGREE and attribute != wanted:
        both = {attribute, wanted}
        identifies = path in hand.identity
        same = both <= _SAME_RESOURCE or (identifies and attribute in ("id", "arn"))
        verdict = Verdict.AGREE_BY_NAME if same else Verdict.CONTRADICT
    return _with(base, verdict, parameter=path, hand=wanted, derived=attribute)


def _truth(hand: Operation, schema: TypeSchema, path: str) -> tuple[Verdict, str]:
    """What the hand-made row says about a parameter: the attribute, or why it cannot be compared."""
    steps = path.split(".")
    for length in range(len(steps), 0, -1):
        head = ".".join(steps[:length])
        if head in hand.identity or head in hand.attributes:
            said = hand.identity.get(head, hand.attributes.get(head))
            whole = isinstance(said, str) and length == len(steps)
            return (Verdict.AGREE, said) if whole and isinstance(said, str) else (Verdict.CODE, "code")
        if head in hand.controls or head in hand.content or head in hand.arguments:
            return Verdict.IGNORED, "a control, content or argument"
    found = match(schema, tuple(steps))
    return (Verdict.AGREE, found) if found is not None else (Verdict.NOTHING, "nothing")


def report(exam: Exam) -> str:
    """The exam as text: a line per service, the sums, and every contradiction."""
    short = [Verdict.AGREE, Verdict.CONTRADICT, Verdict.CODE]
    keys = [verdict.partition(":")[0] for verdict in short]
    lines = [f"{'service':16} {'operations':>10} {'traced':>7} {'agree':>7} {'contradict':>11} {'not comparable':>15}"]
    for service, count in sorted(exam.by_service.items()):
        cells = f"{count['operations']:>10} {count['traced']:>7} {count[keys[0]]:>7} {count[keys[1]]:>11} {count[keys[2]]:>15}"
        lines.append(f"{service:16} {cells}")
    total = Counter(finding.verdict for finding in exam.findings)
    lines += ["", *(f"{total[verdict]:>6}  {verdict.value}" for verdict in Verdict), ""]
    for each in exam.contradictions:
        what = f"{each.service}:{each.operation} {each.parameter}".rstrip()
        lines.append(f"contradiction: {what}: by hand {each.hand}, traced {each.derived}")
    return "\n".join(lines) + "\n"
