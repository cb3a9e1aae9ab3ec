"""The built-ins of JSON Web Tokens: decoded, and verified with a certificate, a key or a shared secret. Policies sign none."""

import base64
import binascii
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.policy.builtins.encodings import from_octets, octets
from gateway.policy.builtins.evaluation import BuiltinError, Evaluation
from gateway.policy.builtins.operands import members, text
from gateway.policy.rego_values import Term, parse_json

_MOST_NESTED: Final = 4
_HASHES: Final = {"256": "sha256", "384": "sha384", "512": "sha512"}
_ALGORITHMS: Final = frozenset(f"{family}{bits}" for family in ("RS", "PS", "ES", "HS") for bits in _HASHES) | {"EdDSA"}
_NAMES: Final = ("alg", "kid", "typ", "cty")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    signed: bytes
    header: dict[str, Term]
    payload: str
    signature: bytes

    def named(self, name: str) -> str:
        """A member of the header that is a text, or empty."""
        return text(self.header.get(name, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    key: Any
    algorithm: str = ""
    identifier: str = ""


def _section(written: str) -> bytes:
    padded = written if written.endswith("=") else written + "=" * (-len(written) % 4)
    try:
        if not re.fullmatch(r"[A-Za-z0-9_=\r\n-]*", padded):
            raise BuiltinError("a section is not base64url")
        return base64.urlsafe_b64decode(padded)
    except (ValueError, binascii.Error):
        raise BuiltinError("a section is not base64url") from None


def _token(written: str) -> _Token:
    parts = written.split(".")
    if len(parts) != 3:  # noqa: PLR2004  header, payload, signature
        raise BuiltinError("an encoded JWT has three sections")
    header = _object(from_octets(_section(parts[0])))
    if "enc" in header:
        raise BuiltinError("a JWE is not supported")
    return _Token(
        signed=f"{parts[0]}.{parts[1]}".encode(), header=header, payload=parts[1], signature=_section(parts[2])
    )


def _object(written: str) -> dict[str, Term]:
    try:
        found = parse_json(written)
    except ValueError:
        raise BuiltinError("a section is not JSON") from None
    return members(found)


def _decode(value: Term) -> Term:
    written = text(value)
    for _ in range(_MOST_NESTED):
        token = _token(written)
        payload = from_octets(_section(token.payload))
        if token.header.get("cty") != "JWT":
            return [token.header, _object(payload), token.signature.hex()]
        written = payload.strip("\"'")
    raise BuiltinError("too many tokens within each other")


def _keys(evaluation: Evaluation, written: str) -> Sequence[_Key]:
    """The keys of a PEM certificate or public key, or of a JWK or a set of them."""
    from cryptography import x509  # noqa: PLC0415  most policies verify no tokens
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        if "-----BEGIN" in written:
            if written.rstrip().count("-----BEGIN") != 1 or not written.rstrip().endswith("-----"):
                raise BuiltinError("there is text after the PEM block")
            content = written.encode()
            if "BEGIN CERTIFICATE" in written:
                return [_Key(key=x509.load_pem_x509_certificate(content).public_key())]
            return [_Key(key=load_pem_public_key(content))]
    except (ValueError, UnsupportedAlgorithm):
        raise BuiltinError("this is not a certificate or a public key") from None
    document = _object(written)
    listed = document.get("keys", [document])
    if not isinstance(listed, list):
        raise BuiltinError("this is not a set of keys")
    found: list[_Key] = []
    for each in listed:
        evaluation.check_time()
        key = members(each)
        algorithm = text(key.get("alg", ""))
        if algorithm and algorithm not in _ALGORITHMS:
            continue
        found.append(_Key(key=_jwk(key), algorithm=algorithm, identifier=text(key.get("kid", ""))))
    return found


def _jwk(key: Mapping[str, Term]) -> Any:
    from jwt import PyJWK  # noqa: PLC0415
    from jwt.exceptions import PyJWTError  # noqa: PLC0415

    if key.get("kty") == "oct":
        return _section(text(key.get("k", "")))
    bits = {"P-256": "256", "P-384": "384", "P-521": "512"}.get(str(key.get("crv")), "256")
    algorithm = {"RSA": "RS256", "EC": f"ES{bits}", "OKP": "EdDSA"}.get(str(key.get("kty")))
    try:
        loaded = PyJWK(json.loads(json.dumps(key)), algorithm=algorithm).key
    except (PyJWTError, ValueError, TypeError, KeyError):
        raise BuiltinError("this is not a JWK") from None
    return loaded.public_key() if hasattr(loaded, "public_key") else loaded


def _is_signed(key: Any, algorithm: str, signed: bytes, signature: bytes) -> bool:
    """Whether the signature is that of the key. A key of another kind verifies nothing."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils  # noqa: PLC0415

    family, bits = algorithm[:2], algorithm[2:]
    try:
        if algorithm == "EdDSA":
            if not isinstance(key, ed25519.Ed25519PublicKey):
                return False
            key.verify(signature, signed)
            return True
        if bits not in _HASHES:
            return False
        digest: Any = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[bits]
        if family == "HS" and isinstance(key, bytes):
            return hmac.compare_digest(hmac.digest(key, signed, _HASHES[bits]), signature)
        if family == "RS" and isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, signed, padding.PKCS1v15(), digest)
            return True
        if family == "PS" and isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, signed, padding.PSS(padding.MGF1(digest), padding.PSS.AUTO), digest)
            return True
        if family == "ES" and isinstance(key, ec.EllipticCurvePublicKey) and len(signature) > 1:
            half = len(signature) // 2
            pair = int.from_bytes(signature[:half]), int.from_bytes(signature[half:])
            key.verify(utils.encode_dss_signature(*pair), signed, ec.ECDSA(digest))
            return True
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return False


def _verify(algorithm: str) -> Callable[..., Term]:
    def verify(evaluation: Evaluation, value: Term, key: Term) -> Term:
        token = _token(text(value))
        keys = _keys(evaluation, text(key))
        return _is_signed_by_one(evaluation, token, keys, token.named("alg"), algorithm)

    return verify


def _is_signed_by_one(evaluation: Evaluation, token: _Token, keys: Sequence[_Key], stated: str, algorithm: str) -> bool:
    """Whether one of the keys signed the token: that of its `kid` alone if there is one, else any whose algorithm is not another."""
    identifier = token.named("kid")
    named = [each for each in keys if each.identifier == identifier] if identifier else []
    if named:
        return _is_signed(named[0].key, algorithm, token.signed, token.signature)
    for each in keys:
        evaluation.check_time()
        if each.algorithm in ("", stated) and _is_signed(each.key, algorithm, token.signed, token.signature):
            return True
    return False


def _verify_secret(bits: str) -> Callable[..., Term]:
    def verify(value: Term, secret: Term) -> Term:
        token = _token(text(value))
        return hmac.compare_digest(hmac.digest(octets(secret), token.signed, _HASHES[bits]), token.signature)

    return verify


def _decode_verify(evaluation: Evaluation, value: Term, constraints: Term) -> Term:
    """`[true, header, payload]` of a token that satisfies all constraints, else `[false, {}, {}]`. The time is the decision's."""
    wanted = members(constraints)
    if unknown := set(wanted) - {"cert", "secret", "alg", "iss", "aud", "time"}:
        raise BuiltinError(f"there is no constraint {min(unknown)}")
    texts = {name: text(wanted.get(name, "")) for name in ("cert", "secret", "alg", "iss", "aud")}
    keys = _keys(evaluation, texts["cert"]) if "cert" in wanted else None
    if (keys is None) == (not texts["secret"]):
        raise BuiltinError("exactly one of cert and secret is needed")
    trusted = [_Key(key=octets(texts["secret"]))] if keys is None else keys
    now = _time(wanted["time"]) if "time" in wanted else evaluation.clock()
    token = _verified(evaluation, text(value), trusted, texts["alg"])
    refused: Term = [False, {}, {}]
    if token is None:
        return refused
    payload = _object(from_octets(_section(token.payload)))
    if texts["iss"] and payload.get("iss") != texts["iss"]:
        return refused
    if not _has_audience(payload, texts["aud"]) or not _is_current(payload, now / 10**9):
        return refused
    return [True, token.header, payload]


def _time(value: Term) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise BuiltinError("a time is a number that is not negative")
    return value


def _verified(evaluation: Evaluation, written: str, keys: Sequence[_Key], algorithm: str) -> _Token | None:
    """The innermost token, of which every one around it is signed by one of the keys."""
    for _ in range(_MOST_NESTED):
        token = _token(written)
        for name in _NAMES:
            token.named(name)
        stated = token.named("alg")
        if not stated or _has_unknown_critical(token.header) or (algorithm and algorithm != stated):
            return None
        if stated not in _ALGORITHMS or not _is_signed_by_one(evaluation, token, keys, stated, stated):
            return None
        if token.named("cty").lower() != "jwt":
            return token
        written = from_octets(_section(token.payload))
    raise BuiltinError("too many tokens within each other")


def _has_unknown_critical(header: Mapping[str, Term]) -> bool:
    if "crit" not in header:
        return False
    listed = header["crit"]
    if not isinstance(listed, list) or not listed:
        raise BuiltinError("crit is a list that is not empty")
    return any(name in listed for name in header if name not in (*_NAMES, "crit"))


def _has_audience(payload: Mapping[str, Term], wanted: str) -> bool:
    match payload.get("aud"):
        case None if "aud" not in payload:
            return not wanted
        case str() as one:
            return one == wanted
        case list() as several:
            return wanted in several
        case _:
            return False


def _is_current(payload: Mapping[str, Term], now: float) -> bool:
    for name in ("exp", "nbf"):
        moment = payload.get(name, 0)
        if isinstance(moment, bool) or not isinstance(moment, int | float):
            raise BuiltinError(f"{name} must be a number")
    return not ("exp" in payload and now >= payload["exp"]) and not ("nbf" in payload and now < payload["nbf"])  # type: ignore[operator]


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    "io.jwt.decode": _decode,
    **{f"io.jwt.verify_hs{bits}": _verify_secret(bits) for bits in _HASHES},
}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {
    "io.jwt.decode_verify": _decode_verify,
    "io.jwt.verify_eddsa": _verify("EdDSA"),
    **{
        f"io.jwt.verify_{family}{bits}": _verify(f"{family.upper()}{bits}")
        for family in ("rs", "ps", "es")
        for bits in _HASHES
    },
}
