"""The operations of Certificate Manager and of private certificate authorities that the provider's trace does not show: import and revocation."""

from collections.abc import Mapping

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.operation import CREATE, DELETE, SET, Operation, Translate, controls
from gateway.effects.tags import set_tags
from gateway.effects.values import NotUnderstood

_CERTIFICATE = "aws_acm_certificate"
_ISSUED = "aws_acmpca_certificate"


def _pem(attribute: str) -> Translate:
    """The text of a parameter that is bytes."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        try:
            return {attribute: value.decode() if isinstance(value, bytes) else str(value)}
        except UnicodeDecodeError as error:
            raise NotUnderstood("a certificate that is no text") from error

    return translate


_TEXTS: Mapping[str, str | Translate] = {
    "Certificate": _pem("certificate_body"),
    "CertificateChain": _pem("certificate_chain"),
    "PrivateKey": _pem("private_key"),
}


def _import(context: CallContext) -> tuple[Effect, ...]:
    """A new certificate, or new contents of the one whose ARN the call names."""
    arn = context.call.parameters.get("CertificateArn")
    if arn is None:
        return tuple(effects_on(_row(CREATE), context, context.unnamed(_CERTIFICATE)))
    context.require_arn_here(str(arn))
    return tuple(effects_on(_row(SET), context, context.target(_CERTIFICATE, {"arn": str(arn)})))


def _row(action: EffectAction) -> Operation:
    return Operation(
        resource_type=_CERTIFICATE,
        action=action,
        attributes={**_TEXTS, "Tags": set_tags},
        controls=controls("CertificateArn"),
        secrets=frozenset({"private_key"}),
    )


def _revoke(context: CallContext) -> tuple[Effect, ...]:
    """The certificate of this number, whose ARN ends with it: `24:9a` of a call is `249a` there."""
    context.allow_only("CertificateAuthorityArn", "CertificateSerial", "RevocationReason")
    authority, number = context.text("CertificateAuthorityArn"), context.text("CertificateSerial")
    context.arn(authority)
    arn = f"{authority}/certificate/{number.replace(':', '').lower()}"
    return (context.target(_ISSUED, {"arn": arn}).whole(DELETE),)


CERTIFICATES: Mapping[str, Operation] = {
    "ImportCertificate": Operation(resource_type=_CERTIFICATE, handler=_import),
}
AUTHORITIES: Mapping[str, Operation] = {
    "RevokeCertificate": Operation(resource_type=_ISSUED, handler=_revoke),
}
