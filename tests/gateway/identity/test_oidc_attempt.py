"""An attempt is bound to one browser and counts once; what goes to the provider cannot be told from its cookie."""

import base64
import hashlib
import re
from datetime import timedelta

import pytest

from gateway.core.errors import NotAuthenticated, Overloaded
from gateway.identity import oidc_attempt
from gateway.identity.oidc_attempt import LASTS, SignInAttempt, SpentAttempts
from tests.kit.doubles import NOW
from tests.kit.growth import work

KEY = b"k" * 32


def begun(wanted: str = "/console") -> SignInAttempt:
    return SignInAttempt.begun(KEY, NOW, wanted)


@pytest.mark.parametrize("wanted", ["/console", "/console/feed?actor=a:b;c,d.e=\"f'&x=%20"])
def test_any_gateway_with_the_key_completes_it(wanted: str) -> None:
    made = begun(wanted)
    found = SignInAttempt.read(KEY, made.text)
    assert found == made
    assert (found.state, found.nonce, found.verifier) == (made.state, made.nonce, made.verifier)
    assert found.until == NOW + LASTS
    assert re.fullmatch(r"[A-Za-z0-9:_=-]+", made.text), "a cookie may hold nothing else, and no dot"


def test_what_the_provider_sees_follows_from_the_key_alone() -> None:
    made, other = begun(), begun()
    seen = (made.state, made.nonce, made.verifier, made.challenge)
    assert len({*seen, *(other.state, other.nonce, other.verifier, other.challenge)}) == 8
    stolen = SignInAttempt.read(b"x" * 32, made.text)
    assert stolen is not None
    assert not {stolen.state, stolen.nonce, stolen.verifier} & set(seen)
    assert "kkk" not in repr(made)


def test_the_challenge_is_s256_of_a_verifier_as_rfc_7636_wants_it() -> None:
    made = begun()
    assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", made.verifier)
    digest = hashlib.sha256(made.verifier.encode("ascii")).digest()
    assert made.challenge == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.mark.parametrize("text", ["", "a", "a:b:c", "a:1:é", "a:99999999999999999999:", "a:1:/w==", "a:1:b:c"])
def test_another_text_is_no_attempt(text: str) -> None:
    assert SignInAttempt.read(KEY, text) is None


def test_an_attempt_counts_once() -> None:
    spent, made = SpentAttempts(), begun()
    spent.spend(made, NOW)
    with pytest.raises(NotAuthenticated, match="used already"):
        spent.spend(made, NOW)
    spent.spend(begun(), NOW)


def test_ended_attempts_make_room_and_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_attempt, "_MOST_SPENT", 3)
    spent = SpentAttempts()
    for _ in range(3):
        spent.spend(begun(), NOW)
    with pytest.raises(Overloaded):
        spent.spend(begun(), NOW)
    spent.spend(begun(), NOW + LASTS + timedelta(seconds=1))
    assert len(spent._until) == 1


def test_a_full_list_is_not_searched_again_before_one_of_its_attempts_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(most: int) -> int:
        monkeypatch.setattr(oidc_attempt, "_MOST_SPENT", most)
        spent, more = SpentAttempts(), begun()
        for _ in range(most):
            spent.spend(begun(), NOW)

        def refused() -> None:
            with pytest.raises(Overloaded):
                spent.spend(more, NOW)

        refused()
        return work(refused)

    assert cost(400) <= cost(100) * 1.5
