"""Shows the reads whose answers nobody has reviewed as they are now, with AWS's documentation, and writes down which of them pass.

    python -m gateway.aws.models.review_answers [SERVICE …]           what is unreviewed, and what is wrong in the review
    python -m gateway.aws.models.review_answers --pass ec2:GetX names  a read that passes, with one or more reasons

A read that hands out a secret gets its member into `hands_out` of `reviewed_answers.toml`, and its class into `curated_classes.toml`. Then run
`generate_call_classes` and `generate_sensitive_members`.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.aws.models.answer_review import PASSED, Answer, Passed, Review, passed_text, review
from gateway.aws.models.generate_call_classes import reads
from gateway.aws.models.read_review import looks_secret
from gateway.aws.models.routing_index import models

_TAG: Final = re.compile(r"<[^>]+>")
_SHOWN: Final = 400
_NOTHING: Final = frozenset({"names", "nothing"})
"""Reasons that say that nothing in the answer speaks of a secret."""
_DOUBTED: Final = "doubted"


def all_answers() -> Iterator[Answer]:
    """The answers of all operations that botocore has."""
    for service, model in models():
        for operation, definition in model["operations"].items():
            yield Answer(service, operation, model["shapes"], definition)


def unreviewed(answers: Iterable[Answer], reviewed: Review) -> list[Answer]:
    """Those of the answers that are not known as they are, and of which nobody knows that they hand out a secret."""
    return [answer for answer in answers if not answer.passes(reviewed) and not answer.handed_out(reviewed)]


def problems(answers: Iterable[Answer], reviewed: Review) -> list[str]:
    """What is wrong in a review of these answers, a sentence each: names that botocore lost, siblings that pass, doubts without a reason."""
    found: list[str] = []
    known: dict[tuple[str, str], Answer] = {(each.service, each.operation): each for each in answers}
    for kind, listed in (("passed", reviewed.passed), ("doubts", reviewed.doubts), ("spared", reviewed.spared)):
        found += [f"{kind}: botocore has no operation {':'.join(key)}." for key in sorted(listed.keys() - known.keys())]
    members: dict[str, set[str]] = {}
    for answer in known.values():
        members.setdefault(answer.service, set()).update(answer.members)
    for service, names in sorted(reviewed.hands_out.items()):
        gone = sorted(names - members.get(service, set()))
        found += [f"hands_out: no answer of {service} has the member {name}." for name in gone]
    found += [text for key in sorted(reviewed.passed) if key in known for text in _wrong(known[key], reviewed)]
    return [*found, *_twins(known, reviewed)]


def _wrong(answer: Answer, reviewed: Review) -> Iterator[str]:
    """What is wrong in the row of a read that passes."""
    key = (answer.service, answer.operation)
    reasons = frozenset(reviewed.passed[key].reasons)
    if unknown := sorted(reasons - reviewed.reasons.keys()) or not reasons:
        yield f"{answer.name} passes without a reason, or with one that is not in [reasons]: {unknown}."
    if (secrets := answer.handed_out(reviewed)) and key not in reviewed.spared:
        yield f"{answer.name} passes, but its answer has what siblings are refused for: {', '.join(sorted(secrets))}."
    explained = key in reviewed.doubts or key in reviewed.spared
    if explained is not (_DOUBTED in reasons):
        yield f"{answer.name} is doubted, or has a sentence in [doubts] or [spared], but not both."
    if reasons <= _NOTHING and (speaking := speaks_of_secrets(answer)):
        yield f"{answer.name} passes as {' '.join(sorted(reasons))}, but these speak of a secret: {', '.join(speaking)}."


def _twins(known: Mapping[tuple[str, str], Answer], reviewed: Review) -> list[str]:
    """The reads that pass though a member has name and type of one that hands out a secret elsewhere in the service, and have no sentence."""
    types: dict[str, set[tuple[str, str]]] = {}
    for answer in known.values():
        for name in answer.handed_out(reviewed):
            reference = answer.members[name].reference
            types.setdefault(answer.service, set()).add((name.rpartition(".")[2], reference["shape"]))
    found = []
    for key in sorted(reviewed.passed.keys() & known.keys() - reviewed.doubts.keys() - reviewed.spared.keys()):
        answer = known[key]
        alike = sorted(
            name
            for name, member in answer.members.items()
            if (name.rpartition(".")[2], member.reference["shape"]) in types.get(answer.service, set())
            and name not in reviewed.hands_out[answer.service]
        )
        if alike:
            found.append(
                f"{answer.name} passes with the twin of a member that hands out a secret, and no sentence in [doubts]: {', '.join(alike)}."
            )
    return found


_SPEAKS: Final = re.compile(
    r"\b(secrets?|passwords?|passphrase|credentials?|private key|api keys?|one-time|authorization code|pre-?signed|access tokens?)\b", re.IGNORECASE
)  # fmt: skip


def speaks_of_secrets(answer: Answer) -> list[str]:
    """The members with text that AWS marks as sensitive, or whose documentation speaks of a secret."""
    return sorted(
        name
        for name, member in answer.members.items()
        if member.text and (member.sensitive or _SPEAKS.search(_plain(member.reference.get("documentation", ""))))
    )


def described(answer: Answer, reviewed: Review, familiar: frozenset[str] = frozenset()) -> str:
    """An answer for the person who reviews it: what the operation does, and its members with text that are not `familiar`."""
    known = reviewed.passed.get((answer.service, answer.operation))
    state = "new" if known is None else "its answer has other texts than when it was reviewed"
    output = answer.definition.get("output", {}).get("shape")
    suspects = looks_secret(answer.service, answer.shapes, output) if output else frozenset[str]()
    lines = [f"{answer.name} ({state})", f"  {_plain(answer.definition.get('documentation', ''))[:_SHOWN]}"]
    texts = {name: member for name, member in answer.members.items() if member.text}
    unknown = {name: member for name, member in texts.items() if name not in familiar} or texts
    for name, member in sorted(unknown.items()):
        mark = "!" if member.sensitive or name.rpartition(".")[2] in suspects else " "
        lines.append(f"  {mark} {name}: {_plain(member.reference.get('documentation', ''))[:_SHOWN]}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    return " ".join(_TAG.sub(" ", text).split())


def _familiar(answers: Sequence[Answer], reviewed: Review, service: str) -> frozenset[str]:
    """The members of the answers of a service that pass."""
    passing = (answer for answer in answers if answer.service == service and answer.passes(reviewed))
    return frozenset(name for answer in passing for name in answer.members)


def with_passed(reviewed: Review, answer: Answer, reasons: Sequence[str]) -> Review:
    """The review with an answer that passes as it is now."""
    row = Passed(fingerprint=answer.fingerprint, reasons=tuple(reasons))
    return replace(reviewed, passed={**reviewed.passed, (answer.service, answer.operation): row})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is unreviewed and wrong, or write down that a read passes. 1 if there is something left to review."""
    parser = argparse.ArgumentParser(prog="review_answers", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("services", nargs="*", help="only these services")
    parser.add_argument(
        "--pass", dest="passes", nargs="+", metavar=("OPERATION", "REASON"), help="service:Operation, and why it passes"
    )
    given = parser.parse_args(arguments)
    answers, reviewed = list(reads()), review()
    if given.passes:
        name, *reasons = given.passes
        answer = next((each for each in answers if each.name == name), None)
        if answer is None or not reasons or not reviewed.reasons.keys() >= set(reasons):
            known = ", ".join(sorted(reviewed.reasons))
            sys.exit(f"{name} is no read, or no reason is given that [reasons] has ({known}). Nothing was written.")
        PASSED.write_text(passed_text(with_passed(reviewed, answer, reasons).passed))
        return 0
    left = [each for each in unreviewed(answers, reviewed) if not given.services or each.service in given.services]
    for answer in left:
        sys.stdout.write(f"{described(answer, reviewed, _familiar(answers, reviewed, answer.service))}\n")
    wrong = problems(all_answers(), reviewed)
    sys.stdout.writelines(f"{sentence}\n" for sentence in wrong)
    sys.stdout.write(f"{len(reviewed.passed)} reads pass, {len(left)} are unreviewed and refused to agents.\n")
    return 1 if left or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
