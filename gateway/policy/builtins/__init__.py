"""The built-in functions that OPA's Wasm expects from its host, with the same results as in OPA, and those that policies may not use."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gateway.policy.builtins import documents, encodings, networks, numbers_and_versions, schemas, texts, times, tokens
from gateway.policy.builtins.evaluation import Evaluation
from gateway.policy.builtins.sprintf import sprintf
from gateway.policy.rego_values import Term

Builtin: TypeAlias = Callable[..., Term]
"""Takes the evaluation and the operands."""


def _unmeasured(function: Callable[..., Term]) -> Builtin:
    """A function whose work is linear in its operands, whose length is limited."""

    def call(evaluation: Evaluation, *operands: Term) -> Term:
        evaluation.step()
        return function(*operands)

    return call


_PLAIN: Final = (
    documents.PLAIN,
    encodings.PLAIN,
    networks.PLAIN,
    numbers_and_versions.PLAIN,
    texts.PLAIN,
    times.PLAIN,
    tokens.PLAIN,
)
_MEASURED: Final = (
    documents.MEASURED, networks.MEASURED, numbers_and_versions.MEASURED, schemas.MEASURED, texts.MEASURED, times.MEASURED,
    tokens.MEASURED,
)  # fmt: skip
SUPPLIED: Final[Mapping[str, Builtin]] = {
    "sprintf": _unmeasured(sprintf),
    "trace": _unmeasured(lambda _note: True),
    **{name: _unmeasured(function) for family in _PLAIN for name, function in family.items()},
    **{name: function for family in _MEASURED for name, function in family.items()},
}
"""Every built-in that a policy may use besides those of OPA's Wasm."""

_NOT_YET: Final = 'it is not supplied here; an OPA server (`engine = "opa"`) has it'
_NO_PARSER: Final = "the gateway has no parser for it; give the policies what they need as data"
REFUSED: Final[Mapping[str, str]] = {
    "http.send": "a decision depends only on what was recorded with it, so policies ask nobody; give them data, or a signal",
    "net.lookup_ip_addr": "a decision depends only on what was recorded with it, so policies ask nobody",
    "opa.runtime": "it would show policies the environment of the gateway, which holds secrets",
    "providers.aws.sign_req": "it signs requests for http.send, and policies send none",
    "io.jwt.encode_sign": "policies decide; they issue no tokens",
    "io.jwt.encode_sign_raw": "policies decide; they issue no tokens",
    "rego.parse_module": _NO_PARSER,
    "regex.globs_match": _NOT_YET,
    "strings.render_template": _NOT_YET,
    "crypto.parse_private_keys": "no private key belongs into a policy",
    **{
        f"crypto.x509.{name}": _NOT_YET
        for name in (
            "parse_and_verify_certificates",
            "parse_and_verify_certificates_with_options",
            "parse_certificate_request",
            "parse_certificates",
            "parse_keypair",
            "parse_rsa_private_key",
        )
    },
    **{
        f"graphql.{name}": _NO_PARSER
        for name in ("is_valid", "parse", "parse_and_verify", "parse_query", "parse_schema", "schema_is_valid")
    },
}
"""Built-ins that no policy may use, with the reason."""


def unsupplied(required: Mapping[str, int]) -> str:
    """Why a module with these imports cannot run, as a sentence for each of them; empty if it can."""
    return " ".join(
        f"The policies use {name}, which the embedded engine does not supply: {REFUSED.get(name, 'it is not known here')}."
        for name in sorted(set(required) - set(SUPPLIED))
    )
