"""Settings of the stacks that Sentinel guards, and of how calls of the data plane are treated in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from gateway.core.model.caller import ActorKind
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.verdict import Mode
from gateway.core.settings.table import SettingsTable


class DataPlaneSettings(SettingsTable):
    """How calls of the data plane (items, messages, objects, records) are treated, by kind of actor: `pass` sends and counts them, `record`
    counts them by resource, `policy` decides each as a change.
    """

    service: DataTreatment | None = None
    """Applications with keys of their own. Default: `pass`."""
    human: DataTreatment | None = None
    """Default: `record`."""
    pipeline: DataTreatment | None = None
    """Default: `record`."""
    agent: DataTreatment | None = None
    """Default: `policy`."""

    def over(self, defaults: Mapping[ActorKind, DataTreatment]) -> Mapping[ActorKind, DataTreatment]:
        """The treatment of every kind: the one that is set here, else the default."""
        return {kind: getattr(self, kind.value) or defaults[kind] for kind in ActorKind}


def _for_every_kind(given: Any) -> Any:
    """One word stands for every kind of actor."""
    return dict.fromkeys([kind.value for kind in ActorKind], given) if isinstance(given, str) else given


DataPlaneSetting = Annotated[DataPlaneSettings, BeforeValidator(_for_every_kind)]


ROLE_ARN: Final = r"^(arn:aws(-[a-z]+)*:iam::\d{12}:role/[A-Za-z0-9+=,.@_/-]{1,512})?$"
"""An ARN of a role of AWS, or nothing."""


class StackSettings(SettingsTable):
    """One Terraform root module that Sentinel guards."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """The name of the stack, by which settings, commands and records refer to it."""
    path: Path
    """The root module's directory, in a git checkout that has the protected branch."""
    state: Path | None = None
    """State file, format version 4; default: where the code keeps its state: `terraform.tfstate` in `path`, the object of its backend `s3`,
    or any other backend that `reconcile.allow.blocks` lists, read by `terraform state pull`."""
    backend_config: Mapping[str, str] = {}
    """What `terraform init -backend-config` gives to the code's backend, e.g. `{ bucket = "states" }`."""
    workspace: Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]{1,90})?$")] = ""
    """Terraform workspace; default: `default`."""
    state_keepers: tuple[str, ...] = ()
    """Actors of kind `pipeline` or `human` whose Terraform reads and writes this stack's state in S3 through the gateway. Default: those
    whose key has the role `stack/NAME`, and with only one such stack every other too. Agents and services never do."""
    protected_branch: str = ""
    """Branch whose commit holds the code and contracts that count, e.g. `main` or `origin/main`; `HEAD` for what is checked out.
    Default: the upstream of the branch that is checked out at the start, else `main`. A stack outside git is read as it is on disk."""
    frozen: tuple[str, ...] = ()
    """Directories of the repository with somebody else's modules, with `*`: the reconciler edits their calls and never them, as with those
    named `vendor`, `vendored`, `third_party`, `third-party` and `.external_modules`."""
    mode: Mode = Mode.ENFORCE
    """`enforce` refuses and holds calls; `observe` sends them, and records what enforcing would have done."""
    data_plane: DataPlaneSetting = DataPlaneSettings.default()
    """For the resources of this stack, e.g. `{ agent = "record" }` or `"policy"` for every kind; a kind that is left out has the treatment of
    the setting `data_plane` outside the stacks."""
    account: str = ""
    """AWS account id of the stack; empty if the gateway serves only one account."""
    assume_role: Annotated[str, Field(pattern=ROLE_ARN)] = ""
    """ARN of the role in `account` that the gateway assumes to send there; default: its own credentials. Stacks of one account name the same."""
    external_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+=,.@:/-]{0,1224}$")] = ""
    """What the trust of that role asks for as `sts:ExternalId`."""
    region: Annotated[str, Field(pattern=r"^([a-z]{2}(-[a-z]+)+-\d)?$")] = ""
    """AWS region of the resources for which neither their ARN nor the code's provider says it; default: the default region."""
