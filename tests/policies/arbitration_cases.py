"""The decided cases of `tests/cases/arbitration`: how they are written, and what their short names stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.core.model.caller import ActorKind

CASES = Path(__file__).parent.parent / "cases" / "arbitration"
VOCABULARY: Mapping[str, Any] = yaml.safe_load((CASES / "vocabulary.yaml").read_text(encoding="utf-8"))
_VALUE, _TEXT = "$value", "$text"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Wish(_Strict):
    """What one actor asks for, why, and how AWS answers if it is sent."""

    who: Annotated[str, Field(pattern="^[a-z][a-z-]*$")]
    kind: ActorKind = ActorKind.AGENT
    wants: str
    motive: Annotated[str | None, Field(alias="for", pattern="^[a-z]+/[a-z]+$")]
    evidence: tuple[str, ...] = ()
    lasts: str = ""
    answer: Literal["ok", "refused", "lost"] = "ok"
    and_then: Annotated[Literal["", "releases it"], Field(alias="and then")] = ""

    @property
    def call(self) -> dict[str, Any]:
        """The call as the JSON API takes it."""
        name, given, value = self.wants.partition(" = ")
        entry = VOCABULARY[name]
        service, _, operation = entry["call"].partition(":")
        parameters = _filled(entry["with"], yaml.safe_load(value) if given else None)
        return {"service": service, "operation": operation, "parameters": parameters}

    @property
    def motive_body(self) -> dict[str, Any] | None:
        """The motive as the JSON API takes it; None if the actor states none."""
        if self.motive is None:
            return None
        intent, _, motivation = self.motive.partition("/")
        return {"intent": intent, "motivation": motivation, "evidence": self.evidence, "wanted_for": self.lasts}

    @model_validator(mode="after")
    def _known(self) -> "Wish":
        name, given, _ = self.wants.partition(" = ")
        if name not in VOCABULARY or any(each in str(VOCABULARY[name]) for each in (_VALUE, _TEXT)) != bool(given):
            raise ValueError(f"{self.wants!r} is neither a name nor `name = value` of vocabulary.yaml.")
        return self


class Case(_Strict):
    """One decided case: who has it, who wants it, who wins and why."""

    name: str
    why: Annotated[str, Field(min_length=40)]
    alerts: tuple[str, ...] = ()
    before: tuple[Wish, ...] = ()
    first: Wish | None = None
    meanwhile: tuple[str | Wish, ...] = ()
    second: Wish
    winner: Literal["first", "second", "both", "human", "nobody"]
    rules: tuple[str, ...] = ()
    human: Literal["", "approves", "rejects"] = ""
    told: tuple[str, ...] = ()
    not_told: Annotated[tuple[str, ...], Field(alias="not told")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A case, and where it stands."""

    file: str
    case: Case

    @property
    def id(self) -> str:
        """The file and the name of the case, for the list of tests."""
        return f"{self.file}: {self.case.name}"


@cache
def decided_cases() -> tuple[Decided, ...]:
    """Every case of every file, in order."""
    files = sorted(path for path in CASES.glob("*.yaml") if path.name != "vocabulary.yaml")
    return tuple(
        Decided(file=path.stem, case=Case.model_validate(each))
        for path in files
        for each in yaml.safe_load(path.read_text(encoding="utf-8"))
    )


def _filled(template: Any, value: Any) -> Any:
    """The template with the value in place of `$value`, and as text in place of `$text`."""
    if template in (_VALUE, _TEXT):
        return value if template == _VALUE else str(value)
    if isinstance(template, dict):
        return {name: _filled(each, value) for name, each in template.items()}
    if isinstance(template, list):
        return [_filled(each, value) for each in template]
    return template
