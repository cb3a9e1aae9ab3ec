"""Tokens are verified with the keys and the time that the policy gives; what OPA's cases do not play."""

import json
import math
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from gateway.policy.builtins import SUPPLIED
from gateway.policy.builtins.evaluation import BuiltinError, Evaluation

SECOND = 10**9
NOW = 1_700_000_000


def asked(name: str, *operands: Any, now: int = NOW) -> Any:
    return SUPPLIED[name](Evaluation(document=b"{}", now_ns=now * SECOND, deadline=math.inf), *operands)


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")  # OPA has the name that RFC 9864 replaces
@pytest.mark.parametrize(
    ("algorithm", "key"),
    [
        ("RS256", RSAKey.generate_key(2048)),
        ("PS384", RSAKey.generate_key(2048)),
        ("ES256", ECKey.generate_key("P-256")),
        ("ES512", ECKey.generate_key("P-521")),
        ("EdDSA", OKPKey.generate_key("Ed25519")),
    ],
)
def test_a_token_is_verified_with_its_key_and_with_no_other(algorithm: str, key: Any) -> None:
    name = f"io.jwt.verify_{algorithm.lower()}"
    token = jwt.encode({"alg": algorithm}, {"sub": "a"}, key, algorithms=[algorithm])
    own, other = json.dumps(key.as_dict(private=False)), json.dumps(type(key).generate_key().as_dict(private=False))
    assert asked(name, token, own) is True
    assert asked(name, token, key.as_pem(private=False).decode()) is True
    assert asked(name, token, other) is False
    assert asked(name, token[:-6] + "AAAAAA", own) is False
    assert asked("io.jwt.decode_verify", token, {"cert": own}) == [True, {"alg": algorithm, "typ": "JWT"}, {"sub": "a"}]


def test_the_time_of_a_token_is_compared_with_that_of_the_decision() -> None:
    key = OctKey.import_key("secret-of-thirty-two-bytes-and-more")
    token = jwt.encode({"alg": "HS256"}, {"exp": NOW + 5, "nbf": NOW - 5}, key)
    given = {"secret": "secret-of-thirty-two-bytes-and-more"}
    assert asked("io.jwt.decode_verify", token, given)[0] is True
    assert asked("io.jwt.decode_verify", token, given, now=NOW + 5)[0] is False
    assert asked("io.jwt.decode_verify", token, given, now=NOW - 6)[0] is False
    assert asked("io.jwt.decode_verify", token, {**given, "time": (NOW + 9) * SECOND})[0] is False


def test_no_algorithm_is_none_and_a_public_key_is_no_secret() -> None:
    key = RSAKey.generate_key(2048)
    pem = key.as_pem(private=False).decode()
    forged = jwt.encode({"alg": "HS256"}, {"sub": "a"}, OctKey.import_key(pem.encode().replace(b"-", b"_")))
    assert asked("io.jwt.decode_verify", forged, {"cert": pem})[0] is False
    assert asked("io.jwt.decode_verify", "eyJhbGciOiJub25lIn0.e30.", {"cert": pem})[0] is False
    for constraints in ({}, {"cert": pem, "secret": "x"}, {"cert": pem, "colour": "red"}, {"cert": "no key"}):
        with pytest.raises(BuiltinError):
            asked("io.jwt.decode_verify", forged, constraints)
