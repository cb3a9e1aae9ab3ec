"""Replays decisions under the policies in force or under edited ones, one page of one caller at a time."""

import asyncio
import base64
import binascii
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from gateway.core.errors import CodeInvalid, Malformed, NotAllowed, NotFound, PolicyInvalid, TryLater
from gateway.core.model.caller import Caller
from gateway.core.ports import LedgerQueries
from gateway.core.records.record import Record
from gateway.policy.bundle import Bundle, Manifest, RunningEngine, verified_bundle
from gateway.policy.compile_apart import compiled_apart
from gateway.policy.embedded import Embedded
from gateway.policy.not_replayed import NotReplayed
from gateway.policy.replay import (
    LARGEST_PAGE,
    MOST_SECONDS,
    Replayed,
    ReplayRange,
    replay,
    replay_page,
    replay_threads,
)
from gateway.policy.replay_contracts import ContractReplay
from gateway.terraform.contracts.text import evaluated_within
from gateway.terraform.origins import CodeEdit
from gateway.terraform.stacks import Stacks

LARGEST_BUNDLE: Final = 8 * 1024 * 1024
"""Bytes of an edited bundle, unpacked."""
_CUT_SHORT: Final = ValueError("the text ends early")
_KEPT: Final = 2
"""Edited bundles that stay open, so that each is sent once and not with every page."""


def packed_bundle(bundle: Bundle) -> str:
    """The bundle as `POST /v1/replay` takes it."""
    members = {
        "manifest": bundle.manifest_bytes.decode(),
        "data": bundle.data.decode(),
        "wasm": base64.b64encode(bundle.wasm).decode(),
    }
    return base64.b64encode(zlib.compress(json.dumps(members).encode())).decode()


