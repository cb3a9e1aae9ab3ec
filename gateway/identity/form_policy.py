"""Authentication of a browser form (S3 POST): the policy in it is signed, and every field must be allowed by the policy.

Source: "Authenticating requests in browser-based uploads using POST", S3 API Reference
(https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html and sigv4-HTTPPOSTConstructPolicy.html).
"""

import base64
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.core.errors import NotAuthenticated
from gateway.core.json_reader import read_json
from gateway.core.model.caller import Caller
from gateway.core.ports import Clock, KeyRing
from gateway.identity import canonical
from gateway.identity.caller import active
from gateway.identity.sigv4 import DUMMY_SECRET

SIGNING_FIELDS = ("policy", "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature")
"""Fields that every form needs, in lower case as all names here."""

_CREDENTIAL = re.compile(r"([\w-]{1,128})/(\d{8})/([a-z0-9-]{1,64})/s3/aws4_request", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_UNCONDITIONAL = frozenset({"policy", "x-amz-signature", "file"})
_IGNORED = "x-ignore-"
_RANGE = "content-length-range"
_PARTS = 3
"""Items of a condition that is a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormProof:
    """What the signature of a form states."""

    access_key_id: str
    date: str
    region: str
    signature: str


def form_proof(fields: Mapping[str, str]) -> FormProof:
    """The signature in a form, not verified. Raises `errors.NotAuthenticated` if there is none of Signature Version 4."""
    if "awsaccesskeyid" in fields:
        raise NotAuthenticated(
            "This form is signed with Signature Version 2; make it with Config(signature_version='s3v4').",
            aws_code="InvalidRequest",
        )
    if missing := [name for name in SIGNING_FIELDS if name not in fields]:
        raise NotAuthenticated(f"The form needs the field {missing[0]}.", aws_code="InvalidArgument")
    found = _CREDENTIAL.fullmatch(fields["x-amz-credential"])
    signature = fields["x-amz-signature"]
    if (
        found is None
        or fields["x-amz-algorithm"] != canonical.ALGORITHM
        or not fields["x-amz-date"].startswith(found[2])
        or not _SIGNATURE.fullmatch(signature)
    ):
        raise NotAuthenticated(
            f"The form must be signed with {canonical.ALGORITHM} for s3, its credential and date those of one day.",
            aws_code="InvalidArgument",
        )
    return FormProof(access_key_id=found[1], date=found[2], region=found[3], signature=signature)


async def authenticate_form(keys: KeyRing, clock: Clock, fields: Mapping[str, str], bucket: str) -> Caller:
    """The owner of the key that signed the form's policy, if the policy holds and allows every field.

    An unknown key is handled as a wrong secret. Raises `errors.NotAuthenticated`.
    """
    proof = form_proof(fields)
    key = await keys.find(proof.access_key_id)
    secret = key.secret if key is not None else DUMMY_SECRET
    signing = canonical.signing_key(secret, proof.date, proof.region, "s3")
    expected = hmac.digest(signing, fields["policy"].encode("utf-8", "replace"), "sha256").hex()
    try:
        _compare(expected, proof.signature)
        now = clock.now()
        caller = active(key, now).caller
        _check_policy(_policy(fields["policy"]), fields, bucket, now)
    except NotAuthenticated as error:
        error.key_id = proof.access_key_id
        raise
    return caller


def _compare(expected: str, given: str) -> None:
    if not hmac.compare_digest(expected, given):
        raise NotAuthenticated(
            "The signature of the form's policy does not match. Check that this gateway issued the access key id.",
            aws_code="SignatureDoesNotMatch",
        )


def allowed_length(fields: Mapping[str, str]) -> tuple[int, int | None]:
    """The shortest and longest file that the policy allows; None: no limit. Call it once the policy is authenticated."""
    for condition in _policy(fields["policy"])["conditions"]:
        if isinstance(condition, list) and len(condition) == _PARTS and str(condition[0]).lower() == _RANGE:
            return int(condition[1]), int(condition[2])
    return 0, None


def _policy(text: str) -> dict[str, Any]:
    try:
        policy = read_json(base64.b64decode(text, validate=True))
    except ValueError:
        policy = None
    if not isinstance(policy, dict) or not isinstance(policy.get("conditions"), list):
        raise NotAuthenticated(
            "The form's policy is not base64 of a JSON object with conditions. Nothing was sent.",
            aws_code="InvalidPolicyDocument",
        )
    return policy


def _check_policy(policy: Mapping[str, Any], fields: Mapping[str, str], bucket: str, now: datetime) -> None:
    if now >= _expiration(policy.get("expiration")):
        raise _refused("The form's policy has expired.")
    given = {**fields, "bucket": bucket}
    named: set[str] = set()
    for condition in policy["conditions"]:
        named.update(_check_condition(condition, given))
    for name in given:
        if name not in named | _UNCONDITIONAL and not name.startswith(_IGNORED):
            raise _refused(f"The form has the field {name[:60]}, which its policy does not name.")


def _expiration(stated: object) -> datetime:
    try:
        at = datetime.fromisoformat(str(stated))
    except ValueError:
        raise _refused("The form's policy needs an expiration in ISO 8601.") from None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _check_condition(condition: object, given: Mapping[str, str]) -> set[str]:
    """The fields that a condition names, if the form meets it."""
    match condition:
        case dict():
            for name, value in condition.items():
                _require(given.get(str(name).lower()) == _text(value), condition)
            return {str(name).lower() for name in condition}
        case [str() as operator, low, high] if operator.lower() == _RANGE:
            _require(
                str(low).isascii() and str(low).isdigit() and str(high).isascii() and str(high).isdigit(), condition
            )
            return set()
        case [str() as operator, str() as field, str() | int() as stated] if field.startswith("$"):
            name, value = field[1:].lower(), str(_text(stated))
            found = given.get(name, "")
            exact = operator.lower() == "eq"
            # A list of content types fits only if each of them does.
            parts = [part.strip() for part in found.split(",")] if name == "content-type" else [found]
            begins = operator.lower() == "starts-with" and all(part.startswith(value) for part in parts)
            _require(found == value if exact else begins, condition)
            return {name}
        case _:
            raise _refused("The form's policy has a condition of an unknown form.")


def _text(value: object) -> object:
    """The value of a condition as the form has it: fields are texts, and programs also write numbers, as the status of the answer."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _require(met: bool, condition: object) -> None:
    if not met:
        raise _refused(f"The form does not meet a condition of its policy: {str(condition)[:200]}.")


def _refused(reason: str) -> NotAuthenticated:
    return NotAuthenticated(f"{reason} Nothing was sent.", aws_code="AccessDenied")
