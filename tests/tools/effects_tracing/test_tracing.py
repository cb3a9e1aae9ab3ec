"""Tracing of a few resource types from end to end: the real provider, the stub, the rows."""

from pathlib import Path

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, ValueForm
from gateway.core.model.mutation import EffectAction
from gateway.core.service_models import ServiceModels
from gateway.effects.schema import known_schemas
from tests.tools.effects_tracing.derivation import rows_of_type
from tests.tools.effects_tracing.trace_all import Selection, trace_all
from tests.tools.effects_tracing.traces import read_traces

TYPES = ("aws_sfn_activity", "aws_cloudwatch_event_bus_policy", "aws_codecommit_repository")


async def traced(directory: Path) -> dict[tuple[str, str], DerivedRow]:
    assert await trace_all(directory, Selection(types=TYPES)) == len(TYPES)
    schemas = known_schemas(TYPES)
    found = [rows_of_type(traces, schemas[name], ServiceModels()) for name, traces in read_traces(directory).items()]
    return {(row.resource_type, row.operation): row for rows in found for row in rows}


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_types_are_traced_and_a_broken_run_goes_on(tmp_path: Path) -> None:
    rows = await traced(tmp_path)
    policy = rows["aws_cloudwatch_event_bus_policy", "PutPermission"]
    assert policy.actions == {EffectAction.CREATE, EffectAction.SET}
    assert policy.identity == {"EventBusName": AttributeSource(attribute="event_bus_name")}
    assert policy.attributes == {"Policy": AttributeSource(attribute="policy", form=ValueForm.JSON)}
    assert policy.confidence is Confidence.ATTRIBUTES
    untag = rows["aws_sfn_activity", "UntagResource"]
    assert (untag.identity, untag.removes) == ({"resourceArn": AttributeSource(attribute="id")}, {"tagKeys": "tags"})
    delete = rows["aws_codecommit_repository", "DeleteRepository"]
    assert delete.actions == {EffectAction.DELETE}
    assert delete.identity == {"repositoryName": AttributeSource(attribute="id")}
    # The repository is renamed by another operation, so that its name alone is no proof for this one; but it was the id after the create.
    described = rows["aws_codecommit_repository", "UpdateRepositoryDescription"]
    assert described.attributes == {"repositoryDescription": AttributeSource(attribute="description")}
    assert await trace_all(tmp_path, Selection(types=TYPES)) == 0
