"""Matches the statement by which the provider creates or drops a planned Athena database: this statement and no other, into the planned bucket."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan_session import PlanUse, SessionChange
from gateway.plans.call_match import CallMatch, SessionCall, as_planned, fits_direction, most_uses

_DATABASE: Final = "aws_athena_database"
_BUCKET: Final = "aws_s3_bucket"
_CALL: Final = "athena:StartQueryExecution"
_PARAMETERS: Final = frozenset({"ClientRequestToken", "QueryString", "ResultConfiguration"})
_NAME: Final = re.compile(r"[_a-z0-9]+")
"""What the provider takes for a name: nothing that could end the quotation."""
_MORE: Final = ("comment", "properties")
"""Attributes that make the statement a longer one, which is compared with nothing."""


def runs_statement(asked: SessionCall) -> bool:
    """Whether the call runs a statement in Athena, and the plan changes databases."""
    return asked.operation == _CALL and any(each.resource_type == _DATABASE for each in asked.session.changes)


def by_statement(asked: SessionCall) -> CallMatch:
    """The match of the call with the one planned database that its statement creates or drops."""
    given = asked.call.parameters
    if not given.keys() <= _PARAMETERS:
        return CallMatch(objection="it has parameters with which Terraform never makes a database")
    for action in (EffectAction.CREATE, EffectAction.DELETE):
        for change in asked.session.changes:
            is_one = change.resource_type == _DATABASE and fits_direction(change, action)
            is_one = is_one and asked.is_here(change) and asked.is_recorded(change, action)
            if not is_one or str(given.get("QueryString")) not in _statements(asked, change, action):
                continue
            place = to_json(given.get("ResultConfiguration"))
            if all(place != each for each in _places(asked, change)):
                return CallMatch(objection=f"it writes its result elsewhere than {change.address} does")
            if asked.has_left(change, action, Counter()):
                use = PlanUse(address=change.address, action=action.value, most=most_uses(change, action))
                return CallMatch(effects=as_planned(asked, change, action), uses=(use,), row="statement")
    return CallMatch(objection="the plan makes no database by this statement")


def _statements(asked: SessionCall, change: SessionChange, action: EffectAction) -> Iterator[str]:
    """The statements that do this to the planned database, as the provider writes them."""
    resource = asked.resource(change)
    if action is EffectAction.CREATE:
        name = resource.after.get("name")
        if (
            isinstance(name, str)
            and _NAME.fullmatch(name)
            and not any(resource.after.get(each) or resource.is_free(each) for each in _MORE)
        ):
            yield f"create database `{name}`;"
        return
    name = resource.recorded.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name):
        cascade = " cascade" if resource.recorded.get("force_destroy") is True else ""
        yield f"drop database `{name}`{cascade};"


def _places(asked: SessionCall, change: SessionChange) -> Iterator[Json]:
    """Where the result may go: to the database's bucket, which may be one that the same plan makes."""
    resource = asked.resource(change)
    if any(
        resource.after.get(each) or resource.recorded.get(each)
        for each in ("acl_configuration", "encryption_configuration")
    ):
        return
    names = {each for each in resource.known("bucket") if isinstance(each, str) and each}
    if not names and resource.is_free("bucket"):
        names = {
            name
            for each in asked.session.changes
            if each.resource_type == _BUCKET and isinstance(name := each.values.get("bucket"), str) and name
        }
    yield from ({"OutputLocation": f"s3://{name}"} for name in sorted(names))
