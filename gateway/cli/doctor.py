"""`sentinel doctor` says which ways round the gate are open, what is misconfigured, and how to close each."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.config import config_file, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, show_json
from gateway.core.errors import SentinelError

if TYPE_CHECKING:
    from gateway.cli.doctor_finding import NotLookedAt, Opening

OPEN = 2
"""The exit code if something is open."""


def doctor(
    *,
    account: Annotated[
        bool,
        typer.Option(
            "--account/--no-account", help="Look at the AWS account too, with the credentials of this environment."
        ),
    ] = True,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Say which ways round the gate are open, and what is misconfigured, from the settings, this host and the AWS account. Nothing is changed.

    In the account it needs iam:GetAccountAuthorizationDetails, ListUsers, ListAccessKeys, GetAccessKeyLastUsed and GetAccountSummary,
    ec2:DescribeVpcEndpoints, cloudtrail:DescribeTrails, organizations:ListPoliciesForTarget and DescribePolicy. What it may not read it lists.

    Exit code 2 if something is open.
    """
    from gateway.cli.doctor_settings import settings_openings

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        found = list(settings_openings(settings))
    except SentinelError as error:
        fail(error, as_json=as_json)
    unread: list[NotLookedAt] = []
    if account:
        from gateway.cli.aws_clients import aws_clients
        from gateway.cli.doctor_account import Account

        looked = Account(client=aws_clients(settings), gateway_identity=settings.reconcile.gateway_identity)
        found += looked.openings()
        unread = looked.unread
    _show(found, unread, as_json=as_json)
    if found:
        raise typer.Exit(OPEN)


def _show(found: "list[Opening]", unread: "list[NotLookedAt]", *, as_json: bool) -> None:
    if as_json:
        show_json({"open": [asdict(each) for each in found], "unread": [asdict(each) for each in unread]})
        return
    for each in found:
        console.print(f"[{each.code}] {each.what}", markup=False)
        for place in each.where:
            console.print(f"    {place}", markup=False)
        console.print(f"    To close it: {each.close}", markup=False)
    for missing in unread:
        console.print(f"Not looked at: {missing.what}. {missing.why}", markup=False)
    console.print(
        f"{len(found)} way(s) are open." if found else "Nothing that could be looked at is open.",
        markup=False,
    )
