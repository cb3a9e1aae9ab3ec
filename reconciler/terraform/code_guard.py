"""Refuses code that would run a program, or reach a server, when Terraform plans it; decided before terraform starts.

A plan runs whatever the code names: providers are programs, the data source `external` runs one, `http` sends what the code
puts into a URL. So everything that runs or reaches out must be in a list, and what is not in a list is refused. A repository that brings
the programs of its providers itself is refused too, however it names them.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.expression import Expression, LiteralValue, Object, Template, bare, literal, steps_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse
from reconciler.errors import CodeRefused

_REGISTRY = "registry.terraform.io"
_BUILT_IN = "terraform.io/builtin/terraform"
_TYPED = frozenset({"resource", "data", "ephemeral", "action", "list"})
"""Blocks whose first label is the type of something that a provider does."""
_REACHING = frozenset(
    {"external", "http", "tls_certificate", "terraform_remote_state", "dns_a_record_set", "aws_lambda_invocation"}
)
"""What runs a program or a function, or sends a request to a server that the code names, whatever provider has it."""
_LOOKED_UP = {"aws_ip_ranges": "url"}
"""Of AWS's provider, what sends a request to a server only with this argument. All others ask AWS and nobody else."""
_BROUGHT = "terraform.d"
"""A directory beside the code in whose `plugins` terraform looks for providers before it asks the registry ("Implied Local Mirror Directories")."""
_HASHICORP = f"{_REGISTRY}/hashicorp/"
_OF_AWS = frozenset({f"{_HASHICORP}aws", f"{_HASHICORP}awscc"})
_HARMLESS_TYPES = {
    f"{_HASHICORP}{name}": frozenset(types)
    for name, types in {
        "archive": ("archive_file",),
        "cloudinit": ("cloudinit_config",),
        "local": ("local_file", "local_sensitive_file"),
        "null": ("null_data_source",),
        "random": ("random_password",),
        "time": (),
        "tls": ("tls_private_key", "tls_public_key"),
    }.items()
}
"""Of providers that are no cloud's: the data sources and ephemeral resources that neither run nor reach anything. A type that a new version
adds, such as `local_command`, is none of them."""
_WRITES = {"archive_file": "output_path"}
"""Data sources that write a file when the code is planned, and the argument that says where."""
_BACKENDS = {
    "local": frozenset({"path", "workspace_dir"}),
    "s3": frozenset(
        {
            "acl",
            "bucket",
            "dynamodb_table",
            "encrypt",
            "key",
            "kms_key_id",
            "sse_customer_key",
            "use_lockfile",
            "use_path_style",
            "force_path_style",
            "workspace_key_prefix",
            "assume_role_duration_seconds",
            "assume_role_policy",
            "assume_role_policy_arns",
            "assume_role_tags",
            "assume_role_transitive_tag_keys",
            "external_id",
            "session_name",
        }
    ),
}
"""The backends that are always allowed, with their own arguments that neither lead elsewhere nor read or run anything."""
_HARMLESS_ARGUMENTS = frozenset(
    {
        "access_key",
        "alias",
        "allowed_account_ids",
        "assume_role",
        "default_tags",
        "ec2_metadata_service_endpoint_mode",
        "for_each",
        "forbidden_account_ids",
        "ignore_tags",
        "max_retries",
        "no_proxy",
        "profile",
        "region",
        "retry_mode",
        "role_arn",
        "s3_force_path_style",
        "s3_us_east_1_regional_endpoint",
        "s3_use_path_style",
        "secret_key",
        "skip_credentials_validation",
        "skip_get_ec2_platforms",
        "skip_medatadata_api_check",
        "skip_metadata_api_check",
        "skip_region_validation",
        "skip_requesting_account_id",
        "skip_s3_checksum",
        "sts_region",
        "tag_policy_compliance",
        "token",
        "token_bucket_rate_limiter_capacity",
        "use_dualstack_endpoint",
        "use_fips_endpoint",
        "user_agent",
        "version",
    }
)
"""Arguments of AWS's providers and of the backend `s3` that neither lead elsewhere nor read or run anything. Any other is refused."""
_OF_EVERY_PROVIDER = frozenset({"alias", "for_each", "version"})
_REDIRECTS = frozenset(
    {
        "custom_ca_bundle",
        "endpoint",
        "endpoints",
        "exec",
        "http_proxy",
        "https_proxy",
        "insecure",
        "shared_config_files",
        "shared_credentials_file",
        "shared_credentials_files",
        "web_identity_token_file",
        "assume_role_with_web_identity",
    }
)
"""Arguments of providers that only the settings know, and of backends that they list, that lead elsewhere, or read or run something."""
_HIDDEN = re.compile(
    rb'^[ \t]*(?:(provisioner)[ \t]+"|(?:data|ephemeral|resource)[ \t]+"?(external|http)\b)', re.MULTILINE
)
"""What must not stand at the start of a line even where our parser sees no block, e.g. in a text that it ends elsewhere than Terraform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeGuard:
    """What code may name. `check` is called before each command that reads code."""

    providers: frozenset[str] = frozenset()
    """Patterns of provider addresses, `<host>/<namespace>/<type>`."""
    modules: frozenset[str] = frozenset()
    """Patterns of the sources of modules that are not in the repository."""
    blocks: frozenset[str] = frozenset()
    """What else is allowed: `data.http`, `provisioner.local-exec`, `backend.gcs`, `provider.endpoints`, `terraform.d`."""

    def check(self, root: Path, data: Path | None = None) -> None:
        """Check the root module and every module that it calls; `data` is terraform's data directory with downloaded modules.

        Raises `errors.CodeRefused`, which names file and line.
        """
        boundary = _repository(root)
        if os.path.lexists(brought := root / _BROUGHT) and _BROUGHT not in self.blocks:
            raise _refused(str(brought), "may bring programs of providers", "reconcile.allow.blocks")
        seen: set[Path] = set()
        todo = [root.resolve(), *_downloaded(root, data)]
        while todo:
            directory = todo.pop()
            if directory not in seen:
                seen.add(directory)
                within = boundary if directory.is_relative_to(boundary) or data is None else data.resolve()
                todo += _Module(guard=self, directory=directory, boundary=within).check()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Module:
    """One directory of code, and the directory that its local modules may not leave."""

    guard: CodeGuard
    directory: Path
    boundary: Path
    local_names: dict[str, str] = field(default_factory=dict)
    """Provider addresses by local name, from `required_providers`."""

    def check(self) -> list[Path]:
        """The directories of the local modules that this one calls. Raises `CodeRefused`."""
        documents = [self._read(path) for path in _files(self.directory)]
        blocks = [(document, block) for document in documents for block in _walk(document, document.root)]
        for document, block in blocks:
            if document.header(block)[0] == "required_providers":
                self._require(document, block)
        called: list[Path] = []
        for document, block in blocks:
            called += self._check_block(document, block)
        return called

    def _read(self, path: Path) -> Document:
        if path.name.endswith((".tofu", ".tofu.json")):
            raise _refused(str(path), "is code that OpenTofu reads and Sentinel does not")
        if not path.resolve().is_relative_to(self.boundary):
            raise _refused(str(path), "is a link that leads out of the repository")
        source = path.read_bytes()
        if path.name.endswith(".json"):
            return _parsed(path, source, parse_json)
        for found in _HIDDEN.finditer(source):
            name = "data." + found[2].decode() if found[2] else "provisioner"
            if not any(allowed.startswith(name) for allowed in self.guard.blocks):
                raise _refused(f"{path}:{source.count(10, 0, found.end()) + 1}", f"has a {name} block")
        return _parsed(path, source, parse)

    def _require(self, document: Document, block: Node) -> None:
        for name, attribute in document.attributes(block).items():
            written = _source_of(document, attribute)
            if written is None:
                raise _refused(document.at(attribute), f"names the provider {name} by something other than a text")
            address = self.local_names[name] = _address(written or name)
            self._check_provider(document, attribute, address)

    def _check_block(self, document: Document, block: Node) -> list[Path]:
        kind, *labels = document.header(block)
        label = labels[0] if labels else ""
        if any("\\" in text for text in labels):
            raise _refused(document.at(block), "spells a label with escapes")
        if kind == "module":
            return self._called(document, block)
        if kind == "provisioner":
            self._demand(document, block, f"provisioner.{label}")
        elif kind == "cloud" or (kind == "backend" and label not in _BACKENDS):
            self._demand(document, block, f"{kind}.{label}".rstrip("."))
        if kind == "backend":
            self._check_arguments(document, block, kind, _of_backend(label))
        if kind == "provider":
            self._check_provider(document, block, self._provider(label))
            self._check_arguments(document, block, kind, _of_provider(self._provider(label)))
        elif kind in _TYPED and label:
            self._check_typed(document, block, kind, label)
        return []

    def _check_typed(self, document: Document, block: Node, kind: str, label: str) -> None:
        given = document.attributes(block)
        if kind != "resource" and (label in _REACHING or _LOOKED_UP.get(label) in given):
            self._demand(document, block, f"{kind}.{label}")
        meta = given.get("provider")
        local = label.partition("_")[0]
        if meta is not None:
            steps = steps_of(bare(read_attribute(document, meta)))
            local = steps[0] if steps else ""
        address = self._provider(local)
        self._check_provider(document, block, address)
        harmless = label in _HARMLESS_TYPES.get(address, (label,)) and _writes_inside(document, label, given)
        if kind != "resource" and not harmless:
            self._demand(document, block, f"{kind}.{label}")

    def _check_arguments(self, document: Document, block: Node, kind: str, is_harmless: Callable[[str], bool]) -> None:
        nested = [document.header(inner) for inner in document.blocks(block)]
        names = {
            *document.attributes(block),
            *(header[-1] if header[0] == "dynamic" else header[0] for header in nested),
        }
        for name in sorted(name for name in names if not is_harmless(name)):
            self._demand(document, block, f"{kind}.{name}")

    def _called(self, document: Document, block: Node) -> list[Path]:
        attribute = document.attributes(block).get("source")
        if attribute is None:
            return []  # an override of a module that is declared elsewhere
        written = literal(read_attribute(document, attribute))
        if not isinstance(written, str):
            raise _refused(document.at(attribute), "names a module by something other than a text")
        if written.startswith(("./", "../")):
            called = (self.directory / written).resolve()
            if not called.is_relative_to(self.boundary):
                raise _refused(document.at(attribute), f"calls a module outside of the repository ({written})")
            return [called]
        if not any(fnmatchcase(written, pattern) for pattern in self.guard.modules):
            raise _refused(document.at(attribute), f"calls the module {written}", "reconcile.allow.modules")
        return []

    def _provider(self, local: str) -> str:
        if local == "terraform":
            return _BUILT_IN
        return self.local_names.get(local) or _address(local)

    def _check_provider(self, document: Document, node: Node, address: str) -> None:
        allowed = any(fnmatchcase(address, pattern) for pattern in self.guard.providers)
        if address != _BUILT_IN and not allowed:
            raise _refused(document.at(node), f"uses the provider {address}", "reconcile.allow.providers")

    def _demand(self, document: Document, node: Node, name: str) -> None:
        """Raise `CodeRefused` unless the settings allow this block."""
        if name not in self.guard.blocks:
            raise _refused(document.at(node), f"has a block or argument {name}", "reconcile.allow.blocks")


def _of_backend(label: str) -> Callable[[str], bool]:
    """Whether an argument of this backend leads nowhere else."""
    own = _BACKENDS.get(label)
    if own is None:
        return lambda name: name not in _REDIRECTS
    return lambda name: name in own or (label == "s3" and name in _HARMLESS_ARGUMENTS)


def _of_provider(address: str) -> Callable[[str], bool]:
    """Whether an argument of this provider leads nowhere else."""
    if address in _OF_AWS:
        return lambda name: name in _HARMLESS_ARGUMENTS
    if address in _HARMLESS_TYPES or address == _BUILT_IN:
        return lambda name: name in _OF_EVERY_PROVIDER
    return lambda name: name not in _REDIRECTS


def _writes_inside(document: Document, label: str, given: Mapping[str, Node]) -> bool:
    """Whether what a data source writes lies below the module: a path of plain text and of nothing but the module's own place."""
    attribute = given.get(_WRITES.get(label, ""))
    if attribute is None:
        return True
    written = bare(read_attribute(document, attribute))
    parts = written.parts if isinstance(written, Template) else (written,)
    texts = [str(part.value) if isinstance(part, LiteralValue) else part for part in parts]
    path = "".join(text if isinstance(text, str) else "" for text in texts)
    first = texts[0] if texts else ""
    begins_outside = isinstance(first, str) and first.startswith(("/", "~", "\\"))
    return (
        not begins_outside and ".." not in path and all(isinstance(text, str) or _is_own_place(text) for text in texts)
    )


