"""The decided cases of `tests/cases/arbitration`, each through the whole line: two gateways, one for each policy engine."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim
from gateway.core.records.record import Stage
from gateway.core.settings import PolicyEngineKind, PolicySettings, StackSettings
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.sources import shipped
from tests.kit.bodies import written_back
from tests.kit.gate import Gate
from tests.kit.opa import opa_server
from tests.policies.arbitration_cases import CASES, Case, Decided, Wish, decided_cases

pytestmark = [pytest.mark.opa, pytest.mark.allow_hosts(["127.0.0.1"])]
SECRET = "a-secret-of-the-monitoring"
ALERTS = SignalSourceSettings(
    name="alerts", form=SignalForm.ALERTMANAGER, secret=SECRET, concerns=(ConcernSettings(stack="*"),)
)
LEAST = 80
"""How many cases there are at least."""


@dataclass
class MovableClock:
    """The clock of one gateway, which a case can move on."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        """The moved time."""
        return datetime.now(UTC) + self.ahead


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped policies with the layers of the cases."""
    path = tmp_path_factory.mktemp("policies") / "policies"
    shutil.copytree(shipped(), path)
    numbers = path / "data" / "priorities.json"
    document = json.loads(numbers.read_text())
    document["priorities"]["layers"] = json.loads((CASES / "layers.json").read_text())
    numbers.write_text(json.dumps(document))
    return path


ENGINES = ["embedded", pytest.param("opa", marks=pytest.mark.long)]
"""Both answer alike (`tests/ports/test_policy_engine.py`), so with the server a sample of the cases is enough."""
EVERY = 8


