"""Finds where a stack's code keeps its state: a file beside the code, an object in S3, or another backend, which Terraform itself has to read."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.source import Source
from gateway.terraform.lang.expression import LiteralValue, bare
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document

_LOCAL = "local"
_DEFAULT_PATH = "terraform.tfstate"
_DEFAULT_WORKSPACE = "default"
_NEEDED = ("bucket", "key", "region")
_WITHOUT_EFFECT = frozenset(
    {
        *_NEEDED,
        "workspace_key_prefix",
        "encrypt",
        "kms_key_id",
        "acl",
        "dynamodb_table",
        "use_lockfile",
        "max_retries",
        "retry_mode",
        "skip_credentials_validation",
        "skip_metadata_api_check",
        "skip_region_validation",
        "skip_requesting_account_id",
        "skip_s3_checksum",
        "use_path_style",
        "force_path_style",
    }
)
"""Arguments of the backend `s3` that do not change which object a read gets. With any other the gateway's own credentials may not be the right ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateObject:
    """A state in S3."""

    bucket: str
    key: str
    """Of the workspace's own object."""
    region: str

    @property
    def url(self) -> str:
        """`s3://bucket/key`, for messages."""
        return f"s3://{self.bucket}/{self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateBackend:
    """A state that only Terraform can read, in a backend other than a file or S3."""

    stack: str
    kind: str
    """The backend's type, such as `pg`; `cloud` for HCP Terraform."""
    source: str
    """`file:line` of its block."""
    code: str = field(repr=False)
    """The block, in HCL."""
    given: Mapping[str, str] = field(repr=False)
    """What `terraform init -backend-config` gives to it."""
    workspace: str = ""
    blocks: frozenset[str] = frozenset()
    """The names of the blocks inside."""

    @property
    def url(self) -> str:
        """What it is, for messages."""
        return "HCP Terraform (`cloud`)" if self.kind == "cloud" else f'backend "{self.kind}"'


def state_location(
    root: Source, stack: str, *, given: Mapping[str, str] | None = None, workspace: str = ""
) -> StateObject | StateBackend | None:
    """The object in S3 or the backend that holds the state; None if that is in `terraform.tfstate` beside the code.

    `given` are the arguments that the code leaves to `-backend-config`. Call it for stacks whose settings name no state file.
    Raises `errors.CodeInvalid`, with file and line, if the state is in another file, or in S3 in a way that Sentinel does not read.
    """
    blocks = list(_state_blocks(root))
    # A backend in an override file replaces the others.
    overriding = [found for found in blocks if found[0] in root.overrides]
    for document, block in overriding or blocks:
        kind, *labels = document.header(block)
        if kind == "backend" and labels == ["s3"]:
            return _in_bucket(document, block, stack, given or {}, workspace or _DEFAULT_WORKSPACE)
        if kind == "cloud" or labels != [_LOCAL]:
            return StateBackend(
                stack=stack,
                kind=labels[0] if kind == "backend" and labels else "cloud",
                source=document.at(block),
                code=document.text(block),
                given=dict(given or {}),
                workspace=workspace,
                blocks=frozenset(document.header(inner)[0] for inner in document.blocks(block)),
            )
        if (path := document.attributes(block).get("path")) is not None and not _is_default(document, path):
            raise CodeInvalid(
                f"{document.at(path)}: The stack {stack} keeps its state in another file than {_DEFAULT_PATH} beside the code. "
                f"Name that file as `state` of the stack {stack} in the settings."
            )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePlace:
    """Where Terraform keeps and locks the state of a stack in AWS, as far as the code and the settings tell it."""

    stack: str
    bucket: str
    key: str
    """Of the workspace's own object; empty if nothing tells it, so that every object of the bucket may be it."""
    region: str = ""
    lock_table: str = ""
    kms_key: str = ""
    keepers: tuple[str, ...] = ()
    """The actors that may read and write it through the gateway; empty where keys name the stack, or no other has a state there."""

    @property
    def object(self) -> StateObject:
        """The state as an object."""
        return StateObject(bucket=self.bucket, key=self.key, region=self.region)


def state_places(
    root: Source, stack: str, *, given: Mapping[str, str], workspace: str, keepers: tuple[str, ...] = ()
) -> tuple[StatePlace, ...]:
    """Where the code keeps its state in S3, also where Sentinel reads a copy of it. Unlike `state_location` it takes what can be told and
    refuses nothing: what is not known of a place makes more of its bucket closed.
    """
    found = []
    for document, block in _state_blocks(root):
        kind, *labels = document.header(block)
        if kind != "backend" or labels != ["s3"]:
            continue
        values = {name: _text(document, node) for name, node in document.attributes(block).items()} | dict(given)
        if values.get("bucket"):
            found.append(
                StatePlace(
                    stack=stack,
                    bucket=str(values["bucket"]),
                    key=_key_of(values, workspace or _DEFAULT_WORKSPACE) if values.get("key") else "",
                    region=values.get("region") or "",
                    lock_table=values.get("dynamodb_table") or "",
                    kms_key=values.get("kms_key_id") or "",
                    keepers=keepers,
                )
            )
    return tuple(found)


def _key_of(values: Mapping[str, str | None], workspace: str) -> str:
    """The key of the workspace's own object."""
    key = str(values["key"])
    if workspace == _DEFAULT_WORKSPACE:
        return key
    return posixpath.join(values.get("workspace_key_prefix") or "env:", workspace, key)


def _in_bucket(document: Document, block: Node, stack: str, given: Mapping[str, str], workspace: str) -> StateObject:
    values = {name: _text(document, node) for name, node in document.attributes(block).items()} | dict(given)
    names = {*values, *(document.header(inner)[0] for inner in document.blocks(block))}
    if other := sorted(names - _WITHOUT_EFFECT):
        raise _refused(
            document, block, stack, f"reads its state from S3 with {', '.join(other)}, which Sentinel does not do"
        )
    if missing := [name for name in _NEEDED if not values.get(name)]:
        raise CodeInvalid(
            f"{document.at(block)}: The backend of the stack {stack} does not say its {' and '.join(missing)} as plain text. "
            f"Give what `terraform init -backend-config` gives as `backend_config` of the stack {stack}, e.g. "
            f'{{ {missing[0]} = "…" }}.'
        )
    return StateObject(bucket=str(values["bucket"]), key=_key_of(values, workspace), region=str(values["region"]))


def _refused(document: Document, block: Node, stack: str, why: str) -> CodeInvalid:
    return CodeInvalid(
        f"{document.at(block)}: The stack {stack} {why}, and its settings name no "
        "state file, so every declared resource would count as not declared. Write the state to a file (`terraform state pull > FILE`, "
        f"again after each apply), and name the file as `state` of the stack {stack}."
    )


def _state_blocks(root: Source) -> Iterator[tuple[Document, Node]]:
    for document in (*root.documents.values(), *root.overrides):
        for outer in document.blocks(document.root, "terraform"):
            for block in document.blocks(outer):
                if document.header(block)[0] in ("backend", "cloud"):
                    yield document, block


def _text(document: Document, node: Node) -> str | None:
    """A literal text; None for anything else."""
    written = bare(read_attribute(document, node))
    return written.value if isinstance(written, LiteralValue) and isinstance(written.value, str) else None


def _is_default(document: Document, path: Node) -> bool:
    return _text(document, path) in (_DEFAULT_PATH, f"./{_DEFAULT_PATH}")
