"""What the settings say about AWS accounts must fit together: a call that is judged for one account never reaches another."""

from collections.abc import Sequence

from gateway.core.settings.server import UpstreamSettings
from gateway.core.settings.stacks import StackSettings


def check_accounts(stacks: Sequence[StackSettings], upstream: UpstreamSettings, account: str) -> None:
    """Raise ValueError unless each role that is assumed is in the account that it is for, and there is one for each account."""
    own = upstream.assume_role
    if own and account and _account_of(own) != account:
        raise ValueError("upstream: `assume_role` is in another account than `account`.")
    if upstream.session_per_mutation and not own:
        raise ValueError("upstream: `session_per_mutation` needs `assume_role`, the role of which each session is.")
    roles: dict[str, tuple[str, str]] = {}
    for stack in stacks:
        if stack.external_id and not stack.assume_role:
            message = f"stacks: `external_id` of `{stack.name}` needs `assume_role`."
            raise ValueError(message)
        if not stack.assume_role:
            continue
        if not account or stack.account == account:
            message = (
                f"stacks: `assume_role` of `{stack.name}` is for stacks in other accounts than the gateway's own: set `account` to the gateway's, "
                "outside of the stacks."
            )
            raise ValueError(message)
        if _account_of(stack.assume_role) != stack.account:
            message = f"stacks: `account` of `{stack.name}` must be the account of its `assume_role`."
            raise ValueError(message)
        if roles.setdefault(stack.account, (stack.assume_role, stack.external_id)) != (
            stack.assume_role,
            stack.external_id,
        ):
            message = f"stacks: two stacks of the account {stack.account} name different roles; a call without a stack would have either."
            raise ValueError(message)


def _account_of(arn: str) -> str:
    return arn.split(":")[4]