@pytest.fixture(scope="module", params=ENGINES)
def court(
    request: pytest.FixtureRequest, policies: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator["Court"]:
    """One gateway for all cases, on each engine."""
    clock = MovableClock()
    directory = tmp_path_factory.mktemp(request.param)
    stacks = tuple(_copied(name, directory / name) for name in ("shop", "dev_shop"))
    with pytest.MonkeyPatch.context() as patch, opa_server(policies) as url:
        patch.setattr("gateway.app.running.SystemClock", lambda: clock)
        engine = PolicySettings(
            engine=PolicyEngineKind(request.param),
            path=policies,
            green_tests=False,
            deadline_ms=10_000,
            opa_url=url if request.param == "opa" else "",
        )
        with (
            Gate(directory=directory, policy=engine, signals=(ALERTS,), more_stacks=stacks) as gate,
            httpx.Client(base_url=gate.url, timeout=300) as client,
        ):
            yield Court(gate, client, clock)


def _copied(name: str, path: Path) -> StackSettings:
    """The stack of the cases, outside of any checkout, so that its contracts are read as they are."""
    shutil.copytree(CASES / name, path)
    return StackSettings(name=name.replace("_", "-"), path=path)


@dataclass
class Court:
    """Carries cases out on one gateway."""

    gate: Gate
    client: httpx.Client
    clock: MovableClock
    numbers: Iterator[int] = field(default_factory=count)
    suffix: str = ""

    def hear(self, case: Case) -> "Verdict":
        """Everything that the case says, in its order, and how the second wish fared."""
        self.suffix = f"-{next(self.numbers)}"
        for alert in case.alerts:
            self.alert(alert, "firing")
        for wish in case.before:
            self._granted(wish)
        first = self._granted(case.first) if case.first else {}
        for event in case.meanwhile:
            self.happen(event, first)
        standing = self.claims(first)
        sent = len(self.gate.upstream.asked)
        reply = answer = self.ask(case.second)
        if case.human:
            reply = self._answered(case, reply)
        return Verdict(
            asked=answer.json(),
            final=reply.json(),
            sent=len(self.gate.upstream.asked) - sent,
            standing=standing,
            left=self.claims(first),
            gate=self.gate,
        )

    def close(self, case: Case) -> None:
        """Leave nothing of the case to the next one."""
        self.gate.upstream.behaviour = "ok"
        self.gate.release_all()
        for alert in case.alerts:
            self.alert(alert, "resolved")

    def ask(self, wish: Wish) -> httpx.Response:
        """Ask for it, as the actor of this case, and return the reply."""
        self.gate.upstream.behaviour = {"ok": "ok", "refused": "refuse", "lost": "cut"}[wish.answer]
        body = {**wish.call, "motive": wish.motive_body}
        reply = self.client.post("/v1/mutations", json=body, headers=self.gate.bearer(self.actor(wish)))
        self.gate.upstream.behaviour = "ok"
        return reply

    def actor(self, wish: Wish) -> str:
        """The actor's name in this case: no case meets what an earlier one was answered."""
        name = wish.who + self.suffix
        if name not in self.gate.keys:
            self.gate.issue(name, kind=wish.kind, lasts=timedelta(days=3650))
        return name

    def _granted(self, wish: Wish) -> Any:
        reply = self.ask(wish)
        expected = {"ok": 200, "refused": 422, "lost": 409}[wish.answer]
        assert reply.status_code == expected, f"{wish.who} was to get it: {reply.text}"
        if wish.and_then:
            self._release(reply.json()["mutation"]["id"], wish)
        return {**reply.json(), "wish": wish}

    def happen(self, event: str | Wish, first: Any) -> None:
        """Let happen what a line of `meanwhile` says."""
        if isinstance(event, Wish):
            self._granted(event)
        elif hours := re.fullmatch(r"([0-9.]+) hours? pass(?:es)?", event):
            self.clock.ahead += timedelta(hours=float(hours[1]))
        elif alert := re.fullmatch(r"alert (\S+) closes", event):
            self.alert(alert[1], "resolved")
        elif event == "first releases it":
            self._release(first["mutation"]["id"], first["wish"])
        elif event == "first is merged into code":
            record = self.gate.ledger.record_reconciliation
            self.gate.run(record(first["mutation"]["id"], at=self.clock.now(), body=written_back({"merged": True})))
        elif settled := re.fullmatch(r"a human finds out that first was (applied|failed)", event):
            path = f"/v1/mutations/{first['mutation']['id']}/settle"
            self._done(path, {"outcome": settled[1], "reason": "I looked."})
        else:
            pytest.fail(f"README.md does not know the event {event!r}")

    def claims(self, first: Any) -> list[Claim]:
        """The claims that the first wish took and that stand."""
        if not first:
            return []
        now = self.clock.now()
        held = self.gate.run(self.gate.ledger.claims(open_only=False))
        mine = [claim for claim in held if claim.mutation_id == first["mutation"]["id"] and claim.ended_at is None]
        return [claim for claim in mine if claim.unsettled or claim.until is None or claim.until > now]

    def alert(self, name: str, status: str) -> None:
        """Tell the gateway about an alert."""
        at = self.clock.now().isoformat()
        ends = at if status == "resolved" else "0001-01-01T00:00:00Z"
        one = {
            "status": status,
            "labels": {"alertname": name},
            "annotations": {},
            "fingerprint": name,
            "generatorURL": "",
        }
        body = {"version": "4", "groupKey": "{}", "status": status, "alerts": [{**one, "startsAt": at, "endsAt": ends}]}
        reply = self.client.post("/v1/signals/alerts", json=body, headers={"Authorization": f"Bearer {SECRET}"})
        assert reply.status_code == 200, reply.text

    def _release(self, mutation: str, wish: Wish) -> None:
        reply = self.client.post(f"/v1/mutations/{mutation}/release", headers=self.gate.bearer(self.actor(wish)))
        assert reply.status_code == 200, reply.text

    def _answered(self, case: Case, held: httpx.Response) -> httpx.Response:
        """A human answers what is held, and the actor asks again; the reply."""
        assert held.status_code == 202, f"a human can only answer what is held: {held.text}"
        verb, body = ("approve", {}) if case.human == "approves" else ("reject", {"reason": "Not today."})
        self._done(f"/v1/mutations/{held.json()['mutation']['id']}/{verb}", body)
        return self.ask(case.second)

    def _done(self, path: str, body: Any) -> None:
        if "approver" not in self.gate.keys:
            self.gate.issue("approver", kind=ActorKind.HUMAN, lasts=timedelta(days=3650), roles=("approver",))
        reply = self.client.post(path, json=body, headers=self.gate.bearer("approver"))
        assert reply.status_code == 200, reply.text


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How the second wish fared."""

    asked: Any
    """The reply when it was asked for."""
    final: Any
    """The reply after a human answered; else the same."""
    sent: int
    standing: Sequence[Claim]
    """The claims of the first wish, before the second was asked for."""
    left: Sequence[Claim]
    """Those of them that are open afterwards."""
    gate: Gate

    @property
    def winner(self) -> str:
        """Whose value holds now."""
        match self.final["decision"]["verdict"]:
            case "allow":
                return "both" if self.left else "second"
            case "hold":
                return "human"
            case _:
                return "first" if self.standing else "nobody"

    def check(self, case: Case) -> None:
        """The case was decided as it says, and the record of the decision says the same."""
        assert self.winner == case.winner, f"{case.why}\nBut: {self.final}"
        decision = self._decision(self.asked)
        against = [each for each in decision["findings"] if each["verdict"] != "allow"]
        assert tuple(sorted({each["rule"] for each in against})) == tuple(sorted(case.rules)), against
        assert decision["verdict"] == self.asked["decision"]["verdict"]
        assert self.sent == (self.final["decision"]["verdict"] == "allow")
        ended = {claim.id for claim in self.standing} - {claim.id for claim in self.left}
        assert ended <= set(self._decision(self.final)["supersedes"]), "what ended was superseded"
        self._check_text(case)

    def _check_text(self, case: Case) -> None:
        text = self.asked.get("detail", "")
        for wanted in case.told:
            assert wanted in text
        for hidden in case.not_told:
            assert hidden not in text

    def _decision(self, reply: Any) -> Any:
        # A call that attaches to what is held is answered with that mutation's id.
        found = self.gate.records(stage=Stage.DECIDED, mutation_id=reply["mutation"]["id"])
        return found[-1].body.members["decision"]


@pytest.mark.parametrize("decided", decided_cases(), ids=lambda each: each.id)
def test_each_case_is_decided_as_it_says(court: Court, decided: Decided) -> None:
    try:
        court.hear(decided.case).check(decided.case)
    finally:
        court.close(decided.case)


@pytest.mark.parametrize("court", ["opa"], indirect=True)
def test_a_sample_is_decided_so_by_the_server_too(court: Court) -> None:
    for decided in decided_cases()[::EVERY]:
        test_each_case_is_decided_as_it_says(court, decided)


def test_there_are_enough_cases_for_every_outcome_and_rule() -> None:
    cases = [decided.case for decided in decided_cases()]
    assert len(cases) >= LEAST
    assert not [name for name, times in Counter(each.name for each in cases).items() if times > 1]
    assert {each.winner for each in cases} == {"first", "second", "both", "human", "nobody"}
    ruled = {rule for each in cases for rule in each.rules if rule.startswith("SEN-A")}
    known = {rule for rule in read_bundle(shipped() / SHIPPED).manifest.rules if rule.startswith("SEN-A")}
    assert ruled == known


def test_a_case_that_names_what_nobody_knows_is_refused() -> None:
    for wants in ("web.desired_capacity", "delete web = 3", "moon.phase = full"):
        with pytest.raises(ValidationError, match=r"vocabulary\.yaml"):
            Wish.model_validate({"who": "a", "wants": wants, "for": "cost/budget"})
