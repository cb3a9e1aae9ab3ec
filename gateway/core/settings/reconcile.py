"""Settings of the reconciler."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from gateway.core.model.adopt import Adopt
from gateway.core.settings.publish import EventSourceSettings, GitHubSettings
from gateway.core.settings.table import SettingsTable


class AllowedCode(SettingsTable):
    """What Terraform code may name that runs a program or reaches a server when the reconciler plans it, or the gateway reads its state."""

    providers: tuple[str, ...] = tuple(
        f"registry.terraform.io/hashicorp/{name}"
        for name in ("archive", "aws", "awscc", "cloudinit", "local", "null", "random", "time", "tls")
    )
    """Provider addresses, with `*`. The providers in `provider_mirror` are allowed too."""
    modules: tuple[str, ...] = ()
    """Sources of modules outside the repository, with `*`, e.g. `terraform-aws-modules/*`."""
    blocks: tuple[str, ...] = ()
    """Other blocks and arguments, e.g. `data.http`, `provisioner.local-exec`, `backend.gcs`, `provider.endpoints`, `terraform.d`."""


class SuggestSettings(SettingsTable):
    """A language model that is asked for an edit where no editor can make one. Off without a key."""

    key: SecretStr = SecretStr("")
    """Key of Anthropic's API; `SENTINEL_RECONCILE__SUGGEST__KEY` keeps it out of the file."""
    model: str = "claude-sonnet-5-5"
    """The model that is asked."""
    endpoint: str = "https://api.anthropic.com"
    """URL of the API."""
    tokens_a_day: Annotated[int, Field(ge=0)] = 200_000
    """What may be spent on a day (UTC), over all stacks."""


class ReconcileSettings(SettingsTable):
    """The reconciler."""

    endpoint: str = ""
    """AWS endpoint that Terraform reads live values from; empty: the gateway."""
    key_id: str = ""
    """Id of the key with which the reconciler signs its calls to the gateway."""
    key_secret: SecretStr = SecretStr("")
    """Secret of this key; `SENTINEL_RECONCILE__KEY_SECRET` keeps it out of the file."""
    branch: str = "sentinel/{stack}"
    """Branch for the commits; `{stack}` is replaced by the name of the stack."""
    push: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$")] = ""
    """Name of the git remote, in each stack's repository, to which the branch is pushed after each commit; empty: nothing is pushed."""
    github: GitHubSettings = GitHubSettings.default()
    """Where the pushed branches are proposed as pull requests. Needs `push`."""
    poll_seconds: float = 0.5
    """How often the ledger is asked for new records."""
    together_seconds: Annotated[float, Field(ge=0, le=600)] = 5.0
    """How long an actor must have sent nothing with the same key before what it created or deleted is written back: a new resource and
    what refers to it are one change, which is written whole or not at all."""
    doubt_first_look_seconds: Annotated[float, Field(ge=0.1)] = 20.0
    """How long after its decision the live values are first looked at for a mutation in doubt; then after twice the time, and so on."""
    doubt_settle_seconds: Annotated[float, Field(ge=1)] = 960.0
    """How long after its decision a mutation in doubt that the live values do not show is taken as not carried out, or left to a human.
    AWS accepts a signed request for up to 15 minutes, so less than 900 is unsafe."""
    put_back_patience_seconds: Annotated[float, Field(ge=0)] = 3600.0
    """How long after its end a change for a time is tried to be put back, if that is refused, before it is left to a human."""
    cloudtrail: Path | None = None
    """CloudTrail events, a file or a directory of `.json` files: they settle mutations in doubt too. Needs `gateway_identity`."""
    gateway_identity: Annotated[str, Field(pattern=r"^(arn:[a-z-]+:iam::\d{12}:(role|user)/[\w+=,.@/-]+)?$")] = ""
    """ARN of the IAM role or user with whose credentials the gateway sends: CloudTrail events of anyone else settle nothing."""
    refresh_state: bool = True
    """Whether the state is brought up to date (`terraform apply` of a plan that changes nothing else) once the protected branch has the
    values; otherwise its outputs stay old until somebody applies."""
    drift_every: Annotated[float, Field(ge=0)] = 0.0
    """How often, in seconds, each stack's protected code is planned to find changes from outside; 0: never."""
    events: tuple[EventSourceSettings, ...] = ()
    """Where CloudTrail's events are that say who made them; `cloudtrail` is one of them too."""
    adopt: Adopt = Adopt.LINKED
    """What is written of the resources that events or the ledger say were created beside the code: `all`, `linked` or `none`."""
    heal_replace: tuple[str, ...] = ()
    """Addresses of resources, with `*`, that may be replaced to heal them, if a human decides so."""
    terraform: str = "terraform"
    """Terraform or OpenTofu (`tofu`, which is also taken if there is no `terraform`)."""
    provider_mirror: Path | None = None
    """Directory of a Terraform provider mirror; default: searched for if the registry cannot be reached."""
    allow: AllowedCode = AllowedCode.default()
    suggest: SuggestSettings = SuggestSettings.default()
    pass_environment: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()
    """Variables of the reconciler's environment that terraform gets besides those it always gets, e.g. `TF_VAR_size`. Those
    named `SENTINEL_…` are never passed on."""

    @model_validator(mode="after")
    def _proposals_are_pushed(self) -> Self:
        if self.github.repository and not self.push:
            raise ValueError("`github` needs `push`, the git remote of the stacks' repository at GitHub.")
        return self

    @model_validator(mode="after")
    def _trail_has_an_owner(self) -> Self:
        if self.cloudtrail and not self.gateway_identity:
            raise ValueError(
                "`cloudtrail` needs `gateway_identity`, the ARN of the IAM role or user with whose credentials the gateway sends: anyone "
                "with AWS credentials can make an event that names a mutation."
            )
        return self
