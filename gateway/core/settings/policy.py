"""Settings of the policy engine, and of the server that policies come from."""

import ipaddress
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from gateway.core.errors import SettingsInvalid
from gateway.core.settings.table import SettingsTable

_LARGEST_SECRET: Final = 64 * 1024


class PolicyEngineKind(StrEnum):
    """Where Rego is evaluated."""

    EMBEDDED = "embedded"
    OPA = "opa"


class ControlPlaneSettings(SettingsTable):
    """An OPA control plane, or a bucket of S3: where a signed bundle is pulled from, and where status and decisions are reported to. Off without `bundle`."""

    url: Annotated[str, Field(max_length=2048)] = ""
    """Of the service, as `services.….url` of OPA. Over https; over http only to addresses that `private_addresses` lists."""
    bundle: Annotated[str, Field(max_length=1024)] = ""
    """Path of the bundle below the URL, as `bundles.….resource` of OPA; or `s3://BUCKET/KEY`, read with the gateway's own role."""
    s3_region: Annotated[str, Field(max_length=40)] = "us-east-1"
    """Region of the bucket."""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")] = "sentinel"
    """Of the bundle, in status and decision logs."""
    token_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    """Name of the environment variable that holds the bearer token of the service; empty for none."""
    key_file: Path | None = None
    """The public key (PEM), or for HS256 the secret, that signatures are verified with."""
    algorithm: Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256"] = (
        "RS256"
    )
    """How the bundle is signed."""
    scope: Annotated[str, Field(max_length=200)] = ""
    """That the signature must have, if the signer gives one."""
    poll_seconds: Annotated[float, Field(ge=1, le=86_400)] = 60.0
    """How often a new bundle is looked for."""
    private_addresses: tuple[str, ...] = ()
    """Networks of your own that the service may be in. Without any, only addresses of the public internet are reached."""
    status: bool = False
    """Whether the state of the bundle is reported to `/status`, in OPA's form."""
    decision_logs: bool = False
    """Whether decisions are reported to `/logs`, in OPA's form. They hold what policies are asked, with secrets masked."""

    @property
    def bucket(self) -> tuple[str, str] | None:
        """Bucket and key, if the bundle is in S3."""
        parts = urlsplit(self.bundle)
        return (parts.netloc, parts.path.lstrip("/")) if parts.scheme == "s3" else None

    def key(self) -> bytes:
        """The key that signatures are verified with. Raises `errors.SettingsInvalid`."""
        if self.key_file is None:
            raise SettingsInvalid("policy.control_plane.key_file is not set, and nothing unsigned is taken.")
        try:
            with self.key_file.open("rb") as file:
                return file.read(_LARGEST_SECRET)
        except OSError as error:
            raise SettingsInvalid(f"policy.control_plane.key_file cannot be read ({type(error).__name__}).") from error

    def authorization(self) -> dict[str, str]:
        """The header that proves the gateway to the service. Raises `errors.SettingsInvalid` if its variable is not set."""
        if not self.token_env:
            return {}
        if not (token := os.environ.get(self.token_env, "").strip()):
            raise SettingsInvalid(f"policy.control_plane.token_env: {self.token_env} is not set.")
        return {"authorization": f"Bearer {token}"}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for network in self.private_addresses:
            ipaddress.ip_network(network)
        if not self.bundle:
            return self
        if self.key_file is None:
            raise ValueError("`key_file` is missing: nothing unsigned is taken.")
        if self.bucket is not None and not all(self.bucket):
            raise ValueError("`bundle` in S3 is like s3://bucket/path/bundle.tar.gz.")
        needs_url = self.bucket is None or self.status or self.decision_logs
        parts = urlsplit(self.url)
        schemes = ("https", "http") if self.private_addresses else ("https",)
        if needs_url and (parts.scheme not in schemes or not parts.hostname or parts.query or parts.username):
            raise ValueError("`url` begins with https:// and has no user and no query; http needs `private_addresses`.")
        return self


class PolicySettings(SettingsTable):
    """The policy engine."""

    engine: PolicyEngineKind = PolicyEngineKind.EMBEDDED
    """Where policies are evaluated: in this process, or by an OPA server."""
    path: Path | None = None
    """Directory of the policies; default: those shipped with Sentinel."""
    control_plane: ControlPlaneSettings = ControlPlaneSettings.default()
    """Where a signed bundle of the policies is pulled from instead; only for the embedded engine."""
    green_tests: bool = True
    """Whether the tests beside changed policies must pass before these come into force; `sentinel up` sets it to false."""
    opa_url: str = ""
    """URL of the OPA server, for `engine = "opa"`."""
    deadline_ms: Annotated[int, Field(ge=1, le=10_000)] = 250
    """How long one decision may take before it is a denial."""
    memory_mb: Annotated[int, Field(ge=8, le=1024)] = 64
    """Memory that one decision may take before it is a denial."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.control_plane.bundle and (self.path is not None or self.engine is not PolicyEngineKind.EMBEDDED):
            raise ValueError("control_plane: policies are pulled only for the embedded engine, and without `path`.")
        return self
