"""The embedded engine with policies that are pulled from an OPA bundle server or from S3: only a signed bundle that answers comes into force."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.core.errors import PolicyInvalid, SentinelError
from gateway.core.model.json import Json
from gateway.core.outbound.addresses import Network
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.policy.bundle import Bundle, RunningEngine
from gateway.policy.bundle_check import check_answers
from gateway.policy.embedded import Embedded
from gateway.policy.kept_code import KeptCode
from gateway.policy.signed_bundle import LARGEST, SignedBundle, gateway_bundle, opened

SAVED: Final = "pulled-policies.tar.gz"
"""The archive in the data directory that was taken last. It is verified again when a gateway starts without the server."""
_SECONDS: Final = 60.0
_OK, _NOT_MODIFIED = 200, 304

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """An answer of the place of the bundle."""

    archive: bytes
    etag: str


Fetch = Callable[[str], Awaitable[Fetched | None]]
"""Reads the bundle; given the ETag of the last one, None if it is the same. Raises `errors.PolicyInvalid`."""


def from_server(settings: ControlPlaneSettings, networks: tuple[Network, ...]) -> Fetch:
    """Reads the bundle from an OPA bundle server, with the one client for outbound HTTP."""
    client = OutboundClient(seconds=_SECONDS, most_bytes=LARGEST, networks=networks)
    url = f"{settings.url.rstrip('/')}/{settings.bundle.lstrip('/')}"

    async def fetch(etag: str) -> Fetched | None:
        headers = {**settings.authorization(), **({"if-none-match": etag} if etag else {})}
        try:
            reply = await client.request("GET", url, headers=headers)
        except OutboundFailure as error:
            raise PolicyInvalid(f"The bundle server did not answer ({error}).") from error
        if reply.status == _NOT_MODIFIED and etag:
            return None
        if reply.status != _OK:
            raise PolicyInvalid(f"The bundle server answered with status {reply.status}.")
        return Fetched(archive=reply.body, etag=reply.header("etag"))

    return fetch


@dataclass(slots=True)
class PullState:
    """What happened last, for the status that is reported."""

    requested: datetime | None = None
    downloaded: datetime | None = None
    activated: datetime | None = None
    revision: str = ""
    problem: str = ""


class PulledEngine(RunningEngine):
    """An embedded engine for the bundle that was pulled last and is right."""

    def __init__(
        self,
        settings: ControlPlaneSettings,
        *,
        fetch: Fetch,
        directory: Path,
        deadline_ms: int,
        memory_mb: int,
        kept: KeptCode | None = None,
    ) -> None:
        """`directory` keeps the last archive, and `kept` the machine code. `open` must be called before the first question."""
        self._settings = settings
        self._fetch = fetch
        self._directory = directory
        self._limits = deadline_ms, memory_mb
        self._kept = kept
        self._engine: Embedded | None = None
        self._etag = ""
        self._issued: float | None = None
        """When the newest bundle that was taken was signed; None while no signature said so."""
        self.state = PullState()

    async def open(self) -> None:
        """Pull the bundle, or take the one that was taken last. Raises `errors.PolicyInvalid` if there is neither."""
        saved = self._directory / SAVED
        archive = await asyncio.to_thread(saved.read_bytes) if saved.is_file() else b""
        self._issued = await asyncio.to_thread(self._issue_of, archive) if archive else None
        await self.pull()
        if self._engine is None and archive:
            try:
                await self._take(archive, "")
            except SentinelError as error:
                raise PolicyInvalid(
                    f"{self.state.problem} The one that was taken last is not right either: {error}"
                ) from error
        if self._engine is None:
            raise PolicyInvalid(f"There are no policies. {self.state.problem}")

    async def pull(self) -> None:
        """Look for a new bundle, and bring it into force. Whatever is wrong with it is logged and kept as the problem; the old one stays."""
        self.state.requested = datetime.now(UTC)
        try:
            found = await self._fetch(self._etag)
            self.state.downloaded = datetime.now(UTC)
            if found is not None:
                await self._take(found.archive, found.etag, new=True)
            self.state.problem = ""
        except SentinelError as error:
            self.state.problem = str(error)
            log.error("policy_not_pulled", problem=str(error), revision=self.state.revision)  # noqa: TRY400  the message says enough

    async def _take(self, archive: bytes, etag: str, *, new: bool = False) -> None:
        """Bring an archive into force, once it is on disk: a gateway that starts again must know which one was the newest."""
        try:
            engine, signed = await asyncio.to_thread(self._engine_of, archive)
            if new:
                await asyncio.to_thread(self._save, archive)
        except OSError as error:
            raise PolicyInvalid(
                f"The bundle was not taken: {self._directory} could not be written ({error.strerror or type(error).__name__})."
            ) from error
        self._issued = signed.issued
        before, self._engine = self._engine, engine  # a running evaluation ends on the old engine
        self._etag = etag
        self.state.activated, self.state.revision = datetime.now(UTC), signed.revision
        log.info("policy_pulled", revision=engine.revision, bundle=signed.revision, first=before is None)

    def _engine_of(self, archive: bytes) -> tuple[Embedded, SignedBundle]:
        signed = self._opened(archive)
        self._refuse_older(signed)
        deadline_ms, memory_mb = self._limits
        bundle = gateway_bundle(signed, self._directory)
        engine = Embedded(bundle, deadline_ms=deadline_ms, memory_mb=memory_mb, kept=self._kept)
        check_answers(engine, signed.files)
        return engine, signed

    def _opened(self, archive: bytes) -> SignedBundle:
        settings = self._settings
        return opened(archive, key=settings.key(), algorithm=settings.algorithm, scope=settings.scope)

    def _issue_of(self, archive: bytes) -> float | None:
        """When the archive that was taken last was signed; None if nothing says so."""
        try:
            return self._opened(archive).issued
        except SentinelError:
            return None  # what is wrong with it is told if it is needed

    def _refuse_older(self, signed: SignedBundle) -> None:
        """Raise `errors.PolicyInvalid` for a bundle that was signed before the last one: who serves bundles may keep old ones."""
        if self._issued is not None and (signed.issued is None or signed.issued < self._issued):
            raise PolicyInvalid(
                "The bundle was not taken: it was signed before the last one that was, or does not say when. To go back to older policies, "
                "sign them again with a new `iat`."
            )

    def _save(self, archive: bytes) -> None:
        temporary = self._directory / f".{SAVED}"
        with temporary.open("wb") as file:
            file.write(archive)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._directory / SAVED)

    def _running(self) -> Embedded:
        if self._engine is None:
            raise PolicyInvalid("The policies were not pulled.")
        return self._engine

    @property
    def bundle(self) -> Bundle:
        """The bundle in force."""
        return self._running().bundle

    @property
    def problem(self) -> str:
        """Why the newest bundle is not in force; empty if it is."""
        return f"The policies in force may be old ones. {self.state.problem}" if self.state.problem else ""

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule. Raises `errors.PolicyUnavailable`."""
        return await self._running().ask(entrypoint, document)

    async def close(self) -> None:
        """Stop the engine's thread."""
        if self._engine is not None:
            await self._engine.close()


def bundle_status(name: str, state: PullState, labels: Mapping[str, str]) -> dict[str, Any]:
    """The status in OPA's form (https://www.openpolicyagent.org/docs/management-status)."""
    bundle: dict[str, Any] = {"name": name, "active_revision": state.revision, "type": "snapshot"}
    for member, moment in (
        ("last_request", state.requested),
        ("last_successful_request", state.downloaded),
        ("last_successful_download", state.downloaded),
        ("last_successful_activation", state.activated),
    ):
        if moment is not None:
            bundle[member] = moment.isoformat().replace("+00:00", "Z")
    if state.problem:
        bundle |= {"code": "bundle_error", "message": state.problem}
    plugin = {"state": "ERROR" if state.problem else "OK"}
    return {"labels": dict(labels), "bundles": {name: bundle}, "plugins": {"bundle": plugin, "status": {"state": "OK"}}}
