"""People sign in as whom the identity provider names, in the browser that began, once, and as nobody else."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.kit.console import FROM_HERE, Person, text_of, visitor
from tests.kit.gate import Gate
from tests.kit.oidc import SECRET, OidcStub, gate_with_provider

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BEGIN = "/console/sign-in/oidc"
ANA = {"sub": "u-1", "email": "human", "email_verified": True}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, OidcStub]]:
    """A gateway and its provider."""
    with gate_with_provider(tmp_path_factory.mktemp("oidc"), oidc_client_secret=SECRET) as running:
        running[1].secret = SECRET
        yield running


@pytest.fixture
def gate(both: tuple[Gate, OidcStub]) -> Gate:
    """The gateway."""
    return both[0]


@pytest.fixture
def provider(both: tuple[Gate, OidcStub]) -> OidcStub:
    """The provider, at which `human` is signed in."""
    stub = both[1]
    stub.person, stub.claims, stub.token, stub.iss = dict(ANA), {}, "", ""
    return stub


def begin(person: Person, query: str = "") -> str:
    """The address of the provider that the browser is sent to."""
    reply = person.get(BEGIN + query)
    assert reply.status_code == 303, reply.text
    return reply.headers["location"]


def back(gate: Gate, provider: OidcStub, person: Person, query: str = "") -> str:
    """The path that the browser is sent back to, after the person signed in at the provider."""
    return provider.consent(begin(person, query)).removeprefix(gate.url)


def refused(gate: Gate, person: Person, path: str, sentence: str, status: int = 401) -> None:
    """The answer says why, signs nobody in, and is recorded without what the address holds."""
    before = len(gate.records(stage=Stage.TURNED_AWAY))
    sessions = len(gate.records(stage=Stage.KEY_ISSUED))
    reply = person.get(path, headers={"sec-fetch-site": "cross-site"})
    assert reply.status_code == status
    assert sentence in text_of(reply)
    assert "set-cookie" not in reply.headers
    assert person.get("/console/approvals").status_code == 303
    newest = gate.records(stage=Stage.TURNED_AWAY)
    assert len(newest) == before + 1
    assert newest[-1].body.members["about"] == f"GET {BEGIN}/callback"
    assert "code=" not in str((newest[-1].actor, newest[-1].stack, newest[-1].body.members))
    assert len(gate.records(stage=Stage.KEY_ISSUED)) == sessions


def test_a_person_signs_in_with_the_rights_of_their_own_key_and_out_again(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    page = person.get("/console/sign-in?next=%2Fconsole%2Fapprovals%3Fstate%3Dall")
    assert f"Sign in with 127.0.0.1:{provider.port}" in page.text
    path = back(gate, provider, person, "?next=/console/approvals?state%3Dall")
    reply = person.get(path, headers={"sec-fetch-site": "cross-site"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/console/approvals?state=all")
    assert "human (human: approver)" in person.get("/console/approvals").text
    made = [
        record for record in gate.records(stage=Stage.KEY_ISSUED, actor="human") if record.body.members["session_of"]
    ]
    assert made[-1].body.members["session_of"] == gate.keys["human"].id
    assert "sentinel-sign-in" not in person.cookies
    assert person.get(BEGIN).headers["location"] == "/console"
    assert person.post("/console/sign-out").headers["location"] == "/console/sign-in?done=signed-out"
    assert person.get("/console/approvals").status_code == 303


def test_the_provider_is_asked_with_pkce_state_nonce_and_the_address_of_the_settings(
    gate: Gate, provider: OidcStub
) -> None:
    person = visitor(gate)
    person.headers |= {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https"}
    first, second = begin(person), begin(visitor(gate))
    asked = {name: values[0] for name, values in parse_qs(urlsplit(first).query).items()}
    assert asked["redirect_uri"] == f"{gate.url}{BEGIN}/callback"
    assert asked["code_challenge_method"] == "S256"
    assert asked["scope"] == "openid email profile"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    again = {name: values[0] for name, values in parse_qs(urlsplit(second).query).items()}
    assert not {asked[name] for name in ("state", "nonce", "code_challenge")} & set(again.values())


def test_the_host_of_the_request_is_in_no_address(gate: Gate) -> None:
    reply = visitor(gate).get(BEGIN, headers={"host": "evil.example"})
    assert "evil.example" not in str(reply.headers)
    assert reply.status_code == 303


def test_the_cookie_of_an_attempt_holds_no_secret_and_is_of_this_browser(gate: Gate) -> None:
    person = visitor(gate)
    reply = person.get(BEGIN)
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("sentinel-sign-in=")
    assert cookie.endswith("; Path=/console; Max-Age=600; HttpOnly; SameSite=Lax")
    query = parse_qs(urlsplit(reply.headers["location"]).query)
    assert not [name for name in ("state", "nonce", "code_challenge") if query[name][0] in cookie]


def test_an_answer_counts_only_once(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    cookies = dict(person.cookies)
    assert person.get(path).status_code == 303
    thief = visitor(gate)
    thief.cookies.update(cookies)
    asked = len(provider.asked)
    refused(gate, thief, path, "used already")
    assert len(provider.asked) == asked


def test_nobody_is_signed_in_by_the_answer_to_another_browser(gate: Gate, provider: OidcStub) -> None:
    path = back(gate, provider, visitor(gate))
    refused(gate, visitor(gate), path, "began no sign-in")
    victim = visitor(gate)
    begin(victim)
    refused(gate, victim, path, "another sign-in")


def test_an_answer_to_the_browser_itself_still_counts_after_a_forged_one(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    refused(gate, person, back(gate, provider, visitor(gate)), "another sign-in")
    assert person.get(path).headers["location"] == "/console"


def test_a_cookie_that_was_not_made_here_begins_nothing(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    value = person.cookies["sentinel-sign-in"]
    name, _, rest = value.partition(":")
    until, _, tail = rest.partition(":")
    for changed in (f"{name}:{int(until) + 9}:{tail}", f"x{value}", value[:-2], "", "a:b:c.d"):
        person.cookies.clear()
        person.cookies.set("sentinel-sign-in", changed)
        refused(gate, person, path, "began no sign-in")


def test_the_cookie_of_a_session_is_no_attempt_and_the_other_way_round(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    person.cookies.set("sentinel-console", person.cookies["sentinel-sign-in"])
    assert person.get("/console/approvals").status_code == 303
    person.cookies.clear()
    person.cookies.set("sentinel-sign-in", visitor(gate, "human").cookies["sentinel-console"])
    refused(gate, person, path, "began no sign-in")


def test_an_attempt_ends_after_ten_minutes(gate: Gate, provider: OidcStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.identity.oidc.ATTEMPT_LASTS", timedelta(seconds=-1))
    person = visitor(gate)
    refused(gate, person, back(gate, provider, person), "no sign-in within the last 10 minutes")


def test_while_the_provider_is_away_the_page_says_so_and_keys_still_open_it(tmp_path: Path) -> None:
    with gate_with_provider(tmp_path) as (gate, stub):
        stub.answers["/.well-known/openid-configuration"] = web.Response(status=500, text="{}")
        person = visitor(gate)
        reply = person.get(f"{BEGIN}?next=/console/claims")
        assert (reply.status_code, "set-cookie" in reply.headers) == (503, False)
        assert "answered 500 when it was asked for its document" in text_of(reply)
        assert 'name="next" value="/console/claims"' in reply.text
        assert visitor(gate, "human").get("/console/claims").status_code == 200
        assert person.get(BEGIN).status_code == 503
        assert stub.asked == ["/.well-known/openid-configuration"]


def test_a_page_of_another_site_begins_nothing(gate: Gate) -> None:
    for site in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        reply = visitor(gate).get(f"{BEGIN}?next=/console/claims", headers=site)
        assert (reply.status_code, "set-cookie" in reply.headers) == (403, False)
        assert "next=/console/claims" in reply.text
    assert visitor(gate).get(BEGIN, headers={"sec-fetch-site": "none"}).status_code == 303
    assert Person(gate.url, headers={}).get(BEGIN).status_code == 403


@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/console/sign-in/oidc", "/v1/records"])
def test_a_sign_in_leads_only_into_the_console(gate: Gate, provider: OidcStub, wanted: str) -> None:
    person = visitor(gate)
    path = back(gate, provider, person, f"?next={wanted}")
    assert person.get(path).headers["location"] == "/console"


def test_a_cancelled_sign_in_says_so_without_the_provider_s_text(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    cancelled = begin(person).replace(f"{provider.issuer}/authorize?", f"{provider.issuer}/cancel?")
    path = Person(provider.issuer).get(cancelled.removeprefix(provider.issuer)).headers["location"]
    refused(gate, person, path.removeprefix(gate.url), "cancelled, or the identity provider refused it (access_denied)")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("error=<script>alert(1)</script>&iss={issuer}", "refused it. Nobody"),
        ("iss={issuer}", "no code"),
        ("code=&iss={issuer}", "no code"),
        ("code=forged&iss={issuer}", "did not accept the code"),
        ("code=x&iss=https://other.example", "is from the identity provider of this console"),
        ("code=x", "is from the identity provider of this console"),
        ("error=access_denied&iss=https://other.example", "is from the identity provider of this console"),
    ],
)
def test_an_answer_that_is_not_right_signs_nobody_in(
    gate: Gate, provider: OidcStub, answer: str, sentence: str
) -> None:
    person = visitor(gate)
    state = parse_qs(urlsplit(begin(person)).query)["state"][0]
    path = f"{BEGIN}/callback?{answer.format(issuer=provider.issuer)}&state={state}"
    refused(gate, person, path, sentence)
    assert "<script>alert" not in person.get(path).text


def test_a_member_that_comes_twice_is_refused(gate: Gate, provider: OidcStub) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    refused(gate, person, f"{path}&code=another", "a member twice", 400)
    refused(gate, person, f"{path}&{'&'.join(f'm{at}=x' for at in range(30))}", "cannot be read", 400)
    refused(gate, person, f"{path}&more=%ff", "cannot be read", 400)
    assert person.get(path).status_code == 303


@pytest.mark.parametrize("name", ["nobody", "agent", "HUMAN", "human ", "human,ana", "<b>x</b>"])
def test_a_person_without_a_human_s_key_is_told_and_recorded(gate: Gate, provider: OidcStub, name: str) -> None:
    provider.person["email"] = name
    person = visitor(gate)
    refused(gate, person, back(gate, provider, person), f"The identity provider names {name!r}")
    assert name in str(gate.records(stage=Stage.TURNED_AWAY)[-1].body.members["reason"])


def test_whose_key_has_ended_is_not_signed_in(gate: Gate, provider: OidcStub) -> None:
    actor = gate.issue("leaver", kind=ActorKind.HUMAN)
    provider.person["email"] = actor
    person = visitor(gate)
    assert person.get(back(gate, provider, person)).status_code == 303
    gate.revoke(actor)
    assert any(person.get("/console/approvals").status_code == 303 for _ in range(5_000))
    refused(gate, person, back(gate, provider, person), "no human of that name has a key")


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_names_nobody(gate: Gate, provider: OidcStub, verified: object) -> None:
    provider.person["email_verified"] = verified
    person = visitor(gate)
    refused(gate, person, back(gate, provider, person), "email_verified")


def test_a_token_of_another_sign_in_or_audience_is_refused(gate: Gate, provider: OidcStub) -> None:
    for claims, sentence in (
        ({"nonce": "another"}, "made for another sign-in"),
        ({"aud": "another-client"}, "made for another client"),
        ({"iss": "https://other.example"}, "another issuer made it"),
        ({"exp": 1}, "it has expired"),
    ):
        provider.claims = claims
        person = visitor(gate)
        refused(gate, person, back(gate, provider, person), sentence)


def test_neither_the_secret_nor_a_code_or_token_is_kept_or_logged(
    gate: Gate, provider: OidcStub, capfd: pytest.CaptureFixture[str]
) -> None:
    person = visitor(gate)
    path = back(gate, provider, person)
    code, state = (parse_qs(urlsplit(path).query)[name][0] for name in ("code", "state"))
    assert person.get(path).status_code == 303
    assert person.get(path).status_code == 401
    shown = capfd.readouterr()
    stored = [each.read_bytes() for each in (gate.directory / "data").rglob("*") if each.is_file()]
    for secret in (SECRET, code, state, "access-1", "eyJ"):
        assert secret not in shown.out + shown.err
        assert not [True for content in stored if secret.encode() in content], secret
    assert "console_sign_in" in shown.out + shown.err


def test_keys_still_open_the_console(gate: Gate) -> None:
    assert visitor(gate, "human").get("/console/approvals").status_code == 200


def test_who_is_signed_in_goes_on_at_once(gate: Gate) -> None:
    reply = visitor(gate, "human").get(f"{BEGIN}?next=/console/claims")
    assert (reply.status_code, reply.headers["location"]) == (303, "/console/claims")


def test_a_gateway_without_a_provider_has_no_such_pages(observing: Gate) -> None:
    person = Person(observing.url, headers=dict(FROM_HERE))
    assert person.get(BEGIN).status_code == 404
    assert person.get(f"{BEGIN}/callback?code=x").status_code == 404
    assert "Sign in with 127" not in person.get("/console/sign-in").text
