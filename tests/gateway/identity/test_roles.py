"""Roles of the gateway narrow: pure rules about kind, roles, motive, time and tags, and what the settings refuse."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.errors import Malformed, NotAllowed
from gateway.core.model.approval import (
    DECIDING,
    ApprovalRule,
    drift_objection,
    glass_objection,
    is_approver,
    objection,
    operator_objection,
)
from gateway.core.model.caller import ActorKind, Assumed, Caller
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.settings import Settings
from gateway.core.settings.roles import RoleSettings, WebIdentitySettings
from gateway.identity.roles import Roles, SessionRequest, assumed_key, matches, motive_of_tags, own_key

WISH = SessionRequest(role="r", name="run-1")
BUDGET = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
CALLER = Caller(
    actor="ana", kind=ActorKind.HUMAN, key_id="SNTLA", roles=("approver", "stack/shop"), on_behalf_of="boss"
)


@pytest.mark.parametrize("of", ActorKind)
@pytest.mark.parametrize("wanted", [None, *ActorKind])
def test_a_role_keeps_the_kind_or_makes_an_agent(of: ActorKind, wanted: ActorKind | None) -> None:
    role = RoleSettings(name="r", kind=wanted, trusts=("*",))
    if wanted in (None, of, ActorKind.AGENT):
        key, _ = assumed_key(replace(CALLER, kind=of), role, WISH)
        assert (key.kind, key.actor, key.on_behalf_of) == (wanted or of, "ana", "boss")
    else:
        with pytest.raises(NotAllowed, match="keeps the kind"):
            assumed_key(replace(CALLER, kind=of), role, WISH)


@pytest.mark.parametrize("decides", sorted(DECIDING))
def test_no_role_hands_on_what_decides(decides: str) -> None:
    with pytest.raises(ValidationError, match="No role hands on"):
        RoleSettings(name="r", roles=(decides,))


def test_an_assumed_key_decides_nothing_whatever_its_roles() -> None:
    """Also if somebody wrote such a row, or policies let another role approve."""
    borrowed = replace(CALLER, roles=(*DECIDING, "lead"), assumed=Assumed(role="r"))
    rule = ApprovalRule(roles=(("lead",),))
    own = replace(borrowed, assumed=None)
    for refuses in (
        lambda who: objection(who, rule),
        glass_objection,
        lambda who: operator_objection(who, "stop"),
        drift_objection,
    ):
        assert "decides nothing" in refuses(borrowed)
        assert not refuses(own)
    assert is_approver(own)
    assert not is_approver(borrowed)


CEILINGS: dict[str, tuple[dict[str, Any], Motive | None, bool, Motive | None, bool]] = {
    # The role, the motive of the key, whether it is its ceiling, what is stated, whether that may be.
    "nothing anywhere": ({}, None, False, None, True),
    "stated freely": ({}, None, False, BUDGET, True),
    "within the role": ({"intent": "cost", "motivation": "budget", "only": True}, None, False, BUDGET, True),
    "beyond the role": ({"intent": "security", "motivation": "routine", "only": True}, None, False, BUDGET, False),
    "a default is no ceiling": ({"intent": "security", "motivation": "routine"}, None, False, BUDGET, True),
    "within the key": ({}, BUDGET, True, BUDGET, True),
    "beyond the key": ({}, replace(BUDGET, intent=Intent.SECURITY), True, BUDGET, False),
    "the role beyond the key": ({"intent": "security", "motivation": "routine"}, BUDGET, True, None, False),
    "longer than the key": ({}, replace(BUDGET, wanted_for=timedelta(hours=1)), True, BUDGET, False),
    "longer than the role": (
        {"intent": "cost", "motivation": "budget", "wanted_for": "1h", "only": True},
        None,
        False,
        replace(BUDGET, wanted_for=timedelta(hours=2)),
        False,
    ),
}


@pytest.mark.parametrize("case", CEILINGS)
def test_the_motive_is_within_role_and_key(case: str) -> None:
    role, of_key, ceiling, stated, fine = CEILINGS[case]
    caller = replace(CALLER, motive=of_key, motive_only=ceiling)
    settings = RoleSettings(name="r", trusts=("*",), **role)
    if not fine:
        with pytest.raises(NotAllowed, match="No key was made"):
            assumed_key(caller, settings, replace(WISH, motive=stated))
        return
    key, _ = assumed_key(caller, settings, replace(WISH, motive=stated))
    assert key.motive == (stated or settings.motive or of_key)
    assert key.motive_only is (ceiling or settings.only)


@pytest.mark.parametrize(("asked", "fine"), [(None, True), (900, True), (7200, True), (899, False), (7201, False)])
def test_a_session_lasts_as_long_as_the_role_allows(asked: int | None, fine: bool) -> None:
    role = RoleSettings(name="r", trusts=("*",), longest_hours=2)
    wish = replace(WISH, lasts=None if asked is None else timedelta(seconds=asked))
    if fine:
        assert assumed_key(CALLER, role, wish)[1] == timedelta(seconds=asked or 3600)
    else:
        with pytest.raises(Malformed):
            assumed_key(CALLER, role, wish)


def test_a_federated_user_has_no_roles_and_no_other_motive() -> None:
    capped = replace(CALLER, motive=BUDGET, motive_only=True)
    assert own_key(capped, WISH, roles=capped.roles).roles == ("stack/shop",)
    key = own_key(capped, WISH)
    assert (key.roles, key.motive, key.motive_only) == ((), BUDGET, True)
    with pytest.raises(NotAllowed):
        own_key(capped, replace(WISH, motive=replace(BUDGET, intent=Intent.SECURITY)))


@pytest.mark.parametrize(
    ("text", "pattern", "fits"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("ab", "a", False),
        ("", "*", True),
        ("abc", "a*c", True),
        ("ac", "a*c", True),
        ("abcb", "a*c", False),
        ("aa", "a*a", True),
        ("a", "a*a", False),
        ("xaybz", "x*y*z", True),
        ("xyz", "*y*", True),
        ("a.c", "a?c", False),
        ("a[b]c", "a[b]c", True),
        ("abab", "*ab*ab*", True),
        ("ab", "*ab*ab*", False),
    ],
)
def test_a_star_is_any_text(text: str, pattern: str, fits: bool) -> None:
    assert matches(text, (pattern,)) is fits


def test_the_arn_names_the_role_and_its_account() -> None:
    own = RoleSettings(name="own")
    named = RoleSettings(name="named", arn="arn:aws:iam::123456789012:role/teams/x")
    roles = Roles(settings=(own, named), account="123456789012")
    assert roles.of_arn("arn:aws:iam::123456789012:role/own") is own
    assert roles.of_arn("arn:aws:iam::123456789012:role/some/path/own") is own
    assert roles.of_arn("arn:aws:iam::123456789012:role/teams/x") is named
    for wrong in (
        "arn:aws:iam::210987654321:role/own",
        "arn:aws:iam::123456789012:role/x",
        "arn:aws:iam::123456789012:role/named",
    ):
        with pytest.raises(NotAllowed, match="may not be assumed by you"):
            roles.of_arn(wrong)
    for odd in (
        "own",
        "arn:aws:iam::123456789012:user/own",
        "arn:aws:iam::12:role/own",
        "arn:aws:iam::123456789012:role/" + "x" * 9000,
    ):
        with pytest.raises(Malformed):
            roles.of_arn(odd)
    assert Roles(settings=(own,)).of_arn("arn:aws-cn:iam::210987654321:role/own") is own


def test_evidence_is_separated_by_blanks_or_commas() -> None:
    tags = [
        ("sentinel:intent", "cost"),
        ("sentinel:motivation", "budget"),
        ("sentinel:evidence", " A-1, B-2 C-3"),
        ("x", "y"),
    ]
    motive = motive_of_tags(tags)
    assert motive is not None
    assert motive.evidence == ("A-1", "B-2", "C-3")
    assert motive_of_tags([("team", "x")]) is None
    with pytest.raises(Malformed, match="at most 50"):
        motive_of_tags([(f"t{number}", "") for number in range(51)])


@pytest.mark.parametrize(
    "given",
    [
        {"intent": "cost"},
        {"only": True},
        {"wanted_for": "1h"},
        {"intent": "cost", "motivation": "budget", "wanted_for": "soon"},
        {"web_identity": {"issuer": "https://idp.example", "subjects": ["a"]}},
        {"kind": "agent", "web_identity": {"issuer": "https://idp.example", "subjects": ["**"]}},
        {"kind": "agent", "web_identity": {"issuer": "http://idp.example", "subjects": ["a"]}},
        {"kind": "agent", "web_identity": {"issuer": "https://idp.example", "subjects": []}},
        {"arn": "arn:aws:iam::123456789012:user/x"},
        {"roles": ("a b",)},
    ],
)
def test_a_role_that_would_mislead_is_no_role(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RoleSettings(**{"name": "r", **given})


def test_the_settings_refuse_two_roles_of_a_name_and_accounts_without_credentials() -> None:
    with pytest.raises(ValidationError, match="same name or ARN"):
        Settings(roles=(RoleSettings(name="r"), RoleSettings(name="r")))
    with pytest.raises(ValidationError, match="no credentials"):
        Settings(roles=(RoleSettings(name="r", account="123456789012"),))
    own = Settings(account="123456789012", roles=(RoleSettings(name="r", account="123456789012"),))
    assert own.roles[0].account_of_calls == own.account
    assert WebIdentitySettings(issuer="https://idp.example", subjects=("a",)).audiences == ("sts.amazonaws.com",)