def unpacked_bundle(text: str) -> Bundle:
    """The bundle in such a text. Raises `errors.Malformed` if it is none, and `errors.PolicyInvalid` if its data are invalid."""
    try:
        inflate = zlib.decompressobj()
        content = inflate.decompress(base64.b64decode(text, validate=True), LARGEST_BUNDLE)
        if len(content) == LARGEST_BUNDLE:
            raise Malformed(f"The bundle has more than {LARGEST_BUNDLE} bytes. Nothing was replayed.")
        if not inflate.eof:
            raise _CUT_SHORT
        members: Mapping[str, str] = json.loads(content)
        return verified_bundle(
            base64.b64decode(members["wasm"], validate=True),
            members["data"].encode(),
            Manifest.model_validate_json(members["manifest"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, zlib.error, ValidationError) as error:
        raise Malformed(
            "The bundle cannot be read. Send what `sentinel policy replay` makes of a directory of policies; nothing was replayed."
        ) from error


@dataclass(slots=True, kw_only=True)
class Replays:
    """The engines of replays, which are apart from the one that decides: a replay cannot slow a decision down but by the processor."""

    running: RunningEngine
    """The engine whose policies are in force."""
    queries: LedgerQueries
    stacks: Stacks
    """The stacks with the contracts in force."""
    deadline_ms: int
    memory_mb: int
    _contracts: tuple[CodeEdit, ContractReplay] | None = None
    """Those of the latest replay by contracts, for its further pages."""
    _open: dict[str, Embedded] = field(default_factory=dict)
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    _threads: ThreadPoolExecutor = field(default_factory=replay_threads)

    async def close(self) -> None:
        """End the threads and close the engines: what they keep outside of Python must be gone before the process ends."""
        await asyncio.to_thread(self._threads.shutdown)
        for engine in self._open.values():
            await engine.close()
        self._open.clear()

    async def page(
        self,
        caller: Caller,
        wanted: ReplayRange,
        *,
        bundle: str = "",
        revision: str = "",
        contracts: CodeEdit | None = None,
    ) -> dict[str, Any]:
        """A page of decisions under the packed `bundle`, under the one of this `revision` that was sent before, or under the policies in force.

        `contracts` are judged again too; an edit of nothing stands for those in force, None for what they said then.

        Raises `errors.NotAllowed` for agents and services, `errors.TryLater` while another replay runs, `errors.NotFound` for a
        revision that must be sent again, `errors.Malformed` for a bundle or contracts that cannot be read, and policies that do not answer.
        """
        if not caller.sees_all:
            raise NotAllowed(
                "A replay shows the records of every actor, so agents and services replay nothing. Ask a person, or use a pipeline's key."
            )
        async with self.alone():
            try:
                engine = await asyncio.to_thread(self._engine, bundle, revision)
                judge = await asyncio.to_thread(self._judge, contracts, first=wanted.before_seq == 0)
                return await replay_page(self.queries, engine, self._threads, wanted, judge)
            except PolicyInvalid as error:
                raise Malformed(str(error), code="policy_invalid") from error
            except CodeInvalid as error:
                raise Malformed(str(error), code="code_invalid") from error

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Keep other replays out. Raises `errors.TryLater` while another one runs."""
        if self._busy.locked():
            raise TryLater("Another replay is running. Nothing was replayed; ask again.", seconds=1)
        async with self._busy:
            yield

    async def pages(
        self, engine: RunningEngine, wanted: ReplayRange, judge: ContractReplay | None
    ) -> AsyncIterator[dict[str, Any]]:
        """The pages of `wanted.limit` decisions at most, newest first. Only within `alone`. Raises `errors.PolicyInvalid`."""
        left, before = wanted.limit, wanted.before_seq
        while left > 0:
            part = replace(wanted, before_seq=before, limit=min(left, LARGEST_PAGE))
            page = await replay_page(self.queries, engine, self._threads, part, judge)
            yield page
            if page["next"] is None:
                return
            left, before = left - part.limit, page["next"]

    async def one(self, record: Record, engine: RunningEngine, judge: ContractReplay | None) -> Replayed | NotReplayed:
        """One decision, replayed in the threads of replays. Only within `alone`."""
        loop = asyncio.get_running_loop()

        def replayed() -> Replayed | NotReplayed:
            with evaluated_within(MOST_SECONDS):
                return asyncio.run(replay(record, engine, judge))

        return await loop.run_in_executor(self._threads, replayed)

    def judge_of(self, edit: CodeEdit | None) -> ContractReplay | None:
        """What judges by edited contracts, read now. Raises what `Stacks.edited` raises."""
        return self._judge(edit, first=True)

    def engine_of(self, bundle: Bundle) -> Embedded:
        """The engine of an edited bundle. Raises `errors.PolicyInvalid`."""
        if bundle.revision not in self._open:
            # What a caller sent is compiled apart; the bundle in force was compiled when it came into force.
            native = compiled_apart(bundle.wasm) if bundle.revision != self.running.revision else b""
            engine = Embedded(bundle, deadline_ms=self.deadline_ms, memory_mb=self.memory_mb, native=native)
            for oldest in list(self._open)[: len(self._open) + 1 - _KEPT]:
                del self._open[oldest]  # its thread ends with it
            self._open[bundle.revision] = engine
        return self._open[bundle.revision]

    def _judge(self, edit: CodeEdit | None, *, first: bool) -> ContractReplay | None:
        """What judges by the edited contracts; the pages of one replay are judged by one version. Raises what `Stacks.edited` raises."""
        if edit is None:
            return None
        if first or self._contracts is None or self._contracts[0] != edit:
            stacks = self.stacks.edited(edit) if edit or edit.stack else self.stacks.snapshot()
            self._contracts = edit, ContractReplay(stacks=stacks)
        return self._contracts[1]

    def _engine(self, bundle: str, revision: str) -> Embedded:
        edited = unpacked_bundle(bundle) if bundle else None
        if edited is None and revision not in ("", self.running.revision):
            if revision not in self._open:
                raise NotFound(f"This gateway has no bundle of the revision {revision[:64]}; send the bundle again.")
            return self._open[revision]
        return self.engine_of(edited or self.running.bundle)