def _is_own_place(part: Expression) -> bool:
    steps = steps_of(bare(part))
    return steps is not None and steps[0] == "path" and steps[1] in {("module",), ("root",)}


def _parsed(path: Path, source: bytes, parser: Callable[[Path, bytes], Document]) -> Document:
    """The document of a file. Raises `CodeRefused`."""
    try:
        return parser(path, source)
    except CodeInvalid as error:
        message = f"{error} Code that Sentinel cannot read is not planned."
        raise CodeRefused(message) from error


def _refused(place: str, does: str, setting: str = "") -> CodeRefused:
    way = f" If it is wanted, list it in `{setting}`." if setting else ""
    return CodeRefused(
        f"{place} {does}, which would run or reach out when the code is planned. Terraform was not started, and nothing was written.{way}"
    )


def _repository(root: Path) -> Path:
    """The top of the working tree that holds `root`; `root` itself if it is in none."""
    root = root.resolve()
    return next((path for path in (root, *root.parents) if (path / ".git").exists()), root)


def _downloaded(root: Path, data: Path | None) -> list[Path]:
    """The directories of the modules that terraform downloaded. Raises `CodeRefused` if its list cannot be read."""
    manifest = data / "modules" / "modules.json" if data else None
    if manifest is None or not manifest.is_file():
        return []
    try:
        entries = json.loads(manifest.read_bytes())["Modules"]
        directories = [(root / entry["Dir"]).resolve() for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(str(manifest), "cannot be read") from error
    return [path for path in directories if path.is_dir()]


def _files(directory: Path) -> list[Path]:
    """The files of a directory that Terraform or OpenTofu reads as code."""
    found = sorted(directory.iterdir()) if directory.is_dir() else []
    return [
        path
        for path in found
        if path.name.endswith((".tf", ".tf.json", ".tofu", ".tofu.json"))
        and not path.name.startswith((".", "#"))
        and not path.name.endswith("~")
    ]


def _walk(document: Document, container: Node) -> Iterator[Node]:
    """Every block inside, however deep."""
    for block in document.blocks(container):
        yield block
        yield from _walk(document, block)


def _source_of(document: Document, attribute: Node) -> str | None:
    """The `source` of a required provider; empty if it has none, None if that is not plain text."""
    written = bare(read_attribute(document, attribute))
    if isinstance(written, LiteralValue):
        return ""  # the older form, a version alone
    if not isinstance(written, Object):
        return None
    sources: list[str | None] = []
    for element in written.elements:
        key = literal(element.key)
        if not isinstance(key, str):
            return None
        if key == "source":
            value = literal(element.value)
            sources.append(value if isinstance(value, str) else None)
    return sources[0] if len(sources) == 1 else (None if sources else "")


def _address(source: str) -> str:
    """A provider's full address: `aws` is `registry.terraform.io/hashicorp/aws`."""
    parts = source.lower().split("/")
    if len(parts) == 1:
        return f"{_REGISTRY}/hashicorp/{parts[0]}"
    return f"{_REGISTRY}/{source.lower()}" if len(parts) == 2 else source.lower()  # noqa: PLR2004  namespace and type
